// SPDX-License-Identifier: Apache-2.0
/* The errors that the CNI plugin prints. */
#include "shim_io.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "test_group.h"

static void check_text(struct shim_error *e, const char *wanted)
{
	AUTO_FREE char *text = shim_error_text(e);
	json_t *is = json_loads(text, 0, NULL), *to_be = json_loads(wanted, 0, NULL);

	assert_non_null(to_be);
	if (!json_equal(is, to_be))
		fail_msg("%s", text);
	json_decref(is);
	json_decref(to_be);
}

static void test_objects(void **state)
{
	struct shim_error e;

	(void)state;
	assert_int_equal(shim_fail(&e, SHIM_NETNS, "%s is none", "/x"), -EPROTO);
	check_text(&e, "{\"code\": 8, \"msg\": \"/x is none\"}");
	assert_int_equal(shim_details(&e, "a%d", 1), -EPROTO);
	shim_details(&e, "; b");
	check_text(&e, "{\"code\": 8, \"msg\": \"/x is none\", \"details\": \"a1; b\"}");
	shim_fail(&e, SHIM_INTERNAL, "again");
	check_text(&e, "{\"code\": 999, \"msg\": \"again\"}");
	shim_fail(&e, SHIM_INTERNAL, "%s", "");
	check_text(&e, "{\"code\": 999, \"msg\": \"unknown error\"}");
}

/* containerd treats a DEL with such an error as successful. */
static void test_phrases_that_runtimes_treat_as_success(void **state)
{
	const char *const said[] = {
		"link not found",
		"Not Found",
		"open x: no such file or directory",
		"NO SUCH FILE OR DIRECTORY not found",
		"a\nnot found",
		"\not found",
		"nonot foundt found",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		struct shim_error e = {.code = SHIM_LATER};

		shim_details(&e, "%s", said[i]);
		snprintf(e.msg, sizeof(e.msg), "%s", said[i]);
		{
			AUTO_FREE char *text = shim_error_text(&e);

			assert_null(strcasestr(text, "no such file or directory"));
			if (strcasestr(text, "not found"))
				fail_msg("%s", text);
		}
	}
}

static void test_other_bytes(void **state)
{
	struct shim_error e;
	AUTO_FREE char *text = NULL;
	json_t *doc;

	(void)state;
	shim_fail(&e, SHIM_ENV,
		  "a\xff\x01"
		  "b");
	text = shim_error_text(&e);
	doc = json_loads(text, 0, NULL);
	assert_non_null(json_string_value(json_object_get(doc, "msg")));
	json_decref(doc);
}

/* Cut off, and still a valid object. */
static void test_long_texts(void **state)
{
	struct shim_error e;
	AUTO_FREE char *text = NULL;
	json_t *doc;

	(void)state;
	shim_fail(&e, SHIM_ENV, "%5000d", 1);
	for (int i = 0; i < 300; i++)
		shim_details(&e, "0123456789");
	text = shim_error_text(&e);
	doc = json_loads(text, 0, NULL);
	assert_int_equal(json_string_length(json_object_get(doc, "msg")), sizeof(e.msg) - 1);
	assert_int_equal(json_string_length(json_object_get(doc, "details")),
			 sizeof(e.details) - 1);
	json_decref(doc);
}

static void test_names_of_errors(void **state)
{
	(void)state;
	assert_string_equal(shim_errno(-ENOENT), "ENOENT");
	assert_string_equal(shim_errno(EACCES), "EACCES");
	assert_string_equal(shim_errno(-123456), "unknown error");
}

TEST_GROUP(shim_error)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_phrases_that_runtimes_treat_as_success),
		cmocka_unit_test(test_other_bytes),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_names_of_errors),
	};

	return test_group_run(tests, NULL, NULL);
}
