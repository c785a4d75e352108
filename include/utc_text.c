#include "utc_text.h"

#include <stdio.h>

#define DAY_MS		  ((uint64_t)86400000)
/* Leap years repeat every 400 years. */
#define DAYS_OF_400_YEARS 146097
/* Times beyond the year 9999 are not real, and would not fit. */
#define DAYS_MAX	  2932896

struct date {
	unsigned year, month, day;
};

/* Years begin in March here, so that a leap day is the last of one. 719468: days from March 1st of
 * year 0 to 1970. */
static struct date date_of(uint64_t days)
{
	unsigned era, in_era, year, in_year, month;

	days += 719468;
	era = (unsigned)(days / DAYS_OF_400_YEARS);
	in_era = (unsigned)(days % DAYS_OF_400_YEARS);
	year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	in_year = in_era - (365 * year + year / 4 - year / 100);
	month = (5 * in_year + 2) / 153; /* 0 = March; five months have 153 days */
	return (struct date){
		.year = era * 400 + year + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = in_year - (153 * month + 2) / 5 + 1,
	};
}

void utc_text(uint64_t unix_ms, char ret[UTC_TEXT_SIZE])
{
	uint64_t days = unix_ms / DAY_MS;
	unsigned ms = (unsigned)(unix_ms % DAY_MS);
	struct date d = date_of(days > DAYS_MAX ? DAYS_MAX : days);

	ret[0] = '\0';
	if (unix_ms > 0)
		snprintf(ret, UTC_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", d.year % 10000,
			 d.month % 100, d.day % 100, ms / 3600000, ms / 60000 % 60, ms / 1000 % 60,
			 ms % 1000);
}
