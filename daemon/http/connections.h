/* connections.h - who is connected, in which phase, since when, and who has to go. Pure: time is an
 * argument, closing is the caller's.
 *
 * One fixed table for all listeners. A connection is first asked for a request, then given its
 * answer, then idle until it asks again; each phase has a deadline. When the table is nearly full
 * the least useful connection is named, so that there is always room for one more. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum connection_phase {
	CONNECTION_FREE,    /* an unused slot */
	CONNECTION_REQUEST, /* its request has not arrived whole */
	CONNECTION_WAITING, /* its answer is being worked on */
	CONNECTION_ANSWER,  /* it has not taken its whole answer */
	CONNECTION_IDLE,    /* answered before, asks nothing now */
	CONNECTION_CUT,	    /* told to go: never chosen again */
};

enum connection_orders { ORDERS_NOT_HERE, ORDERS_FORBIDDEN, ORDERS_TAKEN };

struct connection {
	int fd;	      /* borrowed */
	bool adopted; /* whoever serves it has taken it over, and will say when it is gone */
	enum connection_phase phase;
	uint64_t since_ms; /* when the phase began */
	uint64_t turn;	   /* the same, for order within a millisecond */
	enum connection_orders orders;
};

struct connections {
	struct connection *slots; /* owned; their addresses stay */
	unsigned size, used;
	uint64_t turns;
	unsigned waiting;	      /* in phase WAITING */
	uint64_t request_ms, idle_ms; /* longest time in REQUEST or ANSWER, and in IDLE */
	uint64_t order_ms;	      /* in WAITING */
};

#define CONNECTIONS_NEVER UINT64_MAX

/* -ENOMEM. Sizes below 2 become 2: one that is served and one to come. */
int connections_init(struct connections *, unsigned size, uint64_t request_ms, uint64_t idle_ms,
		     uint64_t order_ms);
void connections_done(struct connections *);

/* A new connection in phase REQUEST, not adopted; NULL: no free slot. */
struct connection *connections_add(struct connections *, int fd, uint64_t now_ms);
void connections_remove(struct connections *, struct connection *);
/* Marks the one with this descriptor that is not adopted yet; NULL: there is none. */
struct connection *connections_adopt(struct connections *, int fd);
/* Removes those that are still not adopted: their descriptors are closed. */
void connections_drop_orphans(struct connections *);
/* A connection that was cut stays cut. */
void connections_enter(struct connections *, struct connection *, enum connection_phase,
		       uint64_t now_ms);

static inline bool connections_full(const struct connections *c)
{
	return c->used == c->size;
}

/* One more may wait: others keep half of the places. */
bool connections_may_wait(const struct connections *);

/* The first to go: the longest idle connection, else the one that has been longest in its phase.
 * NULL: none, or all were cut already, or wait for what they have ordered. */
struct connection *connections_slowest(const struct connections *);
/* The same, but NULL while an eighth of the slots is free or about to be. */
struct connection *connections_crowding(const struct connections *);
/* One that is past its deadline, or NULL. */
struct connection *connections_expired(const struct connections *, uint64_t now_ms);
/* When the next one will be; CONNECTIONS_NEVER without connections. */
uint64_t connections_deadline(const struct connections *);
