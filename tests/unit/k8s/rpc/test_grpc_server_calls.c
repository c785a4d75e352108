// SPDX-License-Identifier: Apache-2.0
/* Calls of our gRPC server that end early: deadlines, cancellation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_peer.h"
#include "test_group.h"

/* --- deadlines -------------------------------------------------------------------------------- */

static void test_timeout(void **state)
{
	(void)state;
	raw_hold(1, "250m");
	assert_true(grpc_deadline(raw->conn) == 1250);
	h2_tick(raw, 249);
	assert_false(raw->answers[1].has_headers);
	h2_tick(raw, 1);
	assert_answer(1, "200", GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_int_equal(raw_service.n_cancels, 1);
	assert_true(grpc_deadline(raw->conn) == UINT64_MAX);
	assert_alive(3);
}

static void test_timeout_of_nothing(void **state)
{
	(void)state;
	raw_hold(1, "0n");
	assert_true(grpc_deadline(raw->conn) == 1000);
	h2_tick(raw, 0);
	assert_answer(1, "200", GRPC_DEADLINE_EXCEEDED, "the deadline passed");
}

static void test_timeout_of_unfinished_request(void **state)
{
	(void)state;
	h2_headers(raw, 1, 0, ":method", "POST", ":path", "/t.T/Hold", "content-type",
		   "application/grpc", "grpc-timeout", "1S", NULL);
	h2_flush(raw);
	h2_tick(raw, 1000);
	assert_answer(1, "200", GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_int_equal(raw_service.n_requests + raw_service.n_cancels, 0);
	assert_true(raw->answers[1].is_reset);
}

static void test_malformed_timeouts(void **state)
{
	static const char *const timeouts[] = {"",	     "S",   "1",   "1s",   "-1S",
					       "123456789S", "1 S", " 1S", "1.5S", "0x1S"};
	int32_t stream = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++, stream += 2) {
		raw_hold(stream, timeouts[i]);
		assert_answer(stream, "200", GRPC_INTERNAL, "malformed grpc-timeout");
	}
	assert_int_equal(raw_service.n_requests, 0);
}

/* A closed window delays the answer until the deadline. */
static void test_timeout_of_answer_held_back(void **state)
{
	(void)state;
	raw_server_reopen(NULL);
	raw->n_out = 0;
	h2_hello_client(raw, 10);
	raw_service.stream.n = 2;
	raw_service.stream.size = 100;
	h2_headers(raw, 1, 0, ":method", "POST", ":path", "/t.T/Stream", "content-type",
		   "application/grpc", "grpc-timeout", "1S", NULL);
	h2_message(raw, 1, END, "", 0, 0);
	h2_flush(raw);
	assert_int_equal(raw->answers[1].n_data, 10);
	h2_tick(raw, 1000);
	assert_true(raw->answers[1].is_reset);
	assert_int_equal(raw->answers[1].reset_code, NGHTTP2_CANCEL);
	assert_int_equal(raw_service.n_cancels, 0); /* the service had already finished the call */
}

/* At the deadline queued messages are replaced by the status, ... */
static void test_timeout_between_messages(void **state)
{
	(void)state;
	raw_server_reopen(NULL);
	raw->n_out = 0;
	h2_hello_client(raw, 15);
	raw_hold(1, "1S");
	grpc_send(raw_service.held, (const uint8_t *)"0123456789", 10);
	grpc_send(raw_service.held, (const uint8_t *)"0123456789", 10);
	h2_flush(raw);
	assert_int_equal(raw->answers[1].n_data, 15);
	assert_int_equal(grpc_backlog(raw_service.held), 15);
	h2_tick(raw, 1000);
	assert_answer(1, "200", GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_int_equal(raw->answers[1].n_data, 15);
	assert_int_equal(raw_service.n_cancels, 1);
	/* ... unless one of them was sent in part. */
	raw_hold(3, "1S");
	grpc_send(raw_service.held, (const uint8_t *)"0123456789abcdef", 16);
	h2_flush(raw);
	h2_tick(raw, 1000);
	assert_true(raw->answers[3].is_reset);
	assert_int_equal(raw_service.n_cancels, 2);
}

static void test_keepalive(void **state)
{
	static const struct grpc_limits limits = {1000, 10, 500};

	(void)state;
	raw_server_reopen(&limits);
	h2_flush(raw);
	assert_true(grpc_deadline(raw->conn) == UINT64_MAX); /* no deadline is left */
	raw_hold(1, "1H");
	assert_true(grpc_deadline(raw->conn) == 1500);
	assert_int_equal(h2_tick(raw, 500), 0);
	assert_int_equal(raw->n_pings, 1);
	assert_true(grpc_deadline(raw->conn) == 2000);
	raw->now_ms += 400;
	h2_frame(raw, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "\0\0\0\0\0\0\0\0", 8);
	assert_int_equal(h2_flush(raw), 0);
	assert_int_equal(h2_tick(raw, 500), 0);
	assert_int_equal(raw->n_pings, 2);
	assert_int_equal(h2_tick(raw, 499), 0);
	assert_int_equal(h2_tick(raw, 1), -ETIMEDOUT);
	assert_lost(-ETIMEDOUT, "no answer to a PING for 500 ms");
	assert_int_equal(raw_service.n_cancels, 0);
	grpc_conn_free(raw->conn);
	raw->conn = NULL;
	assert_int_equal(raw_service.n_cancels, 1);
}

/* --- cancelled calls -------------------------------------------------------------------------- */

static void test_cancel(void **state)
{
	(void)state;
	raw_hold(1, "1H");
	assert_non_null(raw_service.held);
	h2_u32(raw, NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
	h2_flush(raw);
	assert_int_equal(raw_service.n_cancels, 1);
	assert_null(raw_service.held);
	assert_alive(3);
}

/* The second call's request hook sends to the first call, which the same input cancels. */
static struct grpc_call *cancelled;

static void send_to_cancelled(struct grpc_call *call, const char *path, const uint8_t *message,
			      size_t len, void *arg)
{
	(void)path;
	(void)arg;
	if (!cancelled) {
		cancelled = call;
		return;
	}
	assert_int_equal(grpc_send(cancelled, message, len), 0);
	grpc_finish(cancelled, GRPC_OK, NULL);
	grpc_finish(call, GRPC_OK, NULL);
}

static void test_send_to_a_call_just_cancelled(void **state)
{
	struct grpc_service hooks = {send_to_cancelled, NULL, NULL};
	struct grpc_conn *conn;

	(void)state;
	h2_done(raw);
	cancelled = NULL;
	assert_int_equal(grpc_server_new(&conn, NULL, &hooks, 1000), 0);
	h2_open(raw, conn);
	h2_hello_client(raw, 0);
	h2_request(raw, 1, "/t.T/Hold");
	h2_message(raw, 1, END, "", 0, 0);
	h2_u32(raw, NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
	h2_request(raw, 3, "/t.T/Hold");
	h2_message(raw, 3, END, "x", 1, 1);
	assert_int_equal(h2_flush(raw), 0);
	assert_answer(3, "200", GRPC_OK, "");
	assert_false(raw->answers[1].has_headers);
}

static void test_cancel_with_data_waiting(void **state)
{
	(void)state;
	raw_service.stream.n = 100;
	raw_service.stream.size = 10000;
	h2_request(raw, 1, "/t.T/Stream");
	h2_message(raw, 1, END, "", 0, 0);
	h2_flush(raw);
	assert_int_equal(raw->answers[1].n_data, 65535);
	h2_u32(raw, NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
	h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 0, 1000000);
	h2_flush(raw);
	assert_int_equal(raw->answers[1].n_data, 65535);
	assert_int_equal(raw_service.n_cancels, 0);
	assert_alive(3);
}

static void test_rapid_reset(void **state)
{
	unsigned n = 0;

	(void)state;
	for (int32_t stream = 1; raw->r == 0 && n < 5000; stream += 2, n++) {
		h2_request(raw, stream, "/t.T/Echo");
		h2_u32(raw, NGHTTP2_RST_STREAM, stream, NGHTTP2_CANCEL);
		h2_flush(raw);
	}
	assert_in_range(n, 900, 1500);
	assert_lost(-EPROTO, "HTTP/2 failed");
	assert_true(raw->has_goaway);
}

TEST_GROUP(grpc_server_calls)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, raw_server_setup, raw_server_teardown)
		TEST(test_timeout),
		TEST(test_timeout_of_nothing),
		TEST(test_timeout_of_unfinished_request),
		TEST(test_malformed_timeouts),
		TEST(test_timeout_of_answer_held_back),
		TEST(test_timeout_between_messages),
		TEST(test_keepalive),
		TEST(test_cancel),
		TEST(test_send_to_a_call_just_cancelled),
		TEST(test_cancel_with_data_waiting),
		TEST(test_rapid_reset),
	};

	return test_group_run(tests, NULL, NULL);
}
