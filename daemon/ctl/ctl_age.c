// SPDX-License-Identifier: Apache-2.0
#include "ctl_age.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MINUTE 60
#define HOUR   3600
#define DAY    86400

/* Days from 1970-01-01 to a date of the Gregorian calendar: years are counted from March, so that
 * the leap day is the last of its year. */
static int64_t ctl_age_days(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;

	return 365 * (int64_t)y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

int64_t ctl_age_parse(const char *time)
{
	int year, month, day, hour, minute, second, len = 0;

	if (!time ||
	    sscanf(time, "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second,
		   &len) != 6 ||
	    (time[len] != 'Z' && time[len] != '.') || year < 1970 || month < 1 || month > 12)
		return -1;
	return ctl_age_days(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second;
}

/* "3m20s", or "3m" if the smaller unit is 0. */
static void ctl_age_two(int large, char unit, int small, char small_unit, char ret[AGE_TEXT_SIZE])
{
	if (small > 0)
		snprintf(ret, AGE_TEXT_SIZE, "%d%c%d%c", large, unit, small, small_unit);
	else
		snprintf(ret, AGE_TEXT_SIZE, "%d%c", large, unit);
}

void ctl_age_text(int64_t seconds, char ret[AGE_TEXT_SIZE])
{
	int s = seconds < 0 ? 0 : seconds > INT_MAX ? INT_MAX : (int)seconds;

	if (s < 2 * MINUTE)
		ctl_age_two(s, 's', 0, 's', ret);
	else if (s < 10 * MINUTE)
		ctl_age_two(s / MINUTE, 'm', s % MINUTE, 's', ret);
	else if (s < 2 * HOUR)
		ctl_age_two(s / MINUTE, 'm', 0, 's', ret);
	else if (s < 8 * HOUR)
		ctl_age_two(s / HOUR, 'h', s % HOUR / MINUTE, 'm', ret);
	else if (s < 2 * DAY)
		ctl_age_two(s / HOUR, 'h', 0, 'm', ret);
	else if (s < 8 * DAY)
		ctl_age_two(s / DAY, 'd', s % DAY / HOUR, 'h', ret);
	else
		ctl_age_two(s / DAY, 'd', 0, 'h', ret);
}

static int64_t ctl_age_unit(char unit)
{
	return unit == 's' ? 1 : unit == 'm' ? MINUTE : unit == 'h' ? HOUR : unit == 'd' ? DAY : 0;
}

int64_t ctl_age_seconds(const char *text)
{
	int64_t sum = 0, last = INT64_MAX;

	if (!*text)
		return -1;
	while (*text) {
		int64_t n = 0, unit;
		int digits = 0;

		for (; *text >= '0' && *text <= '9' && digits < 12; text++, digits++)
			n = n * 10 + (*text - '0');
		unit = digits > 0 ? ctl_age_unit(*text) : 0;
		if (unit == 0 || unit >= last)
			return -1;
		sum += n * unit;
		last = unit;
		text++;
	}
	return sum;
}
