// SPDX-License-Identifier: Apache-2.0
/* Raw requests that our gRPC server answers or rejects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_peer.h"
#include "test_group.h"

/* --- answered --------------------------------------------------------------------------------- */

static void test_answers(void **state)
{
	(void)state;
	assert_alive(1);
	assert_string_equal(raw_service.path, "/t.T/Echo");
	assert_false(raw->answers[1].is_reset);
	assert_int_equal(raw->n_settings, 1);
	assert_int_equal(raw->n_settings_acks, 1);
}

static void test_status_alone(void **state)
{
	(void)state;
	raw_service.fail.status = GRPC_NOT_FOUND;
	raw_service.fail.text = "100 %: caf\xc3\xa9";
	h2_request(raw, 1, "/t.T/Fail");
	h2_message(raw, 1, END, "", 0, 0);
	h2_flush(raw);
	assert_answer(1, "200", GRPC_NOT_FOUND, "100 %25: caf%C3%A9");
	assert_int_equal(raw->answers[1].n_data, 0);
}

static void test_end_in_an_empty_frame(void **state)
{
	(void)state;
	h2_request(raw, 1, "/t.T/Echo");
	h2_message(raw, 1, 0, "ab", 2, 2);
	h2_flush(raw);
	assert_int_equal(raw_service.n_requests, 0);
	h2_frame(raw, NGHTTP2_DATA, END, 1, NULL, 0);
	h2_flush(raw);
	assert_answer(1, "200", GRPC_OK, "");
}

static void test_message_in_pieces_and_padding(void **state)
{
	const uint8_t padded[] = {3, 0, 0, 0, 0, 4, 'a', 'b', 0, 0, 0};

	(void)state;
	h2_request(raw, 1, "/t.T/Echo");
	h2_frame(raw, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, padded, sizeof(padded));
	h2_frame(raw, NGHTTP2_DATA, 0, 1, "c", 1);
	h2_frame(raw, NGHTTP2_DATA, END, 1, "d", 1);
	h2_flush(raw);
	assert_answer(1, "200", GRPC_OK, "");
	assert_int_equal(raw_service.len, 4);
}

static void test_request_trailers(void **state)
{
	(void)state;
	h2_request(raw, 1, "/t.T/Echo");
	h2_message(raw, 1, 0, "ab", 2, 2);
	h2_headers(raw, 1, END, "x-checksum", "1", NULL);
	h2_flush(raw);
	assert_answer(1, "200", GRPC_OK, "");
	/* Trailers have to end the request. */
	h2_request(raw, 3, "/t.T/Echo");
	h2_message(raw, 3, 0, "ab", 2, 2);
	h2_headers(raw, 3, 0, "x-checksum", "1", NULL);
	h2_flush(raw);
	assert_true(raw->answers[3].is_reset);
	assert_int_equal(raw->answers[3].reset_code, NGHTTP2_PROTOCOL_ERROR);
	assert_alive(5);
}

static void test_any_authority(void **state)
{
	static const char *const authorities[] = {"/var/lib/kubelet/device-plugins/x.sock", "",
						  "a b", "\xff\x01", "%2Fvar%2Flib"};
	int32_t stream = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(authorities) / sizeof(authorities[0]); i++, stream += 2) {
		h2_headers(raw, stream, 0, ":method", "POST", ":scheme", "http", ":path",
			   "/t.T/Echo", ":authority", authorities[i], "content-type",
			   "application/grpc+proto", "host", authorities[i], NULL);
		h2_message(raw, stream, END, "ab", 2, 2);
		h2_flush(raw);
		assert_answer(stream, "200", GRPC_OK, "");
	}
	/* :authority, :scheme and te are optional. */
	h2_headers(raw, stream, 0, ":method", "POST", ":path", "/t.T/Echo", "content-type",
		   "application/grpc;charset=utf-8", NULL);
	h2_message(raw, stream, END, "ab", 2, 2);
	h2_flush(raw);
	assert_answer(stream, "200", GRPC_OK, "");
}

/* --- rejected --------------------------------------------------------------------------------- */

static void test_content_type(void **state)
{
	static const char *const types[] = {"text/plain",	 "application/grpc-web",
					    "application/gr",	 "",
					    "application/grpcx", "application/json"};
	int32_t stream = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++, stream += 2) {
		h2_headers(raw, stream, END, ":method", "POST", ":scheme", "http", ":path",
			   "/t.T/Echo", "content-type", types[i], NULL);
		h2_flush(raw);
		assert_answer(stream, "415", GRPC_INTERNAL,
			      "the content-type is not application/grpc");
		assert_false(raw->answers[stream].is_reset);
	}
	h2_headers(raw, stream, END, ":method", "POST", ":path", "/t.T/Echo", NULL);
	h2_flush(raw);
	assert_string_equal(raw->answers[stream].http, "415");
	assert_int_equal(raw_service.n_requests, 0);
}

static void test_method(void **state)
{
	(void)state;
	h2_headers(raw, 1, END, ":method", "GET", ":scheme", "http", ":path", "/t.T/Echo",
		   "content-type", "application/grpc", NULL);
	h2_headers(raw, 3, END, ":path", "/t.T/Echo", "content-type", "application/grpc", NULL);
	h2_flush(raw);
	assert_answer(1, "405", GRPC_INTERNAL, "gRPC calls are made with POST");
	assert_string_equal(raw->answers[1].allow, "POST");
	assert_string_equal(raw->answers[3].http, "405");
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
		h2_request(raw, stream, paths[i]);
		h2_message(raw, stream, END, "", 0, 0);
		h2_flush(raw);
		assert_answer(stream, "200", GRPC_UNIMPLEMENTED,
			      "the path is not /package.Service/Method");
	}
	h2_headers(raw, stream, END, ":method", "POST", "content-type", "application/grpc", NULL);
	h2_flush(raw);
	assert_string_equal(raw->answers[stream].grpc, "12");
	assert_int_equal(raw_service.n_requests, 0);
	h2_request(raw, stream + 2, "/t.T/Unknown");
	h2_message(raw, stream + 2, END, "", 0, 0);
	h2_flush(raw);
	assert_answer(stream + 2, "200", GRPC_UNIMPLEMENTED, "unknown method");
	assert_int_equal(raw_service.n_requests, 1);
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
		h2_headers(raw, stream, 0, ":method", "POST", ":path", "/t.T/Echo", "content-type",
			   "application/grpc", fields[i][0], fields[i][1], NULL);
		h2_message(raw, stream, END, "", 0, 0);
		h2_flush(raw);
		assert_int_equal(raw->r, 0);
		assert_true(raw->answers[stream].is_reset);
		assert_int_equal(raw->answers[stream].reset_code, NGHTTP2_PROTOCOL_ERROR);
		assert_false(raw->answers[stream].has_headers);
	}
	assert_int_equal(raw_service.n_requests, 0);
	assert_alive(stream);
}

static void test_messages(void **state)
{
	(void)state;
	h2_request(raw, 1, "/t.T/Echo"); /* no message */
	h2_frame(raw, NGHTTP2_DATA, END, 1, NULL, 0);
	h2_request(raw, 3, "/t.T/Echo"); /* half a prefix */
	h2_frame(raw, NGHTTP2_DATA, END, 3, "\0\0\0", 3);
	h2_request(raw, 5, "/t.T/Echo"); /* half a message */
	h2_message(raw, 5, END, "abc", 3, 6);
	h2_request(raw, 7, "/t.T/Echo"); /* two messages */
	h2_message(raw, 7, 0, "abc", 3, 3);
	h2_message(raw, 7, END, "abc", 3, 3);
	h2_request(raw, 9, "/t.T/Echo"); /* garbage after the message */
	h2_message(raw, 9, END, "abcd", 4, 3);
	h2_request(raw, 11, "/t.T/Echo"); /* no valid prefix */
	h2_frame(raw, NGHTTP2_DATA, END, 11, "\2\0\0\0\0", 5);
	h2_request(raw, 13, "/t.T/Echo"); /* compressed */
	h2_frame(raw, NGHTTP2_DATA, END, 13, "\1\0\0\0\1x", 6);
	h2_headers(raw, 15, END, ":method", "POST", ":path", "/t.T/Echo", "content-type",
		   "application/grpc", NULL);
	h2_flush(raw);
	assert_answer(1, "200", GRPC_UNIMPLEMENTED, "no message in the request");
	assert_answer(3, "200", GRPC_INTERNAL, "the request ends within its message");
	assert_answer(5, "200", GRPC_INTERNAL, "the request ends within its message");
	assert_answer(7, "200", GRPC_UNIMPLEMENTED, "more than one message in the request");
	assert_answer(9, "200", GRPC_UNIMPLEMENTED, "more than one message in the request");
	assert_answer(11, "200", GRPC_INTERNAL, "the request is not a gRPC message");
	assert_answer(13, "200", GRPC_UNIMPLEMENTED,
		      "the request is compressed, which is not supported");
	assert_answer(15, "200", GRPC_UNIMPLEMENTED, "no message in the request");
	assert_int_equal(raw_service.n_requests, 0);
	assert_alive(17);
}

static void test_refused_before_it_is_complete(void **state)
{
	(void)state;
	h2_request(raw, 1, "/t.T/Echo");
	h2_message(raw, 1, 0, "abc", 3, 5u << 20);
	h2_flush(raw);
	assert_answer(1, "200", GRPC_RESOURCE_EXHAUSTED,
		      "the request is larger than 4194304 bytes");
	/* The rest of the request is discarded. */
	assert_true(raw->answers[1].is_reset);
	assert_int_equal(raw->answers[1].reset_code, NGHTTP2_NO_ERROR);
	h2_frame(raw, NGHTTP2_DATA, END, 1, "late", 4);
	assert_int_equal(h2_flush(raw), 0);
	assert_alive(3);
}

static void test_unfinished_requests_share_memory(void **state)
{
	static const struct grpc_limits limits = {.max_message = 8000, .max_calls = 100};
	char bytes[8000] = {0};
	unsigned n_refused = 0;

	(void)state;
	raw_server_reopen(&limits);
	for (int32_t stream = 1; stream < 40; stream += 2) {
		h2_request(raw, stream, "/t.T/Echo");
		h2_message(raw, stream, 0, bytes, 7000, 8000);
	}
	h2_flush(raw);
	for (int32_t stream = 1; stream < 40; stream += 2)
		n_refused += raw->answers[stream].is_ended;
	/* unfinished requests may use the memory of four whole messages */
	assert_int_equal(n_refused, 16);
	assert_answer(9, "200", GRPC_RESOURCE_EXHAUSTED, "out of memory for the request");
	for (int32_t stream = 1; stream < 9; stream += 2)
		h2_frame(raw, NGHTTP2_DATA, END, stream, bytes, 1000);
	h2_u32(raw, NGHTTP2_WINDOW_UPDATE, 0, 100000);
	h2_flush(raw);
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
	h2_headers(raw, 1, 0, ":method", "POST", ":path", "/t.T/Echo", "content-type",
		   "application/grpc", "x-a", value, NULL);
	h2_message(raw, 1, END, "", 0, 0);
	h2_flush(raw);
	assert_answer(1, "200", GRPC_OK, "");
	h2_headers(raw, 3, 0, ":method", "POST", ":path", "/t.T/Echo", "content-type",
		   "application/grpc", "x-a", value, "x-b", value, NULL);
	h2_flush(raw);
	assert_answer(3, "200", GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
	h2_request(raw, 5, "/t.T/Echo");
	h2_message(raw, 5, 0, "", 0, 0);
	h2_headers(raw, 5, END, "x-a", value, "x-b", value, NULL);
	h2_flush(raw);
	assert_answer(5, "200", GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
	assert_alive(7);
	free(value);
}

TEST_GROUP(grpc_server)
{
	const struct CMUnitTest tests[] = {
#define TEST(x) cmocka_unit_test_setup_teardown(x, raw_server_setup, raw_server_teardown)
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
	};

	return test_group_run(tests, NULL, NULL);
}
