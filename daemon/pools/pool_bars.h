/* pool_bars.h - what keeps a function from a pool that it matches. Pure; part of pools_build(). */
#pragma once

#include "host_index.h"
#include "pools.h"

struct pool_bars {
	const struct host_index *index;
	const struct netdev **routes; /* default_routes() */
	/* Held, but from none of the configuration's exclusive pools: by id. */
	const struct pod_device **foreign;
	size_t n_foreign;
	bool held_known; /* what containers hold */
};

/* Borrows everything. -ENOMEM leaves nothing to free. */
int pool_bars_init(struct pool_bars *, const struct host_index *, const struct pool_config *,
		   const struct pod_list *held);
void pool_bars_done(struct pool_bars *);
/* True: it is barred; kind and detail of *ret say why, the rest is untouched. lent: a container
 * holds it from an exclusive pool of ours. */
bool pool_bars_check(const struct pool_bars *, const struct pool *, const struct candidate *,
		     bool lent, struct verdict *ret);
