/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary_rows.h - the tables behind dictionary.h: families, and rows that map vendor names to
 * them.
 *
 * Private to dictionary*.c. */
#pragma once

#include "dictionary.h"

/* X(id, name, type, help), in the order of the metrics page. */
#define ROCE_FAMILIES(X)                                                                                                         \
	X(ECN_CE, "roce_ecn_ce_received_packets_total", COUNTER,                                                                 \
	  "RoCE packets received with the congestion-experienced mark (notification point).")                                    \
	X(CNP_SENT, "roce_cnp_sent_packets_total", COUNTER,                                                                      \
	  "Congestion notification packets sent by this port.")                                                                  \
	X(CNP_RECEIVED, "roce_cnp_received_packets_total", COUNTER,                                                              \
	  "Congestion notification packets received by this port.")                                                              \
	X(CNP_HANDLED, "roce_cnp_handled_packets_total", COUNTER,                                                                \
	  "Congestion notification packets that lowered a sender's rate (reaction point).")                                      \
	X(CNP_IGNORED, "roce_cnp_ignored_packets_total", COUNTER,                                                                \
	  "Congestion notification packets ignored; if it rises, the reaction point is off.")                                    \
	X(CC_OPTIONAL, "roce_optional_congestion_packets_total", COUNTER,                                                        \
	  "Congestion packets counted by the NIC's optional counters, to check the others.")                                     \
	X(RATE_LIMITED_QPS, "roce_rate_limited_qps", GAUGE,                                                                      \
	  "Queue pairs whose rate congestion control limits now.")                                                               \
	X(RATE_INCREASES, "roce_rate_increase_events_total", COUNTER,                                                            \
	  "How often congestion control raised a rate again.")                                                                   \
	X(CURRENT_RATE, "roce_current_rate", GAUGE,                                                                              \
	  "Rate that congestion control allows, in the firmware's own unit.")                                                    \
	X(OUT_OF_SEQUENCE, "roce_out_of_sequence_packets_total", COUNTER,                                                        \
	  "Packets the responder received out of sequence: loss or reordering.")                                                 \
	X(SEQUENCE_NAK, "roce_sequence_nak_received_total", COUNTER,                                                             \
	  "NAKs for a sequence error received by the requester: the peer missed a packet.")                                      \
	X(IMPLIED_NAK, "roce_implied_nak_total", COUNTER,                                                                        \
	  "Read or atomic responses found missing by the requester.")                                                            \
	X(ACK_TIMEOUTS, "roce_ack_timeouts_total", COUNTER,                                                                      \
	  "Acknowledgement timers that fired with retries left. On soft-RoCE (rxe) it also counts "                              \
	  "retries after NAKs; roce_soft_events_total has only the timeouts.")                                                   \
	X(RETRIES_EXCEEDED, "roce_transport_retries_exceeded_total", COUNTER,                                                    \
	  "Queue pairs that failed because the transport retries ran out.")                                                      \
	X(RNR_RECEIVED, "roce_rnr_nak_received_total", COUNTER,                                                                  \
	  "Receiver-not-ready NAKs received: the peer had no receive work request posted.")                                      \
	X(RNR_SENT, "roce_rnr_nak_sent_total", COUNTER,                                                                          \
	  "Receiver-not-ready NAKs sent: no receive work request was posted here.")                                              \
	X(RNR_EXCEEDED, "roce_rnr_retries_exceeded_total", COUNTER,                                                              \
	  "Queue pairs that failed because the receiver-not-ready retries ran out.")                                             \
	X(WQE_MISSING, "roce_receive_wqe_missing_total", COUNTER,                                                                \
	  "Packets that found no posted receive work request.")                                                                  \
	X(DUPLICATES, "roce_duplicate_requests_total", COUNTER,                                                                  \
	  "Requests received again: the peer retransmitted.")                                                                    \
	X(ADAPTIVE_RETRANS, "roce_adaptive_retransmissions_total", COUNTER,                                                      \
	  "Retransmissions by the firmware's adaptive retry, faster than the normal timeout.")                                   \
	X(ADAPTIVE_TIMEOUTS, "roce_adaptive_retransmission_timeouts_total", COUNTER,                                             \
	  "Timeouts of the firmware's adaptive retry, faster than the normal timeout.")                                          \
	X(SLOW_RESTARTS, "roce_slow_restarts_total", COUNTER,                                                                    \
	  "Slow restarts of idle queue pairs.")                                                                                  \
	X(SLOW_RESTART_CNPS, "roce_slow_restart_cnp_packets_total", COUNTER,                                                     \
	  "Congestion notification packets sent because of slow restarts.")                                                      \
	X(SLOW_RESTART_TRANSITIONS, "roce_slow_restart_transitions_total", COUNTER,                                              \
	  "Changes of queue pairs to the state of slow restart.")                                                                \
	X(ICRC_ERRORS, "roce_icrc_errors_total", COUNTER,                                                                        \
	  "RoCE packets with a wrong invariant CRC but a correct frame checksum.")                                               \
	X(CQE_ERRORS, "roce_cqe_errors_total", COUNTER, "Completions with an error status.")                                     \
	X(CQE_FLUSH_ERRORS, "roce_cqe_flush_errors_total", COUNTER,                                                              \
	  "Completions flushed because their queue pair was in error.")                                                          \
	X(REMOTE_ACCESS, "roce_remote_access_errors_total", COUNTER,                                                             \
	  "Remote access errors; check the requester's side first.")                                                             \
	X(REMOTE_INVALID, "roce_remote_invalid_requests_total", COUNTER,                                                         \
	  "Requests that the remote side rejected as invalid.")                                                                  \
	X(LOCAL_LENGTH, "roce_local_length_errors_total", COUNTER,                                                               \
	  "Messages longer than the receive work request posted for them.")                                                      \
	X(REQUESTS_RECEIVED, "roce_requests_received_total", COUNTER,                                                            \
	  "Requests received, by operation.")                                                                                    \
	X(REQUESTS_SENT, "roce_requests_sent_total", COUNTER, "Requests sent, by operation.")                                    \
	X(BYTES, "roce_bytes_total", COUNTER,                                                                                    \
	  "RDMA bytes; bytes_source of roce_port_info is their source.")                                                         \
	X(PACKETS, "roce_packets_total", COUNTER, "RDMA packets.")                                                               \
	X(RESOURCES, "roce_resource_active", GAUGE, "RDMA objects in use, by kind.")                                             \
	X(WATERMARKS, "roce_resource_watermark", GAUGE,                                                                          \
	  "Maximum number of RDMA objects in use at the same time, by kind.")                                                    \
	X(DOORBELL_PACING, "roce_doorbell_pacing_total", COUNTER,                                                                \
	  "Doorbell pacing events: the doorbell queue is under pressure.")                                                       \
	X(PFC_FRAMES, "roce_pfc_pause_frames_total", COUNTER,                                                                    \
	  "PFC frames; received: the network cannot accept this port's traffic; sent: this port "                                \
	  "cannot accept the network's.")                                                                                        \
	X(PFC_SECONDS, "roce_pfc_pause_seconds_total", COUNTER,                                                                  \
	  "Time the priority was paused; its rate is the paused fraction.")                                                      \
	X(PFC_TRANSITIONS, "roce_pfc_pause_transitions_total", COUNTER,                                                          \
	  "Changes of the priority from paused to running.")                                                                     \
	X(PFC_ENABLED, "roce_pfc_enabled", GAUGE, "1 if PFC is enabled for the priority.")                                       \
	X(PAUSE_FRAMES, "roce_pause_frames_total", COUNTER,                                                                      \
	  "IEEE 802.3x pause frames, all priorities at once.")                                                                   \
	X(PAUSE_SECONDS, "roce_pause_seconds_total", COUNTER,                                                                    \
	  "Time the whole link was paused by IEEE 802.3x.")                                                                      \
	X(PAUSE_TRANSITIONS, "roce_pause_transitions_total", COUNTER,                                                            \
	  "Changes of the whole link from paused to running.")                                                                   \
	X(PAUSE_STORMS, "roce_pause_storms_total", COUNTER,                                                                      \
	  "Pause storms; severity error: the NIC gave up pausing, drops are possible.")                                          \
	X(PRIORITY_BYTES, "roce_priority_bytes_total", COUNTER,                                                                  \
	  "Bytes of all traffic on the priority.")                                                                               \
	X(PRIORITY_PACKETS, "roce_priority_packets_total", COUNTER,                                                              \
	  "Packets of all traffic on the priority.")                                                                             \
	X(PRIORITY_DISCARDS, "roce_priority_discards_total", COUNTER,                                                            \
	  "Packets of the priority dropped on arrival.")                                                                         \
	X(HOST_ECN, "roce_host_ecn_marked_packets_total", COUNTER,                                                               \
	  "Packets that this NIC marked because the host is too slow.")                                                          \
	X(PORT_DISCARDS, "roce_port_discards_total", COUNTER,                                                                    \
	  "Packets dropped by the port; received: the NIC has no room for them; sent: the link is down, or the peer pauses it.") \
	X(PCIE_STALLED, "roce_pcie_stalled_ratio", GAUGE,                                                                        \
	  "Share of the last second in which the NIC waited for PCIe credits.")                                                  \
	X(PCIE_STALLED_SECONDS, "roce_pcie_stalled_seconds_total", COUNTER,                                                      \
	  "Seconds in which the NIC waited for PCIe credits more than 30 percent of the time.")                                  \
	X(PCIE_OVERFLOW, "roce_pcie_overflow_packets_total", COUNTER,                                                            \
	  "Packets dropped because the NIC's PCIe buffer was full.")                                                             \
	X(PCIE_SIGNAL, "roce_pcie_signal_errors_total", COUNTER, "PCIe signal integrity errors.")                                \
	X(PHY_CORRECTED, "roce_phy_corrected_bit_errors_total", COUNTER,                                                         \
	  "Bits corrected by forward error correction.")                                                                         \
	X(PHY_FEC_BLOCKS, "roce_phy_fec_blocks_total", COUNTER,                                                                  \
	  "Blocks that forward error correction corrected or could not correct.")                                                \
	X(PHY_SYMBOLS, "roce_phy_symbol_errors_total", COUNTER,                                                                  \
	  "Symbol errors not corrected by forward error correction.")                                                            \
	X(PHY_CRC, "roce_phy_crc_errors_total", COUNTER, "Frames received with a wrong checksum.")                               \
	X(PHY_LINK_DOWN, "roce_phy_link_down_total", COUNTER, "How often the link went down.")                                   \
	X(PHY_BITS, "roce_phy_received_bytes_total", COUNTER,                                                                    \
	  "All bytes received by the physical layer: the base for error ratios.")                                                \
	X(PHY_LANE, "roce_phy_lane_errors_total", COUNTER, "Errors by physical lane.")                                           \
	X(BUFFER_THRESHOLD, "roce_buffer_threshold_passed_total", COUNTER,                                                       \
	  "How often the port's buffer was nearly full.")                                                                        \
	X(OPTIONAL_ENABLED, "roce_optional_counters_enabled", GAUGE,                                                             \
	  "1 if the NIC's optional counter is enabled.")                                                                         \
	X(HW_COUNTER, "roce_hw_counters_total", COUNTER,                                                                         \
	  "Hardware counters without a common name, under the driver's own name.")                                               \
	X(PORT_COUNTER, "roce_port_counters_total", COUNTER,                                                                     \
	  "InfiniBand port counters, under the kernel's name; only if enabled.")

/* node_exporter's names. X(vendor name, node_exporter's name, unit) */
#define COMPAT_HW(X)                                                                               \
	X(duplicate_request, "duplicate_requests_packets_total", ONE)                              \
	X(implied_nak_seq_err, "implied_nak_seq_errors_total", ONE)                                \
	X(local_ack_timeout_err, "local_ack_timeout_errors_total", ONE)                            \
	X(np_cnp_sent, "np_cnp_packets_sent_total", ONE)                                           \
	X(np_ecn_marked_roce_packets, "np_ecn_marked_roce_packets_received_total", ONE)            \
	X(out_of_buffer, "out_of_buffer_drops_total", ONE)                                         \
	X(out_of_sequence, "out_of_sequence_packets_received_total", ONE)                          \
	X(packet_seq_err, "packet_sequence_errors_total", ONE)                                     \
	X(req_cqe_error, "req_cqes_errors_total", ONE)                                             \
	X(req_cqe_flush_error, "req_cqes_flush_errors_total", ONE)                                 \
	X(req_remote_access_errors, "req_remote_access_errors_total", ONE)                         \
	X(req_remote_invalid_request, "req_remote_invalid_request_errors_total", ONE)              \
	X(resp_cqe_error, "resp_cqes_errors_total", ONE)                                           \
	X(resp_cqe_flush_error, "resp_cqes_flush_errors_total", ONE)                               \
	X(resp_local_length_error, "resp_local_length_errors_total", ONE)                          \
	X(resp_remote_access_errors, "resp_remote_access_errors_total", ONE)                       \
	X(rnr_nak_retry_err, "rnr_nak_retry_packets_received_total", ONE)                          \
	X(roce_adp_retrans, "roce_adp_retransmits_total", ONE)                                     \
	X(roce_adp_retrans_to, "roce_adp_retransmits_timeout_total", ONE)                          \
	X(roce_slow_restart, "roce_slow_restart_used_total", ONE)                                  \
	X(roce_slow_restart_cnps, "roce_slow_restart_cnps_total", ONE)                             \
	X(roce_slow_restart_trans, "roce_slow_restart_total", ONE)                                 \
	X(rp_cnp_handled, "rp_cnp_packets_handled_total", ONE)                                     \
	X(rp_cnp_ignored, "rp_cnp_ignored_packets_received_total", ONE)                            \
	X(rx_atomic_requests, "rx_atomic_requests_total", ONE)                                     \
	X(rx_dct_connect, "rx_dct_connect_requests_total", ONE)                                    \
	X(rx_read_requests, "rx_read_requests_total", ONE)                                         \
	X(rx_write_requests, "rx_write_requests_total", ONE)                                       \
	X(rx_icrc_encapsulated, "rx_icrc_encapsulated_errors_total", ONE)

#define COMPAT_PORT(X)                                                                             \
	X(excessive_buffer_overrun_errors, "excessive_buffer_overrun_errors_total", ONE)           \
	X(link_downed, "link_downed_total", ONE)                                                   \
	X(link_error_recovery, "link_error_recovery_total", ONE)                                   \
	X(local_link_integrity_errors, "local_link_integrity_errors_total", ONE)                   \
	X(multicast_rcv_packets, "multicast_packets_received_total", ONE)                          \
	X(multicast_xmit_packets, "multicast_packets_transmitted_total", ONE)                      \
	X(port_rcv_constraint_errors, "port_constraint_errors_received_total", ONE)                \
	X(port_xmit_constraint_errors, "port_constraint_errors_transmitted_total", ONE)            \
	X(port_rcv_data, "port_data_received_bytes_total", WORDS)                                  \
	X(port_xmit_data, "port_data_transmitted_bytes_total", WORDS)                              \
	X(port_rcv_discards, "port_discards_received_total", ONE)                                  \
	X(port_xmit_discards, "port_discards_transmitted_total", ONE)                              \
	X(port_rcv_errors, "port_errors_received_total", ONE)                                      \
	X(port_rcv_packets, "port_packets_received_total", ONE)                                    \
	X(port_xmit_packets, "port_packets_transmitted_total", ONE)                                \
	X(port_xmit_wait, "port_transmit_wait_total", ONE)                                         \
	X(unicast_rcv_packets, "unicast_packets_received_total", ONE)                              \
	X(unicast_xmit_packets, "unicast_packets_transmitted_total", ONE)                          \
	X(port_rcv_remote_physical_errors, "port_receive_remote_physical_errors_total", ONE)       \
	X(port_rcv_switch_relay_errors, "port_receive_switch_relay_errors_total", ONE)             \
	X(symbol_error, "symbol_error_total", ONE)                                                 \
	X(VL15_dropped, "vl15_dropped_total", ONE)

#define COMPAT_PORT_EXT(X)                                                                         \
	X(port_multicast_rcv_packets, "legacy_multicast_packets_received_total", ONE)              \
	X(port_multicast_xmit_packets, "legacy_multicast_packets_transmitted_total", ONE)          \
	X(port_rcv_data_64, "legacy_data_received_bytes_total", WORDS)                             \
	X(port_xmit_data_64, "legacy_data_transmitted_bytes_total", WORDS)                         \
	X(port_rcv_packets_64, "legacy_packets_received_total", ONE)                               \
	X(port_xmit_packets_64, "legacy_packets_transmitted_total", ONE)                           \
	X(port_unicast_rcv_packets, "legacy_unicast_packets_received_total", ONE)                  \
	X(port_unicast_xmit_packets, "legacy_unicast_packets_transmitted_total", ONE)

enum family_id {
#define X(id, name, type, help) F_##id,
	ROCE_FAMILIES(X)
#undef X
		F_COMPAT_STATE_ID,
	F_COMPAT_PHYSICAL_STATE_ID,
	F_COMPAT_RATE,
	F_COMPAT_LIFESPAN,
	F_COMPAT_INFO,
#define X(vendor, name, unit) F_HW_##vendor,
	COMPAT_HW(X)
#undef X
#define X(vendor, name, unit) F_PORT_##vendor,
		COMPAT_PORT(X)
#undef X
#define X(vendor, name, unit) F_EXT_##vendor,
			COMPAT_PORT_EXT(X)
#undef X
				N_FAMILIES
};

/* '#' in a name matches a number of one or two digits, which replaces '#' in the labels. */
struct row {
	const char *name;
	enum family_id family;
	const char *labels;
	enum unit unit;
	uint8_t rank, alias; /* as in struct meaning */
	bool wraps32;
};

/* Aliases in a table are below this. */
#define N_ALIASES 2

#define RX "direction=\"received\""
#define TX "direction=\"sent\""

#define MEASURED(name, family, labels, unit, rank)                                                 \
	{                                                                                          \
		name, F_##family, labels, UNIT_##unit, rank, 0, false                              \
	}
#define RANK(name, family, labels, rank) MEASURED(name, family, labels, ONE, rank)
#define ROW(name, family, labels)	 RANK(name, family, labels, 0)
/* Another name of a counter that has a row already: used if that one is missing. */
#define ALIAS(name, family, labels)                                                                \
	{                                                                                          \
		name, F_##family, labels, UNIT_ONE, 0, 1, false                                    \
	}

struct row_table {
	const struct row *rows;
	size_t n;
};

#define ROWS(array)                                                                                \
	{                                                                                          \
		array, sizeof(array) / sizeof((array)[0])                                          \
	}

extern const struct row_table dict_hw_rows[N_NICS];
extern const struct row_table dict_hw_device_rows[N_NICS];
extern const struct row_table dict_ethtool_rows[N_NICS];
