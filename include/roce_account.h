/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* roce_account.h - adds a decoded packet to the counts and to its flow: the same code in BPF
 * programs and for captures. The caller owns the tables.
 *
 * Retransmissions are RC and XRC requests with a PSN lower than one already seen. Not detected: a
 * read that is retried from its middle while it is the newest request. Its responses use up PSNs,
 * but next_psn is only advanced by one for the request. */
#pragma once

#include "roce_counts.h"

#define ROCE_PSN_MASK	  0xffffff
/* Only unacknowledged packets are retransmitted, and at most this many are in flight: 256 MiB at 4
 * KiB each. A larger step back means a new queue pair with the same number. */
#define ROCE_PSN_BACK_MAX 0x10000

/* Counts a packet; bytes: size of the whole frame. Packets with verdict ROCE_OTHER or ROCE_CUT are
 * not counted. */
ROCE_INLINE void roce_count(struct roce_counts *, enum roce_verdict, const struct roce_packet *,
			    __u32 bytes);
ROCE_INLINE void roce_flow_key_of(const struct roce_packet *, struct roce_flow_key *ret);
/* Counts a packet of a flow. Returns true for a retransmission. A new flow must be zeroed. */
ROCE_INLINE bool roce_flow_count(struct roce_flow *, const struct roce_packet *, __u32 bytes,
				 __u64 now_ns);
ROCE_INLINE void roce_flow_round_trip(struct roce_flow *, __u64 ns);

/* Key of a request that waits for its ACK. An ACK has the requester's QPN, a request has the
 * responder's. Only the two addresses and the PSN are in both. If two queue pairs wait with the
 * same PSN, the later request gets the ACK. */
struct roce_pending_key {
	__u8 requester[16], responder[16];
	__u32 psn;
};

struct roce_pending {
	__u64 sent_ns;
	__u32 qpn; /* QPN of the request's flow */
	__u32 reserved;
};

/* True if the packet requests an ACK, or is an ACK (not a NAK). */
ROCE_INLINE bool roce_requests_ack(const struct roce_packet *);
ROCE_INLINE bool roce_is_ack(const struct roce_packet *);
/* Computes the key of a packet that requests an ACK (answer false) or is an ACK (answer true). */
ROCE_INLINE void roce_pending_key_of(const struct roce_packet *, bool answer,
				     struct roce_pending_key *ret);
/* Computes the flow key of the request that waits for this ACK. */
ROCE_INLINE void roce_pending_flow(const struct roce_pending_key *, const struct roce_pending *,
				   struct roce_flow_key *ret);

/* --- implementation --------------------------------------------------------------------------- */

/* Returns i, which is always below n, a power of two. The mask is for the BPF verifier: before
 * Linux 6.10 it loses the bounds of a value after an OR, and the compiler may emit a sum as an OR.
 */
ROCE_INLINE __u64 roce_bounded(__u64 i, __u64 n)
{
#ifdef __bpf__
	asm volatile("" : "+r"(i));
#endif
	return i & (n - 1);
}

ROCE_INLINE void roce_count_extension(struct roce_counts *c, const struct roce_packet *p)
{
	if (p->has_aeth)
		c->syndromes[roce_bounded(p->syndrome_class, N_ROCE_SYNDROMES)]++;
	else if (p->op == ROCE_READ_REQUEST)
		c->requested_read_bytes += p->reth_length;
	else
		c->requested_write_bytes += p->reth_length;
}

/* Counts one decoded packet. The rare flags share one branch, because this runs for every packet.
 */
ROCE_INLINE void roce_count_packet(struct roce_counts *c, const struct roce_packet *p, __u32 bytes)
{
	c->packets++;
	c->bytes += bytes;
	c->traffic_class[p->traffic_class]++;
	if (p->version == 1)
		c->v1++;
	else if (p->ip == 4)
		c->ip4++;
	else
		c->ip6++;
	if (p->fecn | p->becn | p->solicited) {
		c->fecn += p->fecn;
		c->becn += p->becn;
		c->solicited += p->solicited;
	}
	if (p->cnp)
		c->cnp++;
	else
		c->ops[roce_bounded(p->op_index, N_ROCE_TRANSPORTS * N_ROCE_OPS)]++;
	if (p->has_aeth | p->has_reth)
		roce_count_extension(c, p);
}

ROCE_INLINE void roce_count(struct roce_counts *c, enum roce_verdict verdict,
			    const struct roce_packet *p, __u32 bytes)
{
	if (verdict == ROCE_PACKET)
		roce_count_packet(c, p, bytes);
	else if (verdict == ROCE_FRAGMENT)
		c->fragments++;
	else if (verdict == ROCE_MALFORMED)
		c->malformed++;
	else if (verdict == ROCE_PAUSE)
		c->pauses++;
}

/* Copies both addresses at once: all our structures start with them, aligned. */
ROCE_INLINE void roce_copy_addresses(void *to, const void *from)
{
	__builtin_memcpy(to, from, 32);
}

ROCE_INLINE void roce_flow_key_of(const struct roce_packet *p, struct roce_flow_key *ret)
{
	roce_copy_addresses(ret, p);
	ret->qpn = p->qpn;
}

ROCE_INLINE bool roce_is_reliable(const struct roce_packet *p)
{
	return p->transport == ROCE_RC || p->transport == ROCE_XRC;
}

ROCE_INLINE bool roce_is_request(const struct roce_packet *p)
{
	return roce_is_reliable(p) && (p->op == ROCE_SEND || p->op == ROCE_WRITE ||
				       p->op == ROCE_READ_REQUEST || p->op == ROCE_ATOMIC);
}

ROCE_INLINE bool roce_flow_sequence(struct roce_flow *f, __u32 psn)
{
	__u32 next = (psn + 1) & ROCE_PSN_MASK, back = (f->next_psn - psn) & ROCE_PSN_MASK;

	if (f->psn_known && back != 0 && back <= ROCE_PSN_BACK_MAX) {
		f->retransmissions++;
		return true;
	}
	f->next_psn = next;
	f->psn_known = 1;
	return false;
}

ROCE_INLINE bool roce_flow_count(struct roce_flow *f, const struct roce_packet *p, __u32 bytes,
				 __u64 now_ns)
{
	f->packets++;
	f->bytes += bytes;
	f->last_seen_ns = now_ns;
	if ((p->traffic_class & 3) == 3)
		f->ce++;
	if (p->cnp)
		f->cnp++;
	if (p->has_aeth && p->syndrome_class == ROCE_SYN_RNR)
		f->rnr_naks++;
	else if (p->has_aeth && p->syndrome_class >= ROCE_SYN_SEQUENCE &&
		 p->syndrome_class <= ROCE_SYN_INVALID_RD)
		f->naks++;
	return roce_is_request(p) && roce_flow_sequence(f, p->psn);
}

ROCE_INLINE __u32 roce_rtt_bucket(__u64 ns)
{
	__u64 scaled = ns >> ROCE_RTT_SHIFT;
	__u32 bucket = 0;

	if (scaled >> (ROCE_RTT_BUCKETS - 2))
		return ROCE_RTT_BUCKETS - 1;
	for (__u32 step = 16; step;
	     step /= 2) { /* bucket: the number of significant bits of scaled */
		if (scaled >> step) {
			scaled >>= step;
			bucket += step;
		}
	}
	return bucket + (__u32)scaled;
}

ROCE_INLINE void roce_flow_round_trip(struct roce_flow *f, __u64 ns)
{
	__u32 bucket = roce_rtt_bucket(ns);

	f->rtt_sum_ns += ns;
	f->rtt_count++;
	if (bucket < ROCE_RTT_BUCKETS)
		f->rtt[bucket]++;
}

ROCE_INLINE bool roce_requests_ack(const struct roce_packet *p)
{
	return p->ack_request && roce_is_request(p);
}

ROCE_INLINE bool roce_is_ack(const struct roce_packet *p)
{
	return p->op == ROCE_ACK && roce_is_reliable(p) && p->syndrome_class == ROCE_SYN_ACK;
}

ROCE_INLINE void roce_pending_key_of(const struct roce_packet *p, bool answer,
				     struct roce_pending_key *ret)
{
	__builtin_memcpy(answer ? ret->responder : ret->requester, p->saddr, 16);
	__builtin_memcpy(answer ? ret->requester : ret->responder, p->daddr, 16);
	ret->psn = p->psn;
}

ROCE_INLINE void roce_pending_flow(const struct roce_pending_key *key, const struct roce_pending *v,
				   struct roce_flow_key *ret)
{
	roce_copy_addresses(ret, key);
	ret->qpn = v->qpn;
}
