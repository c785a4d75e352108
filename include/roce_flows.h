/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* roce_flows.h - the tables of flows and of requests that wait for their ACK in roce_packets.bpf.c:
 * an ABI between bpf/ and the daemon, which maps the tables into its memory.
 *
 * Plain arrays with our own hashing: a kernel hash map costs more per packet than everything else
 * together. A flow is in one of the eight slots of its set; if all are used, it replaces the flow
 * that has been idle longest. A request has one slot; a later one overwrites it.
 *
 * Two CPUs may access a set concurrently. Counts are added without locks: one or two may be lost
 * when a flow moves between CPUs. Replacing a flow locks its set (`busy`); meanwhile other CPUs do
 * not count their packet for its flow. */
#pragma once

#include "roce_account.h"

#define ROCE_FLOW_WAYS 8

struct roce_flow_slot {
	struct roce_flow_key key;
	__u32 reserved;
	struct roce_flow flow;
};

struct roce_flow_set {
	__u32 busy;
	__u32 version;		    /* odd while a slot is being replaced */
	__u32 tags[ROCE_FLOW_WAYS]; /* hash tag of the flow in each slot, 0 = free */
	__u32 reserved[6];	    /* the rest of a cache line */
	struct roce_flow_slot slots[ROCE_FLOW_WAYS];
};

struct roce_pending_slot {
	struct roce_pending_key key;
	struct roce_pending pending; /* sent_ns 0: free */
};

/* Returns the number of sets for at least that many flows. */
ROCE_INLINE __u32 roce_flow_sets(__u32 flows)
{
	return flows / ROCE_FLOW_WAYS + (flows % ROCE_FLOW_WAYS != 0);
}

/* Multipliers: odd, secret and new with each load, so that a sender cannot target one set. */
#define ROCE_HASH_KEYS 5

/* Hashes by multiply-shift: the upper half is uniformly distributed (Dietzfelbinger et al., 1997).
 * addresses: both addresses, 32 bytes. */
ROCE_INLINE __u32 roce_hash(const volatile __u64 keys[ROCE_HASH_KEYS], const void *addresses,
			    __u32 number)
{
	const __u64 *a = (const __u64 *)addresses;

	return (a[0] * keys[0] + a[1] * keys[1] + a[2] * keys[2] + a[3] * keys[3] +
		number * keys[4]) >>
	       32;
}

/* Maps a hash to an index below n. */
ROCE_INLINE __u32 roce_hash_index(__u32 hash, __u32 n)
{
	return (__u64)hash * n >> 32;
}

ROCE_INLINE __u32 roce_hash_tag(__u32 hash)
{
	return hash | 1;
}

ROCE_INLINE bool roce_same_key(const void *a, const void *b, __u32 number_a, __u32 number_b)
{
	const __u64 *x = (const __u64 *)a, *y = (const __u64 *)b;

	return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) |
		(number_a ^ number_b)) == 0;
}
