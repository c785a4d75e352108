/* server.h - what the files behind http.h share: http.c (the loop and new connections), requests.c
 * (what libmicrohttpd calls) and response.c. For nobody else. */
#pragma once

#include <uv.h>

#include "access.h"
#include "bucket.h"
#include "connections.h"
#include "due.h"
#include "http.h"
#include "job.h"

struct gzip;
struct MHD_Daemon;
struct MHD_Response;

#define ADDRESS_BUCKETS 256

struct trial;

struct http {
	uv_loop_t *loop;
	struct MHD_Daemon *mhd;
	uv_poll_t mhd_poll;
	struct MHD_Daemon *tls_mhd; /* of TCP, once it is encrypted; NULL: it is not */
	uv_poll_t tls_poll;
	uint64_t tls_pause_ms; /* before it runs unasked; 0 = its descriptor has just said so */
	struct access *access; /* NULL: everybody may read */
	const char *const *open_paths;
	const char *closed_because; /* the others over TCP; NULL: they are not */
	struct trial *trials;	    /* passwords to try; the first one is being tried */
	struct job trial_job;
	struct due due;
	struct listener *listeners;
	struct connections connections;
	struct connection *arriving; /* libmicrohttpd is about to take it over */
	unsigned idle_s;
	bool closing;
	struct gzip *gzip; /* for all pages */
	/* Of new connections: over TCP, of these from each address (those that share a bucket
	 * together), over unix sockets. */
	struct bucket tcp_rate, address_rates[ADDRESS_BUCKETS], unix_rate;
	uint64_t resume_ms; /* accepting is paused until then; 0 = it is not */
	struct self_counters *self;
	http_handler_fn *handler;
	void *handler_arg;
	unsigned open_handles;
	void (*on_closed)(void *);
	void *closed_arg;
};

/* --- http.c ----------------------------------------------------------------------------------- */

/* libmicrohttpd gets to run in the loop's next turn. */
void http_wake(struct http *);
/* A handle, or a job, that the server waits for at its end. */
void http_hold(struct http *);
void http_release(struct http *);
/* What this peer may still do. */
struct bucket *http_peer_rate(struct http *, uint64_t peer);
/* Shuts the connection down; libmicrohttpd finds it ended and closes it. */
void http_cut(struct http *, struct connection *);
/* The same, and counts it. */
void http_evict(struct http *, struct connection *);

/* --- requests.c ------------------------------------------------------------------------------- */

/* A daemon without a listening socket; NULL: out of memory or descriptors. */
struct MHD_Daemon *requests_start(struct http *, bool tls);
/* The connection in WAITING waits too long: its client is told so. */
void requests_expire(struct connection *);
/* No connection is set aside any more: the server ends. */
void requests_release(struct http *);

/* --- response.c ------------------------------------------------------------------------------- */

/* What a handler answered as what libmicrohttpd sends. Takes body and page of the reply. gzip:
 * compresses the page; NULL: the client does not take that. NULL: out of memory, both are freed. */
struct MHD_Response *response_new(struct http_reply *, struct gzip *gzip);
