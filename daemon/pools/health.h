/* SPDX-License-Identifier: Apache-2.0 */
/* health.h - is a device fit for a container, and since when? Pure; time is an argument.
 *
 * Judged by what the host can see now, then damped: a reason counts once it has persisted for its
 * down time, and stops counting once it has been absent for its up time. Recovers by itself. */
#pragma once

#include "host_index.h"
#include "model.h"
#include "plugin.h"
#include "pools.h"

#define HEALTH_BIT(reason) (1u << (reason))

/* Returns the current reasons (HEALTH_BIT) against the functions of an offer; none if at least one
 * function is fit. held: a container has the offer; then anything in the container's namespace,
 * which the host cannot see, is not judged, and the bus, devlink and the carrying PF remain. Slots
 * of shared pools are judged the same in both cases, because the device stays in the host. */
unsigned health_judge(const struct pool_view *, const struct offer *, const struct host_index *,
		      bool held);

/* The health of one ID. */
struct health {
	unsigned seen;			     /* reasons as last judged */
	unsigned counted;		     /* reasons after damping: 0 = healthy */
	uint64_t since_ms[N_HEALTH_REASONS]; /* when the reason's bit in `seen` last changed */
};

/* The first judgement of a new ID is used undamped. */
void health_start(struct health *, unsigned reasons, uint64_t now_ms);
/* True: `counted` has changed. Call also with unchanged reasons when a hold time has passed. */
bool health_update(struct health *, unsigned reasons, const struct pool *, uint64_t now_ms);
/* When `counted` will change if the reasons stay the same; UINT64_MAX = never. */
uint64_t health_deadline(const struct health *, const struct pool *);

/* "link_down, no_chardev"; "" when healthy. */
void health_text(unsigned reasons, char *text, size_t size);
