/* roce_account.h - what a decoded packet adds to the counts and to its flow: the same code in BPF
 * programs and over captures. Tables are the caller's.
 *
 * Retransmissions are requests of RC and XRC whose PSN is behind one already seen. Not seen as one:
 * a read repeated from its middle while nothing after it was sent (its responses take PSNs that a
 * request alone does not tell). */
#pragma once

#include "roce_counts.h"

#define ROCE_PSN_MASK	  0xffffff
/* A requester goes back to what is not yet acknowledged, which is in flight: 256 MB with packets of
 * 4 KiB. Further back is a queue pair that began anew with the same number. */
#define ROCE_PSN_BACK_MAX 0x10000

/* `bytes`: of the whole frame. Nothing for ROCE_OTHER and ROCE_CUT. */
ROCE_INLINE void roce_count(struct roce_counts *, enum roce_verdict, const struct roce_packet *,
			    __u32 bytes);
ROCE_INLINE void roce_flow_key_of(const struct roce_packet *, struct roce_flow_key *ret);
/* Returns whether it is a retransmission. Zeroed is a flow before its first packet. */
ROCE_INLINE bool roce_flow_count(struct roce_flow *, const struct roce_packet *, __u32 bytes,
				 __u64 now_ns);
ROCE_INLINE void roce_flow_round_trip(struct roce_flow *, __u64 ns);

/* A request that waits for its ACK. An ACK names its receiver's queue pair, not the one the request
 * went to: what both have is the two addresses and the PSN. Of two queue pairs that ask with the
 * same PSN at the same time the later one gets the answer. */
struct roce_pending_key {
	__u8 requester[16], responder[16];
	__u32 psn;
};

struct roce_pending {
	__u64 sent_ns;
	__u32 qpn; /* of the request's flow */
	__u32 reserved;
};

/* Does it ask for an ACK, is it one (then NAKs do not count)? */
ROCE_INLINE bool roce_asks(const struct roce_packet *);
ROCE_INLINE bool roce_answers(const struct roce_packet *);
/* The key of a packet that asks, and of one that answers. */
ROCE_INLINE void roce_pending_key_of(const struct roce_packet *, bool answer,
				     struct roce_pending_key *ret);
/* The flow of the request that waited. */
ROCE_INLINE void roce_pending_flow(const struct roce_pending_key *, const struct roce_pending *,
				   struct roce_flow_key *ret);

/* --- how ------------------------------------------------------------------------------------ */

/* What is below n, a power of two, anyway. The verifier does not see it, and before Linux 6.10
 * knows no bounds behind an OR, which the compiler makes of a sum. */
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

/* One branch for all that is rare, as it is taken for every packet. */
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

/* Both addresses at once: all of our structures begin with them, aligned. */
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
	for (__u32 step = 16; step; step /= 2) { /* its bits: 2^(bucket - 1) <= scaled */
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

ROCE_INLINE bool roce_asks(const struct roce_packet *p)
{
	return p->ack_request && roce_is_request(p);
}

ROCE_INLINE bool roce_answers(const struct roce_packet *p)
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
