// SPDX-License-Identifier: Apache-2.0
#include "rates.h"

#include <math.h>

/* If two reads of a running counter arrive in the wrong order, they differ by at most this. */
#define SMALL_STEP     16
#define WRAP	       4294967296.0
/* If at least this many counters fall in one sample, they were reset together. */
#define RESET_TOGETHER 2
/* After this many lower reads in a row, the counter has started over. */
#define STARTED_OVER   3
/* Rates may exceed the line rate, and times one second per second, by these factors, because clocks
 * differ and some NICs refresh their counters rarely. */
#define BEYOND_LINE    1.1
#define BEYOND_SECOND  1.05
/* Smallest Ethernet frame. */
#define LEAST_BYTES    64
/* No counter of a port grows by more than this per second, at any line rate. */
#define GREATEST       1e14

static void restart(struct rates *r, int i, double base)
{
	r->last[i] = base;
	r->rate[i] = NAN;
	r->kept[i] = false;
	r->zero_once[i] = base == 0;
	r->below[i] = 0;
}

void rates_restart(struct rates *r)
{
	for (int i = 0; i < N_SERIES; i++) {
		restart(r, i, (double)NAN);
		r->span_s[i] = 0;
	}
	r->fell = false;
}

void rates_init(struct rates *r)
{
	rates_restart(r);
	r->ignored = r->resets = 0;
}

/* True if `now` is an older value that was read later, so the counter has not moved. */
static bool is_small_step(double last, double now)
{
	return now > 0 && last - now <= SMALL_STEP && now >= last / 2;
}

/* True if the counter wrapped: it continues at about its previous rate, unlike one that started
 * over. */
static bool is_wrap(const struct rates *r, int i, double now)
{
	double moved = now + WRAP - r->last[i];

	return series_kind(i) == SERIES_EVENTS && r->last[i] < WRAP && r->last[i] > WRAP / 2 &&
	       moved / (double)r->span_s[i] <= 4 * (double)r->rate[i] + 1000;
}

static bool believable(int i, double moved, double interval_s, double line)
{
	double rate = moved / interval_s;

	if (!(rate < GREATEST))
		return false;
	switch (series_kind(i)) {
	case SERIES_BYTES:
		return line == 0 || rate <= BEYOND_LINE * line;
	case SERIES_SECONDS:
		return rate <= BEYOND_SECOND;
	case SERIES_WHOLE_SECONDS: /* one second may have begun in the previous sample */
		return moved <= BEYOND_SECOND * interval_s + 1;
	case SERIES_EVENTS:
		/* Corrected bits may outnumber packets. */
		return line == 0 || i == SERIES_CORRECTED_BITS ||
		       rate <= BEYOND_LINE * line / LEAST_BYTES;
	case SERIES_GAUGE:
		break;
	}
	return true;
}

/* Returns the value; NaN if it is impossible: a ratio is at most 1, and a number of objects of a
 * NIC is at most GREATEST. */
float rates_gauge(enum series i, double value)
{
	bool ratio = i >= SERIES_PCIE_STALLED_READ && i <= SERIES_PCIE_STALLED_WRITE;

	return value <= (ratio ? BEYOND_SECOND : GREATEST) ? (float)value : NAN;
}

/* True if the counter fell, and neither a wrap nor a read out of order explains it. */
static bool fell_back(const struct rates *r, int i, double now)
{
	return now < r->last[i] && !is_small_step(r->last[i], now) && !is_wrap(r, i, now);
}

static double moved_by(const struct rates *r, int i, double now)
{
	double last = r->last[i];

	return now >= last ? now - last : is_small_step(last, now) ? 0 : now + WRAP - last;
}

static void keep(struct rates *r, int i)
{
	r->rate[i] = NAN;
	r->kept[i] = true;
}

/* Gives no rate until it is clear whether the counter started over or returns to its old total. */
static void stay_below(struct rates *r, int i, double now)
{
	if (++r->below[i] < STARTED_OVER) {
		keep(r, i);
		return;
	}
	restart(r, i, now);
	r->resets += r->fell;
	r->fell = false;
}

static void move(struct rates *r, int i, double now, double line)
{
	double moved = moved_by(r, i, now), rate = moved / (double)r->span_s[i];

	if (moved > 0 && !believable(i, moved, (double)r->span_s[i], line)) {
		r->ignored++;
		rate = (double)NAN;
	}
	if (series_kind(i) == SERIES_WHOLE_SECONDS && rate > 1)
		rate = 1;
	r->rate[i] = (float)rate;
	r->kept[i] = false;
	r->zero_once[i] = false;
	r->below[i] = 0;
	/* Keep the base after a small step back, so that nothing is counted twice. */
	if (now > r->last[i] || moved > 0)
		r->last[i] = now;
}

static void update(struct rates *r, int i, double now, double gap_s, double line)
{
	bool gap = (double)r->span_s[i] > gap_s;

	if (isnan(now))
		keep(r, i);
	else if (isnan(r->last[i]) || (r->zero_once[i] && now > 0) || (r->kept[i] && gap))
		restart(r, i, now);
	else if (fell_back(r, i, now))
		stay_below(r, i, now);
	else
		move(r, i, now, line);
}

void rates_update(struct rates *r, const double value[N_SERIES], double interval_s, double gap_s,
		  double line)
{
	unsigned fallen = 0, below = 0;

	for (int i = 0; i < N_SERIES; i++) {
		if (series_kind(i) == SERIES_GAUGE) {
			r->rate[i] = rates_gauge((enum series)i, value[i]);
			continue;
		}
		if (isnan(value[i]) && isnan(r->last[i])) /* the port has no such counter */
			continue;
		if (value[i] == r->last[i] && !r->kept[i]) { /* the usual case */
			r->rate[i] = 0;
			r->zero_once[i] = false;
			r->span_s[i] = (float)interval_s;
			continue;
		}
		r->span_s[i] = (float)((r->kept[i] ? (double)r->span_s[i] : 0) + interval_s);
		update(r, i, value[i], gap_s, line);
		fallen += r->below[i] == 1 && !isnan(value[i]);
		below += r->below[i] > 0;
	}
	r->fell = below > 0 && (r->fell || fallen >= RESET_TOGETHER);
	if (fallen < RESET_TOGETHER)
		return;
	for (int i = 0; i < N_SERIES; i++)
		if (series_kind(i) != SERIES_GAUGE)
			r->rate[i] = NAN;
}

double cnps_of_marks(const struct rates *r)
{
	double sent = (double)r->rate[SERIES_CNP_SENT];
	double made = (double)r->rate[SERIES_SLOW_RESTART_CNPS];

	return made > 0 && !isnan(sent) ? fmax(sent - made, 0) : sent;
}
