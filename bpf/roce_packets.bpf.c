/* roce_packets.bpf.c - counts the RoCE packets of one interface, and the flows among them.
 *
 * Programs only look: each returns "next" and writes nothing but its maps. Counts are per CPU:
 * nothing that handles a packet is interrupted by another of the same interface and CPU, so plain
 * additions do.
 *
 * Headers are read where they are. Where an skb has them in its fragments (a driver that copies
 * little, GRO), or an XDP buffer in its second part, the first bytes are copied out: pulling them
 * forward (bpf_skb_pull_data) would change somebody else's packet. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "roce_flows.h"

char LICENSE[] SEC("license") = "GPL";

#define NEXT	  (-1) /* TCX_NEXT and TC_ACT_UNSPEC: whoever comes after us decides */
#define COPY_SIZE 256  /* Ethernet, four tags, IPv4 with options, UDP, BTH and RETH are 126 */
#define VLAN_SIZE 4

/* Set before the load. Without flows there are no sets and their maps are not made. */
const volatile __u32 n_flow_sets, n_pending;
const volatile __u64 hash_keys[ROCE_HASH_KEYS];

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_ROCE_DIRECTIONS);
	__type(key, __u32);
	__type(value, struct roce_cpu_counts);
} counts SEC(".maps");

/* Each CPU's own place for what is copied. */
struct desk {
	__u8 copy[COPY_SIZE];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct desk);
} desks SEC(".maps");

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

static __always_inline struct desk *own_desk(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&desks, &zero);
}

/* --- flows ---------------------------------------------------------------------------------- */

#define EVICTED 16

/* A key, of which no byte is unset. */
struct wanted {
	__u8 saddr[16], daddr[16];
	__u64 number; /* of the queue pair or the PSN */
};

/* Where it is: ROCE_FLOW_WAYS if nowhere. */
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

/* As roce_pass_variable(): the verifier would go on from each of the eight. */
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

/* Readers see who was there or who is there now, or that they have to look again. An exchange is a
 * barrier on all machines; an addition whose result nobody wants is none. */
static __always_inline void next_version(struct roce_flow_set *set)
{
	__sync_lock_test_and_set(&set->version, set->version + 1);
}

static __always_inline void move_in(struct roce_flow_set *set, __u32 i, __u32 tag,
				    const struct wanted *w)
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

	/* Without flows there is no such map, and before Linux 6.8 the verifier looks at functions
	 * that nobody calls. */
	if (n_flow_sets == 0)
		return NULL;
	return bpf_map_lookup_elem(&flows, &i);
}

/* Where it is now, with EVICTED if somebody had to go; ROCE_FLOW_WAYS: another CPU is at it. Seldom
 * and much to verify, so it is global, too. */
__noinline int new_flow(const struct wanted *w, __u32 hash)
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

/* A request sent twice has no round trip: which one is answered cannot be told (RFC 6298, section
 * 3). */
static __always_inline void remember(const struct wanted *w, const struct roce_packet *p,
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

/* `ack`: its addresses and PSN. The time is looked at before and after: on another CPU somebody
 * else may take the place. */
__noinline int answer(const struct wanted *ack)
{
	struct roce_pending_slot *slot;
	struct roce_flow_set *set;
	struct wanted w = {0};
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

/* To the tick: reading the clock costs as much as all the rest. */
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
	struct wanted w = {.number = p->qpn};
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
	if (roce_asks(p))
		remember(&w, p, again);
	else if (roce_answers(p))
		answer(&w);
}

/* --- packets -------------------------------------------------------------------------------- */

/* Decodes and counts what was found. Returns the verdict on all of it. */
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

/* Where a packet is no plain one, these look at it, in turn. Functions of their own, and global, as
 * the verifier then goes through each only once. Zeroed: before Linux 6.3 nobody may look at a
 * stack that was not written, and clang moves loads in front of branches. They return the verdict.
 */

/* How much of a frame to copy; 0: too short to be anything. For the verifier in one register. */
static __always_inline __u64 copy_size(__u64 length)
{
	asm volatile("" : "+r"(length));
	if (length > COPY_SIZE)
		return COPY_SIZE;
	return length < ROCE_MAC_SIZE ? 0 : length;
}

static __always_inline struct roce_frame copied(const struct desk *desk, __u64 size, __u32 length)
{
	return (struct roce_frame){
		.start = desk->copy, .end = desk->copy + size, .length = length, .room = COPY_SIZE};
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

/* Tagged, with options or extensions, malformed: all that is at hand. */
__noinline int tc_any(struct __sk_buff *skb, __u32 direction)
{
	struct roce_frame frame = skb_frame(skb);
	struct roce_found f = {0};

	return tc_account(roce_find(&frame, &f), &f, skb, direction);
}

/* With headers that are somewhere else. */
__noinline int tc_copied(struct __sk_buff *skb, __u32 direction)
{
	__u64 n = copy_size(skb->len);
	struct desk *desk = own_desk();
	struct roce_found f = {0};
	struct roce_frame frame;

	if (!desk || n == 0 || bpf_skb_load_bytes(skb, 0, desk->copy, n) < 0)
		return ROCE_OTHER;
	frame = copied(desk, n, skb->len);
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

/* A buffer's whole length is a call, which packets of others are spared. */
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
	struct desk *desk = own_desk();
	struct roce_found f = {0};
	struct roce_frame frame;

	if (!desk || n == 0 || bpf_xdp_load_bytes(xdp, 0, desk->copy, n) < 0)
		return ROCE_OTHER;
	frame = copied(desk, n, length);
	return xdp_account(roce_find(&frame, &f), &f, length);
}

/* --- plain packets -------------------------------------------------------------------------- */

/* Each stands here with flows and without: what a flow needs later has to be put aside early, for
 * which those who only count would pay. */

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

/* What ends in the first buffer has no second one. */
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
