// SPDX-License-Identifier: Apache-2.0
/* Events between the two passes in which the plugin decides what to offer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "resources_bench.h"
#include "state.h"
#include "test_group.h"

#define CONFIG_HCA                                                                                 \
	"{\"pools\": [{\"resourceName\": \"hca\", \"kind\": \"shared\", \"slots\": 3,"             \
	" \"selectors\": {\"rdmaNames\": [\"mlx5_5\"]}}]}"

static bool all_healthy(struct resources_bench *b)
{
	return b->kubelet.n_devices == 4 && b->kubelet.n_healthy == 4;
}

static bool has_hca(struct resources_bench *b)
{
	return strcmp(b->kubelet.resource, "rocelet.dev/hca") == 0 && b->kubelet.watching &&
	       b->kubelet.n_devices == 3;
}

/* With UV_RUN_NOWAIT the loop runs its timers once, so the second pass has not run yet. */
static void start_between(struct resources_bench *b, const char *config)
{
	bench_init(b);
	bench_start(b, config);
	bench_settle(b);
	resources_inputs_changed(b->resources);
	while (!b->resources->has_built)
		uv_run(&b->loop, UV_RUN_NOWAIT);
}

static void test_pools_are_not_built_twice(void **state)
{
	struct resources_bench b;
	const struct verdict *built;

	(void)state;
	start_between(&b, CONFIG_ROCE);
	built = b.resources->built.verdicts;
	assert_ptr_not_equal(b.resources->pools.verdicts, built);
	bench_settle(&b);
	assert_ptr_equal(b.resources->pools.verdicts, built);
	assert_false(b.resources->has_built);
	assert_int_equal(b.kubelet.lists, 1);
	bench_stop(&b);
}

static void test_another_configuration(void **state)
{
	struct resources_bench b;

	(void)state;
	start_between(&b, CONFIG_ROCE);
	bench_configure(&b, CONFIG_HCA);
	assert_false(b.resources->has_built);
	bench_until(&b, has_hca);
	bench_settle(&b);
	assert_int_equal(resources_table(b.resources)->n_resources, 1);
	bench_stop(&b);
}

static void test_closing_between_both_passes(void **state)
{
	struct resources_bench b;

	(void)state;
	start_between(&b, CONFIG_ROCE);
	bench_stop(&b);
}

static bool is_another_list(struct resources_bench *b)
{
	return b->kubelet.lists == 2;
}

/* The kubelet's list must not contain a removed device. */
static void test_a_newer_inventory(void **state)
{
	struct resources_bench b;
	struct host *h = &b.inventory.host;
	struct function *removed;

	(void)state;
	start_between(&b, CONFIG_ROCE);
	removed = find_function(h, VF(4));
	memmove(removed, removed + 1,
		(size_t)(h->functions + --h->n_functions - removed) * sizeof(*removed));
	b.inventory.generation++;
	resources_inputs_changed(b.resources);
	bench_until(&b, is_another_list);
	assert_int_equal(b.kubelet.n_devices, 3);
	assert_int_equal(b.kubelet.n_healthy, 3);
	bench_stop(&b);
}

/* A reserved device is offered until it is free, even if it does not exist. */
static void test_a_newer_list_of_holders(void **state)
{
	struct resources_bench b;

	(void)state;
	start_between(&b, CONFIG_ROCE);
	assert_int_equal(holders_reserve(b.holders, ROCE, "0000:03:00.6"), 0);
	bench_until(&b, is_another_list);
	assert_int_equal(b.kubelet.n_devices, 5);
	assert_int_equal(b.kubelet.n_healthy, 4);
	bench_stop(&b);
}

/* Health is judged in the second pass. */
static void test_a_change_between_both_passes_counts(void **state)
{
	struct resources_bench b;

	(void)state;
	start_between(&b, CONFIG_ROCE);
	find_function(&b.inventory.host, VF(2))->vf_link = VF_LINK_DISABLE;
	bench_until(&b, is_another_list);
	assert_int_equal(b.kubelet.n_devices, 4);
	assert_int_equal(b.kubelet.n_healthy, 3);
	find_function(&b.inventory.host, VF(2))->vf_link = VF_LINK_AUTO;
	resources_inputs_changed(b.resources);
	bench_until(&b, all_healthy);
	bench_stop(&b);
}

TEST_GROUP(decision)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pools_are_not_built_twice),
		cmocka_unit_test(test_another_configuration),
		cmocka_unit_test(test_closing_between_both_passes),
		cmocka_unit_test(test_a_newer_inventory),
		cmocka_unit_test(test_a_newer_list_of_holders),
		cmocka_unit_test(test_a_change_between_both_passes_counts),
	};

	return test_group_run(tests, NULL, NULL);
}
