/* burst.h - ports on which congestion shows are looked at many times a second for some seconds:
 * which ones, how often, and what that has shown. Pure.
 *
 * A second hides much: a line that stands for 200 ms is a ratio of 0.2. Between two looks lies a
 * window. A look at which nothing has been counted since the last one closes none, the window
 * grows: a driver that refreshes its counters once a second then shows windows of a second, and no
 * ratio that never was.
 *
 * Ports are known by their place in the sample. */
#pragma once

#include "rates.h"
#include "thresholds.h"

enum burst_ratio {
	BURST_PAUSE_RECEIVED, /* share of the window, of the priority that was paused longest */
	BURST_PAUSE_SENT,
	BURST_CE, /* marked CE, of the packets received */
	N_BURST_RATIOS
};

/* Upper bounds of the histograms; the last is 1. */
#define BURST_BOUNDS 10
extern const double burst_bounds[BURST_BOUNDS];

/* What windows have shown of one ratio. */
struct burst_windows {
	uint64_t n[BURST_BOUNDS]; /* by the first bound that is not exceeded */
	double sum;
	double peak; /* greatest of the last 30 to 60 s; NaN: none was seen then */
};

/* What shows on a port in a sample; a set. */
enum burst_reason { BURST_PAUSED = 1, BURST_MARKED = 2, BURST_LOST = 4 };

struct bursts;

/* NULL: out of memory. */
struct bursts *bursts_new(const struct thresholds *);
void bursts_free(struct bursts *);
void bursts_set_thresholds(struct bursts *, const struct thresholds *);

/* The ports of this sample are looked at from now on; what is known of those that stay is kept.
 * -ENOMEM: none is. */
int bursts_follow(struct bursts *, const struct sample *);
/* The ports are those of this sample. */
bool bursts_are_of(const struct bursts *, const struct sample *);

/* After a sample of all ports, for each: why it should be looked at (a set of enum burst_reason).
 * Looking begins when a reason is new, or has gone on for long since the last time. */
void bursts_want(struct bursts *, size_t port, unsigned reasons, uint64_t now_ms);
/* Then: who has its turn. No more than the budget has room for at the slowest pace. */
void bursts_admit(struct bursts *, uint64_t now_ms);
/* How long until the next look, 0: nobody is looked at. */
unsigned bursts_interval_ms(const struct bursts *);
bool bursts_looks_at(const struct bursts *, size_t port);

/* A look. value: as in struct port_observation; line: its rate in bytes a second, 0 = unknown;
 * asked: the driver's answers it took. */
void bursts_look(struct bursts *, size_t port, const double value[N_SERIES], double line,
		 unsigned mtu, unsigned asked, uint64_t now_ns);
/* A storm has stood for long enough on a port, and no sample of all ports has been told yet. */
bool bursts_alarm(const struct bursts *);
/* How long at a stretch nothing moved because of pause, in looks since the last call; NaN: none was
 * taken. ratio: BURST_PAUSE_*. */
double bursts_take_stood(struct bursts *, size_t port, enum burst_ratio);

/* NULL: the port has never been looked at. */
const struct burst_windows *bursts_windows(struct bursts *, size_t port, uint64_t now_ms);
