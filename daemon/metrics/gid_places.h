/* gid_places.h - under which indices a port's GIDs stood, so that one that comes back under another
 * is seen: queue pairs and applications name a GID by its index, and whoever keeps the old one
 * speaks with another address or type. Pure.
 *
 * A link that goes down takes addresses away, so a GID is remembered while it is not there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rdma_port;

struct gid_place {
	uint64_t gid; /* hash of address, type and netdev */
	uint32_t index;
};

/* Zero-initialised it knows none. */
struct gid_places {
	struct gid_place *items; /* owned */
	size_t n;
	uint64_t moved_ms; /* when one was found under another index; 0 = never */
};

/* What is there now. What there is no memory for is not remembered. */
void gid_places_see(struct gid_places *, const struct rdma_port *, uint64_t now_ms);
/* Has one moved a moment ago? */
bool gid_places_moved(const struct gid_places *, uint64_t now_ms);
void gid_places_done(struct gid_places *);
