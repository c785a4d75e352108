/* SPDX-License-Identifier: Apache-2.0 */
/* gid_places.h - remembers the indices of a port's GIDs, to detect a GID that moved to another
 * index: queue pairs and applications refer to a GID by its index, so a queue pair with the old
 * index uses another address or type. Pure.
 *
 * A GID is remembered while it is absent, because a link that goes down removes addresses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rdma_port;

struct gid_place {
	uint64_t gid; /* hash of address, type and netdev */
	uint32_t index;
};

/* Zero-initialised it is empty. */
struct gid_places {
	struct gid_place *items; /* owned */
	size_t n;
	uint64_t moved_ms; /* when a GID was last found at another index; 0 = never */
};

/* Compares with the port's current GIDs and remembers them. If out of memory, some are not
 * remembered. */
void gid_places_see(struct gid_places *, const struct rdma_port *, uint64_t now_ms);
/* True if a GID has moved to another index within the last minute. */
bool gid_places_moved(const struct gid_places *, uint64_t now_ms);
void gid_places_done(struct gid_places *);
