// SPDX-License-Identifier: Apache-2.0
/* The suggestions of many nodes are merged into one configuration with groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suggest_merge.h"
#include "test_group.h"

#define POOL(comment, pf)                                                                          \
	"{\"_comment\": \"" comment "\", \"pools\": [{\"_comment\": \"" comment                    \
	"\", \"resourceName\": \"roce0\", \"selectors\": {\"pfNames\": [\"" pf "\"]}}]}"

#define NODES_MAX 8

struct fleet {
	struct node_suggestion nodes[NODES_MAX];
	size_t n;
};

static void fleet_add(struct fleet *f, const char *node, const char *text)
{
	json_t *config = json_loads(text, 0, NULL);

	assert_non_null(config);
	f->nodes[f->n++] = (struct node_suggestion){node, config};
}

static json_t *fleet_merge(struct fleet *f, struct err *e)
{
	json_t *merged = suggest_merge(f->nodes, f->n, e);

	for (size_t i = 0; i < f->n; i++)
		json_decref((json_t *)(uintptr_t)f->nodes[i].config);
	return merged;
}

static void expect_json(const json_t *value, const char *text)
{
	json_t *expected = json_loads(text, 0, NULL);

	assert_non_null(expected);
	if (!json_equal(value, expected))
		print_error("%s\n", json_dumps(value, 0));
	assert_true(json_equal(value, expected));
	json_decref(expected);
}

static const json_t *group_key(const json_t *merged, size_t i, const char *key)
{
	return json_object_get(json_array_get(json_object_get(merged, "groups"), i), key);
}

static void test_equal_pools_are_a_group(void **state)
{
	struct fleet f = {.n = 0};
	json_t *merged;
	(void)state;

	fleet_add(&f, "storage-1", POOL("a", "ens9"));
	fleet_add(&f, "gpu-1", POOL("a", "ens1"));
	fleet_add(&f, "gpu-2", POOL("other words, the same pools", "ens1"));
	fleet_add(&f, "gpu-31", POOL("a", "ens1"));
	merged = fleet_merge(&f, NULL);
	assert_int_equal(json_array_size(json_object_get(merged, "groups")), 2);
	expect_json(group_key(merged, 0, "match"), "{\"nodes\": [\"gpu-*\"]}");
	assert_string_equal(json_string_value(group_key(merged, 0, "_comment")),
			    "3 nodes: gpu-1, gpu-2, gpu-31");
	assert_string_equal(json_string_value(group_key(merged, 0, "name")), "group1");
	expect_json(group_key(merged, 1, "match"), "{\"nodes\": [\"storage-1\"]}");
	expect_json(group_key(merged, 1, "pools"),
		    "[{\"_comment\": \"a\", \"resourceName\": \"roce0\", \"selectors\": "
		    "{\"pfNames\": [\"ens9\"]}}]");
	json_decref(merged);
}

/* "node-*" would also match a node of another group, so the names are listed. */
static void test_names_that_share_a_beginning(void **state)
{
	struct fleet f = {.n = 0};
	json_t *merged;
	(void)state;

	fleet_add(&f, "node-1", POOL("a", "ens1"));
	fleet_add(&f, "node-2", POOL("a", "ens2"));
	fleet_add(&f, "node-3", POOL("a", "ens1"));
	fleet_add(&f, "x", POOL("a", "ens3"));
	fleet_add(&f, "y", POOL("a", "ens3"));
	merged = fleet_merge(&f, NULL);
	expect_json(group_key(merged, 0, "match"), "{\"nodes\": [\"node-1\", \"node-3\"]}");
	expect_json(group_key(merged, 1, "match"), "{\"nodes\": [\"x\", \"y\"]}");
	expect_json(group_key(merged, 2, "match"), "{\"nodes\": [\"node-2\"]}");
	json_decref(merged);
}

static void test_suggestions_that_cannot_be_merged(void **state)
{
	struct fleet f = {.n = 0}, g = {.n = 0};
	struct err e = {0};
	(void)state;

	fleet_add(&f, "a", "{\"resourceList\": []}");
	assert_null(fleet_merge(&f, &e));
	assert_string_equal(e.msg, "a: not a suggestion, it has no \"pools\"");
	fleet_add(&g, "a", "{\"pools\": []}");
	fleet_add(&g, "a", "{\"pools\": []}");
	assert_null(fleet_merge(&g, &e));
	assert_string_equal(e.msg, "a: two suggestions");
}

TEST_GROUP(suggest_merge)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_pools_are_a_group),
		cmocka_unit_test(test_names_that_share_a_beginning),
		cmocka_unit_test(test_suggestions_that_cannot_be_merged),
	};

	return test_group_run(tests, NULL, NULL);
}
