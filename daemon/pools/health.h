/* SPDX-License-Identifier: Apache-2.0 */
/* health.h - decides whether a device is healthy, and since when. Pure; time is an argument. The
 * reasons are derived from the current state of the host, then damped: a reason takes effect once
 * it has persisted for its down time, and ends once it has been absent for its up time. */
#pragma once

#include "host_index.h"
#include "model.h"
#include "plugin.h"
#include "pools.h"

/* True if all selectors of the pool require RDMA; otherwise a function may have matched a selector
 * without RDMA. */
bool health_requires_rdma(const struct pool *);
/* Returns the current reasons (HEALTH_BIT) against the functions of an offer; none if at least one
 * function is fit. held: a container has the offer. Then only the bus, devlink, the PF and, if the
 * host sees it, the RDMA device with its nodes are judged, because the host cannot see the
 * container's namespace. Slots of shared pools are judged in the same way in both cases, because
 * their device stays in the host. */
unsigned health_judge(const struct pool_view *, const struct offer *, const struct host_index *,
		      bool held);

/* The health of one ID. */
struct health {
	unsigned seen;			     /* reasons as last judged */
	unsigned counted;		     /* reasons after damping: 0 = healthy */
	uint64_t since_ms[N_HEALTH_REASONS]; /* when the reason's bit in `seen` last changed */
	/* When the first of the reasons appeared that make it unhealthy without interruption; 0 =
	 * healthy. */
	uint64_t unhealthy_ms;
	bool or_earlier; /* it was unhealthy when it was first judged: maybe for longer */
};

/* Initialises the health of a new ID; its first reasons count at once. */
void health_start(struct health *, unsigned reasons, uint64_t now_ms);
/* Sets the current reasons. True: `counted` has changed. Call it also with unchanged reasons when a
 * hold time has passed. */
bool health_update(struct health *, unsigned reasons, const struct pool *, uint64_t now_ms);
/* Returns the time at which `counted` will change if the reasons stay the same; UINT64_MAX = never.
 */
uint64_t health_deadline(const struct health *, const struct pool *);

/* Writes the names of the reasons: "link_down, no_chardev"; "" when healthy. */
void health_text(unsigned reasons, char *text, size_t size);
