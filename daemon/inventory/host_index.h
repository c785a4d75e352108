/* host_index.h - a host's functions, and what belongs to each, found without walking the host.
 * Pure.
 *
 * Made once for a pass over many functions; borrows from the host, which must outlive it and not
 * change. */
#pragma once

#include "model.h"

struct index_row;

struct host_index {
	const struct host *host;
	struct index_row *rows; /* one per function, listed or only named by what belongs to it */
	uint32_t n_rows;
	uint32_t *slots; /* hash table: place in rows + 1, 0 = free */
	uint32_t mask;
	/* Those of one function stand together, in the host's order. */
	const struct netdev **netdevs;
	const struct rdma_dev **rdma;
	const struct netdev **places; /* netdevs by (nsid, ifindex) */
};

/* A function and what belongs to it. */
struct fn_parts {
	const struct function *fn; /* NULL = the host does not list it */
	const struct netdev *const *netdevs;
	const struct rdma_dev *const *rdma;
	size_t n_netdevs, n_rdma;
};

/* -ENOMEM leaves the empty index. */
int host_index_init(struct host_index *, const struct host *);
void host_index_done(struct host_index *);

const struct function *host_index_function(const struct host_index *, const char *id);
const struct netdev *host_index_netdev(const struct host_index *, int nsid, int ifindex);
struct fn_parts host_index_parts(const struct host_index *, const char *function);
/* The same of a function of the host's own list, which needs no looking up. */
struct fn_parts host_index_own_parts(const struct host_index *, const struct function *);
/* An RDMA device that nothing carries is a function of its own, under its own name. */
const char *rdma_function_id(const struct rdma_dev *);

static inline const struct netdev *part_netdev(const struct fn_parts *p, size_t i)
{
	return p->netdevs[i];
}

static inline const struct rdma_dev *part_rdma(const struct fn_parts *p, size_t i)
{
	return p->rdma[i];
}
