/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - state of a port that is kept longer than the rules' window of samples: events and
 * their times. Pure. */
#pragma once

#include "observation.h"
#include "rates.h"
#include "thresholds.h"

#define HISTORY_FLAPS 8

/* How many RDMA bytes are outside the lossless priorities: the difference of two rates, smoothed
 * over a few seconds and over a minute. The two rates come from different reads, so a single sample
 * proves little. */
struct balance {
	/* RDMA bytes a second outside the lossless priorities, and all RDMA bytes, over a few
	 * seconds */
	double outside, all;
	double slow_outside, slow_all; /* the same, over a minute */
	/* noise / weight: mean difference, in bytes a second, between the bytes outside in a sample
	 * and the usual share (slow_outside / slow_all) of its bytes */
	double noise, weight;
	uint32_t samples;
	uint64_t since_ms; /* start of the present run of samples with bytes outside; 0 = none */
	double above; /* mean over a minute of the bytes outside; a negative difference counts as 0
		       */
	double peak;  /* highest rate of all RDMA bytes; decays over a minute */
	double hits;  /* samples with bytes outside, of about the last 60 */
	bool missed;  /* the last sample had no bytes outside */
};

/* Rare events: a few of them already indicate a fault. They are summed here because the rules'
 * window of samples is too short for them. */
enum tally {
	TALLY_CNP_IGNORED,
	TALLY_ICRC,
	TALLY_PCIE_OVERFLOW,
	TALLY_GLOBAL_FRAMES,
	TALLY_GLOBAL_PAUSE, /* seconds */
	TALLY_HOST_MARKED,
	TALLY_SLOW_RESTARTS,
	TALLY_CORRECTED, /* bits */
	N_TALLIES
};

/* Decaying sums. now: NaN if not visible in this sample. */
struct tally_sum {
	float now;
	float sum[2], seconds[2]; /* over about 10 s, and over a minute */
	uint64_t since_ms; /* when the rate began to increase; if it does not increase: the last
			      event; 0 = no event */
};

/* Traffic in one direction. */
struct flow {
	/* mean rates of the samples in which both moved, over about 10 s and a minute; flow_size()
	 * divides them */
	double bytes[2], packets[2];
	double sum, seconds; /* sum / seconds: packets a second, over about 10 s */
};

/* Errors caused by the application; errors less than a minute apart are one run. */
struct error_run {
	uint64_t first_ms, last_ms; /* 0 = no errors */
	double count;
	enum series series;
	unsigned n;    /* samples with errors */
	bool seen;     /* a counter of such errors is visible */
	bool reported; /* the rule has reported all of them */
};

/* A run of failures: they are less than a minute apart. */
struct failure_run {
	uint64_t first_ms, last_ms; /* 0 = never */
	double count;
};

#define BALANCE_SLOW_S 60.0

struct history {
	uint64_t first_seen_ms; /* 0 = not seen yet */
	uint64_t watched_ms;	/* start of the present run of samples without a gap */
	enum port_state state;
	uint64_t rate_bps, best_rate_bps; /* now, and the greatest while it was active */
	double minute;	   /* bytes a second, both directions, mean of about a minute */
	bool was_active;   /* has ever been active */
	bool changed;	   /* state or rate differ from the previous sample */
	bool down;	   /* known to be not active */
	bool went_down;	   /* in this sample */
	bool flap_counted; /* the NIC counted the newest of flap_ms */
	bool up_in_pod;	   /* has been up at least once since its present pod got the device */
	/* When a pod last had it or a VF of it, or RDMA last used it; 0 = never. */
	uint64_t used_ms;
	uint64_t down_ms;		 /* when it went down; 0 = it is up */
	uint64_t flap_ms[HISTORY_FLAPS]; /* times it went down, newest first; 0 = none */
	uint64_t holder;		 /* digest of the name of its pod; 0 = no pod has it */
	uint64_t off_ms; /* when it was found down by itself (admin_down) while a pod has it; 0 = it
			    is not */
	uint64_t command_failures;
	bool commands_fail;	      /* firmware commands failed in this sample */
	bool queue_pairs_failed;      /* transport retries ran out in this sample */
	struct failure_run failed;    /* queue pairs whose transport retries ran out */
	struct failure_run not_ready; /* queue pairs whose RNR retries ran out */
	double phy_rate; /* bytes a second that the PHY received, over about a minute */
	/* Bits a second that FEC corrects: the lowest mean of about an hour. */
	double corrected_usual;
	bool usual_known;
	double stuck_s;	   /* for how long bytes moved without packets, or the reverse */
	double frozen_s;   /* for how long neither bytes nor packets of RDMA moved while bytes of
			      the lossless priorities did */
	double disagree_s; /* for how long counters have contradicted each other */
	struct error_run errors;
	uint64_t gid_ms; /* when an address last moved to another GID index; 0 = never */
	struct balance sent, received;
	struct flow flow_sent, flow_received;
	struct tally_sum tally[N_TALLIES];
	uint32_t samples;     /* samples since watched_ms; the first one has no rates */
	bool packets_moved;   /* packets have been counted at least once */
	bool above_line_rate; /* a rate of this sample exceeded what the line can carry */
	uint32_t ignored;     /* rejected rates up to the last sample, to set above_line_rate */
};

/* Updates the state with one sample. rates: of this sample. pause_contradicts: a priority carried
 * data although it was paused for the whole sample. */
void history_update(struct history *, const struct port_observation *, const struct rates *,
		    const struct thresholds *, uint64_t now_ms, double interval_s,
		    bool pause_contradicts);
/* Bits a second that FEC corrected, mean of about a minute; NaN: watched for too short a time. */
double history_corrected(const struct history *);
/* Returns the mean packet size in bytes, over about 10 s or a minute; NaN: unknown. */
double flow_size(const struct flow *, bool over_a_minute);
/* Packets a second, over about 10 s; NaN: unknown. */
double flow_packets(const struct flow *);
/* True if the port has been known for long enough to judge its link. */
static inline bool history_is_settled(const struct history *h, const struct thresholds *t,
				      uint64_t now_ms)
{
	return (double)(now_ms - h->first_seen_ms) >= 1000 * t->value[LIMIT_settle_seconds];
}

/* Returns the number of times the link went down during the last span_ms. */
unsigned history_flaps(const struct history *, uint64_t now_ms, uint64_t span_ms);
