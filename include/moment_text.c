// SPDX-License-Identifier: Apache-2.0
#include "moment_text.h"

#include <stddef.h>
#include <string.h>

#include "age_text.h"
#include "utc_text.h"

#define DAY_MS	  86400000
#define MINUTE_MS 60000

/* Reads exactly n digits, whose value is at most `most`. NULL: they are not there. */
static const char *moment_digits(const char *at, int n, int most, int *ret)
{
	*ret = 0;
	for (int i = 0; at && i < n; i++) {
		if (at[i] < '0' || at[i] > '9')
			return NULL;
		*ret = *ret * 10 + at[i] - '0';
	}
	return at && *ret <= most ? at + n : NULL;
}

static const char *moment_skip(const char *at, char c)
{
	return at && *at == c ? at + 1 : NULL;
}

/* Reads "02:10", "02:10:30" or "02:10:30.5" as milliseconds of the day. NULL: there is none. */
static const char *moment_clock(const char *at, int64_t *ret_ms)
{
	int hour, minute, second = 0, scale = 100;

	at = moment_skip(moment_digits(at, 2, 23, &hour), ':');
	at = moment_digits(at, 2, 59, &minute);
	if (at && *at == ':')
		at = moment_digits(at + 1, 2, 60, &second);
	*ret_ms = ((int64_t)hour * 60 + minute) * MINUTE_MS + (int64_t)second * 1000;
	if (!at || *at != '.')
		return at;
	if (at[1] < '0' || at[1] > '9')
		return NULL;
	for (at++; *at >= '0' && *at <= '9'; at++, scale /= 10)
		*ret_ms += (*at - '0') * scale;
	return at;
}

/* Reads the rest of a date: "", "Z" or "+01:00", as the milliseconds to subtract. */
static bool moment_zone(const char *at, int64_t *ret_ms)
{
	int hours, minutes, sign = *at == '-' ? -1 : 1;

	*ret_ms = 0;
	if (!*at || strcmp(at, "Z") == 0 || strcmp(at, "z") == 0)
		return true;
	if (*at != '+' && *at != '-')
		return false;
	at = moment_skip(moment_digits(at + 1, 2, 23, &hours), ':');
	at = moment_digits(at, 2, 59, &minutes);
	*ret_ms = sign * ((int64_t)hours * 60 + minutes) * MINUTE_MS;
	return at && !*at;
}

static bool moment_date(const char *at, uint64_t *ret_ms)
{
	int64_t clock_ms, zone_ms, day_ms;
	int year, month, day;

	at = moment_skip(moment_digits(at, 4, 9999, &year), '-');
	at = moment_skip(moment_digits(at, 2, 12, &month), '-');
	at = moment_digits(at, 2, 31, &day);
	day_ms = at ? utc_day(year, month, day) * 1000 : -1;
	if (day_ms < 0)
		return false;
	if (*at != 'T' && *at != 't' && *at != ' ')
		return false;
	at = moment_clock(at + 1, &clock_ms);
	if (!at || !moment_zone(at, &zone_ms))
		return false;
	if (day_ms + clock_ms < zone_ms)
		return false;
	*ret_ms = (uint64_t)(day_ms + clock_ms - zone_ms);
	return true;
}

bool moment_text(const char *text, uint64_t now_ms, uint64_t after, uint64_t *ret_ms)
{
	int64_t age = age_seconds(text), clock_ms;
	uint64_t base = after ? after : now_ms;
	const char *end;

	if (age >= 0) {
		*ret_ms = (uint64_t)age < now_ms / 1000 ? now_ms - (uint64_t)age * 1000 : 0;
		return true;
	}
	end = moment_clock(text, &clock_ms);
	if (!end || *end)
		return moment_date(text, ret_ms);
	*ret_ms = base - base % DAY_MS + (uint64_t)clock_ms;
	if (after && *ret_ms < after)
		*ret_ms += DAY_MS;
	else if (!after && *ret_ms > now_ms)
		*ret_ms = *ret_ms > DAY_MS ? *ret_ms - DAY_MS : 0;
	return true;
}
