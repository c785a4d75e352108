/* SPDX-License-Identifier: Apache-2.0 */
/* event_ring.h - stores the last events, with their own copies of further pods. Pure; the times are
 * those of the events.
 *
 * A repeated event (same type, reason, object and message) only increments the count of the
 * existing one, which becomes the newest. So repetitions do not evict other events. */
#pragma once

#include "event.h"

#define EVENT_RING_SIZE 512

struct event_ring {
	struct event *slots; /* owned */
	size_t n;
	uint16_t order[EVENT_RING_SIZE]; /* slot numbers, sorted by last time, oldest first */
	uint64_t generation;		 /* incremented by every event */
};

/* Creates an empty ring. -ENOMEM: out of memory. */
int event_ring_init(struct event_ring *);
void event_ring_done(struct event_ring *);
/* Adds a copy of the event; a count of 0 means 1. */
void event_ring_add(struct event_ring *, const struct event *);
/* Returns event i of ring->n, oldest first; borrowed until the next event. */
const struct event *event_ring_at(const struct event_ring *, size_t i);

const char *event_type_name(enum event_type); /* "Normal", "Warning" */
