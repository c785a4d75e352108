/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - the series of a port that diagnosis reads, named as in docs/reference/metrics.md.
 * Pure.
 *
 * The values are an array of doubles, one per series, in base units (bytes, seconds, ratios), NaN
 * if not visible. Look up a series once with series_find(); setting its value is then an
 * assignment. */
#pragma once

#include <stddef.h>

enum series_kind {
	SERIES_EVENTS, /* counter of packets, frames or occurrences */
	SERIES_BYTES,
	SERIES_SECONDS,
	SERIES_WHOLE_SECONDS, /* counted when a second is complete */
	SERIES_GAUGE
};

/* X(id, n, kind, name): n series, whose number replaces '#' in the labels. */
#define SERIES_LIST(X)                                                                             \
	X(BYTES_RECEIVED, 1, BYTES, "roce_bytes_total{direction=\"received\"}")                    \
	X(BYTES_SENT, 1, BYTES, "roce_bytes_total{direction=\"sent\"}")                            \
	X(PACKETS_RECEIVED, 1, EVENTS, "roce_packets_total{direction=\"received\"}")               \
	X(PACKETS_SENT, 1, EVENTS, "roce_packets_total{direction=\"sent\"}")                       \
	X(CE, 1, EVENTS, "roce_ecn_ce_received_packets_total")                                     \
	X(CNP_SENT, 1, EVENTS, "roce_cnp_sent_packets_total")                                      \
	X(CNP_RECEIVED, 1, EVENTS, "roce_cnp_received_packets_total")                              \
	X(CNP_HANDLED, 1, EVENTS, "roce_cnp_handled_packets_total")                                \
	X(CNP_IGNORED, 1, EVENTS, "roce_cnp_ignored_packets_total")                                \
	X(OPTIONAL_CE, 1, EVENTS, "roce_optional_congestion_packets_total{kind=\"ce_received\"}")  \
	X(OPTIONAL_CNP_SENT, 1, EVENTS,                                                            \
	  "roce_optional_congestion_packets_total{kind=\"cnp_sent\"}")                             \
	X(OPTIONAL_CNP_RECEIVED, 1, EVENTS,                                                        \
	  "roce_optional_congestion_packets_total{kind=\"cnp_received\"}")                         \
	X(OUT_OF_SEQUENCE, 1, EVENTS, "roce_out_of_sequence_packets_total")                        \
	X(SEQUENCE_NAK, 1, EVENTS, "roce_sequence_nak_received_total")                             \
	X(IMPLIED_NAK, 1, EVENTS, "roce_implied_nak_total")                                        \
	X(ACK_TIMEOUTS, 1, EVENTS, "roce_ack_timeouts_total")                                      \
	X(SOFT_TIMEOUTS, 1, EVENTS, "roce_soft_events_total{kind=\"retransmit_timeout\"}")         \
	X(RETRIES_EXCEEDED, 1, EVENTS, "roce_transport_retries_exceeded_total")                    \
	X(RNR_NAK, 1, EVENTS, "roce_rnr_nak_received_total")                                       \
	X(RNR_NAK_SENT, 1, EVENTS, "roce_rnr_nak_sent_total")                                      \
	X(RNR_EXCEEDED, 1, EVENTS, "roce_rnr_retries_exceeded_total")                              \
	X(WQE_MISSING, 1, EVENTS, "roce_receive_wqe_missing_total")                                \
	X(SLOW_RESTARTS, 1, EVENTS, "roce_slow_restarts_total")                                    \
	X(SLOW_RESTART_CNPS, 1, EVENTS, "roce_slow_restart_cnp_packets_total")                     \
	X(ICRC_ERRORS, 1, EVENTS, "roce_icrc_errors_total")                                        \
	X(CQE_ERRORS, 1, EVENTS, "roce_cqe_errors_total{side=\"req\"}")                            \
	X(CQE_ERRORS_RESP, 1, EVENTS, "roce_cqe_errors_total{side=\"resp\"}")                      \
	X(ACCESS_ERRORS, 1, EVENTS, "roce_remote_access_errors_total{side=\"req\"}")               \
	X(ACCESS_ERRORS_RESP, 1, EVENTS, "roce_remote_access_errors_total{side=\"resp\"}")         \
	X(INVALID_REQUESTS, 1, EVENTS, "roce_remote_invalid_requests_total")                       \
	X(LENGTH_ERRORS, 1, EVENTS, "roce_local_length_errors_total")                              \
	X(DISCARDS_RECEIVED, 1, EVENTS, "roce_port_discards_total{direction=\"received\"}")        \
	X(DISCARDS_SENT, 1, EVENTS, "roce_port_discards_total{direction=\"sent\"}")                \
	X(GLOBAL_PAUSE_RECEIVED, 1, SECONDS, "roce_pause_seconds_total{direction=\"received\"}")   \
	X(GLOBAL_PAUSE_SENT, 1, SECONDS, "roce_pause_seconds_total{direction=\"sent\"}")           \
	X(GLOBAL_FRAMES_RECEIVED, 1, EVENTS, "roce_pause_frames_total{direction=\"received\"}")    \
	X(GLOBAL_FRAMES_SENT, 1, EVENTS, "roce_pause_frames_total{direction=\"sent\"}")            \
	X(STORM_WARNINGS, 1, EVENTS, "roce_pause_storms_total{severity=\"warning\"}")              \
	X(STORM_ERRORS, 1, EVENTS, "roce_pause_storms_total{severity=\"error\"}")                  \
	X(PCIE_STALLED_READ, 1, GAUGE, "roce_pcie_stalled_ratio{op=\"read\"}")                     \
	X(PCIE_STALLED_WRITE, 1, GAUGE, "roce_pcie_stalled_ratio{op=\"write\"}")                   \
	X(PCIE_SECONDS_READ, 1, WHOLE_SECONDS, "roce_pcie_stalled_seconds_total{op=\"read\"}")     \
	X(PCIE_SECONDS_WRITE, 1, WHOLE_SECONDS, "roce_pcie_stalled_seconds_total{op=\"write\"}")   \
	X(PCIE_OVERFLOW, 1, EVENTS, "roce_pcie_overflow_packets_total")                            \
	X(CORRECTED_BITS, 1, EVENTS, "roce_phy_corrected_bit_errors_total")                        \
	X(UNCORRECTABLE, 1, EVENTS, "roce_phy_fec_blocks_total{kind=\"uncorrectable\"}")           \
	X(SYMBOL_ERRORS, 1, EVENTS, "roce_phy_symbol_errors_total")                                \
	X(CRC_ERRORS, 1, EVENTS, "roce_phy_crc_errors_total")                                      \
	X(LINK_DOWN, 1, EVENTS, "roce_phy_link_down_total")                                        \
	X(PHY_BYTES, 1, BYTES, "roce_phy_received_bytes_total")                                    \
	X(TX_TIMEOUTS, 1, EVENTS, "roce_nic_faults_total{kind=\"tx_timeout\"}")                    \
	X(HEALTH_REPORTS, 1, EVENTS, "roce_nic_faults_total{kind=\"health_report\"}")              \
	X(BUFFER_PASSED, 1, EVENTS, "roce_buffer_threshold_passed_total")                          \
	X(QPS, 1, GAUGE, "roce_resource_active{kind=\"qp\"}")                                      \
	X(MRS, 1, GAUGE, "roce_resource_active{kind=\"mr\"}")                                      \
	X(LANE_ERRORS, 8, EVENTS, "roce_phy_lane_errors_total{lane=\"#\"}")                        \
	X(PAUSE_RECEIVED, 8, SECONDS,                                                              \
	  "roce_pfc_pause_seconds_total{direction=\"received\",priority=\"#\"}")                   \
	X(PAUSE_SENT, 8, SECONDS,                                                                  \
	  "roce_pfc_pause_seconds_total{direction=\"sent\",priority=\"#\"}")                       \
	X(PFC_FRAMES_RECEIVED, 8, EVENTS,                                                          \
	  "roce_pfc_pause_frames_total{direction=\"received\",priority=\"#\"}")                    \
	X(PFC_FRAMES_SENT, 8, EVENTS,                                                              \
	  "roce_pfc_pause_frames_total{direction=\"sent\",priority=\"#\"}")                        \
	X(PRIORITY_RECEIVED, 8, BYTES,                                                             \
	  "roce_priority_bytes_total{direction=\"received\",priority=\"#\"}")                      \
	X(PRIORITY_SENT, 8, BYTES, "roce_priority_bytes_total{direction=\"sent\",priority=\"#\"}") \
	X(NO_BUFFER, 8, EVENTS,                                                                    \
	  "roce_priority_discards_total{priority=\"#\",reason=\"no_buffer\"}")                     \
	X(HOST_BUFFER, 8, EVENTS,                                                                  \
	  "roce_priority_discards_total{priority=\"#\",reason=\"host_buffer\"}")                   \
	X(HOST_CONGESTION, 8, EVENTS,                                                              \
	  "roce_priority_discards_total{priority=\"#\",reason=\"host_congestion\"}")               \
	X(HOST_MARKED, 8, EVENTS, "roce_host_ecn_marked_packets_total{priority=\"#\"}")

enum series {
#define X(id, n, kind, name) SERIES_##id, SERIES_##id##_LAST = SERIES_##id + (n)-1,
	SERIES_LIST(X)
#undef X
		N_SERIES
};

/* Finds a series by family and labels ("direction=\"sent\",priority=\"3\""). Labels that its name
 * lacks (device, port, source) are ignored. -1: diagnosis does not read it. */
int series_find(const char *family, const char *labels);
/* Returns family and labels as in docs/reference/metrics.md, with '#' for the number. */
const char *series_name(enum series);
/* As series_name(), with the number of this series in place of '#'. */
#define SERIES_NAME_SIZE 96
void series_full_name(enum series, char ret[SERIES_NAME_SIZE]);
extern const unsigned char series_kinds[N_SERIES];
static inline enum series_kind series_kind(enum series s)
{
	return (enum series_kind)series_kinds[s];
}
/* Returns the number of the series, a priority or lane; -1: it has none. */
int series_number(enum series);
