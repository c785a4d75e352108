// SPDX-License-Identifier: Apache-2.0
/* The network configuration on standard input, and its version. */
#include "shim_config.h"

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

/* Loads a text; *ret is the configuration, or NULL with the code of the error. */
static int config_load(const char *text, json_t **ret, struct shim_error *e)
{
	AUTO_FREE char *copy = strdup(text);

	*ret = NULL;
	*e = (struct shim_error){0};
	shim_config_load(ret, copy, strlen(copy), e);
	return (int)e->code;
}

static void test_documents(void **state)
{
	const struct {
		const char *text;
		int code;
	} rows[] = {
		{"{\"name\": \"x\"}", 0},
		{"{\"name\": \"a-b_c.9\"}", 0},
		{"", SHIM_DECODE},
		{"[]", SHIM_DECODE},
		{"null", SHIM_DECODE},
		{"{\"name\": \"x\"", SHIM_DECODE},
		{"{\"name\": \"x\"} y", SHIM_DECODE},
		{"\xff\xfe", SHIM_DECODE},
		{"{\"name\": 1}", SHIM_DECODE},
		{"{}", SHIM_CONFIG},
		{"{\"name\": \"\"}", SHIM_CONFIG},
		{"{\"name\": null}", SHIM_CONFIG},
		{"{\"name\": \"te%%st\"}", SHIM_CONFIG},
		{"{\"name\": \"-a\"}", SHIM_CONFIG},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shim_error e;
		json_t *config;
		int code = config_load(rows[i].text, &config, &e);

		if (code != rows[i].code)
			fail_msg("%s: code %d (%s)", rows[i].text, code, e.msg);
		assert_int_equal(config != NULL, code == 0);
		json_decref(config);
	}
}

/* jansson rejects a document with a number that no C type can hold, under any key. */
static void test_numbers_out_of_range(void **state)
{
	const struct {
		const char *number;
		double wanted;
	} rows[] = {
		{"18446744073709551615", 9223372036854775807.0},
		{"-18446744073709551615", -9223372036854775807.0},
		{"9223372036854775807", 9223372036854775807.0},
		{"1e400", 9e307},
		{"-1E309", -9e307},
		{"1.5", 1.5},
		{"1e-400", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[200];
		struct shim_error e;
		json_t *config;

		snprintf(text, sizeof(text),
			 "{\"name\": \"x\", \"a\": [%s], \"b\": \"1e400 \\\" 1e400\"}",
			 rows[i].number);
		assert_int_equal(config_load(text, &config, &e), 0);
		assert_true(json_number_value(json_array_get(json_object_get(config, "a"), 0)) ==
			    rows[i].wanted);
		assert_string_equal(json_string_value(json_object_get(config, "b")),
				    "1e400 \" 1e400");
		json_decref(config);
	}
}

/* The error code for a verb with this version. version: as JSON, NULL = absent. */
static int version_code(const char *version, enum shim_verb verb, struct shim_error *e)
{
	json_t *config = json_object();
	json_t *value = version ? json_loads(version, JSON_DECODE_ANY, NULL) : NULL;

	*e = (struct shim_error){0};
	if (value)
		json_object_set_new(config, "cniVersion", value);
	shim_config_check_version(config, verb, e);
	json_decref(config);
	return (int)e->code;
}

static void test_versions_of_verbs(void **state)
{
	const struct {
		const char *version;
		enum shim_verb verb;
		int code;
		const char *msg;
	} rows[] = {
		{NULL, SHIM_ADD, 0, ""},
		{"null", SHIM_DEL, 0, ""},
		{"\"\"", SHIM_ADD, 0, ""},
		{"\"1.1.0\"", SHIM_GC, 0, ""},
		{"\"0.4.0\"", SHIM_CHECK, 0, ""},
		{"4", SHIM_ADD, SHIM_DECODE, "not a string"},
		{"\"4.3.2\"", SHIM_ADD, SHIM_VERSION, "incompatible CNI versions"},
		{"\"1.0\"", SHIM_DEL, SHIM_VERSION, "incompatible CNI versions"},
		{"\"adsfsadf\"", SHIM_ADD, SHIM_VERSION, "incompatible CNI versions"},
		{"\"0.3.1\"", SHIM_CHECK, SHIM_VERSION, "config version does not allow CHECK"},
		{NULL, SHIM_CHECK, SHIM_VERSION, "config version does not allow CHECK"},
		{"\"9.0.0\"", SHIM_CHECK, SHIM_VERSION, "plugin version does not allow CHECK"},
		{"\"1.1.1\"", SHIM_GC, SHIM_VERSION, "plugin version does not allow GC"},
		{"\"adsfsadf\"", SHIM_CHECK, SHIM_DECODE, "failed to parse"},
		{"\"1.0.0\"", SHIM_GC, SHIM_VERSION, "config version does not allow GC"},
		{"\"0.4.0\"", SHIM_STATUS, SHIM_VERSION, "config version does not allow STATUS"},
		{"\"1..0\"", SHIM_STATUS, SHIM_DECODE, "failed to parse"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shim_error e;
		int code = version_code(rows[i].version, rows[i].verb, &e);

		if (code != rows[i].code || !strstr(e.msg, rows[i].msg))
			fail_msg("row %zu: code %d (%s)", i, code, e.msg);
	}
}

static void test_supported_versions(void **state)
{
	struct shim_error e;

	(void)state;
	assert_int_equal(version_code("\"2.0.0\"", SHIM_ADD, &e), SHIM_VERSION);
	assert_string_equal(e.details,
			    "config is \"2.0.0\", plugin supports [\"0.1.0\" \"0.2.0\" \"0.3.0\" "
			    "\"0.3.1\" \"0.4.0\" \"1.0.0\" \"1.1.0\"]");
	assert_true(shim_version_reaches("0.3.1", 0, 3));
	assert_true(shim_version_reaches("1.0.0", 0, 4));
	assert_false(shim_version_reaches("0.2.0", 0, 3));
	assert_false(shim_version_reaches("1.0.0", 1, 1));
}

TEST_GROUP(shim_config)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_numbers_out_of_range),
		cmocka_unit_test(test_versions_of_verbs),
		cmocka_unit_test(test_supported_versions),
	};

	return test_group_run(tests, NULL, NULL);
}
