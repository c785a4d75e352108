/* SPDX-License-Identifier: Apache-2.0 */
/* port_settings.h - the settings of a RoCE port as evidence for the diagnosis: read, never changed.
 *
 * Pure data. Each part has a bit in `seen`; a part that could not be read is unknown, not zero.
 * Sources: DCB netlink (linux/include/uapi/linux/dcbnl.h), ethtool netlink
 * (linux/include/uapi/linux/ethtool_netlink.h), rdma_cm's configfs
 * (linux/drivers/infiniband/core/cma_configfs.c), PCI attributes of sysfs
 * (Documentation/ABI/testing/sysfs-bus-pci). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

#define N_DSCP	       64
#define NO_PRIORITY    0xff
#define SETTINGS_PRIOS 8

/* Parts of struct port_settings that could be read. */
enum settings_part {
	SETTINGS_DSCP = 1 << 0,	       /* dscp_priority, dscp_trusted */
	SETTINGS_PFC = 1 << 1,	       /* pfc */
	SETTINGS_PEER_PFC = 1 << 2,    /* peer_pfc: received from the peer by DCBX */
	SETTINGS_ETS = 1 << 3,	       /* ets_* */
	SETTINGS_PAUSE = 1 << 4,       /* pause_* */
	SETTINGS_DCBX = 1 << 5,	       /* dcbx */
	SETTINGS_CM_TYPE = 1 << 6,     /* cm_roce_v2 */
	SETTINGS_CM_TOS = 1 << 7,      /* cm_tos */
	SETTINGS_PCIE = 1 << 8,	       /* pcie */
	SETTINGS_PCIE_SEGMENT = 1 << 9 /* segment */
};

/* The current and the maximum speed and width of a PCIe link; the maximum is the highest that both
 * ends support. */
struct pcie_link {
	uint32_t mt_s, max_mt_s; /* megatransfers per second and lane: 16000 = 16 GT/s */
	uint8_t width, max_width;
};

struct port_settings {
	uint32_t seen; /* enum settings_part */
	/* Trust mode "dscp": the kernel has DSCP application entries, or the driver reports it. */
	bool dscp_trusted;
	uint8_t dscp_priority[N_DSCP];	       /* NO_PRIORITY: no entry for this DSCP */
	uint8_t pfc, peer_pfc;		       /* bit mask of priorities */
	uint8_t ets_class[SETTINGS_PRIOS];     /* traffic class by priority */
	uint8_t ets_algorithm[SETTINGS_PRIOS]; /* IEEE_8021QAZ_TSA_* by traffic class */
	uint8_t ets_percent[SETTINGS_PRIOS];   /* by traffic class */
	bool pause_receives, pause_sends;      /* global pause, 802.3x */
	uint8_t dcbx;			       /* DCB_CAP_DCBX_* */
	bool cm_roce_v2;		       /* rdma_cm's default type; false: RoCE v1 */
	uint8_t cm_tos;			       /* rdma_cm's default type of service */
	/* Link of the function itself (of a VF: its PF), compared with what both card and slot
	 * support. */
	struct pcie_link pcie;
	/* The slowest link above the function's own, if it is slower than both of its ends support.
	 * The value is the bus name of its upper end, as in the kernel log ("limited by ... link
	 * at"). "" = none. */
	char segment[DEV_ID_SIZE];
	struct pcie_link segment_link;
};
