/* http.h - the HTTP server: libmicrohttpd on the libuv loop, on TCP and unix sockets.
 *
 * Bounded in every direction: connections (at once and per second), header size, time per request.
 * When the table is nearly full the slowest connection makes room, so slow and half-open clients
 * cannot starve others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct uv_loop_s;
struct http;
struct page;
struct self_counters;
struct access;
struct tls_pem;

struct http_param {
	const char *name, *value; /* value: "" when absent */
};

/* More parameters in a query, and a longer target (path and query), are refused. */
#define HTTP_PARAMS_MAX 32
#define HTTP_TARGET_MAX 4096
/* A longer body is refused. */
#define HTTP_BODY_MAX	((size_t)65536)

struct http_deferred;

struct http_request {
	const char *method, *path;
	const char *accept; /* "" when absent */
	bool accepts_gzip;
	struct http_param params[HTTP_PARAMS_MAX]; /* of the query */
	size_t n_params;
	uint64_t now_ms; /* the loop's time */
	/* Of a POST. */
	const char *body;
	size_t body_len;
	struct http_deferred *deferred;
	/* Of a GET: it may be kept, too. NULL: too many wait already. */
	struct http_deferred *later;
};

/* The value of a parameter; NULL: it is not there. */
const char *http_param(const struct http_request *, const char *name);

/* What a handler answers; zero-initialised it is a 404. Exactly one body kind. */
struct http_reply {
	unsigned status;
	const char *content_type;
	char *body;	   /* heap, taken by the server; NULL = empty */
	const void *fixed; /* or body_len bytes that stay where they are for ever */
	size_t body_len;
	const char *const *headers; /* names and values in turn, up to NULL; static. NULL: none */
	bool challenges;	    /* 401: whoever asks is to say who he is */
	struct page *page;	    /* or a metrics page: one reference, taken */
	int page_format;	    /* enum metrics_format */
};

/* Runs on the loop's thread, must not block. Only GET and HEAD get here, and POST over a socket
 * that takes orders. */
typedef void http_handler_fn(const struct http_request *, struct http_reply *, void *arg);

/* From within the handler: the reply comes later. One who waits with a GET and goes away keeps its
 * place until somebody else needs it. */
void http_keep(struct http_deferred *);
/* Nobody waits for the deferred answer that was kept: it need not be made, but is to be given
 * all the same. Not from within the handler. */
bool http_has_left(const struct http_deferred *);
/* That reply, on the loop's thread: exactly once for each that was kept, not from within the
 * handler; also when nobody waits for it any more, or the server is closed. Takes what the reply
 * owns. */
void http_answer(struct http_deferred *, struct http_reply *);

struct http_opts {
	unsigned max_connections; /* of readers, over all listeners; 0 = 64 */
	unsigned max_admin;	  /* of root's over http_listen_orders(), apart; 0 = 2048 */
	unsigned request_ms; /* a request must arrive, and its answer be taken, within this time; 0
				= 10 s */
	unsigned order_ms;   /* an answer that comes later must come within this time; 0 = 30 s */
	unsigned idle_s;     /* a connection on which nothing is asked any more ends then, or after
				request_ms if that is longer; 0 = 60 s */
};

int http_open(struct http **ret, struct uv_loop_s *, const struct http_opts *,
	      struct self_counters *, http_handler_fn *, void *arg, struct err *);
/* "ADDR:PORT", "[V6]:PORT", ":PORT" (all addresses). Port 0 picks one; *ret_port, if not NULL, is
 * the one in use. */
int http_listen_tcp(struct http *, const char *address, unsigned *ret_port, struct err *);
/* New connections over TCP are encrypted from now on, and meet this certificate: at first before
 * http_listen_tcp(), then to replace it. Errors of tls_use(). */
int http_use_tls(struct http *, const struct tls_pem *certificate, const struct tls_pem *key,
		 struct err *);
/* Requests over TCP are judged by it from now on, but for those paths (up to NULL; borrowed). Takes
 * it, and what the one before remembers; NULL: everybody may read. */
void http_use_access(struct http *, struct access *, const char *const *open_paths);
/* Requests over TCP but for those paths (up to NULL) get 503 and this sentence; both borrowed. */
void http_close_paths(struct http *, const char *why, const char *const *open_paths);
/* A stale socket file is replaced; one that somebody serves is -EADDRINUSE. A path that we serve
 * already is left as it is (1) while its file is ours, and served anew when that was deleted. */
int http_listen_unix(struct http *, const char *path, unsigned mode, struct err *);
/* The same, and POST is served here: to root and to our own user, whatever the mode lets in. */
int http_listen_orders(struct http *, const char *path, unsigned mode, struct err *);
/* Ends every connection and listener; the struct is gone once on_closed runs. Not from within the
 * handler. */
void http_close(struct http *, void (*on_closed)(void *), void *arg);
