// SPDX-License-Identifier: Apache-2.0
/* The status folders that must exist, and what a container's grant contains of them. */
#include "pod_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pool_fixture.h"
#include "test_group.h"

#define ROCE "rocelet.dev/roce"

/* Adds a pool of all VFs with "podStatus". */
static struct pool *add_status_pool(struct pool_fixture *f)
{
	struct pool *pool = add_pool(&f->config, "rocelet.dev", "roce", POOL_EXCLUSIVE);

	add_word(&add_selector(pool)->drivers, "mlx5_core");
	pool->pod_status = true;
	return pool;
}

static struct pod_status_plan plan_of(struct pool_fixture *f)
{
	struct pod_status_plan plan;

	pool_fixture_build(f);
	assert_int_equal(pod_status_plan_make(&plan, &f->pools, &f->held), 0);
	return plan;
}

static void test_names(void **state)
{
	static const char *const bad[] = {"", ".", "..", ".x", "a/b", "a b", "a\nb", "\xc3\xa4"};
	char name[PLUGIN_ID_SIZE], long_id[PLUGIN_ID_SIZE + 1];

	(void)state;
	assert_true(pod_status_name("0000:03:00.2", name));
	assert_string_equal(name, "0000-03-00.2");
	assert_true(pod_status_name("mlx5_core.sf.4", name));
	assert_string_equal(name, "mlx5_core.sf.4");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(pod_status_name(bad[i], name));
	memset(long_id, 'x', sizeof(long_id));
	long_id[PLUGIN_ID_SIZE] = '\0';
	assert_false(pod_status_name(long_id, name));
	long_id[PLUGIN_ID_SIZE - 1] = '\0';
	assert_true(pod_status_name(long_id, name));
}

static void test_the_grant(void **state)
{
	static const char *const ids[] = {"0000:03:00.2", "../etc", "0000:03:00.1"};
	struct pool pool = {.prefix = (char[]){"intel.com"}, .name = (char[]){"sriov-a"}};
	struct container_grant grant = {0};

	(void)state;
	assert_int_equal(pod_status_grant(&grant, &pool, "/run/x", (struct id_list){ids, 3}), 0);
	assert_int_equal(grant.n_mounts, 2);
	assert_string_equal(grant.mounts[0].host_path, "/run/x/pod-status/0000-03-00.2");
	assert_string_equal(grant.mounts[0].container_path, "/run/rocelet/0000-03-00.2");
	assert_true(grant.mounts[0].read_only && grant.mounts[1].read_only);
	assert_int_equal(grant.n_envs, 1);
	assert_string_equal(grant.envs[0].key, "ROCELET_STATUS_INTEL_COM_SRIOV-A");
	assert_string_equal(grant.envs[0].value, "/run/rocelet/0000-03-00.2/status.json,"
						 "/run/rocelet/0000-03-00.1/status.json");
	container_grant_done(&grant);
	assert_int_equal(pod_status_grant(&grant, &pool, "/run/x", (struct id_list){ids, 0}), 0);
	assert_int_equal(grant.n_mounts + grant.n_envs, 0);
}

static void test_folders_of_held_devices(void **state)
{
	struct pool_fixture *f = *state;
	struct pod_status_plan plan;

	add_status_pool(f);
	hold(&f->held, ROCE, "0000:03:00.2");
	hold(&f->held, ROCE, "0000:03:00.1");
	hold(&f->held, ROCE, "0000:03:00.1"); /* two containers */
	hold(&f->held, ROCE, "../../etc");
	hold(&f->held, "nvidia.com/gpu", "GPU-1");
	for (size_t i = 0; i < f->held.n; i++)
		if (strcmp(f->held.devices[i].id, "0000:03:00.1") == 0)
			f->held.devices[i].reserved_ms = 7 + i;
	plan = plan_of(f);
	assert_true(plan.certain);
	assert_int_equal(plan.n, 3);
	assert_int_equal(plan.n_with_status, 2);
	assert_string_equal(plan.folders[0].name, "0000-03-00.1");
	assert_string_equal(plan.folders[0].id, "0000:03:00.1");
	assert_string_equal(plan.folders[2].name, "GPU-1");
	assert_true(plan.folders[0].has_status && plan.folders[1].has_status);
	assert_false(plan.folders[2].has_status);
	/* The time of the last Allocate is used. */
	assert_true(plan.folders[0].since_ms > 7);
	assert_int_equal(plan.folders[1].since_ms, 0);
	assert_false(pod_status_is_stale(&plan, "0000-03-00.1"));
	assert_true(pod_status_is_stale(&plan, "0000-03-00.3"));
	assert_true(pod_status_is_stale(&plan, "x"));
	assert_true(pod_status_is_stale(
		&plan, "a-name-of-more-than-sixty-four-characters-which-cannot-be-a-device"));
	pod_status_plan_done(&plan);
}

/* "podStatus" was removed while pods have devices: their folders are kept. */
static void test_a_pool_without_status(void **state)
{
	struct pool_fixture *f = *state;
	struct pod_status_plan plan;

	add_status_pool(f)->pod_status = false;
	hold(&f->held, ROCE, "0000:03:00.2");
	plan = plan_of(f);
	assert_int_equal(plan.n, 1);
	assert_int_equal(plan.n_with_status, 0);
	assert_false(pod_status_is_stale(&plan, "0000-03-00.2"));
	pod_status_plan_done(&plan);
}

static void test_unknown_allocations_remove_no_folder(void **state)
{
	struct pool_fixture *f = *state;
	struct pod_status_plan plan;

	add_status_pool(f);
	hold(&f->held, ROCE, "0000:03:00.2"); /* reserved by Allocate */
	f->held.source = POD_SOURCE_NONE;
	plan = plan_of(f);
	assert_int_equal(plan.n_with_status, 1);
	assert_false(plan.certain);
	assert_false(pod_status_is_stale(&plan, "0000-03-00.3"));
	pod_status_plan_done(&plan);
}

#define POOL_TEST(fn) cmocka_unit_test_setup_teardown(fn, pool_fixture_setup, pool_fixture_teardown)

TEST_GROUP(pod_status)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_the_grant),
		POOL_TEST(test_folders_of_held_devices),
		POOL_TEST(test_a_pool_without_status),
		POOL_TEST(test_unknown_allocations_remove_no_folder),
	};

	return test_group_run(tests, NULL, NULL);
}
