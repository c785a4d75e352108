// SPDX-License-Identifier: Apache-2.0
#include "connections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bucket.h"
#include "test_group.h"

/* A table with memory for at most 16 connections. */
struct table {
	struct connections c;
	struct connection at[16];
};

static void table_init(struct table *t, unsigned max)
{
	*t = (struct table){0};
	connections_init(&t->c, max, max, 100, 300);
}

static struct connection *add(struct table *t, int i, uint64_t now_ms)
{
	t->at[i] = (struct connection){.fd = i};
	connections_add(&t->c, &t->at[i], now_ms);
	return &t->at[i];
}

static void test_the_smallest_table_serves_two(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, 0);
	assert_int_equal(t.c.max[PLACES_READERS], 2);
	assert_int_equal(t.c.max[PLACES_ADMIN], 2);
	add(&t, 0, 0);
	assert_null(connections_to_evict(&t.c, PLACES_READERS));
	add(&t, 1, 0);
	assert_ptr_equal(connections_to_evict(&t.c, PLACES_READERS), &t.at[0]);
}

static void assert_next(const struct table *t, const struct connection *expected, uint64_t when_ms)
{
	uint64_t deadline_ms;

	assert_ptr_equal(connections_next(&t->c, &deadline_ms), expected);
	assert_true(deadline_ms == when_ms);
}

static void test_deadline_of_each_phase(void **state)
{
	struct connection *a, *b;
	struct table t;

	(void)state;
	table_init(&t, 8);
	assert_next(&t, NULL, CONNECTIONS_NEVER);
	a = add(&t, 0, 0);
	b = add(&t, 1, 50);
	assert_next(&t, a, 100);
	connections_enter(&t.c, a, CONNECTION_ANSWER, 90);
	assert_next(&t, b, 150);
	connections_enter(&t.c, b, CONNECTION_WAITING, 140);
	assert_next(&t, a, 190);
	connections_enter(&t.c, a, CONNECTION_IDLE, 150); /* libmicrohttpd's own timeout applies */
	assert_next(&t, b, 440);
	connections_remove(&t.c, b);
	assert_next(&t, NULL, CONNECTIONS_NEVER);
}

static void test_idle_ones_go_first_then_the_slowest(void **state)
{
	struct table t;
	int i;

	(void)state;
	table_init(&t, 16);
	for (i = 0; i < 14; i++)
		add(&t, i, 50);
	/* two of 16 are free, which is an eighth */
	assert_null(connections_to_evict(&t.c, PLACES_READERS));
	add(&t, 14, 50);
	assert_ptr_equal(connections_to_evict(&t.c, PLACES_READERS), &t.at[0]);
	connections_remove(&t.c, &t.at[0]);
	assert_null(connections_to_evict(&t.c, PLACES_READERS));
	add(&t, 0, 50);
	assert_ptr_equal(connections_to_evict(&t.c, PLACES_READERS),
			 &t.at[1]); /* 0 is the newest now */
	connections_enter(&t.c, &t.at[5], CONNECTION_IDLE, 51);
	connections_enter(&t.c, &t.at[3], CONNECTION_IDLE, 52);
	assert_ptr_equal(connections_to_evict(&t.c, PLACES_READERS), &t.at[5]);
}

static void test_waiting_connections_are_not_evicted(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, 2);
	add(&t, 0, 0);
	add(&t, 1, 5);
	connections_enter(&t.c, &t.at[0], CONNECTION_WAITING, 6);
	assert_ptr_equal(connections_to_evict(&t.c, PLACES_READERS), &t.at[1]);
	connections_enter(&t.c, &t.at[1], CONNECTION_WAITING, 7);
	assert_null(connections_slowest(&t.c));
}

static void test_a_cut_connection_is_not_evicted_again(void **state)
{
	struct connection *a;
	struct table t;

	(void)state;
	table_init(&t, 2);
	a = add(&t, 0, 0);
	add(&t, 1, 5);
	assert_ptr_equal(connections_to_evict(&t.c, PLACES_READERS), a);
	connections_enter(&t.c, a, CONNECTION_CUT, 6);
	/* a place is about to become free */
	assert_null(connections_to_evict(&t.c, PLACES_READERS));
	connections_enter(&t.c, a, CONNECTION_IDLE, 7);
	assert_int_equal(a->phase, CONNECTION_CUT);
	assert_next(&t, &t.at[1], 105);
	assert_ptr_equal(connections_slowest(&t.c), &t.at[1]);
}

/* Readers and admin connections do not take places from each other. */
static void test_admin_connections_have_their_own_limit(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, 2);
	add(&t, 0, 0);
	for (int i = 1; i < 3; i++)
		add(&t, i, i)->admin = ADMIN_ALLOWED;
	assert_null(connections_to_evict(&t.c, PLACES_READERS));
	assert_ptr_equal(connections_to_evict(&t.c, PLACES_ADMIN), &t.at[1]);
	assert_ptr_equal(connections_slowest(&t.c), &t.at[0]);
	connections_enter(&t.c, &t.at[0], CONNECTION_WAITING, 6);
	assert_ptr_equal(connections_slowest(&t.c), &t.at[1]);
	connections_enter(&t.c, &t.at[1], CONNECTION_WAITING, 7);
	connections_enter(&t.c, &t.at[2], CONNECTION_WAITING, 8);
	assert_null(connections_to_evict(&t.c, PLACES_ADMIN));
	add(&t, 3, 9);
	assert_ptr_equal(connections_to_evict(&t.c, PLACES_READERS), &t.at[3]);
}

static void test_bucket(void **state)
{
	struct bucket b;
	int i;

	(void)state;
	bucket_init(&b, 200, 400, 1000);
	for (i = 0; i < 400; i++)
		assert_true(bucket_take(&b, 1000));
	assert_false(bucket_take(&b, 1004));
	assert_true(bucket_take(&b, 1005));
	assert_false(bucket_take(&b, 1005));
	assert_false(bucket_take(&b, 3)); /* the clock stepped back */
	for (i = 0; i < 400; i++)
		assert_true(bucket_take(&b, UINT64_MAX / 2));
	assert_false(bucket_take(&b, UINT64_MAX / 2));
	bucket_charge(&b, 1); /* no token is left */
	assert_true(bucket_take(&b, UINT64_MAX / 2 + 10));
	bucket_charge(&b, 1);
	assert_false(bucket_take(&b, UINT64_MAX / 2 + 10));
}

TEST_GROUP(connections)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_smallest_table_serves_two),
		cmocka_unit_test(test_deadline_of_each_phase),
		cmocka_unit_test(test_idle_ones_go_first_then_the_slowest),
		cmocka_unit_test(test_waiting_connections_are_not_evicted),
		cmocka_unit_test(test_a_cut_connection_is_not_evicted_again),
		cmocka_unit_test(test_admin_connections_have_their_own_limit),
		cmocka_unit_test(test_bucket),
	};

	return test_group_run(tests, NULL, NULL);
}
