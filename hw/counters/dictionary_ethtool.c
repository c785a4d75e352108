// SPDX-License-Identifier: Apache-2.0
/* dictionary_ethtool.c - ethtool statistics relevant to RoCE, by the netdev's driver. Pure.
 *
 * Names from linux/drivers/net/ethernet/: mellanox/mlx5/core/en_stats.c,
 * broadcom/bnxt/bnxt_ethtool.c, intel/ice/ice_ethtool.c, hisilicon/hns3/hns3pf/hclge_main.c,
 * pensando/ionic/ionic_stats.c. */
#include "dictionary_rows.h"

#define PRIO	 "priority=\"#\""
#define RX_PRIO	 RX "," PRIO
#define TX_PRIO	 TX "," PRIO
#define WHY(why) PRIO ",reason=\"" why "\""

#define USEC(name, family, labels) MEASURED(name, family, labels, MICROSECONDS, 0)

static const struct row mlx5[] = {
	ROW("rx_vport_rdma_unicast_bytes", BYTES, RX),
	ROW("rx_vport_rdma_multicast_bytes", BYTES, RX),
	ROW("tx_vport_rdma_unicast_bytes", BYTES, TX),
	ROW("tx_vport_rdma_multicast_bytes", BYTES, TX),
	ROW("rx_vport_rdma_unicast_packets", PACKETS, RX),
	ROW("rx_vport_rdma_multicast_packets", PACKETS, RX),
	ROW("tx_vport_rdma_unicast_packets", PACKETS, TX),
	ROW("tx_vport_rdma_multicast_packets", PACKETS, TX),
	ROW("rx_prio#_pause", PFC_FRAMES, RX_PRIO),
	ROW("tx_prio#_pause", PFC_FRAMES, TX_PRIO),
	USEC("rx_prio#_pause_duration", PFC_SECONDS, RX_PRIO),
	USEC("tx_prio#_pause_duration", PFC_SECONDS, TX_PRIO),
	ROW("rx_prio#_pause_transition", PFC_TRANSITIONS, RX_PRIO),
	ROW("rx_global_pause", PAUSE_FRAMES, RX),
	ROW("tx_global_pause", PAUSE_FRAMES, TX),
	RANK("rx_pause_ctrl_phy", PAUSE_FRAMES, RX, 1),
	RANK("tx_pause_ctrl_phy", PAUSE_FRAMES, TX, 1),
	USEC("rx_global_pause_duration", PAUSE_SECONDS, RX),
	USEC("tx_global_pause_duration", PAUSE_SECONDS, TX),
	ROW("rx_global_pause_transition", PAUSE_TRANSITIONS, RX),
	ROW("tx_pause_storm_warning_events", PAUSE_STORMS, "severity=\"warning\""),
	ROW("tx_pause_storm_error_events", PAUSE_STORMS, "severity=\"error\""),
	ROW("rx_prio#_bytes", PRIORITY_BYTES, RX_PRIO),
	ROW("tx_prio#_bytes", PRIORITY_BYTES, TX_PRIO),
	ROW("rx_prio#_packets", PRIORITY_PACKETS, RX_PRIO),
	ROW("tx_prio#_packets", PRIORITY_PACKETS, TX_PRIO),
	ROW("rx_prio#_discards", PRIORITY_DISCARDS, WHY("no_buffer")),
	ROW("rx_prio#_buf_discard", PRIORITY_DISCARDS, WHY("host_buffer")),
	ROW("rx_prio#_cong_discard", PRIORITY_DISCARDS, WHY("host_congestion")),
	ROW("rx_prio#_marked", HOST_ECN, PRIO),
	ROW("rx_discards_phy", PORT_DISCARDS, RX),
	ROW("tx_discards_phy", PORT_DISCARDS, TX),
	MEASURED("outbound_pci_stalled_rd", PCIE_STALLED, "op=\"read\"", PERCENT, 0),
	MEASURED("outbound_pci_stalled_wr", PCIE_STALLED, "op=\"write\"", PERCENT, 0),
	ROW("outbound_pci_stalled_rd_events", PCIE_STALLED_SECONDS, "op=\"read\""),
	ROW("outbound_pci_stalled_wr_events", PCIE_STALLED_SECONDS, "op=\"write\""),
	ROW("outbound_pci_buffer_overflow", PCIE_OVERFLOW, ""),
	ROW("rx_pci_signal_integrity", PCIE_SIGNAL, RX),
	ROW("tx_pci_signal_integrity", PCIE_SIGNAL, TX),
	ROW("rx_corrected_bits_phy", PHY_CORRECTED, ""),
	ROW("rx_pcs_symbol_err_phy", PHY_SYMBOLS, ""),
	ROW("rx_crc_errors_phy", PHY_CRC, ""),
	ROW("link_down_events_phy", PHY_LINK_DOWN, ""),
	MEASURED("rx_bits_phy", PHY_BITS, "", BITS, 0),
	ROW("rx_err_lane_#_phy", PHY_LANE, "lane=\"#\""),
	ROW("rx_buffer_passed_thres_phy", BUFFER_THRESHOLD, ""),
};

/* PFC frames by priority come from DCB if available; traffic by priority if the driver has it, else
 * by class of service. */
static const struct row bnxt[] = {
	RANK("rx_pfc_ena_frames_pri#", PFC_FRAMES, RX_PRIO, 1),
	RANK("tx_pfc_ena_frames_pri#", PFC_FRAMES, TX_PRIO, 1),
	USEC("pfc_pri#_rx_duration_us", PFC_SECONDS, RX_PRIO),
	USEC("pfc_pri#_tx_duration_us", PFC_SECONDS, TX_PRIO),
	ROW("pfc_pri#_rx_transitions", PFC_TRANSITIONS, RX_PRIO),
	ROW("pfc_pri#_tx_transitions", PFC_TRANSITIONS, TX_PRIO),
	ROW("rx_pause_frames", PAUSE_FRAMES, RX),
	ROW("tx_pause_frames", PAUSE_FRAMES, TX),
	ROW("continuous_pause_events", PAUSE_STORMS, "severity=\"continuous\""),
	ROW("continuous_roce_pause_events", PAUSE_STORMS, "severity=\"continuous_roce\""),
	ROW("rx_bytes_pri#", PRIORITY_BYTES, RX_PRIO),
	ROW("tx_bytes_pri#", PRIORITY_BYTES, TX_PRIO),
	RANK("rx_bytes_cos#", PRIORITY_BYTES, RX_PRIO, 1),
	RANK("tx_bytes_cos#", PRIORITY_BYTES, TX_PRIO, 1),
	ROW("rx_packets_pri#", PRIORITY_PACKETS, RX_PRIO),
	ROW("tx_packets_pri#", PRIORITY_PACKETS, TX_PRIO),
	RANK("rx_packets_cos#", PRIORITY_PACKETS, RX_PRIO, 1),
	RANK("tx_packets_cos#", PRIORITY_PACKETS, TX_PRIO, 1),
	ROW("rx_discard_packets_cos#", PRIORITY_DISCARDS, WHY("no_buffer")),
	ROW("rx_stat_discard", PORT_DISCARDS, RX),
	ROW("tx_stat_discard", PORT_DISCARDS, TX),
	ROW("rx_corrected_bits", PHY_CORRECTED, ""),
	ROW("rx_fec_corrected_blocks", PHY_FEC_BLOCKS, "kind=\"corrected\""),
	ROW("rx_fec_uncorrectable_blocks", PHY_FEC_BLOCKS, "kind=\"uncorrectable\""),
	ROW("rx_pcs_symbol_err", PHY_SYMBOLS, ""),
	ROW("rx_fcs_err_frames", PHY_CRC, ""),
	ROW("link_down_events", PHY_LINK_DOWN, ""),
	MEASURED("rx_bits", PHY_BITS, "", BITS, 0),
	ROW("rx_buffer_passed_threshold", BUFFER_THRESHOLD, ""),
};

/* The driver counts xoff and xon frames, of the link or of a priority, separately; they are added.
 */
static const struct row ice[] = {
	ROW("rx_priority_#_xoff.nic", PFC_FRAMES, RX_PRIO),
	ROW("rx_priority_#_xon.nic", PFC_FRAMES, RX_PRIO),
	ROW("tx_priority_#_xoff.nic", PFC_FRAMES, TX_PRIO),
	ROW("tx_priority_#_xon.nic", PFC_FRAMES, TX_PRIO),
	ROW("link_xoff_rx.nic", PAUSE_FRAMES, RX),
	ROW("link_xon_rx.nic", PAUSE_FRAMES, RX),
	ROW("link_xoff_tx.nic", PAUSE_FRAMES, TX),
	ROW("link_xon_tx.nic", PAUSE_FRAMES, TX),
	ROW("rx_dropped.nic", PORT_DISCARDS, RX),
	ROW("tx_dropped_link_down.nic", PORT_DISCARDS, TX),
	ROW("rx_crc_errors.nic", PHY_CRC, ""),
};

/* *_xoff_time are left out: the driver calls them active cycles, and their unit is undocumented. */
static const struct row hns3[] = {
	ROW("mac_rx_pfc_pri#_pkt_num", PFC_FRAMES, RX_PRIO),
	ROW("mac_tx_pfc_pri#_pkt_num", PFC_FRAMES, TX_PRIO),
	ROW("mac_rx_mac_pause_num", PAUSE_FRAMES, RX),
	ROW("mac_tx_mac_pause_num", PAUSE_FRAMES, TX),
	ROW("mac_rx_fcs_err_pkt_num", PHY_CRC, ""),
};

/* PFC frames are counted for all priorities together, pause time per priority. hw_*_dropped are
 * left out: they belong to a function's Ethernet queues, not to the port. */
static const struct row ionic[] = {
	ROW("frames_rx_pripause", PFC_FRAMES, RX),
	ROW("frames_tx_pripause", PFC_FRAMES, TX),
	USEC("rx_pripause_#_1us_count", PFC_SECONDS, RX_PRIO),
	USEC("tx_pripause_#_1us_count", PFC_SECONDS, TX_PRIO),
	ROW("frames_rx_pause", PAUSE_FRAMES, RX),
	ROW("frames_tx_pause", PAUSE_FRAMES, TX),
	USEC("rx_pause_1us_count", PAUSE_SECONDS, RX),
	ROW("frames_rx_pri_#", PRIORITY_PACKETS, RX_PRIO),
	ROW("frames_tx_pri_#", PRIORITY_PACKETS, TX_PRIO),
	ROW("frames_rx_dropped", PORT_DISCARDS, RX),
	ROW("frames_rx_bad_fcs", PHY_CRC, ""),
};

const struct row_table dict_ethtool_rows[N_NICS] = {
	[NIC_MLX5] = ROWS(mlx5), [NIC_BNXT] = ROWS(bnxt),   [NIC_IRDMA] = ROWS(ice),
	[NIC_HNS] = ROWS(hns3),	 [NIC_IONIC] = ROWS(ionic),
};
