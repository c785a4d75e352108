/* SPDX-License-Identifier: Apache-2.0 */
/* host_index.h - finds a host's functions, and the netdevs and RDMA devices of each, without
 * scanning the host. Pure.
 *
 * Built once for a pass over many functions. Borrows from the host, which must outlive the index
 * and not change meanwhile. */
#pragma once

#include "model.h"

struct index_row;

struct host_index {
	const struct host *host;
	struct index_row *rows; /* one per function, also for those that only a netdev or RDMA
				   device refers to */
	uint32_t n_rows;
	uint32_t *slots; /* hash table: index into rows + 1, 0 = free */
	uint32_t mask;
	/* Grouped by function, within a group in the host's order. */
	const struct netdev **netdevs;
	const struct rdma_dev **rdma;
	const struct netdev **places; /* netdevs sorted by (nsid, ifindex) */
};

/* A function with its netdevs and RDMA devices. */
struct fn_parts {
	const struct function *fn; /* NULL: the host does not list this function */
	const struct netdev *const *netdevs;
	const struct rdma_dev *const *rdma;
	size_t n_netdevs, n_rdma;
};

/* -ENOMEM leaves an empty index. */
int host_index_init(struct host_index *, const struct host *);
void host_index_done(struct host_index *);

const struct function *host_index_function(const struct host_index *, const char *id);
const struct netdev *host_index_netdev(const struct host_index *, int nsid, int ifindex);
struct fn_parts host_index_parts(const struct host_index *, const char *function);
/* Like host_index_parts(), for a function that is an element of the host's own array: skips the
 * hash lookup. */
struct fn_parts host_index_own_parts(const struct host_index *, const struct function *);
/* An RDMA device without a parent function is a function of its own, under its own name. */
const char *rdma_function_id(const struct rdma_dev *);

static inline const struct netdev *part_netdev(const struct fn_parts *p, size_t i)
{
	return p->netdevs[i];
}

static inline const struct rdma_dev *part_rdma(const struct fn_parts *p, size_t i)
{
	return p->rdma[i];
}
