// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rxe_events.bpf.c - reports why soft-RoCE queue pairs fail (drivers/infiniband/sw/rxe).
 *
 * rxe_cq_post() adds every completion to its queue; one with an error status shows why the queue
 * pair is about to fail. With a NIC, only the application gets that completion. Timeouts and ICRC
 * errors are counted per device, because rxe does not count them. */
#include "vmlinux.h"

#include "common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* enum ib_wc_status: requests flushed because the queue pair has failed already */
#define WC_FLUSHED 5
#define QP_STATE   1U /* of enum ib_qp_attr_mask */
#define QPS_ERR	   6  /* of enum ib_qp_state */

/* --- failed completions ----------------------------------------------------------------------- */

struct second {
	__u64 number;
	__u32 n;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct second);
} failures SEC(".maps");

/* Returns false if too many failures were reported in this second. Not locked: concurrent CPUs may
 * exceed the rate by a few. */
static __always_inline bool within_rate(void)
{
	__u64 now = bpf_ktime_get_ns() / 1000000000;
	__u32 key = 0;
	struct second *s = bpf_map_lookup_elem(&failures, &key);

	if (!s)
		return false;
	if (s->number != now) {
		s->number = now;
		s->n = 0;
	}
	if (s->n >= BPF_FAILURES_PER_SECOND) {
		count_loss(BPF_SUPPRESSED);
		return false;
	}
	__sync_fetch_and_add(&s->n, 1);
	return true;
}

static __always_inline void report_failed(struct ib_device *device, __u32 qpn, __u32 status,
					  __u32 vendor_error)
{
	struct bpf_event_qp_failed *e = EVENT_RESERVE(BPF_EVENT_QP_FAILED,
						      struct bpf_event_qp_failed);

	if (!e)
		return;
	bpf_probe_read_kernel_str(e->device, sizeof(e->device), device->name);
	e->qpn = qpn;
	e->status = status;
	e->vendor_error = vendor_error;
	e->event = -1;
	bpf_ringbuf_submit(e, 0);
}

static __always_inline int completed(struct rxe_cq *cq, struct rxe_cqe *cqe)
{
	bool user = BPF_CORE_READ(cq, is_user);
	__u32 status = user ? BPF_CORE_READ(cqe, uibwc.status) : BPF_CORE_READ(cqe, ibwc.status);

	if (status == 0 || status == WC_FLUSHED || !within_rate())
		return 0;
	if (user)
		report_failed(BPF_CORE_READ(cq, ibcq.device), BPF_CORE_READ(cqe, uibwc.qp_num),
			      status, BPF_CORE_READ(cqe, uibwc.vendor_err));
	else
		report_failed(BPF_CORE_READ(cq, ibcq.device), BPF_CORE_READ(cqe, ibwc.qp, qp_num),
			      status, BPF_CORE_READ(cqe, ibwc.vendor_err));
	return 0;
}

SEC("fentry")
int BPF_PROG(soft_completion_fentry, struct rxe_cq *cq, struct rxe_cqe *cqe)
{
	return completed(cq, cqe);
}

SEC("kprobe")
int BPF_KPROBE(soft_completion_kprobe, struct rxe_cq *cq, struct rxe_cqe *cqe)
{
	return completed(cq, cqe);
}

/* --- error state entered by the driver -------------------------------------------------------- */

static __always_inline int failed(struct rxe_qp *qp)
{
	struct bpf_event_qp *e;

	if (BPF_CORE_READ(qp, attr.qp_state) == QPS_ERR)
		return 0; /* already in the error state */
	e = EVENT_RESERVE(BPF_EVENT_QP, struct bpf_event_qp);
	if (!e)
		return 0;
	bpf_probe_read_kernel_str(e->device, sizeof(e->device),
				  BPF_CORE_READ(qp, ibqp.device)->name);
	e->change = BPF_QP_MODIFIED;
	e->attr_mask = QP_STATE;
	e->state = QPS_ERR;
	e->qpn = BPF_CORE_READ(qp, ibqp.qp_num);
	e->type = BPF_CORE_READ(qp, ibqp.qp_type);
	e->port = BPF_CORE_READ(qp, ibqp.port);
	e->kernel = !BPF_CORE_READ(qp, ibqp.res.user);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry")
int BPF_PROG(soft_qp_failed_fentry, struct rxe_qp *qp)
{
	return failed(qp);
}

SEC("kprobe")
int BPF_KPROBE(soft_qp_failed_kprobe, struct rxe_qp *qp)
{
	return failed(qp);
}

/* --- counters --------------------------------------------------------------------------------- */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_SOFT_DEVICES_MAX);
	__type(key, struct bpf_soft_key);
	__type(value, struct bpf_soft_counts);
} soft_counts SEC(".maps");

static __always_inline int count(struct ib_device *device, enum bpf_soft_kind kind)
{
	const struct bpf_soft_counts none = {};
	struct bpf_soft_key key = {};
	struct bpf_soft_counts *c;

	bpf_probe_read_kernel_str(key.device, sizeof(key.device), device->name);
	c = bpf_map_lookup_elem(&soft_counts, &key);
	if (!c) {
		bpf_map_update_elem(&soft_counts, &key, &none, BPF_NOEXIST);
		c = bpf_map_lookup_elem(&soft_counts, &key);
	}
	if (c)
		__sync_fetch_and_add(&c->n[kind], 1);
	return 0;
}

static __always_inline struct ib_device *device_of(struct rxe_qp *qp)
{
	return BPF_CORE_READ(qp, ibqp.device);
}

#define TIMERS_QP(timer, member) ((void *)(timer)-bpf_core_field_offset(struct rxe_qp, member))

SEC("fentry")
int BPF_PROG(soft_retransmit_fentry, struct timer_list *timer)
{
	return count(device_of(TIMERS_QP(timer, retrans_timer)), BPF_SOFT_RETRANSMIT_TIMEOUT);
}

SEC("kprobe")
int BPF_KPROBE(soft_retransmit_kprobe, struct timer_list *timer)
{
	return count(device_of(TIMERS_QP(timer, retrans_timer)), BPF_SOFT_RETRANSMIT_TIMEOUT);
}

SEC("fentry")
int BPF_PROG(soft_rnr_fentry, struct timer_list *timer)
{
	return count(device_of(TIMERS_QP(timer, rnr_nak_timer)), BPF_SOFT_RNR_TIMEOUT);
}

SEC("kprobe")
int BPF_KPROBE(soft_rnr_kprobe, struct timer_list *timer)
{
	return count(device_of(TIMERS_QP(timer, rnr_nak_timer)), BPF_SOFT_RNR_TIMEOUT);
}

/* An fexit program, because only the return value shows the error, and a kretprobe has no access to
 * the device. */
SEC("fexit")
int BPF_PROG(soft_icrc_fexit, void *skb, struct rxe_pkt_info *packet, int result)
{
	struct rxe_dev *rxe;

	if (result == 0)
		return 0;
	rxe = BPF_CORE_READ(packet, rxe);
	return count(&rxe->ib_dev, BPF_SOFT_ICRC);
}
