// SPDX-License-Identifier: Apache-2.0
/* Times as UTC texts. */
#include "test_group.h"
#include "utc_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_time(uint64_t unix_ms, const char *want)
{
	char got[UTC_TEXT_SIZE];

	utc_text(unix_ms, got);
	assert_string_equal(got, want);
}

static void test_known_times(void **state)
{
	(void)state;
	assert_time(0, "");
	assert_time(1, "1970-01-01T00:00:00.001Z");
	assert_time(951782400000, "2000-02-29T00:00:00.000Z");
	assert_time(1767323045678, "2026-01-02T03:04:05.678Z");
	assert_time(4107542400000, "2100-03-01T00:00:00.000Z");
	assert_time(253402300799999, "9999-12-31T23:59:59.999Z");
}

static void test_impossible_times_fit(void **state)
{
	char got[UTC_TEXT_SIZE];

	(void)state;
	utc_text(UINT64_MAX, got);
	assert_int_equal(strlen(got), 24);
}

static void test_days(void **state)
{
	(void)state;
	assert_int_equal(utc_day(1970, 1, 1), 0);
	assert_int_equal(utc_day(2024, 2, 29), 1709164800);
	assert_int_equal(utc_day(2100, 3, 1), 4107542400);
	assert_int_equal(utc_day(2026, 2, 29), -1);
	assert_int_equal(utc_day(2100, 2, 29), -1);
	assert_int_equal(utc_day(2026, 4, 31), -1);
	assert_int_equal(utc_day(2026, 13, 1), -1);
	assert_int_equal(utc_day(2026, 0, 1), -1);
	assert_int_equal(utc_day(2026, 1, 0), -1);
	assert_int_equal(utc_day(1969, 12, 31), -1);
}

TEST_GROUP(utc_text)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_times),
		cmocka_unit_test(test_impossible_times_fit),
		cmocka_unit_test(test_days),
	};

	return test_group_run(tests, NULL, NULL);
}
