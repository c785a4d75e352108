// SPDX-License-Identifier: Apache-2.0
/* The table of capabilities: which are kept, the messages for missing ones, and the copies in
 * SECURITY.md and the lab. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/capability.h>

#include "capabilities.h"
#include "options.h"
#include "pool_config.h"
#include "privilege_uses.h"
#include "syscalls.h"
#include "test_group.h"

#define ALL_USES     (SCAN_USES | USE_BPF | USE_ATTACH | USE_SOFT_ROCE | USE_IPAM)
#define SCAN_USES    (USE_OBSERVE | USE_INSIDE)
#define BIT(cap)     (UINT64_C(1) << (cap))
/* Uses of the overlays observe and device-plugin, which do without CAP_SYS_ADMIN. */
#define OBSERVE_USES (USE_OBSERVE | USE_BPF)
#define WATCH_USES   (SCAN_USES | USE_BPF)

static void test_capabilities_follow_the_uses(void **state)
{
	(void)state;
	assert_int_equal(capabilities_for(0), 0);
	assert_int_equal(capabilities_for(USE_OBSERVE),
			 BIT(CAP_NET_ADMIN) | BIT(CAP_NET_BROADCAST));
	assert_int_equal(capabilities_for(USE_LOW_PORT), BIT(CAP_NET_BIND_SERVICE));
	assert_true(capabilities_for(USE_IPAM) & BIT(CAP_SETUID));
	assert_false(capabilities_for(ALL_USES) & BIT(CAP_SYS_MODULE));
	assert_false(capabilities_for(ALL_USES) & BIT(CAP_DAC_OVERRIDE));
}

static void test_a_missing_capability_has_one_message_for_all_uses(void **state)
{
	struct missing_capability lacks[MISSING_CAPABILITIES_MAX];
	uint64_t have = capabilities_for(ALL_USES) & ~BIT(CAP_SYS_ADMIN) & ~BIT(CAP_BPF);
	uint64_t native = capabilities_least(ALL_USES);

	(void)state;
	assert_int_equal(capabilities_missing(ALL_USES, have, lacks), 2);
	assert_string_equal(lacks[0].name, "CAP_SYS_ADMIN");
	assert_true(lacks[0].fatal);
	assert_non_null(strstr(lacks[0].stops, "cannot be entered; "));
	assert_non_null(strstr(lacks[0].stops, "no IPAM plugin"));
	assert_string_equal(lacks[1].name, "CAP_BPF");
	assert_false(lacks[1].fatal);
	assert_int_equal(capabilities_missing(SCAN_USES, have, lacks), 1);
	assert_false(lacks[0].fatal); /* only for observation */
	assert_int_equal(capabilities_missing(USE_OBSERVE, have, lacks), 0);
	/* CAP_BPF is included in CAP_SYS_ADMIN, so it is not missing. */
	assert_false(native & BIT(CAP_BPF));
	assert_int_equal(capabilities_missing(ALL_USES, native, lacks), 0);
	assert_int_equal(capabilities_missing(ALL_USES, UINT64_MAX, lacks), 0);
}

static void test_the_list_has_room_for_all_capabilities(void **state)
{
	struct missing_capability lacks[MISSING_CAPABILITIES_MAX];
	size_t n = capabilities_missing(~0u, 0, lacks);
	uint64_t all = capabilities_for(~0u);

	(void)state;
	assert_int_equal(n, __builtin_popcountll(all));
	assert_true(n < MISSING_CAPABILITIES_MAX);
	for (size_t i = 0; i < n; i++)
		assert_true(strlen(lacks[i].stops) < sizeof(lacks[i].stops) - 1);
}

/* --- by options ------------------------------------------------------------------------------- */

static void test_options_limit_privileges(void **state)
{
	static struct options o;

	(void)state;
	options_defaults(&o);
	assert_int_equal(privilege_uses_possible(&o), ALL_USES | USE_PLUGIN_PORTS);
	o.no_bpf = true;
	assert_int_equal(privilege_uses_possible(&o), (ALL_USES | USE_PLUGIN_PORTS) & ~USE_BPF);
	o.dry_run = true;
	assert_int_equal(privilege_uses_possible(&o), SCAN_USES);
	strcpy(o.listen, "127.0.0.1:443");
	assert_int_equal(privilege_uses_possible(&o), SCAN_USES | USE_LOW_PORT);
	strcpy(o.listen, ":1024");
	assert_int_equal(privilege_uses_possible(&o), SCAN_USES);
	o.dry_run = false;
	o.observe = true;
	assert_int_equal(privilege_uses_possible(&o), SCAN_USES);
	assert_int_equal(privilege_calls_possible(&o), CALLS_ALWAYS);
	o.observe = o.no_bpf = false;
	o.unprivileged = true;
	assert_int_equal(privilege_uses_possible(&o), 0);
	assert_int_equal(privilege_calls_possible(&o), CALLS_ALWAYS | CALLS_ATTACH);
}

static void test_pools_determine_privileges(void **state)
{
	static struct options o;
	struct pool_network network = {.timeout_ms = 1};
	struct pool pool = {.network = NULL};
	const struct pool_config pools = {.pools = &pool, .n_pools = 1};

	(void)state;
	options_defaults(&o);
	assert_int_equal(privilege_uses_now(&o, &pools), WATCH_USES);
	pool.network = &network;
	assert_int_equal(privilege_uses_now(&o, &pools), WATCH_USES | USE_ATTACH);
	network.plan.soft_roce = true;
	strcpy(network.plan.ipam, "{\"type\": \"static\"}");
	assert_int_equal(privilege_uses_now(&o, &pools), ALL_USES);
	strcpy(network.plan.ipam, "{\"needs\": {\"capabilities\": [\"NET_BIND_SERVICE\"]}}");
	assert_int_equal(privilege_uses_now(&o, &pools), ALL_USES | USE_PLUGIN_PORTS);
	o.dry_run = true;
	assert_int_equal(privilege_uses_now(&o, &pools), WATCH_USES);
	o.unprivileged = true;
	assert_int_equal(privilege_uses_now(&o, &pools), 0);
	o.dry_run = false;
	o.observe = true;
	assert_int_equal(privilege_uses_now(&o, &pools), 0);
	o.observe = false; /* with such a pool, missing capabilities make the daemon not ready */
	assert_true(privilege_uses_now(&o, &pools) & USE_ATTACH);
}

/* --- copies in other files -------------------------------------------------------------------- */

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	assert_non_null(f);
	assert_true(getdelim(&text, &size, '\0', f) > 0);
	fclose(f);
	return text;
}

/* Expects "| `CAP_X` | yes | no | yes |", one column for each overlay. */
static void check_row(const char *text, const char *name, unsigned capability)
{
	static const unsigned overlays[] = {OBSERVE_USES, OBSERVE_USES, ALL_USES};
	char row[160];
	int n = snprintf(row, sizeof(row), "| `%s` |", name);

	for (size_t i = 0; i < 3; i++)
		n += snprintf(row + n, sizeof(row) - (size_t)n, " %s |",
			      capabilities_least(overlays[i]) & BIT(capability) ? "yes" : "no");
	if (!strstr(text, row))
		fail_msg("SECURITY.md has no row that begins with: %s", row);
}

static void test_security_md_has_the_table(void **state)
{
	char *text = read_text("SECURITY.md");
	size_t rows = 0;

	(void)state;
	for (size_t i = 0; i < n_capability_rows; i++)
		check_row(text, capability_table[i].name, capability_table[i].capability);
	for (const char *at = text; (at = strstr(at, "| `CAP_")); at++)
		rows++;
	assert_int_equal(rows, __builtin_popcountll(capabilities_for(~0u)));
	free(text);
}

/* Appends "+net_admin" for CAP_NET_ADMIN, in the format of setpriv(1). */
static void add_word(char *list, size_t size, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, ",+%s", name + strlen("CAP_"));
	for (char *c = list + n; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
}

static void check_list(const char *text, const char *name, uint64_t wanted)
{
	uint64_t listed = 0;
	char list[512];

	snprintf(list, sizeof(list), "readonly %s=-all", name);
	for (size_t i = 0; i < n_capability_rows; i++) {
		const struct capability_row *row = &capability_table[i];

		if (!(wanted & ~listed & BIT(row->capability)))
			continue;
		listed |= BIT(row->capability);
		add_word(list, sizeof(list), row->name);
	}
	strcat(list, "\n");
	if (!strstr(text, list))
		fail_msg("tests/lab/guest/lib.sh does not contain: %s", list);
}

static void test_the_lab_has_the_overlays_capabilities(void **state)
{
	char *text = read_text("tests/lab/guest/lib.sh");

	(void)state;
	check_list(text, "NATIVE_CAPABILITIES", capabilities_least(ALL_USES));
	check_list(text, "OBSERVE_CAPABILITIES", capabilities_least(OBSERVE_USES));
	free(text);
}

TEST_GROUP(capabilities)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capabilities_follow_the_uses),
		cmocka_unit_test(test_a_missing_capability_has_one_message_for_all_uses),
		cmocka_unit_test(test_the_list_has_room_for_all_capabilities),
		cmocka_unit_test(test_options_limit_privileges),
		cmocka_unit_test(test_pools_determine_privileges),
		cmocka_unit_test(test_security_md_has_the_table),
		cmocka_unit_test(test_the_lab_has_the_overlays_capabilities),
	};

	return test_group_run(tests, NULL, NULL);
}
