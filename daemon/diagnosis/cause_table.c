// SPDX-License-Identifier: Apache-2.0
/* The table of causes: inputs, release time, symptoms, texts. */
#include <stdio.h>
#include <string.h>

#include "rules.h"

#define NEEDS(...)                                                                                 \
	.needs = {__VA_ARGS__},                                                                    \
	.n_needs = sizeof((enum series[]){__VA_ARGS__}) / sizeof(enum series)

#define READS(...)                                                                                 \
	.reads = {__VA_ARGS__},                                                                    \
	.n_reads = sizeof((enum series[]){__VA_ARGS__}) / sizeof(enum series)

#define ONSET(name) .signal = SIGNAL_##name, .has_signal = true

#define B(cause) CAUSE_BIT(CAUSE_##cause)

/* Counters that several rules read. */
#define OF_BYTES   SERIES_BYTES_RECEIVED, SERIES_BYTES_SENT
#define OF_PACKETS SERIES_PACKETS_RECEIVED, SERIES_PACKETS_SENT
#define OF_CNPS	   SERIES_CNP_RECEIVED, SERIES_CNP_HANDLED, SERIES_CNP_IGNORED
#define OF_LOSS	   SERIES_SEQUENCE_NAK, SERIES_IMPLIED_NAK, SERIES_ACK_TIMEOUTS, SERIES_SOFT_TIMEOUTS
#define OF_ARRIVAL                                                                                 \
	SERIES_PAUSE_SENT, SERIES_DISCARDS_RECEIVED, SERIES_NO_BUFFER, SERIES_HOST_BUFFER,         \
		SERIES_HOST_CONGESTION, SERIES_HOST_MARKED, SERIES_BYTES_RECEIVED,                 \
		SERIES_PACKETS_RECEIVED, SERIES_BUFFER_PASSED
#define OF_PCIE                                                                                    \
	SERIES_PCIE_STALLED_READ, SERIES_PCIE_STALLED_WRITE, SERIES_PCIE_SECONDS_READ,             \
		SERIES_PCIE_SECONDS_WRITE
#define OF_FAILURES SERIES_RETRIES_EXCEEDED, SERIES_ACK_TIMEOUTS, SERIES_SOFT_TIMEOUTS

/* Symptoms of a path that is dead or damages packets. */
#define PATH_SYMPTOMS  (B(PACKET_LOSS) | B(REORDERING) | B(PEER_GONE))
/* Symptoms at a sender of a full queue in the network. */
#define QUEUE_SYMPTOMS (B(FABRIC_CONGESTION) | B(PAUSED_BY_NETWORK) | B(NOT_ECN_CAPABLE))
#define SLOW_RECEIVERS (B(SLOW_RECEIVER) | B(SLOW_RECEIVER_NIC_CACHE) | B(SLOW_RECEIVER_PCIE))
#define STORM_SYMPTOMS                                                                             \
	(PATH_SYMPTOMS | QUEUE_SYMPTOMS | SLOW_RECEIVERS | B(GLOBAL_PAUSE) | B(JOB_ENDED))
/* Symptoms of a port that is down. */
#define DOWN_SYMPTOMS                                                                              \
	(STORM_SYMPTOMS | B(PAUSE_STORM_SOURCE) | B(PAUSE_STORM_VICTIM) | B(APPLICATION_ERROR) |   \
	 B(GID_MOVED) | B(MTU_MISMATCH) | B(PFC_MISMATCH))

static const struct cause_row rows[N_CAUSES] = {
	[CAUSE_NIC_STUCK] =
		{
			"nic_stuck",
			"22",
			rule_nic_stuck,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.cordon = SEVERITY_WARNING,
			.drain = SEVERITY_CRITICAL,
			.side = SIDE_NODE,
			READS(OF_BYTES, OF_PACKETS, SERIES_PRIORITY_RECEIVED, SERIES_PRIORITY_SENT),
			.release = LIMIT_release_link_seconds,
			.explains = STORM_SYMPTOMS | B(LINK_FLAP) | B(PORT_OFF) | B(BAD_LINK) |
				    B(PAUSE_STORM_SOURCE) | B(PORT_NEVER_UP) | B(NIC_RESET) |
				    B(CONTRADICTING_COUNTERS),
			.sentence = "the NIC's firmware or driver has stopped working",
			.advice =
				"cordon the node, save the kernel log and a firmware dump, reset the NIC; the network is not the cause",
			.disproof =
				"the function responds on the bus, devlink's health reporters are healthy and its counters move",
			.source = "NVSentinel, third layer; Linux devlink health",
		},
	[CAUSE_NO_DEVICE_NODE] =
		{
			"no_device_node",
			"",
			rule_no_device_node,
			.severity = SEVERITY_WARNING,
			.cordon = SEVERITY_WARNING,
			.side = SIDE_NODE,
			.release = LIMIT_release_seconds,
			.sentence =
				"the port is active, but its character device has no node in /dev/infiniband",
			.advice =
				"load ib_uverbs (ib_umad for umad); if the module is loaded, run udevadm trigger and check why devtmpfs or udev created no node",
			.disproof = "the node is in /dev/infiniband of the host",
			.source =
				"NVSentinel 1.17: issm and umad missing at boot while ports were active",
		},
	[CAUSE_FUNCTION_RESTRICTED] =
		{
			"function_restricted",
			"23",
			rule_function_restricted,
			.severity = SEVERITY_INFO,
			.side = SIDE_NODE,
			.release = LIMIT_release_seconds,
			.sentence = "the firmware rejects some requests of this function by design",
			.advice =
				"no action needed; read the missing values from another function of the NIC",
			.disproof = "the same request succeeds",
			.source = "prometheus/node_exporter#3434, leptonai/gpud#1164",
		},
	[CAUSE_CONTRADICTING_COUNTERS] =
		{
			"contradicting_counters",
			"12",
			rule_contradicting_counters,
			.severity = SEVERITY_WARNING,
			.side = SIDE_UNCLEAR,
			READS(SERIES_CE, SERIES_CNP_SENT, SERIES_CNP_RECEIVED, SERIES_CNP_HANDLED,
			      SERIES_OPTIONAL_CE, SERIES_OPTIONAL_CNP_SENT,
			      SERIES_OPTIONAL_CNP_RECEIVED, SERIES_PAUSE_RECEIVED,
			      SERIES_PAUSE_SENT, SERIES_PRIORITY_RECEIVED, SERIES_PRIORITY_SENT),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.explains = B(NOTIFICATION_POINT_OFF) | B(REACTION_POINT_OFF),
			.sentence = "counters of the same events contradict each other",
			.advice =
				"suspect the firmware's counters before the network; enable the optional counters and compare",
			.disproof = "both counters agree over ten seconds",
			.source =
				"a CNP answers a CE mark, so more CNPs than marks are impossible; 400G firmware reported by Meta",
		},
	[CAUSE_BLIND_SPOT] =
		{
			"blind_spot",
			"26",
			rule_blind_spot,
			.severity = SEVERITY_INFO,
			.side = SIDE_UNCLEAR,
			.release = LIMIT_release_seconds,
			.sentence = "required counters are not visible or not plausible",
			.advice =
				"check rocelet_source_errors_total and the daemon's log; causes that need these counters are not judged until then",
			.disproof = "every source has delivered values within the last seconds",
			.source = "rdma_exporter's runbook",
		},
	[CAUSE_LINK_FLAP] =
		{
			"link_flap",
			"21",
			rule_link_flap,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.severity_now = true,
			.drain = SEVERITY_CRITICAL,
			.side = SIDE_NETWORK,
			READS(SERIES_LINK_DOWN),
			.release = LIMIT_release_link_seconds,
			.explains = DOWN_SYMPTOMS | B(PORT_OFF) | B(BAD_LINK),
			.explains_vfs = B(PORT_OFF) | B(PORT_NEVER_UP),
			.sentence = "the link went down",
			.advice =
				"check cable, optic and switch port; queue pairs created before must be created again",
			.disproof = "the port or the switch port was taken down on purpose",
			.source =
				"nebius/soperator#481; NVSentinel; gpud's rules of flaps and drops",
		},
	[CAUSE_PORT_OFF] =
		{
			"port_off",
			"",
			rule_port_off,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NODE,
			.release = LIMIT_release_seconds,
			.explains = DOWN_SYMPTOMS,
			.sentence =
				"the port of a pod's device is down, although no link went down",
			.advice =
				"set it up in the pod (ip link set net1 up), or set its VF link state to auto (ip link set PF vf N state auto); then restart the applications that used its queue pairs",
			.disproof = "the pod does not use the device",
			.source =
				"a VF with its link state disabled loses its traffic while its PF and every counter look healthy",
		},
	[CAUSE_PORT_NEVER_UP] =
		{
			"port_never_up",
			"",
			rule_port_never_up,
			.concerns_vfs = true,
			.severity = SEVERITY_INFO,
			.side = SIDE_NETWORK,
			.release = LIMIT_release_seconds,
			.sentence = "the port has never been up since rocelet first saw it",
			.advice =
				"none if no cable is plugged in; otherwise check cable, optic and switch port",
			.disproof = "it was active before",
			.source = "NVSentinel#1361, #1462",
		},
	[CAUSE_BAD_LINK] =
		{
			"bad_link",
			"16",
			rule_bad_link,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.cordon = SEVERITY_WARNING,
			.drain = SEVERITY_CRITICAL,
			.side = SIDE_NETWORK,
			ONSET(PHY_ERRORS),
			READS(SERIES_SYMBOL_ERRORS, SERIES_CRC_ERRORS, SERIES_UNCORRECTABLE,
			      SERIES_ICRC_ERRORS, SERIES_PHY_BYTES, SERIES_BYTES_RECEIVED,
			      SERIES_LANE_ERRORS, SERIES_CORRECTED_BITS),
			.release = LIMIT_release_link_seconds,
			.explains = PATH_SYMPTOMS | B(PRE_FEC_ERRORS),
			.sentence = "the link corrupts packets",
			.advice =
				"clean or replace the optic or cable; if one lane has nearly all errors, its fibre is faulty",
			.disproof =
				"the errors remain after optic and cable were replaced, or move with the switch port",
			.source = "IBTA's limit of 1e-12, as a ratio; NVSentinel",
		},
	[CAUSE_PRE_FEC_ERRORS] =
		{
			"pre_fec_errors",
			"",
			rule_pre_fec_errors,
			.concerns_vfs = true,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NETWORK,
			READS(SERIES_CORRECTED_BITS, SERIES_LANE_ERRORS),
			.release = LIMIT_release_link_seconds,
			.sentence =
				"forward error correction corrects far more bits than usual; no packets are corrupted yet",
			.advice =
				"plan to clean or replace the optic or cable; if one lane has nearly all errors, its fibre is faulty",
			.disproof =
				"all similar ports show the same increase, or it decreases by itself",
			.source =
				"RS(544,514) corrects up to 2.4e-4 of the bits; healthy PAM4 links stay orders of magnitude below",
		},
	[CAUSE_LINK_DEGRADED] =
		{
			"link_degraded",
			"",
			rule_link_degraded,
			.concerns_vfs = true,
			.less_is_worse = true,
			.severity = SEVERITY_WARNING,
			.cordon = SEVERITY_WARNING,
			.side = SIDE_NETWORK,
			.release = LIMIT_release_link_seconds,
			.sentence = "the link is slower than before, or than its siblings' links",
			.advice =
				"check cable, optic and switch port; for a bond, check each leg: lost lanes or legs reduce the rate",
			.disproof = "the speed was set on purpose",
			.source = "Meta GCM's check-iblink; NVSentinel's degraded links",
		},
	[CAUSE_PAUSE_STORM_SOURCE] =
		{
			"pause_storm_source",
			"4",
			rule_pause_storm_source,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.drain = SEVERITY_CRITICAL,
			.side = SIDE_NODE,
			ONSET(PAUSE_SENT),
			READS(SERIES_PAUSE_SENT, SERIES_GLOBAL_PAUSE_SENT, SERIES_PFC_FRAMES_SENT,
			      SERIES_GLOBAL_FRAMES_SENT, SERIES_PRIORITY_RECEIVED,
			      SERIES_BYTES_RECEIVED, SERIES_STORM_WARNINGS, SERIES_STORM_ERRORS),
			.release = LIMIT_release_storm_seconds,
			.explains = STORM_SYMPTOMS | B(CONTRADICTING_COUNTERS),
			.sentence =
				"this NIC pauses its switch port permanently and accepts no data (direction: sent)",
			.advice =
				"cordon the node and reset the NIC, because it blocks every sender; enable its stall watermark",
			.disproof = "the priority receives data while it is paused",
			.source = "sonic-swss#3036; mlx5 pause storm watchdog; Guo et al. 2016",
		},
	[CAUSE_PAUSE_STORM_VICTIM] =
		{
			"pause_storm_victim",
			"5",
			rule_pause_storm_victim,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.side = SIDE_NETWORK,
			ONSET(PAUSE_RECEIVED),
			READS(SERIES_PAUSE_RECEIVED, SERIES_GLOBAL_PAUSE_RECEIVED,
			      SERIES_PFC_FRAMES_RECEIVED, SERIES_GLOBAL_FRAMES_RECEIVED,
			      SERIES_PRIORITY_SENT, SERIES_BYTES_SENT),
			.release = LIMIT_release_storm_seconds,
			.explains = STORM_SYMPTOMS | B(NIC_RESET),
			.sentence =
				"the switch pauses this port permanently, so it cannot send (direction: received)",
			.advice =
				"trace the pause along the path to the port that pauses first, or to a deadlock; enable the switches' PFC watchdog",
			.disproof = "the priority sends data while it is paused",
			.source = "sonic-swss#3036; Guo et al. 2016",
		},
	[CAUSE_NIC_RESET] =
		{
			"nic_reset",
			"",
			rule_nic_reset,
			.concerns_vfs = true,
			.severity = SEVERITY_WARNING,
			.drain = SEVERITY_CRITICAL,
			.side = SIDE_NODE,
			READS(SERIES_TX_TIMEOUTS, SERIES_HEALTH_REPORTS),
			.release = LIMIT_release_link_seconds,
			.explains = PATH_SYMPTOMS | B(JOB_ENDED),
			.sentence = "part of the NIC hung or failed, and its driver reset it",
			.advice =
				"save the kernel log and devlink's dump; update firmware and driver; if it happens again, contact the vendor",
			.disproof = "the port was paused during that time, or was reset on purpose",
			.source =
				"the kernel's transmit watchdog (net/sched/sch_generic.c); devlink health",
		},
	[CAUSE_SLOW_RECEIVER_PCIE] =
		{
			"slow_receiver_pcie",
			"3a",
			rule_slow_receiver_pcie,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.cordon = SEVERITY_CRITICAL,
			.side = SIDE_NODE,
			ONSET(PAUSE_SENT),
			READS(OF_ARRIVAL, OF_PCIE, SERIES_PCIE_OVERFLOW),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.explains = PATH_SYMPTOMS | B(SLOW_RECEIVER) | B(SLOW_RECEIVER_NIC_CACHE) |
				    B(PCIE_DEGRADED) | B(GLOBAL_PAUSE),
			.sentence =
				"this host cannot receive at the arrival rate because PCIe is too slow",
			.advice =
				"check the slot's width and speed, ACS and IOMMU, relaxed ordering, the maximum payload",
			.disproof = "the NIC does not wait for PCIe while it pauses",
			.source = "mlx5's outbound_pci_stalled counters; Mooncake#3205",
		},
	[CAUSE_SLOW_RECEIVER_NIC_CACHE] =
		{
			"slow_receiver_nic_cache",
			"3b",
			rule_slow_receiver_nic_cache,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.side = SIDE_NODE,
			ONSET(PAUSE_SENT),
			READS(OF_ARRIVAL, OF_PCIE, SERIES_QPS, SERIES_MRS),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.explains = PATH_SYMPTOMS | B(SLOW_RECEIVER) | B(GLOBAL_PAUSE),
			.sentence =
				"this NIC cannot receive at the arrival rate: it has more queue pairs or memory regions than fit its caches",
			.advice =
				"use larger pages, fewer queue pairs, shared receive queues or dynamically connected transport",
			.disproof =
				"the pause continues with a tenth of the queue pairs and memory regions",
			.source = "Guo et al. 2016; Collie; Husky",
		},
	[CAUSE_SLOW_RECEIVER] =
		{
			"slow_receiver",
			"3",
			rule_slow_receiver,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.cordon = SEVERITY_CRITICAL,
			.side = SIDE_NODE,
			ONSET(PAUSE_SENT),
			READS(OF_ARRIVAL),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.explains = PATH_SYMPTOMS | B(GLOBAL_PAUSE),
			.sentence =
				"this host cannot receive at the arrival rate, although the line is not full",
			.advice =
				"check the host, not the switch: PCIe, memory, IOMMU, CPU of the receiver",
			.disproof = "it receives at line rate",
			.source =
				"mlx5 counters' description; Guo et al. 2016; Collie's anomaly threshold",
		},
	[CAUSE_PCIE_DEGRADED] =
		{
			"pcie_degraded",
			"",
			rule_pcie_degraded,
			.concerns_vfs = true,
			.less_is_worse = true,
			.severity = SEVERITY_WARNING,
			.cordon = SEVERITY_WARNING,
			.side = SIDE_NODE,
			.release = LIMIT_release_seconds,
			.sentence =
				"the PCIe link runs narrower or slower than both of its ends support",
			.advice =
				"reseat the card, check riser and BIOS settings; the kernel log names the bridge",
			.disproof = "card and slot do not support more",
			.source = "scitix/sichek#122",
		},
	[CAUSE_WRONG_PRIORITY] =
		{
			"wrong_priority",
			"13",
			rule_wrong_priority,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NODE,
			READS(OF_BYTES, SERIES_PRIORITY_RECEIVED, SERIES_PRIORITY_SENT),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.explains = PATH_SYMPTOMS | QUEUE_SYMPTOMS | B(JOB_ENDED),
			.sentence = "RDMA traffic travels outside the lossless priorities",
			.advice =
				"trust DSCP on NIC and switch, map the DSCP in use to the lossless priority, set the traffic class of the library (NCCL_IB_TC)",
			.disproof = "the lossless priorities carry as many bytes as RDMA",
			.source = "byteps#179; NVIDIA/nccl#2383",
		},
	[CAUSE_PFC_MISMATCH] =
		{
			"pfc_mismatch",
			"14",
			rule_pfc_mismatch,
			.concerns_vfs = true,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NETWORK,
			.release = LIMIT_release_seconds,
			.explains = PATH_SYMPTOMS,
			.sentence =
				"this port and its peer or siblings have different lossless priorities",
			.advice =
				"align the PFC mask of NIC and switch port; see /api/v1/events for changes",
			.disproof = "DCBX of the switch port reports the same mask",
			.source = "IEEE 802.1Qaz",
		},
	[CAUSE_GLOBAL_PAUSE] =
		{
			"global_pause",
			"24",
			rule_global_pause,
			.concerns_vfs = true,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NODE,
			READS(SERIES_GLOBAL_PAUSE_RECEIVED, SERIES_GLOBAL_PAUSE_SENT,
			      SERIES_GLOBAL_FRAMES_RECEIVED, SERIES_GLOBAL_FRAMES_SENT, OF_BYTES,
			      SERIES_QPS),
			.release = LIMIT_release_seconds,
			.explains = B(PAUSED_BY_NETWORK),
			.sentence =
				"IEEE 802.3x pause stops the whole link where PFC should stop one priority",
			.advice =
				"disable 802.3x pause on both ends (ethtool -A) and enable PFC for the lossless priority",
			.disproof =
				"the counters of 802.3x pause do not move while traffic is slow",
			.source =
				"NVIDIA/daqiri#250: 21.7 % of 400G lost with every drop counter 0",
		},
	[CAUSE_MTU_MISMATCH] =
		{
			"mtu_mismatch",
			"",
			rule_mtu_mismatch,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NODE,
			.release = LIMIT_release_seconds,
			.explains = PATH_SYMPTOMS,
			.sentence = "the MTU differs from that of its queue pairs or siblings",
			.advice =
				"set the netdev's MTU to the RoCE MTU plus headers (4200 for 4096) on hosts and switches",
			.disproof = "large messages pass",
			.source = "linux/drivers/infiniband/core: path MTU is agreed on once",
		},
	[CAUSE_NOT_ECN_CAPABLE] =
		{
			"not_ecn_capable",
			"8",
			rule_not_ecn_capable,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NODE,
			ONSET(PAUSE_RECEIVED),
			READS(SERIES_PAUSE_RECEIVED, OF_CNPS, SERIES_DISCARDS_SENT),
			.release = LIMIT_release_seconds,
			.needs_congestion_control = true,
			.explains = B(PAUSED_BY_NETWORK),
			.sentence =
				"queue pairs send packets that switches must not mark: ECN bits 00",
			.advice =
				"use traffic class 106 instead of 104 (DSCP 26 and ECT(0)): NCCL_IB_TC, rdma_cm's default_roce_tos",
			.disproof = "packets of these queue pairs arrive marked CE",
			.source = "RFC 3168; RoCEv2 annex A17",
		},
	[CAUSE_NOTIFICATION_POINT_OFF] =
		{
			"notification_point_off",
			"9",
			rule_notification_point_off,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NODE,
			ONSET(CE_SHARE),
			READS(SERIES_CE, SERIES_CNP_SENT),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.needs_congestion_control = true,
			NEEDS(SERIES_CE, SERIES_CNP_SENT),
			.explains = B(FABRIC_CONGESTION),
			.sentence =
				"marked packets arrive, but this port sends no notifications (CNPs)",
			.advice =
				"enable the notification point (roce_np) for the priority in use; check the firmware",
			.disproof = "CNPs are sent on the other function of this port",
			.source = "NVIDIA's description of np_cnp_sent",
		},
	[CAUSE_REACTION_POINT_OFF] =
		{
			"reaction_point_off",
			"10",
			rule_reaction_point_off,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NODE,
			READS(SERIES_CNP_IGNORED, SERIES_CNP_HANDLED),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.needs_congestion_control = true,
			NEEDS(SERIES_CNP_IGNORED),
			.explains = B(FABRIC_CONGESTION),
			.sentence = "notifications (CNPs) arrive, but this sender ignores them",
			.advice =
				"enable the reaction point (roce_rp) for the priority in use; check the priority on which CNPs arrive",
			.disproof = "the counter of ignored CNPs does not move",
			.source = "NVIDIA's description of rp_cnp_ignored: should not raise",
		},
	[CAUSE_PACKET_LOSS] =
		{
			"packet_loss",
			"15",
			rule_packet_loss,
			.severity = SEVERITY_CRITICAL,
			.side = SIDE_NETWORK,
			ONSET(NAK),
			READS(OF_LOSS, OF_BYTES, OF_PACKETS),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.explains = B(REORDERING) | B(PEER_GONE),
			.yields = B(PEER_GONE) | B(JOB_ENDED) | B(GID_MOVED),
			.sentence = "packets are lost between the ports",
			.advice =
				"check the drop counters per priority along the path: PFC may be off on one hop, headroom too small, or the queue wrong",
			.disproof =
				"the peer counts no packets out of sequence, or either link is bad",
			.source = "NVIDIA/nccl#378, #306",
		},
	[CAUSE_REORDERING] =
		{
			"reordering",
			"17",
			rule_reordering,
			.severity = SEVERITY_INFO,
			.side = SIDE_NETWORK,
			ONSET(OUT_OF_SEQUENCE),
			READS(SERIES_OUT_OF_SEQUENCE, OF_LOSS, SERIES_BYTES_RECEIVED,
			      SERIES_PACKETS_RECEIVED),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			NEEDS(SERIES_OUT_OF_SEQUENCE),
			.sentence = "packets arrive out of order, but none seems to be lost",
			.advice =
				"expected with adaptive routing or packet spraying, if the NICs support it",
			.disproof = "the peers receive sequence NAKs",
			.source = "rxe_resp.c; Meta used it as a signal of load balancing",
		},
	[CAUSE_NOISY_NEIGHBOUR] =
		{
			"noisy_neighbour",
			"25",
			rule_noisy_neighbour,
			.concerns_vfs = true,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NETWORK,
			READS(OF_BYTES, SERIES_CE, SERIES_PACKETS_RECEIVED, SERIES_PAUSE_RECEIVED,
			      SERIES_PAUSE_SENT),
			.release = LIMIT_release_seconds,
			.explains = B(FABRIC_CONGESTION) | B(INCAST) | SLOW_RECEIVERS |
				    B(PAUSED_BY_NETWORK),
			.explains_vfs = B(FABRIC_CONGESTION),
			.sentence = "one VF uses nearly all of a congested port that others share",
			.advice = "limit this VF's rate, or move its pod",
			.disproof = "the others are as slow without it",
			.source =
				"a high share alone is harmless: congestion and a second pod are required",
		},
	[CAUSE_INCAST] =
		{
			"incast",
			"2",
			rule_incast,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.side = SIDE_NETWORK,
			ONSET(CE_SHARE),
			READS(SERIES_CE, SERIES_CNP_SENT, SERIES_HOST_MARKED, SERIES_BYTES_RECEIVED,
			      SERIES_PACKETS_RECEIVED, SERIES_PAUSE_SENT),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			NEEDS(SERIES_CE),
			.explains = B(FABRIC_CONGESTION),
			.sentence = "many peers send to this port at once, and its line is full",
			.advice =
				"use receiver-driven admission, other collectives or fewer bytes in flight",
			.disproof = "the marks continue when few peers send",
			.source = "Meta's receiver-driven admission; DCQCN",
		},
	[CAUSE_FABRIC_CONGESTION] =
		{
			"fabric_congestion",
			"1",
			rule_fabric_congestion,
			.concerns_vfs = true,
			.severity = SEVERITY_CRITICAL,
			.side = SIDE_NETWORK,
			ONSET(CE_SHARE),
			READS(SERIES_CE, SERIES_CNP_SENT, SERIES_HOST_MARKED, OF_CNPS, OF_BYTES,
			      OF_PACKETS, SERIES_PAUSE_RECEIVED),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.sentence =
				"the fabric is congested, and congestion control slows senders down",
			.advice =
				"check the balance of paths (ECMP, queue pairs per connection) and oversubscription",
			.disproof = "the share of marked packets falls below a percent",
			.source = "DCQCN; rdma_exporter's runbook",
		},
	[CAUSE_PAUSED_BY_NETWORK] =
		{
			"paused_by_network",
			"6, 7",
			rule_paused_by_network,
			.concerns_vfs = true,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NETWORK,
			ONSET(PAUSE_RECEIVED),
			READS(SERIES_PAUSE_RECEIVED, OF_CNPS, SERIES_DISCARDS_SENT),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.sentence =
				"the network pauses this sender while congestion control is silent (direction: received)",
			.advice =
				"follow the switches' pause counters to the port that pauses first; compare the thresholds of ECN and PFC",
			.disproof = "notifications arrive while it is paused",
			.source = "Guo et al. 2016; DCQCN's rule for buffers",
		},
	[CAUSE_CNP_LOST] =
		{
			"cnp_lost",
			"11",
			NULL,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NETWORK,
			READS(SERIES_CNP_SENT, SERIES_CNP_RECEIVED),
			.release = LIMIT_release_seconds,
			.sentence = "notifications (CNPs) are lost in transit",
			.advice = "carry CNPs (DSCP 48) in the strict queue everywhere",
			.disproof = "the sums over all nodes of CNPs sent and received are equal",
			.source = "DCQCN: CNPs have a high priority",
		},
	[CAUSE_SLOW_RESTARTS] =
		{
			"slow_restarts",
			"",
			rule_slow_restarts,
			.severity = SEVERITY_INFO,
			.side = SIDE_NODE,
			READS(SERIES_SLOW_RESTARTS, SERIES_SLOW_RESTART_CNPS),
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.sentence =
				"queue pairs restart slowly after each idle time (roce_slow_restart)",
			.advice =
				"a job that sends in bursts is faster with the NIC's roce_slow_restart off; this is a firmware setting, not a fault of the network",
			.disproof =
				"throughput after an idle time is the same with the setting off",
			.source =
				"mlx5's counters roce_slow_restart*; NVSentinel counts more than 10 a second as degraded",
		},
	[CAUSE_RAIL_BEHIND] =
		{
			"rail_behind",
			"",
			rule_rail_behind,
			.less_is_worse = true,
			.severity = SEVERITY_INFO,
			.side = SIDE_NETWORK,
			READS(OF_BYTES),
			.release = LIMIT_release_seconds,
			/* Any other cause on the port explains it. */
			.yields = ~B(RAIL_BEHIND),
			.sentence =
				"this rail carries less than half of the traffic of each sibling, without any visible reason",
			.advice =
				"compare its switch port and path with the siblings'; check the rank that uses it",
			.disproof = "the job uses its rails unevenly on purpose",
			.source = "Minder: an outlier among peers over a long time",
		},
	[CAUSE_ONE_PATH] =
		{
			"one_path",
			"",
			rule_one_path,
			.severity = SEVERITY_INFO,
			.side = SIDE_NETWORK,
			.release = LIMIT_release_seconds,
			.needs_traffic = true,
			.sentence =
				"all queue pairs to one peer have one flow label: the fabric sends them along one path",
			.advice =
				"leave the flow label 0, so that the driver derives one per queue pair, or set one per queue pair; irrelevant if switches spray packets",
			.disproof = "switches spray packets, or there is only one path",
			.source =
				"linux/include/rdma/ib_verbs.h, rdma_get_udp_sport(): the label decides the UDP source port, which ECMP hashes",
		},
	[CAUSE_RECEIVER_NOT_READY] =
		{
			"receiver_not_ready",
			"18",
			rule_receiver_not_ready,
			.severity = SEVERITY_CRITICAL,
			.side = SIDE_APPLICATION,
			ONSET(NOT_READY),
			READS(SERIES_RNR_NAK, SERIES_RNR_NAK_SENT, SERIES_WQE_MISSING,
			      SERIES_RNR_EXCEEDED),
			.release = LIMIT_release_seconds,
			.sentence = "requests arrive for which no receive work request is posted",
			.advice =
				"post more receives in the receiving application, which is too slow, and check its CPU limit; the hardware is not the cause",
			.disproof = "the receiver always has work requests posted",
			.source =
				"mlx5's rnr_nak_retry_err and out_of_buffer; measured on ConnectX-5 and -6",
		},
	[CAUSE_GID_MOVED] =
		{
			"gid_moved",
			"",
			rule_gid_moved,
			.severity = SEVERITY_WARNING,
			.side = SIDE_NODE,
			ONSET(TIMEOUTS),
			READS(OF_FAILURES),
			.release = LIMIT_release_seconds,
			.explains = PATH_SYMPTOMS | B(JOB_ENDED),
			.sentence =
				"an address moved to another GID index: queue pairs that use the old index fail",
			.advice =
				"restart the applications that created them; let libraries choose the GID by address and type, not by index",
			.disproof = "queue pairs made after the move fail, too",
			.source = "NVIDIA/nccl#2183",
		},
	[CAUSE_JOB_ENDED] =
		{
			"job_ended",
			"",
			rule_job_ended,
			.severity = SEVERITY_INFO,
			.side = SIDE_APPLICATION,
			ONSET(TIMEOUTS),
			NEEDS(SERIES_RETRIES_EXCEEDED),
			READS(OF_FAILURES),
			.release = LIMIT_release_seconds,
			.explains = B(PEER_GONE),
			.sentence = "the job on this port ended, and its queue pairs with it",
			.advice = "none: the application ended",
			.disproof = "the pod is still running",
			.source = "a rank that ends raises timeouts at its peers",
		},
	[CAUSE_PEER_GONE] =
		{
			"peer_gone",
			"19",
			rule_peer_gone,
			.severity = SEVERITY_WARNING,
			.side = SIDE_UNCLEAR,
			ONSET(TIMEOUTS),
			READS(OF_FAILURES, OF_BYTES),
			.release = LIMIT_release_seconds,
			NEEDS(SERIES_RETRIES_EXCEEDED),
			.sentence = "a peer no longer responds, and queue pairs to it failed",
			.advice = "check the peer: its node, its pod, its link",
			.disproof = "the peer responds to others",
			.source = "counters measured after a peer was killed, on ConnectX-5 and -6",
		},
	[CAUSE_APPLICATION_ERROR] =
		{
			"application_error",
			"20",
			rule_application_error,
			.severity = SEVERITY_WARNING,
			.side = SIDE_APPLICATION,
			READS(SERIES_ACCESS_ERRORS, SERIES_ACCESS_ERRORS_RESP,
			      SERIES_INVALID_REQUESTS, SERIES_LENGTH_ERRORS),
			.release = LIMIT_release_seconds,
			.sentence =
				"the application requests memory or operations that are not permitted",
			.advice =
				"check keys, lengths and permissions in the application; completions flushed afterwards are symptoms",
			.disproof = "the errors remain with another version of the application",
			.source = "measured: the requester counts it, the responder does not",
		},
};

const struct cause_row *cause_row(enum cause c)
{
	return &rows[c];
}

int cause_by_name(const char *name)
{
	for (int i = 0; i < N_CAUSES; i++)
		if (strcmp(rows[i].name, name) == 0)
			return i;
	return -1;
}

const char *severity_name(enum severity s)
{
	static const char *const names[] = {
		[SEVERITY_NONE] = "none",
		[SEVERITY_INFO] = "info",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_CRITICAL] = "critical",
	};

	return names[s];
}

const char *verdict_change_name(enum verdict_change c)
{
	static const char *const names[] = {
		[VERDICT_SAME] = "same",
		[VERDICT_OPENED] = "opened",
		[VERDICT_SEVERITY] = "severity",
		[VERDICT_CLOSED] = "closed",
	};

	return names[c];
}

const char *close_reason_name(enum close_reason r)
{
	static const char *const names[] = {
		[CLOSE_CLEARED] = "cleared",
		[CLOSE_GONE] = "gone",
		[CLOSE_UNSEEN] = "unseen",
		[CLOSE_EXPLAINED] = "explained",
	};

	return names[r];
}

enum node_action cause_node_action(const struct cause_row *row, enum severity severity)
{
	if (row->drain && severity >= row->drain)
		return NODE_DRAIN;
	return row->cordon && severity >= row->cordon ? NODE_CORDON : NODE_KEEP;
}

void cause_node_rule(const struct cause_row *row, char *ret, size_t size)
{
	char cordon[48] = "", drain[48] = "";

	if (row->cordon)
		snprintf(cordon, sizeof(cordon), "cordon it from severity %s on",
			 severity_name(row->cordon));
	if (row->drain)
		snprintf(drain, sizeof(drain), "%sdrain it at severity %s", cordon[0] ? "; " : "",
			 severity_name(row->drain));
	if (cordon[0] || drain[0])
		snprintf(ret, size, "%s%s", cordon, drain);
	else
		snprintf(ret, size, "%s", node_action_text(NODE_KEEP));
}

const char *node_action_name(enum node_action action)
{
	static const char *const names[N_NODE_ACTIONS] = {
		[NODE_KEEP] = "keep", [NODE_CORDON] = "cordon", [NODE_DRAIN] = "drain"};

	return names[action];
}

const char *node_action_text(enum node_action action)
{
	static const char *const texts[N_NODE_ACTIONS] = {
		[NODE_KEEP] = "keep it in service",
		[NODE_CORDON] = "cordon it, so that no new job starts on it",
		[NODE_DRAIN] = "drain it, and restart its jobs elsewhere",
	};

	return texts[action];
}
