// SPDX-License-Identifier: Apache-2.0
/* dictionary_hw.c - hw_counters names of each RDMA driver. Pure.
 *
 * Names from linux/drivers/infiniband/: hw/mlx5/counters.c, hw/bnxt_re/hw_counters.c,
 * hw/irdma/verbs.c, hw/hns/hns_roce_main.c, hw/mana/counters.c, hw/efa/efa_verbs.c,
 * hw/erdma/erdma_verbs.c, sw/rxe/rxe_hw_counters.c; ionic's come from its firmware. */
#include "dictionary_rows.h"

#define REQ	"side=\"req\""
#define RESP	"side=\"resp\""
#define OP(op)	"op=\"" op "\""
#define KIND(k) "kind=\"" k "\""

#define WRAPS(name, family, labels)                                                                \
	{                                                                                          \
		name, F_##family, labels, UNIT_ONE, 0, 0, true                                     \
	}
/* A q-counter of a port, and the same counter of a switchdev representor, which replaces that of
 * the port. */
#define QCNT(name, family, labels)                                                                 \
	WRAPS(name, family, labels),                                                               \
	{                                                                                          \
		"vport_" name, F_##family, labels, UNIT_ONE, 1, 0, true                            \
	}

static const struct row mlx5[] = {
	ROW("np_ecn_marked_roce_packets", ECN_CE, ""),
	ROW("np_cnp_sent", CNP_SENT, ""),
	ROW("rp_cnp_handled", CNP_RECEIVED, ""),
	ROW("rp_cnp_ignored", CNP_RECEIVED, ""),
	ROW("rp_cnp_handled", CNP_HANDLED, ""),
	ROW("rp_cnp_ignored", CNP_IGNORED, ""),
	ROW("cc_rx_ce_pkts", CC_OPTIONAL, KIND("ce_received")),
	ROW("cc_rx_cnp_pkts", CC_OPTIONAL, KIND("cnp_received")),
	ROW("cc_tx_cnp_pkts", CC_OPTIONAL, KIND("cnp_sent")),
	RANK("cc_rx_ce_pkts", ECN_CE, "", 1),
	RANK("cc_rx_cnp_pkts", CNP_RECEIVED, "", 1),
	RANK("cc_tx_cnp_pkts", CNP_SENT, "", 1),
	QCNT("out_of_sequence", OUT_OF_SEQUENCE, ""),
	QCNT("packet_seq_err", SEQUENCE_NAK, ""),
	QCNT("implied_nak_seq_err", IMPLIED_NAK, ""),
	QCNT("local_ack_timeout_err", ACK_TIMEOUTS, ""),
	QCNT("req_transport_retries_exceeded", RETRIES_EXCEEDED, ""),
	QCNT("rnr_nak_retry_err", RNR_RECEIVED, ""),
	QCNT("req_rnr_retries_exceeded", RNR_EXCEEDED, ""),
	QCNT("out_of_buffer", WQE_MISSING, ""),
	QCNT("duplicate_request", DUPLICATES, ""),
	QCNT("roce_adp_retrans", ADAPTIVE_RETRANS, ""),
	QCNT("roce_adp_retrans_to", ADAPTIVE_TIMEOUTS, ""),
	QCNT("roce_slow_restart", SLOW_RESTARTS, ""),
	QCNT("roce_slow_restart_cnps", SLOW_RESTART_CNPS, ""),
	QCNT("roce_slow_restart_trans", SLOW_RESTART_TRANSITIONS, ""),
	ROW("rx_icrc_encapsulated", ICRC_ERRORS, ""),
	QCNT("req_cqe_error", CQE_ERRORS, REQ),
	QCNT("resp_cqe_error", CQE_ERRORS, RESP),
	QCNT("req_cqe_flush_error", CQE_FLUSH_ERRORS, REQ),
	QCNT("resp_cqe_flush_error", CQE_FLUSH_ERRORS, RESP),
	QCNT("req_remote_access_errors", REMOTE_ACCESS, REQ),
	QCNT("resp_remote_access_errors", REMOTE_ACCESS, RESP),
	QCNT("req_remote_invalid_request", REMOTE_INVALID, ""),
	QCNT("resp_local_length_error", LOCAL_LENGTH, ""),
	QCNT("rx_write_requests", REQUESTS_RECEIVED, OP("write")),
	QCNT("rx_read_requests", REQUESTS_RECEIVED, OP("read")),
	QCNT("rx_atomic_requests", REQUESTS_RECEIVED, OP("atomic")),
	QCNT("rx_dct_connect", REQUESTS_RECEIVED, OP("dct_connect")),
	RANK("rdma_rx_bytes", BYTES, RX, 1),
	RANK("rdma_tx_bytes", BYTES, TX, 1),
	RANK("rdma_rx_packets", PACKETS, RX, 1),
	RANK("rdma_tx_packets", PACKETS, TX, 1),
};

static const struct row bnxt[] = {
	ROW("rx_ecn_marked_pkts", ECN_CE, ""),
	ROW("tx_cnp_pkts", CNP_SENT, ""),
	ALIAS("np_cnp_pkts", CNP_SENT, ""), /* out-of-tree driver of the vendor */
	ROW("rx_cnp_pkts", CNP_RECEIVED, ""),
	ROW("oos_drop_count", OUT_OF_SEQUENCE, ""),
	ROW("seq_err_naks_rcvd", SEQUENCE_NAK, ""),
	ROW("missing_resp", IMPLIED_NAK, ""),
	ROW("to_retransmits", ACK_TIMEOUTS, ""),
	ROW("max_retry_exceeded", RETRIES_EXCEEDED, ""),
	ROW("rnr_naks_rcvd", RNR_RECEIVED, ""),
	ROW("rx_out_of_buffer", WQE_MISSING, ""),
	ROW("dup_req", DUPLICATES, ""),
	ROW("remote_access_err", REMOTE_ACCESS, REQ),
	ROW("res_rx_no_perm", REMOTE_ACCESS, RESP),
	ROW("res_tx_no_perm", REMOTE_ACCESS, RESP),
	ROW("remote_invalid_req_err", REMOTE_INVALID, ""),
	ROW("res_length_mismatch", LOCAL_LENGTH, ""),
	ROW("rx_send_req", REQUESTS_RECEIVED, OP("send")),
	ROW("rx_write_req", REQUESTS_RECEIVED, OP("write")),
	ROW("rx_read_req", REQUESTS_RECEIVED, OP("read")),
	ROW("rx_atomic_req", REQUESTS_RECEIVED, OP("atomic")),
	ROW("tx_send_req", REQUESTS_SENT, OP("send")),
	ROW("tx_write_req", REQUESTS_SENT, OP("write")),
	ROW("tx_read_req", REQUESTS_SENT, OP("read")),
	ROW("tx_atomic_req", REQUESTS_SENT, OP("atomic")),
	ROW("rx_roce_only_bytes", BYTES, RX),
	ROW("tx_roce_only_bytes", BYTES, TX),
	RANK("rx_bytes", BYTES, RX, 1),
	RANK("tx_bytes", BYTES, TX, 1),
	ROW("rx_roce_only_pkts", PACKETS, RX),
	ROW("tx_roce_only_pkts", PACKETS, TX),
	RANK("rx_pkts", PACKETS, RX, 1),
	RANK("tx_pkts", PACKETS, TX, 1),
	ROW("active_pds", RESOURCES, KIND("pd")),
	ROW("active_ahs", RESOURCES, KIND("ah")),
	ROW("active_qps", RESOURCES, KIND("qp")),
	ROW("active_rc_qps", RESOURCES, KIND("rc_qp")),
	ROW("active_ud_qps", RESOURCES, KIND("ud_qp")),
	ROW("active_srqs", RESOURCES, KIND("srq")),
	ROW("active_cqs", RESOURCES, KIND("cq")),
	ROW("active_mrs", RESOURCES, KIND("mr")),
	ROW("active_mws", RESOURCES, KIND("mw")),
	ROW("watermark_pds", WATERMARKS, KIND("pd")),
	ROW("watermark_ahs", WATERMARKS, KIND("ah")),
	ROW("watermark_qps", WATERMARKS, KIND("qp")),
	ROW("watermark_rc_qps", WATERMARKS, KIND("rc_qp")),
	ROW("watermark_ud_qps", WATERMARKS, KIND("ud_qp")),
	ROW("watermark_srqs", WATERMARKS, KIND("srq")),
	ROW("watermark_cqs", WATERMARKS, KIND("cq")),
	ROW("watermark_mrs", WATERMARKS, KIND("mr")),
	ROW("watermark_mws", WATERMARKS, KIND("mw")),
	ROW("pacing_reschedule", DOORBELL_PACING, KIND("reschedule")),
	ROW("pacing_complete", DOORBELL_PACING, KIND("complete")),
	ROW("pacing_alerts", DOORBELL_PACING, KIND("alert")),
};

/* The driver extends its 32-bit registers itself. Names with spaces are of the third generation,
 * whose request counters have no "iw" prefix. */
static const struct row irdma[] = {
	ROW("RxECNMrkd", ECN_CE, ""),
	ROW("cnpSent", CNP_SENT, ""),
	ROW("cnpHandled", CNP_RECEIVED, ""),
	ROW("cnpIgnored", CNP_RECEIVED, ""),
	ROW("cnpHandled", CNP_HANDLED, ""),
	ROW("cnpIgnored", CNP_IGNORED, ""),
	ROW("Rcvd Out of order packets", OUT_OF_SEQUENCE, ""),
	ROW("Nak Sequence Error", SEQUENCE_NAK, ""),
	ROW("Nak Sequence Error Implied", IMPLIED_NAK, ""),
	ROW("RTO", ACK_TIMEOUTS, ""),
	ROW("RNR received", RNR_RECEIVED, ""),
	ROW("RNR sent", RNR_SENT, ""),
	ROW("CRC errors", ICRC_ERRORS, ""),
	ROW("iwInRdmaWrites", REQUESTS_RECEIVED, OP("write")),
	ROW("iwInRdmaReads", REQUESTS_RECEIVED, OP("read")),
	ROW("iwInRdmaSends", REQUESTS_RECEIVED, OP("send")),
	ALIAS("InRdmaWrites", REQUESTS_RECEIVED, OP("write")),
	ALIAS("InRdmaReads", REQUESTS_RECEIVED, OP("read")),
	ALIAS("InRdmaSends", REQUESTS_RECEIVED, OP("send")),
	ROW("Rx atomics", REQUESTS_RECEIVED, OP("atomic")),
	ROW("iwOutRdmaWrites", REQUESTS_SENT, OP("write")),
	ROW("iwOutRdmaReads", REQUESTS_SENT, OP("read")),
	ROW("iwOutRdmaSends", REQUESTS_SENT, OP("send")),
	ALIAS("OutRdmaWrites", REQUESTS_SENT, OP("write")),
	ALIAS("OutRdmaReads", REQUESTS_SENT, OP("read")),
	ALIAS("OutRdmaSends", REQUESTS_SENT, OP("send")),
	ROW("Tx atomics", REQUESTS_SENT, OP("atomic")),
	ROW("ip4InOctets", BYTES, RX),
	ROW("ip6InOctets", BYTES, RX),
	ROW("ip4OutOctets", BYTES, TX),
	ROW("ip6OutOctets", BYTES, TX),
	ROW("RxUDP", PACKETS, RX),
	ROW("TxUDP", PACKETS, TX),
};

static const struct row hns[] = {
	ROW("tx_cnp_pkt", CNP_SENT, ""),
	ROW("rx_cnp_pkt", CNP_RECEIVED, ""),
	ROW("rx_err_pkt", ICRC_ERRORS, ""), /* broader: all packets found damaged */
	ROW("trp_get_mpt_err_pkt", REMOTE_ACCESS, RESP),
	ROW("rx_pkt", PACKETS, RX),
	ROW("tx_pkt", PACKETS, TX),
	ROW("ecn_doorbell", DOORBELL_PACING, KIND("ecn")),
};

static const struct row ionic[] = {
	ROW("rx_rdma_ecn_pkts", ECN_CE, ""),
	ROW("tx_rdma_cnp_pkts", CNP_SENT, ""),
	ROW("rx_rdma_cnp_pkts", CNP_RECEIVED, ""),
	ROW("resp_rx_outouf_seq", OUT_OF_SEQUENCE, ""), /* sic, the firmware's spelling */
	ROW("req_rx_pkt_seq_err", SEQUENCE_NAK, ""),
	ROW("req_rx_impl_nak_seq_err", IMPLIED_NAK, ""),
	ROW("tx_rdma_ack_timeout", ACK_TIMEOUTS, ""),
	ROW("req_tx_retry_excd_err", RETRIES_EXCEEDED, ""),
	ROW("req_rx_rnr_retry_err", RNR_RECEIVED, ""),
	ROW("resp_tx_rnr_retry_err", RNR_SENT, ""),
	ROW("resp_rx_outof_buf", WQE_MISSING, ""),
	ROW("resp_rx_dup_request", DUPLICATES, ""),
	ROW("tx_rdma_retx_pkts", ADAPTIVE_RETRANS, ""),
	ROW("req_rx_cqe_err", CQE_ERRORS, REQ),
	ROW("resp_rx_cqe_err", CQE_ERRORS, RESP),
	ROW("req_rx_cqe_flush", CQE_FLUSH_ERRORS, REQ),
	ROW("resp_rx_cqe_flush", CQE_FLUSH_ERRORS, RESP),
	ROW("req_rx_rmt_acc_err", REMOTE_ACCESS, REQ),
	ROW("resp_tx_rmt_acc_err", REMOTE_ACCESS, RESP),
	ROW("req_rx_rmt_req_err", REMOTE_INVALID, ""),
	ROW("resp_rx_loc_len_err", LOCAL_LENGTH, ""),
	ROW("rx_rdma_ucast_bytes", BYTES, RX),
	ROW("rx_rdma_mcast_bytes", BYTES, RX),
	ROW("tx_rdma_ucast_bytes", BYTES, TX),
	ROW("tx_rdma_mcast_bytes", BYTES, TX),
	ROW("rx_rdma_ucast_pkts", PACKETS, RX),
	ROW("rx_rdma_mcast_pkts", PACKETS, RX),
	ROW("tx_rdma_ucast_pkts", PACKETS, TX),
	ROW("tx_rdma_mcast_pkts", PACKETS, TX),
};

static const struct row mana[] = {
	ROW("received_cnps", CNP_RECEIVED, ""),
	ROW("num_qps_congested", RATE_LIMITED_QPS, ""),
	ROW("rate_inc_events", RATE_INCREASES, ""),
	ROW("current_rate", CURRENT_RATE, ""),
	ROW("responder_oos", OUT_OF_SEQUENCE, ""),
	ROW("requester_oos_nak", SEQUENCE_NAK, ""),
	ROW("requester_implicit_nak", IMPLIED_NAK, ""),
	ROW("requester_timeout", ACK_TIMEOUTS, ""),
	ROW("requester_retries_exceeded", RETRIES_EXCEEDED, ""),
	ROW("requester_rnr_nak", RNR_RECEIVED, ""),
	ROW("responder_rnr_nak", RNR_SENT, ""),
	ROW("requester_rnr_nak_retries_exceeded", RNR_EXCEEDED, ""),
	ROW("responder_dup_request", DUPLICATES, ""),
	ROW("total_fatal_error", CQE_ERRORS, "side=\"any\""),
	ROW("nak_access_error", REMOTE_ACCESS, REQ),
	ROW("responder_rem_access_error", REMOTE_ACCESS, RESP),
	ROW("nak_inv_req", REMOTE_INVALID, ""),
	ROW("responder_local_len_error", LOCAL_LENGTH, ""),
	ROW("rx_send_requests", REQUESTS_RECEIVED, OP("send")),
	ROW("rx_write_requests", REQUESTS_RECEIVED, OP("write")),
	ROW("rx_read_requests", REQUESTS_RECEIVED, OP("read")),
	ROW("rx_bytes", BYTES, RX),
	ROW("tx_bytes", BYTES, TX),
	ROW("rx_packets", PACKETS, RX),
	ROW("tx_packets", PACKETS, TX),
};

/* Counters that the ports have, too (received CNPs, rate increases), are passed through, so that a
 * family has either port or device readings. */
static const struct row mana_device[] = {
	ROW("received_ecns", ECN_CE, ""),
	ROW("sent_cnps", CNP_SENT, ""),
};

static const struct row rxe[] = {
	ROW("out_of_seq_request", OUT_OF_SEQUENCE, ""),
	ROW("rcvd_seq_err", SEQUENCE_NAK, ""),
	ROW("completer_retry_err", ACK_TIMEOUTS, ""),
	ROW("retry_exceeded_err", RETRIES_EXCEEDED, ""),
	ROW("rcvd_rnr_err", RNR_RECEIVED, ""),
	ROW("send_rnr_err", RNR_SENT, ""),
	ROW("retry_rnr_exceeded_err", RNR_EXCEEDED, ""),
	ROW("duplicate_request", DUPLICATES, ""),
	ROW("rdma_recvs", REQUESTS_RECEIVED, OP("send")),
	ROW("rdma_sends", REQUESTS_SENT, OP("send")),
	ROW("rcvd_pkts", PACKETS, RX),
	ROW("sent_pkts", PACKETS, TX),
	ROW("rcvd_bytes", BYTES, RX), /* newer than 6.12; before that use the netdev's counters */
	ROW("sent_bytes", BYTES, TX),
	ROW("link_downed", PHY_LINK_DOWN, ""),
};

/* EFA uses SRD, not RoCE: bytes, packets and drops have the same meaning, but it has no counters of
 * congestion control. */
static const struct row efa[] = {
	ROW("rx_bytes", BYTES, RX),
	ROW("tx_bytes", BYTES, TX),
	ROW("rx_pkts", PACKETS, RX),
	ROW("tx_pkts", PACKETS, TX),
	ROW("rx_drops", PORT_DISCARDS, RX),
	ROW("send_wrs", REQUESTS_SENT, OP("send")),
	ROW("rdma_read_wrs", REQUESTS_SENT, OP("read")),
	ROW("rdma_write_wrs", REQUESTS_SENT, OP("write")),
};

/* hw_*: Alibaba's out-of-tree driver; its send drops have no "tx" in their names. */
static const struct row erdma[] = {
	ROW("tx_reqs_cnt", REQUESTS_SENT, OP("any")),
	ALIAS("hw_tx_reqs_cnt", REQUESTS_SENT, OP("any")),
	ROW("rx_bytes_cnt", BYTES, RX),
	ROW("tx_bytes_cnt", BYTES, TX),
	ALIAS("hw_rx_bytes_cnt", BYTES, RX),
	ALIAS("hw_tx_bytes_cnt", BYTES, TX),
	ROW("rx_packets_cnt", PACKETS, RX),
	ROW("tx_packets_cnt", PACKETS, TX),
	ALIAS("hw_rx_packets_cnt", PACKETS, RX),
	ALIAS("hw_tx_packets_cnt", PACKETS, TX),
	ROW("rx_disable_drop_cnt", PORT_DISCARDS, RX),
	ROW("rx_bps_limit_drop_cnt", PORT_DISCARDS, RX),
	ROW("rx_pps_limit_drop_cnt", PORT_DISCARDS, RX),
	ROW("tx_disable_drop_cnt", PORT_DISCARDS, TX),
	ROW("tx_bps_limit_drop_cnt", PORT_DISCARDS, TX),
	ROW("tx_pps_limit_drop_cnt", PORT_DISCARDS, TX),
	ALIAS("hw_rx_disable_drop_cnt", PORT_DISCARDS, RX),
	ALIAS("hw_rx_bps_limit_drop_cnt", PORT_DISCARDS, RX),
	ALIAS("hw_rx_pps_limit_drop_cnt", PORT_DISCARDS, RX),
	ALIAS("hw_disable_drop_cnt", PORT_DISCARDS, TX),
	ALIAS("hw_bps_limit_drop_cnt", PORT_DISCARDS, TX),
	ALIAS("hw_pps_limit_drop_cnt", PORT_DISCARDS, TX),
};

const struct row_table dict_hw_rows[N_NICS] = {
	[NIC_MLX5] = ROWS(mlx5), [NIC_BNXT] = ROWS(bnxt),   [NIC_IRDMA] = ROWS(irdma),
	[NIC_HNS] = ROWS(hns),	 [NIC_IONIC] = ROWS(ionic), [NIC_MANA] = ROWS(mana),
	[NIC_RXE] = ROWS(rxe),	 [NIC_EFA] = ROWS(efa),	    [NIC_ERDMA] = ROWS(erdma),
};

/* mlx5 has device counters only in switchdev mode: they are those of the physical function, whose
 * ports are representors then. */
const struct row_table dict_hw_device_rows[N_NICS] = {
	[NIC_MLX5] = ROWS(mlx5),
	[NIC_MANA] = ROWS(mana_device),
};
