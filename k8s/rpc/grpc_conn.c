// SPDX-License-Identifier: Apache-2.0
/* grpc_conn.c - one connection: received bytes, bytes to send, timeouts, and its end. Pure. */
#include <stdlib.h>
#include <string.h>

#include "grpc_internal.h"

#define SLICE	  (16u << 10) /* reset calls are freed after each slice */
#define KEPT_ROOM 4096u

static struct grpc_limits full_limits(const struct grpc_limits *limits)
{
	struct grpc_limits full = limits ? *limits : (struct grpc_limits){0};

	if (full.max_message == 0)
		full.max_message = 4 << 20;
	if (full.max_calls == 0)
		full.max_calls = 100;
	return full;
}

static int conn_new(struct grpc_conn **ret, const struct grpc_limits *limits,
		    const struct grpc_service *service, uint64_t now_ms)
{
	struct grpc_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->limits = full_limits(limits);
	c->is_server = service;
	if (service)
		c->service = *service;
	c->calls_end = &c->calls;
	c->now_ms = c->alive_ms = now_ms;
	if (grpc_session_open(c) < 0) {
		grpc_conn_free(c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

int grpc_server_new(struct grpc_conn **ret, const struct grpc_limits *limits,
		    const struct grpc_service *service, uint64_t now_ms)
{
	return conn_new(ret, limits, service, now_ms);
}

int grpc_client_new(struct grpc_conn **ret, const struct grpc_limits *limits, uint64_t now_ms)
{
	return conn_new(ret, limits, NULL, now_ms);
}

static const char *last_words(const struct grpc_conn *c)
{
	if (c->err.code)
		return c->err.msg;
	return c->goaway_text[0] ? c->goaway_text : "the connection ended";
}

void grpc_conn_free(struct grpc_conn *c)
{
	if (!c)
		return;
	c->is_freed = true;
	for (struct grpc_call *call = c->calls; call; call = call->next) {
		if (!c->is_server)
			grpc_call_end(call, GRPC_UNAVAILABLE, last_words(c));
		grpc_call_notify(call);
	}
	nghttp2_session_del(c->session);
	while (c->calls)
		grpc_call_free(c->calls);
	free(c->stage.bytes);
	free(c);
}

/* --- out ------------------------------------------------------------------------------------ */

static int stage_bytes(struct grpc_conn *c, const void *bytes, size_t len)
{
	size_t room = c->stage.room ? c->stage.room : 512;
	uint8_t *grown;

	while (room < c->stage.len + len)
		room *= 2;
	if (room > c->stage.room) {
		grown = realloc(c->stage.bytes, room);
		if (!grown)
			return grpc_conn_check(c, NGHTTP2_ERR_NOMEM);
		c->stage.bytes = grown;
		c->stage.room = room;
	}
	memcpy(c->stage.bytes + c->stage.len, bytes, len);
	c->stage.len += len;
	return 0;
}

static void drop_taken(struct grpc_conn *c)
{
	if (!c->stage.is_taken)
		return;
	c->stage.is_taken = false;
	c->stage.len = 0;
	if (c->stage.room <= KEPT_ROOM)
		return;
	free(c->stage.bytes); /* most connections are idle most of the time */
	c->stage.bytes = NULL;
	c->stage.room = 0;
}

/* Gets bytes to send from nghttp2, within limits. */
static void stage(struct grpc_conn *c)
{
	const uint8_t *bytes;
	ssize_t n;

	drop_taken(c);
	/* A client that speaks HTTP/1 must not get our SETTINGS as an answer. */
	if (c->is_server && !c->is_heard)
		return;
	while (!c->is_broken && c->stage.len < GRPC_STAGE_MAX) {
		n = nghttp2_session_mem_send(c->session, &bytes);
		if (grpc_conn_check(c, (int)n) < 0 || n == 0)
			return;
		if (!grpc_resumed_is_sent(c, bytes, (size_t)n) &&
		    stage_bytes(c, bytes, (size_t)n) < 0)
			return;
	}
}

ssize_t grpc_take(struct grpc_conn *c, const uint8_t **ret)
{
	stage(c);
	if (c->stage.len == 0)
		return 0;
	c->stage.is_taken = true;
	*ret = c->stage.bytes;
	return (ssize_t)c->stage.len;
}

/* --- in ------------------------------------------------------------------------------------- */

static const char http1_answer[] = "HTTP/1.1 505 HTTP Version Not Supported\r\n"
				   "Connection: close\r\n"
				   "Content-Type: text/plain\r\n"
				   "Content-Length: 36\r\n\r\n"
				   "This socket speaks gRPC over HTTP/2\n";

/* Returns 1 if the peer's first bytes look like HTTP/1, i.e. "GET …" to a server or "HTTP/1.1 …" to
 * a client; 0 = no, -1 = more bytes are needed. */
static int is_http1(const struct grpc_conn *c)
{
	size_t n = 0;

	if (!c->is_server) {
		n = c->n_first < 5 ? c->n_first : 5;
		return memcmp(c->first, "HTTP/", n) != 0 ? 0 : n == 5 ? 1 : -1;
	}
	while (n < c->n_first && c->first[n] >= 'A' && c->first[n] <= 'Z')
		n++;
	if (n < c->n_first)
		return n > 0 && c->first[n] == ' ';
	return n == sizeof(c->first) ? 0 : -1;
}

static bool starts_like_http2(const struct grpc_conn *c)
{
	if (c->is_server)
		return memcmp(c->first, NGHTTP2_CLIENT_MAGIC, c->n_first) == 0;
	return c->first[0] != 'H'; /* as the length of a frame, this would be over 4 MiB */
}

/* Checks the connection's first bytes. < 0: lost, 0: wait for more, 1: continue. */
static int check_preface(struct grpc_conn *c, const uint8_t *bytes, size_t len)
{
	size_t n = sizeof(c->first) - c->n_first;

	if (n == 0 || len == 0)
		return 1;
	n = len < n ? len : n;
	memcpy(c->first + c->n_first, bytes, n);
	c->n_first += n;
	c->is_heard = starts_like_http2(c);
	if (c->is_heard)
		return 1;
	switch (is_http1(c)) {
	case -1:
		return 0;
	case 0:
		c->is_broken = true;
		return grpc_conn_fail(c, -EPROTO, "the peer does not speak HTTP/2");
	default:
		if (c->is_server)
			stage_bytes(c, http1_answer, sizeof(http1_answer) - 1);
		c->is_broken = true;
		return grpc_conn_fail(c, -EPROTO, "the peer speaks HTTP/1, not gRPC");
	}
}

static void check_flood(struct grpc_conn *c)
{
	if (c->is_broken ||
	    nghttp2_session_get_outbound_queue_size(c->session) <= GRPC_FRAMES_MAX + 2 * c->n_calls)
		return;
	c->is_broken = true;
	grpc_conn_fail(c, -EPROTO, "the peer sends requests without reading the answers");
}

/* Called at the end of grpc_feed() and grpc_tick(): gets the bytes to send, because nghttp2 detects
 * some failures only when it writes, and here the owner can still be notified. */
static int grpc_settle(struct grpc_conn *c, struct err *err)
{
	stage(c);
	grpc_reap(c);
	return grpc_conn_failure(c, err);
}

static void feed_slice(struct grpc_conn *c, const uint8_t *bytes, size_t len)
{
	ssize_t n = nghttp2_session_mem_recv(c->session, bytes, len);

	grpc_conn_check(c, (int)n);
	grpc_reap(c);
	check_flood(c);
}

int grpc_feed(struct grpc_conn *c, const uint8_t *bytes, size_t len, uint64_t now_ms,
	      struct err *err)
{
	size_t n;

	c->now_ms = c->alive_ms = now_ms;
	c->is_ping_out = false;
	drop_taken(c);
	if (c->err.code == 0 && check_preface(c, bytes, len) > 0) {
		for (; len > 0 && c->err.code == 0; bytes += n, len -= n) {
			n = len < SLICE ? len : SLICE;
			feed_slice(c, bytes, n);
		}
		return grpc_settle(c, err);
	}
	return grpc_conn_failure(c, err);
}

/* --- time ----------------------------------------------------------------------------------- */

static uint64_t ping_deadline(const struct grpc_conn *c)
{
	return c->limits.ping_ms && c->n_calls ? c->alive_ms + c->limits.ping_ms : GRPC_NEVER;
}

uint64_t grpc_deadline(const struct grpc_conn *c)
{
	uint64_t next = ping_deadline(c);

	if (c->err.code)
		return c->is_err_reported ? GRPC_NEVER : 0;
	if (c->needs_reap)
		return 0;
	for (const struct grpc_call *call = c->calls; call; call = call->next)
		if (call->deadline_ms < next)
			next = call->deadline_ms;
	return next;
}

static void tick_ping(struct grpc_conn *c)
{
	char text[80];

	if (ping_deadline(c) > c->now_ms)
		return;
	if (c->is_ping_out) {
		snprintf(text, sizeof(text), "no answer to a PING for %u ms", c->limits.ping_ms);
		grpc_conn_fail(c, -ETIMEDOUT, text);
		return;
	}
	c->is_ping_out = true;
	c->alive_ms = c->now_ms;
	grpc_conn_check(c, nghttp2_submit_ping(c->session, NGHTTP2_FLAG_NONE, NULL));
}

int grpc_tick(struct grpc_conn *c, uint64_t now_ms, struct err *err)
{
	c->now_ms = now_ms;
	if (c->err.code)
		return grpc_conn_failure(c, err);
	for (struct grpc_call *call = c->calls; call; call = call->next)
		if (call->deadline_ms <= now_ms)
			(c->is_server ? grpc_server_expire : grpc_client_expire)(call);
	tick_ping(c);
	grpc_reap(c);
	return grpc_settle(c, err);
}

/* --- its end -------------------------------------------------------------------------------- */

bool grpc_is_done(const struct grpc_conn *c)
{
	if (c->stage.len > 0 && !c->stage.is_taken)
		return false;
	return c->is_broken ||
	       (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session));
}

void grpc_shutdown(struct grpc_conn *c)
{
	int32_t last;

	if (c->sent_goaway || c->is_broken)
		return;
	c->sent_goaway = c->is_heard = true;
	last = nghttp2_session_get_last_proc_stream_id(c->session);
	grpc_conn_check(c, nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE, last,
						 NGHTTP2_NO_ERROR, NULL, 0));
}
