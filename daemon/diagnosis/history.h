/* history.h - what has to be remembered of a port beyond its window: events and how long ago they
 * were. Pure. */
#pragma once

#include "observation.h"
#include "rates.h"
#include "thresholds.h"

#define HISTORY_FLAPS 8

/* RDMA bytes against those on the lossless priorities, over a few seconds and over a minute. The
 * two come of different reads, so a single sample says little. */
struct balance {
	double outside, all;	       /* bytes a second, smoothed over seconds */
	double slow_outside, slow_all; /* over a minute */
	double noise, weight; /* noise / weight: how much single samples deviate from that */
	uint32_t samples;
	uint64_t since_ms; /* when this run of samples with something outside began; 0 = none */
	double above,
		peak; /* of outside, what is above 0; and the greatest of all: over a minute */
	double hits;  /* samples with something outside, of about the last 60 */
	bool missed;  /* the last sample had nothing */
};

/* Events of which few are a fault, and that have no place in the window. */
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

/* Sums in which the past counts less and less; NaN in `now`: not seen in this sample. */
struct tally_sum {
	float now;
	float sum[2], seconds[2]; /* over about 10 s, and over a minute */
	uint64_t since_ms;	  /* the first of those that make it more than it was; 0 = none */
};

/* What passes in one direction. */
struct flow {
	double bytes[2], packets[2]; /* while both passed; over about 10 s, and over a minute */
	double sum, seconds;	     /* packets over about 10 s */
};

/* Errors that the application makes: those of one minute are one run. */
struct error_run {
	uint64_t first_ms, last_ms; /* 0 = there were none */
	double rate;		    /* of the last */
	enum series series;
	unsigned n; /* samples with some */
	bool seen;  /* such a counter is visible */
	bool told;  /* the rule has judged all of them */
};

#define BALANCE_SLOW_S 60.0

struct history {
	uint64_t first_seen_ms; /* never 0 once it was seen */
	uint64_t watched_ms;	/* since when without a gap */
	enum port_state state;
	uint64_t rate_bps, best_rate_bps; /* now, and the greatest while it was active */
	double minute;			  /* bytes a second, both directions, over about a minute */
	bool was_active;		  /* at any time */
	bool changed;			  /* state or rate are not those of the sample before */
	bool down;			  /* it is known to be not active */
	bool went_down;			  /* in this sample */
	uint64_t down_ms;		  /* since when it is down; 0 = it is not */
	uint64_t flap_ms[HISTORY_FLAPS];  /* when it went down; 0 = never; the newest first */
	uint64_t command_failures;
	bool commands_fail;	 /* firmware commands have failed in this sample */
	bool queue_pairs_failed; /* retries ran out in this sample */
	uint64_t failed_ms;	 /* when they last did; 0 = never */
	double phy_rate;	 /* bytes a second that the PHY received, over about a minute */
	/* Bits that FEC corrects a second: the least mean of about an hour. */
	double corrected_usual;
	bool usual_known;
	double stuck_s;	   /* for how long RDMA counters stood still while its bytes moved */
	double frozen_s;   /* the same while its priorities' bytes moved, perhaps those of VFs */
	double disagree_s; /* for how long counters have contradicted each other */
	struct error_run errors;
	uint64_t gid_ms; /* when an address last moved to another GID index; 0 = never */
	struct balance sent, received;
	struct flow flow_sent, flow_received;
	struct tally_sum tally[N_TALLIES];
	uint32_t samples;   /* with rates, since watched_ms */
	bool packets_moved; /* ever */
	bool beyond;	    /* rates of this sample were beyond what the line can carry */
	uint32_t ignored;
};

/* `rates` are of this sample; pause_contradicts: a priority was paused all the time and received
 * data none the less. */
void history_update(struct history *, const struct port_observation *, const struct rates *,
		    const struct thresholds *, uint64_t now_ms, double interval_s,
		    bool pause_contradicts);
/* Bits that FEC corrected a second, over about a minute; NaN: not seen for as long yet. */
double history_corrected(const struct history *);
/* Bytes of a packet, recently or over a minute; NaN: not seen. */
double flow_size(const struct flow *, bool over_a_minute);
/* Packets a second, recently; NaN: not seen. */
double flow_packets(const struct flow *);
/* Has it been seen for long enough to judge its link? */
static inline bool history_is_settled(const struct history *h, const struct thresholds *t,
				      uint64_t now_ms)
{
	return (double)(now_ms - h->first_seen_ms) >= 1000 * t->value[LIMIT_settle_seconds];
}

/* Times that it went down during the last span_ms. */
unsigned history_flaps(const struct history *, uint64_t now_ms, uint64_t span_ms);
