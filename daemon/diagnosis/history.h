/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - state of a port that is kept longer than the rules' window of samples: events and
 * their times. Pure. */
#pragma once

#include "observation.h"
#include "rates.h"
#include "thresholds.h"

#define HISTORY_FLAPS 8

/* RDMA bytes against those of the lossless priorities, over a few seconds and over a minute. They
 * come from two different reads, so a single sample proves little. */
struct balance {
	double outside, all;	       /* bytes a second, smoothed over seconds */
	double slow_outside, slow_all; /* over a minute */
	double noise, weight; /* noise / weight: mean deviation of a sample from the usual share */
	uint32_t samples;
	uint64_t since_ms;  /* start of the present run of samples with bytes outside; 0 = none */
	double above, peak; /* over a minute: mean of `outside` above 0, greatest burst */
	double hits;	    /* samples with bytes outside, of about the last 60 */
	bool missed;	    /* the last sample had no bytes outside */
};

/* Rare events, of which a few already indicate a fault. They are summed here because the rules'
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
	uint64_t since_ms;	  /* first event of the present rise; 0 = none */
};

/* Traffic in one direction. */
struct flow {
	double bytes[2], packets[2]; /* while both are above 0; over about 10 s and a minute */
	double sum, seconds;	     /* packets, over about 10 s */
};

/* Errors caused by the application; errors less than a minute apart are one run. */
struct error_run {
	uint64_t first_ms, last_ms; /* 0 = no errors */
	double rate;		    /* of the last sample with errors */
	enum series series;
	unsigned n;    /* samples with errors */
	bool seen;     /* such a counter exists */
	bool reported; /* the rule has reported all of them */
};

#define BALANCE_SLOW_S 60.0

struct history {
	uint64_t first_seen_ms; /* 0 = not seen yet */
	uint64_t watched_ms;	/* start of the present run of samples without a gap */
	enum port_state state;
	uint64_t rate_bps, best_rate_bps; /* now, and the greatest while it was active */
	double minute;	  /* bytes a second, both directions, mean of about a minute */
	bool was_active;  /* has ever been active */
	bool changed;	  /* state or rate differ from the previous sample */
	bool down;	  /* known to be not active */
	bool went_down;	  /* in this sample */
	bool held_up;	  /* has been up since its present pod got it */
	uint64_t down_ms; /* when it went down; 0 = it is up */
	uint64_t flap_ms[HISTORY_FLAPS]; /* times it went down, newest first; 0 = none */
	uint64_t holder;		 /* digest of the name of its pod; 0 = no pod has it */
	uint64_t off_ms; /* since when it is down in its pod although no link is; 0 = it is not */
	uint64_t command_failures;
	bool commands_fail;	 /* firmware commands failed in this sample */
	bool queue_pairs_failed; /* transport retries ran out in this sample */
	uint64_t failed_ms;	 /* when that last happened; 0 = never */
	double phy_rate;	 /* bytes a second that the PHY received, over about a minute */
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
	uint32_t ignored;
};

/* rates: of this sample. pause_contradicts: a priority received data although it was paused for the
 * whole sample. */
void history_update(struct history *, const struct port_observation *, const struct rates *,
		    const struct thresholds *, uint64_t now_ms, double interval_s,
		    bool pause_contradicts);
/* Bits a second that FEC corrected, mean of about a minute; NaN: watched for too short a time. */
double history_corrected(const struct history *);
/* Mean packet size in bytes, over about 10 s or a minute; NaN: unknown. */
double flow_size(const struct flow *, bool over_a_minute);
/* Packets a second, over about 10 s; NaN: unknown. */
double flow_packets(const struct flow *);
/* True if the port has been known for long enough to judge its link. */
static inline bool history_is_settled(const struct history *h, const struct thresholds *t,
				      uint64_t now_ms)
{
	return (double)(now_ms - h->first_seen_ms) >= 1000 * t->value[LIMIT_settle_seconds];
}

/* Number of times the link went down during the last span_ms. */
unsigned history_flaps(const struct history *, uint64_t now_ms, uint64_t span_ms);
