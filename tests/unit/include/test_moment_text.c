// SPDX-License-Identifier: Apache-2.0
/* Moments that people give: ages, times of day, dates. */
#include "moment_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "test_group.h"
#include "utc_text.h"

#define NOW 1796000400000 /* 2026-11-30T01:00:00Z */

static void assert_moment(const char *text, uint64_t after, const char *expected)
{
	char utc[UTC_TEXT_SIZE];
	uint64_t ms;

	if (!moment_text(text, NOW, after, &ms))
		fail_msg("%s is no moment", text);
	utc_text(ms, utc);
	assert_string_equal(utc, expected);
}

static void test_moments(void **state)
{
	(void)state;
	assert_moment("10m", 0, "2026-11-30T00:50:00.000Z");
	assert_moment("1d2h", 0, "2026-11-28T23:00:00.000Z");
	assert_moment("00:10", 0, "2026-11-30T00:10:00.000Z");
	assert_moment("01:00", 0, "2026-11-30T01:00:00.000Z");
	/* Later today is not yet: yesterday's. */
	assert_moment("02:10", 0, "2026-11-29T02:10:00.000Z");
	assert_moment("23:59:59", 0, "2026-11-29T23:59:59.000Z");
	/* The end of a range follows its beginning. */
	assert_moment("02:10", NOW - 3600000 * 24, "2026-11-29T02:10:00.000Z");
	assert_moment("00:10", NOW - 3600000 * 2, "2026-11-30T00:10:00.000Z");
	assert_moment("2026-11-29T02:10:00Z", 0, "2026-11-29T02:10:00.000Z");
	assert_moment("2026-11-29 02:10", 0, "2026-11-29T02:10:00.000Z");
	assert_moment("2026-11-29T02:10:00.25+01:00", 0, "2026-11-29T01:10:00.250Z");
	assert_moment("2026-11-29T22:10:00-05:30", 0, "2026-11-30T03:40:00.000Z");
	assert_moment("2026-11-29T02:10:00.123456Z", 0, "2026-11-29T02:10:00.123Z");
}

static void test_no_moments(void **state)
{
	static const char *const texts[] = {
		"",
		"10",
		"5m2h",
		"24:00",
		"2:10",
		"02:60",
		"02:10:",
		"02:10Z",
		"2026-11-29",
		"2026-13-01T00:00:00Z",
		"2026-11-29T02:10+1",
		"1969-01-01T00:00:00Z",
		"2026-11-29T02:10x",
		"2026-11-29T02:10:00.Z",
		"2026-11-31T00:00:00Z",
		"yesterday",
		"-10m",
	};
	uint64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (moment_text(texts[i], NOW, 0, &ms))
			fail_msg("%s is a moment", texts[i]);
}

TEST_GROUP(moment_text)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_no_moments),
	};

	return test_group_run(tests, NULL, NULL);
}
