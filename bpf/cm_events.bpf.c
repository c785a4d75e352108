// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cm_events.bpf.c - reports rdma_cm connections that were established, rejected or timed out, with
 * their latency.
 *
 * The tracepoints (drivers/infiniband/core/cma_trace.h) identify a connection by its
 * rdma_id_private. The active side sends a request from its own task; the passive side receives it
 * in a kernel thread (CONNECT_REQUEST) and replies from its task. All other events run in kernel
 * threads, so the task is stored until the final event. */
#include "vmlinux.h"

#include "common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* enum rdma_cm_event_type, linux/include/rdma/rdma_cm.h */
enum {
	CM_ADDR_ERROR = 1,
	CM_ROUTE_ERROR = 3,
	CM_CONNECT_REQUEST,
	CM_CONNECT_RESPONSE,
	CM_CONNECT_ERROR,
	CM_UNREACHABLE,
	CM_REJECTED,
	CM_ESTABLISHED,
};

struct connect {
	__u64 since_ns, cgroup;
	__u32 pid, passive;
	char comm[16];
};

/* Keyed by the address of the rdma_id_private. LRU: connections without a final event are evicted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct connect);
} connects SEC(".maps");

static __always_inline void take_task(struct connect *c)
{
	c->pid = bpf_get_current_pid_tgid() >> 32;
	c->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(c->comm, sizeof(c->comm));
}

SEC("tp_btf")
int BPF_PROG(cm_request_tp_btf, const struct rdma_id_private *id)
{
	struct connect c = {.since_ns = bpf_ktime_get_ns()};
	__u64 key = (__u64)id;

	take_task(&c);
	bpf_map_update_elem(&connects, &key, &c, BPF_ANY);
	return 0;
}

SEC("tp_btf")
int BPF_PROG(cm_reply_tp_btf, const struct rdma_id_private *id)
{
	__u64 key = (__u64)id;
	struct connect *c = bpf_map_lookup_elem(&connects, &key);

	if (c)
		take_task(c);
	return 0;
}

/* Reads a struct sockaddr_in or sockaddr_in6: family, port, and the address at offset 4 or 8.
 * Returns the port. */
static __always_inline __u16 read_address(__u8 ret[16], const struct cm_sockaddr *from)
{
	__u8 raw[sizeof(from->bytes)] = {};

	bpf_core_read(raw, sizeof(raw), from);
	if (raw[0] == 10) {
		__builtin_memcpy(ret, raw + 8, 16);
	} else {
		ret[10] = ret[11] = 0xff;
		__builtin_memcpy(ret + 12, raw + 4, 4);
	}
	return raw[2] << 8 | raw[3];
}

static __always_inline enum bpf_cm_what what_of(__u32 event)
{
	switch (event) {
	case CM_CONNECT_RESPONSE: /* with user space, librdmacm makes ESTABLISHED itself */
	case CM_ESTABLISHED:
		return BPF_CM_CONNECTED;
	case CM_REJECTED:
		return BPF_CM_REJECTED;
	case CM_UNREACHABLE:
		return BPF_CM_TIMED_OUT;
	case CM_ADDR_ERROR:
	case CM_ROUTE_ERROR:
	case CM_CONNECT_ERROR:
		return BPF_CM_OTHER;
	default:
		return N_BPF_CM;
	}
}

static __always_inline void take_connect(struct bpf_event_cm *e, __u64 key)
{
	struct connect *c = bpf_map_lookup_elem(&connects, &key);

	if (!c)
		return;
	e->head.pid = c->pid;
	e->head.cgroup = c->cgroup;
	__builtin_memcpy(e->head.comm, c->comm, sizeof(e->head.comm));
	e->latency_ns = e->head.time_ns - c->since_ns;
	e->passive = c->passive;
	bpf_map_delete_elem(&connects, &key);
}

static __always_inline void passive_request(__u64 key)
{
	struct connect c = {.since_ns = bpf_ktime_get_ns(), .passive = 1};

	bpf_map_update_elem(&connects, &key, &c, BPF_ANY);
}

/* The NULL checks are for the verifier: since v6.13 it treats arguments of a module's tracepoint as
 * pointers that may be NULL, on which it allows no arithmetic. */
SEC("tp_btf")
int BPF_PROG(cm_event_tp_btf, const struct rdma_id_private *id, const struct rdma_cm_event *event)
{
	enum bpf_cm_what what;
	struct bpf_event_cm *e;
	__u32 type;

	if (!id || !event)
		return 0;
	type = BPF_CORE_READ(event, event);
	what = what_of(type);
	if (type == CM_CONNECT_REQUEST)
		passive_request((__u64)id);
	if (what == N_BPF_CM)
		return 0;
	e = EVENT_RESERVE(BPF_EVENT_CM, struct bpf_event_cm);
	if (!e)
		return 0;
	take_connect(e, (__u64)id);
	e->what = what;
	e->event = type;
	e->status = BPF_CORE_READ(event, status);
	e->qpn = BPF_CORE_READ(id, qp_num);
	e->sport = read_address(e->saddr, &id->id.route.addr.src_addr);
	e->dport = read_address(e->daddr, &id->id.route.addr.dst_addr);
	bpf_ringbuf_submit(e, 0);
	return 0;
}
