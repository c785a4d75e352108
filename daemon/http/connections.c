// SPDX-License-Identifier: Apache-2.0
/* connections.c - see connections.h. The list has a few dozen items, so every query reads all of
 * it. */
#include "connections.h"

#include <stddef.h>

void connections_init(struct connections *c, unsigned max_readers, unsigned max_admin,
		      uint64_t request_ms, uint64_t kept_ms)
{
	*c = (struct connections){.request_ms = request_ms, .kept_ms = kept_ms};
	c->max[PLACES_READERS] = max_readers < 2 ? 2 : max_readers;
	c->max[PLACES_ADMIN] = max_admin < 2 ? 2 : max_admin;
	TAILQ_INIT(&c->list);
}

enum connection_places connection_places(const struct connection *it)
{
	return it->admin == ADMIN_ALLOWED ? PLACES_ADMIN : PLACES_READERS;
}

void connections_add(struct connections *c, struct connection *new, uint64_t now_ms)
{
	new->phase = CONNECTION_REQUEST;
	new->since_ms = now_ms;
	TAILQ_INSERT_TAIL(&c->list, new, entry);
}

void connections_remove(struct connections *c, struct connection *old)
{
	TAILQ_REMOVE(&c->list, old, entry);
}

void connections_enter(struct connections *c, struct connection *it, enum connection_phase phase,
		       uint64_t now_ms)
{
	if (it->phase == CONNECTION_CUT)
		return;
	it->phase = phase;
	it->since_ms = now_ms;
	TAILQ_REMOVE(&c->list, it, entry);
	TAILQ_INSERT_TAIL(&c->list, it, entry);
}

static struct connection *slowest_of(const struct connections *c, enum connection_places places)
{
	struct connection *slowest = NULL, *it;

	for (it = TAILQ_FIRST(&c->list); it; it = TAILQ_NEXT(it, entry)) {
		if (connection_places(it) != places)
			continue;
		if (it->phase == CONNECTION_IDLE)
			return it;
		if (!slowest && it->phase != CONNECTION_WAITING && it->phase != CONNECTION_CUT)
			slowest = it;
	}
	return slowest;
}

struct connection *connections_slowest(const struct connections *c)
{
	struct connection *slowest = slowest_of(c, PLACES_READERS);

	return slowest ? slowest : slowest_of(c, PLACES_ADMIN);
}

struct connection *connections_to_evict(const struct connections *c, enum connection_places places)
{
	unsigned max = c->max[places], reserve = max / 8 > 0 ? max / 8 : 1, live = 0;
	struct connection *it;

	for (it = TAILQ_FIRST(&c->list); it; it = TAILQ_NEXT(it, entry))
		live += it->phase != CONNECTION_CUT && connection_places(it) == places;
	return live + reserve > max ? slowest_of(c, places) : NULL;
}

static uint64_t deadline_of(const struct connections *c, const struct connection *it)
{
	switch (it->phase) {
	case CONNECTION_REQUEST:
	case CONNECTION_ANSWER:
		return it->since_ms + c->request_ms;
	case CONNECTION_WAITING:
		return it->since_ms + c->kept_ms;
	case CONNECTION_IDLE:
	case CONNECTION_CUT:
		break;
	}
	return CONNECTIONS_NEVER;
}

struct connection *connections_next(const struct connections *c, uint64_t *ret_deadline_ms)
{
	struct connection *next = NULL, *it;

	*ret_deadline_ms = CONNECTIONS_NEVER;
	for (it = TAILQ_FIRST(&c->list); it; it = TAILQ_NEXT(it, entry)) {
		if (deadline_of(c, it) >= *ret_deadline_ms)
			continue;
		*ret_deadline_ms = deadline_of(c, it);
		next = it;
	}
	return next;
}
