/* thresholds.h - every number that a judgement of diagnosis rests on, as configuration keys. Pure.
 */
#pragma once

#include "err.h"

/* name, unit, default, least, greatest, help. */
#define THRESHOLD_LIST(X)                                                                          \
	X(settle_seconds, "s", 30, 0, 600, "how long the link of a new port is not judged")        \
	X(warming_seconds, "s", 60, 0, 900,                                                        \
	  "a port that has been watched for less is \"warming\", never healthy")                   \
	X(hold_seconds, "s", 60, 0, 3600, "how long a verdict stays at least")                     \
	X(release_seconds, "s", 30, 1, 3600, "a verdict ends after this below half its limit")     \
	X(release_link_seconds, "s", 60, 1, 3600, "the same of links")                             \
	X(release_storm_seconds, "s", 300, 1, 3600, "the same of pause storms")                    \
	X(release_idle_seconds, "s", 300, 1, 86400,                                                \
	  "a verdict ends after this without the traffic that could show its fault, or "           \
	  "without its numbers")                                                                   \
	X(escalation_onsets, "", 3, 2, 6,                                                          \
	  "onsets in an hour that make a warning of a verdict critical")                           \
	X(longest_gap_seconds, "s", 60, 1, 7200,                                                   \
	  "no rates are made of two samples that are further apart")                               \
	X(stale_source_seconds, "s", 10, 1, 7200, "a source that is silent for longer is blind")   \
	X(utilisation_idle, "ratio", 0.001, 0, 1,                                                  \
	  "below this share of the line there is no traffic")                                      \
	X(ce_share_warning, "ratio", 0.01, 0, 1, "packets that arrive marked CE")                  \
	X(ce_share_critical, "ratio", 0.10, 0, 1, "packets that arrive marked CE")                 \
	X(cnp_share, "ratio", 0.01, 0, 1,                                                          \
	  "CNPs received for each packet sent, from which a sender counts as slowed by them")      \
	X(congestion_packets, "1/s", 1000, 1, 1e9,                                                 \
	  "shares of fewer packets than this prove no congestion")                                 \
	X(incast_ce_share, "ratio", 0.05, 0, 1, "packets that arrive marked CE, of an incast")     \
	X(incast_utilisation, "ratio", 0.95, 0, 1, "of what the line can carry, of an incast")     \
	X(incast_peers, "", 8, 2, 1000000, "least number of peers of an incast")                   \
	X(pause_sent_warning, "ratio", 0.01, 0, 1, "time in which this port pauses its peer")      \
	X(pause_sent_critical, "ratio", 0.10, 0, 1, "time in which this port pauses its peer")     \
	X(slow_receiver_utilisation, "ratio", 0.90, 0, 1,                                          \
	  "a receiver that gets more than this share of the line is not slow")                     \
	X(discard_ratio, "ratio", 1e-6, 0, 1, "packets dropped on arrival, of a slow receiver")    \
	X(pause_received, "ratio", 0.01, 0, 1, "time in which the network pauses this port")       \
	X(pause_received_warning, "ratio", 0.05, 0, 1,                                             \
	  "the same, from which it is a warning where congestion control is expected")             \
	X(pfc_only_factor, "", 5, 1, 1000,                                                         \
	  "limits of received pause rise by this factor where congestion control is off")          \
	X(storm_share, "ratio", 0.99, 0.5, 1, "of one sample paused, of a storm")                  \
	X(storm_bytes, "ratio", 0.001, 0, 1, "of the line; a storm lets less pass")                \
	X(storm_burst_seconds, "s", 0.2, 0.05, 60, "how long a storm that bursts see must last")   \
	X(burst_reads, "1/s", 200, 0, 100000,                                                      \
	  "answers of drivers that bursts may use; 0: no bursts")                                  \
	X(burst_seconds, "s", 5, 1, 300, "how long a port with congestion is read in bursts")      \
	X(burst_rest_seconds, "s", 30, 0, 86400, "and again after this, if it still lasts")        \
	X(global_pause, "ratio", 0.001, 0, 1, "time under IEEE 802.3x pause")                      \
	X(global_pause_frames, "1/s", 10, 0, 1e9, "IEEE 802.3x frames where no time is counted")   \
	X(pcie_stalled, "ratio", 0.1, 0, 1, "time in which the NIC waits for PCIe credits")        \
	X(pcie_overflow_critical, "1/s", 10, 0.01, 1e9, "packets that PCIe was too slow for")      \
	X(nic_cache_objects, "", 10000, 1, 1e9,                                                    \
	  "queue pairs or memory regions that outgrow caches")                                     \
	X(loss_ratio_warning, "ratio", 1e-6, 0, 1, "sequence NAKs for each packet sent")           \
	X(loss_ratio_critical, "ratio", 1e-4, 0, 1, "sequence NAKs for each packet sent")          \
	X(lossy_factor, "", 100, 1, 1e6, "limits of loss rise by this where loss is expected")     \
	X(least_events, "", 3, 1, 1e6,                                                             \
	  "fewer in 10 s are judged only far beyond the critical limit")                           \
	X(bit_errors_warning, "ratio", 1e-12, 0, 1, "errors past FEC for each bit received")       \
	X(bit_errors_critical, "ratio", 1e-10, 0, 1, "errors past FEC for each bit received")      \
	X(pre_fec_info, "ratio", 1e-5, 0, 1, "bits that FEC has to correct, of the line's")        \
	X(pre_fec_warning, "ratio", 2.4e-5, 0, 1,                                                  \
	  "the same: a tenth of what RS(544,514) can correct")                                     \
	X(pre_fec_factor, "", 10, 1.1, 1e6,                                                        \
	  "times as many as usual on this port, or as on its worst sibling")                       \
	X(slow_restart_rate, "1/s", 10, 0, 1e9, "queue pairs that start slowly after idling")      \
	X(reordering_ratio, "ratio", 1e-5, 0, 1, "packets out of sequence for each received")      \
	X(not_ready_rate, "1/s", 10, 0, 1e9, "requests that met no receive work request")          \
	X(outside_lossless, "ratio", 0.01, 0, 1, "RDMA bytes outside the lossless priorities")     \
	X(outside_lossless_bytes, "B/s", 1e6, 0, 1e12, "the same, least amount")                   \
	X(marks_unanswered, "1/s", 100, 0, 1e9,                                                    \
	  "CE marks without any CNP that prove that none is sent")                                 \
	X(cnp_ignored, "1/s", 1, 0, 1e9, "CNPs received and ignored")                              \
	X(cnp_silent, "1/s", 1, 0, 1e9, "fewer CNPs than this are silence")                        \
	X(counters_disagree, "ratio", 2, 1, 1000,                                                  \
	  "between two counters of one thing; 1.2 between CNPs and the marks or CNPs they answer") \
                                                                                                   \
	X(down_critical_seconds, "s", 240, 0, 86400, "a link that is down for longer")             \
	X(flaps_critical, "", 3, 2, 8, "times a link goes down in 12 h, critical from here")       \
	X(neighbour_share, "ratio", 0.7, 0, 1, "of the port's bytes, of one noisy VF")             \
	X(clear_bytes, "B/s", 1e9, 0, 1e12,                                                        \
	  "a port that moves more than this without trouble: the network is not it")               \
	X(clear_utilisation, "ratio", 0.5, 0, 1, "and less than this share of the line")           \
	X(clear_seconds, "s", 60, 1, 900, "for so long")

enum threshold {
#define X(key, unit, fallback, least, greatest, help) LIMIT_##key,
	THRESHOLD_LIST(X)
#undef X
		N_THRESHOLDS
};

struct threshold_key {
	const char *name, *unit;
	double fallback, least, greatest;
	const char *help;
};

/* Does the fabric have congestion control? What is a fault in one is the intention in another. */
enum congestion_control {
	CC_UNKNOWN, /* verdicts about its silence are information only */
	CC_DCQCN,   /* ECN marks are expected to slow senders before PFC has to */
	CC_PFC_ONLY,
	CC_LOSSY, /* neither pauses nor a lossless priority are expected */
	N_CC
};

struct thresholds {
	enum congestion_control expected;
	double value[N_THRESHOLDS];
};

const struct threshold_key *threshold_key(enum threshold);
void thresholds_init(struct thresholds *);
/* -EINVAL: no such key, or a value that it cannot have; nothing has changed then. */
int thresholds_set(struct thresholds *, const char *key, double value, struct err *);
/* "dcqcn", "pfc_only", "lossy" or "unknown". -EINVAL: another word. */
int thresholds_expect(struct thresholds *, const char *word, struct err *);
const char *congestion_control_name(enum congestion_control);
