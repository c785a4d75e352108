/* roce_flows.h - where roce_packets.bpf.c keeps flows and the requests that wait for their ACK: an
 * ABI between bpf/ and the daemon, which maps the tables into its memory.
 *
 * Plain arrays, hashed by us: a hash map of the kernel costs a packet more than everything else. A
 * flow may stand in the eight places of one set; where all are taken, the one that has been silent
 * for longest makes room. A request has one place, and the later one has it.
 *
 * Two CPUs may meet. Counts are added without locks: one or two may be lost where a flow moves from
 * one CPU to another. Who makes room holds its set (`busy`); others do without their flow for that
 * packet. */
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
	__u32 version;		    /* odd while a place changes hands */
	__u32 tags[ROCE_FLOW_WAYS]; /* of the hash of who is there, 0 = nobody */
	__u32 reserved[6];	    /* the rest of a cache line */
	struct roce_flow_slot slots[ROCE_FLOW_WAYS];
};

struct roce_pending_slot {
	struct roce_pending_key key;
	struct roce_pending pending; /* sent_ns 0: nobody waits */
};

/* Sets for at least that many flows. */
ROCE_INLINE __u32 roce_flow_sets(__u32 flows)
{
	return flows / ROCE_FLOW_WAYS + (flows % ROCE_FLOW_WAYS != 0);
}

/* Multipliers: odd, secret, of each load its own, so that nobody can aim at a set. */
#define ROCE_HASH_KEYS 5

/* Multiply-shift: the upper half is spread evenly (Dietzfelbinger et al., 1997). `addresses`: both,
 * 32 bytes. */
ROCE_INLINE __u32 roce_hash(const volatile __u64 keys[ROCE_HASH_KEYS], const void *addresses,
			    __u32 number)
{
	const __u64 *a = (const __u64 *)addresses;

	return (a[0] * keys[0] + a[1] * keys[1] + a[2] * keys[2] + a[3] * keys[3] +
		number * keys[4]) >>
	       32;
}

/* Its place among n. */
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
