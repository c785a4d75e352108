#include "connections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bucket.h"

static void test_slots_run_out_and_come_back(void **state)
{
	struct connections c;
	struct connection *a;

	(void)state;
	assert_int_equal(connections_init(&c, 3, 100, 1000, 300), 0);
	a = connections_add(&c, 10, 0);
	assert_non_null(connections_add(&c, 11, 0));
	assert_non_null(connections_add(&c, 12, 0));
	assert_true(connections_full(&c));
	assert_null(connections_add(&c, 13, 0));
	connections_remove(&c, a);
	assert_ptr_equal(connections_add(&c, 14, 0), a);
	assert_int_equal(a->fd, 14);
	connections_done(&c);
}

static void test_tiny_tables_still_serve(void **state)
{
	struct connections c;

	(void)state;
	assert_int_equal(connections_init(&c, 0, 100, 1000, 300), 0);
	assert_int_equal(c.size, 2);
	assert_non_null(connections_add(&c, 10, 0));
	assert_null(connections_crowding(&c));
	connections_done(&c);
}

static void test_deadline_of_each_phase(void **state)
{
	struct connections c;
	struct connection *a, *b;

	(void)state;
	assert_int_equal(connections_init(&c, 8, 100, 1000, 300), 0);
	assert_true(connections_deadline(&c) == CONNECTIONS_NEVER);
	a = connections_add(&c, 10, 0);
	b = connections_add(&c, 11, 50);
	assert_int_equal(connections_deadline(&c), 100);
	assert_null(connections_expired(&c, 99));
	assert_ptr_equal(connections_expired(&c, 100), a);
	connections_enter(&c, a, CONNECTION_ANSWER, 90);
	assert_int_equal(connections_deadline(&c), 150);
	connections_enter(&c, b, CONNECTION_IDLE, 140);
	assert_int_equal(connections_deadline(&c), 190);
	connections_enter(&c, a, CONNECTION_IDLE, 150);
	assert_int_equal(connections_deadline(&c), 1140);
	assert_null(connections_expired(&c, 1139));
	assert_ptr_equal(connections_expired(&c, 1140), b);
	connections_done(&c);
}

static void test_idle_ones_go_first_then_the_slowest(void **state)
{
	struct connections c;
	struct connection *slot[16];
	int i;

	(void)state;
	assert_int_equal(connections_init(&c, 16, 100, 1000, 300), 0);
	for (i = 0; i < 14; i++)
		slot[i] = connections_add(&c, i, 50);
	assert_null(connections_crowding(&c)); /* two of sixteen are free: an eighth */
	slot[14] = connections_add(&c, 14, 50);
	assert_ptr_equal(connections_crowding(&c), slot[0]);
	connections_remove(&c, slot[0]);
	assert_ptr_equal(connections_add(&c, 15, 50), slot[0]);
	assert_ptr_equal(connections_crowding(&c), slot[1]); /* slot 0 is the newest now */
	connections_enter(&c, slot[5], CONNECTION_IDLE, 51);
	connections_enter(&c, slot[3], CONNECTION_IDLE, 52);
	assert_ptr_equal(connections_crowding(&c), slot[5]);
	connections_done(&c);
}

static void test_a_cut_one_is_never_chosen_again(void **state)
{
	struct connections c;
	struct connection *a;

	(void)state;
	assert_int_equal(connections_init(&c, 2, 100, 1000, 300), 0);
	a = connections_add(&c, 10, 0);
	connections_add(&c, 11, 5);
	assert_ptr_equal(connections_crowding(&c), a);
	a->phase = CONNECTION_CUT;
	assert_null(connections_crowding(&c)); /* its place is about to be free */
	connections_enter(&c, a, CONNECTION_IDLE, 7);
	assert_int_equal(a->phase, CONNECTION_CUT);
	assert_int_equal(connections_deadline(&c), 105);
	assert_true(connections_full(&c));
	connections_done(&c);
}

static void test_orphans(void **state)
{
	struct connections c;
	struct connection *a, *b;

	(void)state;
	assert_int_equal(connections_init(&c, 4, 100, 1000, 300), 0);
	a = connections_add(&c, 10, 0);
	b = connections_add(&c, 11, 0);
	assert_ptr_equal(connections_adopt(&c, 11), b);
	assert_null(connections_adopt(&c, 11));
	a->phase = CONNECTION_CUT; /* told to go before anybody took it */
	assert_ptr_equal(connections_adopt(&c, 10), a);
	connections_add(&c, 12, 0);
	connections_drop_orphans(&c);
	assert_int_equal(c.used, 2);
	assert_null(connections_adopt(&c, 12));
	connections_remove(&c, a);
	a = connections_add(&c, 10, 0);
	assert_false(a->adopted);
	connections_done(&c);
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_run_out_and_come_back),
		cmocka_unit_test(test_tiny_tables_still_serve),
		cmocka_unit_test(test_deadline_of_each_phase),
		cmocka_unit_test(test_idle_ones_go_first_then_the_slowest),
		cmocka_unit_test(test_a_cut_one_is_never_chosen_again),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
