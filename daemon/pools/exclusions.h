/* exclusions.h - what keeps a function from a pool that it matches. Pure; part of pools_build(). */
#pragma once

#include "host_index.h"
#include "pools.h"

struct exclusions {
	const struct host_index *index;
	const struct netdev **routes; /* default_routes() */
	/* Held, but from none of the configuration's exclusive pools: by id. */
	const struct pod_device **foreign;
	size_t n_foreign;
	bool held_known; /* what containers hold */
};

/* Borrows everything. -ENOMEM leaves nothing to free. */
int exclusions_init(struct exclusions *, const struct host_index *, const struct pool_config *,
		    const struct pod_list *held);
void exclusions_done(struct exclusions *);
/* True: it is excluded; kind and detail of *ret say why, the rest is untouched. lent: a container
 * holds it from an exclusive pool of ours. */
bool exclusions_find(const struct exclusions *, const struct pool *, const struct candidate *,
		     bool lent, struct verdict *ret);
