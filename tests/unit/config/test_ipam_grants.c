// SPDX-License-Identifier: Apache-2.0
/* cni-ipam-needs, what IPAM plugins of CNI configurations may use: single items, and several of one
 * plugin. */
#include "ipam_grants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "cleanup.h"
#include "options.h"
#include "test_group.h"

static void test_items(void **state)
{
	static const struct {
		const char *item, *wrong; /* NULL: valid */
	} rows[] = {
		{"whereabouts:network=host", NULL},
		{"nv-ipam:write=/var/lib/cni/nv-ipam", NULL},
		{"dhcp:capabilities=NET_RAW", NULL},
		{"whereabouts", "is not TYPE:KEY=VALUE"},
		{"whereabouts:network", "is not TYPE:KEY=VALUE"},
		{":network=host", "is not TYPE:KEY=VALUE"},
		{"x:=host", "is not TYPE:KEY=VALUE"},
		{"x:network=", "is not TYPE:KEY=VALUE"},
		{"x:network=pod", "needs: network: "},
		{"x:networks=host", "needs: networks: unknown key"},
		{"x:write=var/lib", "needs: write: "},
		{"x:write=/var/../etc", "needs: write: "},
		{"x:capabilities=SYS_ADMIN", "needs: capabilities: "},
		{"../x:network=host", "is a path"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = {0};
		int r = ipam_grant_check(rows[i].item, &e);

		if (rows[i].wrong && (r != -EINVAL || !strstr(e.msg, rows[i].wrong)))
			fail_msg("%s: %d %s", rows[i].item, r, e.msg);
		if (!rows[i].wrong && r != 0)
			fail_msg("%s: %s", rows[i].item, e.msg);
	}
}

static void test_items_of_a_type_are_combined(void **state)
{
	static const struct option_list list = {
		.n = 4,
		.items = {"a:write=/x", "b:network=host", "a:write=/y", "a:network=host"},
	};
	json_t *needs = NULL;
	char *text;

	(void)state;
	assert_int_equal(ipam_grants_of(&needs, &list, "a"), 0);
	text = json_dumps(needs, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, "{\"network\":\"host\",\"write\":[\"/x\",\"/y\"]}");
	free(text);
	json_decref(needs);
	assert_int_equal(ipam_grants_of(&needs, &list, "c"), 0);
	assert_null(needs);
	assert_int_equal(ipam_grants_of(&needs, NULL, "a"), 0);
	assert_null(needs);
}

TEST_GROUP(ipam_grants)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_items_of_a_type_are_combined),
	};

	return test_group_run(tests, NULL, NULL);
}
