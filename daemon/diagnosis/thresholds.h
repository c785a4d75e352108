/* SPDX-License-Identifier: Apache-2.0 */
/* thresholds.h - all limits of diagnosis, as configuration keys. Pure. */
#pragma once

#include "err.h"

/* X(name, unit, default, least, greatest, help) */
#define THRESHOLD_LIST(X)                                                                                                              \
	X(settle_seconds, "s", 30, 0, 600,                                                                                             \
	  "the link of a new port is not judged during this time")                                                                     \
	X(warming_seconds, "s", 60, 0, 900,                                                                                            \
	  "a port watched for a shorter time is \"warming\", never healthy")                                                           \
	X(hold_seconds, "s", 60, 0, 3600, "minimum duration of a verdict")                                                             \
	X(release_seconds, "s", 30, 1, 3600,                                                                                           \
	  "a verdict ends after its value was below half of its limit for this time")                                                  \
	X(release_link_seconds, "s", 60, 1, 3600, "the same, for verdicts about links")                                                \
	X(release_storm_seconds, "s", 300, 1, 3600, "the same, for pause storms")                                                      \
	X(release_idle_seconds, "s", 300, 1, 86400,                                                                                    \
	  "a verdict ends after this time without traffic or without visible counters")                                                \
	X(escalation_onsets, "", 3, 2, 6,                                                                                              \
	  "a warning that opens for this number of times in an hour becomes critical")                                                 \
	X(longest_gap_seconds, "s", 60, 1, 7200,                                                                                       \
	  "two samples that are further apart than this give no rates")                                                                \
	X(stale_source_seconds, "s", 10, 1, 7200,                                                                                      \
	  "a source that delivers no values for longer than this is a blind spot")                                                     \
	X(utilisation_idle, "ratio", 0.001, 0, 1,                                                                                      \
	  "traffic below this share of the line counts as none")                                                                       \
	X(ce_share_warning, "ratio", 0.01, 0, 1,                                                                                       \
	  "share of packets that arrive marked CE, for a warning")                                                                     \
	X(ce_share_critical, "ratio", 0.10, 0, 1,                                                                                      \
	  "share of packets that arrive marked CE, for critical")                                                                      \
	X(cnp_share, "ratio", 0.01, 0, 1,                                                                                              \
	  "CNPs received per packet sent; above this, a sender counts as slowed down")                                                 \
	X(congestion_packets, "1/s", 1000, 1, 1e9,                                                                                     \
	  "minimum number of packets; shares of fewer packets do not count as congestion")                                             \
	X(incast_ce_share, "ratio", 0.05, 0, 1,                                                                                        \
	  "share of packets that arrive marked CE, for an incast")                                                                     \
	X(incast_utilisation, "ratio", 0.95, 0, 1, "utilization of the line, for an incast")                                           \
	X(incast_peers, "", 8, 2, 1000000, "minimum number of peers, for an incast")                                                   \
	X(pause_sent_warning, "ratio", 0.01, 0, 1,                                                                                     \
	  "share of time in which this port pauses its peer, for a warning")                                                           \
	X(pause_sent_critical, "ratio", 0.10, 0, 1,                                                                                    \
	  "share of time in which this port pauses its peer, for critical")                                                            \
	X(slow_receiver_utilisation, "ratio", 0.90, 0, 1,                                                                              \
	  "a receiver at more than this share of the line is not slow")                                                                \
	X(discard_ratio, "ratio", 1e-6, 0, 1,                                                                                          \
	  "share of packets dropped on arrival, for a slow receiver")                                                                  \
	X(pause_received, "ratio", 0.01, 0, 1,                                                                                         \
	  "share of time in which the network pauses this port")                                                                       \
	X(pause_received_warning, "ratio", 0.05, 0, 1,                                                                                 \
	  "the same, for a warning if congestion control is expected")                                                                 \
	X(pfc_only_factor, "", 5, 1, 1000,                                                                                             \
	  "factor for the limits of received pause if congestion control is off")                                                      \
	X(storm_share, "ratio", 0.99, 0.5, 1,                                                                                          \
	  "share of a sample in which the port is paused, for a storm")                                                                \
	X(storm_bytes, "ratio", 0.001, 0, 1, "traffic below this share of the line, for a storm")                                      \
	X(storm_burst_seconds, "s", 0.2, 0.05, 60,                                                                                     \
	  "minimum duration of a storm seen by burst readings")                                                                        \
	X(burst_reads, "1/s", 200, 0, 100000,                                                                                          \
	  "limit of driver queries by burst readings; 0: no burst readings")                                                           \
	X(burst_seconds, "s", 5, 1, 300,                                                                                               \
	  "duration of the burst readings of a port with congestion")                                                                  \
	X(burst_rest_seconds, "s", 30, 0, 86400,                                                                                       \
	  "interval until the next burst readings of a port that is still congested")                                                  \
	X(global_pause, "ratio", 0.001, 0, 1, "share of time paused by IEEE 802.3x")                                                   \
	X(global_pause_frames, "1/s", 10, 0, 1e9,                                                                                      \
	  "IEEE 802.3x pause frames, if the driver counts no time")                                                                    \
	X(pcie_stalled, "ratio", 0.1, 0, 1,                                                                                            \
	  "share of time during which the NIC waits for PCIe credits")                                                                 \
	X(pcie_overflow_critical, "1/s", 10, 0.01, 1e9,                                                                                \
	  "packets dropped because PCIe is too slow")                                                                                  \
	X(nic_cache_objects, "", 10000, 1, 1e9,                                                                                        \
	  "queue pairs or memory regions that exceed the NIC's caches")                                                                \
	X(loss_ratio_warning, "ratio", 1e-6, 0, 1, "sequence NAKs per packet sent, for a warning")                                     \
	X(loss_ratio_critical, "ratio", 1e-4, 0, 1, "sequence NAKs per packet sent, for critical")                                     \
	X(lossy_factor, "", 100, 1, 1e6, "factor for the limits of loss if loss is expected")                                          \
	X(least_events, "", 3, 1, 1e6,                                                                                                 \
	  "fewer events than this in 10 s count only if they are far above the critical limit")                                        \
	X(bit_errors_warning, "ratio", 1e-12, 0, 1,                                                                                    \
	  "errors not corrected by FEC per bit received, for a warning")                                                               \
	X(bit_errors_critical, "ratio", 1e-10, 0, 1,                                                                                   \
	  "errors not corrected by FEC per bit received, for critical")                                                                \
	X(pre_fec_info, "ratio", 1e-5, 0, 1, "bits corrected by FEC, share of the line")                                               \
	X(pre_fec_warning, "ratio", 2.4e-5, 0, 1,                                                                                      \
	  "the same, for a warning: a tenth of what RS(544,514) can correct")                                                          \
	X(pre_fec_factor, "", 10, 1.1, 1e6,                                                                                            \
	  "corrected bits as a multiple of the port's usual number, or of the highest sibling's")                                      \
	X(slow_restart_rate, "1/s", 10, 0, 1e9, "slow restarts of queue pairs after idle times")                                       \
	X(reordering_ratio, "ratio", 1e-5, 0, 1, "packets out of sequence per packet received")                                        \
	X(not_ready_rate, "1/s", 10, 0, 1e9, "requests without a posted receive work request")                                         \
	X(outside_lossless, "ratio", 0.01, 0, 1,                                                                                       \
	  "share of RDMA bytes outside the lossless priorities")                                                                       \
	X(outside_lossless_bytes, "B/s", 1e6, 0, 1e12, "minimum rate of these bytes")                                                  \
	X(marks_unanswered, "1/s", 100, 0, 1e9,                                                                                        \
	  "CE marks without a CNP; above this, CNPs count as off")                                                                     \
	X(cnp_ignored, "1/s", 1, 0, 1e9, "CNPs received and ignored")                                                                  \
	X(cnp_silent, "1/s", 1, 0, 1e9, "fewer CNPs than this count as none")                                                          \
	X(counters_disagree, "ratio", 2, 1, 1000,                                                                                      \
	  "ratio of two counters of the same events; the limit for CNPs sent / marks and for CNPs handled / received is fixed at 1.2") \
                                                                                                                                       \
	X(down_critical_seconds, "s", 0, 0, 86400,                                                                                     \
	  "a link in use that is down for at least this time is critical; 0: from the beginning")                                      \
	X(port_off_seconds, "s", 30, 0, 3600,                                                                                          \
	  "a pod's port is reported if it is down for longer than this and no link is down")                                           \
	X(port_unused_seconds, "s", 600, 0, 86400,                                                                                     \
	  "the same, for a port that was never up since the pod got it")                                                               \
	X(flaps_critical, "", 3, 2, 8,                                                                                                 \
	  "a link in use that goes down this number of times in 12 h is critical")                                                     \
	X(neighbour_share, "ratio", 0.7, 0, 1, "share of the port's bytes, for a noisy VF")                                            \
	X(clear_bytes, "B/s", 1e9, 0, 1e12,                                                                                            \
	  "minimum traffic of a port without symptoms, to exclude the network")                                                        \
	X(clear_utilisation, "ratio", 0.5, 0, 1, "maximum utilization of such a port's line")                                          \
	X(clear_seconds, "s", 60, 1, 900, "minimum duration of such traffic")

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

/* Congestion control that the fabric should have. A fault in one kind of fabric is intended in
 * another. */
enum congestion_control {
	CC_UNKNOWN, /* verdicts about missing congestion control are info only */
	CC_DCQCN,   /* ECN marks should slow senders before PFC has to */
	CC_PFC_ONLY,
	CC_LOSSY, /* neither pause nor a lossless priority is expected */
	N_CC
};

struct thresholds {
	enum congestion_control expected;
	double value[N_THRESHOLDS];
};

const struct threshold_key *threshold_key(enum threshold);
void thresholds_init(struct thresholds *);
/* Sets a threshold. -EINVAL: unknown key, or value out of range; nothing is changed. */
int thresholds_set(struct thresholds *, const char *key, double value, struct err *);
/* Sets the expected kind of network: "dcqcn", "pfc_only", "lossy" or "unknown". -EINVAL: any other
 * word. */
int thresholds_expect(struct thresholds *, const char *word, struct err *);
const char *congestion_control_name(enum congestion_control);
