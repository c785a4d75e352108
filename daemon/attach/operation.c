/* operation.c - the work on one device: its steps on a worker, the IPAM plugin between two of them.
 *
 * Happy path: queued -> worker -> (IPAM plugin -> queued -> worker) -> outcome. An attach that
 * fails or is not wanted any more goes on as the return that undoes it. Can fail by: any step
 * (outcome.c), the plugin (an attach is undone; a return asks a few times, then goes on: an address
 * may leak, a device must not). */
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "kill_point.h"
#include "log.h"
#include "worker.h"

/* The pool of threads is the looks' and the sampler's, too. */
#define WORKING_MAX   4
/* Within the gate's time; a return has none, but the device waits. */
#define IPAM_ADD_MS   15000
#define IPAM_DEL_MS   5000
#define IPAM_DEL_MAX  3
#define IPAM_PAUSE_MS 300

enum operation_place { PLACE_QUEUE, PLACE_WORKER, PLACE_IPAM, PLACE_PAUSE };

struct operation {
	struct operation *next; /* in its list */
	struct attachment *a;
	enum operation_kind kind;
	enum operation_place place;
	bool repair;
	const char *step; /* with which the worker began */
	uint64_t due_ms;  /* of a pause */
	struct ipam_call *ipam;
	uv_work_t work;
	struct attach_job job; /* the worker's while it has it */
	int result;
};

const char *operation_step(const struct operation *op)
{
	return op->step;
}

/* --- queue and workers ------------------------------------------------------------------------ */

static void on_worker(uv_work_t *work)
{
	struct operation *op = work->data;
	const struct attach_ops *ops = op->a->engine->ops;

	worker_begin();
	switch (op->kind) {
	case OP_ATTACH:
	case OP_RETURN:
		op->result = ops->run(&op->job);
		return;
	case OP_CHECK:
		op->result = ops->check(&op->job, op->repair);
		return;
	case OP_ANNOUNCE:
		op->result = ops->announce(&op->job);
		return;
	}
}

static void name_step(struct operation *op)
{
	switch (op->kind) {
	case OP_ATTACH:
		op->step = attach_step_name((enum attach_step)op->job.next);
		return;
	case OP_RETURN:
		op->step = return_step_name((enum return_step)op->job.next);
		return;
	case OP_CHECK:
		op->step = "check";
		return;
	case OP_ANNOUNCE:
		op->step = "announce";
		return;
	}
}

/* What has begun goes before what waits. */
static void enqueue(struct operation *op, bool begun)
{
	struct operation **at = &op->a->engine->queue;

	while (*at && !begun)
		at = &(*at)->next;
	op->place = PLACE_QUEUE;
	op->next = *at;
	*at = op;
	name_step(op);
}

/* The first whose container waits, else the first. */
static struct operation *dequeue(struct attach_engine *e)
{
	struct operation **at = &e->queue, *op;

	while (*at && !gates_await(e, &(*at)->a->record))
		at = &(*at)->next;
	if (!*at)
		at = &e->queue;
	op = *at;
	*at = op->next;
	return op;
}

static void on_worked(uv_work_t *, int status);

void operations_pump(struct attach_engine *e)
{
	while (e->queue && e->n_working < WORKING_MAX && !e->closing) {
		struct operation *op = dequeue(e);

		op->place = PLACE_WORKER;
		op->work.data = op;
		/* Fails only without a function to run. */
		uv_queue_work(e->loop, &op->work, on_worker, on_worked);
		e->n_working++;
	}
}

static struct operation *operation_new(struct attachment *a, enum operation_kind kind)
{
	struct attach_engine *e = a->engine;
	struct operation *op = calloc(1, sizeof(*op));

	if (!op) {
		log_warn("attach", -ENOMEM, "%s has to wait", a->record.function);
		a->retry_ms = uv_now(e->loop) + ENGINE_MEMORY_MS;
		engine_wake(e, ENGINE_MEMORY_MS);
		return NULL;
	}
	op->a = a;
	op->kind = kind;
	op->job = (struct attach_job){.hw = e->hw,
				      .journal = e->journal,
				      .record = a->record,
				      .is_return = kind == OP_RETURN};
	a->op = op;
	e->list_changed = true;
	return op;
}

static void operation_free(struct operation *op)
{
	op->a->op = NULL;
	op->a->engine->list_changed = true;
	if (op->kind == OP_CHECK)
		op->a->engine->checking = false;
	free(op);
}

/* --- return ----------------------------------------------------------------------------------- */

static void pause_operation(struct operation *op, uint64_t ms)
{
	struct attach_engine *e = op->a->engine;

	op->place = PLACE_PAUSE;
	op->due_ms = uv_now(e->loop) + ms;
	op->next = e->paused;
	e->paused = op;
	engine_wake(e, ms);
}

static void go_on_without_address(struct operation *op)
{
	op->job.next = BACK_VERIFY;
	enqueue(op, true);
	operations_pump(op->a->engine);
}

static void ipam_refused(struct operation *op, const struct err *err)
{
	struct attachment *a = op->a;
	char device[DEVICE_TEXT_SIZE];

	if (err->code != -ENOENT && err->code != -EINVAL && ++a->ipam_tries < IPAM_DEL_MAX) {
		pause_operation(op, (uint64_t)IPAM_PAUSE_MS << a->ipam_tries);
		return;
	}
	engine_event(a->engine, EVENT_WARNING, "AddressLeak", &a->record,
		     "the address of %s may stay taken, its release failed: %s",
		     device_text(&a->record, device), err->msg);
	go_on_without_address(op);
}

static void on_released(const char *text, size_t len, const struct err *err, void *arg)
{
	struct operation *op = arg;

	(void)text, (void)len;
	op->ipam = NULL;
	kill_point("back-ipam", "after");
	if (err->code < 0) {
		ipam_refused(op, err);
		return;
	}
	op->a->ipam_asked = false;
	go_on_without_address(op);
}

static void release_address(struct operation *op)
{
	struct attach_engine *e = op->a->engine;
	struct err err = {0};

	if (!op->a->record.plan.ipam[0] || !op->a->ipam_asked) {
		go_on_without_address(op);
		return;
	}
	kill_point("back-ipam", "before");
	op->place = PLACE_IPAM;
	if (ipam_start(&op->ipam, e->loop, IPAM_DEL, &op->job.record, e->cni_path, IPAM_DEL_MS,
		       on_released, op, &err) < 0)
		ipam_refused(op, &err);
}

static void go_back(struct operation *op)
{
	struct attachment *a = op->a;
	struct err err = op->job.err;

	if (op->result < 0 && op->job.next == BACK_RECORD) {
		/* A journal that cannot be written keeps nothing away from the host. */
		log_warn("attach", 0, "%s, returning %s all the same", err.msg, a->record.function);
		op->job.next = BACK_RDMA;
		enqueue(op, true);
	} else if (op->result < 0) {
		operation_free(op);
		outcome_stuck(a, &err);
	} else if (op->job.next == BACK_IPAM) {
		release_address(op);
	} else {
		operation_free(op);
		outcome_returned(a);
	}
}

void attachment_return(struct attachment *a, const char *why)
{
	struct operation *op = operation_new(a, OP_RETURN);

	if (!op)
		return;
	a->why = why;
	a->interrupted = false;
	a->ipam_tries = 0;
	a->began_us = uv_hrtime() / 1000;
	if (a->record.state != ATTACH_RETURNING)
		attachment_become(a, ATTACH_RETURNING);
	op->job.record.state = ATTACH_RETURNING;
	enqueue(op, false);
	operations_pump(a->engine);
}

/* --- attach ----------------------------------------------------------------------------------- */

/* Nothing was changed while its record is free (STEP_RECORD). */
static void undo(struct operation *op)
{
	struct attachment *a = op->a;

	if (op->job.record.state == ATTACH_FREE) {
		operation_free(op);
		outcome_unchanged(a);
		return;
	}
	attachment_become(a, ATTACH_RETURNING);
	a->ipam_tries = 0;
	a->began_us = uv_hrtime() / 1000;
	op->kind = OP_RETURN;
	op->job.is_return = true;
	op->job.next = BACK_RECORD;
	op->job.err = (struct err){0};
	op->job.record.state = ATTACH_RETURNING;
	enqueue(op, true);
}

static void fail(struct operation *op, const struct err *err)
{
	outcome_failed(op->a, attach_step_name((enum attach_step)op->job.next), err);
	undo(op);
}

static void configure(struct operation *op)
{
	op->job.next = STEP_CONFIGURE;
	enqueue(op, true);
}

static void on_address(const char *text, size_t len, const struct err *err, void *arg)
{
	struct operation *op = arg;
	struct attach_engine *e = op->a->engine;
	struct err failure = *err;

	op->ipam = NULL;
	kill_point("attach-ipam", "after");
	if (failure.code == 0)
		ipam_parse_result(&op->job.record, text, len, &failure);
	if (failure.code < 0)
		fail(op, &failure);
	else if (op->a->why)
		undo(op);
	else
		configure(op);
	operations_pump(e);
	engine_decide_soon(e);
}

static void ask_address(struct operation *op)
{
	struct attachment *a = op->a;
	uint32_t ms = a->timeout_ms && a->timeout_ms < IPAM_ADD_MS ? a->timeout_ms : IPAM_ADD_MS;
	struct err err = {0};

	if (!a->record.plan.ipam[0]) {
		configure(op);
		return;
	}
	kill_point("attach-ipam", "before");
	op->place = PLACE_IPAM;
	op->step = attach_step_name(STEP_IPAM);
	if (ipam_start(&op->ipam, a->engine->loop, IPAM_ADD, &op->job.record, a->engine->cni_path,
		       ms, on_address, op, &err) < 0)
		fail(op, &err);
	else
		a->ipam_asked = true;
}

static void go_in(struct operation *op)
{
	struct attachment *a = op->a;
	struct err err = op->job.err;

	if (op->result < 0) {
		fail(op, &err);
	} else if (op->job.next >= N_ATTACH_STEPS) {
		operation_free(op);
		outcome_attached(a);
	} else if (a->why) {
		undo(op);
	} else {
		ask_address(op);
	}
}

void attachment_attach(struct attachment *a)
{
	struct operation *op = operation_new(a, OP_ATTACH);

	if (!op)
		return;
	a->why = NULL;
	a->failure = a->trouble = (struct err){0};
	a->ipam_asked = a->interrupted = false;
	a->drift = 0;
	a->began_us = uv_hrtime() / 1000;
	attachment_become(a, ATTACH_ATTACHING);
	enqueue(op, false);
	operations_pump(a->engine);
}

/* --- looking after ---------------------------------------------------------------------------- */

void attachment_check(struct attachment *a, bool repair)
{
	struct operation *op = operation_new(a, OP_CHECK);

	if (!op)
		return;
	op->repair = repair;
	a->engine->checking = true;
	enqueue(op, false);
	operations_pump(a->engine);
}

void attachment_announce(struct attachment *a)
{
	struct operation *op = operation_new(a, OP_ANNOUNCE);

	if (!op)
		return;
	enqueue(op, false);
	operations_pump(a->engine);
}

static void end_check(struct operation *op)
{
	struct attachment *a = op->a;
	bool repair = op->repair;
	unsigned drift = op->job.drift;
	struct err err = op->job.err;
	int result = op->result;

	operation_free(op);
	outcome_checked(a, result, drift, repair, &err);
}

static void end_announce(struct operation *op)
{
	if (op->result < 0)
		log_info("attach", op->result, "%s: the neighbours were not told: %s",
			 op->a->record.function, op->job.err.msg);
	operation_free(op);
}

/* --- between workers -------------------------------------------------------------------------- */

/* The state is the loop's: it knows what is to come. */
static void take_record(struct operation *op)
{
	struct attach_record *r = &op->a->record;
	enum attach_state state = r->state;

	*r = op->job.record;
	r->state = state;
	if (r->serial > op->a->engine->serial)
		op->a->engine->serial = r->serial;
}

static void on_worked(uv_work_t *work, int status)
{
	struct operation *op = work->data;
	struct attach_engine *e = op->a->engine;

	(void)status;
	e->n_working--;
	if (e->closing) {
		operation_free(op);
		engine_release_if_done(e);
		return;
	}
	switch (op->kind) {
	case OP_ATTACH:
		take_record(op);
		go_in(op);
		break;
	case OP_RETURN:
		take_record(op);
		go_back(op);
		break;
	case OP_CHECK:
		end_check(op);
		break;
	case OP_ANNOUNCE:
		end_announce(op);
		break;
	}
	operations_pump(e);
	engine_decide_soon(e);
}

void operations_continue(struct attach_engine *e)
{
	uint64_t now = uv_now(e->loop);
	struct operation *op = e->paused;

	e->paused = NULL;
	while (op) {
		struct operation *next = op->next;

		if (op->due_ms <= now) {
			release_address(op);
		} else {
			op->next = e->paused;
			e->paused = op;
		}
		op = next;
	}
}

uint64_t operations_deadline(const struct attach_engine *e)
{
	uint64_t first = NEVER;

	for (const struct operation *op = e->paused; op; op = op->next)
		first = earlier(first, op->due_ms);
	return first;
}

void operations_close(struct attach_engine *e)
{
	for (size_t i = 0; i < e->n; i++) {
		struct operation *op = e->items[i]->op;

		if (!op || op->place == PLACE_WORKER)
			continue;
		ipam_cancel(op->ipam);
		operation_free(op);
	}
	e->queue = e->paused = NULL;
}
