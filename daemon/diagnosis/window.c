// SPDX-License-Identifier: Apache-2.0
#include "window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* The value of a signal that is not visible. No packed number has this value: its exponent would be
 * that of infinity. */
#define UNSEEN	     0xffff
/* A float has 23 bits of mantissa; 8 are kept. */
#define DROPPED_BITS 15
#define GREATEST     0xff00 /* packed */
/* The usual interval is the shortest of this many. */
#define USUAL_ROWS   4

uint16_t window_pack(double v)
{
	float f = (float)v;
	uint32_t bits;

	if (!(f >= 0))
		return UNSEEN;
	memcpy(&bits, &f, sizeof(bits));
	bits = (bits + (1u << (DROPPED_BITS - 1))) >> DROPPED_BITS;
	return (uint16_t)(bits < GREATEST ? bits : GREATEST - 1);
}

double window_unpack(uint16_t packed)
{
	uint32_t bits = (uint32_t)packed << DROPPED_BITS;
	float f;

	if (packed == UNSEEN)
		return (double)NAN;
	memcpy(&f, &bits, sizeof(f));
	return (double)f;
}

void window_init(struct window *w)
{
	*w = (struct window){0};
	memset(w->still, 0xff, sizeof(w->still));
}

void window_done(struct window *w)
{
	free(take_ptr(w->rows));
	free(take_ptr(w->spent));
}

void timeline_add(struct timeline *t, uint64_t now_ms)
{
	t->newest = (t->newest + 1) % WINDOW_ROWS;
	t->at_ms[t->newest] = now_ms;
	if (t->n < WINDOW_ROWS)
		t->n++;
}

static unsigned window_index_of(const struct timeline *t, unsigned back)
{
	return back <= t->newest ? t->newest - back : t->newest + WINDOW_ROWS - back;
}

static uint64_t age_of(const struct timeline *t, unsigned back)
{
	return t->at_ms[t->newest] - t->at_ms[window_index_of(t, back)];
}

uint64_t timeline_span(const struct timeline *t, uint64_t ms, unsigned rows, uint64_t gap_ms)
{
	unsigned back = 0;

	while (back + 1 < rows && back + 1 < t->n &&
	       age_of(t, back + 1) - age_of(t, back) <= gap_ms)
		back++;
	return age_of(t, back) < ms ? ms : age_of(t, back) + 1;
}

uint64_t timeline_interval(const struct timeline *t)
{
	uint64_t least = 0;

	for (unsigned back = 0; back < USUAL_ROWS && back + 1 < t->n; back++) {
		uint64_t interval = age_of(t, back + 1) - age_of(t, back);

		least = least && least < interval ? least : interval;
	}
	return least;
}

static bool within(const struct timeline *t, unsigned back, uint64_t span_ms)
{
	return back < t->n && t->at_ms[t->newest] - t->at_ms[window_index_of(t, back)] < span_ms;
}

/* Returns the number of newest rows within the span, by binary search: times only decrease with
 * `back`. */
static unsigned rows_within(const struct timeline *t, uint64_t span_ms)
{
	unsigned low = 0, high = 1;

	while (within(t, high, span_ms)) {
		low = high;
		high *= 2;
	}
	if (high > t->n)
		high = t->n;
	while (low + 1 < high) {
		unsigned middle = low + (high - low) / 2;

		*(within(t, middle, span_ms) ? &low : &high) = middle;
	}
	return within(t, low, span_ms) ? low + 1 : 0;
}

bool window_reaches(const struct timeline *t, unsigned back, uint64_t span_ms)
{
	return within(t, back, span_ms);
}

static const uint16_t *window_row_of(const struct window *w, const struct timeline *t,
				     unsigned back)
{
	static const uint16_t unseen[N_SIGNALS] = {[0 ... N_SIGNALS - 1] = UNSEEN};

	if (w->rows)
		return w->rows[window_index_of(t, back)];
	return back < w->n_still ? w->still : unseen;
}

static bool window_is_still(const uint16_t row[N_SIGNALS])
{
	for (int i = 0; i < N_SIGNALS; i++)
		if (row[i] && row[i] != UNSEEN)
			return false;
	return true;
}

static bool is_unseen(const uint16_t row[N_SIGNALS])
{
	for (int i = 0; i < N_SIGNALS; i++)
		if (row[i] != UNSEEN)
			return false;
	return true;
}

/* True if `still` can represent the row: it equals all rows before it, or is the first visible
 * one. */
static bool stay_still(struct window *w, const uint16_t row[N_SIGNALS])
{
	if (!window_is_still(row))
		return false;
	if (memcmp(row, w->still, sizeof(w->still)) != 0) {
		if (!is_unseen(w->still))
			return false;
		memcpy(w->still, row, sizeof(w->still));
		w->n_still = 0;
	}
	if (w->n_still < WINDOW_ROWS)
		w->n_still++;
	return true;
}

/* Allocates rows and copies the still ones; the caller fills the newest. False: out of memory. */
static bool spread(struct window *w, const struct timeline *t)
{
	uint16_t(*rows)[N_SIGNALS] = malloc(WINDOW_ROWS * sizeof(*rows));

	if (!rows)
		return false;
	memset(rows, 0xff, WINDOW_ROWS * sizeof(*rows));
	for (unsigned back = 1; back <= w->n_still && back < t->n; back++)
		memcpy(rows[window_index_of(t, back)], w->still, sizeof(*rows));
	w->rows = rows;
	w->n_still = 0;
	return true;
}

/* Drops the rows once all are equal: `still` represents them. */
static void drop_equal_rows(struct window *w, const uint16_t row[N_SIGNALS])
{
	if (!window_is_still(row)) {
		w->n_still = 0;
		return;
	}
	if (w->n_still == 0 || memcmp(row, w->still, sizeof(w->still)) != 0) {
		memcpy(w->still, row, sizeof(w->still));
		w->n_still = 0;
	}
	if (++w->n_still == WINDOW_ROWS)
		w->spent = take_ptr(w->rows);
}

static void set_row(struct window *w, const struct timeline *t, const uint16_t row[N_SIGNALS])
{
	free(take_ptr(w->spent));
	if (!w->rows && stay_still(w, row))
		return;
	if (w->rows || spread(w, t)) {
		memcpy(w->rows[t->newest], row, sizeof(w->rows[0]));
		drop_equal_rows(w, row);
	} else {
		window_init(w);
	}
}

void window_set(struct window *w, const struct timeline *t, const double values[N_SIGNALS])
{
	uint16_t row[N_SIGNALS];

	for (int i = 0; i < N_SIGNALS; i++)
		row[i] = window_pack(values[i]);
	set_row(w, t, row);
}

void window_skip(struct window *w, const struct timeline *t)
{
	uint16_t row[N_SIGNALS];

	memset(row, 0xff, sizeof(row));
	set_row(w, t, row);
}

double window_get(const struct window *w, const struct timeline *t, enum signal s, unsigned back)
{
	return back < t->n ? window_unpack(window_row_of(w, t, back)[s]) : (double)NAN;
}

double window_at(const struct window *w, unsigned index, unsigned back, enum signal s)
{
	if (w->rows)
		return window_unpack(w->rows[index][s]);
	return back < w->n_still ? window_unpack(w->still[s]) : (double)NAN;
}

double window_mean(const struct window *w, const struct timeline *t, enum signal s,
		   uint64_t span_ms)
{
	unsigned n = 0, rows = rows_within(t, span_ms);
	double sum = 0;

	for (unsigned back = 0; back < rows; back++) {
		uint16_t packed = window_row_of(w, t, back)[s];

		if (packed == UNSEEN)
			continue;
		if (packed)
			sum += window_unpack(packed);
		n++;
	}
	return n ? sum / n : (double)NAN;
}

void window_means(const struct window *w, const struct timeline *t, uint64_t span_ms,
		  double ret[N_SIGNALS])
{
	double sum[N_SIGNALS] = {0};
	unsigned n[N_SIGNALS] = {0}, rows = rows_within(t, span_ms);

	for (unsigned back = 0; back < rows; back++) {
		const uint16_t *row = window_row_of(w, t, back);

		for (int s = 0; s < N_SIGNALS; s++) {
			if (row[s] == UNSEEN)
				continue;
			n[s]++;
			if (row[s])
				sum[s] += window_unpack(row[s]);
		}
	}
	for (int s = 0; s < N_SIGNALS; s++)
		ret[s] = n[s] ? sum[s] / n[s] : (double)NAN;
}

double window_sum(const struct window *w, const struct timeline *t, enum signal s, uint64_t span_ms,
		  double *ret_seconds)
{
	double sum = 0;

	*ret_seconds = 0;
	for (unsigned back = 0; within(t, back, span_ms) && back + 1 < t->n; back++) {
		unsigned at = window_index_of(t, back);
		uint16_t packed = window_row_of(w, t, back)[s];
		double seconds = (double)(t->at_ms[at] - t->at_ms[window_index_of(t, back + 1)]) /
				 1000;

		if (packed == UNSEEN)
			continue;
		*ret_seconds += seconds;
		if (packed)
			sum += window_unpack(packed) * seconds;
	}
	return sum;
}

unsigned window_count(const struct window *w, const struct timeline *t, enum signal s,
		      uint64_t span_ms, double level)
{
	unsigned n = 0;

	for (unsigned back = 0; within(t, back, span_ms); back++) {
		double v = window_get(w, t, s, back);

		n += v > 0 && v >= level;
	}
	return n;
}

/* Returns the mean of the rows older than ago_ms; 0: not visible then. */
static double usual_level(const struct window *w, const struct timeline *t, enum signal s,
			  uint64_t ago_ms)
{
	double sum = 0;
	unsigned n = 0;

	for (unsigned back = 0; back < t->n; back++) {
		double v = window_get(w, t, s, back);

		if (age_of(t, back) < ago_ms || isnan(v))
			continue;
		sum += v;
		n++;
	}
	return n ? sum / n : 0;
}

uint64_t window_silent(const struct window *w, const struct timeline *t, enum signal silent,
		       enum signal moves, uint64_t span_ms)
{
	uint64_t since = 0;

	for (unsigned back = 0; within(t, back, span_ms); back++) {
		if (window_get(w, t, silent, back) > 0)
			break;
		if (window_get(w, t, moves, back) > 0)
			since = t->at_ms[window_index_of(t, back)];
	}
	return since;
}

/* Returns the shortest time without events that is a lull. Rare events are further apart than
 * samples: up to three times their mean distance is no lull. */
static uint64_t lull_of(const struct window *w, const struct timeline *t, enum signal s,
			unsigned first, uint64_t span_ms, uint64_t quiet_ms, double least)
{
	uint64_t newest = age_of(t, first), seen_ms = 0, sparse;
	unsigned hits = 0;

	for (unsigned back = first; back < t->n && age_of(t, back) - newest < span_ms / 2; back++) {
		if (!(window_get(w, t, s, back) >= least))
			continue;
		hits++;
		seen_ms = age_of(t, back) - newest;
	}
	sparse = hits > 2 ? 3 * seen_ms / (hits - 1) : 0;
	return sparse > quiet_ms && sparse < span_ms / 2 ? sparse : quiet_ms;
}

/* As window_since(), with `first` as the newest row. */
static uint64_t since_row(const struct window *w, const struct timeline *t, enum signal s,
			  unsigned first, uint64_t span_ms, uint64_t quiet_ms)
{
	uint64_t since = 0, newest = age_of(t, first);
	double level = 0, usual, least;

	for (unsigned back = first; back < t->n && age_of(t, back) - newest < quiet_ms; back++)
		level = fmax(level, window_get(w, t, s, back)); /* ignores NaN */
	if (level <= 0)
		return 0;
	usual = usual_level(w, t, s, newest + span_ms / 2);
	least = fmax(level / 4, fmin(3 * usual, (level + usual) / 2));
	quiet_ms = lull_of(w, t, s, first, span_ms, quiet_ms, least);
	for (unsigned back = first; back < t->n && age_of(t, back) - newest < span_ms; back++) {
		uint64_t at = t->at_ms[window_index_of(t, back)];

		if (window_get(w, t, s, back) >= least)
			since = at;
		else if (since && since - at >= quiet_ms)
			break;
	}
	return since;
}

uint64_t window_since(const struct window *w, const struct timeline *t, enum signal s,
		      uint64_t span_ms, uint64_t quiet_ms)
{
	return since_row(w, t, s, 0, span_ms, quiet_ms);
}

uint64_t window_since_at(const struct window *w, const struct timeline *t, enum signal s,
			 uint64_t span_ms, uint64_t quiet_ms, uint64_t at_ms)
{
	unsigned first = 0;

	while (first + 1 < t->n && t->at_ms[window_index_of(t, first)] > at_ms)
		first++;
	return since_row(w, t, s, first, span_ms, quiet_ms);
}

const char *signal_word(enum signal s)
{
	static const char *const words[] = {
		[SIGNAL_PHY_ERRORS] = "phy_errors",
		[SIGNAL_PAUSE_RECEIVED] = "pause_received",
		[SIGNAL_PAUSE_SENT] = "pause_sent",
		[SIGNAL_CE_SHARE] = "ce_share",
		[SIGNAL_CNP_SENT] = "cnp_sent",
		[SIGNAL_CNP_RECEIVED] = "cnp_received",
		[SIGNAL_DISCARDS] = "discards",
		[SIGNAL_OUT_OF_SEQUENCE] = "out_of_sequence",
		[SIGNAL_NAK] = "nak",
		[SIGNAL_TIMEOUTS] = "timeouts",
		[SIGNAL_NOT_READY] = "not_ready",
		[SIGNAL_FAILED] = "failed",
		[SIGNAL_BYTES_RECEIVED] = "bytes_received",
		[SIGNAL_BYTES_SENT] = "bytes_sent",
	};

	return words[s];
}

const char *signal_name(enum signal s)
{
	static const char *const names[] = {
		[SIGNAL_PHY_ERRORS] = "roce_phy_symbol_errors_total",
		[SIGNAL_PAUSE_RECEIVED] = "roce_pfc_pause_seconds_total{direction=\"received\"}",
		[SIGNAL_PAUSE_SENT] = "roce_pfc_pause_seconds_total{direction=\"sent\"}",
		[SIGNAL_CE_SHARE] = "roce_ecn_ce_received_packets_total",
		[SIGNAL_CNP_SENT] = "roce_cnp_sent_packets_total",
		[SIGNAL_CNP_RECEIVED] = "roce_cnp_received_packets_total",
		[SIGNAL_DISCARDS] = "roce_port_discards_total{direction=\"received\"}",
		[SIGNAL_OUT_OF_SEQUENCE] = "roce_out_of_sequence_packets_total",
		[SIGNAL_NAK] = "roce_sequence_nak_received_total",
		[SIGNAL_TIMEOUTS] = "roce_ack_timeouts_total",
		[SIGNAL_NOT_READY] = "roce_rnr_nak_received_total",
		[SIGNAL_FAILED] = "roce_transport_retries_exceeded_total",
		[SIGNAL_BYTES_RECEIVED] = "roce_bytes_total{direction=\"received\"}",
		[SIGNAL_BYTES_SENT] = "roce_bytes_total{direction=\"sent\"}",
	};

	return names[s];
}
