// SPDX-License-Identifier: Apache-2.0
/* verbs_sniffer.c - captures RoCE packets with a sniffer flow rule.
 *
 * Success: create context, protection domain, completion queue with a channel to wait on, memory
 * for packets; move the queue pair to INIT and RTR, post all of the memory, then create the rule
 * that starts the capture. Each packet is delivered and its memory posted again. Errors: no such
 * device, no permission for raw packets, drivers without raw packet queue pairs (rxe, siw) or
 * without this type of rule (most except mlx5). */
#include "verbs_sniffer.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdlib.h>

#include "unix_time.h"

#define N_SLOTS	   4096
#define SLOT_SIZE  9216 /* a jumbo frame; the longest RoCE packet has half of that */
#define POLL_BATCH 64
#define PORT	   1

struct verbs_sniffer {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint8_t *memory; /* N_SLOTS * SLOT_SIZE */
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_flow *flow;
};

/* Returns the negative errno of a failed call; -EOPNOTSUPP if the provider has not set errno. */
static int last_error(void)
{
	int r = -errno;

	return r < 0 ? r : -EOPNOTSUPP;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	errno = ENODEV;
	for (size_t i = 0; list && list[i] && !context; i++)
		if (strcmp(ibv_get_device_name(list[i]), name) == 0)
			context = ibv_open_device(list[i]);
	if (list) {
		int saved = errno;

		ibv_free_device_list(list);
		errno = saved;
	}
	return context;
}

static int slot_post(struct verbs_sniffer *s, uint64_t slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(s->memory + slot * SLOT_SIZE),
			      .length = SLOT_SIZE,
			      .lkey = s->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	return -ibv_post_recv(s->qp, &wr, &bad);
}

/* Creates the objects of a raw packet queue pair; each needs the previous one. */
static int make_queue(struct verbs_sniffer *s)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RAW_PACKET,
					.cap = {.max_recv_wr = N_SLOTS, .max_recv_sge = 1}};

	s->pd = ibv_alloc_pd(s->context);
	s->channel = s->pd ? ibv_create_comp_channel(s->context) : NULL;
	s->cq = s->channel ? ibv_create_cq(s->context, N_SLOTS, NULL, s->channel, 0) : NULL;
	s->memory = s->cq ? malloc((size_t)N_SLOTS * SLOT_SIZE) : NULL;
	if (s->memory)
		s->mr = ibv_reg_mr(s->pd, s->memory, (size_t)N_SLOTS * SLOT_SIZE,
				   IBV_ACCESS_LOCAL_WRITE);
	attr.send_cq = attr.recv_cq = s->cq;
	s->qp = s->mr ? ibv_create_qp(s->pd, &attr) : NULL;
	if (!s->qp)
		return last_error();
	return fcntl(s->channel->fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int start_queue(struct verbs_sniffer *s)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = PORT},
			   rtr = {.qp_state = IBV_QPS_RTR};
	int r = -ibv_modify_qp(s->qp, &init, IBV_QP_STATE | IBV_QP_PORT);

	if (r == 0)
		r = -ibv_modify_qp(s->qp, &rtr, IBV_QP_STATE);
	for (uint64_t slot = 0; r == 0 && slot < N_SLOTS; slot++)
		r = slot_post(s, slot);
	return r == 0 ? -ibv_req_notify_cq(s->cq, 0) : r;
}

static int make_rule(struct verbs_sniffer *s)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_SNIFFER, .size = sizeof(attr), .port = PORT};

	errno = EOPNOTSUPP;
	s->flow = ibv_create_flow(s->qp, &attr);
	return s->flow ? 0 : last_error();
}

int verbs_sniffer_open(struct verbs_sniffer **ret, const char *rdma_device, struct err *e)
{
	struct verbs_sniffer *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (s) {
		s->context = open_device(rdma_device);
		r = s->context ? make_queue(s) : last_error();
	}
	if (r == 0)
		r = start_queue(s);
	if (r == 0)
		r = make_rule(s);
	if (r < 0) {
		verbs_sniffer_close(s);
		return err_set(e, r, "cannot create a sniffer flow on %.64s: %s", rdma_device,
			       strerror(-r));
	}
	*ret = s;
	return 0;
}

void verbs_sniffer_close(struct verbs_sniffer *s)
{
	if (!s)
		return;
	if (s->flow)
		ibv_destroy_flow(s->flow);
	if (s->qp)
		ibv_destroy_qp(s->qp);
	if (s->mr)
		ibv_dereg_mr(s->mr);
	free(s->memory);
	if (s->cq)
		ibv_destroy_cq(s->cq);
	if (s->channel)
		ibv_destroy_comp_channel(s->channel);
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	if (s->context)
		ibv_close_device(s->context);
	free(s);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Returns 1 to continue, 0 if fn returned false. */
static int slot_take(struct verbs_sniffer *s, const struct ibv_wc *wc, uint64_t now, sniffed_fn *fn,
		     void *arg)
{
	struct sniffed p = {s->memory + wc->wr_id * SLOT_SIZE, wc->byte_len, wc->byte_len, now};
	int r;

	if (wc->status != IBV_WC_SUCCESS)
		return -EIO;
	if (!fn(&p, arg))
		return 0;
	r = slot_post(s, wc->wr_id);
	return r < 0 ? r : 1;
}

/* Delivers completed packets. Returns 1 if the queue is empty, or after N_SLOTS packets, so that
 * the caller can check its deadline. */
static int sniffer_drain(struct verbs_sniffer *s, sniffed_fn *fn, void *arg)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = 0, r = 1;

	for (int left = N_SLOTS; left > 0; left -= n) {
		uint64_t now = (uint64_t)unix_ns();

		n = ibv_poll_cq(s->cq, POLL_BATCH, wc);
		if (n <= 0)
			break;
		for (int i = 0; r == 1 && i < n; i++)
			r = slot_take(s, &wc[i], now, fn, arg);
		if (r != 1)
			return r;
	}
	return n < 0 ? -EIO : 1;
}

/* Requests the next event before the queue is polled, so that no packet is missed. */
static int wait_for_event(struct verbs_sniffer *s, int wait_ms)
{
	struct pollfd p = {.fd = s->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;
	int r = poll(&p, 1, wait_ms);

	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	if (r == 0 || ibv_get_cq_event(s->channel, &cq, &context) < 0)
		return 0;
	ibv_ack_cq_events(cq, 1);
	return -ibv_req_notify_cq(cq, 0);
}

int verbs_sniffer_next(struct verbs_sniffer *s, int wait_ms, sniffed_fn *fn, void *arg,
		       struct err *e)
{
	int r = wait_for_event(s, wait_ms);

	if (r == 0)
		r = sniffer_drain(s, fn, arg);
	return r < 0 ? err_set(e, r, "the sniffer's queue: %s", strerror(-r)) : r;
}
