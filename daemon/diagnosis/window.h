/* window.h - the last quarter of an hour of one port: what moved, and since when. Pure.
 *
 * A row for each full sample has 14 signals of 16 bits: a float without its sign and with 8 bits of
 * mantissa (0.2 %), so that 136 ports fit into 3.4 MB. A port on which nothing has moved yet, as on
 * most VFs that nobody has, needs only one row. Signals stand in causal order: of two that move in
 * one sample the first is the cause. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_ROWS 900

enum signal {
	SIGNAL_PHY_ERRORS,     /* symbol, checksum and FEC errors a second */
	SIGNAL_PAUSE_RECEIVED, /* share of time, of the priority that was paused longest */
	SIGNAL_PAUSE_SENT,
	SIGNAL_CE_SHARE, /* of the packets received */
	SIGNAL_CNP_SENT, /* a second, as all below */
	SIGNAL_CNP_RECEIVED,
	SIGNAL_DISCARDS, /* on arrival */
	SIGNAL_OUT_OF_SEQUENCE,
	SIGNAL_NAK, /* sequence and implied */
	SIGNAL_TIMEOUTS,
	SIGNAL_NOT_READY, /* RNR NAKs received, and receive work requests missing */
	SIGNAL_FAILED,	  /* queue pairs whose retries ran out, completions with an error */
	SIGNAL_BYTES_RECEIVED,
	SIGNAL_BYTES_SENT,
	N_SIGNALS
};

/* When the rows of all ports were taken. */
struct timeline {
	uint64_t at_ms[WINDOW_ROWS];
	unsigned newest; /* index of the newest row */
	unsigned n;	 /* rows in use */
};

struct window {
	uint16_t (*rows)[N_SIGNALS]; /* owned; NULL: each row is as `still` */
	uint16_t still[N_SIGNALS];
	unsigned n_still; /* rows so far, while rows is NULL */
};

/* Nothing has been seen. */
void window_init(struct window *);
void window_done(struct window *);
/* Makes room for a row of each port, at this time. */
void timeline_add(struct timeline *, uint64_t now_ms);
/* A span of so many ms that holds at least so many rows, as far back as no two of them are further
 * apart than a gap. */
uint64_t timeline_span(const struct timeline *, uint64_t ms, unsigned rows, uint64_t gap_ms);
/* The shortest of the last intervals; 0: there is none yet. */
uint64_t timeline_interval(const struct timeline *);
/* Is this row within the span? */
bool window_reaches(const struct timeline *, unsigned back, uint64_t span_ms);
/* Fills the newest row; NaN: not seen, and negative numbers likewise. Without memory for the first
 * row in which something moves, nothing has been seen so far. */
void window_set(struct window *, const struct timeline *, const double values[N_SIGNALS]);
/* The newest row is one of a port that could not be looked at. */
void window_skip(struct window *, const struct timeline *);
/* NaN: not seen; `back` rows before the newest. */
double window_get(const struct window *, const struct timeline *, enum signal, unsigned back);
/* The same of the row at this index, where the newest one is known to the caller alone. */
double window_at(const struct window *, unsigned index, unsigned back, enum signal);
/* Mean over the rows of the last span_ms in which it was seen; NaN: in none. */
double window_mean(const struct window *, const struct timeline *, enum signal, uint64_t span_ms);
/* The same of all signals. */
void window_means(const struct window *, const struct timeline *, uint64_t span_ms,
		  double ret[N_SIGNALS]);
/* What a rate has come to in the last span_ms, and the seconds of those in which it was seen. */
double window_sum(const struct window *, const struct timeline *, enum signal, uint64_t span_ms,
		  double *ret_seconds);
/* Rows of the last span_ms in which it was at least this much, and more than 0. */
unsigned window_count(const struct window *, const struct timeline *, enum signal, uint64_t span_ms,
		      double level);
/* Since when a signal has been moving, not longer ago than span_ms: the first sample of its present
 * excursion from what it was in the quarter of an hour before, which lulls of quiet_ms do not end.
 * 0: it does not move. */
uint64_t window_since(const struct window *, const struct timeline *, enum signal, uint64_t span_ms,
		      uint64_t quiet_ms);

/* Since when one signal stands at 0 while the other moves, not longer ago than span_ms; 0: it does
 * not. */
uint64_t window_silent(const struct window *, const struct timeline *, enum signal silent,
		       enum signal moves, uint64_t span_ms);

/* The same as it was at an earlier time. */
uint64_t window_since_at(const struct window *, const struct timeline *, enum signal,
			 uint64_t span_ms, uint64_t quiet_ms, uint64_t at_ms);

/* What it is called in documents: "out_of_sequence". */
const char *signal_word(enum signal);
/* Series that a signal is made of, for people: "roce_out_of_sequence_packets_total". */
const char *signal_name(enum signal);

/* Exposed for tests: the 16 bits and back. */
uint16_t window_pack(double);
double window_unpack(uint16_t);
