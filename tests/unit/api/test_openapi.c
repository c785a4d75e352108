// SPDX-License-Identifier: Apache-2.0
/* The API's description is complete, and the copy in docs/ is identical. */
#include "openapi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "route.h"
#include "schema.h"
#include "schema_about.h"
#include "test_group.h"

static void print_openapi(FILE *f)
{
	size_t len;
	char *text = openapi_text(&len);
	json_t *document = text ? json_loads(text, 0, NULL) : NULL;

	assert_non_null(document);
	json_dumpf(document, f, JSON_INDENT(1));
	fputc('\n', f);
	json_decref(document);
	free(text);
}

static void test_openapi(void **state)
{
	(void)state;
	assert_golden("docs/reference/openapi.json", print_openapi);
}

/* Every reference points to an existing object. */
static void assert_known(const json_t *schemas, const json_t *value)
{
	static const char before[] = "#/components/schemas/";
	const char *key, *text;
	json_t *member;
	size_t i;

	json_object_foreach ((json_t *)value, key, member) {
		text = strcmp(key, "$ref") == 0 ? json_string_value(member) : NULL;
		if (text && !json_object_get(schemas, text + strlen(before)))
			fail_msg("there is no %s", text);
		assert_known(schemas, member);
	}
	json_array_foreach ((json_t *)value, i, member) {
		assert_known(schemas, member);
	}
}

static void test_every_schema_is_complete(void **state)
{
	const struct schema_object *object;
	json_t *schemas = json_object();
	const struct route *table;
	size_t n;

	(void)state;
	for (size_t i = 0; (object = schema_object(i)); i++) {
		json_t *schema = schema_of_object(object);

		if (!schema)
			fail_msg("%s cannot be read", object->name);
		assert_null(json_object_get(schemas, object->name));
		json_object_set_new(schemas, object->name, schema);
	}
	assert_known(schemas, schemas);
	table = routes_table(&n);
	for (size_t i = 0; i < n; i++) {
		json_t *schema = table[i].type ? schema_of_type(table[i].type) : NULL;

		assert_int_equal(schema != NULL, route_is_api(&table[i]));
		assert_known(schemas, schema);
		json_decref(schema);
	}
	json_decref(schemas);
}

/* Every member is described, and every description has a member. */
static void test_every_member_is_described(void **state)
{
	const struct schema_object *object;
	const struct schema_about *row;
	json_t *used = json_object(), *member;
	const char *name;

	(void)state;
	for (size_t i = 0; (object = schema_object(i)); i++) {
		json_t *schema = schema_of_object(object);

		json_object_foreach (json_object_get(schema, "properties"), name, member) {
			const struct schema_about *about = schema_about(object->name, name);

			if (!about || !json_object_get(member, "description"))
				fail_msg("%s.%s is not described", object->name, name);
			json_object_set_new(used, about->member, json_true());
		}
		json_decref(schema);
	}
	for (size_t i = 0; (row = schema_about_row(i)); i++)
		if (!json_object_get(used, row->member))
			fail_msg("no document has %s", row->member);
	json_decref(used);
}

/* A generator of clients needs a name for each operation, and the possible words. */
static void test_operations(void **state)
{
	size_t len;
	char *text = openapi_text(&len);
	json_t *document = text ? json_loads(text, 0, NULL) : NULL, *path, *seen = json_object();
	const char *name;

	(void)state;
	assert_non_null(document);
	json_object_foreach (json_object_get(document, "paths"), name, path) {
		const json_t *get = json_object_get(path, "get");
		const char *id = json_string_value(json_object_get(get, "operationId"));

		assert_non_null(id);
		assert_null(json_object_get(seen, id));
		json_object_set_new(seen, id, json_true());
	}
	assert_non_null(json_object_get(seen, "getDiagnosisSample"));
	assert_non_null(json_object_get(seen, "getIndex"));
	assert_non_null(json_object_get(seen, "getOpenapi"));
	assert_int_equal(json_array_size(json_object_get(document, "servers")), 1);
	assert_non_null(strstr(text, "\"enum\":[\"info\",\"warning\",\"critical\"]"));
	assert_non_null(strstr(text, "\"enum\":[\"unknown\",\"no\",\"yes\"]"));
	json_decref(seen);
	json_decref(document);
	free(text);
}

/* A client learns how to authenticate, and what it does not find here. */
static void test_access(void **state)
{
	static const char *const schemes[] = {"token", "password"};
	size_t len;
	char *text = openapi_text(&len);
	json_t *document = text ? json_loads(text, 0, NULL) : NULL, *either;
	const json_t *defined = json_object_get(json_object_get(document, "components"),
						"securitySchemes");

	(void)state;
	either = json_object_get(document, "security");
	assert_int_equal(json_array_size(either), 1 + sizeof(schemes) / sizeof(schemes[0]));
	assert_int_equal(json_object_size(json_array_get(either, 0)), 0);
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		assert_non_null(json_object_get(defined, schemes[i]));
		assert_non_null(json_object_get(json_array_get(either, i + 1), schemes[i]));
	}
	assert_non_null(strstr(text, "POST"));
	json_decref(document);
	free(text);
}

static void assert_schema(const char *type, const char *want)
{
	json_t *schema = schema_of_type(type);
	char *text = schema ? json_dumps(schema, JSON_COMPACT) : NULL;

	assert_string_equal(text ? text : "none", want);
	json_decref(schema);
	free(text);
}

static void test_types(void **state)
{
	(void)state;
	assert_schema("s", "{\"type\":\"string\"}");
	assert_schema("i?", "{\"type\":[\"integer\",\"null\"]}");
	assert_schema("[s?]?",
		      "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":[\"string\",\"null\"]}}");
	assert_schema("{n}",
		      "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}}");
	assert_schema("A?",
		      "{\"anyOf\":[{\"$ref\":\"#/components/schemas/A\"},{\"type\":\"null\"}]}");
	assert_schema("n|[n]", "{\"anyOf\":[{\"type\":\"number\"},{\"type\":\"array\",\"items\":{"
			       "\"type\":\"number\"}}]}");
	assert_schema("x", "none");
	assert_schema("", "none");
	assert_schema("[s", "none");
	assert_schema("s]", "none");
	assert_schema("s|", "none");
}

TEST_GROUP(openapi)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openapi),
		cmocka_unit_test(test_every_schema_is_complete),
		cmocka_unit_test(test_every_member_is_described),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_types),
	};

	return test_group_run(tests, NULL, NULL);
}
