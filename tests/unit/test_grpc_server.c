/* Our gRPC server against requests written by hand: odd, broken and hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grpc_pair.h"
#include "h2_raw.h"

static struct h2_raw *h;
static struct service service;

#define END NGHTTP2_FLAG_END_STREAM

static void open_server(const struct grpc_limits *limits)
{
	struct grpc_service hooks = service_hooks(&service);
	struct grpc_conn *conn;

	service = (struct service){0};
	assert_int_equal(grpc_server_new(&conn, limits, &hooks, 1000), 0);
	h2_open(h, conn);
	h2_hello_client(h, 0);
}

static int setup(void **state)
{
	(void)state;
	h = calloc(1, sizeof(*h));
	open_server(NULL);
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
	open_server(limits);
}

static void assert_answer(int32_t stream, const char *http, enum grpc_status status,
			  const char *message)
{
	const struct h2_answer *a = &h->answers[stream];
	char number[8];

	snprintf(number, sizeof(number), "%d", (int)status);
	assert_true(a->is_ended);
	assert_string_equal(a->http, http);
	assert_string_equal(a->grpc, number);
	assert_string_equal(a->message, message);
}

/* The connection still serves. */
static void assert_alive(int32_t stream)
{
	h2_request(h, stream, "/t.T/Echo");
	h2_message(h, stream, END, "ping", 4, 4);
	assert_int_equal(h2_flush(h), 0);
	assert_answer(stream, "200", GRPC_OK, "");
	assert_int_equal(h->answers[stream].n_data, 9);
}

static void assert_lost(int code, const char *text)
{
	assert_int_equal(h->r, code);
	if (!strstr(h->err.msg, text))
		fail_msg("\"%s\" is not in \"%s\"", text, h->err.msg);
	assert_true(grpc_is_closing(h->conn));
	assert_true(grpc_deadline(h->conn) == UINT64_MAX);
	/* It stays lost. */
	assert_int_equal(grpc_feed(h->conn, (const uint8_t *)"x", 1, h->now_ms, NULL), code);
	assert_int_equal(grpc_tick(h->conn, h->now_ms, NULL), code);
}

/* --- what is answered ----------------------------------------------------------------------- */

static void test_answers(void **state)
{
	(void)state;
	assert_alive(1);
	assert_string_equal(service.path, "/t.T/Echo");
	assert_false(h->answers[1].is_reset);
	assert_int_equal(h->n_settings, 1);
	assert_int_equal(h->n_settings_acks, 1);
}

static void test_status_alone(void **state)
{
	(void)state;
	service.fail.status = GRPC_NOT_FOUND;
	service.fail.text = "100 %: caf\xc3\xa9";
	h2_request(h, 1, "/t.T/Fail");
	h2_message(h, 1, END, "", 0, 0);
	h2_flush(h);
	assert_answer(1, "200", GRPC_NOT_FOUND, "100 %25: caf%C3%A9");
	assert_int_equal(h->answers[1].n_data, 0);
}

static void test_end_in_an_empty_frame(void **state)
{
	(void)state;
	h2_request(h, 1, "/t.T/Echo");
	h2_message(h, 1, 0, "ab", 2, 2);
	h2_flush(h);
	assert_int_equal(service.n_requests, 0);
	h2_frame(h, NGHTTP2_DATA, END, 1, NULL, 0);
	h2_flush(h);
	assert_answer(1, "200", GRPC_OK, "");
}

static void test_message_in_pieces_and_padding(void **state)
{
	const uint8_t padded[] = {3, 0, 0, 0, 0, 4, 'a', 'b', 0, 0, 0};

	(void)state;
	h2_request(h, 1, "/t.T/Echo");
	h2_frame(h, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, padded, sizeof(padded));
	h2_frame(h, NGHTTP2_DATA, 0, 1, "c", 1);
	h2_frame(h, NGHTTP2_DATA, END, 1, "d", 1);
	h2_flush(h);
	assert_answer(1, "200", GRPC_OK, "");
	assert_int_equal(service.len, 4);
}

static void test_request_trailers(void **state)
{
	(void)state;
	h2_request(h, 1, "/t.T/Echo");
	h2_message(h, 1, 0, "ab", 2, 2);
	h2_headers(h, 1, END, "x-checksum", "1", NULL);
	h2_flush(h);
	assert_answer(1, "200", GRPC_OK, "");
	/* Trailers that do not end the request are none. */
	h2_request(h, 3, "/t.T/Echo");
	h2_message(h, 3, 0, "ab", 2, 2);
	h2_headers(h, 3, 0, "x-checksum", "1", NULL);
	h2_flush(h);
	assert_true(h->answers[3].is_reset);
	assert_int_equal(h->answers[3].reset_code, NGHTTP2_PROTOCOL_ERROR);
	assert_alive(5);
}

static void test_any_authority(void **state)
{
	static const char *const authorities[] = {"/var/lib/kubelet/device-plugins/x.sock", "",
						  "a b", "\xff\x01", "%2Fvar%2Flib"};
	int32_t stream = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(authorities) / sizeof(authorities[0]); i++, stream += 2) {
		h2_headers(h, stream, 0, ":method", "POST", ":scheme", "http", ":path", "/t.T/Echo",
			   ":authority", authorities[i], "content-type", "application/grpc+proto",
			   "host", authorities[i], NULL);
		h2_message(h, stream, END, "ab", 2, 2);
		h2_flush(h);
		assert_answer(stream, "200", GRPC_OK, "");
	}
	/* Neither :authority nor :scheme nor te. */
	h2_headers(h, stream, 0, ":method", "POST", ":path", "/t.T/Echo", "content-type",
		   "application/grpc;charset=utf-8", NULL);
	h2_message(h, stream, END, "ab", 2, 2);
	h2_flush(h);
	assert_answer(stream, "200", GRPC_OK, "");
}

/* --- what is refused ------------------------------------------------------------------------ */

static void test_content_type(void **state)
{
	static const char *const types[] = {"text/plain",	 "application/grpc-web",
					    "application/gr",	 "",
					    "application/grpcx", "application/json"};
	int32_t stream = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++, stream += 2) {
		h2_headers(h, stream, END, ":method", "POST", ":scheme", "http", ":path",
			   "/t.T/Echo", "content-type", types[i], NULL);
		h2_flush(h);
		assert_answer(stream, "415", GRPC_INTERNAL,
			      "the content-type is not application/grpc");
		assert_false(h->answers[stream].is_reset);
	}
	h2_headers(h, stream, END, ":method", "POST", ":path", "/t.T/Echo", NULL);
	h2_flush(h);
	assert_string_equal(h->answers[stream].http, "415");
	assert_int_equal(service.n_requests, 0);
}

static void test_method(void **state)
{
	(void)state;
	h2_headers(h, 1, END, ":method", "GET", ":scheme", "http", ":path", "/t.T/Echo",
		   "content-type", "application/grpc", NULL);
	h2_headers(h, 3, END, ":path", "/t.T/Echo", "content-type", "application/grpc", NULL);
	h2_flush(h);
	assert_answer(1, "405", GRPC_INTERNAL, "gRPC calls are made with POST");
	assert_string_equal(h->answers[1].allow, "POST");
	assert_string_equal(h->answers[3].http, "405");
	assert_alive(5);
}

static void test_path(void **state)
{
	static const char *const paths[] = {"",		"/",	    "//",      "x",
					    "*",	"/t.T",	    "/t.T/",   "//Echo",
					    "t.T/Echo", "/t.T/E o", "/\x01/b", "/t.T/\x7f"};
	int32_t stream = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++, stream += 2) {
		h2_request(h, stream, paths[i]);
		h2_message(h, stream, END, "", 0, 0);
		h2_flush(h);
		assert_answer(stream, "200", GRPC_UNIMPLEMENTED,
			      "the path is not /package.Service/Method");
	}
	h2_headers(h, stream, END, ":method", "POST", "content-type", "application/grpc", NULL);
	h2_flush(h);
	assert_string_equal(h->answers[stream].grpc, "12");
	assert_int_equal(service.n_requests, 0);
	h2_request(h, stream + 2, "/t.T/Unknown");
	h2_message(h, stream + 2, END, "", 0, 0);
	h2_flush(h);
	assert_answer(stream + 2, "200", GRPC_UNIMPLEMENTED, "unknown method");
	assert_int_equal(service.n_requests, 1);
}

static void test_malformed_headers(void **state)
{
	static const char *const fields[][2] = {{"X-Upper", "1"},	{"", "1"},
						{"connection", "x"},	{"transfer-encoding", "x"},
						{":path", "/t.T/Echo"}, {":status", "200"},
						{"a b", "1"},		{"a\x7f", "1"},
						{"upgrade", "h2c"},	{"a:b", "1"}};
	int32_t stream = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++, stream += 2) {
		h2_headers(h, stream, 0, ":method", "POST", ":path", "/t.T/Echo", "content-type",
			   "application/grpc", fields[i][0], fields[i][1], NULL);
		h2_message(h, stream, END, "", 0, 0);
		h2_flush(h);
		assert_int_equal(h->r, 0);
		assert_true(h->answers[stream].is_reset);
		assert_int_equal(h->answers[stream].reset_code, NGHTTP2_PROTOCOL_ERROR);
		assert_false(h->answers[stream].has_headers);
	}
	assert_int_equal(service.n_requests, 0);
	assert_alive(stream);
}

static void test_messages(void **state)
{
	(void)state;
	h2_request(h, 1, "/t.T/Echo"); /* nothing */
	h2_frame(h, NGHTTP2_DATA, END, 1, NULL, 0);
	h2_request(h, 3, "/t.T/Echo"); /* half a prefix */
	h2_frame(h, NGHTTP2_DATA, END, 3, "\0\0\0", 3);
	h2_request(h, 5, "/t.T/Echo"); /* half a message */
	h2_message(h, 5, END, "abc", 3, 6);
	h2_request(h, 7, "/t.T/Echo"); /* two messages */
	h2_message(h, 7, 0, "abc", 3, 3);
	h2_message(h, 7, END, "abc", 3, 3);
	h2_request(h, 9, "/t.T/Echo"); /* garbage behind it */
	h2_message(h, 9, END, "abcd", 4, 3);
	h2_request(h, 11, "/t.T/Echo"); /* not a prefix */
	h2_frame(h, NGHTTP2_DATA, END, 11, "\2\0\0\0\0", 5);
	h2_request(h, 13, "/t.T/Echo"); /* compressed */
	h2_frame(h, NGHTTP2_DATA, END, 13, "\1\0\0\0\1x", 6);
	h2_headers(h, 15, END, ":method", "POST", ":path", "/t.T/Echo", "content-type",
		   "application/grpc", NULL);
	h2_flush(h);
	assert_answer(1, "200", GRPC_UNIMPLEMENTED, "no message in the request");
	assert_answer(3, "200", GRPC_INTERNAL, "the request ends within its message");
	assert_answer(5, "200", GRPC_INTERNAL, "the request ends within its message");
	assert_answer(7, "200", GRPC_UNIMPLEMENTED, "more than one message in the request");
	assert_answer(9, "200", GRPC_UNIMPLEMENTED, "more than one message in the request");
	assert_answer(11, "200", GRPC_INTERNAL, "the request is not a gRPC message");
	assert_answer(13, "200", GRPC_UNIMPLEMENTED,
		      "the request is compressed, which is not supported");
	assert_answer(15, "200", GRPC_UNIMPLEMENTED, "no message in the request");
	assert_int_equal(service.n_requests, 0);
	assert_alive(17);
}

static void test_refused_before_it_is_complete(void **state)
{
	(void)state;
	h2_request(h, 1, "/t.T/Echo");
	h2_message(h, 1, 0, "abc", 3, 5u << 20);
	h2_flush(h);
	assert_answer(1, "200", GRPC_RESOURCE_EXHAUSTED,
		      "the request is larger than 4194304 bytes");
	/* Nothing of it is wanted any more. */
	assert_true(h->answers[1].is_reset);
	assert_int_equal(h->answers[1].reset_code, NGHTTP2_NO_ERROR);
	h2_frame(h, NGHTTP2_DATA, END, 1, "late", 4);
	assert_int_equal(h2_flush(h), 0);
	assert_alive(3);
}

static void test_unfinished_requests_share_memory(void **state)
{
	static const struct grpc_limits limits = {.max_message = 8000, .max_calls = 100};
	char bytes[8000] = {0};
	unsigned n_refused = 0;

	(void)state;
	reopen(&limits);
	for (int32_t stream = 1; stream < 40; stream += 2) {
		h2_request(h, stream, "/t.T/Echo");
		h2_message(h, stream, 0, bytes, 7000, 8000);
	}
	h2_flush(h);
	for (int32_t stream = 1; stream < 40; stream += 2)
		n_refused += h->answers[stream].is_ended;
	assert_int_equal(n_refused, 16); /* four whole messages may be under way */
	assert_answer(9, "200", GRPC_RESOURCE_EXHAUSTED, "out of memory for the request");
	for (int32_t stream = 1; stream < 9; stream += 2)
		h2_frame(h, NGHTTP2_DATA, END, stream, bytes, 1000);
	h2_u32(h, NGHTTP2_WINDOW_UPDATE, 0, 100000);
	h2_flush(h);
	for (int32_t stream = 1; stream < 9; stream += 2)
		assert_answer(stream, "200", GRPC_OK, "");
	assert_alive(41);
}

static void test_large_header_list(void **state)
{
	char *value = malloc(15001);

	(void)state;
	memset(value, 'v', 15000);
	value[15000] = '\0';
	h2_headers(h, 1, 0, ":method", "POST", ":path", "/t.T/Echo", "content-type",
		   "application/grpc", "x-a", value, NULL);
	h2_message(h, 1, END, "", 0, 0);
	h2_flush(h);
	assert_answer(1, "200", GRPC_OK, "");
	h2_headers(h, 3, 0, ":method", "POST", ":path", "/t.T/Echo", "content-type",
		   "application/grpc", "x-a", value, "x-b", value, NULL);
	h2_flush(h);
	assert_answer(3, "200", GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
	h2_request(h, 5, "/t.T/Echo");
	h2_message(h, 5, 0, "", 0, 0);
	h2_headers(h, 5, END, "x-a", value, "x-b", value, NULL);
	h2_flush(h);
	assert_answer(5, "200", GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
	assert_alive(7);
	free(value);
}

/* --- time ----------------------------------------------------------------------------------- */

static void ask_hold(int32_t stream, const char *timeout)
{
	h2_headers(h, stream, 0, ":method", "POST", ":path", "/t.T/Hold", "content-type",
		   "application/grpc", "grpc-timeout", timeout, NULL);
	h2_message(h, stream, END, "", 0, 0);
	assert_int_equal(h2_flush(h), 0);
}

static void test_timeout(void **state)
{
	(void)state;
	ask_hold(1, "250m");
	assert_true(grpc_deadline(h->conn) == 1250);
	h2_tick(h, 249);
	assert_false(h->answers[1].has_headers);
	h2_tick(h, 1);
	assert_answer(1, "200", GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_int_equal(service.n_cancels, 1);
	assert_true(grpc_deadline(h->conn) == UINT64_MAX);
	assert_alive(3);
}

static void test_timeout_of_nothing(void **state)
{
	(void)state;
	ask_hold(1, "0n");
	assert_true(grpc_deadline(h->conn) == 1000);
	h2_tick(h, 0);
	assert_answer(1, "200", GRPC_DEADLINE_EXCEEDED, "the deadline passed");
}

static void test_timeout_of_unfinished_request(void **state)
{
	(void)state;
	h2_headers(h, 1, 0, ":method", "POST", ":path", "/t.T/Hold", "content-type",
		   "application/grpc", "grpc-timeout", "1S", NULL);
	h2_flush(h);
	h2_tick(h, 1000);
	assert_answer(1, "200", GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_int_equal(service.n_requests + service.n_cancels, 0);
	assert_true(h->answers[1].is_reset);
}

static void test_malformed_timeouts(void **state)
{
	static const char *const timeouts[] = {"",	     "S",   "1",   "1s",   "-1S",
					       "123456789S", "1 S", " 1S", "1.5S", "0x1S"};
	int32_t stream = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++, stream += 2) {
		ask_hold(stream, timeouts[i]);
		assert_answer(stream, "200", GRPC_INTERNAL, "malformed grpc-timeout");
	}
	assert_int_equal(service.n_requests, 0);
}

/* A window that stays shut holds the answer back until the deadline. */
static void test_timeout_of_answer_held_back(void **state)
{
	(void)state;
	reopen(NULL);
	h->n_out = 0;
	h2_hello_client(h, 10);
	service.stream.n = 2;
	service.stream.size = 100;
	h2_headers(h, 1, 0, ":method", "POST", ":path", "/t.T/Stream", "content-type",
		   "application/grpc", "grpc-timeout", "1S", NULL);
	h2_message(h, 1, END, "", 0, 0);
	h2_flush(h);
	assert_int_equal(h->answers[1].n_data, 10);
	h2_tick(h, 1000);
	assert_true(h->answers[1].is_reset);
	assert_int_equal(h->answers[1].reset_code, NGHTTP2_CANCEL);
	assert_int_equal(service.n_cancels, 0); /* he had said his last word */
}

/* Messages that have not begun are dropped for the status. */
static void test_timeout_between_messages(void **state)
{
	(void)state;
	reopen(NULL);
	h->n_out = 0;
	h2_hello_client(h, 15);
	ask_hold(1, "1S");
	grpc_send(service.held, (const uint8_t *)"0123456789", 10);
	grpc_send(service.held, (const uint8_t *)"0123456789", 10);
	h2_flush(h);
	assert_int_equal(h->answers[1].n_data, 15);
	assert_int_equal(grpc_backlog(service.held), 15);
	h2_tick(h, 1000);
	assert_answer(1, "200", GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	assert_int_equal(h->answers[1].n_data, 15);
	assert_int_equal(service.n_cancels, 1);
	/* ... but one that has begun cannot be taken back. */
	ask_hold(3, "1S");
	grpc_send(service.held, (const uint8_t *)"0123456789abcdef", 16);
	h2_flush(h);
	h2_tick(h, 1000);
	assert_true(h->answers[3].is_reset);
	assert_int_equal(service.n_cancels, 2);
}

static void test_keepalive(void **state)
{
	static const struct grpc_limits limits = {1000, 10, 500};

	(void)state;
	reopen(&limits);
	h2_flush(h);
	assert_true(grpc_deadline(h->conn) == UINT64_MAX); /* nobody waits for anything */
	ask_hold(1, "1H");
	assert_true(grpc_deadline(h->conn) == 1500);
	assert_int_equal(h2_tick(h, 500), 0);
	assert_int_equal(h->n_pings, 1);
	assert_true(grpc_deadline(h->conn) == 2000);
	h->now_ms += 400;
	h2_frame(h, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "\0\0\0\0\0\0\0\0", 8);
	assert_int_equal(h2_flush(h), 0);
	assert_int_equal(h2_tick(h, 500), 0);
	assert_int_equal(h->n_pings, 2);
	assert_int_equal(h2_tick(h, 499), 0);
	assert_int_equal(h2_tick(h, 1), -ETIMEDOUT);
	assert_lost(-ETIMEDOUT, "no answer to a PING for 500 ms");
	assert_int_equal(service.n_cancels, 0);
	grpc_conn_free(h->conn);
	h->conn = NULL;
	assert_int_equal(service.n_cancels, 1);
}

/* --- calls that are taken back -------------------------------------------------------------- */

static void test_cancel(void **state)
{
	(void)state;
	ask_hold(1, "1H");
	assert_non_null(service.held);
	h2_u32(h, NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
	h2_flush(h);
	assert_int_equal(service.n_cancels, 1);
	assert_null(service.held);
	assert_alive(3);
}

/* The owner of one call is active in the same breath in which another is taken back. */
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
	h2_done(h);
	cancelled = NULL;
	assert_int_equal(grpc_server_new(&conn, NULL, &hooks, 1000), 0);
	h2_open(h, conn);
	h2_hello_client(h, 0);
	h2_request(h, 1, "/t.T/Hold");
	h2_message(h, 1, END, "", 0, 0);
	h2_u32(h, NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
	h2_request(h, 3, "/t.T/Hold");
	h2_message(h, 3, END, "x", 1, 1);
	assert_int_equal(h2_flush(h), 0);
	assert_answer(3, "200", GRPC_OK, "");
	assert_false(h->answers[1].has_headers);
}

static void test_cancel_with_data_waiting(void **state)
{
	(void)state;
	service.stream.n = 100;
	service.stream.size = 10000;
	h2_request(h, 1, "/t.T/Stream");
	h2_message(h, 1, END, "", 0, 0);
	h2_flush(h);
	assert_int_equal(h->answers[1].n_data, 65535);
	h2_u32(h, NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
	h2_u32(h, NGHTTP2_WINDOW_UPDATE, 0, 1000000);
	h2_flush(h);
	assert_int_equal(h->answers[1].n_data, 65535);
	assert_int_equal(service.n_cancels, 0);
	assert_alive(3);
}

static void test_rapid_reset(void **state)
{
	unsigned n = 0;

	(void)state;
	for (int32_t stream = 1; h->r == 0 && n < 5000; stream += 2, n++) {
		h2_request(h, stream, "/t.T/Echo");
		h2_u32(h, NGHTTP2_RST_STREAM, stream, NGHTTP2_CANCEL);
		h2_flush(h);
	}
	assert_in_range(n, 900, 1500);
	assert_lost(-EPROTO, "HTTP/2 failed");
	assert_true(h->has_goaway);
}

/* --- floods --------------------------------------------------------------------------------- */

/* Feeds without ever reading what is answered. */
static int feed_deaf(void)
{
	size_t n = h->n_out;

	h->n_out = 0;
	h->r = grpc_feed(h->conn, h->out, n, h->now_ms, &h->err);
	return h->r;
}

static void test_flood(uint8_t type, size_t len)
{
	unsigned i;

	for (i = 0; i < 1000000; i++) {
		h2_frame(h, type, 0, 0, "\0\0\0\0\0\0\0\0", len);
		if (feed_deaf() < 0)
			break;
	}
	/* 64 KiB are ready to be taken, a thousand wait behind them. */
	assert_in_range(i, 1000, 10000);
	assert_int_equal(h->r, -EPROTO);
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
	reopen(&limits);
	for (int32_t stream = 1; n < 100000; stream += 2, n++) {
		h2_request(h, stream, "/t.T/Hold");
		if (feed_deaf() < 0)
			break;
	}
	assert_in_range(n, 3, 10000);
	assert_int_equal(h->r, -EPROTO);
}

static void test_continuation_flood(void **state)
{
	unsigned i;

	(void)state;
	h2_frame(h, NGHTTP2_HEADERS, 0, 1, "\0\1a\1b", 5);
	for (i = 0; i < 100000 && h2_flush(h) == 0; i++)
		h2_frame(h, NGHTTP2_CONTINUATION, 0, 1, "\0\1a\1b", 5);
	assert_in_range(i, 2, 3000);
	assert_true(h->r < 0);
}

/* One field refers to a large one in the table, many times: a few bytes become megabytes. */
static void test_header_bomb(void **state)
{
	uint8_t block[16000];
	size_t n = 0;

	(void)state;
	block[n++] = 0x40; /* literal, indexed, new name */
	block[n++] = 1;
	block[n++] = 'a';
	block[n++] = 127; /* 127 + 0x80 * 30 + 1 */
	block[n++] = 0x81;
	block[n++] = 30 - 1;
	memset(block + n, 'v', 127 + 1 + 128 * 29);
	n += 127 + 1 + 128 * 29;
	memset(block + n, 0x80 | 62, sizeof(block) - n); /* the newest entry, again and again */
	h2_frame(h, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, block, sizeof(block));
	h2_flush(h);
	assert_true(h->r < 0 || h->answers[1].is_ended || h->answers[1].is_reset);
	assert_int_equal(service.n_requests, 0);
}

static void test_too_many_calls(void **state)
{
	static const struct grpc_limits limits = {1000, 2, 0};

	(void)state;
	reopen(&limits);
	/* Before the limit can be known it is told, ... */
	for (int32_t stream = 1; stream <= 5; stream += 2)
		h2_request(h, stream, "/t.T/Hold");
	assert_int_equal(h2_flush(h), 0);
	assert_false(h->answers[1].is_reset);
	assert_true(h->answers[5].is_reset);
	assert_int_equal(h->answers[5].reset_code, NGHTTP2_REFUSED_STREAM);
	/* ... afterwards it is the peer's fault. */
	h2_frame(h, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
	h2_request(h, 7, "/t.T/Hold");
	h2_flush(h);
	assert_lost(-EPROTO, "HTTP/2 failed");
}

/* --- the connection ------------------------------------------------------------------------- */

static void test_ping_is_answered(void **state)
{
	(void)state;
	h2_frame(h, NGHTTP2_PING, 0, 0, "probing!", 8);
	assert_int_equal(h2_flush(h), 0);
	assert_int_equal(h->n_ping_acks, 1);
}

static void test_small_window(void **state)
{
	(void)state;
	reopen(NULL);
	h->n_out = 0;
	h2_hello_client(h, 1);
	service.stream.n = 1;
	service.stream.size = 1000;
	h2_request(h, 1, "/t.T/Stream");
	h2_message(h, 1, END, "", 0, 0);
	h2_flush(h);
	for (size_t i = 1; i < 1005; i++) {
		assert_int_equal(h->answers[1].n_data, i);
		assert_false(h->answers[1].is_ended);
		h2_u32(h, NGHTTP2_WINDOW_UPDATE, 1, 1);
		h2_flush(h);
	}
	assert_answer(1, "200", GRPC_OK, "");
}

static void test_large_message_through_a_small_window(void **state)
{
	const size_t size = (3u << 20) + 5;
	unsigned rounds = 0;

	(void)state;
	reopen(NULL);
	h->n_out = 0;
	h2_hello_client(h, 997);
	service.stream.n = 1;
	service.stream.size = size - 5;
	h2_request(h, 1, "/t.T/Stream");
	h2_message(h, 1, END, "", 0, 0);
	for (h2_flush(h); !h->answers[1].is_ended && rounds < 4000; rounds++) {
		h2_u32(h, NGHTTP2_WINDOW_UPDATE, 1, 997);
		h2_u32(h, NGHTTP2_WINDOW_UPDATE, 0, 997);
		h2_flush(h);
	}
	assert_answer(1, "200", GRPC_OK, "");
	assert_int_equal(h->answers[1].n_data, size);
	assert_int_equal(rounds, size / 997);
}

/* A window that the peer shrinks below zero while data is under way: RFC 9113 section 6.9.2. */
static void test_window_below_zero(void **state)
{
	static const uint8_t none[] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0, 0, 0, 0};

	(void)state;
	service.stream.n = 2;
	service.stream.size = 40000;
	h2_request(h, 1, "/t.T/Stream");
	h2_message(h, 1, END, "", 0, 0);
	h2_flush(h);
	assert_int_equal(h->answers[1].n_data, 65535);
	h2_frame(h, NGHTTP2_SETTINGS, 0, 0, none, sizeof(none));
	h2_u32(h, NGHTTP2_WINDOW_UPDATE, 0, 100000);
	h2_u32(h, NGHTTP2_WINDOW_UPDATE, 1, 65535);
	h2_flush(h);
	assert_int_equal(h->answers[1].n_data, 65535);
	h2_u32(h, NGHTTP2_WINDOW_UPDATE, 1, 100000);
	h2_flush(h);
	assert_int_equal(h->answers[1].n_data, 80010);
	assert_answer(1, "200", GRPC_OK, "");
}

static void test_shutdown(void **state)
{
	(void)state;
	ask_hold(1, "1H");
	grpc_shutdown(h->conn);
	grpc_shutdown(h->conn);
	assert_true(grpc_is_closing(h->conn));
	h2_request(h, 3, "/t.T/Echo"); /* has not heard of it */
	h2_message(h, 3, END, "", 0, 0);
	h2_flush(h);
	assert_true(h->has_goaway);
	assert_int_equal(h->goaway_code, NGHTTP2_NO_ERROR);
	assert_true(h->answers[3].is_reset);
	assert_int_equal(h->answers[3].reset_code, NGHTTP2_REFUSED_STREAM);
	h2_request(h, 5, "/t.T/Echo"); /* should have */
	h2_message(h, 5, END, "", 0, 0);
	assert_int_equal(h2_flush(h), 0);
	assert_int_equal(service.n_requests, 1);
	assert_false(grpc_is_done(h->conn));
	grpc_finish(service.held, GRPC_OK, NULL);
	assert_false(grpc_is_done(h->conn));
	h2_flush(h);
	assert_answer(1, "200", GRPC_OK, "");
	assert_true(grpc_is_done(h->conn));
}

static void test_shutdown_of_a_silent_connection(void **state)
{
	(void)state;
	assert_false(grpc_is_done(h->conn));
	grpc_shutdown(h->conn);
	assert_false(grpc_is_done(h->conn));
	h->n_out = 0;
	h2_flush(h);
	assert_true(h->has_goaway);
	assert_true(grpc_is_done(h->conn));
}

static void test_goaway_of_the_client(void **state)
{
	(void)state;
	ask_hold(1, "1H");
	h2_frame(h, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
	assert_int_equal(h2_flush(h), 0);
	assert_true(grpc_is_closing(h->conn));
	assert_false(grpc_is_done(h->conn));
	grpc_finish(service.held, GRPC_OK, NULL);
	h2_flush(h);
	assert_answer(1, "200", GRPC_OK, "");
	assert_true(grpc_is_done(h->conn));
}

static void test_http1(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

	(void)state;
	for (size_t step = 1; step < sizeof(request); step += sizeof(request) / 2) {
		reopen(NULL);
		h->n_out = 0;
		h->r = 0;
		for (size_t i = 0; i < sizeof(request) - 1 && h->r == 0; i += step) {
			h2_bytes(h, request + i,
				 i + step < sizeof(request) ? step : sizeof(request) - 1 - i);
			h2_flush(h);
		}
		assert_lost(-EPROTO, "the peer speaks HTTP/1, not gRPC");
		assert_memory_equal(h->pending, "HTTP/1.1 505 ", 13);
		assert_true(grpc_is_done(h->conn));
	}
}

static void test_not_http2(void **state)
{
	static const char *const greetings[] = {"\x16\x03\x01\x02", "hello", "{}", "PRI * HTTP/3",
						"ABCDEFGHIJKLMNOPQRSTUVW"};

	(void)state;
	for (size_t i = 0; i < sizeof(greetings) / sizeof(greetings[0]); i++) {
		reopen(NULL);
		h->n_out = 0;
		h2_bytes(h, greetings[i], strlen(greetings[i]));
		h2_flush(h);
		assert_lost(-EPROTO, i == 3 ? "HTTP/1" : "the peer does not speak HTTP/2");
	}
}

static void test_protocol_errors(void **state)
{
	(void)state;
	h2_frame(h, NGHTTP2_DATA, 0, 1, "x", 1); /* no such stream */
	h2_flush(h);
	assert_lost(-EPROTO, "PROTOCOL_ERROR");
	assert_true(h->has_goaway);
	assert_true(grpc_is_done(h->conn));

	reopen(NULL);
	h2_frame(h, NGHTTP2_PING, 0, 0, "x", 1);
	h2_flush(h);
	assert_lost(-EPROTO, "FRAME_SIZE_ERROR");

	reopen(NULL);
	h2_bytes(h, "\xff\xff\xff\x01\x04\x00\x00\x00\x01", 9); /* a frame of 16 MiB */
	h2_flush(h);
	assert_lost(-EPROTO, "FRAME_SIZE_ERROR");

	reopen(NULL);
	h2_frame(h, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\xff\xff\xff\xff\xff", 5);
	h2_flush(h);
	assert_lost(-EPROTO, "COMPRESSION_ERROR");

	reopen(NULL);
	h2_request(h, 1, "/t.T/Hold");
	h2_u32(h, NGHTTP2_WINDOW_UPDATE, 0, 0x7fffffff);
	h2_flush(h);
	assert_lost(-EPROTO, "FLOW_CONTROL_ERROR");
}

/* Everything up to any byte, then the end. */
static void test_every_truncation(void **state)
{
	uint8_t bytes[2000];
	size_t n;

	(void)state;
	h2_request(h, 1, "/t.T/Echo");
	h2_message(h, 1, END, "hello", 5, 5);
	h2_request(h, 3, "/t.T/Hold");
	h2_message(h, 3, END, "hello", 5, 5);
	h2_frame(h, NGHTTP2_PING, 0, 0, "probing!", 8);
	h2_u32(h, NGHTTP2_RST_STREAM, 3, NGHTTP2_CANCEL);
	n = h->n_out;
	assert_true(n < sizeof(bytes));
	memcpy(bytes, h->out, n);
	for (size_t len = 0; len <= n; len++) {
		reopen(NULL);
		h->n_out = 0;
		h2_bytes(h, bytes, len);
		assert_int_equal(h2_flush(h), 0);
		if (service.held)
			assert_int_equal(service.n_cancels, 0);
		grpc_conn_free(h->conn);
		h->conn = NULL;
		assert_int_equal(service.n_requests - service.n_cancels, service.n_requests > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, setup, teardown)
		TEST(test_answers),
		TEST(test_status_alone),
		TEST(test_end_in_an_empty_frame),
		TEST(test_message_in_pieces_and_padding),
		TEST(test_request_trailers),
		TEST(test_any_authority),
		TEST(test_content_type),
		TEST(test_method),
		TEST(test_path),
		TEST(test_malformed_headers),
		TEST(test_messages),
		TEST(test_refused_before_it_is_complete),
		TEST(test_unfinished_requests_share_memory),
		TEST(test_large_header_list),
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

	return cmocka_run_group_tests(tests, NULL, NULL);
}
