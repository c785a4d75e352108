// SPDX-License-Identifier: Apache-2.0
/* What a reload keeps of the current configuration: resources that are invalid in the new file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "faults.h"
#include "options.h"
#include "pool_config.h"
#include "test_group.h"

static void ignore(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

static void parse(struct pool_config *c, const char *text)
{
	struct err e = {0};

	if (pool_config_parse(c, text, strlen(text), "c.json", ignore, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Compares the pools, each as its name and the first PF word of its first selector: "a#0-3 b". */
static void assert_pools(const struct pool_config *c, const char *expected)
{
	char text[1024] = "";

	for (size_t i = 0; i < c->n_pools; i++) {
		const struct pf_selectors *pfs = &c->pools[i].selectors[0].pf_names;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s%s", i ? " " : "",
			 c->pools[i].name, pfs->n ? ":" : "", pfs->n ? pfs->list[0].name : "");
	}
	assert_string_equal(text, expected);
}

static void assert_refusals(const struct pool_config *c, const char *expected)
{
	char text[4096] = "";

	for (size_t i = 0; i < c->refusals.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s", i ? " " : "",
			 c->refusals.list[i].resource,
			 c->refusals.list[i].kept ? " stays" : " is out");
	assert_string_equal(text, expected);
}

#define LIST_OF(items)	  "\"resourceList\":[" items "]"
#define LIST(items)	  "{" LIST_OF(items) "}"
#define ITEM_OF(name, pf) "\"resourceName\":\"" name "\",\"selectors\":{\"pfNames\":[\"" pf "\"]}"
#define ITEM(name, pf)	  "{" ITEM_OF(name, pf) "}"
#define WRONG(name)	  "{\"resourceName\":\"" name "\",\"selectors\":5}"

static void test_kept_resources(void **state)
{
	static const struct {
		const char *used, *new, *pools, *refusals;
	} cases[] = {
		{LIST(ITEM("a", "p0")), LIST(WRONG("a")), "a:p0", "intel.com/a stays"},
		/* It is kept in its place, because the first matching pool gets a device. */
		{LIST(ITEM("a", "p0") "," ITEM("b", "p1") "," ITEM("c", "p2")),
		 LIST(ITEM("c", "p9") "," WRONG("b") "," ITEM("a", "p8")), "c:p9 b:p1 a:p8",
		 "intel.com/b stays"},
		/* A resource that is not in the new file is withdrawn. */
		{LIST(ITEM("a", "p0") "," ITEM("b", "p1")), LIST(WRONG("a")), "a:p0",
		 "intel.com/a stays"},
		{LIST(ITEM("a", "p0")), LIST(ITEM("b", "p1")), "b:p1", ""},
		/* It is not in the current configuration, so nothing is kept. */
		{LIST(ITEM("a", "p0")), LIST(ITEM("a", "p1") "," WRONG("b")), "a:p1",
		 "intel.com/b is out"},
		/* An invalid item without a name may be any resource that the new file lacks. */
		{LIST(ITEM("a", "p0") "," ITEM("b", "p1") "," ITEM("c", "p2")),
		 LIST("5," ITEM("b", "p9")), "a:p0 c:p2 b:p9",
		 "intel.com/a stays intel.com/c stays"},
		{LIST(ITEM("a", "p0")), LIST(ITEM("a/b", "p0")), "a:p0", "intel.com/a stays"},
		{LIST(ITEM("a", "p0")), LIST(ITEM("a", "p1") ",{}"), "a:p1", " is out"},
		/* Its name is known, but not its prefix. */
		{LIST(ITEM("a", "p0") "," ITEM("b", "p1")),
		 LIST("{\"resourceName\":\"a\",\"resourcePrefix\":\"a_b\",\"selectors\":{}}"),
		 "a:p0", "intel.com/a stays"},
		/* Two items with one name: both are invalid. */
		{LIST(ITEM("a", "p0")), LIST(ITEM("a", "p1") "," ITEM("a", "p2")), "a:p0",
		 "intel.com/a stays"},
		/* One of the two may have been meant to be the missing resource. */
		{LIST(ITEM("a", "p0") "," ITEM("b", "p1")),
		 LIST(ITEM("a", "p0") "," ITEM("a", "p1")), "a:p0 b:p1",
		 "intel.com/a stays intel.com/b stays"},
		{LIST(ITEM("z", "p0")), LIST(ITEM("a", "p1") "," ITEM("a", "p2")), "a:p1 z:p0",
		 "intel.com/z stays"},
		{"{}", LIST(ITEM("a", "p1") "," ITEM("a", "p2")), "a:p1", "intel.com/a is out"},
		/* A resource that is named is not taken for an unnamed item. */
		{LIST(ITEM("a", "p0") "," ITEM("b", "p1")), LIST("5," WRONG("a")), "b:p1 a:p0",
		 "intel.com/b stays intel.com/a stays"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pool_config used = {0}, again = {0}, c = {0};
		struct err e = {0};

		parse(&used, cases[i].used);
		parse(&c, cases[i].new);
		assert_int_equal(pool_config_keep(&c, &used, &e), 0);
		assert_pools(&c, cases[i].pools);
		assert_refusals(&c, cases[i].refusals);
		/* Applying the same text again changes nothing. */
		parse(&again, cases[i].new);
		assert_int_equal(pool_config_keep(&again, &c, &e), 0);
		assert_pools(&again, cases[i].pools);
		pool_config_done(&used);
		pool_config_done(&c);
		pool_config_done(&again);
	}
}

/* "" = the resource may be withdrawn. */
static void test_a_probable_mistake_withdraws_nothing(void **state)
{
	static const char used[] = "{\"pools\":[" ITEM("a", "p0") "]," LIST_OF(ITEM("b", "p1")) "}";
	static const struct {
		const char *new, *sentence;
	} cases[] = {
		{"{}", ""},
		{"{\"pools\":[]}", ""},
		{LIST(ITEM("b", "p1")), ""},
		{"{\"log-level\":\"info\"}", ""},
		{"{\"pool\":[]}",
		 "c.json:1: \"pool\": unknown key (did you mean \"pools\"?); rocelet.dev/a would be "
		 "withdrawn"},
		{"{\"pool\":[]," LIST_OF(ITEM("b", "p1")) "}",
		 "c.json:1: \"pool\": unknown key (did you mean \"pools\"?); rocelet.dev/a would be "
		 "withdrawn"},
		{"{\"pools\":[" ITEM("a", "p0") "],\"resources\":[]," LIST_OF(ITEM("b", "p1")) "}",
		 ""},
		/* An unknown key that is similar to no other is an error only if the file has no
		 * other resources. */
		{"{\"given\":[" ITEM("a", "p0") "]}",
		 "c.json:1: \"given\": unknown key; rocelet.dev/a would be withdrawn"},
		{"{\"remark\":1," LIST_OF(ITEM("b", "p1")) "}", ""},
		{"{\"remark\":1,\"pool\":[]," LIST_OF(ITEM("b", "p1")) "}",
		 "c.json:1: \"pool\": unknown key (did you mean \"pools\"?); rocelet.dev/a would be "
		 "withdrawn"},
		{"{" LIST_OF(ITEM("b", "p1")) "," LIST_OF(ITEM("a", "p1")) "}",
		 "c.json:1: duplicate object key near '\"resourceList\"', the last one counts; "
		 "rocelet.dev/a would be withdrawn"},
		/* --check-config exits with 2 for this file. */
		{LIST(WRONG("z")), "c.json:1: \"selectors\": is neither an object nor a list of "
				   "objects; no resource is left"},
		{"{\"resourceList\":[{\"resourcePrefx\":\"x.y\"," ITEM_OF("a", "p0") "}]}",
		 "c.json:1: \"resourcePrefx\": unknown key (did you mean \"resourcePrefix\"?); "
		 "rocelet.dev/a would be withdrawn"},
	};
	struct pool_config c = {0}, in_use = {0};
	(void)state;

	parse(&in_use, used);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};

		parse(&c, cases[i].new);
		assert_int_equal(pool_config_keep(&c, &in_use, &e),
				 cases[i].sentence[0] ? -EINVAL : 0);
		assert_string_equal(e.msg, cases[i].sentence);
		pool_config_done(&c);
		c = (struct pool_config){0};
	}
	pool_config_done(&in_use);
}

#define FULL                                                                                         \
	"{\"resourceName\":\"a\",\"excludeTopology\":true,\"additionalInfo\":{\"*\":{\"k\":\"v\"}}," \
	"\"selectors\":[{\"vendors\":[\"15b3\"],\"devices\":[\"1018\"],\"drivers\":[\"d\"],"         \
	"\"pciAddresses\":[\"0000:03:00.1\"],\"acpiIndexes\":[\"101\"],\"pfNames\":[\"p#0,2-5\"],"   \
	"\"rootDevices\":[\"0000:86:00.0#0-3\"],\"linkTypes\":[\"ether\"],\"isRdma\":true,"          \
	"\"needVhostNet\":true,\"pKeys\":[\"0x8001\"]},{\"vdpaType\":\"vhost\"}]}"
#define NATIVE                                                                                     \
	"{\"pools\":[{\"resourceName\":\"n\",\"selectors\":{\"ifNames\":[\"x\"],\"rdmaNames\":"    \
	"[\"mlx5_0\"]},\"network\":{\"mtu\":9000,\"ips\":[\"10.9.0.1/24\"]},\"softRoce\":false,"   \
	"\"permissions\":\"r\",\"hold\":{\"pci\":{\"downMs\":7}}}]," LIST_OF(FULL) "}"

static char *printed(const struct pool_config *c)
{
	json_t *tree = pool_config_tree(c);
	char *text = json_dumps(tree, JSON_INDENT(1));

	json_decref(tree);
	return text;
}

static void test_a_kept_pool_is_complete(void **state)
{
	struct pool_config used = {0}, c = {0};
	struct err e = {0};
	char *before, *after;
	(void)state;

	parse(&used, NATIVE);
	assert_int_equal(used.n_pools, 2);
	parse(&c, LIST("5"));
	before = printed(&used);
	assert_int_equal(pool_config_keep(&c, &used, &e), 0);
	after = printed(&c);
	assert_string_equal(after, before);
	free(before);
	free(after);
	pool_config_done(&c);
	pool_config_done(&used);
}

static void test_without_memory_nothing_changes(void **state)
{
	struct pool_config used = {0}, c = {0};
	bool done = false;
	(void)state;

	parse(&used, LIST(FULL "," ITEM("b", "p1")));
	parse(&c, LIST(WRONG("a") "," ITEM("c", "p2")));
	for (long n = 0; !done; n++) {
		struct err e = {0};

		int r;

		faults_alloc(n);
		r = pool_config_keep(&c, &used, &e);
		done = !faults_end();
		if (!done) {
			assert_int_equal(r, -ENOMEM);
			assert_int_equal(e.code, -ENOMEM);
			assert_pools(&c, "c:p2");
			assert_refusals(&c, "intel.com/a is out");
		}
	}
	assert_pools(&c, "a:p c:p2");
	pool_config_done(&c);
	pool_config_done(&used);
}

TEST_GROUP(pool_config_keep)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_resources),
		cmocka_unit_test(test_a_probable_mistake_withdraws_nothing),
		cmocka_unit_test(test_a_kept_pool_is_complete),
		cmocka_unit_test(test_without_memory_nothing_changes),
	};

	return test_group_run(tests, NULL, NULL);
}
