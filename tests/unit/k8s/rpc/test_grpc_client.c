// SPDX-License-Identifier: Apache-2.0
/* Raw answers that our gRPC client accepts or rejects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_peer.h"
#include "test_group.h"

/* --- valid answers ---------------------------------------------------------------------------- */

static void test_request(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 1500);
	assert_string_equal(raw->answers[1].path, "/t.T/Get");
	assert_string_equal(raw->answers[1].timeout, "1500m");
	assert_string_equal(raw->answers[1].authority, "localhost");
	assert_int_equal(raw->answers[1].n_data, 8);
	assert_true(raw->answers[1].is_ended);
	raw_answer_head(1);
	h2_message(raw, 1, 0, "hello", 5, 5);
	h2_message(raw, 1, 0, "", 0, 0);
	h2_flush(raw);
	assert_int_equal(a.n_messages, 2);
	assert_int_equal(a.n_ends, 0);
	raw_answer_end(1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
	assert_int_equal(a.n_bytes, 5);
	assert_true(grpc_deadline(raw->conn) == UINT64_MAX);
}

static void test_status_alone(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	assert_string_equal(raw->answers[1].timeout, "");
	h2_headers(raw, 1, END, ":status", "200", "content-type", "application/grpc", "grpc-status",
		   "5", "grpc-message", "no %C3%A9 100%25 %zz %", NULL);
	h2_flush(raw);
	assert_call_end(&a, GRPC_NOT_FOUND, "no \xc3\xa9 100% %zz %");
	/* A grpc-status counts even with another HTTP status. */
	raw_ask(&a, 0);
	h2_headers(raw, 3, END, ":status", "415", "content-type", "application/grpc", "grpc-status",
		   "13", "grpc-message", "%FF", NULL);
	h2_flush(raw);
	assert_call_end(&a, GRPC_INTERNAL, "\xef\xbf\xbd");
}

static void test_messages_across_frames(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	raw_answer_head(1);
	h2_frame(raw, NGHTTP2_DATA, 0, 1, "\0\0\0\0\2ab\0\0", 9);
	h2_frame(raw, NGHTTP2_DATA, 0, 1, "\0\0\3c", 4);
	h2_frame(raw, NGHTTP2_DATA, 0, 1, "de\0\0\0\0\1f\0\0\0\0\0", 13);
	raw_answer_end(1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
	assert_int_equal(a.n_messages, 4);
	assert_int_equal(a.n_bytes, 6);
}

static void test_interim_responses(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	h2_headers(raw, 1, 0, ":status", "100", NULL);
	h2_headers(raw, 1, 0, ":status", "103", "link", "x", NULL);
	raw_answer_head(1);
	h2_message(raw, 1, 0, "x", 1, 1);
	raw_answer_end(1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
	assert_int_equal(a.n_messages, 1);
}

/* --- invalid answers -------------------------------------------------------------------------- */

static void test_http_statuses(void **state)
{
	static const struct {
		const char *http;
		enum grpc_status status;
	} rows[] = {{"400", GRPC_INTERNAL},	     {"401", GRPC_UNAUTHENTICATED},
		    {"403", GRPC_PERMISSION_DENIED}, {"404", GRPC_UNIMPLEMENTED},
		    {"429", GRPC_UNAVAILABLE},	     {"502", GRPC_UNAVAILABLE},
		    {"503", GRPC_UNAVAILABLE},	     {"504", GRPC_UNAVAILABLE},
		    {"500", GRPC_UNKNOWN},	     {"302", GRPC_UNKNOWN}};
	int32_t stream = 1;
	struct asked a;
	char text[80];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, stream += 2) {
		raw_ask(&a, 0);
		h2_headers(raw, stream, i % 2 ? END : 0, ":status", rows[i].http, "content-type",
			   "text/html", NULL);
		if (i % 2 == 0)
			h2_frame(raw, NGHTTP2_DATA, END, stream, "<html>", 6);
		h2_flush(raw);
		snprintf(text, sizeof(text), "HTTP status %s instead of a gRPC answer",
			 rows[i].http);
		assert_call_end(&a, rows[i].status, text);
		assert_int_equal(a.n_messages, 0);
	}
}

static void test_wrong_content_type(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	h2_headers(raw, 1, 0, ":status", "200", "content-type", "text/html", NULL);
	h2_flush(raw);
	assert_call_end(&a, GRPC_UNKNOWN, "the answer's content-type is not application/grpc");
	assert_true(raw->answers[1].is_reset);
	assert_int_equal(raw->answers[1].reset_code, NGHTTP2_CANCEL);
}

static void test_statuses(void **state)
{
	static const struct {
		const char *text;
		enum grpc_status status;
	} rows[] = {{"16", GRPC_UNAUTHENTICATED}, {"17", GRPC_UNKNOWN},
		    {"-1", GRPC_UNKNOWN},	  {"x", GRPC_UNKNOWN},
		    {"", GRPC_UNKNOWN},		  {"99999999999", GRPC_UNKNOWN},
		    {"4294967296", GRPC_UNKNOWN}, {"007", GRPC_PERMISSION_DENIED}};
	int32_t stream = 1;
	struct asked a;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, stream += 2) {
		raw_ask(&a, 0);
		raw_answer_head(stream);
		h2_headers(raw, stream, END, "grpc-status", rows[i].text, NULL);
		h2_flush(raw);
		assert_call_end(&a, rows[i].status, "");
	}
}

static void test_no_status(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	raw_answer_head(1);
	h2_message(raw, 1, END, "x", 1, 1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_UNKNOWN, "the answer ends without grpc-status");
	raw_ask(&a, 0);
	raw_answer_head(3);
	h2_headers(raw, 3, END, "x-other", "1", NULL);
	h2_flush(raw);
	assert_call_end(&a, GRPC_UNKNOWN, "the answer ends without grpc-status");
}

static void test_bad_messages(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	raw_answer_head(1);
	h2_message(raw, 1, 0, "abc", 3, 5);
	raw_answer_end(1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_INTERNAL, "the answer ends within a message");
	assert_int_equal(a.n_messages, 0);
	raw_ask(&a, 0);
	raw_answer_head(3);
	h2_frame(raw, NGHTTP2_DATA, 0, 3, "\1\0\0\0\1x", 6);
	h2_flush(raw);
	assert_call_end(&a, GRPC_UNIMPLEMENTED, "the answer is compressed, which is not supported");
	assert_true(raw->answers[3].is_reset);
	raw_ask(&a, 0);
	raw_answer_head(5);
	h2_message(raw, 5, 0, "abc", 3, (4u << 20) + 1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_RESOURCE_EXHAUSTED,
			"a message of the answer is larger than 4194304 bytes: it has 4194305");
	raw_ask(&a, 0);
	raw_answer_head(7);
	h2_frame(raw, NGHTTP2_DATA, 0, 7, "\x99\0\0\0\1x", 6);
	h2_flush(raw);
	assert_call_end(&a, GRPC_INTERNAL, "the answer is not made of gRPC messages");
	/* Late frames of cancelled calls are ignored. */
	h2_frame(raw, NGHTTP2_DATA, END, 7, "\0\0\0\0\0", 5);
	assert_int_equal(h2_flush(raw), 0);
	raw_ask(&a, 0);
	raw_answer_head(9);
	raw_answer_end(9);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
}

static void test_large_header_list(void **state)
{
	char *value = malloc(10001);
	struct asked a;

	(void)state;
	memset(value, 'v', 10000);
	value[10000] = '\0';
	raw_ask(&a, 0);
	h2_headers(raw, 1, 0, ":status", "200", "content-type", "application/grpc", "x-a", value,
		   "x-b", value, NULL);
	h2_flush(raw);
	assert_call_end(&a, GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
	raw_ask(&a, 0);
	raw_answer_head(3);
	h2_headers(raw, 3, END, "grpc-status", "0", "x-a", value, "x-b", value, NULL);
	h2_flush(raw);
	assert_call_end(&a, GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
	free(value);
}

static void test_resets(void **state)
{
	static const struct {
		uint32_t code;
		enum grpc_status status;
		const char *text;
	} rows[] = {
		{NGHTTP2_NO_ERROR, GRPC_INTERNAL, "the peer reset the call: NO_ERROR"},
		{NGHTTP2_PROTOCOL_ERROR, GRPC_INTERNAL, "the peer reset the call: PROTOCOL_ERROR"},
		{NGHTTP2_REFUSED_STREAM, GRPC_UNAVAILABLE,
		 "the peer reset the call: REFUSED_STREAM"},
		{NGHTTP2_CANCEL, GRPC_CANCELLED, "the peer reset the call: CANCEL"},
		{NGHTTP2_ENHANCE_YOUR_CALM, GRPC_RESOURCE_EXHAUSTED,
		 "the peer reset the call: ENHANCE_YOUR_CALM"},
		{NGHTTP2_INADEQUATE_SECURITY, GRPC_PERMISSION_DENIED,
		 "the peer reset the call: INADEQUATE_SECURITY"},
		{12345, GRPC_INTERNAL, "the peer reset the call: unknown"},
	};
	int32_t stream = 1;
	struct asked a;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, stream += 2) {
		raw_ask(&a, 0);
		if (i % 2)
			raw_answer_head(stream);
		h2_u32(raw, NGHTTP2_RST_STREAM, stream, rows[i].code);
		h2_flush(raw);
		assert_call_end(&a, rows[i].status, rows[i].text);
	}
}

/* A reset after a complete answer changes nothing. */
static void test_reset_after_the_end(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	raw_answer_head(1);
	raw_answer_end(1);
	h2_u32(raw, NGHTTP2_RST_STREAM, 1, NGHTTP2_NO_ERROR);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
	assert_int_equal(raw->r, 0);
}

/* nghttp2 itself rejects these. */
static void test_malformed_answers(void **state)
{
	struct asked a;

	(void)state;
	raw_ask(&a, 0);
	h2_headers(raw, 1, END, "grpc-status", "0", NULL); /* no :status */
	h2_flush(raw);
	assert_int_equal(a.n_ends, 1);
	assert_int_equal(a.status, GRPC_INTERNAL);
	assert_int_equal(raw->r, 0);
	raw_ask(&a, 0);
	raw_answer_head(3);
	h2_headers(raw, 3, 0, "grpc-status", "0", NULL); /* trailers without END_STREAM */
	h2_flush(raw);
	assert_int_equal(a.n_ends, 1);
	assert_int_equal(a.status, GRPC_INTERNAL);
	assert_int_equal(raw->r, 0);
}

/* The answer is complete while the request is still being sent. */
static void test_early_answer(void **state)
{
	struct asked a = {0};
	struct grpc_reply reply = asked_reply(&a);
	uint8_t *large = calloc(1, 100000);

	(void)state;
	assert_non_null(grpc_start(raw->conn, "/t.T/Get", large, 100000, 0, &reply, 1000));
	h2_flush(raw);
	assert_int_equal(raw->answers[1].n_data, 65535);
	h2_headers(raw, 1, END, ":status", "200", "content-type", "application/grpc", "grpc-status",
		   "8", NULL);
	h2_flush(raw);
	assert_call_end(&a, GRPC_RESOURCE_EXHAUSTED, "");
	assert_true(raw->answers[1].is_reset);
	free(large);
}

static void test_large_request_through_a_small_window(void **state)
{
	const size_t size = 3u << 20;
	uint8_t *large = calloc(1, size);
	struct asked a = {0};
	struct grpc_reply reply = asked_reply(&a);

	(void)state;
	raw->n_out = 0;
	h2_hello_server(raw, 997);
	assert_non_null(grpc_start(raw->conn, "/t.T/Get", large, size, 0, &reply, 1000));
	free(large);
	for (h2_flush(raw); !raw->answers[1].is_ended && raw->answers[1].n_data <= size;) {
		h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 1, 997);
		h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 0, 997);
		h2_flush(raw);
	}
	assert_int_equal(raw->answers[1].n_data, size + 5);
	raw_answer_head(1);
	raw_answer_end(1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
}

/* The client reopens its windows while a large answer arrives. */
static void test_large_answer(void **state)
{
	uint8_t *zeros = calloc(1, 16384);
	struct asked a;
	size_t sent = 0;

	(void)state;
	/* our settings are in force now */
	h2_frame(raw, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
	raw_ask(&a, 0);
	raw_answer_head(1);
	h2_message(raw, 1, 0, "", 0, 3u << 20);
	for (; sent < 3u << 20; sent += 16384) {
		h2_frame(raw, NGHTTP2_DATA, 0, 1, zeros, 16384);
		h2_flush(raw);
	}
	raw_answer_end(1);
	h2_flush(raw);
	assert_call_end(&a, GRPC_OK, "");
	assert_int_equal(a.n_bytes, 3u << 20);
	assert_in_range(raw->n_window_updates, 3, 30);
	free(zeros);
}

TEST_GROUP(grpc_client)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, raw_client_setup, raw_client_teardown)
		TEST(test_request),
		TEST(test_status_alone),
		TEST(test_messages_across_frames),
		TEST(test_interim_responses),
		TEST(test_http_statuses),
		TEST(test_wrong_content_type),
		TEST(test_statuses),
		TEST(test_no_status),
		TEST(test_bad_messages),
		TEST(test_large_header_list),
		TEST(test_resets),
		TEST(test_reset_after_the_end),
		TEST(test_malformed_answers),
		TEST(test_early_answer),
		TEST(test_large_request_through_a_small_window),
		TEST(test_large_answer),
	};

	return test_group_run(tests, NULL, NULL);
}
