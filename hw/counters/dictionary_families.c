/* dictionary_families.c - the families a reading can have, and the rows of places without vendors.
 * Pure. */
#include "dictionary_rows.h"

#define RX "direction=\"received\""
#define TX "direction=\"sent\""

const struct family dict_families[N_FAMILIES] = {
#define X(id, name, type, help) [F_##id] = {name, help, METRIC_##type},
	ROCE_FAMILIES(X)
#undef X
		[F_COMPAT_STATE_ID] = {"node_infiniband_state_id",
				       "Port state by its InfiniBand number, 4 is active.",
				       METRIC_GAUGE},
	[F_COMPAT_PHYSICAL_STATE_ID] =
		{"node_infiniband_physical_state_id",
		 "Physical port state by its InfiniBand number, 5 is link up.", METRIC_GAUGE},
	[F_COMPAT_RATE] = {"node_infiniband_rate_bytes_per_second", "Rate of the link.",
			   METRIC_GAUGE},
	[F_COMPAT_INFO] = {"node_infiniband_info", "The device's firmware and board.",
			   METRIC_GAUGE},
#define X(vendor, name, unit)                                                                      \
	[F_HW_##vendor] = {"node_infiniband_" name,                                                \
			   "hw_counters/" #vendor ", under node_exporter's name.",                 \
			   METRIC_COUNTER},
	COMPAT_HW(X)
#undef X
#define X(vendor, name, unit)                                                                      \
	[F_PORT_##vendor] = {"node_infiniband_" name,                                              \
			     "counters/" #vendor ", under node_exporter's name.", METRIC_COUNTER},
		COMPAT_PORT(X)
#undef X
};

#define X(vendor, name, unit) {#vendor, F_HW_##vendor, "", UNIT_##unit, 0, false},
static const struct row compat_hw[] = {COMPAT_HW(X)};
#undef X
#define X(vendor, name, unit) {#vendor, F_PORT_##vendor, "", UNIT_##unit, 0, false},
static const struct row compat_port[] = {COMPAT_PORT(X)};
#undef X

const struct row_table dict_compat_rows[N_DICT_PLACES] = {
	[DICT_HW] = ROWS(compat_hw),
	[DICT_PORT] = ROWS(compat_port),
};

/* Data in 4-byte words: port_rcv_data, port_xmit_data, linux/drivers/infiniband/core/sysfs.c. */
static const struct row port_rows[] = {
	{"port_rcv_data", F_BYTES, RX, UNIT_WORDS, 2, false},
	{"port_xmit_data", F_BYTES, TX, UNIT_WORDS, 2, false},
	{"port_rcv_packets", F_PACKETS, RX, UNIT_ONE, 2, false},
	{"port_xmit_packets", F_PACKETS, TX, UNIT_ONE, 2, false},
};

static const struct row pause_rows[] = {
	{"rx_frames", F_PAUSE_FRAMES, RX, UNIT_ONE, 2, false},
	{"tx_frames", F_PAUSE_FRAMES, TX, UNIT_ONE, 2, false},
};

/* The frames are live with bnxt only; whoever asks leaves them out elsewhere. */
static const struct row dcb_rows[] = {
	{"indications#", F_PFC_FRAMES, RX ",priority=\"#\"", UNIT_ONE, 0, false},
	{"requests#", F_PFC_FRAMES, TX ",priority=\"#\"", UNIT_ONE, 0, false},
	{"enabled#", F_PFC_ENABLED, "priority=\"#\"", UNIT_ONE, 0, false},
};

static const struct row netdev_rows[] = {
	{"rx_bytes", F_BYTES, RX, UNIT_ONE, 3, false},
	{"tx_bytes", F_BYTES, TX, UNIT_ONE, 3, false},
};

const struct row_table dict_common_rows[N_DICT_PLACES] = {
	[DICT_PORT] = ROWS(port_rows),
	[DICT_PAUSE] = ROWS(pause_rows),
	[DICT_DCB] = ROWS(dcb_rows),
	[DICT_NETDEV] = ROWS(netdev_rows),
};
