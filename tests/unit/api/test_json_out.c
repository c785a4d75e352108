// SPDX-License-Identifier: Apache-2.0
/* JSON written member by member: a parser reads the same values. */
#include "json_out.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

static void assert_out(struct json_out *o, const char *expected)
{
	json_t *parsed;

	assert_false(o->text.failed);
	assert_int_equal(o->text.len, strlen(expected));
	assert_memory_equal(o->text.data, expected, o->text.len);
	parsed = json_loadb(o->text.data, o->text.len, JSON_DECODE_ANY, NULL);
	assert_non_null(parsed);
	json_decref(parsed);
	text_done(&o->text);
}

static void members_are_separated_by_commas(void **state)
{
	struct json_out o = {0};
	(void)state;

	json_out_open(&o, NULL, '{');
	json_out_open(&o, "rows", '[');
	json_out_open(&o, NULL, '{');
	json_out_number(&o, "n", 0);
	json_out_number(&o, "max", INT64_MAX);
	json_out_close(&o, '}');
	json_out_open(&o, NULL, '{');
	json_out_close(&o, '}');
	json_out_null(&o, NULL);
	json_out_close(&o, ']');
	json_out_bool(&o, "yes", true);
	json_out_bool(&o, "no", false);
	json_out_close(&o, '}');
	assert_out(&o, "{\"rows\":[{\"n\":0,\"max\":9223372036854775807},{},null],"
		       "\"yes\":true,\"no\":false}");
}

static void any_text_is_a_string(void **state)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{"", "null"},
		{"mlx5_0", "\"mlx5_0\""},
		{"a \"b\" \\c", "\"a \\\"b\\\" \\\\c\""},
		{"line\n\ttab\x01", "\"line\\n\\ttab\\u0001\""},
		{"caf\xc3\xa9", "\"caf\xc3\xa9\""},
		{"x\xff", "\"x\xef\xbf\xbd\""},
		{"\x7f", "\"\x7f\""},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_out o = {0};

		json_out_text(&o, NULL, cases[i].text);
		assert_out(&o, cases[i].json);
	}
}

static void numbers_have_four_digits(void **state)
{
	static const struct {
		double v;
		const char *json;
	} cases[] = {
		{0, "0"},	  {-0.0, "0"},	  {0.1 + 0.2, "0.3"},	 {123456789, "1.235e+08"},
		{1e-12, "1e-12"}, {4e9, "4e+09"}, {(double)NAN, "null"}, {(double)INFINITY, "null"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_out o = {0};

		json_out_real(&o, NULL, cases[i].v);
		assert_out(&o, cases[i].json);
	}
}

TEST_GROUP(json_out)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_separated_by_commas),
		cmocka_unit_test(any_text_is_a_string),
		cmocka_unit_test(numbers_have_four_digits),
	};

	return test_group_run(tests, NULL, NULL);
}
