// SPDX-License-Identifier: Apache-2.0
#include "utc_text.h"

#include <stdio.h>
#include <time.h>

/* The end of the year 9999: later times are errors and would not fit. */
#define LAST_S 253402300799

void utc_text(uint64_t unix_ms, char ret[UTC_TEXT_SIZE])
{
	const time_t s = unix_ms / 1000 < LAST_S ? (time_t)(unix_ms / 1000) : LAST_S;
	struct tm tm;
	size_t n;

	ret[0] = '\0';
	if (unix_ms == 0 || !gmtime_r(&s, &tm))
		return;
	n = strftime(ret, UTC_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret + n, UTC_TEXT_SIZE - n, ".%03uZ", (unsigned)(unix_ms % 1000));
}

int64_t utc_day(int year, int month, int day)
{
	struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
	int64_t s = timegm(&tm); /* turns February 30 into a day of March */

	return s >= 0 && tm.tm_mday == day && tm.tm_mon == month - 1 ? s : -1;
}
