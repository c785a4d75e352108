#include "rates.h"

#include <math.h>

/* Two reads of a running counter can be that far apart in the wrong order. */
#define SMALL_STEP     16
#define WRAP	       4294967296.0
/* Of counters that go back at once: they have been set to 0 together. */
#define RESET_TOGETHER 2
/* More than a line carries, for what clocks and coarse refreshes do to it. */
#define BEYOND_LINE    1.1
#define BEYOND_SECOND  1.05
/* The smallest frame. */
#define LEAST_BYTES    64

void rates_restart(struct rates *r)
{
	for (int i = 0; i < N_SERIES; i++) {
		r->last[i] = (double)NAN;
		r->rate[i] = NAN;
	}
}

void rates_init(struct rates *r)
{
	rates_restart(r);
	r->ignored = r->resets = 0;
}

/* A read that was overtaken by another: nothing moved. */
static bool is_small_step(double last, double now)
{
	return now > 0 && last - now <= SMALL_STEP && now >= last / 2;
}

/* It continues as fast as before, if it wrapped; one that starts over does not look like that. */
static bool is_wrap(const struct rates *r, int i, double now, double interval_s)
{
	double moved = now + WRAP - r->last[i];

	return series_kind(i) == SERIES_EVENTS && r->last[i] < WRAP && r->last[i] > WRAP / 2 &&
	       moved / interval_s <= 4 * (double)r->rate[i] + 1000;
}

static bool believable(int i, double moved, double interval_s, double line)
{
	double rate = moved / interval_s;

	switch (series_kind(i)) {
	case SERIES_BYTES:
		return line == 0 || rate <= BEYOND_LINE * line;
	case SERIES_SECONDS:
		return rate <= BEYOND_SECOND;
	case SERIES_WHOLE_SECONDS: /* one more may have begun in the sample before */
		return moved <= BEYOND_SECOND * interval_s + 1;
	case SERIES_EVENTS:
		/* Bits that were repaired are more than packets. */
		return line == 0 || i == SERIES_CORRECTED_BITS ||
		       rate <= BEYOND_LINE * line / LEAST_BYTES;
	case SERIES_GAUGE:
		break;
	}
	return true;
}

/* What it has moved; NaN: nobody can tell. */
static double moved_by(struct rates *r, int i, double now, double interval_s, unsigned *ret_back)
{
	double last = r->last[i];

	if (isnan(last) || now >= last)
		return now - last;
	if (is_small_step(last, now))
		return 0;
	if (is_wrap(r, i, now, interval_s))
		return now + WRAP - last;
	(*ret_back)++;
	return (double)NAN;
}

void rates_update(struct rates *r, const double value[N_SERIES], double interval_s, double line)
{
	unsigned back = 0;

	for (int i = 0; i < N_SERIES; i++) {
		double now = value[i], moved, rate;

		if (series_kind(i) == SERIES_GAUGE || isnan(now)) {
			r->rate[i] = (float)now;
			continue;
		}
		moved = moved_by(r, i, now, interval_s, &back);
		rate = moved / interval_s;
		if (moved > 0 && !believable(i, moved, interval_s, line)) {
			r->ignored++;
			rate = (double)NAN;
		}
		if (series_kind(i) == SERIES_WHOLE_SECONDS && rate > 1)
			rate = 1;
		/* A step back is no new base: what is counted again must not count twice. */
		if (!(moved == 0 && now < r->last[i]))
			r->last[i] = now;
		r->rate[i] = (float)rate;
	}
	if (back < RESET_TOGETHER)
		return;
	r->resets++;
	for (int i = 0; i < N_SERIES; i++)
		if (series_kind(i) != SERIES_GAUGE)
			r->rate[i] = NAN;
}
