/* rules.h - what a rule is given, and what it says it with. Pure.
 *
 * A rule looks at one port in one sample and says yes, no, or that it cannot be decided. It never
 * keeps anything: how long, how often and when it ends is latch.h's. While its verdict is open its
 * limits are halved, so that a value near the limit does not flap. */
#pragma once

#include "history.h"
#include "rates.h"
#include "siblings.h"
#include "verdict.h"
#include "window.h"

/* How far back rules look: so long, and over so many samples at least, however far apart those are.
 */
#define SPAN_LIST(X)                                                                               \
	X(LULL, 5000, 2)    /* does not end what goes on */                                        \
	X(RECENT, 10000, 3) /* means over this are called recent */                                \
	X(STEADY, 30000, 4)                                                                        \
	X(LATELY, 60000, 5)                                                                        \
	X(BACK, 60000, 12) /* the beginning of a verdict is looked for */                          \
	X(MINUTES, 180000, 6)                                                                      \
	X(LONG, 900000, 8)

enum span {
#define X(name, ms, rows) SPAN_##name,
	SPAN_LIST(X)
#undef X
		N_SPANS
};

/* ms of each, for the intervals that samples have now; gap_ms: what is further apart does not
 * belong together. */
void spans_make(uint64_t ret[N_SPANS], const struct timeline *, uint64_t gap_ms);

/* Standard deviations by which a number of events has to differ from what chance makes of its
 * limit: of a third of the limit, chance does it once in 10^8 windows at most. */
#define CHANCE 3.0

/* The same where events are fewer than `least` and judged by their share alone: held against a
 * third of `least`. One fault makes several at once, so they have to be in several samples. */
#define CHANCE_FAR  5.0
#define FAR_SAMPLES 3

/* `least_events` are in so many seconds. */
#define LEAST_S 10

/* The priority that was paused longest in this sample. */
struct paused {
	double share; /* NaN: not seen */
	int priority; /* -1: the whole link */
};

struct rule_input {
	const struct port_observation *port;
	const struct observation *all;
	const struct port_load *loads; /* of all->ports */
	const struct siblings *siblings;
	const struct thresholds *limits;
	const struct rates *rates;
	const struct history *history;
	const struct window *window;
	const struct timeline *timeline;
	const uint64_t *span_ms; /* of each enum span */
	uint64_t now_ms;
	double interval_s;
	bool open;	/* the rule's verdict is */
	bool settled;	/* seen for long enough to judge its link */
	bool judgeable; /* the link is up, and was in the whole sample */
	double line;	/* bytes a second; 0 = unknown */
	double most;	/* of them roce_bytes_total can show, as its source counts */
	bool idle;	/* no traffic to speak of, recently */
	struct paused pause_received, pause_sent;
	double mean[N_SIGNALS];		       /* recent; NaN = not seen */
	double use_received, use_sent;	       /* recent share of `most`; NaN = unknown */
	double packets_received, packets_sent; /* recent, a second; NaN = unknown */
	/* Recent share of the packets received that the fabric marked. Where no marks are counted,
	 * CNPs prove them: each of them answers at least one. NaN: neither is counted. */
	double marked;
	bool marked_by_cnp;
};

/* Everything but `open`. */
void rule_input_make(struct rule_input *ret, const struct observation *, size_t port,
		     const struct thresholds *, const struct rates *, const struct history *,
		     const struct window *, const struct timeline *,
		     const uint64_t span_ms[N_SPANS], double interval_s);
/* Priorities whose pause and drops are RDMA's concern: the lossless ones, where they are known. */
uint8_t rdma_priorities(const struct port_observation *);
/* Forgets the pause and drops of all others; what the port dropped is RDMA's as far as those others
 * and their traffic do not account for it. */
void rates_of_rdma(struct rates *, uint8_t priorities);
/* Bytes a second of the port's rate, 0 where the link is not up. */
double port_line(const struct port_observation *);
/* What pause of one direction stops: of pause that is received nothing is sent, and the other way
 * round. */
struct pause_way {
	enum series pause, global, bytes, priority_bytes, frames, global_frames;
};
extern const struct pause_way pause_received, pause_sent;
/* Bytes a second that passed none the less, of the priority (-1: the whole link) where those are
 * seen, else all RDMA's. */
double pause_bytes(const struct rates *, const struct pause_way *, int priority);
/* Of one sample; first: SERIES_PAUSE_RECEIVED or SERIES_PAUSE_SENT. */
struct paused paused_most(const struct rates *, enum series first);
/* A priority was paused for all of a sample in which a tenth of the line passed on it. */
bool pause_contradicts(const struct rates *, double line);
/* The 14 signals of one sample. */
void signals_make(double ret[N_SIGNALS], const struct rates *, bool soft_roce, unsigned mtu);

/* --- words of rules --------------------------------------------------------------------------- */

static inline double rate_of(const struct rule_input *in, enum series s)
{
	return (double)in->rates->rate[s];
}

static inline double threshold(const struct rule_input *in, enum threshold t)
{
	return in->limits->value[t];
}

/* What has to be reached. */
static inline double limit(const struct rule_input *in, enum threshold t)
{
	return in->limits->value[t] * (in->open ? 0.5 : 1);
}

/* What must not be exceeded. */
static inline double ceiling(const struct rule_input *in, enum threshold t)
{
	return in->limits->value[t] * (in->open ? 2 : 1);
}

/* A recent mean that more than one sample made. */
bool sustained(const struct rule_input *, enum signal, double least);
/* Nothing to speak of passes in this sample. */
bool is_still(const struct rule_input *);
/* How many of so many events are beyond chance. */
double beyond_chance(double events);
/* What events have to come to before they are judged. */
struct certainty {
	double least; /* a second */
	double share; /* of the packets; 0: of whatever there are */
	double far;   /* of the packets: from here on fewer than `least` will do; INFINITY: never */
};

/* Events a second, over the shortest of RECENT, LATELY, MINUTES and LONG in which they come to
 * that: those beyond chance, or all of them where their share is far. They have to go on. 0: in
 * none. *ret_share: of the packets. */
double certain_rate(const struct rule_input *, enum signal, const struct certainty *,
		    double *ret_share);
/* The same of an event that has a tally: in this sample, or recently. */
double tally_rate(const struct rule_input *, enum tally);
/* Evidence beyond what there is room for is left out. */
void show(struct finding *, const char *name, const char *unit, double value, double threshold);
void show_numbered(struct finding *, const char *name, int number, const char *unit, double value,
		   double threshold);
enum sight cannot_decide(struct finding *, const char *why);
/* Warning from here, critical from there. */
enum severity severity_by(double value, double warning, double critical);
/* The same for the finding: warning, or critical from there, and how near to that it is. */
void grade(struct finding *, double value, double critical);

/* --- the rules -------------------------------------------------------------------------------- */

/* rules_trust.c */
rule_fn rule_nic_stuck, rule_no_device_node, rule_function_restricted, rule_contradicting_counters,
	rule_blind_spot, rule_nic_reset;
/* rules_link.c */
rule_fn rule_link_flap, rule_port_never_up, rule_bad_link, rule_pre_fec_errors, rule_link_degraded;
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
