// SPDX-License-Identifier: Apache-2.0
#include "ctl_age.h"

#include <stdio.h>

#include "utc_text.h"

#define MINUTE 60
#define HOUR   3600

int64_t ctl_age_parse(const char *time)
{
	int year, month, day, hour, minute, second, len = 0;
	int64_t begin;

	if (!time ||
	    sscanf(time, "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second,
		   &len) != 6 ||
	    (time[len] != 'Z' && time[len] != '.'))
		return -1;
	begin = utc_day(year, month, day);
	return begin < 0 ? -1 : begin + hour * HOUR + minute * MINUTE + second;
}
