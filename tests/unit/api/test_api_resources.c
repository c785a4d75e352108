// SPDX-License-Identifier: Apache-2.0
/* Resources, their devices and the allocations, as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "api_resources.h"
#include "golden.h"
#include "resource_tables.h"
#include "test_group.h"

/* Takes ownership of the value. */
static void assert_json(json_t *value, const char *expected)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	json_decref(value);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void test_of_functions(void **state)
{
	struct resource_table t;
	struct resource_index *index;

	(void)state;
	resource_table_small(&t);
	index = resource_index_new(&t);
	assert_json(
		api_resources_of(index, "0000:03:00.2"),
		"[{\"resource\":\"rocelet.dev/roce\",\"id\":\"0000:03:00.2\",\"shared\":false,"
		"\"healthy\":true,\"reasons\":[],\"unhealthySince\":null,\"orEarlier\":false,\"state\":\"held\",\"holder\":{\"namespace\":"
		"\"train\",\"pod\":\"job-7\",\"uid\":null,\"container\":\"main\"}}]");
	assert_json(
		api_resources_of(index, "0000:03:00.3"),
		"[{\"resource\":\"rocelet.dev/roce\",\"id\":\"0000:03:00.3\",\"shared\":false,"
		"\"healthy\":false,\"reasons\":[\"no_chardev\",\"link_down\"],\"unhealthySince\":\"2026-01-02T03:04:05.001Z\",\"orEarlier\":true,\"state\":\"reserved\","
		"\"holder\":null}]");
	assert_json(
		api_resources_of(index, "0000:03:00.0"),
		"[{\"resource\":\"rdma/hca_shared\",\"id\":null,\"shared\":true,\"healthy\":"
		"null,\"reasons\":null,\"unhealthySince\":null,\"orEarlier\":null,\"state\":null,\"holder\":null}]");
	assert_json(api_resources_of(index, "0000:05:00.0"), "[]");
	assert_json(api_why_not(index, "0000:05:00.0"), "\"it carries the default route\"");
	assert_json(api_why_not(index, "0000:03:00.2"), "null");
	resource_index_free(index);
	resource_table_done(&t);
}

static void test_all(void **state)
{
	struct resource_table t;
	char *text;
	json_t *all;

	(void)state;
	resource_table_small(&t);
	all = api_resources(&t, NULL);
	text = json_dumps(all, JSON_INDENT(1));
	assert_golden_text("tests/golden/api_resources.json", text, strlen(text));
	free(text);
	json_decref(all);
	resource_table_done(&t);
}

static void test_document(void **state)
{
	struct resource_table t;
	size_t len;
	char *text;
	json_t *document;

	(void)state;
	resource_table_small(&t);
	text = api_resources_document(&t, NULL, &len);
	document = json_loads(text, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(document, "generation")), 9);
	assert_int_equal(json_array_size(json_object_get(document, "resources")), 2);
	json_decref(document);
	free(text);
	text = api_resources_document(NULL, NULL, &len);
	document = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(document, "resources")), 0);
	json_decref(document);
	free(text);
	resource_table_done(&t);
}

static void assert_pods(const struct resource_table *t, const char *expected)
{
	static const struct host host;
	struct resource_index *index = resource_index_new(t);
	const struct condition_sources sources = {.host = &host, .resources = index};
	size_t len;
	char *text = api_pods(&sources, NULL, &len);

	assert_int_equal(strlen(text), len);
	assert_string_equal(text, expected);
	free(text);
	resource_index_free(index);
}

static void test_pods(void **state)
{
	struct resource_table t;

	(void)state;
	resource_table_small(&t);
	t.resources[1].registration = REGISTRATION_DONE;
	assert_pods(
		&t,
		"{\"generation\":9,\"source\":\"api\",\"error\":null,\"pods\":[{\"namespace\":\"train\","
		"\"name\":\"job-7\",\"uid\":null,\"network\":{\"answer\":\"unknown\",\"why\":\"Unknown: 0000:03:00.2 has no RDMA port that is watched\"},\"containers\":[{\"name\":\"main\",\"devices\":["
		"{\"resource\":\"rocelet.dev/roce\",\"id\":\"0000:03:00.2\",\"rdma\":null,\"watch\":null,\"health\":null,"
		"\"troubles\":[],\"attachment\":null}]}]},{\"namespace\":"
		"\"train\",\"name\":\"reader-0\",\"uid\":null,\"network\":{\"answer\":\"unknown\",\"why\":\"Unknown: 0 has no RDMA port that is watched\"},\"containers\":[{\"name\":"
		"\"main\",\"devices\":[{\"resource\":\"rdma/hca_shared\",\"id\":\"0\",\"rdma\":null,\"watch\":null,"
		"\"health\":null,\"troubles\":[],\"attachment\":null}]}]}]}");
	resource_table_done(&t);
}

static void test_no_pods(void **state)
{
	struct resource_table t = {0};

	(void)state;
	assert_pods(&t, "{\"generation\":0,\"source\":null,\"error\":null,\"pods\":[]}");
	snprintf(t.held_error, sizeof(t.held_error), "no answer");
	assert_pods(&t, "{\"generation\":0,\"source\":null,\"error\":\"no answer\",\"pods\":[]}");
}

static size_t free_of(struct resource_table *t, size_t resource)
{
	struct resource_counts n;

	resource_table_count(t, &t->resources[resource], &n);
	return n.free;
}

/* The API, rocectl and the metrics report this same number. */
static void test_free_devices(void **state)
{
	struct resource_table t;

	(void)state;
	resource_table_small(&t);
	assert_int_equal(free_of(&t, 0), 1);
	/* Not registered with the kubelet, so no pod can get one. */
	assert_int_equal(free_of(&t, 1), 0);
	t.resources[1].registration = REGISTRATION_DONE;
	assert_int_equal(free_of(&t, 1), 2);
	/* Limited by the free entries of the GID tables. */
	t.resources[1].gid_capacity = 2;
	assert_int_equal(free_of(&t, 1), 1);
	t.resources[1].gid_capacity = 1;
	assert_int_equal(free_of(&t, 1), 0);
	t.resources[0].registration = REGISTRATION_WAITING;
	assert_int_equal(free_of(&t, 0), 0);
	resource_table_done(&t);
}

TEST_GROUP(api_resources)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_free_devices), cmocka_unit_test(test_of_functions),
		cmocka_unit_test(test_all),	     cmocka_unit_test(test_document),
		cmocka_unit_test(test_pods),	     cmocka_unit_test(test_no_pods),
	};

	return test_group_run(tests, NULL, NULL);
}
