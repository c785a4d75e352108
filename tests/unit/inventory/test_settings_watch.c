// SPDX-License-Identifier: Apache-2.0
/* Settings of ports: read on a worker at most once per pause, reported when they change, and closed
 * at any time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h>

#include "loop_helpers.h"
#include "settings_watch.h"
#include "sysfs_tree.h"
#include "test_group.h"
#include "tmptree.h"

#define TOS "kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"

struct fixture {
	uv_loop_t loop;
	struct hw hw;
	char *tree;
	struct inventory inventory;
	struct settings_watch *watch;
	unsigned n_changes;
};

static void on_changed(void *arg)
{
	struct fixture *f = arg;

	f->n_changes++;
}

static void check_host(struct fixture *f)
{
	struct scan s;

	hw_scan(&f->hw, SCAN_ALL, &s);
	inventory_apply(&f->inventory, &s, 1);
	scan_done(&s);
}

static void open_watch(struct fixture *f, uint32_t pause_ms)
{
	struct err e = {0};

	assert_int_equal(settings_watch_open(&f->watch, &f->loop, &f->hw, &f->inventory, pause_ms,
					     on_changed, f, &e),
			 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->tree = tmptree_new();
	tmptree_write(f->tree, "class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	tmptree_write(f->tree, TOS, "106\n");
	f->hw = sysfs_tree_open(f->tree);
	check_host(f);
	assert_int_equal(uv_loop_init(&f->loop), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	settings_watch_close(f->watch);
	inventory_done(&f->inventory);
	assert_int_equal(loop_end(&f->loop), 0);
	hw_close(&f->hw);
	tmptree_free(f->tree);
	free(f);
	return 0;
}

/* Refreshes, and waits until reading has finished. */
static void refresh(struct fixture *f)
{
	settings_watch_refresh(f->watch);
	while (uv_run(&f->loop, UV_RUN_ONCE))
		;
}

static unsigned tos_of(const struct fixture *f)
{
	const struct port_settings *s = settings_of(settings_watch_table(f->watch), "mlx5_0", 1);

	assert_non_null(s);
	assert_true(s->seen & SETTINGS_CM_TOS);
	return s->cm_tos;
}

static void settings_are_reported_after_reading(void **state)
{
	struct fixture *f = *state;

	open_watch(f, 0);
	assert_int_equal(settings_watch_table(f->watch)->n, 0);
	settings_watch_refresh(f->watch);
	settings_watch_refresh(f->watch); /* no second read at the same time */
	assert_int_equal(f->inventory.host_ref->n_borrowers, 1);
	assert_int_equal(f->n_changes, 0);
	refresh(f);
	assert_null(f->inventory.host_ref);
	assert_int_equal(f->n_changes, 1);
	assert_int_equal(tos_of(f), 106);
}

static void only_changes_are_reported(void **state)
{
	struct fixture *f = *state;
	const struct settings_row *rows;

	open_watch(f, 0);
	refresh(f);
	rows = settings_watch_table(f->watch)->rows;
	refresh(f);
	assert_int_equal(f->n_changes, 1);
	assert_ptr_equal(settings_watch_table(f->watch)->rows, rows);
	tmptree_write(f->tree, TOS, "104\n");
	refresh(f);
	assert_int_equal(f->n_changes, 2);
	assert_int_equal(tos_of(f), 104);
}

/* Refreshing often does not read often. */
static void settings_are_not_read_before_the_pause_has_elapsed(void **state)
{
	struct fixture *f = *state;

	open_watch(f, UINT32_MAX);
	refresh(f);
	tmptree_write(f->tree, TOS, "104\n");
	settings_watch_refresh(f->watch);
	assert_null(f->inventory.host_ref);
	refresh(f);
	assert_int_equal(tos_of(f), 106);
}

static void the_host_may_change_during_a_read(void **state)
{
	struct fixture *f = *state;

	open_watch(f, 0);
	settings_watch_refresh(f->watch);
	assert_non_null(f->inventory.host_ref);
	tmptree_write(f->tree, "class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n");
	check_host(f);
	while (uv_run(&f->loop, UV_RUN_ONCE))
		;
	assert_int_equal(settings_watch_table(f->watch)->n, 1);
	refresh(f);
	assert_int_equal(settings_watch_table(f->watch)->n, 2);
}

static void closing_during_a_read(void **state)
{
	struct fixture *f = *state;

	open_watch(f, 0);
	settings_watch_refresh(f->watch);
	settings_watch_close(f->watch);
	f->watch = NULL;
	inventory_done(&f->inventory);
	while (uv_run(&f->loop, UV_RUN_ONCE))
		;
	assert_int_equal(f->n_changes, 0);
	settings_watch_refresh(NULL);
}

TEST_GROUP(settings_watch)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(settings_are_reported_after_reading),
		T(only_changes_are_reported),
		T(settings_are_not_read_before_the_pause_has_elapsed),
		T(the_host_may_change_during_a_read),
		T(closing_during_a_read),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
