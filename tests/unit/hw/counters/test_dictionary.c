// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <string.h>

#include "cleanup.h"
#include "dictionary.h"
#include "test_group.h"

/* One cell of the vendors' table: the expected meaning of a name. */
static const struct {
	enum dict_place place;
	enum nic nic;
	const char *name, *family, *labels;
} cells[] = {
	/* congestion */
	{DICT_HW, NIC_MLX5, "np_ecn_marked_roce_packets", "roce_ecn_ce_received_packets_total", ""},
	{DICT_HW, NIC_BNXT, "rx_ecn_marked_pkts", "roce_ecn_ce_received_packets_total", ""},
	{DICT_HW, NIC_IRDMA, "RxECNMrkd", "roce_ecn_ce_received_packets_total", ""},
	{DICT_HW, NIC_IONIC, "rx_rdma_ecn_pkts", "roce_ecn_ce_received_packets_total", ""},
	{DICT_HW_DEVICE, NIC_MANA, "received_ecns", "roce_ecn_ce_received_packets_total", ""},
	{DICT_HW, NIC_MLX5, "np_cnp_sent", "roce_cnp_sent_packets_total", ""},
	{DICT_HW, NIC_BNXT, "tx_cnp_pkts", "roce_cnp_sent_packets_total", ""},
	{DICT_HW, NIC_IRDMA, "cnpSent", "roce_cnp_sent_packets_total", ""},
	{DICT_HW, NIC_HNS, "tx_cnp_pkt", "roce_cnp_sent_packets_total", ""},
	{DICT_HW, NIC_IONIC, "tx_rdma_cnp_pkts", "roce_cnp_sent_packets_total", ""},
	{DICT_HW_DEVICE, NIC_MANA, "sent_cnps", "roce_cnp_sent_packets_total", ""},
	{DICT_HW, NIC_BNXT, "rx_cnp_pkts", "roce_cnp_received_packets_total", ""},
	{DICT_HW, NIC_HNS, "rx_cnp_pkt", "roce_cnp_received_packets_total", ""},
	{DICT_HW, NIC_MANA, "received_cnps", "roce_cnp_received_packets_total", ""},
	{DICT_HW, NIC_MANA, "num_qps_congested", "roce_rate_limited_qps", ""},
	/* loss and retries */
	{DICT_HW, NIC_MLX5, "out_of_sequence", "roce_out_of_sequence_packets_total", ""},
	{DICT_HW, NIC_MLX5, "vport_out_of_sequence", "roce_out_of_sequence_packets_total", ""},
	{DICT_HW, NIC_BNXT, "oos_drop_count", "roce_out_of_sequence_packets_total", ""},
	{DICT_HW, NIC_IONIC, "resp_rx_outouf_seq", "roce_out_of_sequence_packets_total", ""},
	{DICT_HW, NIC_MANA, "responder_oos", "roce_out_of_sequence_packets_total", ""},
	{DICT_HW, NIC_RXE, "out_of_seq_request", "roce_out_of_sequence_packets_total", ""},
	{DICT_HW, NIC_MLX5, "packet_seq_err", "roce_sequence_nak_received_total", ""},
	{DICT_HW, NIC_BNXT, "seq_err_naks_rcvd", "roce_sequence_nak_received_total", ""},
	{DICT_HW, NIC_BNXT, "missing_resp", "roce_implied_nak_total", ""},
	{DICT_HW, NIC_MLX5, "local_ack_timeout_err", "roce_ack_timeouts_total", ""},
	{DICT_HW, NIC_BNXT, "to_retransmits", "roce_ack_timeouts_total", ""},
	{DICT_HW, NIC_IONIC, "tx_rdma_ack_timeout", "roce_ack_timeouts_total", ""},
	{DICT_HW, NIC_MANA, "requester_timeout", "roce_ack_timeouts_total", ""},
	{DICT_HW, NIC_RXE, "retry_exceeded_err", "roce_transport_retries_exceeded_total", ""},
	{DICT_HW, NIC_BNXT, "max_retry_exceeded", "roce_transport_retries_exceeded_total", ""},
	{DICT_HW, NIC_MLX5, "rnr_nak_retry_err", "roce_rnr_nak_received_total", ""},
	{DICT_HW, NIC_RXE, "send_rnr_err", "roce_rnr_nak_sent_total", ""},
	{DICT_HW, NIC_MANA, "requester_rnr_nak_retries_exceeded", "roce_rnr_retries_exceeded_total",
	 ""},
	{DICT_HW, NIC_MLX5, "out_of_buffer", "roce_receive_wqe_missing_total", ""},
	{DICT_HW, NIC_BNXT, "rx_out_of_buffer", "roce_receive_wqe_missing_total", ""},
	{DICT_HW, NIC_BNXT, "dup_req", "roce_duplicate_requests_total", ""},
	{DICT_HW, NIC_IONIC, "tx_rdma_retx_pkts", "roce_adaptive_retransmissions_total", ""},
	{DICT_HW, NIC_MLX5, "roce_adp_retrans_to", "roce_adaptive_retransmission_timeouts_total",
	 ""},
	{DICT_HW, NIC_MLX5, "roce_slow_restart_trans", "roce_slow_restart_transitions_total", ""},
	{DICT_HW, NIC_MLX5, "rx_icrc_encapsulated", "roce_icrc_errors_total", ""},
	{DICT_HW, NIC_HNS, "rx_err_pkt", "roce_icrc_errors_total", ""},
	/* errors and requests */
	{DICT_HW, NIC_MLX5, "req_cqe_error", "roce_cqe_errors_total", "side=\"req\""},
	{DICT_HW, NIC_IONIC, "resp_rx_cqe_flush", "roce_cqe_flush_errors_total", "side=\"resp\""},
	{DICT_HW, NIC_BNXT, "remote_access_err", "roce_remote_access_errors_total", "side=\"req\""},
	{DICT_HW, NIC_HNS, "trp_get_mpt_err_pkt", "roce_remote_access_errors_total",
	 "side=\"resp\""},
	{DICT_HW, NIC_MANA, "nak_inv_req", "roce_remote_invalid_requests_total", ""},
	{DICT_HW, NIC_BNXT, "res_length_mismatch", "roce_local_length_errors_total", ""},
	{DICT_HW, NIC_MLX5, "rx_dct_connect", "roce_requests_received_total", "op=\"dct_connect\""},
	{DICT_HW, NIC_IRDMA, "iwInRdmaSends", "roce_requests_received_total", "op=\"send\""},
	{DICT_HW, NIC_IRDMA, "iwOutRdmaReads", "roce_requests_sent_total", "op=\"read\""},
	{DICT_HW, NIC_RXE, "rdma_sends", "roce_requests_sent_total", "op=\"send\""},
	/* traffic */
	{DICT_HW, NIC_BNXT, "rx_roce_only_bytes", "roce_bytes_total", "direction=\"received\""},
	{DICT_HW, NIC_IRDMA, "ip6OutOctets", "roce_bytes_total", "direction=\"sent\""},
	{DICT_HW, NIC_IONIC, "rx_rdma_ucast_bytes", "roce_bytes_total", "direction=\"received\""},
	{DICT_HW, NIC_HNS, "tx_pkt", "roce_packets_total", "direction=\"sent\""},
	{DICT_HW, NIC_RXE, "rcvd_pkts", "roce_packets_total", "direction=\"received\""},
	{DICT_HW, NIC_BNXT, "active_qps", "roce_resource_active", "kind=\"qp\""},
	{DICT_HW, NIC_BNXT, "watermark_mrs", "roce_resource_watermark", "kind=\"mr\""},
	{DICT_HW, NIC_HNS, "ecn_doorbell", "roce_doorbell_pacing_total", "kind=\"ecn\""},
	{DICT_HW, NIC_ERDMA, "tx_bytes_cnt", "roce_bytes_total", "direction=\"sent\""},
	{DICT_HW, NIC_EFA, "rx_drops", "roce_port_discards_total", "direction=\"received\""},
	/* ethtool */
	{DICT_ETHTOOL, NIC_MLX5, "rx_prio3_pause", "roce_pfc_pause_frames_total",
	 "direction=\"received\",priority=\"3\""},
	{DICT_ETHTOOL, NIC_MLX5, "tx_prio7_pause_duration", "roce_pfc_pause_seconds_total",
	 "direction=\"sent\",priority=\"7\""},
	{DICT_ETHTOOL, NIC_MLX5, "rx_prio0_pause_transition", "roce_pfc_pause_transitions_total",
	 "direction=\"received\",priority=\"0\""},
	{DICT_ETHTOOL, NIC_BNXT, "pfc_pri5_rx_duration_us", "roce_pfc_pause_seconds_total",
	 "direction=\"received\",priority=\"5\""},
	{DICT_ETHTOOL, NIC_BNXT, "pfc_pri0_tx_transitions", "roce_pfc_pause_transitions_total",
	 "direction=\"sent\",priority=\"0\""},
	{DICT_ETHTOOL, NIC_IRDMA, "rx_priority_4_xoff.nic", "roce_pfc_pause_frames_total",
	 "direction=\"received\",priority=\"4\""},
	{DICT_ETHTOOL, NIC_HNS, "mac_tx_pfc_pri2_pkt_num", "roce_pfc_pause_frames_total",
	 "direction=\"sent\",priority=\"2\""},
	{DICT_ETHTOOL, NIC_IRDMA, "link_xoff_rx.nic", "roce_pause_frames_total",
	 "direction=\"received\""},
	{DICT_ETHTOOL, NIC_IRDMA, "link_xon_tx.nic", "roce_pause_frames_total",
	 "direction=\"sent\""},
	{DICT_ETHTOOL, NIC_IONIC, "rx_pripause_3_1us_count", "roce_pfc_pause_seconds_total",
	 "direction=\"received\",priority=\"3\""},
	{DICT_ETHTOOL, NIC_IONIC, "frames_tx_pripause", "roce_pfc_pause_frames_total",
	 "direction=\"sent\""},
	{DICT_ETHTOOL, NIC_IONIC, "frames_rx_pause", "roce_pause_frames_total",
	 "direction=\"received\""},
	{DICT_ETHTOOL, NIC_IONIC, "rx_pause_1us_count", "roce_pause_seconds_total",
	 "direction=\"received\""},
	{DICT_ETHTOOL, NIC_IONIC, "frames_rx_dropped", "roce_port_discards_total",
	 "direction=\"received\""},
	{DICT_ETHTOOL, NIC_IONIC, "frames_tx_pri_5", "roce_priority_packets_total",
	 "direction=\"sent\",priority=\"5\""},
	{DICT_HW, NIC_IONIC, "resp_tx_rnr_retry_err", "roce_rnr_nak_sent_total", ""},
	{DICT_DCB, NIC_BNXT, "indications6", "roce_pfc_pause_frames_total",
	 "direction=\"received\",priority=\"6\""},
	{DICT_DCB, NIC_BNXT, "enabled3", "roce_pfc_enabled", "priority=\"3\""},
	{DICT_ETHTOOL, NIC_MLX5, "rx_global_pause", "roce_pause_frames_total",
	 "direction=\"received\""},
	{DICT_PAUSE, NIC_IRDMA, "tx_frames", "roce_pause_frames_total", "direction=\"sent\""},
	{DICT_ETHTOOL, NIC_MLX5, "tx_pause_storm_error_events", "roce_pause_storms_total",
	 "severity=\"error\""},
	{DICT_ETHTOOL, NIC_MLX5, "rx_prio1_cong_discard", "roce_priority_discards_total",
	 "priority=\"1\",reason=\"host_congestion\""},
	{DICT_ETHTOOL, NIC_BNXT, "rx_discard_packets_cos3", "roce_priority_discards_total",
	 "priority=\"3\",reason=\"no_buffer\""},
	{DICT_ETHTOOL, NIC_MLX5, "rx_prio3_marked", "roce_host_ecn_marked_packets_total",
	 "priority=\"3\""},
	{DICT_ETHTOOL, NIC_MLX5, "outbound_pci_stalled_wr", "roce_pcie_stalled_ratio",
	 "op=\"write\""},
	{DICT_ETHTOOL, NIC_MLX5, "rx_err_lane_11_phy", "roce_phy_lane_errors_total", "lane=\"11\""},
	{DICT_ETHTOOL, NIC_BNXT, "rx_pcs_symbol_err", "roce_phy_symbol_errors_total", ""},
	{DICT_PORT, NIC_MLX5, "port_rcv_data", "roce_bytes_total", "direction=\"received\""},
	{DICT_NETDEV, NIC_RXE, "tx_bytes", "roce_bytes_total", "direction=\"sent\""},
	{DICT_RESOURCE, NIC_MLX5, "qp", "roce_resource_active", "kind=\"qp\""},
	{DICT_OPTIONAL, NIC_MLX5, "cc_rx_ce_pkts", "roce_optional_counters_enabled",
	 "name=\"cc_rx_ce_pkts\""},
};

static void every_cell_of_the_vendor_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct meaning m[DICT_MEANINGS];
		size_t n = dict_lookup(cells[i].place, cells[i].nic, cells[i].name, m);

		if (!n)
			fail_msg("%s means nothing", cells[i].name);
		assert_string_equal(m[0].family->name, cells[i].family);
		assert_string_equal(m[0].labels, cells[i].labels);
	}
}

static void handled_cnps_count_as_received_too(void **state)
{
	struct meaning m[DICT_MEANINGS];

	(void)state;
	assert_int_equal(dict_lookup(DICT_HW, NIC_MLX5, "rp_cnp_handled", m), 2);
	assert_string_equal(m[0].family->name, "roce_cnp_received_packets_total");
	assert_string_equal(m[1].family->name, "roce_cnp_handled_packets_total");
	assert_int_equal(dict_lookup(DICT_HW, NIC_IRDMA, "cnpIgnored", m), 2);
}

static bool wraps(enum nic nic, const char *name)
{
	struct meaning m[DICT_MEANINGS];

	assert_true(dict_lookup(DICT_HW, nic, name, m) > 0);
	return m[0].wraps32;
}

static void only_mlx5_q_counters_are_32_bit(void **state)
{
	(void)state;
	assert_true(wraps(NIC_MLX5, "rx_write_requests"));
	assert_true(wraps(NIC_MLX5, "out_of_buffer"));
	assert_true(wraps(NIC_MLX5, "vport_duplicate_request"));
	assert_false(wraps(NIC_MLX5, "np_cnp_sent"));
	assert_false(wraps(NIC_MLX5, "rp_cnp_handled"));
	assert_false(wraps(NIC_MLX5, "rx_icrc_encapsulated"));
	assert_false(wraps(NIC_BNXT, "rx_write_req"));
	assert_false(wraps(NIC_IRDMA, "cnpHandled"));
	/* An mlx5 name on another vendor's device does not have the width of mlx5's counter. */
	assert_false(wraps(NIC_BNXT, "out_of_buffer"));
}

static void unknown_hw_counters_pass_through(void **state)
{
	struct meaning m[DICT_MEANINGS];

	(void)state;
	assert_int_equal(dict_lookup(DICT_HW, NIC_IONIC, "brand new \"one\"\\", m), 1);
	assert_string_equal(m[0].family->name, "roce_hw_counters_total");
	assert_string_equal(m[0].labels, "name=\"brand new \\\"one\\\"\\\\\"");
	assert_false(m[0].monotonic);
	assert_int_equal(dict_lookup(DICT_ETHTOOL, NIC_MLX5, "rx0_packets", m), 0);
	assert_int_equal(dict_lookup(DICT_HW, NIC_MLX5, "lifespan", m), 0);
	assert_int_equal(dict_lookup(DICT_HW, NIC_BNXT, "db_fifo_register", m), 0);
}

static void names_are_bounded(void **state)
{
	struct meaning m[DICT_MEANINGS];
	char name[DICT_NAME_MAX + 2];

	(void)state;
	memset(name, '"', sizeof(name) - 1);
	name[DICT_NAME_MAX + 1] = '\0';
	assert_int_equal(dict_lookup(DICT_HW, NIC_MLX5, name, m), 0);
	/* The longest name with every byte escaped does not fit the label. */
	name[DICT_NAME_MAX] = '\0';
	assert_int_equal(dict_lookup(DICT_HW, NIC_MLX5, name, m), 0);
	memset(name, 'x', DICT_NAME_MAX);
	assert_int_equal(dict_lookup(DICT_HW, NIC_MLX5, name, m), 1);
	assert_int_equal(dict_lookup(DICT_HW, NIC_MLX5, "", m), 0);
	assert_int_equal(dict_lookup(DICT_HW, NIC_MLX5, "new\nline", m), 0);
	assert_int_equal(dict_lookup(DICT_HW, NIC_MLX5, "caf\xc3\xa9", m), 0);
}

static void numbers_in_names_are_one_or_two_digits(void **state)
{
	struct meaning m[DICT_MEANINGS];

	(void)state;
	assert_int_equal(dict_lookup(DICT_ETHTOOL, NIC_MLX5, "rx_prio_pause", m), 0);
	assert_int_equal(dict_lookup(DICT_ETHTOOL, NIC_MLX5, "rx_prio123_pause", m), 0);
	assert_int_equal(dict_lookup(DICT_ETHTOOL, NIC_MLX5, "rx_prio3_pauses", m), 0);
	assert_int_equal(dict_lookup(DICT_ETHTOOL, NIC_MLX5, "rx_prio3", m), 0);
}

static void an_unknown_vendor_is_looked_up_everywhere(void **state)
{
	struct meaning m[DICT_MEANINGS];

	(void)state;
	assert_true(dict_lookup(DICT_HW, NIC_UNKNOWN, "np_cnp_sent", m));
	assert_string_equal(m[0].family->name, "roce_cnp_sent_packets_total");
	assert_true(dict_lookup(DICT_HW, NIC_UNKNOWN, "oos_drop_count", m));
	assert_string_equal(m[0].family->name, "roce_out_of_sequence_packets_total");
	assert_true(dict_lookup(DICT_ETHTOOL, NIC_UNKNOWN, "mac_rx_pfc_pri1_pkt_num", m));
}

static void drivers_by_all_their_names(void **state)
{
	(void)state;
	assert_int_equal(dict_nic("mlx5", 0), NIC_MLX5);
	assert_int_equal(dict_nic("mlx5_core", 0), NIC_MLX5);
	assert_int_equal(dict_nic("ice", 0), NIC_IRDMA);
	assert_int_equal(dict_nic("hns3", 0), NIC_HNS);
	assert_int_equal(dict_nic("", 0x14e4), NIC_BNXT);
	assert_int_equal(dict_nic("", 0), NIC_UNKNOWN);
	assert_int_equal(dict_nic("rxe", 0x15b3), NIC_RXE);
	assert_true(dict_is_software(NIC_SIW));
	assert_false(dict_is_software(NIC_MLX5));
}

/* A row is found by its own name, with a number in place of '#'. */
static void every_row_is_found_again(void **state)
{
	struct dict_row row;
	size_t n;

	(void)state;
	for (n = 0; dict_row(n, &row); n++) {
		struct meaning m[DICT_MEANINGS];
		char name[DICT_NAME_MAX + 1], *hash;
		bool found = false;
		size_t k;

		assert_true(strlen(row.name) < sizeof(name));
		strcpy(name, row.name);
		hash = strchr(name, '#');
		assert_true(!!hash == !!strchr(row.labels, '#'));
		if (hash)
			*hash = '5';
		k = dict_lookup(row.place, row.nic, name, m);
		for (size_t i = 0; i < k; i++)
			found |= m[i].family == row.family;
		if (!found)
			fail_msg("%s is not found", row.name);
		assert_ptr_equal(dict_family(dict_family_index(row.family)), row.family);
	}
	assert_true(n > 250);
}

static void no_row_is_duplicate(void **state)
{
	struct dict_row a, b;

	(void)state;
	for (size_t i = 0; dict_row(i, &a); i++)
		for (size_t j = i + 1; dict_row(j, &b); j++)
			if (a.place == b.place && a.nic == b.nic && a.family == b.family &&
			    !strcmp(a.name, b.name))
				fail_msg("%s is listed twice", a.name);
}

static void families_are_well_formed(void **state)
{
	const struct family *f, *g;

	(void)state;
	for (size_t i = 0; (f = dict_family(i)); i++) {
		size_t n = strlen(f->name);
		bool total = n > 6 && !strcmp(f->name + n - 6, "_total");

		assert_true(total == (f->type == METRIC_COUNTER));
		assert_true(!strncmp(f->name, "roce_", 5) ||
			    !strncmp(f->name, "node_infiniband_", 16));
		assert_true(f->help[0] && f->help[strlen(f->help) - 1] == '.');
		for (size_t k = i + 1; (g = dict_family(k)); k++)
			assert_string_not_equal(f->name, g->name);
	}
}

/* A family without a row would be documented, but never exported. */
static void every_family_has_a_row(void **state)
{
	static const char *const without_row[] = {"roce_resource_active", "roce_hw_counters_total",
						  "roce_port_counters_total",
						  "roce_optional_counters_enabled"};
	const struct family *f;

	(void)state;
	for (size_t i = 0; (f = dict_family(i)); i++) {
		bool fed = !strncmp(f->name, "node_", 5);
		struct dict_row row;

		for (size_t k = 0; k < ARRAY_SIZE(without_row); k++)
			fed |= !strcmp(without_row[k], f->name);
		for (size_t k = 0; !fed && dict_row(k, &row); k++)
			fed = row.family == f;
		if (!fed)
			fail_msg("nothing feeds %s", f->name);
	}
}

static void node_exporter_names(void **state)
{
	struct meaning m;

	(void)state;
	assert_int_equal(dict_lookup_compat(DICT_HW, "np_cnp_sent", &m), 1);
	assert_string_equal(m.family->name, "node_infiniband_np_cnp_packets_sent_total");
	assert_false(m.wraps32);
	assert_int_equal(dict_lookup_compat(DICT_HW, "out_of_buffer", &m), 1);
	assert_true(m.wraps32);
	assert_int_equal(dict_lookup_compat(DICT_PORT, "port_xmit_data", &m), 1);
	assert_int_equal(m.unit, UNIT_WORDS);
	assert_int_equal(dict_lookup_compat(DICT_PORT, "VL15_dropped", &m), 1);
	assert_string_equal(m.family->name, "node_infiniband_vl15_dropped_total");
	assert_int_equal(dict_lookup_compat(DICT_PORT_EXT, "port_xmit_data_64", &m), 1);
	assert_string_equal(m.family->name, "node_infiniband_legacy_data_transmitted_bytes_total");
	assert_int_equal(m.unit, UNIT_WORDS);
	assert_int_equal(dict_lookup_compat(DICT_PORT, "port_xmit_data_64", &m), 0);
	assert_int_equal(dict_lookup_compat(DICT_ETHTOOL, "rx_prio3_pause", &m), 0);
	assert_int_equal(dict_lookup_compat(DICT_HW, "oos_drop_count", &m), 0);
	assert_string_equal(dict_compat_gauge(COMPAT_INFO)->name, "node_infiniband_info");
}

TEST_GROUP(dictionary)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cell_of_the_vendor_table),
		cmocka_unit_test(handled_cnps_count_as_received_too),
		cmocka_unit_test(only_mlx5_q_counters_are_32_bit),
		cmocka_unit_test(unknown_hw_counters_pass_through),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(numbers_in_names_are_one_or_two_digits),
		cmocka_unit_test(an_unknown_vendor_is_looked_up_everywhere),
		cmocka_unit_test(drivers_by_all_their_names),
		cmocka_unit_test(every_row_is_found_again),
		cmocka_unit_test(no_row_is_duplicate),
		cmocka_unit_test(families_are_well_formed),
		cmocka_unit_test(every_family_has_a_row),
		cmocka_unit_test(node_exporter_names),
	};

	return test_group_run(tests, NULL, NULL);
}
