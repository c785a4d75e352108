#include "rates.h"

#include <math.h>

/* Two reads of a running counter can be that far apart in the wrong order. */
#define SMALL_STEP     16
#define WRAP	       4294967296.0
/* Of counters that go back at once: they have been set to 0 together. */
#define RESET_TOGETHER 2
/* Samples in a row after which a counter that reads less is believed to have started over. */
#define STARTED_OVER   3
/* More than a line carries, for what clocks and coarse refreshes do to it. */
#define BEYOND_LINE    1.1
#define BEYOND_SECOND  1.05
/* The smallest frame. */
#define LEAST_BYTES    64
/* Of nothing that a port counts there is more in a second, whatever its line. */
#define GREATEST       1e14

static void restart(struct rates *r, int i, double base)
{
	r->last[i] = base;
	r->rate[i] = NAN;
	r->kept[i] = false;
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

/* A read that was overtaken by another: nothing moved. */
static bool is_small_step(double last, double now)
{
	return now > 0 && last - now <= SMALL_STEP && now >= last / 2;
}

/* It continues as fast as before, if it wrapped; one that starts over does not look like that. */
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

/* A ratio is at most 1, and objects of a NIC are fewer than this. */
static bool believable_gauge(int i, double now)
{
	bool ratio = i >= SERIES_PCIE_STALLED_READ && i <= SERIES_PCIE_STALLED_WRITE;

	return now <= (ratio ? BEYOND_SECOND : GREATEST);
}

/* It reads less than before, and that is neither a wrap nor a read that was overtaken. */
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

/* It may have started over, or return to at least what it was. */
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
	r->below[i] = 0;
	/* A step back is no new base: what is counted again must not count twice. */
	if (now > r->last[i] || moved > 0)
		r->last[i] = now;
}

static void update(struct rates *r, int i, double now, double gap_s, double line)
{
	bool gap = (double)r->span_s[i] > gap_s;

	if (isnan(now))
		keep(r, i);
	else if (isnan(r->last[i]) || (r->kept[i] && gap))
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
			r->rate[i] = believable_gauge(i, value[i]) ? (float)value[i] : NAN;
			continue;
		}
		if (isnan(value[i]) && isnan(r->last[i])) /* this port has none */
			continue;
		if (value[i] == r->last[i] && !r->kept[i]) { /* as most of them do */
			r->rate[i] = 0;
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
