/* pod_devices.c - the list is sorted by device, so that finding one is a binary search. */
#include "pod_devices.h"

#include <stdlib.h>
#include <string.h>

void pod_list_done(struct pod_list *l)
{
	free(l->devices);
	*l = (struct pod_list){0};
}

static int by_device(const struct pod_device *a, const char *resource, const char *id)
{
	int r = strcmp(a->resource, resource);

	return r ? r : strcmp(a->id, id);
}

static int compare(const void *a, const void *b)
{
	const struct pod_device *x = a, *y = b;
	int r = by_device(x, y->resource, y->id);

	if (r == 0)
		r = strcmp(x->namespace, y->namespace);
	if (r == 0)
		r = strcmp(x->pod, y->pod);
	if (r == 0)
		r = strcmp(x->uid, y->uid);
	return r ? r : strcmp(x->container, y->container);
}

void pod_list_sort(struct pod_list *l)
{
	if (l->n)
		qsort(l->devices, l->n, sizeof(*l->devices), compare);
}

bool pod_list_equal(const struct pod_list *a, const struct pod_list *b)
{
	if (a->n != b->n || a->source != b->source)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (compare(&a->devices[i], &b->devices[i]) != 0)
			return false;
	return true;
}

const struct pod_device *pod_list_find(const struct pod_list *l, const char *resource,
				       const char *id, size_t *ret_n)
{
	size_t low = 0, high = l->n, end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_device(&l->devices[mid], resource, id) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; end < l->n && by_device(&l->devices[end], resource, id) == 0;)
		end++;
	if (ret_n)
		*ret_n = end - low;
	return end > low ? &l->devices[low] : NULL;
}
