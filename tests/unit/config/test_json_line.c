// SPDX-License-Identifier: Apache-2.0
/* Finds the line of a value in a JSON text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config_json.h"
#include "test_group.h"

/* path: such as "a/2/b", in which digits are indices. */
static unsigned line(const char *text, const char *path)
{
	struct json_place steps[20];
	char copy[128], *rest = copy, *word;
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((word = strsep(&rest, "/")) != NULL) {
		bool index = *word >= '0' && *word <= '9';

		steps[n] = (struct json_place){n ? &steps[n - 1] : NULL, index ? NULL : word,
					       index ? (size_t)(*word - '0') : 0};
		n++;
	}
	return json_line(text, strlen(text), &steps[n - 1]);
}

static void test_each_occurrence_has_its_own_line(void **state)
{
	const char *text = "{\n \"a\": 1,\n \"list\": [\n  {\"a\": 2},\n  {\n   \"a\": [\n    "
			   "10,\n    20]\n  }\n ]\n}";
	(void)state;

	assert_int_equal(line(text, "a"), 2);
	assert_int_equal(line(text, "list"), 3);
	assert_int_equal(line(text, "list/0"), 4);
	assert_int_equal(line(text, "list/0/a"), 4);
	assert_int_equal(line(text, "list/1"), 5);
	assert_int_equal(line(text, "list/1/a"), 6);
	assert_int_equal(line(text, "list/1/a/0"), 7);
	assert_int_equal(line(text, "list/1/a/1"), 8);
	assert_int_equal(json_line(text, strlen(text), NULL), 1);
}

static void test_keys_inside_strings_are_skipped(void **state)
{
	(void)state;
	assert_int_equal(line("{\"x\":\"}],{\\\"k\\\":1\",\n\"k\":2}", "k"), 2);
	assert_int_equal(line("{\"x\":\"\\\\\",\n\"k\":2}", "k"), 2);
	assert_int_equal(line("{\"x\":[\"]\",\"\\\"]\"],\n\"k\":2}", "k"), 2);
	assert_int_equal(line("{\"k\\u0032\":1,\n\"\\u006b\":2}", "k"), 2);
	assert_int_equal(line("{\"x\":{\"k\":1,\"y\":{}},\n\"k\":2}", "k"), 2);
	assert_int_equal(line("[[],\n{},\n\"\",\n-1.5e3,\ntrue,\n{\"k\":\n0}]", "5/k"), 6);
	assert_int_equal(line("\n\n{\n\"k\"\n:\n1}", "k"), 4);
}

static void test_the_line_of_a_path_that_does_not_exist(void **state)
{
	(void)state;
	assert_int_equal(line("{\n\"a\":{\n\"b\":1}}", "a/c"), 2);
	assert_int_equal(line("{\n\"a\":[1]}", "a/4"), 2);
	assert_int_equal(line("{\n\"a\":[1]}", "a/b"), 2);
	assert_int_equal(line("{}", "a"), 0);
	assert_int_equal(line("", "a"), 0);
	assert_int_equal(line("{\"a", "a"), 0);
	assert_int_equal(line("{\"a\\", "a"), 0);
	assert_int_equal(line("{\"a\":[[[[", "a/1"), 1);
	assert_int_equal(line("{\"b\":1", "a"), 0);
	assert_int_equal(line("{\"a\":1}", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a"), 0);
}

static void test_deep_nesting_costs_no_stack(void **state)
{
	static char text[4 * 1024 * 1024];
	size_t half = sizeof(text) / 2 - 16;
	struct json_place list = {NULL, NULL, 1};
	(void)state;

	text[0] = '[';
	memset(text + 1, '[', half);
	memset(text + 1 + half, ']', half);
	strcpy(text + 1 + 2 * half, ",\n1]");
	assert_int_equal(json_line(text, strlen(text), &list), 2);
}

TEST_GROUP(json_line)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_occurrence_has_its_own_line),
		cmocka_unit_test(test_keys_inside_strings_are_skipped),
		cmocka_unit_test(test_the_line_of_a_path_that_does_not_exist),
		cmocka_unit_test(test_deep_nesting_costs_no_stack),
	};

	return test_group_run(tests, NULL, NULL);
}
