// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rdma_events.bpf.c - reports the creation, changes and destruction of queue pairs, and
 * asynchronous events of devices and ports (ib_core).
 *
 * Created: rdma_restrack_add(), which create_qp() calls for every queue pair once it has its
 * number. Modified: exit of _ib_modify_qp(), which all modifications use, because the result is
 * known there. Destroyed: entry of ib_destroy_qp_user(), because the object is freed at its exit. A
 * destruction can fail with "in use", but not for queue pairs of user space. Queue pair errors:
 * entry of __ib_qp_event_handler (verbs.c, since v6.2) or ib_uverbs_qp_event_handler
 * (uverbs_main.c). Events of ports and devices: entry of ib_dispatch_event (cache.c). All in
 * drivers/infiniband/core. */
#include "vmlinux.h"

#include "common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* enum ib_qp_attr_mask */
#define QP_STATE     (1U << 0)
#define QP_PORT	     (1U << 5)
#define QP_AV	     (1U << 7)
#define QP_PATH_MTU  (1U << 8)
#define QP_TIMEOUT   (1U << 9)
#define QP_RETRY     (1U << 10)
#define QP_RNR_RETRY (1U << 11)
#define QP_DEST_QPN  (1U << 20)

static __always_inline void read_device(char *ret, const struct ib_device *device)
{
	bpf_probe_read_kernel_str(ret, sizeof(device->name), device->name);
}

static __always_inline struct bpf_event_qp *qp_event(struct ib_qp *qp, enum bpf_qp_change change)
{
	struct bpf_event_qp *e = EVENT_RESERVE(BPF_EVENT_QP, struct bpf_event_qp);

	if (!e)
		return NULL;
	event_task(&e->head);
	read_device(e->device, BPF_CORE_READ(qp, device));
	e->change = change;
	e->qpn = BPF_CORE_READ(qp, qp_num);
	e->type = BPF_CORE_READ(qp, qp_type);
	e->port = BPF_CORE_READ(qp, port);
	e->kernel = !BPF_CORE_READ(qp, res.user);
	return e;
}

/* --- created ---------------------------------------------------------------------------------- */

static __always_inline int qp_created(struct rdma_restrack_entry *res)
{
	struct bpf_event_qp *e;

	if (BPF_CORE_READ(res, type) !=
	    bpf_core_enum_value(enum rdma_restrack_type, RDMA_RESTRACK_QP))
		return 0;
	e = qp_event((void *)res - bpf_core_field_offset(struct ib_qp, res), BPF_QP_CREATED);
	if (e)
		bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry")
int BPF_PROG(qp_created_fentry, struct rdma_restrack_entry *res)
{
	return qp_created(res);
}

SEC("kprobe")
int BPF_KPROBE(qp_created_kprobe, struct rdma_restrack_entry *res)
{
	return qp_created(res);
}

/* --- modified --------------------------------------------------------------------------------- */

static __always_inline void read_path(struct bpf_event_qp *e, struct rdma_ah_attr *ah)
{
	bpf_core_read(e->peer_gid, sizeof(e->peer_gid), &ah->grh.dgid);
	e->traffic_class = BPF_CORE_READ(ah, grh.traffic_class);
	e->flow_label = BPF_CORE_READ(ah, grh.flow_label);
	e->hop_limit = BPF_CORE_READ(ah, grh.hop_limit);
	e->sgid_index = BPF_CORE_READ(ah, grh.sgid_index);
	e->service_level = BPF_CORE_READ(ah, sl);
	e->port = BPF_CORE_READ(ah, port_num);
}

static __always_inline int qp_modified(struct ib_qp *qp, struct ib_qp_attr *attr, __u32 mask,
				       int result)
{
	struct bpf_event_qp *e = qp_event(qp, BPF_QP_MODIFIED);

	if (!e)
		return 0;
	e->attr_mask = mask;
	e->result = result;
	if (mask & QP_STATE)
		e->state = BPF_CORE_READ(attr, qp_state);
	if (mask & QP_PORT)
		e->port = BPF_CORE_READ(attr, port_num);
	if (mask & QP_AV)
		read_path(e, &attr->ah_attr);
	if (mask & QP_PATH_MTU)
		e->path_mtu = BPF_CORE_READ(attr, path_mtu);
	if (mask & QP_DEST_QPN)
		e->peer_qpn = BPF_CORE_READ(attr, dest_qp_num);
	if (mask & QP_TIMEOUT)
		e->timeout = BPF_CORE_READ(attr, timeout);
	if (mask & QP_RETRY)
		e->retry_count = BPF_CORE_READ(attr, retry_cnt);
	if (mask & QP_RNR_RETRY)
		e->rnr_retry = BPF_CORE_READ(attr, rnr_retry);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fexit")
int BPF_PROG(qp_modified_fexit, struct ib_qp *qp, struct ib_qp_attr *attr, int mask, void *udata,
	     int result)
{
	return qp_modified(qp, attr, mask, result);
}

/* A kretprobe has no access to the arguments: the kprobe stores them per task until the return. */
struct modify_call {
	struct ib_qp *qp;
	struct ib_qp_attr *attr;
	__u64 mask;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct modify_call);
} modify_calls SEC(".maps");

SEC("kprobe")
int BPF_KPROBE(qp_modified_kprobe, struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	struct modify_call call = {.qp = qp, .attr = attr, .mask = (__u32)mask};
	__u64 task = bpf_get_current_pid_tgid();

	bpf_map_update_elem(&modify_calls, &task, &call, BPF_ANY);
	return 0;
}

SEC("kretprobe")
int BPF_KRETPROBE(qp_modified_kretprobe, int result)
{
	__u64 task = bpf_get_current_pid_tgid();
	struct modify_call *call = bpf_map_lookup_elem(&modify_calls, &task);

	if (!call)
		return 0;
	qp_modified(call->qp, call->attr, call->mask, result);
	bpf_map_delete_elem(&modify_calls, &task);
	return 0;
}

/* --- destroyed -------------------------------------------------------------------------------- */

static __always_inline int qp_destroyed(struct ib_qp *qp)
{
	struct bpf_event_qp *e;

	if (BPF_CORE_READ(qp, real_qp) != qp)
		return 0; /* a handle of a shared queue pair; the pair itself stays */
	e = qp_event(qp, BPF_QP_DESTROYED);
	if (e)
		bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry")
int BPF_PROG(qp_destroyed_fentry, struct ib_qp *qp)
{
	return qp_destroyed(qp);
}

SEC("kprobe")
int BPF_KPROBE(qp_destroyed_kprobe, struct ib_qp *qp)
{
	return qp_destroyed(qp);
}

/* --- asynchronous events ---------------------------------------------------------------------- */

static __always_inline int qp_error(struct ib_event *event)
{
	struct bpf_event_qp_failed *e = EVENT_RESERVE(BPF_EVENT_QP_FAILED,
						      struct bpf_event_qp_failed);

	if (!e)
		return 0;
	read_device(e->device, BPF_CORE_READ(event, device));
	e->qpn = BPF_CORE_READ(event, element.qp, qp_num);
	e->event = BPF_CORE_READ(event, event);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry")
int BPF_PROG(qp_error_fentry, struct ib_event *event)
{
	return qp_error(event);
}

SEC("kprobe")
int BPF_KPROBE(qp_error_kprobe, struct ib_event *event)
{
	return qp_error(event);
}

/* enum ib_event_type: the event that concerns the whole device */
#define EVENT_DEVICE_FATAL 8

static __always_inline __u32 index_of(const struct ib_device *device)
{
	return bpf_core_field_exists(device->index) ? BPF_CORE_READ(device, index) : ~0U;
}

static __always_inline int port_event(const struct ib_event *event)
{
	struct bpf_event_port *e = EVENT_RESERVE(BPF_EVENT_PORT, struct bpf_event_port);

	if (!e)
		return 0;
	read_device(e->device, BPF_CORE_READ(event, device));
	e->index = index_of(BPF_CORE_READ(event, device));
	e->event = BPF_CORE_READ(event, event);
	if (e->event != EVENT_DEVICE_FATAL)
		e->port = BPF_CORE_READ(event, element.port_num);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry")
int BPF_PROG(port_event_fentry, const struct ib_event *event)
{
	return port_event(event);
}

SEC("kprobe")
int BPF_KPROBE(port_event_kprobe, const struct ib_event *event)
{
	return port_event(event);
}
