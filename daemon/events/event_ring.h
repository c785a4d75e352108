/* event_ring.h - the last events. Pure; time comes with each event.
 *
 * An event that is there already (same type, reason, object and message) counts up and becomes the
 * newest, so that what repeats itself does not push everything else out. */
#pragma once

#include "event.h"

#define EVENT_RING_SIZE 512

struct event_ring {
	struct event *slots; /* owned */
	size_t n;
	uint16_t order[EVENT_RING_SIZE]; /* of the slots, oldest first by its last time */
	uint64_t generation;		 /* grows with every event */
};

/* -ENOMEM. */
int event_ring_init(struct event_ring *);
void event_ring_done(struct event_ring *);
/* Copies it; a count of 0 means 1. */
void event_ring_add(struct event_ring *, const struct event *);
/* The i-th of ring->n, oldest first; borrowed until the next event. */
const struct event *event_ring_at(const struct event_ring *, size_t i);

const char *event_type_name(enum event_type); /* "Normal", "Warning" */
