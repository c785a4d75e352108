/* SPDX-License-Identifier: Apache-2.0 */
/* burst.h - bursts: a port that shows congestion is read many times a second for a few seconds.
 * This module chooses the ports and the pace, and keeps histograms of the windows' ratios.
 * Pure.
 *
 * A sample of one second hides short events: a line that is paused for 200 ms has a ratio of 0.2. A
 * window is the time between two reads. It grows while no counter moves, so a driver that refreshes
 * its counters once a second gets windows of a second, and no false ratios.
 *
 * Ports are identified by their index in the sample. */
#pragma once

#include "rates.h"
#include "thresholds.h"

enum burst_ratio {
	BURST_PAUSE_RECEIVED, /* share of the window during which the longest-paused priority was
				 paused */
	BURST_PAUSE_SENT,
	BURST_CE, /* share of the packets received that are marked CE */
	N_BURST_RATIOS
};

/* Upper bounds of the histogram buckets; the last is 1. */
#define BURST_BOUNDS 10
extern const double burst_bounds[BURST_BOUNDS];

/* Histogram of one ratio over all windows. */
struct burst_windows {
	uint64_t n[BURST_BOUNDS]; /* windows per bucket: the first bound that is not exceeded */
	double sum;
	double peak; /* maximum of the last 30 to 60 s; NaN: no window in that time */
};

/* Signs of congestion on a port in a sample; a set. */
enum burst_reason { BURST_PAUSED = 1, BURST_MARKED = 2, BURST_LOST = 4 };

struct bursts;

/* Returns NULL if out of memory. */
struct bursts *bursts_new(const struct thresholds *);
void bursts_free(struct bursts *);
void bursts_set_thresholds(struct bursts *, const struct thresholds *);

/* Takes over the ports of this sample and keeps the state of those that were known. -ENOMEM:
 * nothing changed. */
int bursts_follow(struct bursts *, const struct sample *);
/* True if the ports are those of this sample. */
bool bursts_are_of(const struct bursts *, const struct sample *);

/* Call for each port after a sample of all ports. reasons: a set of enum burst_reason. Queues the
 * port if a reason is new, or if it still has one burst_rest_seconds after its last burst. */
void bursts_want(struct bursts *, size_t port, unsigned reasons, uint64_t now_ms);
/* Call after bursts_want(): starts bursts of queued ports, the longest waiting first, as far as the
 * read budget allows at the slowest pace. */
void bursts_admit(struct bursts *, uint64_t now_ms);
/* Returns the time until the next read; 0: no burst is running. */
unsigned bursts_interval_ms(const struct bursts *);
bool bursts_is_running(const struct bursts *, size_t port);

/* Adds one reading of a port. value: as in struct port_observation; line: rate of the link in bytes
 * a second, 0 = unknown; n_calls: number of driver calls for the reading. */
void bursts_add_reading(struct bursts *, size_t port, const double value[N_SERIES], double line,
			unsigned mtu, unsigned n_calls, uint64_t now_ns);
/* True if pause has stopped a port's traffic for storm_burst_seconds and bursts_take_stalled() has
 * not yet reported it. */
bool bursts_alarm(const struct bursts *);
/* Returns the longest time in seconds that pause stopped all traffic, in the reads since the last
 * call; NaN: there was no read. ratio: BURST_PAUSE_*. */
double bursts_take_stalled(struct bursts *, size_t port, enum burst_ratio);

/* Returns NULL if the port never had a burst. */
const struct burst_windows *bursts_windows(struct bursts *, size_t port, uint64_t now_ms);
