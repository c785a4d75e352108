// SPDX-License-Identifier: Apache-2.0
#include "event_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int event_ring_init(struct event_ring *ring)
{
	*ring = (struct event_ring){.slots = calloc(EVENT_RING_SIZE, sizeof(*ring->slots))};
	return ring->slots ? 0 : -ENOMEM;
}

void event_ring_done(struct event_ring *ring)
{
	for (size_t i = 0; i < ring->n; i++)
		free((char *)ring->slots[i].other_pods);
	free(ring->slots);
	*ring = (struct event_ring){0};
}

/* NULL is the same as "". */
static bool event_has_same_pods(const struct event *a, const struct event *b)
{
	return strcmp(a->other_pods ? a->other_pods : "", b->other_pods ? b->other_pods : "") == 0;
}

static bool event_is_same(const struct event *a, const struct event *b)
{
	return a->type == b->type && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->device, b->device) == 0 && strcmp(a->pod, b->pod) == 0 &&
	       strcmp(a->namespace, b->namespace) == 0 && event_has_same_pods(a, b) &&
	       strcmp(a->message, b->message) == 0;
}

/* Returns the index of the same event in `order`; ring->n: none. */
static size_t event_place_of(const struct event_ring *ring, const struct event *e)
{
	size_t i = ring->n;

	while (i > 0)
		if (event_is_same(event_ring_at(ring, --i), e))
			return i;
	return ring->n;
}

/* Moves the slot at an index of `order` to its end. */
static struct event *make_newest(struct event_ring *ring, size_t place)
{
	uint16_t slot = ring->order[place];

	memmove(&ring->order[place], &ring->order[place + 1],
		(ring->n - place - 1) * sizeof(*ring->order));
	ring->order[ring->n - 1] = slot;
	return &ring->slots[slot];
}

static struct event *event_slot(struct event_ring *ring)
{
	if (ring->n == EVENT_RING_SIZE)
		return make_newest(ring, 0);
	ring->order[ring->n] = (uint16_t)ring->n;
	return &ring->slots[ring->n++];
}

void event_ring_add(struct event_ring *ring, const struct event *e)
{
	size_t place = event_place_of(ring, e);
	uint32_t count = e->count ? e->count : 1;
	struct event *kept;

	ring->generation++;
	if (place < ring->n) {
		kept = make_newest(ring, place);
		kept->count += count;
	} else {
		kept = event_slot(ring);
		free((char *)kept->other_pods);
		*kept = *e;
		/* Out of memory: the event is about its own pod only. */
		kept->other_pods = e->other_pods ? strdup(e->other_pods) : NULL;
		kept->count = count;
	}
	kept->last_ms = e->last_ms;
	kept->generation = ring->generation;
}

const struct event *event_ring_at(const struct event_ring *ring, size_t i)
{
	return &ring->slots[ring->order[i]];
}

const char *event_type_name(enum event_type type)
{
	switch (type) {
	case EVENT_NORMAL:
		break;
	case EVENT_WARNING:
		return "Warning";
	}
	return "Normal";
}
