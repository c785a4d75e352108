/* http_fixture.h - a server on 127.0.0.1 with a loop of its own and a handler of a few paths:
 * /text (a heap body), /fixed (one that stays, with headers), /page (fixture.page), /big (4 MiB of
 * zeros), /echo (a POST's body), /later (a POST, or a GET that may wait, that is kept in
 * fixture.deferred), anything else: 404. */
#pragma once

#include <uv.h>

#include "http.h"
#include "http_client.h"
#include "loop_helpers.h"
#include "self_counters.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define BIG_SIZE  ((size_t)4 << 20)

#define DEFERRED_MAX 1024

struct page;

struct http_fixture {
	uv_loop_t loop;
	struct http *http;
	struct self_counters self;
	unsigned port;
	struct page *page;	  /* owned */
	struct http_request last; /* method and flags of the last request; path and accept are not
				     kept */
	unsigned asked;
	struct http_deferred *deferred[DEFERRED_MAX]; /* to be answered by the test */
	unsigned n_deferred;
	bool closed;
};

/* Asserts that everything works. */
void http_fixture_start(struct http_fixture *, const struct http_opts *);
/* Gives the deferred answer: with this text and status 200. */
void http_fixture_answer(struct http_deferred *, const char *text);
/* Closes the server and asserts that the loop holds nothing any more. */
void http_fixture_stop(struct http_fixture *);

/* Runs the loop until the client has a whole answer, or asserts. */
void http_await(struct http_fixture *, struct client *, bool to_head, struct answer *ret);
/* Runs the loop until the server has ended the connection, or asserts. */
void http_await_end(struct http_fixture *, struct client *);
/* Runs the loop until this process has so many open descriptors (fds_open()), or asserts. */
void http_await_fds(struct http_fixture *, unsigned n);
/* One request on a connection of its own; the caller closes the client. */
void http_ask(struct http_fixture *, struct client *, const char *request, struct answer *ret);
