/* server.h - what the files behind http.h share: http.c (the loop), listeners.c (new connections),
 * requests.c (what libmicrohttpd calls), refusals.c and deferred.c. For nobody else. */
#pragma once

#include <sys/stat.h>
#include <uv.h>

#include "bucket.h"
#include "connections.h"
#include "http.h"

struct gzip;
struct MHD_Connection;
struct MHD_Daemon;

/* Of libmicrohttpd, for one request's line and headers and the headers of its answer. */
#define CONNECTION_MEMORY ((size_t)16384)

#define ADDRESS_BUCKETS 256

struct listener {
	uv_poll_t poll;
	struct http *http;
	struct listener *next;
	int fd;
	char *path;	  /* of a unix socket, owned; NULL = TCP */
	struct stat file; /* that path, when we made it */
	bool orders;
};

/* One POST, or a GET that may wait. It goes when its request has ended and nobody is to answer it
 * any more. */
struct http_deferred {
	struct http *http;
	struct MHD_Connection *connection; /* NULL: the request has ended */
	struct http_deferred *next;	   /* of those whose connection is suspended */
	char *body;			   /* terminated */
	size_t body_len;
	bool too_large;
	bool reads;    /* a GET */
	bool kept;     /* http_answer() is to come */
	bool answered; /* reply is what to send */
	struct http_reply reply;
};

struct http {
	uv_loop_t *loop;
	struct MHD_Daemon *mhd;
	uv_poll_t mhd_poll;
	uv_timer_t timer;
	struct listener *listeners;
	struct http_deferred *deferred;
	unsigned reads_waiting; /* of them */
	bool closing;
	struct connections connections;
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

/* What every callback on the loop ends with: deadlines, libmicrohttpd's work, the timer. */
void http_run(struct http *);
/* http_run() in the loop's next turn. */
void http_wake(struct http *);
/* Shuts the connection down; libmicrohttpd finds it ended and closes it. */
void http_cut(struct http *, struct connection *);
/* The same, and counts it. */
void http_evict(struct http *, struct connection *);
/* The close callback of every handle; its data is the struct http. */
void http_handle_closed(uv_handle_t *);

/* Stops accepting for a moment; http_run() resumes. */
void listeners_pause(struct http *);
void listeners_resume(struct http *);
/* Takes fd and path (NULL = TCP), also on failure. */
int listeners_add(struct http *, int fd, char *path, bool orders);
/* There is a listener on this path and its file is still the one it made. One whose file is gone or
 * somebody else's is closed. */
bool listeners_has(struct http *, const char *path);
/* Closes sockets and handles and removes the files. */
void listeners_close(struct http *);

/* A daemon without a listening socket; NULL: out of memory or descriptors. */
struct MHD_Daemon *requests_start(struct http *);

/* refusals.c: true: it is too much and has been told so, and the connection ends. The target is a
 * path with its query, before libmicrohttpd takes it apart; headers are judged once all are there.
 */
bool refusal_of_target(struct http *, struct MHD_Connection *, const char *target);
bool refusal_of_headers(struct http *, struct MHD_Connection *);

/* deferred.c: requests that are answered later. NULL: out of memory. */
struct http_deferred *deferred_new(struct http *, struct MHD_Connection *);
/* One more piece of the body. */
void deferred_add(struct http_deferred *, const char *piece, size_t n);
/* May one more order be worked on? */
bool deferred_may_order(const struct http *);
/* May one more GET wait? Makes room where it can: of those who wait and have gone. */
bool deferred_may_read(struct http *);
/* Sets the connection aside until there is an answer. */
void deferred_wait(struct http_deferred *);
/* The request has ended. */
void deferred_end(struct http_deferred *);
/* The slot's order takes too long: its client is told so. False: no order of it is known. */
bool deferred_expire(struct http *, const struct connection *);
/* No connection is set aside any more. */
void deferred_release(struct http *);
/* The connection's place in the table. */
struct connection *request_slot(struct MHD_Connection *);
