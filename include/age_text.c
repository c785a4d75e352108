// SPDX-License-Identifier: Apache-2.0
#include "age_text.h"

#include <limits.h>
#include <stdio.h>

#define MINUTE 60
#define HOUR   3600
#define DAY    86400

/* Formats two units: "3m20s", or "3m" if the smaller one is 0. */
static void age_two(int large, char unit, int small, char small_unit, char ret[AGE_TEXT_SIZE])
{
	if (small > 0)
		snprintf(ret, AGE_TEXT_SIZE, "%d%c%d%c", large, unit, small, small_unit);
	else
		snprintf(ret, AGE_TEXT_SIZE, "%d%c", large, unit);
}

void age_text(int64_t seconds, char ret[AGE_TEXT_SIZE])
{
	int s = seconds < 0 ? 0 : seconds > INT_MAX ? INT_MAX : (int)seconds;

	if (s < 2 * MINUTE)
		age_two(s, 's', 0, 's', ret);
	else if (s < 10 * MINUTE)
		age_two(s / MINUTE, 'm', s % MINUTE, 's', ret);
	else if (s < 2 * HOUR)
		age_two(s / MINUTE, 'm', 0, 's', ret);
	else if (s < 8 * HOUR)
		age_two(s / HOUR, 'h', s % HOUR / MINUTE, 'm', ret);
	else if (s < 2 * DAY)
		age_two(s / HOUR, 'h', 0, 'm', ret);
	else if (s < 8 * DAY)
		age_two(s / DAY, 'd', s % DAY / HOUR, 'h', ret);
	else
		age_two(s / DAY, 'd', 0, 'h', ret);
}

static int64_t age_unit(char unit)
{
	return unit == 's' ? 1 : unit == 'm' ? MINUTE : unit == 'h' ? HOUR : unit == 'd' ? DAY : 0;
}

int64_t age_seconds(const char *text)
{
	int64_t sum = 0, last = INT64_MAX;

	if (!*text)
		return -1;
	while (*text) {
		int64_t n = 0, unit;
		int digits = 0;

		for (; *text >= '0' && *text <= '9' && digits < 12; text++, digits++)
			n = n * 10 + (*text - '0');
		unit = digits > 0 ? age_unit(*text) : 0;
		if (unit == 0 || unit >= last)
			return -1;
		sum += n * unit;
		last = unit;
		text++;
	}
	return sum;
}
