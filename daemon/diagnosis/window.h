/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - the signals of one port over the last quarter of an hour. Pure.
 *
 * A row per full sample has 14 signals of 16 bits: a float without its sign and with 8 bits of
 * mantissa (0.2 %), so 136 ports need 3.4 MB. A port on which nothing has moved for a quarter of an
 * hour, such as an unused VF, needs only one row. Signals are in causal order: of two that rise in
 * one sample, the first is the cause. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_ROWS 900

enum signal {
	SIGNAL_PHY_ERRORS,     /* symbol, checksum and FEC errors a second */
	SIGNAL_PAUSE_RECEIVED, /* share of time; of the priority that was paused longest */
	SIGNAL_PAUSE_SENT,
	SIGNAL_CE_SHARE, /* share of the packets received */
	SIGNAL_CNP_SENT, /* per second, as all below */
	SIGNAL_CNP_RECEIVED,
	SIGNAL_DISCARDS, /* on arrival */
	SIGNAL_OUT_OF_SEQUENCE,
	SIGNAL_NAK, /* sequence and implied */
	SIGNAL_TIMEOUTS,
	SIGNAL_NOT_READY, /* RNR NAKs received, missing receive work requests */
	SIGNAL_FAILED,	  /* queue pairs out of retries, completions with an error */
	SIGNAL_BYTES_RECEIVED,
	SIGNAL_BYTES_SENT,
	N_SIGNALS
};

/* Times of the rows of all ports. */
struct timeline {
	uint64_t at_ms[WINDOW_ROWS];
	unsigned newest; /* index of the newest row */
	unsigned n;	 /* rows in use */
};

struct window {
	uint16_t (*rows)[N_SIGNALS]; /* owned; NULL: all rows equal `still` */
	uint16_t still[N_SIGNALS];
	unsigned n_still;	      /* newest rows that are equal to `still` */
	uint16_t (*spent)[N_SIGNALS]; /* owned; rows just dropped, which readers may still use */
};

/* Initialises an empty window. */
void window_init(struct window *);
void window_done(struct window *);
/* Starts a new row for all ports. */
void timeline_add(struct timeline *, uint64_t now_ms);
/* Returns `ms`, or the longer span that is needed to hold `rows` rows. Rows before a gap longer
 * than gap_ms are not counted. */
uint64_t timeline_span(const struct timeline *, uint64_t ms, unsigned rows, uint64_t gap_ms);
/* Returns the shortest of the last four intervals; 0: fewer than two rows. */
uint64_t timeline_interval(const struct timeline *);
/* True if the row is within the span. */
bool window_reaches(const struct timeline *, unsigned back, uint64_t span_ms);
/* Fills the newest row; NaN or negative: not visible. If there is no memory when something moves
 * for the first time, the window is emptied. */
void window_set(struct window *, const struct timeline *, const double values[N_SIGNALS]);
/* Fills the newest row of a port that could not be read. */
void window_skip(struct window *, const struct timeline *);
/* Returns the value `back` rows before the newest; NaN: not visible. */
double window_get(const struct window *, const struct timeline *, enum signal, unsigned back);
/* As window_get(), for a caller without the timeline: `index` is the row that is `back` rows before
 * the newest. */
double window_at(const struct window *, unsigned index, unsigned back, enum signal);
/* Returns the mean over the rows of the last span_ms in which the signal was visible; NaN: in none.
 */
double window_mean(const struct window *, const struct timeline *, enum signal, uint64_t span_ms);
/* As window_mean(), for all signals. */
void window_means(const struct window *, const struct timeline *, uint64_t span_ms,
		  double ret[N_SIGNALS]);
/* Returns the sum of a rate over the last span_ms; *ret_seconds: time in which it was visible. */
double window_sum(const struct window *, const struct timeline *, enum signal, uint64_t span_ms,
		  double *ret_seconds);
/* Returns the number of rows of the last span_ms in which the signal was above 0 and at least
 * `level`. */
unsigned window_count(const struct window *, const struct timeline *, enum signal, uint64_t span_ms,
		      double level);
/* Returns the time, at most span_ms ago, since which the signal has been clearly above its usual
 * level, the mean of the older rows. Lulls shorter than quiet_ms are ignored. 0: the signal does
 * not move. */
uint64_t window_since(const struct window *, const struct timeline *, enum signal, uint64_t span_ms,
		      uint64_t quiet_ms);

/* Returns the time, at most span_ms ago, of the first row with `moves` above 0 since `silent` was
 * last above 0; 0: there is no such row. */
uint64_t window_silent(const struct window *, const struct timeline *, enum signal silent,
		       enum signal moves, uint64_t span_ms);

/* As window_since(), with the newest row at at_ms or before it as the present one. */
uint64_t window_since_at(const struct window *, const struct timeline *, enum signal,
			 uint64_t span_ms, uint64_t quiet_ms, uint64_t at_ms);

/* Returns the name of the signal in documents, such as "out_of_sequence". */
const char *signal_word(enum signal);
/* Returns the main series of the signal, for people, such as "roce_out_of_sequence_packets_total".
 */
const char *signal_name(enum signal);

/* Exposed for tests: conversion to 16 bits and back. */
uint16_t window_pack(double);
double window_unpack(uint16_t);
