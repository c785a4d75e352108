/* widen.h - makes 64-bit counters of 32-bit ones, and notices when a port's counters started over.
 *
 * Pure. All counters of a port are judged together, because a reset (driver reload, function reset)
 * takes them all and a wrap takes one: in one sample, if exactly one counter fell, it is a 32-bit
 * one, it was in the upper half of its range and the step that a wrap would mean is below 2^31, it
 * wrapped. Every other fall is a reset of the port. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One counter. Zero-initialised, then wraps32 and monotonic set, it is new. */
struct widen {
	uint64_t raw;	/* in: as read in this sample */
	uint64_t last;	/* the last raw value that was read */
	uint32_t wraps; /* so far */
	bool ok;	/* in: raw was read in this sample */
	bool seen;	/* last is valid */
	bool wraps32, monotonic;
};

/* After widen_port(): the 64-bit value; valid while ok. */
static inline uint64_t widen_value(const struct widen *w)
{
	return w->last + ((uint64_t)w->wraps << 32);
}

/* Judges the n counters of one port after a sample. Returns true when the port started over: all
 * wraps are forgotten. */
bool widen_port(struct widen *counters, size_t n);
