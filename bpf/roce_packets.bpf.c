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

#include "roce_account.h"

char LICENSE[] SEC("license") = "GPL";

#define NEXT	  (-1) /* TCX_NEXT and TC_ACT_UNSPEC: whoever comes after us decides */
#define COPY_SIZE 256  /* Ethernet, four tags, IPv4 with options, UDP, BTH and RETH are 126 */
#define VLAN_SIZE 4

/* Set before the load. Without flows their maps are not made. */
const volatile bool with_flows;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_ROCE_DIRECTIONS);
	__type(key, __u32);
	__type(value, struct roce_counts);
} counts SEC(".maps");

/* Each CPU's own place to work at. */
struct desk {
	__u8 copy[COPY_SIZE];
	__u64 tick, tick_ns; /* the time, as of that tick */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct desk);
} desks SEC(".maps");

/* A flow belongs to one queue of the NIC and so to one CPU at a time; a count or two may be lost
 * where it moves. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct roce_flow_key);
	__type(value, struct roce_flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct roce_pending_key);
	__type(value, struct roce_pending);
} pending SEC(".maps");

static __always_inline struct desk *own_desk(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&desks, &zero);
}

/* A new flow is not on the stack: it is too large for that. */
const __u64 no_flow[sizeof(struct roce_flow) / sizeof(__u64)];

static __always_inline struct roce_flow *flow_of(const struct roce_flow_key *key,
						 struct roce_counts *c)
{
	struct roce_flow *f = bpf_map_lookup_elem(&flows, key);

	if (f)
		return f;
	if (bpf_map_update_elem(&flows, key, no_flow, BPF_NOEXIST) == 0)
		c->flow_inserts++;
	return bpf_map_lookup_elem(&flows, key);
}

/* A request sent twice has no round trip: which one is answered cannot be told (RFC 6298, section
 * 3). */
static __always_inline void remember(const struct roce_packet *p, bool again)
{
	struct roce_pending_key key;
	struct roce_pending v = {.qpn = p->qpn};

	roce_pending_key_of(p, false, &key);
	if (again) {
		bpf_map_delete_elem(&pending, &key);
		return;
	}
	v.sent_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&pending, &key, &v, BPF_ANY);
}

static __always_inline void answer(const struct roce_packet *p)
{
	struct roce_pending_key key;
	struct roce_flow_key request;
	struct roce_pending *v;
	struct roce_flow *f;

	roce_pending_key_of(p, true, &key);
	v = bpf_map_lookup_elem(&pending, &key);
	if (!v)
		return;
	roce_pending_flow(&key, v, &request);
	f = bpf_map_lookup_elem(&flows, &request);
	if (f)
		roce_flow_round_trip(f, bpf_ktime_get_ns() - v->sent_ns);
	bpf_map_delete_elem(&pending, &key);
}

/* To the tick: reading the clock costs as much as all the rest. */
static __always_inline __u64 about_now(void)
{
	__u64 tick = bpf_jiffies64();
	struct desk *desk = own_desk();

	if (!desk)
		return 0;
	if (desk->tick != tick) {
		desk->tick = tick;
		desk->tick_ns = bpf_ktime_get_ns();
	}
	return desk->tick_ns;
}

static __always_inline void account_flow(struct roce_packet *p, const struct roce_ip *ip,
					 __u32 bytes, struct roce_counts *c)
{
	struct roce_flow_key key;
	struct roce_flow *f;
	bool again;

	roce_ip_addresses(ip, p->saddr, p->daddr);
	roce_flow_key_of(p, &key);
	f = flow_of(&key, c);
	if (!f)
		return;
	again = roce_flow_count(f, p, bytes, about_now());
	if (roce_asks(p))
		remember(p, again);
	else if (roce_answers(p))
		answer(p);
}

static __always_inline void account(enum roce_verdict verdict, struct roce_packet *p,
				    const struct roce_ip *ip, __u32 bytes, __u32 direction)
{
	struct roce_counts *c = bpf_map_lookup_elem(&counts, &direction);

	if (!c)
		return;
	roce_count(c, verdict, p, bytes);
	if (with_flows && verdict == ROCE_PACKET)
		account_flow(p, ip, bytes, c);
}

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

static __always_inline int tc(struct __sk_buff *skb, __u32 direction)
{
	struct roce_frame f = {.start = (const void *)(long)skb->data,
			       .end = (const void *)(long)skb->data_end,
			       .length = skb->len};
	struct roce_packet p;
	struct roce_ip ip;
	enum roce_verdict verdict = roce_decode_headers(&f, &p, &ip);

	if (verdict == ROCE_CUT) {
		__u64 n = copy_size(f.length);
		struct desk *desk = own_desk();

		if (!desk || n == 0 || bpf_skb_load_bytes(skb, 0, desk->copy, n) < 0)
			return NEXT;
		f = copied(desk, n, f.length);
		verdict = roce_decode_headers(&f, &p, &ip);
	}
	if (verdict != ROCE_OTHER)
		account(verdict, &p, &ip, f.length + (skb->vlan_present ? VLAN_SIZE : 0),
			direction);
	return NEXT;
}

SEC("tc")
int roce_received(struct __sk_buff *skb)
{
	return tc(skb, ROCE_RECEIVED);
}

SEC("tc")
int roce_sent(struct __sk_buff *skb)
{
	return tc(skb, ROCE_SENT);
}

/* A buffer's whole length is a call, which packets of others are spared. */
SEC("xdp.frags")
int roce_xdp(struct xdp_md *xdp)
{
	struct roce_frame f = {.start = (const void *)(long)xdp->data,
			       .end = (const void *)(long)xdp->data_end,
			       .length = ROCE_ANY_LENGTH};
	struct roce_packet p;
	struct roce_ip ip = {.end = 0};
	enum roce_verdict verdict = roce_decode_headers(&f, &p, &ip);
	__u32 length;

	if (verdict == ROCE_OTHER)
		return XDP_PASS;
	length = bpf_xdp_get_buff_len(xdp);
	if (verdict == ROCE_CUT) {
		__u64 n = copy_size(length);
		struct desk *desk = own_desk();

		if (!desk || n == 0 || bpf_xdp_load_bytes(xdp, 0, desk->copy, n) < 0)
			return XDP_PASS;
		f = copied(desk, n, length);
		verdict = roce_decode_headers(&f, &p, &ip);
	}
	if (verdict == ROCE_PACKET && ip.end > length)
		verdict = ROCE_MALFORMED;
	if (verdict != ROCE_OTHER)
		account(verdict, &p, &ip, length, ROCE_RECEIVED);
	return XDP_PASS;
}
