/* Our gRPC client against answers written by hand: odd, broken and hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grpc_pair.h"
#include "h2_raw.h"

static struct h2_raw *h;

#define END NGHTTP2_FLAG_END_STREAM

static void open_client(const struct grpc_limits *limits)
{
	struct grpc_conn *conn;

	assert_int_equal(grpc_client_new(&conn, limits, 1000), 0);
	h2_open(h, conn);
	h2_hello_server(h, 0);
}

static int setup(void **state)
{
	(void)state;
	h = calloc(1, sizeof(*h));
	open_client(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	h2_done(h);
	free(h);
	return 0;
}

static void reopen(const struct grpc_limits *limits)
{
	h2_done(h);
	open_client(limits);
}

static void ask(struct asked *a, uint32_t timeout_ms)
{
	struct grpc_reply reply = asked_reply(a);

	*a = (struct asked){0};
	a->call = grpc_start(h->conn, "/t.T/Get", (const uint8_t *)"abc", 3, timeout_ms, &reply,
			     h->now_ms);
	assert_non_null(a->call);
	assert_int_equal(h2_flush(h), 0);
	assert_int_equal(a->n_ends, 0);
}

static void assert_end(const struct asked *a, enum grpc_status status, const char *text)
{
	assert_int_equal(a->n_ends, 1);
	assert_string_equal(a->text, text);
	assert_string_equal(grpc_status_name(a->status), grpc_status_name(status));
}

static void answer_head(int32_t stream)
{
	h2_headers(h, stream, 0, ":status", "200", "content-type", "application/grpc", NULL);
}

static void answer_end(int32_t stream)
{
	h2_headers(h, stream, END, "grpc-status", "0", NULL);
}

/* --- answers that are fine ------------------------------------------------------------------ */

static void test_request(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 1500);
	assert_string_equal(h->answers[1].path, "/t.T/Get");
	assert_string_equal(h->answers[1].timeout, "1500m");
	assert_string_equal(h->answers[1].authority, "localhost");
	assert_int_equal(h->answers[1].n_data, 8);
	assert_true(h->answers[1].is_ended);
	answer_head(1);
	h2_message(h, 1, 0, "hello", 5, 5);
	h2_message(h, 1, 0, "", 0, 0);
	h2_flush(h);
	assert_int_equal(a.n_messages, 2);
	assert_int_equal(a.n_ends, 0);
	answer_end(1);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
	assert_int_equal(a.n_bytes, 5);
	assert_true(grpc_deadline(h->conn) == UINT64_MAX);
}

static void test_status_alone(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	assert_string_equal(h->answers[1].timeout, "");
	h2_headers(h, 1, END, ":status", "200", "content-type", "application/grpc", "grpc-status",
		   "5", "grpc-message", "no %C3%A9 100%25 %zz %", NULL);
	h2_flush(h);
	assert_end(&a, GRPC_NOT_FOUND, "no \xc3\xa9 100% %zz %");
	/* Even with another HTTP status. */
	ask(&a, 0);
	h2_headers(h, 3, END, ":status", "415", "content-type", "application/grpc", "grpc-status",
		   "13", "grpc-message", "%FF", NULL);
	h2_flush(h);
	assert_end(&a, GRPC_INTERNAL, "\xef\xbf\xbd");
}

static void test_messages_across_frames(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	answer_head(1);
	h2_frame(h, NGHTTP2_DATA, 0, 1, "\0\0\0\0\2ab\0\0", 9);
	h2_frame(h, NGHTTP2_DATA, 0, 1, "\0\0\3c", 4);
	h2_frame(h, NGHTTP2_DATA, 0, 1, "de\0\0\0\0\1f\0\0\0\0\0", 13);
	answer_end(1);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
	assert_int_equal(a.n_messages, 4);
	assert_int_equal(a.n_bytes, 6);
}

static void test_interim_responses(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	h2_headers(h, 1, 0, ":status", "100", NULL);
	h2_headers(h, 1, 0, ":status", "103", "link", "x", NULL);
	answer_head(1);
	h2_message(h, 1, 0, "x", 1, 1);
	answer_end(1);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
	assert_int_equal(a.n_messages, 1);
}

/* --- answers that are not ------------------------------------------------------------------- */

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
		ask(&a, 0);
		h2_headers(h, stream, i % 2 ? END : 0, ":status", rows[i].http, "content-type",
			   "text/html", NULL);
		if (i % 2 == 0)
			h2_frame(h, NGHTTP2_DATA, END, stream, "<html>", 6);
		h2_flush(h);
		snprintf(text, sizeof(text), "HTTP status %s instead of a gRPC answer",
			 rows[i].http);
		assert_end(&a, rows[i].status, text);
		assert_int_equal(a.n_messages, 0);
	}
}

static void test_wrong_content_type(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	h2_headers(h, 1, 0, ":status", "200", "content-type", "text/html", NULL);
	h2_flush(h);
	assert_end(&a, GRPC_UNKNOWN, "the answer's content-type is not application/grpc");
	assert_true(h->answers[1].is_reset);
	assert_int_equal(h->answers[1].reset_code, NGHTTP2_CANCEL);
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
		ask(&a, 0);
		answer_head(stream);
		h2_headers(h, stream, END, "grpc-status", rows[i].text, NULL);
		h2_flush(h);
		assert_end(&a, rows[i].status, "");
	}
}

static void test_no_status(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	answer_head(1);
	h2_message(h, 1, END, "x", 1, 1);
	h2_flush(h);
	assert_end(&a, GRPC_UNKNOWN, "the answer ends without grpc-status");
	ask(&a, 0);
	answer_head(3);
	h2_headers(h, 3, END, "x-other", "1", NULL);
	h2_flush(h);
	assert_end(&a, GRPC_UNKNOWN, "the answer ends without grpc-status");
}

static void test_bad_messages(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	answer_head(1);
	h2_message(h, 1, 0, "abc", 3, 5);
	answer_end(1);
	h2_flush(h);
	assert_end(&a, GRPC_INTERNAL, "the answer ends within a message");
	assert_int_equal(a.n_messages, 0);
	ask(&a, 0);
	answer_head(3);
	h2_frame(h, NGHTTP2_DATA, 0, 3, "\1\0\0\0\1x", 6);
	h2_flush(h);
	assert_end(&a, GRPC_UNIMPLEMENTED, "the answer is compressed, which is not supported");
	assert_true(h->answers[3].is_reset);
	ask(&a, 0);
	answer_head(5);
	h2_message(h, 5, 0, "abc", 3, (4u << 20) + 1);
	h2_flush(h);
	assert_end(&a, GRPC_RESOURCE_EXHAUSTED,
		   "a message of the answer is larger than 4194304 bytes");
	ask(&a, 0);
	answer_head(7);
	h2_frame(h, NGHTTP2_DATA, 0, 7, "\x99\0\0\0\1x", 6);
	h2_flush(h);
	assert_end(&a, GRPC_INTERNAL, "the answer is not made of gRPC messages");
	/* What still comes for calls given up is ignored. */
	h2_frame(h, NGHTTP2_DATA, END, 7, "\0\0\0\0\0", 5);
	assert_int_equal(h2_flush(h), 0);
	ask(&a, 0);
	answer_head(9);
	answer_end(9);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
}

static void test_large_header_list(void **state)
{
	char *value = malloc(10001);
	struct asked a;

	(void)state;
	memset(value, 'v', 10000);
	value[10000] = '\0';
	ask(&a, 0);
	h2_headers(h, 1, 0, ":status", "200", "content-type", "application/grpc", "x-a", value,
		   "x-b", value, NULL);
	h2_flush(h);
	assert_end(&a, GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
	ask(&a, 0);
	answer_head(3);
	h2_headers(h, 3, END, "grpc-status", "0", "x-a", value, "x-b", value, NULL);
	h2_flush(h);
	assert_end(&a, GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
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
		ask(&a, 0);
		if (i % 2)
			answer_head(stream);
		h2_u32(h, NGHTTP2_RST_STREAM, stream, rows[i].code);
		h2_flush(h);
		assert_end(&a, rows[i].status, rows[i].text);
	}
}

/* A reset behind a complete answer says nothing new. */
static void test_reset_after_the_end(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	answer_head(1);
	answer_end(1);
	h2_u32(h, NGHTTP2_RST_STREAM, 1, NGHTTP2_NO_ERROR);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
	assert_int_equal(h->r, 0);
}

/* nghttp2 refuses these for us. */
static void test_malformed_answers(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	h2_headers(h, 1, END, "grpc-status", "0", NULL); /* no :status */
	h2_flush(h);
	assert_int_equal(a.n_ends, 1);
	assert_int_equal(a.status, GRPC_INTERNAL);
	assert_int_equal(h->r, 0);
	ask(&a, 0);
	answer_head(3);
	h2_headers(h, 3, 0, "grpc-status", "0", NULL); /* trailers that end nothing */
	h2_flush(h);
	assert_int_equal(a.n_ends, 1);
	assert_int_equal(a.status, GRPC_INTERNAL);
	assert_int_equal(h->r, 0);
}

/* The request is still being sent when the answer is complete. */
static void test_early_answer(void **state)
{
	struct asked a = {0};
	struct grpc_reply reply = asked_reply(&a);
	uint8_t *large = calloc(1, 100000);

	(void)state;
	assert_non_null(grpc_start(h->conn, "/t.T/Get", large, 100000, 0, &reply, 1000));
	h2_flush(h);
	assert_int_equal(h->answers[1].n_data, 65535);
	h2_headers(h, 1, END, ":status", "200", "content-type", "application/grpc", "grpc-status",
		   "8", NULL);
	h2_flush(h);
	assert_end(&a, GRPC_RESOURCE_EXHAUSTED, "");
	assert_true(h->answers[1].is_reset);
	free(large);
}

static void test_large_request_through_a_small_window(void **state)
{
	const size_t size = 3u << 20;
	uint8_t *large = calloc(1, size);
	struct asked a = {0};
	struct grpc_reply reply = asked_reply(&a);

	(void)state;
	h->n_out = 0;
	h2_hello_server(h, 997);
	assert_non_null(grpc_start(h->conn, "/t.T/Get", large, size, 0, &reply, 1000));
	free(large);
	for (h2_flush(h); !h->answers[1].is_ended && h->answers[1].n_data <= size;) {
		h2_u32(h, NGHTTP2_WINDOW_UPDATE, 1, 997);
		h2_u32(h, NGHTTP2_WINDOW_UPDATE, 0, 997);
		h2_flush(h);
	}
	assert_int_equal(h->answers[1].n_data, size + 5);
	answer_head(1);
	answer_end(1);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
}

/* We open our windows again while a large answer comes. */
static void test_large_answer(void **state)
{
	uint8_t *zeros = calloc(1, 16384);
	struct asked a;
	size_t sent = 0;

	(void)state;
	h2_frame(h, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0); /* now they are in force */
	ask(&a, 0);
	answer_head(1);
	h2_message(h, 1, 0, "", 0, 3u << 20);
	for (; sent < 3u << 20; sent += 16384) {
		h2_frame(h, NGHTTP2_DATA, 0, 1, zeros, 16384);
		h2_flush(h);
	}
	answer_end(1);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
	assert_int_equal(a.n_bytes, 3u << 20);
	assert_in_range(h->n_window_updates, 3, 30);
	free(zeros);
}

/* --- time, giving up ------------------------------------------------------------------------ */

static void test_deadline(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 100);
	assert_true(grpc_deadline(h->conn) == 1100);
	h2_tick(h, 99);
	assert_int_equal(a.n_ends, 0);
	h2_tick(h, 1);
	assert_end(&a, GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_true(h->answers[1].is_reset);
	assert_int_equal(h->answers[1].reset_code, NGHTTP2_CANCEL);
	answer_head(1); /* too late */
	answer_end(1);
	assert_int_equal(h2_flush(h), 0);
	assert_int_equal(a.n_ends, 1);
}

static void test_cancel(void **state)
{
	struct asked a, b;

	(void)state;
	ask(&a, 0);
	ask(&b, 0);
	grpc_cancel(a.call);
	assert_end(&a, GRPC_CANCELLED, "cancelled");
	h2_flush(h);
	assert_true(h->answers[1].is_reset);
	assert_int_equal(h->answers[1].reset_code, NGHTTP2_CANCEL);
	answer_head(3);
	answer_end(3);
	h2_flush(h);
	assert_end(&b, GRPC_OK, "");
}

/* Before anything was sent. */
static void test_cancel_at_once(void **state)
{
	struct asked a = {0}, b = {0};
	struct grpc_reply reply_a = asked_reply(&a), reply_b = asked_reply(&b);
	struct grpc_call *call;

	(void)state;
	call = grpc_start(h->conn, "/t.T/Get", NULL, 0, 0, &reply_a, 1000);
	assert_non_null(grpc_start(h->conn, "/t.T/Get", NULL, 0, 0, &reply_b, 1000));
	grpc_cancel(call);
	assert_end(&a, GRPC_CANCELLED, "cancelled");
	h2_flush(h);
	assert_false(h->answers[1].has_headers);
	assert_true(h->answers[3].has_headers);
	answer_head(3);
	answer_end(3);
	h2_flush(h);
	assert_end(&b, GRPC_OK, "");
}

/* The server takes one call at a time; the others wait, and can be given up while they do. */
static void test_calls_in_line(void **state)
{
	static const uint8_t one_call[] = {0, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0, 0, 0, 1};
	struct asked a, b, c, d;

	(void)state;
	h2_frame(h, NGHTTP2_SETTINGS, 0, 0, one_call, sizeof(one_call));
	h2_flush(h);
	ask(&a, 0);
	ask(&b, 0);
	ask(&c, 50);
	ask(&d, 0);
	assert_true(h->answers[1].has_headers);
	assert_false(h->answers[3].has_headers);
	grpc_cancel(b.call);
	assert_end(&b, GRPC_CANCELLED, "cancelled");
	h2_tick(h, 50);
	assert_end(&c, GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	answer_head(1);
	answer_end(1);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
	assert_false(h->answers[3].has_headers);
	assert_false(h->answers[5].has_headers);
	assert_true(h->answers[7].has_headers);
	answer_head(7);
	answer_end(7);
	h2_flush(h);
	assert_end(&d, GRPC_OK, "");
}

static void test_no_more_calls_than_the_limit(void **state)
{
	static const struct grpc_limits limits = {1000, 2, 0};
	struct grpc_reply reply;
	struct asked a, b, c = {0};

	(void)state;
	reopen(&limits);
	ask(&a, 0);
	ask(&b, 0);
	reply = asked_reply(&c);
	assert_null(grpc_start(h->conn, "/t.T/Get", NULL, 0, 0, &reply, 1000));
	assert_false(grpc_is_closing(h->conn));
	grpc_cancel(b.call);
	h2_flush(h);
	ask(&c, 0);
}

static void test_keepalive(void **state)
{
	static const struct grpc_limits limits = {1000, 10, 500};
	struct asked a;

	(void)state;
	reopen(&limits);
	h2_flush(h);
	h->now_ms += 100000; /* idle: nothing to prove */
	assert_true(grpc_deadline(h->conn) == UINT64_MAX);
	ask(&a, 0);
	assert_int_equal(h2_tick(h, 0), 0);
	assert_int_equal(h->n_pings, 0);
	assert_int_equal(h2_tick(h, 500), 0);
	assert_int_equal(h->n_pings, 1);
	assert_int_equal(h2_tick(h, 500), -ETIMEDOUT);
	assert_int_equal(a.n_ends, 0);
	grpc_conn_free(h->conn);
	h->conn = NULL;
	assert_end(&a, GRPC_UNAVAILABLE, "no answer to a PING for 500 ms");
}

/* --- the connection ------------------------------------------------------------------------- */

static void test_goaway(void **state)
{
	struct asked a, b, c = {0};
	struct grpc_reply reply = asked_reply(&c);

	(void)state;
	ask(&a, 0);
	ask(&b, 0);
	h2_frame(h, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\0", 8);
	assert_int_equal(h2_flush(h), 0);
	assert_true(grpc_is_closing(h->conn));
	assert_false(grpc_is_done(h->conn));
	assert_null(grpc_start(h->conn, "/t.T/Get", NULL, 0, 0, &reply, 1000));
	assert_end(&b, GRPC_UNAVAILABLE, "the peer ended the connection before the call");
	assert_int_equal(a.n_ends, 0);
	answer_head(1);
	answer_end(1);
	h2_flush(h);
	assert_end(&a, GRPC_OK, "");
	assert_true(grpc_is_done(h->conn));
}

static void test_goaway_with_a_reason(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 0);
	h2_frame(h, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\x0btoo_many_pings", 22);
	h2_flush(h);
	grpc_conn_free(h->conn);
	h->conn = NULL;
	assert_end(&a, GRPC_UNAVAILABLE,
		   "the peer ended the connection: ENHANCE_YOUR_CALM too_many_pings");
}

/* Calls that wait for their turn when the GOAWAY comes. */
static void test_goaway_before_the_request_is_sent(void **state)
{
	struct asked a = {0};
	struct grpc_reply reply = asked_reply(&a);
	const uint8_t *bytes;
	static const uint8_t goaway[] = {0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

	(void)state;
	h2_flush(h);
	assert_non_null(grpc_start(h->conn, "/t.T/Get", NULL, 0, 0, &reply, 1000));
	assert_int_equal(grpc_feed(h->conn, goaway, sizeof(goaway), 1000, NULL), 0);
	grpc_take(h->conn, &bytes);
	if (grpc_deadline(h->conn) == 0)
		grpc_tick(h->conn, 1000, NULL);
	assert_end(&a, GRPC_UNAVAILABLE, "the peer ended the connection before the call");
	while (grpc_take(h->conn, &bytes) > 0)
		;
	assert_true(grpc_is_done(h->conn));
}

static void test_free_ends_calls(void **state)
{
	struct asked a, b;

	(void)state;
	ask(&a, 0);
	ask(&b, 1000);
	answer_head(3);
	h2_flush(h);
	grpc_conn_free(h->conn);
	h->conn = NULL;
	assert_end(&a, GRPC_UNAVAILABLE, "the connection ended");
	assert_end(&b, GRPC_UNAVAILABLE, "the connection ended");
}

static void test_http1(void **state)
{
	static const char answer[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
	struct asked a;

	(void)state;
	for (size_t step = 1; step < sizeof(answer); step += sizeof(answer) / 2) {
		h2_done(h);
		open_client(NULL);
		h->n_out = 0;
		ask(&a, 0);
		for (size_t i = 0; i < sizeof(answer) - 1 && h->r == 0; i += step) {
			h2_bytes(h, answer + i,
				 i + step < sizeof(answer) ? step : sizeof(answer) - 1 - i);
			h2_flush(h);
		}
		assert_int_equal(h->r, -EPROTO);
		assert_string_equal(h->err.msg, "the peer speaks HTTP/1, not gRPC");
		grpc_conn_free(h->conn);
		h->conn = NULL;
		assert_end(&a, GRPC_UNAVAILABLE, "the peer speaks HTTP/1, not gRPC");
	}
}

static void test_protocol_errors(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *text;
	} rows[] = {
		{"\0\0\1\0\0\0\0\0\2x", 10, "PROTOCOL_ERROR"}, /* DATA on a stream of its own */
		{"\0\0\4\5\4\0\0\0\1\0\0\0\2", 13, "PROTOCOL_ERROR"}, /* PUSH_PROMISE */
		{"Hello world", 11, "does not speak HTTP/2"},
		{"\0\0\1\6\0\0\0\0\0x", 10, "FRAME_SIZE_ERROR"},
	};
	struct asked a;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		reopen(NULL);
		if (i == 2)
			h->n_out = 0;
		else
			h2_frame(h, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
		ask(&a, 0);
		h2_bytes(h, rows[i].bytes, rows[i].len);
		if (h2_flush(h) != -EPROTO)
			fail_msg("row %zu is taken", i);
		assert_non_null(strstr(h->err.msg, rows[i].text));
		grpc_conn_free(h->conn);
		h->conn = NULL;
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
	answer_head(1);
	h2_message(h, 1, 0, "hello", 5, 5);
	h2_message(h, 1, 0, "hello", 5, 5);
	answer_end(1);
	n = h->n_out;
	assert_true(n < sizeof(bytes));
	memcpy(bytes, h->out, n);
	for (size_t len = 0; len <= n; len++) {
		reopen(NULL);
		h->n_out = 0;
		ask(&a, 0);
		h2_bytes(h, bytes, len);
		assert_int_equal(h2_flush(h), 0);
		assert_int_equal(a.n_ends, len == n);
		grpc_conn_free(h->conn);
		h->conn = NULL;
		assert_int_equal(a.n_ends, 1);
		assert_int_equal(a.status, len == n ? GRPC_OK : GRPC_UNAVAILABLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, setup, teardown)
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

	return cmocka_run_group_tests(tests, NULL, NULL);
}
