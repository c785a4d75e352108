// SPDX-License-Identifier: Apache-2.0
/* Names of a security module's confinement, as used in messages. */
#include "privileges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test_group.h"

static void test_labels_are_described(void **state)
{
	static const struct {
		const char *label, *text;
	} cases[] = {
		{"", ""},
		{"unconfined\n", ""},
		{"cri-containerd.apparmor.d (enforce)\n",
		 "AppArmor profile cri-containerd.apparmor.d"},
		{"/usr/sbin/a:b:c (enforce)\n", "AppArmor profile /usr/sbin/a:b:c"},
		{"cri-containerd.apparmor.d (complain)\n", ""},
		{"system_u:system_r:container_t:s0:c12,c345\n", "SELinux type container_t"},
		{"system_u:system_r:container_device_plugin_t:s0",
		 "SELinux type container_device_plugin_t"},
		{"a:b:control_t\n", "SELinux type control_t"},
		{"system_u:system_r:spc_t:s0\n", ""},
		{"system_u:system_r:super_t:s0\n", ""},
		{"system_u:system_r\n", ""},
		{"unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023\n", ""},
	};
	char text[CONFINEMENT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		confinement_describe(cases[i].label, text);
		assert_string_equal(text, cases[i].text);
	}
}

TEST_GROUP(confinement)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_labels_are_described)};

	return test_group_run(tests, NULL, NULL);
}
