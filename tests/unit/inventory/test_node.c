// SPDX-License-Identifier: Apache-2.0
/* Hints trigger scans, and scans update the inventory: bursts are combined, lost events trigger a
 * full scan, and closing frees everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h>

#include "loop_helpers.h"
#include "node.h"
#include "test_group.h"
#include "tmptree.h"

struct fixture {
	uv_loop_t loop;
	uv_timer_t deadline;
	struct hw hw;
	char *tree;
	struct self_counters self;
	struct node *node;
	unsigned changes, firsts;
	uint64_t n_noted;
	bool timed_out;
};

static void on_changed(bool first, void *arg)
{
	struct fixture *f = arg;

	f->changes++;
	f->firsts += first;
}

static void on_deadline(uv_timer_t *timer)
{
	struct fixture *f = timer->data;

	f->timed_out = true;
}

/* Runs until so many scans of devices have started and so many changes were reported, at most 10
 * s. */
static void run_until(struct fixture *f, uint64_t scans, unsigned changes)
{
	uv_timer_start(&f->deadline, on_deadline, PATIENCE_MS, 0);
	while ((f->self.rescans_devices < scans || f->changes < changes) && !f->timed_out)
		uv_run(&f->loop, UV_RUN_ONCE);
	uv_timer_stop(&f->deadline);
	assert_false(f->timed_out);
}

static void run_until_complete(struct fixture *f)
{
	uv_timer_start(&f->deadline, on_deadline, PATIENCE_MS, 0);
	while (!node_complete(f->node) && !f->timed_out)
		uv_run(&f->loop, UV_RUN_ONCE);
	uv_timer_stop(&f->deadline);
	assert_false(f->timed_out);
}

static void add_device(struct fixture *f, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "class/infiniband/%s/ports/1/state", name);
	tmptree_write(f->tree, path, "4: ACTIVE\n");
	snprintf(path, sizeof(path), "class/infiniband/%s/node_guid", name);
	tmptree_write(f->tree, path, "0002:c903:0000:0001\n");
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct node_opts opts = {.settle_ms = 2};
	struct err e = {0};

	assert_non_null(f);
	f->tree = tmptree_new();
	add_device(f, "mlx5_0");
	assert_int_equal(uv_loop_init(&f->loop), 0);
	uv_timer_init(&f->loop, &f->deadline);
	f->deadline.data = f;
	assert_int_equal(hw_open(&f->hw, f->tree, f->tree, f->tree, &e), 0);
	assert_int_equal(node_open(&f->node, &f->loop, &f->hw, &f->self, &opts, on_changed, f, &e),
			 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	node_close(f->node);
	uv_close((uv_handle_t *)&f->deadline, NULL);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&f->loop), 0);
	hw_close(&f->hw);
	tmptree_free(f->tree);
	free(f);
	return 0;
}

static void test_the_first_scans_are_reported_once(void **state)
{
	struct fixture *f = *state;

	run_until_complete(f);
	assert_int_equal(f->firsts, 1);
	assert_int_equal(f->self.rescans_functions, 1);
	assert_int_equal(f->self.rescans_devices, 1);
	assert_non_null(host_rdma(&node_inventory(f->node)->host, "mlx5_0"));
}

static void test_devices_are_complete_before_details(void **state)
{
	struct fixture *f = *state;

	assert_false(node_knows_devices(f->node));
	while (!node_knows_devices(f->node)) {
		assert_false(node_complete(f->node));
		uv_run(&f->loop, UV_RUN_ONCE);
	}
	assert_non_null(host_rdma(&node_inventory(f->node)->host, "mlx5_0"));
	run_until_complete(f);
	assert_true(node_knows_devices(f->node));
}

static void test_a_burst_of_hints_is_one_scan(void **state)
{
	struct fixture *f = *state;

	run_until_complete(f);
	add_device(f, "mlx5_1");
	for (int i = 0; i < 1000; i++)
		node_hint(f->node, SCAN_RDMA, false);
	run_until(f, 2, f->changes + 1);
	assert_int_equal(f->self.rescans_devices, 2);
	assert_int_equal(f->self.rescans_functions, 1);
	assert_non_null(host_rdma(&node_inventory(f->node)->host, "mlx5_1"));
}

static void note_rescans(uv_timer_t *timer)
{
	struct fixture *f = timer->data;

	f->n_noted = f->self.rescans_devices;
	f->timed_out = true; /* ends run_until() */
}

/* Timers expire in the order of their times, however late they run. */
static void test_rescans_wait_while_devices_move(void **state)
{
	struct fixture *f = *state;

	run_until_complete(f);
	node_moving(f->node, true);
	node_hint(f->node, SCAN_RDMA, false);
	uv_timer_start(&f->deadline, note_rescans, NODE_MOVING_MS / 2, 0);
	while (!f->timed_out)
		uv_run(&f->loop, UV_RUN_ONCE);
	f->timed_out = false;
	assert_int_equal(f->n_noted, 1);
	node_moving(f->node, false);
	run_until(f, 2, f->changes);
}

static void test_rescans_do_not_wait_long(void **state)
{
	struct fixture *f = *state;

	run_until_complete(f);
	node_moving(f->node, true);
	node_hint(f->node, SCAN_RDMA, false);
	run_until(f, 2, f->changes);
	assert_int_equal(f->self.rescans_devices, 2);
}

static void test_hints_during_a_scan_start_another_one(void **state)
{
	struct fixture *f = *state;

	uv_run(&f->loop, UV_RUN_NOWAIT); /* the first scans are running now */
	assert_int_equal(f->self.rescans_devices, 1);
	node_hint(f->node, SCAN_RDMA, false);
	run_until(f, 2, 1);
	assert_int_equal(f->self.rescans_devices, 2);
	assert_int_equal(f->self.rescans_functions, 1);
}

static void test_lost_events_trigger_a_full_scan(void **state)
{
	struct fixture *f = *state;

	run_until_complete(f);
	node_hint(f->node, 0, true);
	run_until(f, 2, 1);
	assert_int_equal(f->self.resyncs, 1);
	assert_int_equal(f->self.rescans_functions, 2);
}

static void test_unchanged_scans_notify_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t generation;
	unsigned changes;

	run_until_complete(f);
	generation = node_inventory(f->node)->generation;
	changes = f->changes;
	node_hint(f->node, SCAN_ALL, false);
	run_until(f, 2, 0);
	node_hint(f->node, SCAN_ALL, false); /* starts after the previous scan was applied */
	run_until(f, 3, 0);
	assert_int_equal(f->changes, changes);
	assert_int_equal(node_inventory(f->node)->generation, generation);
}

/* The time shows which earlier changes a scan must contain. */
static void test_the_time_of_a_device_scan_is_recorded(void **state)
{
	struct fixture *f = *state;
	uint64_t first, hinted;

	run_until_complete(f);
	first = node_inventory(f->node)->devices_ms;
	assert_true(first > 0);
	hinted = uv_now(&f->loop);
	node_hint(f->node, SCAN_NETDEVS, false);
	run_until(f, 2, 0);
	node_hint(f->node, SCAN_RDMA, false); /* starts after the previous scan was applied */
	run_until(f, 3, 0);
	assert_true(node_inventory(f->node)->devices_ms >= hinted);
	assert_true(node_inventory(f->node)->devices_ms <= uv_now(&f->loop));
}

static void test_closing_with_scans_in_flight_is_clean(void **state)
{
	struct fixture *f = *state;

	uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_int_equal(f->self.rescans_devices, 1); /* the teardown asserts the rest */
}

TEST_GROUP(node)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_first_scans_are_reported_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_devices_are_complete_before_details, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_burst_of_hints_is_one_scan, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rescans_wait_while_devices_move, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_rescans_do_not_wait_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hints_during_a_scan_start_another_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_lost_events_trigger_a_full_scan, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_unchanged_scans_notify_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_time_of_a_device_scan_is_recorded, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_closing_with_scans_in_flight_is_clean, setup,
						teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
