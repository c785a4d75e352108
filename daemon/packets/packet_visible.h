/* packet_visible.h - do an interface's RoCE packets pass the kernel? Measured: counters of the NIC
 * that move while the packet program sees nothing say no, packets that it sees say yes. Pure. */
#pragma once

#include "packet_sample.h"
#include "sample.h"

/* What the two counted is compared over this time. */
#define VISIBLE_WINDOW_MS	10000
/* Packets that the NIC must have counted in it to prove anything. */
#define VISIBLE_PACKETS		100
/* Windows in a row that it takes to unsay that packets are seen. */
#define VISIBLE_WINDOWS_AGAINST 3
/* Of so many packets at least one must be seen: a stray one, for a queue pair that is gone or by
 * another protocol on the port, does not make the others visible. */
#define VISIBLE_ONE_OF		100

/* One interface's measurement. Zero-initialised: nothing is known. */
struct visible_watch {
	enum packet_visibility verdict;
	bool begun, nic_known;
	uint64_t begin_ms, nic, seen; /* when the window began */
	unsigned against;
};

/* What has been counted until now; nic: packets by the NIC, if nic_known. A counter that fell
 * begins the window anew. */
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

/* Fills in `visible` of the sample's ports, from the packets of their RDMA devices in `nic`. A
 * mirror's packets are others', so no NIC's counters speak against it. -ENOMEM: nothing is filled
 * in. */
int visible_update(struct visible_table *, struct packet_sample *, const struct sample *nic,
		   uint64_t now_ms);
void visible_table_done(struct visible_table *);
