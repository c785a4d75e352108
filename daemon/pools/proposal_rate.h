/* SPDX-License-Identifier: Apache-2.0 */
/* proposal_rate.h - rates one function: the kind of pool that it is suitable for, or the reason to
 * leave it out. Pure; part of proposal_build(). */
#pragma once

#include "host_index.h"
#include "proposal.h"

/* A proposal uses the functions with the best rating on the node. */
enum proposal_rating {
	RATED_NEVER,
	RATED_SOFTWARE, /* soft-RoCE */
	RATED_ROUTED,	/* an HCA that carries the default route */
	RATED_GOOD,
};

struct rated {
	enum proposal_rating rating;
	enum proposed_kind kind;
	const struct function *owner; /* VF, SF: its PF; otherwise the function itself */
	char why[192];		      /* why it is left out, if better ones exist */
};

/* Rates a function. routes: default_routes(). */
void proposal_rate(struct rated *ret, const struct host_index *, const struct netdev **routes,
		   const struct function *);

/* --- parts of a function ---------------------------------------------------------------------- */

/* Returns the bond or team of which its netdev is a member, NULL = none. */
const struct netdev *proposal_bond(const struct host_index *, const struct fn_parts *);
/* Returns the netdev whose default route uses it, NULL = none. */
const struct netdev *proposal_route(const struct host_index *, const struct netdev **routes,
				    const struct fn_parts *);
/* Its netdev in the host's namespace, NULL = none. */
const struct netdev *proposal_netdev(const struct fn_parts *);
