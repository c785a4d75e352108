/* SPDX-License-Identifier: Apache-2.0 */
/* widen.h - extends 32-bit counters to 64 bits, and detects resets of a port's counters.
 *
 * Pure. All counters of a port are evaluated together, because a reset (driver reload, function
 * reset) affects all of them and a wrap only one. A counter wrapped if, in one sample, it is the
 * only one that fell, has 32 bits, was in the upper half of its range, and the step across the wrap
 * is below 2^31. Every other fall is a reset of the port.
 *
 * Some drivers return 0 if they cannot read a counter. If that 0 were published, rate() would add
 * the counter's whole value when it is read again. So a 0 is accepted only if it was read in two
 * samples, or if another counter of the port fell to a value above 0 in the same sample. Until
 * then, the counter counts as not read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One counter. A new one is zero-initialised, with wraps32 and monotonic set. */
struct widen {
	uint64_t raw;	/* in: as read in this sample */
	uint64_t last;	/* the last raw value that was read */
	uint32_t wraps; /* number of wraps since the last reset */
	bool ok;	/* in: raw was read in this sample; out: and it is accepted */
	bool seen;	/* last is valid */
	bool zero_once; /* raw is a 0 that no second sample has confirmed */
	bool wraps32, monotonic;
};

/* Returns the 64-bit value after widen_port(); valid if ok. */
static inline uint64_t widen_value(const struct widen *w)
{
	return w->last + ((uint64_t)w->wraps << 32);
}

/* The effect of a sample on a port's counters. */
struct widened {
	bool is_reset;	/* the counters were reset; all wraps are cleared */
	bool has_moved; /* a counter has another value than when it was read last */
};

/* Evaluates the n counters of one port after a sample. */
struct widened widen_port(struct widen *counters, size_t n);
