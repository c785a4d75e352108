/* rates.h - counters of one port into rates, and what is no rate into NaN. Pure.
 *
 * Each counter has its own time: one that was not read keeps its base, and its next rate is over
 * all the time since then. Rates of different spans are not compared (rates_together()).
 *
 * A counter that goes backwards is one of five things: it wrapped at 2^32 (which yields a rate), it
 * started over, it was read a moment too early and steps back a little (which is no movement), it
 * read less for a moment and returns to at least its old total (which is a gap), or many did so at
 * once, and the port as a whole started over. A rate that the line cannot carry is none. */
#pragma once

#include "observation.h"

struct rates {
	double last[N_SERIES];	 /* counters, NaN = not seen yet */
	float rate[N_SERIES];	 /* a second; of gauges their value; NaN = unknown */
	float span_s[N_SERIES];	 /* from last[] before this sample until this sample */
	bool kept[N_SERIES];	 /* last[] is older than this sample */
	uint8_t below[N_SERIES]; /* samples in a row that read less than last[] */
	bool fell;		 /* several did so at once, and are below it yet */
	uint32_t ignored;	 /* rates that were not believed, since the port was first seen */
	uint32_t resets;	 /* times the port started over */
};

void rates_init(struct rates *);
/* interval_s: since the last update; a counter that was not read for more than gap_s has no rate. A
 * port that was not seen for so long needs rates_restart(). line: bytes a second, 0 = unknown. */
void rates_update(struct rates *, const double value[N_SERIES], double interval_s, double gap_s,
		  double line);
/* What was counted until now is no base for rates any more. */
void rates_restart(struct rates *);
/* CNPs sent a second but for those that slow restarts made, which answer no mark. */
double cnps_of_marks(const struct rates *);
/* Are both rates of the same time? Only such may be compared. */
static inline bool rates_together(const struct rates *r, enum series a, enum series b)
{
	return r->span_s[a] == r->span_s[b];
}
