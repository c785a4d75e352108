// SPDX-License-Identifier: Apache-2.0
/* Groups of nodes: which one applies, what it overrides, and errors in groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config_file.h"
#include "groups.h"
#include "options.h"
#include "pool_config.h"
#include "test_group.h"
#include "tmptree.h"

static char *tree;

static int set_up(void **state)
{
	(void)state;
	tree = tmptree_new();
	unsetenv("ROCELET_GROUP");
	setenv("NODE_NAME", "gpu-7", 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unsetenv("ROCELET_GROUP");
	unsetenv("NODE_NAME");
	tmptree_free(tree);
	return 0;
}

static void add_nic(const char *address, const char *class, const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "bus/pci/devices/%s/class", address);
	tmptree_write(tree, path, "%s\n", class);
	snprintf(path, sizeof(path), "bus/pci/devices/%s/vendor", address);
	tmptree_write(tree, path, "0x15b3\n");
	snprintf(path, sizeof(path), "bus/pci/devices/%s/device", address);
	tmptree_write(tree, path, "%s\n", device);
}

/* A server with two NICs of one model, a VF of the first, one of another model, and a GPU. */
static void make_node(void)
{
	tmptree_write(tree, "class/dmi/id/product_name", "DGXH100 640GB \n");
	add_nic("0000:03:00.0", "0x020000", "0x1021");
	add_nic("0000:83:00.0", "0x020700", "0x1021");
	add_nic("0000:03:00.1", "0x020000", "0x101e");
	tmptree_link(tree, "bus/pci/devices/0000:03:00.1/physfn", "../0000:03:00.0");
	add_nic("0000:13:00.0", "0x020000", "0x101d");
	add_nic("0000:17:00.0", "0x030200", "0x2330");
}

static void on_warning(const char *sentence, void *arg)
{
	snprintf(arg, 256, "%s", sentence);
}

struct loaded {
	struct options options;
	struct config_file file;
	struct pool_config pools;
	char warning[256];
	struct err e;
	int r;
};

/* Loads the text like a start of the daemon; flag: one more, or NULL. */
static struct loaded *load(const char *text, const char *flag)
{
	static struct loaded l;
	char config[256], sysfs[256];
	char *argv[] = {
		(char *)"rocelet",	(char *)"--config", config, (char *)"--sysfs-root", sysfs,
		(char *)(uintptr_t)flag};
	enum option_action action;

	memset(&l, 0, sizeof(l));
	snprintf(config, sizeof(config), "%s/c.json", tree);
	snprintf(sysfs, sizeof(sysfs), "%s", tree);
	tmptree_write(tree, "c.json", "%s", text);
	l.r = options_load(&l.options, &action, &l.file, flag ? 6 : 5, argv, on_warning, l.warning,
			   &l.e);
	if (l.r == 0)
		l.r = pool_config_load(&l.pools, &l.file, &l.options, on_warning, l.warning, &l.e);
	return &l;
}

static void unload(struct loaded *l)
{
	pool_config_done(&l->pools);
	config_file_done(&l->file);
}

static void expect_group(const char *text, const char *group)
{
	struct loaded *l = load(text, NULL);

	if (l->r < 0)
		print_error("%s\n", l->e.msg);
	assert_int_equal(l->r, 0);
	assert_string_equal(l->file.group, group);
	unload(l);
}

static void expect_refusal(const char *text, const char *sentence)
{
	struct loaded *l = load(text, NULL);

	assert_int_equal(l->r, -EINVAL);
	if (!strstr(l->e.msg, sentence))
		print_error("'%s' is not in '%s'\n", sentence, l->e.msg);
	assert_non_null(strstr(l->e.msg, sentence));
	unload(l);
}

#define GROUP(name, match) "{\"name\": \"" name "\", \"match\": {" match "}}"
#define FILE_OF(groups)	   "{\"groups\": [" groups "]}"

static void test_patterns(void **state)
{
	(void)state;
	assert_true(groups_glob("gpu-*", "gpu-7"));
	assert_true(groups_glob("*", ""));
	assert_true(groups_glob("*-?b*c", "x-ab-bc-c"));
	assert_true(groups_glob("DGX*", "dgxh100"));
	assert_false(groups_glob("gpu-?", "gpu-17"));
	assert_false(groups_glob("gpu", "gpu-7"));
	assert_false(groups_glob("*x", "gpu"));
	assert_false(groups_glob("", "gpu"));
}

static void test_facts(void **state)
{
	struct node_facts f;
	char text[NODE_FACTS_TEXT];
	(void)state;

	make_node();
	node_facts_read(&f, tree);
	assert_string_equal(f.node, "gpu-7");
	assert_string_equal(f.product, "DGXH100 640GB");
	assert_int_equal(f.n_models, 2);
	node_facts_text(&f, text);
	assert_non_null(strstr(text, "2 x 15b3:1021"));
	assert_non_null(strstr(text, "1 x 15b3:101d"));
}

static void test_conditions(void **state)
{
	(void)state;
	make_node();
	expect_group(FILE_OF(GROUP("a", "\"nodes\": [\"cpu-*\"]") "," GROUP(
			     "b", "\"nodes\": [\"x\", \"gpu-*\"]")),
		     "b");
	expect_group(FILE_OF(GROUP("a", "\"products\": [\"DGXA100*\"]") "," GROUP(
			     "b", "\"products\": [\"dgxh100*\"]")),
		     "b");
	expect_group(
		FILE_OF(GROUP("a", "\"devices\": [{\"model\": \"15b3:1021\", \"count\": 8}]") "," GROUP(
			"b", "\"devices\": [{\"model\": \"15b3:1021\", \"count\": 2}]")),
		"b");
	expect_group(
		FILE_OF(GROUP("a", "\"devices\": [{\"model\": \"15b3:*\", \"min\": 4}]") "," GROUP(
			"b", "\"devices\": [{\"model\": \"15b3:*\", \"min\": 2, \"max\": 3}]")),
		"b");
	/* All keys have to match. */
	expect_group(FILE_OF(GROUP("a", "\"nodes\": [\"gpu-*\"], \"products\": [\"x\"]")), "");
	/* Without conditions a group matches every node, and the first matching group applies. */
	expect_group(FILE_OF(GROUP("a", "") "," GROUP("b", "\"nodes\": [\"gpu-*\"]")), "a");
}

static void test_a_group_requested_by_name(void **state)
{
	static const char text[] = FILE_OF(GROUP("all", "") ",{\"name\": \"canary\"}");
	struct loaded *l;
	(void)state;

	expect_group(text, "all"); /* not a group without "match" */
	setenv("ROCELET_GROUP", "canary", 1);
	expect_group(text, "canary");
	l = load(text, "--group=all");
	assert_string_equal(l->file.group, "all");
	unload(l);
	setenv("ROCELET_GROUP", "canarry", 1);
	expect_refusal(text, "there is no group \"canarry\"");
	expect_refusal("{}", "there is no group \"canarry\"");
}

#define POOL(name) "\"pools\": [{\"resourceName\": \"" name "\", \"selectors\": {}}]"

static void test_keys_that_a_group_overrides(void **state)
{
	static const char text[] = "{\"settle-ms\": 5, \"log-level\": \"warn\", " POOL(
		"top") ",\n"
		       "\"groups\": [{\"name\": \"a\", \"match\": {}, \"settle-ms\": 7, " POOL(
			       "own") "}]}";
	static const char options_only[] = "{" POOL(
		"top") ", \"groups\": [{\"name\": \"a\", \"match\": {}, \"settle-ms\": 7}]}";
	static const char nothing[] = "{" POOL(
		"top") ", \"groups\": [{\"name\": \"a\", \"match\": {}, \"pools\": []}]}";
	struct loaded *l = load(text, NULL);
	(void)state;

	assert_int_equal(l->r, 0);
	assert_string_equal(l->warning, "");
	assert_int_equal(l->options.settle_ms, 7);
	assert_int_equal(l->options.log_level, 1);
	assert_int_equal(l->pools.n_pools, 1);
	assert_string_equal(l->pools.pools[0].name, "own");
	assert_int_equal(l->pools.pools[0].line, 2);
	unload(l);
	l = load(options_only, NULL);
	assert_int_equal(l->options.settle_ms, 7);
	assert_string_equal(l->pools.pools[0].name, "top");
	unload(l);
	l = load(nothing, NULL);
	assert_int_equal(l->r, 0);
	assert_int_equal(l->pools.n_pools, 0);
	unload(l);
	/* A flag overrides a group. */
	l = load(text, "--settle-ms=9");
	assert_int_equal(l->options.settle_ms, 9);
	unload(l);
}

static void test_invalid_groups(void **state)
{
	(void)state;
	make_node();
	expect_refusal("{\"groups\": {}}", "c.json:1: \"groups\": is not a list of objects");
	expect_refusal("{\"groups\": [\n{}]}", "c.json:2: \"groups\": item 1: \"name\" is missing");
	expect_refusal(FILE_OF("{\"name\": \"a b\"}"), "is not a name");
	expect_refusal(FILE_OF(GROUP("a", "") "," GROUP("a", "")), "name of two groups");
	expect_refusal(FILE_OF("{\"name\": \"a\", \"groups\": []}"), "cannot be nested");
	expect_refusal(FILE_OF("{\"name\": \"a\", \"sysfs-root\": \"/x\"}"),
		       "cannot depend on the group");
	expect_refusal(FILE_OF(GROUP("a", "\"node\": [\"x\"]")), "did you mean \"nodes\"?");
	expect_refusal(FILE_OF(GROUP("a", "\"nodes\": []")), "matches no node");
	expect_refusal(FILE_OF(GROUP("a", "\"nodes\": \"x\"")), "is not a list of strings");
	expect_refusal(FILE_OF(GROUP("a", "\"devices\": []")), "leave it out");
	expect_refusal(FILE_OF(GROUP("a", "\"devices\": [{\"count\": 1}]")),
		       "\"model\" is missing");
	expect_refusal(FILE_OF(GROUP("a", "\"devices\": [{\"model\": \"mlx5\"}]")),
		       "is not a PCI id");
	expect_refusal(FILE_OF(GROUP("a", "\"devices\": [{\"model\": \"15b3:*\", \"min\": 3, "
					  "\"max\": 2}]")),
		       "the range 3-2 is empty");
	expect_refusal(FILE_OF(GROUP("a", "\"devices\": [{\"model\": \"15b3:*\", \"count\": 3, "
					  "\"max\": 2}]")),
		       "excludes");
	/* Errors are also reported for a group that does not apply. */
	expect_refusal(FILE_OF(GROUP("a", "") "," GROUP("b", "\"nodes\": []")), "matches no node");
	/* An error in the group that applies is reported with its own line. */
	expect_refusal("{\"groups\": [{\"name\": \"a\", \"match\": {},\n\"settle-ms\": -1}]}",
		       "c.json:2: \"settle-ms\"");
	expect_refusal("{\"groups\": [{\"name\": \"a\", \"match\": {},\n\n\"pools\": [{}]}]}",
		       "c.json:3: ");
}

/* --check-config checks all groups. */
static void test_other_groups(void **state)
{
	static const char text[] = "{\"groups\": [{\"name\": \"a\", \"match\": {}},\n"
				   "{\"name\": \"b\", \"settle-ms\": -1},\n"
				   "{\"name\": \"c\", \"pools\": [{}]},\n"
				   "{\"name\": \"d\", \"pools\": []}]}";
	char names[GROUPS_MAX][GROUP_NAME_SIZE];
	struct loaded *l = load(text, NULL);
	struct pool_config c = {0};
	struct err e = {0};
	(void)state;

	assert_int_equal(l->r, 0);
	assert_int_equal(groups_names(&l->file, names), 4);
	assert_string_equal(names[3], "d");
	strcpy(l->file.group, "b");
	assert_int_equal(options_check_group(&l->options, &l->file, on_warning, l->warning, &e),
			 -EINVAL);
	assert_non_null(strstr(e.msg, "c.json:2: \"settle-ms\""));
	strcpy(l->file.group, "c");
	assert_int_equal(
		pool_config_load_group(&c, &l->file, &l->options, on_warning, l->warning, &e),
		-EINVAL);
	assert_non_null(strstr(e.msg, "c.json:3: "));
	strcpy(l->file.group, "a");
	assert_int_equal(
		pool_config_load_group(&c, &l->file, &l->options, on_warning, l->warning, &e), 0);
	unload(l);
}

TEST_GROUP(groups)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test_setup_teardown(test_facts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_conditions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_group_requested_by_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_keys_that_a_group_overrides, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_invalid_groups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_groups, set_up, tear_down),
	};

	return test_group_run(tests, NULL, NULL);
}
