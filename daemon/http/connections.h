/* SPDX-License-Identifier: Apache-2.0 */
/* connections.h - the list of connections with their phases and deadlines, and the choice of those
 * to close. Pure: time is an argument, and the caller closes them.
 *
 * With libmicrohttpd's own limits, the newest connection is rejected if there are too many, and any
 * byte extends the timeout. So we implement both limits: a connection has a deadline to send its
 * request and one to receive the answer, and when nearly all places are in use, the least useful
 * connection is closed, so that there is always room for another one. Idle connections are closed
 * by libmicrohttpd's timeout. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum connection_phase {
	CONNECTION_REQUEST, /* the request has not been received completely */
	CONNECTION_WAITING, /* the answer is being prepared */
	CONNECTION_ANSWER,  /* the answer has not been sent completely */
	CONNECTION_IDLE,    /* answered before, no new request */
	CONNECTION_CUT,	    /* was shut down: never chosen again */
};

enum connection_admin { ADMIN_NOT_HERE, ADMIN_FORBIDDEN, ADMIN_ALLOWED };

struct connection {
	TAILQ_ENTRY(connection) entry;
	int fd;	       /* borrowed */
	bool is_tcp;   /* over TCP: may need authentication */
	uint64_t peer; /* number of its address, if is_tcp */
	enum connection_admin admin;
	enum connection_phase phase;
	uint64_t since_ms;		/* when the phase began */
	struct MHD_Connection *mhd;	/* the server's */
	struct http_deferred *deferred; /* the answer it waits for in WAITING */
};

/* Two kinds of places. An admin connection (ADMIN_ALLOWED) waits as long as its request works on a
 * device, possibly one per device of the node: so admin connections and readers, i.e. scrapes and
 * pages, do not compete for places. */
enum connection_places { PLACES_READERS, PLACES_ADMIN, N_CONNECTION_PLACES };

struct connections {
	TAILQ_HEAD(connection_list, connection) list; /* sorted by start of the phase */
	unsigned max[N_CONNECTION_PLACES];
	uint64_t request_ms; /* maximum time in REQUEST or ANSWER */
	uint64_t kept_ms;    /* maximum time in WAITING */
};

#define CONNECTIONS_NEVER UINT64_MAX

/* Initialises the list. There are at least 2 places of a kind: one in use and one for the next. */
void connections_init(struct connections *, unsigned max_readers, unsigned max_admin,
		      uint64_t request_ms, uint64_t kept_ms);
enum connection_places connection_places(const struct connection *);

/* Adds a connection in phase REQUEST. The caller owns it, and removes it before freeing it. */
void connections_add(struct connections *, struct connection *, uint64_t now_ms);
void connections_remove(struct connections *, struct connection *);
/* Changes the phase, except that of a connection in phase CUT. */
void connections_enter(struct connections *, struct connection *, enum connection_phase,
		       uint64_t now_ms);

/* Returns the first connection to close: the longest idle one, otherwise the one that has been in
 * its phase the longest; an admin connection only if there is no other. NULL: none, or all are cut
 * or wait for an answer. */
struct connection *connections_slowest(const struct connections *);
/* Like connections_slowest(), but only among the places of one kind; NULL while an eighth of them
 * is free or being freed. */
struct connection *connections_to_evict(const struct connections *, enum connection_places);
/* Returns the connection with the earliest deadline, and that deadline; NULL and CONNECTIONS_NEVER
 * if there is none. */
struct connection *connections_next(const struct connections *, uint64_t *ret_deadline_ms);
