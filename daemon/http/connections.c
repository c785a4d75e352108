/* connections.c - the table behind connections.h. A few dozen slots: every question is one pass. */
#include "connections.h"

#include <errno.h>
#include <stdlib.h>

int connections_init(struct connections *c, unsigned size, uint64_t request_ms, uint64_t idle_ms,
		     uint64_t order_ms)
{
	if (size < 2)
		size = 2;
	*c = (struct connections){
		.size = size, .request_ms = request_ms, .idle_ms = idle_ms, .order_ms = order_ms};
	c->slots = calloc(size, sizeof(*c->slots));
	return c->slots ? 0 : -ENOMEM;
}

void connections_done(struct connections *c)
{
	free(c->slots);
	*c = (struct connections){0};
}

struct connection *connections_add(struct connections *c, int fd, uint64_t now_ms)
{
	struct connection *slot = c->slots, *end = c->slots + c->size;

	if (connections_full(c))
		return NULL;
	while (slot < end && slot->phase != CONNECTION_FREE)
		slot++;
	*slot = (struct connection){
		.fd = fd, .phase = CONNECTION_REQUEST, .since_ms = now_ms, .turn = c->turns++};
	c->used++;
	return slot;
}

void connections_remove(struct connections *c, struct connection *slot)
{
	c->waiting -= slot->phase == CONNECTION_WAITING;
	slot->phase = CONNECTION_FREE;
	c->used--;
}

static bool is_orphan(const struct connection *slot)
{
	return slot->phase != CONNECTION_FREE && !slot->adopted;
}

struct connection *connections_adopt(struct connections *c, int fd)
{
	unsigned i;

	for (i = 0; i < c->size; i++) {
		if (!is_orphan(&c->slots[i]) || c->slots[i].fd != fd)
			continue;
		c->slots[i].adopted = true;
		return &c->slots[i];
	}
	return NULL;
}

void connections_drop_orphans(struct connections *c)
{
	unsigned i;

	for (i = 0; i < c->size; i++)
		if (is_orphan(&c->slots[i]))
			connections_remove(c, &c->slots[i]);
}

void connections_enter(struct connections *c, struct connection *slot, enum connection_phase phase,
		       uint64_t now_ms)
{
	if (slot->phase == CONNECTION_CUT)
		return;
	c->waiting -= slot->phase == CONNECTION_WAITING;
	c->waiting += phase == CONNECTION_WAITING;
	slot->phase = phase;
	slot->since_ms = now_ms;
	slot->turn = c->turns++;
}

static bool is_live(const struct connection *slot)
{
	return slot->phase != CONNECTION_FREE && slot->phase != CONNECTION_CUT;
}

bool connections_may_wait(const struct connections *c)
{
	return c->waiting < c->size / 2;
}

/* Whether a is to go rather than b. */
static bool goes_before(const struct connection *a, const struct connection *b)
{
	if ((a->phase == CONNECTION_IDLE) != (b->phase == CONNECTION_IDLE))
		return a->phase == CONNECTION_IDLE;
	return a->turn < b->turn;
}

struct connection *connections_slowest(const struct connections *c)
{
	struct connection *worst = NULL;
	unsigned i;

	for (i = 0; i < c->size; i++)
		if (is_live(&c->slots[i]) && c->slots[i].phase != CONNECTION_WAITING &&
		    (!worst || goes_before(&c->slots[i], worst)))
			worst = &c->slots[i];
	return worst;
}

struct connection *connections_crowding(const struct connections *c)
{
	unsigned reserve = c->size / 8 > 0 ? c->size / 8 : 1;
	unsigned i, live = 0;

	for (i = 0; i < c->size; i++)
		live += is_live(&c->slots[i]);
	return c->size - live < reserve ? connections_slowest(c) : NULL;
}

static uint64_t deadline(const struct connections *c, const struct connection *slot)
{
	switch (slot->phase) {
	case CONNECTION_FREE:
	case CONNECTION_CUT:
		break;
	case CONNECTION_REQUEST:
	case CONNECTION_ANSWER:
		return slot->since_ms + c->request_ms;
	case CONNECTION_WAITING:
		return slot->since_ms + c->order_ms;
	case CONNECTION_IDLE:
		return slot->since_ms + c->idle_ms;
	}
	return CONNECTIONS_NEVER;
}

struct connection *connections_expired(const struct connections *c, uint64_t now_ms)
{
	unsigned i;

	for (i = 0; i < c->size; i++)
		if (deadline(c, &c->slots[i]) <= now_ms)
			return &c->slots[i];
	return NULL;
}

uint64_t connections_deadline(const struct connections *c)
{
	uint64_t next = CONNECTIONS_NEVER, d;
	unsigned i;

	for (i = 0; i < c->size; i++) {
		d = deadline(c, &c->slots[i]);
		next = d < next ? d : next;
	}
	return next;
}
