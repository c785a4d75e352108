// SPDX-License-Identifier: Apache-2.0
/* Connections of our gRPC server: floods, small windows, shutdown, invalid bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_peer.h"
#include "test_group.h"

/* --- floods ----------------------------------------------------------------------------------- */

/* Feeds the input again and again without reading an answer; returns the first error. */
static int feed_unread(void)
{
	size_t n = raw->n_out;

	raw->n_out = 0;
	raw->r = grpc_feed(raw->conn, raw->out, n, raw->now_ms, &raw->err);
	return raw->r;
}

static void test_flood(uint8_t type, size_t len)
{
	unsigned i;

	for (i = 0; i < 1000000; i++) {
		h2_frame(raw, type, 0, 0, "\0\0\0\0\0\0\0\0", len);
		if (feed_unread() < 0)
			break;
	}
	/* A thousand answers are queued beyond the 64 KiB that can be read. */
	assert_in_range(i, 1000, 10000);
	assert_int_equal(raw->r, -EPROTO);
}

static void test_ping_flood(void **state)
{
	(void)state;
	test_flood(NGHTTP2_PING, 8);
}

static void test_settings_flood(void **state)
{
	(void)state;
	test_flood(NGHTTP2_SETTINGS, 0);
}

static void test_refusal_flood(void **state)
{
	static const struct grpc_limits limits = {1000, 2, 0};
	unsigned n = 0;

	(void)state;
	raw_server_reopen(&limits);
	for (int32_t stream = 1; n < 100000; stream += 2, n++) {
		h2_request(raw, stream, "/t.T/Hold");
		if (feed_unread() < 0)
			break;
	}
	assert_in_range(n, 3, 10000);
	assert_int_equal(raw->r, -EPROTO);
}

static void test_continuation_flood(void **state)
{
	unsigned i;

	(void)state;
	h2_frame(raw, NGHTTP2_HEADERS, 0, 1, "\0\1a\1b", 5);
	for (i = 0; i < 100000 && h2_flush(raw) == 0; i++)
		h2_frame(raw, NGHTTP2_CONTINUATION, 0, 1, "\0\1a\1b", 5);
	assert_in_range(i, 2, 3000);
	assert_true(raw->r < 0);
}

/* One header field refers many times to a large one in the HPACK table: a few bytes become
 * megabytes. */
static void test_header_bomb(void **state)
{
	uint8_t block[16000];
	size_t n = 0;

	(void)state;
	block[n++] = 0x40; /* literal with indexing, new name */
	block[n++] = 1;
	block[n++] = 'a';
	block[n++] = 127; /* 127 + 0x80 * 30 + 1 */
	block[n++] = 0x81;
	block[n++] = 30 - 1;
	memset(block + n, 'v', 127 + 1 + 128 * 29);
	n += 127 + 1 + 128 * 29;
	memset(block + n, 0x80 | 62, sizeof(block) - n); /* the newest table entry, repeated */
	h2_frame(raw, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, block, sizeof(block));
	h2_flush(raw);
	assert_true(raw->r < 0 || raw->answers[1].is_ended || raw->answers[1].is_reset);
	assert_int_equal(raw_service.n_requests, 0);
}

static void test_too_many_calls(void **state)
{
	static const struct grpc_limits limits = {1000, 2, 0};

	(void)state;
	raw_server_reopen(&limits);
	/* Before the client acknowledges the limit, excess streams are refused; ... */
	for (int32_t stream = 1; stream <= 5; stream += 2)
		h2_request(raw, stream, "/t.T/Hold");
	assert_int_equal(h2_flush(raw), 0);
	assert_false(raw->answers[1].is_reset);
	assert_true(raw->answers[5].is_reset);
	assert_int_equal(raw->answers[5].reset_code, NGHTTP2_REFUSED_STREAM);
	/* ... afterwards they are a protocol error. */
	h2_frame(raw, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
	h2_request(raw, 7, "/t.T/Hold");
	h2_flush(raw);
	assert_lost(-EPROTO, "HTTP/2 failed");
}

/* --- the connection --------------------------------------------------------------------------- */

static void test_ping_is_answered(void **state)
{
	(void)state;
	h2_frame(raw, NGHTTP2_PING, 0, 0, "probing!", 8);
	assert_int_equal(h2_flush(raw), 0);
	assert_int_equal(raw->n_ping_acks, 1);
}

static void test_small_window(void **state)
{
	(void)state;
	raw_server_reopen(NULL);
	raw->n_out = 0;
	h2_hello_client(raw, 1);
	raw_service.stream.n = 1;
	raw_service.stream.size = 1000;
	h2_request(raw, 1, "/t.T/Stream");
	h2_message(raw, 1, END, "", 0, 0);
	h2_flush(raw);
	for (size_t i = 1; i < 1005; i++) {
		assert_int_equal(raw->answers[1].n_data, i);
		assert_false(raw->answers[1].is_ended);
		h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 1, 1);
		h2_flush(raw);
	}
	assert_answer(1, "200", GRPC_OK, "");
}

static void test_large_message_through_a_small_window(void **state)
{
	const size_t size = (3u << 20) + 5;
	unsigned rounds = 0;

	(void)state;
	raw_server_reopen(NULL);
	raw->n_out = 0;
	h2_hello_client(raw, 997);
	raw_service.stream.n = 1;
	raw_service.stream.size = size - 5;
	h2_request(raw, 1, "/t.T/Stream");
	h2_message(raw, 1, END, "", 0, 0);
	for (h2_flush(raw); !raw->answers[1].is_ended && rounds < 4000; rounds++) {
		h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 1, 997);
		h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 0, 997);
		h2_flush(raw);
	}
	assert_answer(1, "200", GRPC_OK, "");
	assert_int_equal(raw->answers[1].n_data, size);
	assert_int_equal(rounds, size / 997);
}

/* A peer shrinks its window below zero while data is in transit (RFC 9113 section 6.9.2). */
static void test_window_below_zero(void **state)
{
	static const uint8_t none[] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0, 0, 0, 0};

	(void)state;
	raw_service.stream.n = 2;
	raw_service.stream.size = 40000;
	h2_request(raw, 1, "/t.T/Stream");
	h2_message(raw, 1, END, "", 0, 0);
	h2_flush(raw);
	assert_int_equal(raw->answers[1].n_data, 65535);
	h2_frame(raw, NGHTTP2_SETTINGS, 0, 0, none, sizeof(none));
	h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 0, 100000);
	h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 1, 65535);
	h2_flush(raw);
	assert_int_equal(raw->answers[1].n_data, 65535);
	h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 1, 100000);
	h2_flush(raw);
	assert_int_equal(raw->answers[1].n_data, 80010);
	assert_answer(1, "200", GRPC_OK, "");
}

static void test_shutdown(void **state)
{
	(void)state;
	raw_hold(1, "1H");
	grpc_shutdown(raw->conn);
	grpc_shutdown(raw->conn);
	assert_true(grpc_is_closing(raw->conn));
	h2_request(raw, 3, "/t.T/Echo"); /* sent before the client received the GOAWAY */
	h2_message(raw, 3, END, "", 0, 0);
	h2_flush(raw);
	assert_true(raw->has_goaway);
	assert_int_equal(raw->goaway_code, NGHTTP2_NO_ERROR);
	assert_true(raw->answers[3].is_reset);
	assert_int_equal(raw->answers[3].reset_code, NGHTTP2_REFUSED_STREAM);
	h2_request(raw, 5, "/t.T/Echo"); /* sent after it */
	h2_message(raw, 5, END, "", 0, 0);
	assert_int_equal(h2_flush(raw), 0);
	assert_int_equal(raw_service.n_requests, 1);
	assert_false(grpc_is_done(raw->conn));
	grpc_finish(raw_service.held, GRPC_OK, NULL);
	assert_false(grpc_is_done(raw->conn));
	h2_flush(raw);
	assert_answer(1, "200", GRPC_OK, "");
	assert_true(grpc_is_done(raw->conn));
}

static void test_shutdown_of_a_silent_connection(void **state)
{
	(void)state;
	assert_false(grpc_is_done(raw->conn));
	grpc_shutdown(raw->conn);
	assert_false(grpc_is_done(raw->conn));
	raw->n_out = 0;
	h2_flush(raw);
	assert_true(raw->has_goaway);
	assert_true(grpc_is_done(raw->conn));
}

static void test_goaway_of_the_client(void **state)
{
	(void)state;
	raw_hold(1, "1H");
	h2_frame(raw, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
	assert_int_equal(h2_flush(raw), 0);
	assert_true(grpc_is_closing(raw->conn));
	assert_false(grpc_is_done(raw->conn));
	grpc_finish(raw_service.held, GRPC_OK, NULL);
	h2_flush(raw);
	assert_answer(1, "200", GRPC_OK, "");
	assert_true(grpc_is_done(raw->conn));
}

static void test_http1(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

	(void)state;
	for (size_t step = 1; step < sizeof(request); step += sizeof(request) / 2) {
		raw_server_reopen(NULL);
		raw->n_out = 0;
		raw->r = 0;
		for (size_t i = 0; i < sizeof(request) - 1 && raw->r == 0; i += step) {
			h2_bytes(raw, request + i,
				 i + step < sizeof(request) ? step : sizeof(request) - 1 - i);
			h2_flush(raw);
		}
		assert_lost(-EPROTO, "the peer speaks HTTP/1, not gRPC");
		assert_memory_equal(raw->pending, "HTTP/1.1 505 ", 13);
		assert_true(grpc_is_done(raw->conn));
	}
}

static void test_not_http2(void **state)
{
	static const char *const greetings[] = {"\x16\x03\x01\x02", "hello", "{}", "PRI * HTTP/3",
						"ABCDEFGHIJKLMNOPQRSTUVW"};

	(void)state;
	for (size_t i = 0; i < sizeof(greetings) / sizeof(greetings[0]); i++) {
		raw_server_reopen(NULL);
		raw->n_out = 0;
		h2_bytes(raw, greetings[i], strlen(greetings[i]));
		h2_flush(raw);
		assert_lost(-EPROTO, i == 3 ? "HTTP/1" : "the peer does not speak HTTP/2");
	}
}

static void test_protocol_errors(void **state)
{
	(void)state;
	h2_frame(raw, NGHTTP2_DATA, 0, 1, "x", 1); /* no such stream */
	h2_flush(raw);
	assert_lost(-EPROTO, "PROTOCOL_ERROR");
	assert_true(raw->has_goaway);
	assert_true(grpc_is_done(raw->conn));

	raw_server_reopen(NULL);
	h2_frame(raw, NGHTTP2_PING, 0, 0, "x", 1);
	h2_flush(raw);
	assert_lost(-EPROTO, "FRAME_SIZE_ERROR");

	raw_server_reopen(NULL);
	h2_bytes(raw, "\xff\xff\xff\x01\x04\x00\x00\x00\x01", 9); /* a frame of 16 MiB */
	h2_flush(raw);
	assert_lost(-EPROTO, "FRAME_SIZE_ERROR");

	raw_server_reopen(NULL);
	h2_frame(raw, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\xff\xff\xff\xff\xff", 5);
	h2_flush(raw);
	assert_lost(-EPROTO, "COMPRESSION_ERROR");

	raw_server_reopen(NULL);
	h2_request(raw, 1, "/t.T/Hold");
	h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 0, 0x7fffffff);
	h2_flush(raw);
	assert_lost(-EPROTO, "FLOW_CONTROL_ERROR");
}

/* The connection ends after any byte. */
static void test_every_truncation(void **state)
{
	uint8_t bytes[2000];
	size_t n;

	(void)state;
	h2_request(raw, 1, "/t.T/Echo");
	h2_message(raw, 1, END, "hello", 5, 5);
	h2_request(raw, 3, "/t.T/Hold");
	h2_message(raw, 3, END, "hello", 5, 5);
	h2_frame(raw, NGHTTP2_PING, 0, 0, "probing!", 8);
	h2_u32(raw, NGHTTP2_RST_STREAM, 3, NGHTTP2_CANCEL);
	n = raw->n_out;
	assert_true(n < sizeof(bytes));
	memcpy(bytes, raw->out, n);
	for (size_t len = 0; len <= n; len++) {
		raw_server_reopen(NULL);
		raw->n_out = 0;
		h2_bytes(raw, bytes, len);
		assert_int_equal(h2_flush(raw), 0);
		if (raw_service.held)
			assert_int_equal(raw_service.n_cancels, 0);
		grpc_conn_free(raw->conn);
		raw->conn = NULL;
		assert_int_equal(raw_service.n_requests - raw_service.n_cancels,
				 raw_service.n_requests > 0);
	}
}

TEST_GROUP(grpc_server_abuse)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, raw_server_setup, raw_server_teardown)
		TEST(test_ping_flood),
		TEST(test_settings_flood),
		TEST(test_refusal_flood),
		TEST(test_continuation_flood),
		TEST(test_header_bomb),
		TEST(test_too_many_calls),
		TEST(test_ping_is_answered),
		TEST(test_small_window),
		TEST(test_large_message_through_a_small_window),
		TEST(test_window_below_zero),
		TEST(test_shutdown),
		TEST(test_shutdown_of_a_silent_connection),
		TEST(test_goaway_of_the_client),
		TEST(test_http1),
		TEST(test_not_http2),
		TEST(test_protocol_errors),
		TEST(test_every_truncation),
	};

	return test_group_run(tests, NULL, NULL);
}
