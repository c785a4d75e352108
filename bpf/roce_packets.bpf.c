// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* roce_packets.bpf.c - counts the RoCE packets and flows of one interface.
 *
 * The programs only observe: each returns "next" and writes only to its maps. Counts are per CPU,
 * and plain additions are safe, because no other packet of the interface is handled on the same CPU
 * at the same time.
 *
 * Headers are read in place if possible. If they are in the fragments of an skb (a driver that
 * copies little, GRO), or in the second part of an XDP buffer, the first bytes are copied to a
 * scratch buffer; bpf_skb_pull_data() would modify the packet. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "roce_flows.h"

char LICENSE[] SEC("license") = "GPL";

#define NEXT	  (-1) /* TCX_NEXT and TC_ACT_UNSPEC: the next program decides */
#define COPY_SIZE 256  /* Ethernet, 4 tags, IPv4 with options, UDP, BTH and RETH: 126 bytes */
#define VLAN_SIZE 4

/* Set before the programs are loaded. Both are 0 if flows are not counted; then the tables are not
 * created. */
const volatile __u32 n_flow_sets, n_pending;
const volatile __u64 hash_keys[ROCE_HASH_KEYS];

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_ROCE_DIRECTIONS);
	__type(key, __u32);
	__type(value, struct roce_cpu_counts);
} counts SEC(".maps");

/* Per-CPU buffer for copied headers. */
struct scratch {
	__u8 copy[COPY_SIZE];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_buffers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct roce_flow_set);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct roce_pending_slot);
} pending SEC(".maps");

static __always_inline struct scratch *own_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch_buffers, &zero);
}

/* --- flows ---------------------------------------------------------------------------------- */

#define EVICTED 16

/* A lookup key; has no padding, so all bytes are initialized. */
struct flow_query {
	__u8 saddr[16], daddr[16];
	__u64 number; /* queue pair number or PSN */
};

/* Returns the index of the flow's slot; ROCE_FLOW_WAYS: not found. */
static __always_inline __u32 find_in(const struct roce_flow_set *set, __u32 tag,
				     const void *addresses, __u32 qpn)
{
#pragma unroll
	for (__u32 i = 0; i < ROCE_FLOW_WAYS; i++) {
		const struct roce_flow_key *key = &set->slots[i].key;

		if (set->tags[i] == tag && roce_same_key(key, addresses, key->qpn, qpn))
			return i;
	}
	return ROCE_FLOW_WAYS;
}

/* Hides the value of i from the verifier, as in roce_pass_variable(): the verifier would otherwise
 * verify the rest of the program for each of the eight slots. */
static __always_inline struct roce_flow *flow_at(struct roce_flow_set *set, __u64 i)
{
	__u64 unknown = set->version;

	asm volatile("%0 ^= %1\n%0 ^= %1" : "+r"(i) : "r"(unknown));
	return &set->slots[i & (ROCE_FLOW_WAYS - 1)].flow;
}

static __always_inline __u32 oldest_in(const struct roce_flow_set *set)
{
	__u64 oldest = ~0ull;
	__u32 found = 0;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < ROCE_FLOW_WAYS; i++) {
		__u64 seen = set->tags[i] ? set->slots[i].flow.last_seen_ns : 0;

		if (seen < oldest) {
			oldest = seen;
			found = i;
		}
	}
	return found;
}

/* Increments the version of the set. Readers compare versions: they read the old or the new flow,
 * or detect that they must retry. An exchange is a memory barrier on all architectures; an atomic
 * addition with unused result is not. */
static __always_inline void next_version(struct roce_flow_set *set)
{
	__sync_lock_test_and_set(&set->version, set->version + 1);
}

static __always_inline void move_in(struct roce_flow_set *set, __u32 i, __u32 tag,
				    const struct flow_query *w)
{
	struct roce_flow_slot *slot = &set->slots[i & (ROCE_FLOW_WAYS - 1)];

	next_version(set);
	set->tags[i & (ROCE_FLOW_WAYS - 1)] = tag;
	roce_copy_addresses(&slot->key, w);
	slot->key.qpn = w->number;
	__builtin_memset(&slot->flow, 0, sizeof(slot->flow));
	next_version(set);
}

static __always_inline struct roce_flow_set *set_of(__u32 hash)
{
	__u32 i = roce_hash_index(hash, n_flow_sets);

	/* Without flows the map does not exist; before Linux 6.8 the verifier checks unused
	 * functions, too. */
	if (n_flow_sets == 0)
		return NULL;
	return bpf_map_lookup_elem(&flows, &i);
}

/* Finds or claims a slot. Returns its index, with EVICTED set if it replaced a flow;
 * ROCE_FLOW_WAYS: another CPU has locked the set. A global function, because it runs rarely and is
 * expensive to verify. */
__noinline int new_flow(const struct flow_query *w, __u32 hash)
{
	struct roce_flow_set *set = set_of(hash);
	int i;

	if (!set || !w || __sync_val_compare_and_swap(&set->busy, 0, 1) != 0)
		return ROCE_FLOW_WAYS;
	i = find_in(set, roce_hash_tag(hash), w, w->number);
	if (i == ROCE_FLOW_WAYS) {
		i = oldest_in(set);
		bool taken = set->tags[i & (ROCE_FLOW_WAYS - 1)] != 0;

		move_in(set, i, roce_hash_tag(hash), w);
		i |= taken ? EVICTED : 0;
	}
	__sync_lock_test_and_set(&set->busy, 0);
	return i;
}

static __always_inline struct roce_pending_slot *pending_of(__u32 hash)
{
	__u32 i = roce_hash_index(hash, n_pending);

	if (n_pending == 0)
		return NULL;
	return bpf_map_lookup_elem(&pending, &i);
}

/* Stores the send time of a request; not of a retransmitted one, because the ACK could belong to
 * either transmission (RFC 6298, section 3). */
static __always_inline void remember(const struct flow_query *w, const struct roce_packet *p,
				     bool again)
{
	struct roce_pending_slot *slot = pending_of(roce_hash(hash_keys, w, p->psn));

	if (!slot)
		return;
	slot->pending.sent_ns = 0;
	if (again)
		return;
	roce_copy_addresses(&slot->key, w);
	slot->key.psn = p->psn;
	slot->pending.qpn = p->qpn;
	slot->pending.sent_ns = bpf_ktime_get_ns();
}

/* Counts the round trip of the request that an ACK answers; ack: the addresses and PSN of the ACK.
 * Reads sent_ns before and after the key, because another CPU may overwrite the slot. */
__noinline int answer(const struct flow_query *ack)
{
	struct roce_pending_slot *slot;
	struct roce_flow_set *set;
	struct flow_query w = {0};
	__u32 hash, qpn, i;
	__u64 sent;

	if (!ack)
		return 0;
	roce_copy_gid(w.saddr, ack->daddr);
	roce_copy_gid(w.daddr, ack->saddr);
	slot = pending_of(roce_hash(hash_keys, &w, ack->number));
	if (!slot)
		return 0;
	sent = *(volatile __u64 *)&slot->pending.sent_ns;
	qpn = slot->pending.qpn;
	if (!sent || !roce_same_key(&slot->key, &w, slot->key.psn, ack->number) ||
	    *(volatile __u64 *)&slot->pending.sent_ns != sent)
		return 0;
	slot->pending.sent_ns = 0;
	hash = roce_hash(hash_keys, &w, qpn);
	set = set_of(hash);
	if (!set)
		return 0;
	i = find_in(set, roce_hash_tag(hash), &w, qpn);
	if (i < ROCE_FLOW_WAYS)
		roce_flow_round_trip(flow_at(set, i), bpf_ktime_get_ns() - sent);
	return 0;
}

/* Returns the time of the first packet in this jiffy: reading the clock costs as much as the rest
 * of the program. */
static __always_inline __u64 about_now(struct roce_cpu_counts *c)
{
	__u64 tick = bpf_jiffies64();

	if (c->tick != tick) {
		c->tick = tick;
		c->tick_ns = bpf_ktime_get_ns();
	}
	return c->tick_ns;
}

static __always_inline void account_flow(const struct roce_packet *p, const struct roce_ip *ip,
					 __u32 bytes, struct roce_cpu_counts *c)
{
	struct flow_query w = {.number = p->qpn};
	struct roce_flow_set *set;
	__u32 hash, i;
	bool again;

	roce_ip_addresses(ip, w.saddr, w.daddr);
	hash = roce_hash(hash_keys, &w, p->qpn);
	set = set_of(hash);
	if (!set)
		return;
	i = find_in(set, roce_hash_tag(hash), &w, p->qpn);
	if (i == ROCE_FLOW_WAYS) {
		i = new_flow(&w, hash);
		c->counts.flow_evictions += i / EVICTED;
		i %= EVICTED;
	}
	if (i >= ROCE_FLOW_WAYS)
		return;
	again = roce_flow_count(flow_at(set, i), p, bytes, about_now(c));
	w.number = p->psn;
	if (roce_requests_ack(p))
		remember(&w, p, again);
	else if (roce_is_ack(p))
		answer(&w);
}

/* --- packets -------------------------------------------------------------------------------- */

/* Decodes and counts a packet. Returns the final verdict. */
static __always_inline enum roce_verdict account(enum roce_verdict verdict, struct roce_found *f,
						 __u32 bytes, __u32 direction, bool with_flows)
{
	struct roce_cpu_counts *c = bpf_map_lookup_elem(&counts, &direction);
	struct roce_packet p = {0};

	if (!c)
		return ROCE_OTHER;
	if (verdict == ROCE_PACKET)
		verdict = roce_decode_found(f, &p);
	roce_count(&c->counts, verdict, &p, bytes);
	if (with_flows && verdict == ROCE_PACKET)
		account_flow(&p, &f->ip, bytes, c);
	return verdict;
}

/* Slow paths for packets that are not plain, tried in turn. Global functions, so that the verifier
 * checks each only once. They return the verdict. Structures are zeroed, because the verifier
 * rejects reads of unwritten stack before Linux 6.3, and clang moves loads before branches. */

/* Returns the number of bytes to copy; 0: the frame is too short. The asm keeps the value in one
 * register for the verifier. */
static __always_inline __u64 copy_size(__u64 length)
{
	asm volatile("" : "+r"(length));
	if (length > COPY_SIZE)
		return COPY_SIZE;
	return length < ROCE_MAC_SIZE ? 0 : length;
}

static __always_inline struct roce_frame copied(const struct scratch *scratch, __u64 size,
						__u32 length)
{
	return (struct roce_frame){.start = scratch->copy,
				   .end = scratch->copy + size,
				   .length = length,
				   .room = COPY_SIZE};
}

static __always_inline struct roce_frame skb_frame(const struct __sk_buff *skb)
{
	return (struct roce_frame){.start = (const void *)(long)skb->data,
				   .end = (const void *)(long)skb->data_end,
				   .length = skb->len};
}

static __always_inline __u32 skb_bytes(const struct __sk_buff *skb)
{
	return skb->len + skb->vlan_present * VLAN_SIZE;
}

static __always_inline enum roce_verdict tc_account(enum roce_verdict verdict, struct roce_found *f,
						    const struct __sk_buff *skb, __u32 direction)
{
	if (verdict == ROCE_OTHER || verdict == ROCE_CUT)
		return verdict;
	return account(verdict, f, skb_bytes(skb), direction, n_flow_sets != 0);
}

/* Handles tagged packets, packets with options or extensions, and malformed ones, if the headers
 * are in the linear part. */
__noinline int tc_any(struct __sk_buff *skb, __u32 direction)
{
	struct roce_frame frame = skb_frame(skb);
	struct roce_found f = {0};

	return tc_account(roce_find(&frame, &f), &f, skb, direction);
}

/* Handles packets whose headers are not in the linear part. */
__noinline int tc_copied(struct __sk_buff *skb, __u32 direction)
{
	__u64 n = copy_size(skb->len);
	struct scratch *scratch = own_scratch();
	struct roce_found f = {0};
	struct roce_frame frame;

	if (!scratch || n == 0 || bpf_skb_load_bytes(skb, 0, scratch->copy, n) < 0)
		return ROCE_OTHER;
	frame = copied(scratch, n, skb->len);
	return tc_account(roce_find(&frame, &f), &f, skb, direction);
}

static __always_inline struct roce_frame xdp_frame(const struct xdp_md *xdp, __u32 length)
{
	return (struct roce_frame){.start = (const void *)(long)xdp->data,
				   .end = (const void *)(long)xdp->data_end,
				   .length = length};
}

static __always_inline enum roce_verdict xdp_account(enum roce_verdict verdict,
						     struct roce_found *f, __u32 length)
{
	if (verdict == ROCE_OTHER || verdict == ROCE_CUT)
		return verdict;
	if (verdict == ROCE_PACKET && f->ip.end > length)
		verdict = ROCE_MALFORMED;
	return account(verdict, f, length, ROCE_RECEIVED, n_flow_sets != 0);
}

/* Like tc_any(), for XDP. Gets the whole length of the buffer only for RoCE, because this is a
 * helper call. */
__noinline int xdp_any(struct xdp_md *xdp)
{
	struct roce_frame frame = xdp_frame(xdp, ROCE_ANY_LENGTH);
	struct roce_found f = {0};
	enum roce_verdict verdict = roce_find(&frame, &f);

	if (verdict == ROCE_OTHER || verdict == ROCE_CUT)
		return verdict;
	return xdp_account(verdict, &f, bpf_xdp_get_buff_len(xdp));
}

__noinline int xdp_copied(struct xdp_md *xdp)
{
	__u32 length = bpf_xdp_get_buff_len(xdp);
	__u64 n = copy_size(length);
	struct scratch *scratch = own_scratch();
	struct roce_found f = {0};
	struct roce_frame frame;

	if (!scratch || n == 0 || bpf_xdp_load_bytes(xdp, 0, scratch->copy, n) < 0)
		return ROCE_OTHER;
	frame = copied(scratch, n, length);
	return xdp_account(roce_find(&frame, &f), &f, length);
}

/* --- plain packets ---------------------------------------------------------------------------- */

/* These programs are compiled with and without flows: saving the variables for flows early would
 * slow down programs that only count. */

static __always_inline int tc(struct __sk_buff *skb, __u32 direction, bool with_flows)
{
	struct roce_frame frame = skb_frame(skb);
	struct roce_found f;
	enum roce_verdict verdict = roce_find_plain(&frame, &f);

	if (verdict == ROCE_PACKET)
		verdict = account(verdict, &f, skb_bytes(skb), direction, with_flows);
	else if (verdict != ROCE_OTHER)
		verdict = tc_any(skb, direction);
	if (verdict == ROCE_CUT)
		tc_copied(skb, direction);
	return NEXT;
}

SEC("tc")
int roce_received(struct __sk_buff *skb)
{
	return tc(skb, ROCE_RECEIVED, false);
}

SEC("tc")
int roce_sent(struct __sk_buff *skb)
{
	return tc(skb, ROCE_SENT, false);
}

SEC("tc")
int roce_received_flows(struct __sk_buff *skb)
{
	return tc(skb, ROCE_RECEIVED, true);
}

SEC("tc")
int roce_sent_flows(struct __sk_buff *skb)
{
	return tc(skb, ROCE_SENT, true);
}

/* Uses the length of the first buffer: a plain packet ends in it, so there is no second buffer. */
static __always_inline int xdp(struct xdp_md *ctx, bool with_flows)
{
	struct roce_frame frame = xdp_frame(ctx, ctx->data_end - ctx->data);
	struct roce_found f;
	enum roce_verdict verdict = roce_find_plain(&frame, &f);

	if (verdict == ROCE_PACKET)
		verdict = account(verdict, &f, frame.length, ROCE_RECEIVED, with_flows);
	else if (verdict != ROCE_OTHER)
		verdict = xdp_any(ctx);
	if (verdict == ROCE_CUT)
		xdp_copied(ctx);
	return XDP_PASS;
}

SEC("xdp.frags")
int roce_xdp(struct xdp_md *ctx)
{
	return xdp(ctx, false);
}

SEC("xdp.frags")
int roce_xdp_flows(struct xdp_md *ctx)
{
	return xdp(ctx, true);
}
