/* SPDX-License-Identifier: Apache-2.0 */
/* packet_visible.h - measures whether an interface's RoCE packets pass through the kernel: no if
 * the NIC's counters increase and the packet program counts nothing; yes if it counts packets.
 * Pure. */
#pragma once

#include "packet_sample.h"
#include "sample.h"

/* Both counters are compared over this time. */
#define VISIBLE_WINDOW_MS	10000
/* Minimum of packets in a window, by the NIC's counters, for a conclusion. */
#define VISIBLE_PACKETS		100
/* Consecutive windows needed to revoke the verdict that packets are visible. */
#define VISIBLE_WINDOWS_AGAINST 3
/* At least one in this many packets must be counted. A single packet, for a removed queue pair or
 * of another protocol on the port, does not mean that the others are visible. */
#define VISIBLE_ONE_OF		100

/* One interface's measurement. Zero-initialised: unknown. */
struct visible_watch {
	enum packet_visibility verdict;
	bool begun, nic_known;
	uint64_t begin_ms, nic, seen; /* values at the start of the window */
	unsigned against;
};

/* Updates the verdict with the current totals; nic: packets by the NIC, if nic_known. A counter
 * that decreased restarts the window. */
void visible_judge(struct visible_watch *, uint64_t now_ms, bool nic_known, uint64_t nic,
		   uint64_t seen);

/* The measurements of all ports. */
struct visible_table {
	struct visible_item {
		char netns[PACKET_NETNS_SIZE], netdev[IFNAMSIZ];
		int ifindex;
		struct visible_watch watch;
	} * items;
	size_t n;
};

/* Fills in `visible` of the sample's ports, from the packets of their RDMA devices in `nic`. The
 * packets at a mirror port belong to other hosts, so no NIC counters apply. -ENOMEM: nothing is
 * filled in. */
int visible_update(struct visible_table *, struct packet_sample *, const struct sample *nic,
		   uint64_t now_ms);
void visible_table_done(struct visible_table *);
