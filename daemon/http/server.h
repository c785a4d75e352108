/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the server's state, shared by the files that implement http.h: http.c (the loop and
 * new connections), requests.c (libmicrohttpd's callbacks) and response.c. Private to them. */
#pragma once

#include <uv.h>

#include "access.h"
#include "bucket.h"
#include "connections.h"
#include "http.h"
#include "job.h"
#include "timer.h"

struct gzip;
struct MHD_Daemon;
struct MHD_Response;

#define ADDRESS_BUCKETS 256

struct password_check;

struct http {
	uv_loop_t *loop;
	struct MHD_Daemon *mhd;
	uv_poll_t mhd_poll;
	struct MHD_Daemon *tls_mhd; /* for TCP with TLS; NULL: TLS is off */
	uv_poll_t tls_poll;
	uint64_t tls_pause_ms; /* pause before it runs without an event; 0 = its descriptor was just
				  readable */
	struct access *access; /* NULL: all clients may read */
	const char *const *open_paths;
	const char *closed_message;    /* the 503 message for other paths over TCP; NULL: they are
					  served */
	struct password_check *checks; /* in order; the first one is running */
	struct job check_job;
	struct timer timer;
	struct listener *listeners;
	struct connections connections;
	struct connection *arriving; /* being handed to libmicrohttpd */
	unsigned idle_s;
	const char *large_path; /* NULL: none */
	bool closing;
	struct gzip *gzip; /* used for all pages */
	/* Rate limits of new connections: over TCP in total, over TCP per address (addresses with
	 * the same hash share a bucket), over unix sockets. */
	struct bucket tcp_rate, address_rates[ADDRESS_BUCKETS], unix_rate;
	uint64_t resume_ms; /* accepting is paused until then; 0 = not paused */
	struct self_counters *self;
	http_handler_fn *handler;
	void *handler_arg;
	unsigned open_handles;
	void (*on_closed)(void *);
	void *closed_arg;
};

/* --- http.c ----------------------------------------------------------------------------------- */

/* Runs libmicrohttpd in the loop's next turn. */
void http_wake(struct http *);
/* Counts a handle or job that closing has to wait for. */
void http_hold(struct http *);
void http_release(struct http *);
/* Returns the rate limit of this peer. */
struct bucket *http_peer_rate(struct http *, uint64_t peer);
/* Shuts the connection down; libmicrohttpd detects that and closes it. */
void http_cut(struct http *, struct connection *);
/* Like http_cut(), and counts the connection as evicted. */
void http_evict(struct http *, struct connection *);

/* --- requests.c ------------------------------------------------------------------------------- */

/* Starts a daemon without a listening socket; NULL: out of memory or descriptors. */
struct MHD_Daemon *requests_start(struct http *, bool tls);
/* Answers a connection in WAITING whose deadline has passed. */
void requests_expire(struct connection *);
/* Resumes all suspended connections, because the server is closing. */
void requests_release(struct http *);

/* --- response.c ------------------------------------------------------------------------------- */

/* Converts a handler's reply to libmicrohttpd's response. Takes over body and page of the reply.
 * gzip: to compress the page; NULL: the client does not accept it. NULL: out of memory, both are
 * freed. */
struct MHD_Response *response_new(struct http_reply *, struct gzip *gzip);
