/* SPDX-License-Identifier: Apache-2.0 */
/* rates.h - turns counters of one port into rates; a rate that cannot be trusted is NaN. Pure.
 *
 * Each counter has its own time base: if it was not read, it keeps its base, and its next rate
 * covers all the time since then. Rates over different time spans are not comparable
 * (rates_together()).
 *
 * A counter can go backwards for five reasons:
 * - it wrapped at 2^32: it gets a rate;
 * - it was read out of order and is a little lower: it did not move;
 * - one value was too low, and the counter returns to at least its old total: a gap;
 * - it started over;
 * - several counters fell at once: all counters of the port started over.
 *
 * A base of 0 is used only once it was read twice: some drivers return 0 when they
 * cannot read, and the next rate would then be the counter's total. A rate above what the line can
 * carry is NaN. */
#pragma once

#include "observation.h"

struct rates {
	double last[N_SERIES];	  /* counters, NaN = not seen yet */
	float rate[N_SERIES];	  /* per second; for gauges the value; NaN = unknown */
	float span_s[N_SERIES];	  /* time from last[] (of the previous sample) to this sample */
	bool kept[N_SERIES];	  /* last[] is older than this sample */
	bool zero_once[N_SERIES]; /* last[] is 0, and no second sample has confirmed it */
	uint8_t below[N_SERIES];  /* consecutive samples that read less than last[] */
	bool fell;		  /* several counters fell at once and are still below last[] */
	uint32_t ignored;	  /* rejected rates since the port was first seen */
	uint32_t resets;	  /* times the port started over */
};

void rates_init(struct rates *);
/* Updates the rates. interval_s: since the last update. A counter that was not read for more than
 * gap_s gets no rate; a port that was not visible for that long needs rates_restart(). line: bytes
 * a second, 0 = unknown. */
void rates_update(struct rates *, const double value[N_SERIES], double interval_s, double gap_s,
		  double line);
/* Drops all counter bases; the next sample gives no rates. */
void rates_restart(struct rates *);
/* Returns the rate of a gauge, which is its value; NaN if no NIC can have that value. */
float rates_gauge(enum series, double value);
/* Returns the CNPs sent a second, without those that slow restarts caused, which answer no mark. */
double cnps_of_marks(const struct rates *);
/* True if both rates cover the same time; only then may they be compared. */
static inline bool rates_together(const struct rates *r, enum series a, enum series b)
{
	return r->span_s[a] == r->span_s[b];
}
