/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - input, output and helpers of rules. Pure.
 *
 * A rule judges one port in one sample: yes, no, or undecidable. It keeps no state; latch.h decides
 * how long and how often. While its verdict is open its limits are halved, so that a value near the
 * limit does not flap. */
#pragma once

#include "history.h"
#include "rates.h"
#include "siblings.h"
#include "verdict.h"
#include "window.h"

/* Time spans that rules search: name, milliseconds, and the least number of samples, which extends
 * the span when samples are far apart. */
#define SPAN_LIST(X)                                                                               \
	X(LULL, 5000, 2)    /* a shorter pause does not end a fault */                             \
	X(RECENT, 10000, 3) /* span of means called "recent" */                                    \
	X(STEADY, 30000, 4)                                                                        \
	X(LATELY, 60000, 5)                                                                        \
	X(BACK, 60000, 12) /* how far to search for the beginning of a verdict */                  \
	X(MINUTES, 180000, 6)                                                                      \
	X(LONG, 900000, 8)

enum span {
#define X(name, ms, rows) SPAN_##name,
	SPAN_LIST(X)
#undef X
		N_SPANS
};

/* Spans in ms for the present sampling interval. gap_ms: samples further apart than this do not
 * belong together. */
void spans_make(uint64_t ret[N_SPANS], const struct timeline *, uint64_t gap_ms);

/* Standard deviations by which an event count must exceed its limit. At a true rate of a third of
 * the limit, chance exceeds it so far in at most one of 10^8 windows. */
#define CHANCE 3.0

/* As CHANCE, for fewer than `least` events, which are judged by their share alone. One fault can
 * cause several events at once, so they must be in at least FAR_SAMPLES samples. */
#define CHANCE_FAR  5.0
#define FAR_SAMPLES 3

/* Seconds that the threshold least_events refers to. */
#define LEAST_S 10

/* The priority that was paused longest in this sample. */
struct paused {
	double share; /* NaN: not visible */
	int priority; /* -1: the whole link */
};

struct rule_input {
	const struct port_observation *port;
	const struct observation *all;
	const struct port_load *loads; /* one per port of all->ports */
	const struct siblings *siblings;
	const struct thresholds *limits;
	const struct rates *rates;
	const struct history *history;
	const struct window *window;
	const struct timeline *timeline;
	const uint64_t *span_ms; /* indexed by enum span */
	uint64_t now_ms;
	double interval_s;
	bool open; /* the rule's verdict is open */
	/* Highest severity that the rule has given to that verdict; SEVERITY_NONE: not open. */
	enum severity held;
	bool settled;	/* known for long enough to judge its link */
	bool judgeable; /* the link is up, and was for the whole sample */
	double line;	/* bytes a second; 0 = unknown */
	double most;	/* the part of `line` that roce_bytes_total can show */
	bool idle;	/* practically no traffic recently */
	struct paused pause_received, pause_sent;
	double mean[N_SIGNALS]; /* over SPAN_RECENT; NaN = not visible */
	/* Recent share of `most` on the wire, which a PF shares with its VFs; NaN = unknown. */
	double use_received, use_sent;
	double packets_received, packets_sent; /* recent, per second; NaN = unknown */
	/* Recent share of the packets received that the fabric marked. If marks are not counted, it
	 * is derived from CNPs sent, each of which answers at least one mark. NaN: neither is
	 * counted. */
	double marked;
	bool marked_by_cnp;
};

/* Fills in everything but open and siblings. */
void rule_input_make(struct rule_input *ret, const struct observation *, size_t port,
		     const struct port_load *, const struct thresholds *, const struct rates *,
		     const struct history *, const struct window *, const struct timeline *,
		     const uint64_t span_ms[N_SPANS], double interval_s);
/* Priorities that carry RDMA: the lossless ones, or all eight if no lossless one is known. */
uint8_t rdma_priorities(const struct port_observation *);
/* Sets pause, drops and the host's marks of all other priorities to NaN. Reduces the port's drops
 * to those that the other priorities and their traffic do not explain. */
void rates_of_rdma(struct rates *, uint8_t priorities);
/* Returns the port's rate in bytes a second, 0 if the link is not up. */
double port_line(const struct port_observation *);
/* Series of one direction of pause. Received pause stops sending, and sent pause stops
 * receiving. */
struct pause_way {
	enum series pause, global, bytes, priority_bytes, frames, global_frames;
};
extern const struct pause_way pause_received, pause_sent;
/* Bytes a second that passed in spite of pause: of the priority (-1: the whole link) if visible,
 * else of all RDMA. */
double pause_bytes(const struct rates *, const struct pause_way *, int priority);
/* Returns the longest-paused priority and its share, in one sample. first: SERIES_PAUSE_RECEIVED or
 * SERIES_PAUSE_SENT. */
struct paused paused_most(const struct rates *, enum series first);
/* True if a priority was paused for a whole sample, and yet carried more than a tenth of the line
 * rate. */
bool pause_contradicts(const struct rates *, double line);
/* Computes the 14 signals of one sample. */
void signals_make(double ret[N_SIGNALS], const struct rates *, bool soft_roce, unsigned mtu);

/* --- helpers of rules ------------------------------------------------------------------------- */

static inline double rate_of(const struct rule_input *in, enum series s)
{
	return (double)in->rates->rate[s];
}

static inline double threshold(const struct rule_input *in, enum threshold t)
{
	return in->limits->value[t];
}

/* Returns the limit that a value must reach. */
static inline double limit(const struct rule_input *in, enum threshold t)
{
	return in->limits->value[t] * (in->open ? 0.5 : 1);
}

/* Returns the limit to show: `high` if the finding or the open verdict has the severity `level` or
 * a higher one, else `low`. */
static inline double limit_of(const struct rule_input *in, const struct finding *f,
			      enum severity level, double low, double high)
{
	return f->severity >= level || in->held >= level ? high : low;
}

/* Returns the limit that a value must not exceed. */
static inline double ceiling(const struct rule_input *in, enum threshold t)
{
	return in->limits->value[t] * (in->open ? 2 : 1);
}

/* True if the recent mean is at least `least`, and two or more recent samples are, too. */
bool sustained(const struct rule_input *, enum signal, double least);
/* True if there was practically no traffic in this sample. */
bool is_still(const struct rule_input *);
/* Events in excess of what chance explains. */
double beyond_chance(double events);
/* Events needed for a verdict. */
struct certainty {
	double least; /* per second */
	double share; /* of the packets; 0: any number of packets */
	double far;   /* above this share of the packets, fewer events suffice; INFINITY: never */
	double usual; /* events a second that are normal, however few the packets; used with `far`
		       */
};

/* Returns the events a second over the shortest span (RECENT, LATELY, MINUTES or LONG) with enough
 * events: those beyond chance, or all of them if their share of the packets exceeds `far`. 0: not
 * enough in any span, or the events have stopped. *ret_share: these events as a share of the
 * packets. */
double certain_rate(const struct rule_input *, enum signal, const struct certainty *,
		    double *ret_share);
/* Returns the events a second of a tally, in this sample or recently. */
double tally_rate(const struct rule_input *, enum tally);
/* Adds evidence to the finding; ignored if the finding is full. */
void show(struct finding *, const char *name, const char *unit, double value, double threshold);
/* Adds evidence like show(), with a word for the value, and no limit. */
void show_word(struct finding *, const char *name, double value, const char *word);
/* Adds a bit mask of priorities, which is shown as their numbers. */
void show_priorities(struct finding *, const char *name, unsigned mask);
void show_numbered(struct finding *, const char *name, int number, const char *unit, double value,
		   double threshold);
enum rule_answer cannot_decide(struct finding *, const char *why);
/* Answers no: nothing that is visible shows the fault. why: what could show it, too, and is not
 * visible; NULL: nothing. Unlike an undecided sample, this one ends the fault. */
enum rule_answer no_sign(struct finding *, const char *why);
/* Returns the severity of a value, given its warning and critical limits. */
enum severity severity_by(double value, double warning, double critical);
/* Sets the finding's severity (critical if the value is at least `critical`, else warning), and
 * `near`, the ratio of the value to `critical`. */
void grade(struct finding *, double value, double critical);

/* --- the rules -------------------------------------------------------------------------------- */

/* rules_trust.c */
rule_fn rule_nic_stuck, rule_no_device_node, rule_function_restricted, rule_contradicting_counters,
	rule_blind_spot, rule_nic_reset;
/* rules_link.c */
rule_fn rule_link_flap, rule_port_off, rule_port_never_up, rule_bad_link, rule_pre_fec_errors,
	rule_link_degraded;
/* rules_pause.c */
rule_fn rule_pause_storm_source, rule_pause_storm_victim, rule_slow_receiver_pcie,
	rule_slow_receiver_nic_cache, rule_slow_receiver, rule_global_pause, rule_paused_by_network,
	rule_not_ecn_capable;
/* rules_settings.c */
rule_fn rule_pcie_degraded, rule_wrong_priority, rule_pfc_mismatch, rule_mtu_mismatch;
/* rules_congestion.c */
rule_fn rule_notification_point_off, rule_reaction_point_off, rule_noisy_neighbour, rule_incast,
	rule_rail_behind, rule_one_path, rule_fabric_congestion, rule_slow_restarts;
/* rules_loss.c */
rule_fn rule_packet_loss, rule_reordering;
/* rules_application.c */
rule_fn rule_receiver_not_ready, rule_gid_moved, rule_job_ended, rule_peer_gone,
	rule_application_error;
