/* SPDX-License-Identifier: Apache-2.0 */
/* http_fixture.h - a server on 127.0.0.1 with its own loop and a handler for a few paths: /text (a
 * heap body), /fixed (a static body, with headers), /page (fixture.page), /big (4 MiB of zeros),
 * /echo (returns a POST's body), /later (keeps a POST, or a GET that may wait, in
 * fixture.deferred); 404 for others. */
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
/* Sends the deferred reply with this text and status 200. */
void http_fixture_answer(struct http_deferred *, const char *text);
/* Closes the server and asserts that the loop is empty. */
void http_fixture_stop(struct http_fixture *);

/* Runs the loop until the client has a complete reply; fails the test on a timeout. */
void http_await(struct http_fixture *, struct client *, bool to_head, struct answer *ret);
/* Runs the loop until the server has closed the connection; fails the test on a timeout. */
void http_await_end(struct http_fixture *, struct client *);
/* Runs the loop until this process has n open descriptors (fds_open()); fails the test on a
 * timeout. */
void http_await_fds(struct http_fixture *, unsigned n);
/* One request on a new connection; the caller closes the client. */
void http_ask(struct http_fixture *, struct client *, const char *request, struct answer *ret);
