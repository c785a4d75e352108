// SPDX-License-Identifier: Apache-2.0
/* gRPC's encoding of header fields, and the meaning of its status codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grpc_internal.h"
#include "test_group.h"

static void assert_encodes(const char *text, const char *wanted)
{
	char *s = grpc_percent_encode(text);

	assert_string_equal(s, wanted);
	free(s);
}

static void assert_decodes_n(const char *bytes, size_t len, const char *wanted)
{
	char *copy = malloc(len ? len : 1), *s;

	/* a copy of exactly this size, so that sanitizers find a read past its end */
	memcpy(copy, bytes, len);
	s = grpc_percent_decode(copy, len);
	assert_string_equal(s, wanted);
	free(s);
	free(copy);
}

static void assert_decodes(const char *bytes, const char *wanted)
{
	assert_decodes_n(bytes, strlen(bytes), wanted);
}

#define REPLACEMENT "\xef\xbf\xbd"

static void test_encode(void **state)
{
	(void)state;
	assert_encodes("", "");
	assert_encodes("plain ~text!", "plain ~text!");
	assert_encodes("100%", "100%25");
	assert_encodes("a\n\x7f\tb", "a%0A%7F%09b");
	assert_encodes("\xe2\x82\xac", "%E2%82%AC");
	assert_encodes("\xff", "%FF");
}

/* Long texts are cut at a character. */
static void test_encode_long(void **state)
{
	char text[3000], *s;
	size_t n = GRPC_TEXT_MAX - 1;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	s = grpc_percent_encode(text);
	assert_int_equal(strlen(s), GRPC_TEXT_MAX);
	free(s);
	memcpy(text + n, "\xe2\x82\xac", 3);
	s = grpc_percent_encode(text);
	assert_int_equal(strlen(s), n);
	free(s);
}

static void test_decode(void **state)
{
	(void)state;
	assert_decodes("", "");
	assert_decodes("plain", "plain");
	assert_decodes("%E2%82%ac %41", "\xe2\x82\xac A");
	assert_decodes("\xe2\x82\xac", "\xe2\x82\xac"); /* not encoded, but valid */
	assert_decodes("%", "%");
	assert_decodes("%4", "%4");
	assert_decodes("%4x%zz%%41", "%4x%zz%A");
	assert_decodes("a%FFb", "a" REPLACEMENT "b");
	assert_decodes("%E2%82", REPLACEMENT REPLACEMENT);
	assert_decodes("%00a", REPLACEMENT "a");
	assert_decodes_n("a\0b", 3, "a" REPLACEMENT "b");
	assert_decodes("%ED%A0%80", REPLACEMENT REPLACEMENT REPLACEMENT); /* a surrogate */
	assert_decodes("\xff\xff\xff\xff\xff\xff",
		       REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT);
}

static void test_text_there_and_back(void **state)
{
	char text[128];
	char *encoded;

	(void)state;
	for (int i = 1; i < 128; i++)
		text[i - 1] = (char)i;
	text[127] = '\0';
	encoded = grpc_percent_encode(text);
	assert_decodes(encoded, text);
	free(encoded);
}

static void test_parse_timeout(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} rows[] = {{"1H", 3600000},
		    {"2M", 120000},
		    {"3S", 3000},
		    {"4m", 4},
		    {"5u", 1},
		    {"5000u", 5},
		    {"5001u", 6},
		    {"1n", 1},
		    {"1000000n", 1},
		    {"1000001n", 2},
		    {"0S", 0},
		    {"00000001S", 1000},
		    {"99999999H", 359999996400000},
		    {"99999999n", 100}};
	static const char *const wrong[] = {"",	   "S",	  "1",	 "1h",	"1s", "123456789S",
					    "+1S", "-1S", "1 S", "1SS", "S1", "1.0S"};
	uint64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(grpc_parse_timeout(rows[i].text, strlen(rows[i].text), &ms));
		assert_true(ms == rows[i].ms);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ms = 77;
		assert_false(grpc_parse_timeout(wrong[i], strlen(wrong[i]), &ms));
		assert_true(ms == 77);
	}
}

static void test_format_timeout(void **state)
{
	static const struct {
		uint32_t ms;
		const char *text;
	} rows[] = {{1, "1m"},
		    {10000, "10000m"},
		    {99999999, "99999999m"},
		    {100000000, "100000S"},
		    {100000001, "100001S"},
		    {UINT32_MAX, "4294968S"}};
	char text[16];
	uint64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		grpc_format_timeout(rows[i].ms, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
		assert_true(grpc_parse_timeout(text, strlen(text), &ms));
		assert_true(ms >= rows[i].ms && ms < (uint64_t)rows[i].ms + 1000);
	}
}

static void test_status_names(void **state)
{
	(void)state;
	assert_string_equal(grpc_status_name(GRPC_OK), "OK");
	assert_string_equal(grpc_status_name(GRPC_UNAUTHENTICATED), "UNAUTHENTICATED");
	assert_string_equal(grpc_status_name((enum grpc_status)17), "UNKNOWN");
	assert_string_equal(grpc_status_name((enum grpc_status) - 1), "UNKNOWN");
}

static void test_statuses_of_errnos(void **state)
{
	(void)state;
	assert_int_equal(grpc_status_of_errno(0), GRPC_OK);
	assert_int_equal(grpc_status_of_errno(-ENOMEM), GRPC_RESOURCE_EXHAUSTED);
	assert_int_equal(grpc_status_of_errno(-ENODEV), GRPC_NOT_FOUND);
	assert_int_equal(grpc_status_of_errno(-EDOM), GRPC_UNKNOWN);
}

static void test_parse_status(void **state)
{
	(void)state;
	assert_int_equal(grpc_parse_status("0", 1), 0);
	assert_int_equal(grpc_parse_status("16", 2), 16);
	assert_int_equal(grpc_parse_status("17", 2), GRPC_UNKNOWN);
	assert_int_equal(grpc_parse_status("", 0), -1);
	assert_int_equal(grpc_parse_status("1 ", 2), -1);
	assert_int_equal(grpc_parse_status("-1", 2), -1);
	assert_int_equal(grpc_parse_status("4294967296", 10), -1);
}

TEST_GROUP(grpc_text)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encode),	      cmocka_unit_test(test_encode_long),
		cmocka_unit_test(test_decode),	      cmocka_unit_test(test_text_there_and_back),
		cmocka_unit_test(test_parse_timeout), cmocka_unit_test(test_format_timeout),
		cmocka_unit_test(test_status_names),  cmocka_unit_test(test_statuses_of_errnos),
		cmocka_unit_test(test_parse_status),
	};

	return test_group_run(tests, NULL, NULL);
}
