/* SPDX-License-Identifier: Apache-2.0 */
/* imperfect.h - imperfect samples as on real nodes: failed reads, counters that read 0 once, uneven
 * intervals, missing families, and random rare events. The same seed yields the same samples. */
#pragma once

#include "diagnosis_world.h"

/* The imperfections; all zero: none. */
struct imperfections {
	double failed_read; /* probability that reading a group of counters fails in a sample */
	double zero_read;   /* probability that a group reads 0 */
	double skew_s;	    /* maximum time between the reads of groups */
	uint32_t missing;   /* bits of enum counter_group that the driver does not have */
	bool uneven;	    /* intervals are 0.5 to 2 times the nominal one */
	unsigned interval_s;
};

/* Groups of counters that the driver returns together. */
enum counter_group {
	GROUP_RDMA,	/* bytes, packets and events of RDMA */
	GROUP_PRIORITY, /* bytes, discards and marks of each priority */
	GROUP_PAUSE,
	GROUP_PHY,
	GROUP_HOST, /* PCIe, buffers */
	GROUP_OPTIONAL,
	GROUP_NAK,
	GROUP_CNP,
	N_GROUPS
};

struct imperfect;

/* Modifies the port's rates for the next second, after traffic and background were set. */
typedef void disturb_fn(struct imperfect *, void *arg);

struct imperfect {
	struct world w;
	struct imperfections how;
	double noise;		   /* background events, as a share of each limit; 0 = none */
	bool unmarked;		   /* background without CE marks and CNPs */
	world_pattern_fn *traffic; /* NULL: unchanged */
	disturb_fn *disturb;	   /* NULL: none */
	void *arg;
};

/* One port. */
void imperfect_init(struct imperfect *, uint64_t seed, const struct imperfections *, double noise);
void imperfect_done(struct imperfect *);
/* Adds background events for the port's current traffic: every counter with a limit grows by
 * `noise` times the limit. */
void imperfect_background(struct imperfect *);
/* The next sample; borrowed. Traffic, background and disturbance change every second. */
struct observation imperfect_step(struct imperfect *);
/* Seconds since the start. */
double imperfect_seconds(const struct imperfect *);
