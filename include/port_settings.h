/* port_settings.h - what a RoCE port is set to, as evidence: read, never set.
 *
 * Pure data. Each part says by itself whether it could be seen; what could not is unknown, and no
 * zero stands for it. Sources: DCB netlink (linux/include/uapi/linux/dcbnl.h), ethtool netlink
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

/* Parts of struct port_settings that were seen. */
enum settings_part {
	SETTINGS_DSCP = 1 << 0,	       /* dscp_priority, dscp_trusted */
	SETTINGS_PFC = 1 << 1,	       /* pfc */
	SETTINGS_PEER_PFC = 1 << 2,    /* peer_pfc: a peer speaks DCBX and has told */
	SETTINGS_ETS = 1 << 3,	       /* ets_* */
	SETTINGS_PAUSE = 1 << 4,       /* pause_* */
	SETTINGS_DCBX = 1 << 5,	       /* dcbx */
	SETTINGS_CM_TYPE = 1 << 6,     /* cm_roce_v2 */
	SETTINGS_CM_TOS = 1 << 7,      /* cm_tos */
	SETTINGS_PCIE = 1 << 8,	       /* pcie */
	SETTINGS_PCIE_SEGMENT = 1 << 9 /* segment */
};

/* A PCIe link as it runs and as both of its ends could run it. */
struct pcie_link {
	uint32_t mt_s, max_mt_s; /* mega transfers a second and lane: 16000 = 16 GT/s */
	uint8_t width, max_width;
};

struct port_settings {
	uint32_t seen; /* enum settings_part */
	/* Trust mode "dscp": the kernel has application entries by DSCP, or the driver says so. */
	bool dscp_trusted;
	uint8_t dscp_priority[N_DSCP];	       /* NO_PRIORITY: no entry of its own */
	uint8_t pfc, peer_pfc;		       /* a bit for each priority */
	uint8_t ets_class[SETTINGS_PRIOS];     /* traffic class by priority */
	uint8_t ets_algorithm[SETTINGS_PRIOS]; /* IEEE_8021QAZ_TSA_* by traffic class */
	uint8_t ets_percent[SETTINGS_PRIOS];   /* by traffic class */
	bool pause_receives, pause_sends;      /* global pause, 802.3x */
	uint8_t dcbx;			       /* DCB_CAP_DCBX_* */
	bool cm_roce_v2;		       /* rdma_cm's default type; false: RoCE v1 */
	uint8_t cm_tos;			       /* rdma_cm's default type of service */
	/* Of the function itself (a VF's: its PF's), held against what card and slot could do
	 * together. */
	struct pcie_link pcie;
	/* Of the links above the function's own that run slower than both of their ends could: the
	 * slowest, by its upper end, as the kernel's log names it ("limited by ... link at").
	 * "" = none of them does. */
	char segment[DEV_ID_SIZE];
	struct pcie_link segment_link;
};
