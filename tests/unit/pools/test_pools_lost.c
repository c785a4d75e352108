// SPDX-License-Identifier: Apache-2.0
/* Detects a new configuration that removes all of a pool's devices on this node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pool_fixture.h"
#include "pools_lost.h"
#include "resource_table.h"
#include "test_group.h"

/* The fixture's configuration is the one in use. */
struct lost {
	struct pool_fixture *f;
	struct resource_info info;
	struct resource_table table;
	struct pool_config next;
};

static void lost_begin(struct lost *l, void **state)
{
	memset(l, 0, sizeof(*l));
	l->f = *state;
	add_pf(add_selector(add_pool(&l->f->config, "x.io", "a", POOL_EXCLUSIVE)), "eth0");
	SET_TEXT(l->info.name, "x.io/a");
	l->info.n_devices = 4;
	l->table.resources = &l->info;
	l->table.n_resources = 1;
}

static int lost_judge(struct lost *l, struct pool_loss *loss, bool only_held)
{
	int r = pools_lost(loss, &l->table, &l->f->config, &l->next, &l->f->host, only_held);

	pool_fixture_free_config(&l->next);
	pod_list_done(&l->table.held);
	return r;
}

static void test_a_selector_that_finds_nothing(void **state)
{
	struct pool_loss loss = {.n_held = 7};
	struct lost l;

	lost_begin(&l, state);
	add_pf(add_selector(add_pool(&l.next, "x.io", "a", POOL_EXCLUSIVE)), "eth9");
	hold(&l.table.held, "x.io/a", "0000:03:00.1");
	hold(&l.table.held, "x.io/b", "0000:03:00.2");
	assert_int_equal(lost_judge(&l, &loss, true), 1);
	assert_string_equal(loss.resource, "x.io/a");
	assert_int_equal(loss.n_devices, 4);
	assert_int_equal(loss.n_held, 1);
}

static void test_a_pool_that_is_missing(void **state)
{
	struct pool_loss loss = {.n_held = 7};
	struct lost l;

	lost_begin(&l, state);
	assert_int_equal(lost_judge(&l, &loss, true), 0); /* no pod holds a device of it */
	assert_int_equal(loss.n_held, 7);
	assert_int_equal(lost_judge(&l, &loss, false), 1);
	assert_int_equal(loss.n_held, 0);
	l.info.n_devices = 0; /* the pool had no devices */
	assert_int_equal(lost_judge(&l, &loss, false), 0);
}

static void test_another_definition_with_devices(void **state)
{
	struct pool_loss loss;
	struct lost l;

	lost_begin(&l, state);
	add_pf(add_selector(add_pool(&l.next, "x.io", "a", POOL_EXCLUSIVE)), "eth4");
	hold(&l.table.held, "x.io/a", "0000:03:00.1");
	assert_int_equal(lost_judge(&l, &loss, true), 0);
}

/* An earlier pool of the new file gets the devices. */
static void test_another_pool_takes_them(void **state)
{
	struct pool_loss loss;
	struct lost l;

	lost_begin(&l, state);
	add_selector(add_pool(&l.next, "x.io", "b", POOL_EXCLUSIVE));
	add_pf(add_selector(add_pool(&l.next, "x.io", "a", POOL_EXCLUSIVE)), "eth0");
	hold(&l.table.held, "x.io/a", "0000:03:00.1");
	assert_int_equal(lost_judge(&l, &loss, true), 1);
}

/* All devices of the pool are in pods, where the selectors do not match them. */
static void test_selectors_that_do_not_match_in_pods(void **state)
{
	struct pool_loss loss;
	struct lost l;

	lost_begin(&l, state);
	add_word(&add_selector(add_pool(&l.f->config, "x.io", "c", POOL_EXCLUSIVE))->rdma_names,
		 "rdma-in-pod");
	SET_TEXT(l.info.name, "x.io/c");
	add_word(&add_selector(add_pool(&l.next, "x.io", "c", POOL_EXCLUSIVE))->rdma_names,
		 "rdma-in-pod");
	hold(&l.table.held, "x.io/c", "0000:03:00.1");
	assert_int_equal(lost_judge(&l, &loss, true), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pool_fixture_setup, pool_fixture_teardown)

TEST_GROUP(pools_lost)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_selector_that_finds_nothing),	TEST(test_a_pool_that_is_missing),
		TEST(test_another_definition_with_devices),	TEST(test_another_pool_takes_them),
		TEST(test_selectors_that_do_not_match_in_pods),
	};

	return test_group_run(tests, NULL, NULL);
}
