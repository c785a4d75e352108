/* SPDX-License-Identifier: Apache-2.0 */
/* host_index.h - finds a host's functions, and the netdevs and RDMA devices of each, without
 * scanning the host. Pure.
 *
 * Built once for a pass over many functions. Borrows from the host, which must outlive the index
 * and not change during that time. */
#pragma once

#include "model.h"

struct index_row;

struct host_index {
	const struct host *host;
	struct index_row *rows; /* one per function, including functions that only a netdev or RDMA
				 * device names */
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

/* Builds the index; -ENOMEM leaves it empty. */
int host_index_init(struct host_index *, const struct host *);
void host_index_done(struct host_index *);

const struct function *host_index_function(const struct host_index *, const char *id);
const struct netdev *host_index_netdev(const struct host_index *, int nsid, int ifindex);
struct fn_parts host_index_parts(const struct host_index *, const char *function);
/* Like host_index_parts(), for a function that is an element of the host's own array: skips the
 * hash lookup. */
struct fn_parts host_index_own_parts(const struct host_index *, const struct function *);
/* Returns the ID of the device's function. An RDMA device without a parent function is a function
 * of its own, under its own name. */
const char *rdma_function_id(const struct rdma_dev *);

static inline const struct netdev *part_netdev(const struct fn_parts *p, size_t i)
{
	return p->netdevs[i];
}

static inline const struct rdma_dev *part_rdma(const struct fn_parts *p, size_t i)
{
	return p->rdma[i];
}

/* Finds the netdevs that carry the node's default routes. A default route uses a netdev and every
 * netdev below it: the members of a bond, bridge or team, and the parent of a VLAN or macvlan, at
 * any depth. Only the host's network namespace counts. Returns one entry per netdev of the host:
 * the netdev whose default route uses it, or NULL. Allocated on the heap; returns NULL when out of
 * memory. */
const struct netdev **default_routes(const struct host_index *);
