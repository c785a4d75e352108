/* proposal_rate.h - what one function could be offered as, or why it could not. Pure; part of
 * proposal_build(). */
#pragma once

#include "host_index.h"
#include "proposal.h"

/* A proposal is made of the best that the node has. */
enum proposal_rating {
	RATED_NEVER,
	RATED_SOFTWARE, /* RDMA in software */
	RATED_ROUTED,	/* an HCA that carries the default route */
	RATED_GOOD,
};

struct rated {
	enum proposal_rating rating;
	enum proposed_kind kind;
	const struct function *owner; /* VF, SF: its PF; otherwise the function itself */
	char why[192];		      /* not, where better ones exist */
};

/* routes: default_routes(). */
void proposal_rate(struct rated *ret, const struct host_index *, const struct netdev **routes,
		   const struct function *);

/* --- of a function's parts -------------------------------------------------------------------- */

/* Its bond or team, NULL = it is no member. */
const struct netdev *proposal_bond(const struct host_index *, const struct fn_parts *);
/* The netdev with the default route that leaves through it, NULL = none. */
const struct netdev *proposal_route(const struct host_index *, const struct netdev **routes,
				    const struct fn_parts *);
/* Its netdev in the host's namespace, NULL = none. */
const struct netdev *proposal_netdev(const struct fn_parts *);
