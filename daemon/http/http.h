/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - the HTTP server: libmicrohttpd on the libuv loop, on TCP and unix sockets.
 *
 * There are limits for connections (at once and per second), header size and time per request. When
 * the table is nearly full, the slowest connection is closed, so that slow and half-open clients
 * cannot block others. */
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
	const char *name, *value; /* value: "" if absent */
};

/* A query with more parameters, or a longer target (path and query), is rejected. */
#define HTTP_PARAMS_MAX 32
#define HTTP_TARGET_MAX 4096
/* A longer body is rejected. */
#define HTTP_BODY_MAX	((size_t)65536)
/* Longest body of a POST to http_opts.large_path. */
#define HTTP_LARGE_MAX	((size_t)1 << 20)

struct http_deferred;

struct http_request {
	const char *method, *path;
	const char *accept; /* "" if absent */
	bool accepts_gzip;
	struct http_param params[HTTP_PARAMS_MAX]; /* of the query */
	size_t n_params;
	uint64_t now_ms; /* the loop's time */
	/* body and body_len: only of a POST. deferred: pass to http_keep() to answer it later. */
	const char *body;
	size_t body_len;
	struct http_deferred *deferred;
	/* For a GET that is answered later. NULL: too many are waiting. */
	struct http_deferred *later;
	/* For a GET that a worker answers without waiting. */
	struct http_deferred *soon;
};

/* Returns the value of a parameter; NULL: absent. */
const char *http_param(const struct http_request *, const char *name);

/* A handler's reply; zero-initialised it is a 404. It has exactly one kind of body. */
struct http_reply {
	unsigned status;
	const char *content_type;
	char *body;	   /* heap, ownership moves to the server; NULL = empty */
	const void *fixed; /* in place of body: body_len bytes of static data */
	size_t body_len;
	const char *const *headers; /* names and values in turn, up to NULL; static. NULL: none */
	bool challenges;	    /* 401: request authentication */
	bool is_tagged;	   /* a GET of the same body again may be answered with 304 (ETag) */
	char etag[24];	   /* set by the server */
	struct page *page; /* in place of body: a metrics page; takes over one reference */
	int page_format;   /* enum metrics_format */
};

/* Handles a request. Runs on the loop's thread and must not block. Only called for GET and HEAD,
 * and for POST on a socket for admin requests. */
typedef void http_handler_fn(const struct http_request *, struct http_reply *, void *arg);

/* Defers the reply, which is sent later by http_answer(). Call in the handler. If the client of a
 * GET disconnects, the connection still counts against max_connections until another client needs
 * its place. */
void http_keep(struct http_deferred *);
/* True if the client of a kept answer has disconnected: the reply may be empty, but http_answer()
 * must still be called. Must not be called in the handler. */
bool http_client_disconnected(const struct http_deferred *);
/* Sends the reply of a kept request. Must be called exactly once for each, on the loop's thread,
 * not in the handler; also if the client has disconnected, or the server is closed. Takes ownership
 * of the reply's contents. */
void http_answer(struct http_deferred *, struct http_reply *);

struct http_opts {
	unsigned max_connections; /* of readers, over all listeners; 0 = 64 */
	unsigned max_admin;	  /* of root and our own user over http_listen_admin(), counted
				     separately; 0 = 2048 */
	unsigned request_ms; /* time limit for receiving a request, and for sending its answer; 0 =
				10 s */
	unsigned kept_ms;    /* time limit for a kept answer; 0 = 30 s */
	const char *large_path; /* a POST to this path may have HTTP_LARGE_MAX bytes; borrowed,
				   NULL: none */
	unsigned idle_s; /* an idle connection is closed after this time, or request_ms if that is
			    longer; 0 = 60 s */
};

int http_open(struct http **ret, struct uv_loop_s *, const struct http_opts *,
	      struct self_counters *, http_handler_fn *, void *arg, struct err *);
/* Listens on "ADDR:PORT", "[V6]:PORT" or ":PORT" (all addresses). Port 0 chooses a free one;
 * *ret_port, if not NULL, is the port in use. */
int http_listen_tcp(struct http *, const char *address, unsigned *ret_port, struct err *);
/* Encrypts new connections over TCP with this certificate; call it before http_listen_tcp(), and
 * later to replace the certificate. Errors of tls_use(). */
int http_use_tls(struct http *, const struct tls_pem *certificate, const struct tls_pem *key,
		 struct err *);
/* Authenticates requests over TCP, except for open_paths (NULL-terminated; borrowed). Takes
 * ownership of the access and carries over the passwords remembered by its predecessor; NULL:
 * requests need no authentication. */
void http_use_access(struct http *, struct access *, const char *const *open_paths);
/* Answers requests over TCP, except for open_paths (NULL-terminated), with 503 and this message;
 * both borrowed. */
void http_close_paths(struct http *, const char *why, const char *const *open_paths);
/* Listens on a unix socket. Replaces a stale socket file; -EADDRINUSE if it is in use. 1: we serve
 * this path already, and the file is ours. If the file of a served path was deleted or replaced,
 * listens again. */
int http_listen_unix(struct http *, const char *path, unsigned mode, struct err *);
/* Like http_listen_unix(), and also accepts POST from root and our own user, whatever the file's
 * mode permits. */
int http_listen_admin(struct http *, const char *path, unsigned mode, struct err *);
/* Closes all connections and listeners; the struct is freed before on_closed is called. Must not be
 * called in the handler. */
void http_close(struct http *, void (*on_closed)(void *), void *arg);
