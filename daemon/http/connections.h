/* connections.h - who is connected, in which phase, since when, and who has to go. Pure: time is an
 * argument, closing is the caller's.
 *
 * libmicrohttpd has a limit, which closes the newcomer, and a time-out, which any byte prolongs. So
 * these two are ours: a connection has a deadline to ask and one to take its answer, and when
 * nearly all places are taken the least useful one is named, so that there is always room for one
 * more. What is idle ends by libmicrohttpd's time-out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum connection_phase {
	CONNECTION_REQUEST, /* its request has not arrived whole */
	CONNECTION_WAITING, /* its answer is being worked on */
	CONNECTION_ANSWER,  /* it has not taken its whole answer */
	CONNECTION_IDLE,    /* answered before, asks nothing now */
	CONNECTION_CUT,	    /* told to go: never chosen again */
};

enum connection_orders { ORDERS_NOT_HERE, ORDERS_FORBIDDEN, ORDERS_TAKEN };

struct connection {
	TAILQ_ENTRY(connection) entry;
	int fd;	       /* borrowed */
	bool guarded;  /* over TCP: may be asked who it is */
	uint64_t peer; /* whose it is, of those */
	enum connection_orders orders;
	enum connection_phase phase;
	uint64_t since_ms;		/* when the phase began */
	struct MHD_Connection *mhd;	/* the server's */
	struct http_deferred *deferred; /* whose answer it waits for in WAITING */
};

/* Two kinds of places. An admin connection (ORDERS_TAKEN) waits for as long as its request works on
 * a device, and there may be one for each device of the node: it never takes a place from scrapes
 * and pages, nor they from it. */
enum connection_places { PLACES_READERS, PLACES_ADMIN, N_CONNECTION_PLACES };

struct connections {
	TAILQ_HEAD(connection_list, connection) list; /* the one whose phase began first is first */
	unsigned max[N_CONNECTION_PLACES];
	uint64_t request_ms; /* longest time in REQUEST or ANSWER */
	uint64_t order_ms;   /* in WAITING */
};

#define CONNECTIONS_NEVER UINT64_MAX

/* Fewer than 2 places of a kind become 2: one that is served and one to come. */
void connections_init(struct connections *, unsigned max_readers, unsigned max_admin,
		      uint64_t request_ms, uint64_t order_ms);
enum connection_places connection_places(const struct connection *);

/* A new connection, in phase REQUEST; the caller's, who removes it before it is freed. */
void connections_add(struct connections *, struct connection *, uint64_t now_ms);
void connections_remove(struct connections *, struct connection *);
/* A connection that was cut stays cut. */
void connections_enter(struct connections *, struct connection *, enum connection_phase,
		       uint64_t now_ms);

/* The first to go: the longest idle connection, else the one that has been longest in its phase; an
 * admin connection only if there is no other. NULL: none, or all are cut already or wait for an
 * answer. */
struct connection *connections_slowest(const struct connections *);
/* The same among the places of that kind, but NULL while an eighth of them is free or about to be.
 */
struct connection *connections_crowding(const struct connections *, enum connection_places);
/* The one whose deadline comes first, and when; NULL and CONNECTIONS_NEVER: none has one. */
struct connection *connections_next(const struct connections *, uint64_t *ret_deadline_ms);
