#include "pod_list_build.h"

#include <errno.h>
#include <string.h>

#include "utf8.h"

/* DNS labels and names (RFC 1123) with their ends, and a uid. */
#define LABEL_SIZE 64
#define NAME_SIZE  256
#define UID_SIZE   40

static bool is_entry(const struct pod_device *d)
{
	return utf8_is_name(d->namespace, LABEL_SIZE) && utf8_is_name(d->pod, NAME_SIZE) &&
	       utf8_is_name(d->container, LABEL_SIZE) && utf8_is_name(d->uid, UID_SIZE) &&
	       utf8_is_name(d->resource, RESOURCE_NAME_SIZE) &&
	       utf8_is_name(d->id, PLUGIN_ID_SIZE) && d->resource && d->resource[0] && d->id &&
	       d->id[0];
}

int pod_list_add(struct pod_list *l, size_t *left_out, const struct pod_device *d)
{
	if (l->n >= POD_LIST_MAX)
		return -EMSGSIZE;
	if (is_entry(d))
		return pod_list_push(l, d);
	(*left_out)++;
	return 0;
}

static bool same(const struct pod_device *a, const struct pod_device *b)
{
	return strcmp(a->resource, b->resource) == 0 && strcmp(a->id, b->id) == 0 &&
	       strcmp(a->namespace, b->namespace) == 0 && strcmp(a->pod, b->pod) == 0 &&
	       strcmp(a->uid, b->uid) == 0 && strcmp(a->container, b->container) == 0;
}

void pod_list_finish(struct pod_list *l, enum pod_source source)
{
	size_t kept = 0;

	pod_list_sort(l);
	for (size_t i = 0; i < l->n; i++)
		if (kept == 0 || !same(&l->devices[kept - 1], &l->devices[i]))
			l->devices[kept++] = l->devices[i];
	l->n = kept;
	l->source = source;
}
