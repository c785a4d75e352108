/* host_index.c - sorted arrays and binary search. */
#include "host_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *rdma_function_id(const struct rdma_dev *rd)
{
	return rd->function[0] != '\0' ? rd->function : rd->name;
}

/* Objects of one array: the order of their addresses is the host's. */
static int by_key(const void *a, const void *b)
{
	const struct index_entry *x = a, *y = b;
	int r = strcmp(x->key, y->key);

	return r ? r : (x->object > y->object) - (x->object < y->object);
}

static int cmp_place(const struct netdev *nd, int nsid, int ifindex)
{
	if (nd->nsid != nsid)
		return nd->nsid < nsid ? -1 : 1;
	return (nd->ifindex > ifindex) - (nd->ifindex < ifindex);
}

static int by_place(const void *a, const void *b)
{
	const struct netdev *x = *(const struct netdev *const *)a;
	const struct netdev *y = *(const struct netdev *const *)b;

	return cmp_place(x, y->nsid, y->ifindex);
}

static void fill(struct host_index *ix)
{
	const struct host *h = ix->host;

	for (size_t i = 0; i < h->n_functions; i++)
		ix->functions[i] = (struct index_entry){h->functions[i].id, &h->functions[i]};
	for (size_t i = 0; i < h->n_netdevs; i++) {
		ix->netdevs[i] = (struct index_entry){h->netdevs[i].function, &h->netdevs[i]};
		ix->places[i] = &h->netdevs[i];
	}
	for (size_t i = 0; i < h->n_rdma; i++)
		ix->rdma[i] = (struct index_entry){rdma_function_id(&h->rdma[i]), &h->rdma[i]};
	qsort(ix->functions, h->n_functions, sizeof(*ix->functions), by_key);
	qsort(ix->netdevs, h->n_netdevs, sizeof(*ix->netdevs), by_key);
	qsort(ix->rdma, h->n_rdma, sizeof(*ix->rdma), by_key);
	qsort(ix->places, h->n_netdevs, sizeof(struct netdev *), by_place);
}

int host_index_init(struct host_index *ix, const struct host *h)
{
	*ix = (struct host_index){
		.host = h,
		.functions = calloc(h->n_functions + 1, sizeof(*ix->functions)),
		.netdevs = calloc(h->n_netdevs + 1, sizeof(*ix->netdevs)),
		.rdma = calloc(h->n_rdma + 1, sizeof(*ix->rdma)),
		.places = calloc(h->n_netdevs + 1, sizeof(struct netdev *)),
	};
	if (!ix->functions || !ix->netdevs || !ix->rdma || !ix->places) {
		host_index_done(ix);
		return -ENOMEM;
	}
	fill(ix);
	return 0;
}

void host_index_done(struct host_index *ix)
{
	free(ix->functions);
	free(ix->netdevs);
	free(ix->rdma);
	free(ix->places);
	*ix = (struct host_index){0};
}

/* The first entry with the key, and how many there are. */
static const struct index_entry *find(const struct index_entry *list, size_t n, const char *key,
				      size_t *ret_n)
{
	size_t low = 0, high = n, end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(list[mid].key, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; end < n && strcmp(list[end].key, key) == 0;)
		end++;
	*ret_n = end - low;
	return list + low;
}

const struct function *host_index_function(const struct host_index *ix, const char *id)
{
	size_t n;
	const struct index_entry *e = find(ix->functions, ix->host->n_functions, id, &n);

	return n ? e->object : NULL;
}

const struct netdev *host_index_netdev(const struct host_index *ix, int nsid, int ifindex)
{
	size_t low = 0, high = ix->host->n_netdevs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int r = cmp_place(ix->places[mid], nsid, ifindex);

		if (r == 0)
			return ix->places[mid];
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* What belongs to no function has the key "". */
struct fn_parts host_index_parts(const struct host_index *ix, const char *function)
{
	struct fn_parts p = {.fn = host_index_function(ix, function)};

	if (function[0] == '\0')
		return p;
	p.netdevs = find(ix->netdevs, ix->host->n_netdevs, function, &p.n_netdevs);
	p.rdma = find(ix->rdma, ix->host->n_rdma, function, &p.n_rdma);
	return p;
}
