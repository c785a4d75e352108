// SPDX-License-Identifier: Apache-2.0
/* How many devices of a resource a new pod can get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <string.h>

#include "health.h"
#include "resource_tables.h"
#include "test_group.h"

#define EXCLUSIVE 0
#define SHARED	  1

static struct resource_table table;

static int fill(void **state)
{
	(void)state;
	resource_table_small(&table);
	table.resources[SHARED].registration = REGISTRATION_DONE;
	return 0;
}

static int empty(void **state)
{
	(void)state;
	resource_table_done(&table);
	return 0;
}

static size_t count_free(size_t resource)
{
	struct resource_counts n;

	resource_table_count(&table, &table.resources[resource], &n);
	return n.free;
}

static void test_healthy_devices_without_a_pod(void **state)
{
	(void)state;
	assert_int_equal(count_free(EXCLUSIVE), 1); /* held, reserved, free */
	table.devices[1].state = RESERVATION_FREE;  /* unhealthy */
	assert_int_equal(count_free(EXCLUSIVE), 1);
	table.devices[1].reasons = 0;
	assert_int_equal(count_free(EXCLUSIVE), 2);
}

static void test_counts_are_unknown_until_the_kubelets_list_is_read(void **state)
{
	struct resource_counts n;

	(void)state;
	table.held.source = POD_SOURCE_NONE;
	resource_table_count(&table, &table.resources[EXCLUSIVE], &n);
	assert_false(n.allocated_known);
	assert_false(n.free_known);
	table.resources[EXCLUSIVE].registration = REGISTRATION_REFUSED;
	resource_table_count(&table, &table.resources[EXCLUSIVE], &n);
	assert_true(n.free_known); /* none can be allocated */
	table.held.source = POD_SOURCE_API;
	resource_table_count(&table, &table.resources[EXCLUSIVE], &n);
	assert_true(n.allocated_known);
}

static void test_slots_are_limited_by_the_gid_tables(void **state)
{
	(void)state;
	assert_int_equal(count_free(SHARED), 2);
	table.resources[SHARED].gid_capacity = 2; /* one slot is held */
	assert_int_equal(count_free(SHARED), 1);
	table.resources[SHARED].gid_capacity = 1;
	assert_int_equal(count_free(SHARED), 0);
	table.resources[SHARED].gid_capacity = 0; /* unknown */
	assert_int_equal(count_free(SHARED), 2);
	table.resources[EXCLUSIVE].gid_capacity = 1;
	assert_int_equal(count_free(EXCLUSIVE), 1);
}

static void test_none_while_pods_could_not_start(void **state)
{
	(void)state;
	table.resources[EXCLUSIVE].registration = REGISTRATION_WAITING;
	assert_int_equal(count_free(EXCLUSIVE), 0);
	table.resources[EXCLUSIVE].registration = REGISTRATION_REFUSED;
	assert_int_equal(count_free(EXCLUSIVE), 0);
	strcpy(table.resources[SHARED].files_error, "/dev/infiniband/rdma_cm is missing");
	assert_int_equal(count_free(SHARED), 0);
}

TEST_GROUP(resource_free)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_healthy_devices_without_a_pod, fill, empty),
		cmocka_unit_test_setup_teardown(
			test_counts_are_unknown_until_the_kubelets_list_is_read, fill, empty),
		cmocka_unit_test_setup_teardown(test_slots_are_limited_by_the_gid_tables, fill,
						empty),
		cmocka_unit_test_setup_teardown(test_none_while_pods_could_not_start, fill, empty),
	};

	return test_group_run(tests, NULL, NULL);
}
