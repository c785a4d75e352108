#include "pod_list_build.h"

#include <errno.h>
#include <string.h>

#include "array.h"
#include "utf8.h"

static bool copy_entry(struct pod_device *d, const struct pod_entry *e)
{
	return utf8_copy_name(d->namespace, sizeof(d->namespace), e->namespace) &&
	       utf8_copy_name(d->pod, sizeof(d->pod), e->pod) &&
	       utf8_copy_name(d->container, sizeof(d->container), e->container) &&
	       utf8_copy_name(d->uid, sizeof(d->uid), e->uid) &&
	       utf8_copy_name(d->resource, sizeof(d->resource), e->resource) &&
	       utf8_copy_name(d->id, sizeof(d->id), e->id) && d->resource[0] && d->id[0];
}

int pod_list_add(struct pod_list *l, size_t *left_out, const struct pod_entry *e)
{
	struct pod_device *d;

	if (l->n >= POD_LIST_MAX)
		return -EMSGSIZE;
	d = array_push(l->devices, l->n);
	if (!d)
		return -ENOMEM;
	if (!copy_entry(d, e)) {
		l->n--;
		(*left_out)++;
	}
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
