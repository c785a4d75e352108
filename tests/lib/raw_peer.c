// SPDX-License-Identifier: Apache-2.0
#include "raw_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct h2_raw *raw;

/* --- against our server ----------------------------------------------------------------------- */

struct service raw_service;

static void open_server(const struct grpc_limits *limits)
{
	struct grpc_service hooks = service_hooks(&raw_service);
	struct grpc_conn *conn;

	raw_service = (struct service){0};
	assert_int_equal(grpc_server_new(&conn, limits, &hooks, 1000), 0);
	h2_open(raw, conn);
	h2_hello_client(raw, 0);
}

int raw_server_setup(void **state)
{
	(void)state;
	raw = calloc(1, sizeof(*raw));
	open_server(NULL);
	return 0;
}

int raw_server_teardown(void **state)
{
	(void)state;
	h2_done(raw);
	free(raw);
	return 0;
}

void raw_server_reopen(const struct grpc_limits *limits)
{
	h2_done(raw);
	open_server(limits);
}

void assert_answer(int32_t stream, const char *http, enum grpc_status status, const char *message)
{
	const struct h2_answer *a = &raw->answers[stream];
	char number[8];

	snprintf(number, sizeof(number), "%d", (int)status);
	assert_true(a->is_ended);
	assert_string_equal(a->http, http);
	assert_string_equal(a->grpc, number);
	assert_string_equal(a->message, message);
}

void assert_alive(int32_t stream)
{
	h2_request(raw, stream, "/t.T/Echo");
	h2_message(raw, stream, END, "ping", 4, 4);
	assert_int_equal(h2_flush(raw), 0);
	assert_answer(stream, "200", GRPC_OK, "");
	assert_int_equal(raw->answers[stream].n_data, 9);
}

void assert_lost(int code, const char *text)
{
	assert_int_equal(raw->r, code);
	if (!strstr(raw->err.msg, text))
		fail_msg("\"%s\" is not in \"%s\"", text, raw->err.msg);
	assert_true(grpc_is_closing(raw->conn));
	assert_true(grpc_deadline(raw->conn) == UINT64_MAX);
	/* Later calls must fail, too. */
	assert_int_equal(grpc_feed(raw->conn, (const uint8_t *)"x", 1, raw->now_ms, NULL), code);
	assert_int_equal(grpc_tick(raw->conn, raw->now_ms, NULL), code);
}

void raw_hold(int32_t stream, const char *timeout)
{
	h2_headers(raw, stream, 0, ":method", "POST", ":path", "/t.T/Hold", "content-type",
		   "application/grpc", "grpc-timeout", timeout, NULL);
	h2_message(raw, stream, END, "", 0, 0);
	assert_int_equal(h2_flush(raw), 0);
}

/* --- against our client ----------------------------------------------------------------------- */

static void open_client(const struct grpc_limits *limits)
{
	struct grpc_conn *conn;

	assert_int_equal(grpc_client_new(&conn, limits, 1000), 0);
	h2_open(raw, conn);
	h2_hello_server(raw, 0);
}

int raw_client_setup(void **state)
{
	(void)state;
	raw = calloc(1, sizeof(*raw));
	open_client(NULL);
	return 0;
}

int raw_client_teardown(void **state)
{
	(void)state;
	asked_forget(true);
	h2_done(raw);
	asked_forget(false);
	free(raw);
	return 0;
}

void raw_client_reopen(const struct grpc_limits *limits)
{
	h2_done(raw);
	open_client(limits);
}

void raw_ask(struct asked *a, uint32_t timeout_ms)
{
	struct grpc_reply reply = asked_reply(a);

	*a = (struct asked){0};
	a->call = grpc_start(raw->conn, "/t.T/Get", (const uint8_t *)"abc", 3, timeout_ms, &reply,
			     raw->now_ms);
	assert_non_null(a->call);
	assert_int_equal(h2_flush(raw), 0);
	assert_int_equal(a->n_ends, 0);
}

void assert_call_end(const struct asked *a, enum grpc_status status, const char *text)
{
	assert_int_equal(a->n_ends, 1);
	assert_string_equal(a->text, text);
	assert_string_equal(grpc_status_name(a->status), grpc_status_name(status));
}

void raw_answer_head(int32_t stream)
{
	h2_headers(raw, stream, 0, ":status", "200", "content-type", "application/grpc", NULL);
}

void raw_answer_end(int32_t stream)
{
	h2_headers(raw, stream, END, "grpc-status", "0", NULL);
}
