// SPDX-License-Identifier: Apache-2.0
#include "ctl_age.h"

#include <stdio.h>

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
