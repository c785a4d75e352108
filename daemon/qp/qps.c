// SPDX-License-Identifier: Apache-2.0
/* qps.c - see qps.h. Success: event -> table -> look up the owner -> send an event if the queue
 * pair failed.
 *
 * Two kinds of jobs run on workers, at most one of each: dumps, which last as long as the devices
 * need to answer, and reading the flows. */
#include "qps.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "back_off.h"
#include "cleanup.h"
#include "job.h"
#include "log.h"
#include "owners.h"
#include "packet_ports.h"
#include "qps_work.h"
#include "timer.h"
#include "unix_time.h"

/* READ_AGE_MS: without events, an older table is read again on request, which needs a firmware
 * command per queue pair. READ_PAUSE_MS: minimum pause between dumps. */
#define READ_AGE_MS	   30000
#define READ_PAUSE_MS	   5000
/* Maximum of the exponential backoff after failed dumps. */
#define RETRY_PAUSE_MAX_MS 60000

struct refresh {
	void (*done)(uint64_t now_ms, void *arg);
	void *arg;
};

struct qps {
	uv_loop_t *loop;
	const struct hw *hw;
	const struct inventory *inventory;
	struct owners *owners;
	struct qps_hooks hooks;
	bool events, closing;
	struct timer timer;
	struct qp_table table;
	struct qp_failures failures;
	struct job dumping, reading;
	struct qps_work *dump;	   /* the running dump; NULL = none */
	struct packet_view *view;  /* the view being read, put back afterwards */
	struct packet_sample read; /* the worker's result */
	int read_result;
	bool has_flows;
	struct packet_sample flows; /* kept while requests are answered */
	bool wants_dump;
	uint64_t dump_ms;  /* earliest time of the next dump */
	uint32_t retry_ms; /* backoff after the last dump, if it failed */
	uint64_t read_ms;
	char read_error[256];
	struct refresh *refreshes;   /* owned */
	size_t n_refreshes, n_ready; /* the first n_ready of them need no more data */
};

static void qps_start_due(struct qps *q);

/* --- failures --------------------------------------------------------------------------------- */

static void on_failure(struct qps *q, const struct qp *qp)
{
	const struct rdma_dev *d = host_rdma(&q->inventory->host, qp->device);
	const char *device = d && d->function[0] ? d->function : qp->device;
	bool detailed;
	struct event e;

	qp_failures_report(&q->failures, qp, uv_now(q->loop), &e, &detailed);
	e.first_ms = e.last_ms = unix_ms();
	snprintf(e.device, sizeof(e.device), "%s", device);
	if (qp->owner_known)
		owners_deliver_to_pod(q->owners, qp->pod_uid, &e);
	else
		owners_deliver(q->owners, qp->pid, qp->cgroup, &e);
}

/* --- processes -------------------------------------------------------------------------------- */

static void find_qp_owner(struct qps *q, const struct qp *qp)
{
	const struct process_owner *owner;

	if (qp->owner_known || qp->pid == 0)
		return;
	owner = owners_find(q->owners, qp->pid, qp->cgroup);
	if (owner)
		qp_table_name_one(&q->table, qp, owner);
}

void qps_named(struct qps *q, const struct process_owner *owners, size_t n)
{
	if (q)
		qp_table_name(&q->table, owners, n);
}

/* --- work ------------------------------------------------------------------------------------- */

static void qps_free(void *arg)
{
	struct qps *q = arg;

	qp_table_done(&q->table);
	free(q->refreshes);
	packet_sample_done(&q->flows);
	free(q);
}

static void close_if_done(struct qps *q)
{
	if (q->closing && !q->dumping.running && !q->reading.running)
		timer_close(&q->timer, qps_free);
}

/* Answers one ready request per turn of the loop, because building an answer may be slow. Frees the
 * flows after the last one, because they are too large to keep. */
static void answer_one(struct qps *q)
{
	struct refresh first;

	if (q->n_ready > 0) {
		first = q->refreshes[0];
		q->n_ready--;
		q->n_refreshes--;
		memmove(&q->refreshes[0], &q->refreshes[1], q->n_refreshes * sizeof(first));
		first.done(uv_now(q->loop), first.arg);
	}
	if (q->n_refreshes > 0)
		return;
	packet_sample_done(&q->flows);
	q->has_flows = false;
}

/* True if requests wait for the running dump. With events, the table is as current as a dump. */
static bool waits_for_dump(const struct qps *q)
{
	return q->dumping.running && !q->events;
}

static void answer_if_read(struct qps *q)
{
	if (q->reading.running || waits_for_dump(q))
		return;
	q->n_ready = q->n_refreshes;
	answer_one(q);
}

static void read_view(void *arg)
{
	struct qps *q = arg;

	q->read_result = packet_view_read(q->view, true, &q->read);
}

static void qps_on_read(void *arg)
{
	struct qps *q = arg;

	packet_view_put(take_ptr(q->view));
	if (q->closing) {
		packet_sample_done(&q->read);
		close_if_done(q);
		return;
	}
	if (q->read_result == 0) {
		packet_sample_done(&q->flows);
		q->flows = q->read;
		q->has_flows = true;
	} else {
		packet_sample_done(&q->read);
	}
	answer_if_read(q);
	qps_start_due(q);
}

static void qps_read_flows(struct qps *q)
{
	q->view = q->hooks.packets ? q->hooks.packets(q->hooks.arg) : NULL;
	if (!q->view)
		return;
	q->read = (struct packet_sample){0};
	job_begin(&q->reading, q->loop, "reading flows", read_view, qps_on_read, q);
}

/* Schedules another dump after a failed one, because some values are only in dumps. A kernel
 * without RDMA has no dumps. */
static void schedule_retry(struct qps *q, int result)
{
	if (result == 0 || result == -EPROTONOSUPPORT) {
		q->retry_ms = 0;
		return;
	}
	q->wants_dump = true;
	q->dump_ms = uv_now(q->loop) + back_off(&q->retry_ms, READ_PAUSE_MS, RETRY_PAUSE_MAX_MS);
}

/* Applies the part that could be read. */
static void replace_table(struct qps *q, struct qps_work *w)
{
	const struct rdma_qp_list *l = &w->list;
	int r = 0;

	if (w->result == 0)
		w->result = qp_table_replace(&q->table, l->items, l->n, w->begun_ns);
	else if (l->n_devices > 0)
		r = qp_table_replace_some(&q->table, l->items, l->n, w->begun_ns,
					  (const char(*)[RDMA_NAME_SIZE])l->devices, l->n_devices);
	else
		qp_table_dump_failed(&q->table);
	if (r == 0)
		qp_table_name(&q->table, w->owners, w->n_owners);
}

static void apply_dump(struct qps *q, struct qps_work *w)
{
	replace_table(q, w);
	schedule_retry(q, w->result);
	if (w->result == 0) {
		q->read_ms = uv_now(q->loop);
		q->read_error[0] = '\0';
		q->table.dropped += w->list.dropped;
		return;
	}
	if (!w->err.code)
		err_set(&w->err, w->result, "queue pairs: %s", strerror(-w->result));
	/* A kernel without RDMA is reported by the node's scan, so it is not logged here. */
	if (strcmp(q->read_error, w->err.msg) != 0 && w->result != -EPROTONOSUPPORT)
		log_warn("qps", 0, "%s, going on without the data of RDMA netlink", w->err.msg);
	snprintf(q->read_error, sizeof(q->read_error), "%s", w->err.msg);
}

static void run_dump(void *arg)
{
	qps_work_run(((struct qps *)arg)->dump);
}

static void on_dumped(void *arg)
{
	struct qps *q = arg;
	struct qps_work *w = take_ptr(q->dump);

	if (!q->closing) {
		q->dump_ms = uv_now(q->loop) + READ_PAUSE_MS;
		apply_dump(q, w);
	}
	qps_work_free(w);
	if (q->closing) {
		close_if_done(q);
		return;
	}
	answer_if_read(q);
	qps_start_due(q);
}

static void begin_dump(struct qps *q)
{
	struct qps_work *w = qps_work_new(q->hw, &q->inventory->host);

	if (!w) {
		q->dump_ms = uv_now(q->loop) + READ_PAUSE_MS;
		return;
	}
	q->wants_dump = false;
	qp_table_dump_begins(&q->table);
	q->dump = w;
	job_begin(&q->dumping, q->loop, "the dump of queue pairs", run_dump, on_dumped, q);
}

static void qps_on_timer(void *arg)
{
	struct qps *q = arg;

	if (q->n_ready > 0)
		answer_one(q);
	qps_start_due(q);
}

/* Starts the work that is due. */
static void qps_start_due(struct qps *q)
{
	if (q->wants_dump && !q->dump && q->dump_ms <= uv_now(q->loop))
		begin_dump(q);
	if (q->n_ready > 0)
		timer_in(&q->timer, 1); /* in the next iteration of the loop, after other handles */
	else
		timer_at(&q->timer, q->wants_dump && !q->dump ? q->dump_ms : TIMER_NEVER);
}

/* --- events ----------------------------------------------------------------------------------- */

static void qps_on_qp(struct qps *q, const struct bpf_event_qp *e)
{
	const struct qp *qp = qp_table_event(&q->table, e);
	struct bpf_event_qp_failed failed = {.head = e->head, .qpn = e->qpn, .event = -1};
	bool first = false;

	if (!qp || e->change == BPF_QP_DESTROYED)
		return;
	find_qp_owner(q, qp);
	if (!qp_failure_is_move(qp, e))
		return;
	memcpy(failed.device, e->device, sizeof(failed.device));
	qp_table_failed(&q->table, &failed, &first);
	if (first)
		on_failure(q, qp);
}

/* Handles a failure, also of a queue pair that is not in the table. */
static void on_failed(struct qps *q, const struct bpf_event_qp_failed *e)
{
	const struct qp *qp;
	bool first = true;
	struct qp unknown;

	if (!qp_failure_is_one(e))
		return;
	qp = qp_table_failed(&q->table, e, &first);
	if (!qp) {
		qp_init(&unknown, e->device, e->qpn);
		unknown.failed_status = e->status;
		unknown.failed_event = e->event;
		qp = &unknown;
	}
	if (first)
		on_failure(q, qp);
}

/* Updates whether there are events. When they start, a dump is needed for queue pairs that were
 * created before the programs were loaded. */
static void follow_programs(struct qps *q)
{
	bool events = q->hooks.events && q->hooks.events(q->hooks.arg);

	q->wants_dump |= events && !q->events;
	q->events = events;
}

void qps_update(struct qps *q)
{
	if (!q)
		return;
	follow_programs(q);
	qps_start_due(q);
}

void qps_event(struct qps *q, const struct bpf_event *e)
{
	if (!q)
		return;
	follow_programs(q);
	if (!e)
		q->wants_dump = true;
	else if (e->kind == BPF_EVENT_QP)
		qps_on_qp(q, (const struct bpf_event_qp *)e);
	else if (e->kind == BPF_EVENT_QP_FAILED)
		on_failed(q, (const struct bpf_event_qp_failed *)e);
	else
		return;
	qps_start_due(q);
}

/* --- requests --------------------------------------------------------------------------------- */

const struct qp_table *qps_table(const struct qps *q)
{
	return &q->table;
}

const struct qp_failures *qps_failures(const struct qps *q)
{
	return &q->failures;
}

void qps_get_sources(const struct qps *q, struct qp_sources *ret, struct qps_status *ret_status)
{
	*ret = (struct qp_sources){.table = &q->table};
	ret->packets = q->has_flows ? &q->flows : NULL;
	ret->sandboxes = q->hooks.sandboxes ? q->hooks.sandboxes(q->hooks.arg) : NULL;
	*ret_status = (struct qps_status){.events = q->events, .read_ms = q->read_ms};
	memcpy(ret_status->error, q->read_error, sizeof(ret_status->error));
}

/* True if the table is old and there are no events. */
static bool is_stale(const struct qps *q)
{
	uint64_t now_ms = uv_now(q->loop);

	if (q->events || (q->read_error[0] && q->dump_ms > now_ms))
		return false;
	return q->read_ms == 0 || now_ms - q->read_ms >= READ_AGE_MS;
}

int qps_refresh(struct qps *q, void (*done)(uint64_t now_ms, void *arg), void *arg)
{
	struct refresh *slot;

	follow_programs(q);
	if (!q->reading.running)
		qps_read_flows(q);
	if (!q->dump && is_stale(q)) {
		q->wants_dump = true;
		q->dump_ms = 0;
	}
	qps_start_due(q);
	slot = q->reading.running || waits_for_dump(q) ? array_push(q->refreshes, q->n_refreshes)
						       : NULL;
	if (!slot)
		return 0;
	*slot = (struct refresh){done, arg};
	return 1;
}

int qps_open(struct qps **ret, struct uv_loop_s *loop, const struct hw *hw,
	     const struct inventory *inventory, struct owners *owners,
	     const struct qps_hooks *hooks, struct err *e)
{
	struct qps *q = calloc(1, sizeof(*q));

	if (!q)
		return err_set(e, -ENOMEM, "out of memory");
	q->loop = loop;
	q->hw = hw;
	q->inventory = inventory;
	q->owners = owners;
	q->hooks = *hooks;
	timer_init(&q->timer, loop, qps_on_timer, q);
	q->wants_dump = true;
	qps_start_due(q);
	*ret = q;
	return 0;
}

void qps_close(struct qps *q)
{
	if (!q)
		return;
	q->closing = true;
	q->n_ready = q->n_refreshes;
	while (q->n_ready > 0)
		answer_one(q);
	timer_at(&q->timer, TIMER_NEVER);
	close_if_done(q);
}
