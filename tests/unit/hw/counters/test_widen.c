// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "cleanup.h"
#include "test_group.h"
#include "widen.h"

#define TOP (UINT64_C(1) << 32)

/* A port of three counters: two of 32 bits, one of 64. */
static struct widen port[3];

static int fresh_port(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		port[i] = (struct widen){.wraps32 = i < 2, .monotonic = true};
	return 0;
}

static bool sample(uint64_t a, uint64_t b, uint64_t c)
{
	port[0].raw = a;
	port[1].raw = b;
	port[2].raw = c;
	port[0].ok = port[1].ok = port[2].ok = true;
	return widen_port(port, 3).is_reset;
}

static void rising_counters_are_not_changed(void **state)
{
	(void)state;
	assert_false(sample(1, 2, 3));
	assert_false(sample(1, 20, TOP * 5));
	assert_int_equal(widen_value(&port[1]), 20);
	assert_int_equal(widen_value(&port[2]), TOP * 5);
}

static void one_32_bit_counter_wraps(void **state)
{
	(void)state;
	sample(TOP - 10, 5, 5);
	assert_false(sample(20, 6, 6));
	assert_int_equal(widen_value(&port[0]), TOP + 20);
	sample(TOP - 1, 7, 7);
	assert_false(sample(0, 7, 7));
	assert_false(sample(0, 7, 7)); /* the first read of a 0 does not count */
	assert_int_equal(widen_value(&port[0]), 2 * TOP);
	assert_int_equal(widen_value(&port[1]), 7);
}

static void two_falls_are_a_reset(void **state)
{
	(void)state;
	sample(TOP - 10, TOP - 10, 5);
	assert_true(sample(20, 20, 6));
	assert_int_equal(widen_value(&port[0]), 20);
	assert_int_equal(widen_value(&port[1]), 20);
}

static void a_fall_of_a_64_bit_counter_is_a_reset(void **state)
{
	(void)state;
	sample(1, 1, TOP - 10);
	assert_true(sample(1, 1, 20));
	assert_int_equal(widen_value(&port[2]), 20);
}

static void a_fall_from_the_lower_half_is_a_reset(void **state)
{
	(void)state;
	sample(TOP / 2 - 1, 1, 1);
	assert_true(sample(1, 1, 1));
}

static void a_wrap_of_half_the_range_is_a_reset(void **state)
{
	(void)state;
	sample(TOP / 2 + 1, 1, 1);
	assert_true(sample(1, 1, 1)); /* a step of 2^31 */
	sample(TOP / 2 + 2, 1, 1);
	assert_false(sample(1, 1, 1)); /* one less */
}

static void a_reset_drops_the_bases_of_the_whole_port(void **state)
{
	(void)state;
	sample(TOP - 1, 1, 100);
	sample(1, 1, 100);
	assert_int_equal(widen_value(&port[0]), TOP + 1);
	assert_true(sample(3, 1, 50));
	assert_int_equal(widen_value(&port[0]), 3);
}

static void a_value_above_32_bits_never_wraps(void **state)
{
	(void)state;
	sample(TOP + 5, 1, 1);
	assert_true(sample(1, 1, 1));
}

static void an_absent_reading_is_neither_a_reset_nor_a_wrap(void **state)
{
	(void)state;
	sample(TOP - 5, 1, 1);
	port[0].ok = false;
	port[0].raw = 0;
	assert_false(widen_port(port, 3).is_reset);
	assert_false(sample(5, 1, 1));
	assert_int_equal(widen_value(&port[0]), TOP + 5);
}

static bool has_moved(uint64_t a, uint64_t b, uint64_t c)
{
	port[0].raw = a;
	port[1].raw = b;
	port[2].raw = c;
	return widen_port(port, 3).has_moved;
}

static void a_port_has_moved_when_a_counter_has(void **state)
{
	(void)state;
	assert_false(sample(7, 8, 9)); /* first values do not count as movement */
	assert_false(has_moved(7, 8, 9));
	assert_true(has_moved(7, 9, 9));
	assert_true(has_moved(1, 1, 1)); /* a reset counts as movement */
	port[0].ok = false;
	assert_false(has_moved(5, 1, 1));
	port[2].monotonic = false;
	assert_false(has_moved(5, 1, 40));
}

static void a_gauge_may_fall(void **state)
{
	(void)state;
	port[2].monotonic = false;
	sample(1, 1, 9);
	assert_false(sample(1, 1, 2));
	assert_int_equal(widen_value(&port[2]), 2);
}

/* Some drivers return 0 when they fail to read. */
static void a_0_that_is_read_once_does_not_count(void **state)
{
	(void)state;
	sample(1000, 2000, 3000);
	assert_false(sample(0, 2000, 3000));
	assert_false(port[0].ok);
	assert_true(port[1].ok);
	assert_false(sample(1001, 2000, 3000));
	assert_true(port[0].ok);
	assert_int_equal(widen_value(&port[0]), 1001);
	assert_false(sample(0, 0, 0)); /* all at once: a failed read, too */
	assert_false(port[0].ok || port[1].ok || port[2].ok);
	assert_false(sample(1002, 2000, 3000));
	assert_false(sample(0, 2000, 3000)); /* two zeros in a row are required */
	assert_false(port[0].ok);
}

static void a_0_that_is_read_twice_is_a_reset(void **state)
{
	(void)state;
	sample(1000, 2000, 3000);
	assert_false(sample(0, 0, 0));
	assert_true(sample(0, 0, 0));
	assert_true(port[0].ok && port[1].ok && port[2].ok);
	assert_int_equal(widen_value(&port[2]), 0);
	assert_false(sample(0, 0, 0));
	assert_true(port[0].ok);
}

static void a_0_counts_at_once_if_another_counter_started_over(void **state)
{
	(void)state;
	sample(1000, 2000, 3000);
	assert_true(sample(0, 5, 3000));
	assert_true(port[0].ok);
	assert_false(sample(0, 5, 3000)); /* the same reset is not reported twice */
}

static void the_first_0_of_a_counter_has_to_be_read_twice(void **state)
{
	(void)state;
	sample(0, 1, 0);
	assert_false(port[0].ok);
	assert_true(port[1].ok);
	assert_false(sample(0, 1, 500)); /* the third counter was not readable before */
	assert_true(port[0].ok && port[2].ok);
	assert_int_equal(widen_value(&port[2]), 500);
}

static void a_gauge_may_be_0_at_once(void **state)
{
	(void)state;
	port[2].monotonic = false;
	sample(1, 1, 0);
	assert_true(port[2].ok);
	sample(1, 1, 9);
	sample(1, 1, 0);
	assert_true(port[2].ok);
}

TEST_GROUP(widen)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rising_counters_are_not_changed, fresh_port),
		cmocka_unit_test_setup(a_0_that_is_read_once_does_not_count, fresh_port),
		cmocka_unit_test_setup(a_0_that_is_read_twice_is_a_reset, fresh_port),
		cmocka_unit_test_setup(a_0_counts_at_once_if_another_counter_started_over,
				       fresh_port),
		cmocka_unit_test_setup(the_first_0_of_a_counter_has_to_be_read_twice, fresh_port),
		cmocka_unit_test_setup(a_gauge_may_be_0_at_once, fresh_port),
		cmocka_unit_test_setup(one_32_bit_counter_wraps, fresh_port),
		cmocka_unit_test_setup(two_falls_are_a_reset, fresh_port),
		cmocka_unit_test_setup(a_fall_of_a_64_bit_counter_is_a_reset, fresh_port),
		cmocka_unit_test_setup(a_fall_from_the_lower_half_is_a_reset, fresh_port),
		cmocka_unit_test_setup(a_wrap_of_half_the_range_is_a_reset, fresh_port),
		cmocka_unit_test_setup(a_reset_drops_the_bases_of_the_whole_port, fresh_port),
		cmocka_unit_test_setup(a_value_above_32_bits_never_wraps, fresh_port),
		cmocka_unit_test_setup(an_absent_reading_is_neither_a_reset_nor_a_wrap, fresh_port),
		cmocka_unit_test_setup(a_port_has_moved_when_a_counter_has, fresh_port),
		cmocka_unit_test_setup(a_gauge_may_fall, fresh_port),
	};

	return test_group_run(tests, NULL, NULL);
}
