// SPDX-License-Identifier: Apache-2.0
/* Calls that our gRPC client cancels or that time out, and the end of its connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_peer.h"
#include "test_group.h"

/* --- deadlines and cancellation --------------------------------------------------------------- */

static void test_deadline(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 100);
	assert_true(grpc_deadline(raw->conn) == 1100);
	h2_tick(raw, 99);
	assert_int_equal(a.n_ends, 0);
	h2_tick(raw, 1);
	assert_call_end(&a, GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_true(raw->answers[1].is_reset);
	assert_int_equal(raw->answers[1].reset_code, NGHTTP2_CANCEL);
	raw_answer_head(1); /* too late */
	raw_answer_end(1);
	assert_int_equal(h2_flush(raw), 0);
	assert_int_equal(a.n_ends, 1);
}

static void test_cancel(void **state)
{
	struct asked a, b;

	(void)state;
	raw_ask(&a, 0);
	raw_ask(&b, 0);
	grpc_cancel(a.call);
	assert_call_end(&a, GRPC_CANCELLED, "cancelled");
	h2_flush(raw);
	assert_true(raw->answers[1].is_reset);
	assert_int_equal(raw->answers[1].reset_code, NGHTTP2_CANCEL);
	raw_answer_head(3);
	raw_answer_end(3);
	h2_flush(raw);
	assert_call_end(&b, GRPC_OK, "");
}

/* Cancelled before a byte was sent. */
static void test_cancel_at_once(void **state)
{
	struct asked a = {0}, b = {0};
	struct grpc_reply reply_a = asked_reply(&a), reply_b = asked_reply(&b);
	struct grpc_call *call;

	(void)state;
	call = grpc_start(raw->conn, "/t.T/Get", NULL, 0, 0, &reply_a, 1000);
	assert_non_null(grpc_start(raw->conn, "/t.T/Get", NULL, 0, 0, &reply_b, 1000));
	grpc_cancel(call);
	assert_call_end(&a, GRPC_CANCELLED, "cancelled");
	h2_flush(raw);
	assert_false(raw->answers[1].has_headers);
	assert_true(raw->answers[3].has_headers);
	raw_answer_head(3);
	raw_answer_end(3);
	h2_flush(raw);
	assert_call_end(&b, GRPC_OK, "");
}

/* The server allows one call at a time; the others are queued and can be cancelled there. */
static void test_calls_in_line(void **state)
{
	static const uint8_t one_call[] = {0, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0, 0, 0, 1};
	struct asked a, b, c, d;

	(void)state;
	h2_frame(raw, NGHTTP2_SETTINGS, 0, 0, one_call, sizeof(one_call));
	h2_flush(raw);
	raw_ask(&a, 0);
	raw_ask(&b, 0);
	raw_ask(&c, 50);
	raw_ask(&d, 0);
	assert_true(raw->answers[1].has_headers);
	assert_false(raw->answers[3].has_headers);
	grpc_cancel(b.call);
	assert_call_end(&b, GRPC_CANCELLED, "cancelled");
	h2_tick(raw, 50);
	assert_call_end(&c, GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	raw_answer_head(1);
	raw_answer_end(1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
	assert_false(raw->answers[3].has_headers);
	assert_false(raw->answers[5].has_headers);
	assert_true(raw->answers[7].has_headers);
	raw_answer_head(7);
	raw_answer_end(7);
	h2_flush(raw);
	assert_call_end(&d, GRPC_OK, "");
}

static void test_no_more_calls_than_the_limit(void **state)
{
	static const struct grpc_limits limits = {1000, 2, 0};
	struct grpc_reply reply;
	struct asked a, b, c = {0};

	(void)state;
	raw_client_reopen(&limits);
	raw_ask(&a, 0);
	raw_ask(&b, 0);
	reply = asked_reply(&c);
	assert_null(grpc_start(raw->conn, "/t.T/Get", NULL, 0, 0, &reply, 1000));
	assert_false(grpc_is_closing(raw->conn));
	grpc_cancel(b.call);
	h2_flush(raw);
	raw_ask(&c, 0);
}

static void test_keepalive(void **state)
{
	static const struct grpc_limits limits = {1000, 10, 500};
	struct asked a;

	(void)state;
	raw_client_reopen(&limits);
	h2_flush(raw);
	raw->now_ms += 100000; /* no pings on an idle connection */
	assert_true(grpc_deadline(raw->conn) == UINT64_MAX);
	raw_ask(&a, 0);
	assert_int_equal(h2_tick(raw, 0), 0);
	assert_int_equal(raw->n_pings, 0);
	assert_int_equal(h2_tick(raw, 500), 0);
	assert_int_equal(raw->n_pings, 1);
	assert_int_equal(h2_tick(raw, 500), -ETIMEDOUT);
	assert_int_equal(a.n_ends, 0);
	grpc_conn_free(raw->conn);
	raw->conn = NULL;
	assert_call_end(&a, GRPC_UNAVAILABLE, "no answer to a PING for 500 ms");
}

/* --- the connection --------------------------------------------------------------------------- */

static void test_goaway(void **state)
{
	struct asked a, b, c = {0};
	struct grpc_reply reply = asked_reply(&c);

	(void)state;
	raw_ask(&a, 0);
	raw_ask(&b, 0);
	h2_frame(raw, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\0", 8);
	assert_int_equal(h2_flush(raw), 0);
	assert_true(grpc_is_closing(raw->conn));
	assert_false(grpc_is_done(raw->conn));
	assert_null(grpc_start(raw->conn, "/t.T/Get", NULL, 0, 0, &reply, 1000));
	assert_call_end(&b, GRPC_UNAVAILABLE, "the peer ended the connection before the call");
	assert_int_equal(a.n_ends, 0);
	raw_answer_head(1);
	raw_answer_end(1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
	assert_true(grpc_is_done(raw->conn));
}

static void test_goaway_with_a_reason(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	h2_frame(raw, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\x0btoo_many\n\xffpings", 23);
	h2_flush(raw);
	grpc_conn_free(raw->conn);
	raw->conn = NULL;
	assert_call_end(&a, GRPC_UNAVAILABLE,
			"the peer ended the connection: ENHANCE_YOUR_CALM too_many??pings");
}

/* Calls that are still queued when the GOAWAY arrives. */
static void test_goaway_before_the_request_is_sent(void **state)
{
	struct asked a = {0};
	struct grpc_reply reply = asked_reply(&a);
	const uint8_t *bytes;
	static const uint8_t goaway[] = {0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

	(void)state;
	h2_flush(raw);
	assert_non_null(grpc_start(raw->conn, "/t.T/Get", NULL, 0, 0, &reply, 1000));
	assert_int_equal(grpc_feed(raw->conn, goaway, sizeof(goaway), 1000, NULL), 0);
	grpc_take(raw->conn, &bytes);
	if (grpc_deadline(raw->conn) == 0)
		grpc_tick(raw->conn, 1000, NULL);
	assert_call_end(&a, GRPC_UNAVAILABLE, "the peer ended the connection before the call");
	while (grpc_take(raw->conn, &bytes) > 0)
		;
	assert_true(grpc_is_done(raw->conn));
}

static void test_free_ends_calls(void **state)
{
	struct asked a, b;

	(void)state;
	raw_ask(&a, 0);
	raw_ask(&b, 1000);
	raw_answer_head(3);
	h2_flush(raw);
	grpc_conn_free(raw->conn);
	raw->conn = NULL;
	assert_call_end(&a, GRPC_UNAVAILABLE, "the connection ended");
	assert_call_end(&b, GRPC_UNAVAILABLE, "the connection ended");
}

static void test_http1(void **state)
{
	static const char answer[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
	struct asked a;

	(void)state;
	for (size_t step = 1; step < sizeof(answer); step += sizeof(answer) / 2) {
		raw_client_reopen(NULL);
		raw->n_out = 0;
		raw_ask(&a, 0);
		for (size_t i = 0; i < sizeof(answer) - 1 && raw->r == 0; i += step) {
			h2_bytes(raw, answer + i,
				 i + step < sizeof(answer) ? step : sizeof(answer) - 1 - i);
			h2_flush(raw);
		}
		assert_int_equal(raw->r, -EPROTO);
		assert_string_equal(raw->err.msg, "the peer speaks HTTP/1, not gRPC");
		grpc_conn_free(raw->conn);
		raw->conn = NULL;
		assert_call_end(&a, GRPC_UNAVAILABLE, "the peer speaks HTTP/1, not gRPC");
	}
}

static void test_protocol_errors(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *text;
	} rows[] = {
		/* DATA on a stream that the server opened */
		{"\0\0\1\0\0\0\0\0\2x", 10, "PROTOCOL_ERROR"},
		{"\0\0\4\5\4\0\0\0\1\0\0\0\2", 13, "PROTOCOL_ERROR"}, /* PUSH_PROMISE */
		{"Hello world", 11, "does not speak HTTP/2"},
		{"\0\0\1\6\0\0\0\0\0x", 10, "FRAME_SIZE_ERROR"},
	};
	struct asked a;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_client_reopen(NULL);
		if (i == 2)
			raw->n_out = 0;
		else
			h2_frame(raw, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
		raw_ask(&a, 0);
		h2_bytes(raw, rows[i].bytes, rows[i].len);
		if (h2_flush(raw) != -EPROTO)
			fail_msg("row %zu is taken", i);
		assert_non_null(strstr(raw->err.msg, rows[i].text));
		grpc_conn_free(raw->conn);
		raw->conn = NULL;
		assert_int_equal(a.n_ends, 1);
		assert_int_equal(a.status, GRPC_UNAVAILABLE);
	}
}

static void test_every_truncation(void **state)
{
	uint8_t bytes[2000];
	struct asked a;
	size_t n;

	(void)state;
	raw_answer_head(1);
	h2_message(raw, 1, 0, "hello", 5, 5);
	h2_message(raw, 1, 0, "hello", 5, 5);
	raw_answer_end(1);
	n = raw->n_out;
	assert_true(n < sizeof(bytes));
	memcpy(bytes, raw->out, n);
	for (size_t len = 0; len <= n; len++) {
		raw_client_reopen(NULL);
		raw->n_out = 0;
		raw_ask(&a, 0);
		h2_bytes(raw, bytes, len);
		assert_int_equal(h2_flush(raw), 0);
		assert_int_equal(a.n_ends, len == n);
		grpc_conn_free(raw->conn);
		raw->conn = NULL;
		assert_int_equal(a.n_ends, 1);
		assert_int_equal(a.status, len == n ? GRPC_OK : GRPC_UNAVAILABLE);
	}
}

TEST_GROUP(grpc_client_calls)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, raw_client_setup, raw_client_teardown)
		TEST(test_deadline),
		TEST(test_cancel),
		TEST(test_cancel_at_once),
		TEST(test_calls_in_line),
		TEST(test_no_more_calls_than_the_limit),
		TEST(test_keepalive),
		TEST(test_goaway),
		TEST(test_goaway_with_a_reason),
		TEST(test_goaway_before_the_request_is_sent),
		TEST(test_free_ends_calls),
		TEST(test_http1),
		TEST(test_protocol_errors),
		TEST(test_every_truncation),
	};

	return test_group_run(tests, NULL, NULL);
}
