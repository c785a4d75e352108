// SPDX-License-Identifier: Apache-2.0
#include "grpc_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

uint32_t sum_of(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

/* --- the service ---------------------------------------------------------------------------- */

static int send_stream(struct grpc_call *call, const struct service *s)
{
	uint8_t *message = malloc(s->stream.size + 1);
	int r = message ? 0 : -ENOMEM;

	for (unsigned i = 0; r == 0 && i < s->stream.n; i++) {
		memset(message, 'a' + (int)(i % 26), s->stream.size);
		r = grpc_send(call, message, s->stream.size);
	}
	free(message);
	return r;
}

static void serve_stream(struct grpc_call *call, const struct service *s)
{
	int r = send_stream(call, s);

	grpc_finish(call, grpc_status_of_errno(r), r < 0 ? "stream" : NULL);
}

static void serve_echo(struct grpc_call *call, const uint8_t *message, size_t len)
{
	int r = grpc_send(call, message, len);

	grpc_finish(call, grpc_status_of_errno(r), r < 0 ? "echo" : NULL);
}

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	struct service *s = arg;

	s->n_requests++;
	s->len = len;
	snprintf(s->path, sizeof(s->path), "%s", path);
	if (strcmp(path, "/t.T/Echo") == 0)
		serve_echo(call, message, len);
	else if (strcmp(path, "/t.T/Stream") == 0)
		serve_stream(call, s);
	else if (strcmp(path, "/t.T/Fail") == 0)
		grpc_finish(call, s->fail.status, s->fail.text);
	else if (strcmp(path, "/t.T/Hold") == 0)
		s->held = call;
	else
		grpc_finish(call, GRPC_UNIMPLEMENTED, "unknown method");
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	struct service *s = arg;

	s->n_cancels++;
	if (s->held == call)
		s->held = NULL;
}

struct grpc_service service_hooks(struct service *s)
{
	return (struct grpc_service){on_request, on_cancel, s};
}

/* --- the caller ----------------------------------------------------------------------------- */

static bool forgotten;

void asked_forget(bool on)
{
	forgotten = on;
}

static void on_message(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	struct asked *a = arg;

	a->n_messages++;
	a->n_bytes += len;
	a->sum += sum_of(message, len);
	if (a->n_messages == a->cancel_at)
		grpc_cancel(call);
}

static void on_end(struct grpc_call *call, enum grpc_status status, const char *text, void *arg)
{
	struct asked *a = arg;

	(void)call;
	if (forgotten)
		return;
	a->n_ends++;
	a->call = NULL;
	a->status = status;
	snprintf(a->text, sizeof(a->text), "%s", text);
}

struct grpc_reply asked_reply(struct asked *a)
{
	return (struct grpc_reply){.message = on_message, .end = on_end, .arg = a};
}

void pair_ask(struct pair *p, struct asked *a, const char *path, const void *message, size_t len,
	      uint32_t timeout_ms)
{
	struct grpc_reply reply = asked_reply(a);

	a->call = grpc_start(p->client, path, message, len, timeout_ms, &reply, p->now_ms);
	assert_non_null(a->call);
}

/* --- between them --------------------------------------------------------------------------- */

void pair_open(struct pair *p, const struct grpc_limits *client, const struct grpc_limits *server)
{
	struct grpc_service hooks = service_hooks(&p->service);

	p->now_ms = 1000;
	assert_int_equal(grpc_client_new(&p->client, client, p->now_ms), 0);
	assert_int_equal(grpc_server_new(&p->server, server, &hooks, p->now_ms), 0);
}

void pair_close(struct pair *p)
{
	grpc_conn_free(p->client);
	grpc_conn_free(p->server);
}

/* Passes one side's bytes to the other; returns whether there were any. */
static bool carry(struct grpc_conn *from, struct grpc_conn *to, struct pair *p, int *ret,
		  struct err *err)
{
	const uint8_t *bytes;
	uint8_t *copy;
	ssize_t n = grpc_take(from, &bytes);
	size_t step = p->step ? p->step : (size_t)n;

	if (n <= 0)
		return false;
	copy = malloc((size_t)n);
	assert_non_null(copy);
	memcpy(copy, bytes, (size_t)n);
	for (size_t at = 0; at < (size_t)n && *ret == 0; at += step) {
		size_t left = (size_t)n - at;

		*ret = grpc_feed(to, copy + at, left < step ? left : step, p->now_ms, err);
	}
	free(copy);
	return true;
}

static void tick(struct grpc_conn *c, struct pair *p, int *ret, struct err *err)
{
	if (*ret == 0 && grpc_deadline(c) <= p->now_ms)
		*ret = grpc_tick(c, p->now_ms, err);
}

void pair_pump(struct pair *p)
{
	bool moved = true;

	while (moved) {
		tick(p->client, p, &p->client_r, &p->client_err);
		tick(p->server, p, &p->server_r, &p->server_err);
		moved = carry(p->client, p->server, p, &p->server_r, &p->server_err);
		moved |= carry(p->server, p->client, p, &p->client_r, &p->client_err);
	}
	tick(p->client, p, &p->client_r, &p->client_err);
	tick(p->server, p, &p->server_r, &p->server_err);
}

void pair_advance(struct pair *p, uint64_t ms)
{
	p->now_ms += ms;
	pair_pump(p);
}

size_t take_all(struct grpc_conn *c, uint8_t *buf, size_t size)
{
	const uint8_t *bytes;
	size_t total = 0;
	ssize_t n;

	while ((n = grpc_take(c, &bytes)) > 0) {
		assert_true(total + (size_t)n <= size);
		memcpy(buf + total, bytes, (size_t)n);
		total += (size_t)n;
	}
	return total;
}
