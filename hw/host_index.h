/* host_index.h - finds what belongs to a function without walking the whole host each time. Pure.
 *
 * For rounds over all functions of a large host. Borrows the host, which must stay as it is. */
#pragma once

#include "model.h"

/* Elements of one array of the host, sorted by the name that stands at name_at in each. */
struct sorted_list {
	const void **items; /* NULL = the array itself is walked */
	const void *array;
	size_t n, size, name_at;
};

struct host_index {
	const struct host *host;
	struct sorted_list functions;	  /* by id */
	struct sorted_list netdevs, rdma; /* by function */
};

/* An index that costs nothing to make, and walks the arrays. */
struct host_index host_index_none(const struct host *);
/* Always usable afterwards: without memory it is only slow. */
void host_index_init(struct host_index *, const struct host *);
void host_index_done(struct host_index *);

const struct function *host_index_function(const struct host_index *, const char *id);
/* Netdevs and RDMA devices of a function, one after the other in the host's order, then NULL; *at
 * begins with 0. */
const struct netdev *host_index_netdev(const struct host_index *, const char *function, size_t *at);
const struct rdma_dev *host_index_rdma(const struct host_index *, const char *function, size_t *at);
