/* SPDX-License-Identifier: Apache-2.0 */
/* exclusions.h - the reasons that keep a function out of a pool that it matches. Pure; part of
 * pools_build(). */
#pragma once

#include "host_index.h"
#include "pools.h"

struct exclusions {
	const struct host_index *index;
	const struct netdev **routes; /* default_routes() */
	/* Devices that are allocated to containers under other resources than those of the
	 * exclusive pools; sorted by ID. */
	const struct pod_device **foreign;
	size_t n_foreign;
	bool held_known; /* the allocations are known */
};

/* Borrows everything. -ENOMEM leaves nothing to free. */
int exclusions_init(struct exclusions *, const struct host_index *, const struct pool_config *,
		    const struct pod_list *held);
void exclusions_done(struct exclusions *);
/* True if the function is excluded; kind and detail of *ret give the reason, the rest of *ret is
 * unchanged. allocated: a container has the function from an exclusive pool of ours. */
bool exclusions_find(const struct exclusions *, const struct pool *, const struct candidate *,
		     bool allocated, struct verdict *ret);
