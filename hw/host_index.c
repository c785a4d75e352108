/* host_index.c - see host_index.h. Lists of pointers, so that sorting moves little. */
#include "host_index.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct sorted_list *l, const void *item)
{
	return (const char *)item + l->name_at;
}

static const void *item_at(const struct sorted_list *l, size_t i)
{
	return l->items ? l->items[i] : (const char *)l->array + i * l->size;
}

/* Those of one name keep the array's order. */
static int compare(const void *a, const void *b, void *list)
{
	const void *const *x = a, *const *y = b;
	int r = strcmp(name_of(list, *x), name_of(list, *y));

	return r ? r : (*x > *y) - (*x < *y);
}

static void sort(struct sorted_list *l)
{
	const void **items = calloc(l->n ? l->n : 1, sizeof(*items));

	for (size_t i = 0; items && i < l->n; i++)
		items[i] = item_at(l, i);
	l->items = items;
	if (items && l->n)
		qsort_r(items, l->n, sizeof(*items), compare, l);
}

struct host_index host_index_none(const struct host *h)
{
	return (struct host_index){
		.host = h,
		.functions = {.array = h->functions,
			      .n = h->n_functions,
			      .size = sizeof(*h->functions),
			      .name_at = offsetof(struct function, id)},
		.netdevs = {.array = h->netdevs,
			    .n = h->n_netdevs,
			    .size = sizeof(*h->netdevs),
			    .name_at = offsetof(struct netdev, function)},
		.rdma = {.array = h->rdma,
			 .n = h->n_rdma,
			 .size = sizeof(*h->rdma),
			 .name_at = offsetof(struct rdma_dev, function)},
	};
}

void host_index_init(struct host_index *ix, const struct host *h)
{
	*ix = host_index_none(h);
	sort(&ix->functions);
	sort(&ix->netdevs);
	sort(&ix->rdma);
}

void host_index_done(struct host_index *ix)
{
	free(ix->functions.items);
	free(ix->netdevs.items);
	free(ix->rdma.items);
	*ix = (struct host_index){0};
}

/* The place of the first item that does not stand before the name. */
static size_t first(const struct sorted_list *l, const char *name)
{
	size_t low = 0, high = l->items ? l->n : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(name_of(l, l->items[mid]), name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* *at: one more than the place to go on at, 0 = from the beginning. */
static const void *next(const struct sorted_list *l, const char *name, size_t *at)
{
	size_t i = *at ? *at - 1 : first(l, name);
	const void *item = NULL;

	for (; i < l->n && !item; i++) {
		if (strcmp(name_of(l, item_at(l, i)), name) == 0)
			item = item_at(l, i);
		else if (l->items) /* behind the last of that name */
			break;
	}
	*at = i + 1;
	return item;
}

const struct function *host_index_function(const struct host_index *ix, const char *id)
{
	size_t at = 0;

	return next(&ix->functions, id, &at);
}

const struct netdev *host_index_netdev(const struct host_index *ix, const char *function,
				       size_t *at)
{
	return next(&ix->netdevs, function, at);
}

const struct rdma_dev *host_index_rdma(const struct host_index *ix, const char *function,
				       size_t *at)
{
	return next(&ix->rdma, function, at);
}
