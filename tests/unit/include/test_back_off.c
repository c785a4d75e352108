// SPDX-License-Identifier: Apache-2.0
/* Retry pauses that double. */
#include "back_off.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_doubles_up_to_the_longest(void **state)
{
	static const uint32_t want[] = {20, 40, 80, 160, 300, 300};
	uint32_t pause_ms = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(back_off(&pause_ms, 20, 300), want[i]);
	pause_ms = 0;
	assert_int_equal(back_off(&pause_ms, 20, 300), 20);
}

static void test_a_shorter_limit_counts_at_once(void **state)
{
	uint32_t pause_ms = 8000;

	(void)state;
	assert_int_equal(back_off(&pause_ms, 20, 1000), 1000);
	assert_int_equal(back_off(&pause_ms, 20, 10000), 2000);
}

static void test_never_wraps(void **state)
{
	uint32_t pause_ms = UINT32_MAX - 1;

	(void)state;
	assert_int_equal(back_off(&pause_ms, 1, UINT32_MAX), UINT32_MAX);
}

TEST_GROUP(back_off)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubles_up_to_the_longest),
		cmocka_unit_test(test_a_shorter_limit_counts_at_once),
		cmocka_unit_test(test_never_wraps),
	};

	return test_group_run(tests, NULL, NULL);
}
