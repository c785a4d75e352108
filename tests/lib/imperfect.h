/* imperfect.h - the samples that real nodes give: reads that fail, counters that read 0 once,
 * uneven intervals, families that a driver lacks, and rare events that come by chance. The same
 * seed gives the same samples. */
#pragma once

#include "diagnosis_world.h"

/* What is imperfect; zero-initialised, nothing is. */
struct imperfections {
	double failed_read; /* probability that one group of counters is not read in a sample */
	double zero_read;   /* the same that it reads 0 */
	double skew_s;	    /* groups of counters are read up to so many seconds after each other */
	uint32_t missing;   /* bits of enum counter_group that the driver does not have */
	bool uneven;	    /* intervals are 0.5 to 2 times the nominal one */
	unsigned interval_s;
};

/* Counters that one request to the driver returns together. */
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

/* Sets the port's rates for the second that begins, after traffic and background did. */
typedef void disturb_fn(struct imperfect *, void *arg);

struct imperfect {
	struct world w;
	struct imperfections how;
	double noise;		   /* background events, as a share of each limit; 0 = none */
	bool unmarked;		   /* no marks and notifications among them */
	world_pattern_fn *traffic; /* NULL: as it is */
	disturb_fn *disturb;	   /* NULL: none */
	void *arg;
};

/* One port. */
void imperfect_init(struct imperfect *, uint64_t seed, const struct imperfections *, double noise);
void imperfect_done(struct imperfect *);
/* For the port's present traffic: every counter that has a limit grows by `noise` of that. */
void imperfect_background(struct imperfect *);
/* The next sample; borrowed. Traffic, background and what disturbs them change each second. */
struct observation imperfect_step(struct imperfect *);
/* Seconds since the beginning. */
double imperfect_seconds(const struct imperfect *);
