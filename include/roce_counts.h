/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* roce_counts.h - the counters of roce_packets.bpf.c: an ABI between bpf/ and the daemon. The
 * kernel keeps them per CPU, interface and direction; here they are sums.
 *
 * Never reset: they start at 0 when our program is attached. */
#pragma once

#include "roce_decode.h"

enum roce_direction { ROCE_RECEIVED, ROCE_SENT, N_ROCE_DIRECTIONS };

struct roce_counts {
	/* Packets with verdict ROCE_PACKET. Bytes of whole frames without FCS, including the VLAN
	 * tags known to the kernel. */
	__u64 packets, bytes;
	__u64 traffic_class[256];		   /* packets by DSCP << 2 | ECN */
	__u64 ops[N_ROCE_TRANSPORTS * N_ROCE_OPS]; /* packets by ROCE_OP_INDEX, without CNPs */
	__u64 syndromes[N_ROCE_SYNDROMES];	   /* of packets with an AETH */
	__u64 cnp, fecn, becn, solicited;
	__u64 requested_read_bytes,
		requested_write_bytes;	    /* RETH lengths of first and only packets */
	__u64 v1, ip4, ip6;		    /* packets: RoCEv1, v2 over IPv4, v2 over IPv6 */
	__u64 fragments, malformed, pauses; /* not included in packets */
	__u64 flow_evictions;		    /* flows replaced by another one */
};

/* Element of the per-CPU map. */
struct roce_cpu_counts {
	struct roce_counts counts;
	__u64 tick, tick_ns; /* cached time: jiffies at the last packet, and CLOCK_MONOTONIC at the
				first packet of that jiffy */
};

/* A flow: packets from one address to another and to one queue pair. */
struct roce_flow_key {
	__u8 saddr[16], daddr[16];
	__u32 qpn;
} __attribute__((aligned(4)));

/* Bucket i counts round trips of less than 2^(ROCE_RTT_SHIFT + i) ns, the last all others. */
#define ROCE_RTT_SHIFT	 10
#define ROCE_RTT_BUCKETS 24

struct roce_flow {
	__u64 packets, bytes, ce, cnp, naks, rnr_naks, retransmissions;
	__u64 last_seen_ns; /* CLOCK_MONOTONIC */
	__u32 next_psn;	    /* highest PSN of a request + 1 */
	__u32 psn_known;
	__u64 rtt_sum_ns, rtt_count;
	__u32 rtt[ROCE_RTT_BUCKETS]; /* time from a request to its ACK, measured at this host */
};
