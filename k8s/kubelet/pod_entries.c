// SPDX-License-Identifier: Apache-2.0
#include "pod_entries.h"

#include <errno.h>
#include <string.h>

#include "utf8.h"

static bool pod_entries_is_device(const struct pod_device *d)
{
	return utf8_is_name(d->namespace, POD_LABEL_SIZE) && utf8_is_name(d->pod, POD_NAME_SIZE) &&
	       utf8_is_name(d->container, POD_LABEL_SIZE) && utf8_is_name(d->uid, POD_UID_SIZE) &&
	       utf8_is_name(d->resource, RESOURCE_NAME_SIZE) &&
	       utf8_is_name(d->id, PLUGIN_ID_SIZE) && d->resource && d->resource[0] && d->id &&
	       d->id[0];
}

int pod_entries_add(struct pod_list *l, size_t *left_out, const struct pod_device *d)
{
	if (l->n >= POD_LIST_MAX)
		return -EMSGSIZE;
	if (pod_entries_is_device(d))
		return pod_list_push(l, d);
	(*left_out)++;
	return 0;
}

static bool is_same_device(const struct pod_device *a, const struct pod_device *b)
{
	return strcmp(a->resource, b->resource) == 0 && strcmp(a->id, b->id) == 0 &&
	       strcmp(a->namespace, b->namespace) == 0 && strcmp(a->pod, b->pod) == 0 &&
	       strcmp(a->uid, b->uid) == 0 && strcmp(a->container, b->container) == 0;
}

void pod_entries_finish(struct pod_list *l, enum pod_source source)
{
	size_t kept = 0;

	pod_list_sort(l);
	for (size_t i = 0; i < l->n; i++)
		if (kept == 0 || !is_same_device(&l->devices[kept - 1], &l->devices[i]))
			l->devices[kept++] = l->devices[i];
	l->n = kept;
	l->source = source;
}
