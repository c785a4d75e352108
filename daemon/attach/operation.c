// SPDX-License-Identifier: Apache-2.0
/* operation.c - see operation.h.
 *
 * Success: queued -> a worker runs steps (steps.h) -> the IPAM plugin, if there is one -> a
 * worker runs the remaining steps -> e->ended.
 * Failures: any step (e->ended); the plugin of a return (retried a few times, then the return
 * continues: an address may leak, a device must not). */
#include "operation.h"

#include <stdlib.h>
#include <string.h>

#include "attach_events.h"
#include "job.h"
#include "kill_point.h"
#include "log.h"
#include "numbers.h"

/* The thread pool is shared with the inventory's scans and the sampler. */
#define WORKING_MAX   4
/* ADD: shorter than a container's wait. DEL: a return has no deadline, but its device is in use
 * meanwhile. */
#define IPAM_ADD_MS   15000
#define IPAM_DEL_MS   5000
#define IPAM_DEL_MAX  3
#define IPAM_PAUSE_MS 300

enum operation_place { PLACE_QUEUE, PLACE_WORKER, PLACE_IPAM, PLACE_PAUSE };

struct operation {
	struct operation *next; /* in its list */
	struct attach_engine *engine;
	struct attachment *a;
	enum operation_kind kind;
	enum operation_place place;
	bool repair;
	uint64_t resume_ms; /* end of a pause */
	struct ipam_call *ipam;
	struct job worker;
	bool is_stuck;			  /* not counted for WORKING_MAX */
	struct attach_job job;		  /* owned by the worker while it runs */
	char (*taken)[CHARDEV_NAME_SIZE]; /* for the job; owned */
	int result;
};

/* --- begin and end ---------------------------------------------------------------------------- */

/* Collects the numbers that a new soft-RoCE device must not get. 0: done, or not needed. */
static int collect_numbers(struct operation *op)
{
	struct attach_job *job = &op->job;
	int r = 0;

	if (op->kind == OP_ATTACH && job->record.plan.soft_roce)
		r = numbers_taken(op->engine, op->a, &op->taken, &job->n_taken);
	job->taken = op->taken;
	return r;
}

static struct operation *operation_alloc(struct attach_engine *e, struct attachment *a,
					 enum operation_kind kind)
{
	struct operation *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->engine = e;
	op->a = a;
	op->kind = kind;
	op->job = (struct attach_job){
		.hw = e->hw, .record = a->record, .is_return = kind == OP_RETURN};
	if (collect_numbers(op) == 0)
		return op;
	free(op);
	return NULL;
}

static bool operation_moves(const struct operation *op)
{
	return op->kind == OP_ATTACH || op->kind == OP_RETURN;
}

static void notify_moving(const struct attach_engine *e, bool moving)
{
	if (e->hooks.moving && !e->closing)
		e->hooks.moving(moving, e->hooks.arg);
}

static struct operation *operation_new(struct attach_engine *e, struct attachment *a,
				       enum operation_kind kind)
{
	struct operation *op = operation_alloc(e, a, kind);

	if (!op) {
		log_warn("attach", -ENOMEM, "%s: cannot begin an operation, retrying",
			 a->record.function);
		a->retry_ms = engine_now(e) + ENGINE_MEMORY_MS;
		engine_tick_at(e, a->retry_ms);
		return NULL;
	}
	a->op = op;
	e->all.changed = true;
	if (operation_moves(op) && e->n_moving++ == 0)
		notify_moving(e, true);
	return op;
}

static void operation_free(struct operation *op)
{
	if (op->kind == OP_CHECK && !op->is_stuck)
		op->engine->n_checking--;
	if (operation_moves(op) && --op->engine->n_moving == 0)
		notify_moving(op->engine, false);
	op->a->op = NULL;
	op->a->step = NULL;
	op->engine->all.changed = true;
	free(op->taken);
	free(op);
}

static void operation_end(struct operation *op, int result, const struct err *err)
{
	struct attach_engine *e = op->engine;
	struct attachment *a = op->a;
	const struct operation_end how = {
		.kind = op->kind,
		.result = result,
		.step = a->step,
		.err = *err,
		.untouched = op->kind == OP_ATTACH && op->job.record.state == ATTACH_FREE,
		.drift = op->job.drift,
		.repaired = op->repair && !op->job.left,
	};

	operation_free(op);
	e->ended(e, a, &how);
}

/* --- queue and workers ------------------------------------------------------------------------ */

static void operation_run(void *arg)
{
	struct operation *op = arg;
	const struct attach_ops *ops = op->engine->ops;

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

static const char *step_name(const struct operation *op, int step)
{
	switch (op->kind) {
	case OP_ATTACH:
		return attach_step_name((enum attach_step)step);
	case OP_RETURN:
		return return_step_name((enum return_step)step);
	case OP_CHECK:
		return "check";
	case OP_ANNOUNCE:
		return "announce";
	}
	return NULL;
}

static const char *step_of(const struct operation *op)
{
	return step_name(op, op->job.next);
}

/* Called while a worker runs the operation. */
static void describe_work(const void *arg, char *ret, size_t size)
{
	static const char *const kinds[] = {
		[OP_ATTACH] = "the attach of",
		[OP_RETURN] = "the return of",
		[OP_CHECK] = "the check of",
		[OP_ANNOUNCE] = "the announcement of",
	};
	const struct operation *op = arg;
	char device[DEVICE_TEXT_SIZE];

	snprintf(ret, size, "%s %s, at step %s,", kinds[op->kind],
		 device_text(&op->a->record, device),
		 step_name(op, __atomic_load_n(&op->job.at, __ATOMIC_RELAXED)));
}

/* Returns the first operation for which a container waits, otherwise the first of all. */
static struct operation *dequeue(struct attach_engine *e)
{
	struct operation **at = &e->queue, *op;

	while (*at && !(*at)->a->awaited)
		at = &(*at)->next;
	if (!*at)
		at = &e->queue;
	op = *at;
	*at = op->next;
	return op;
}

static void operation_on_worked(void *arg);
static void on_slow(void *arg);

static void begin_work(struct operation *op)
{
	struct attach_engine *e = op->engine;

	op->place = PLACE_WORKER;
	op->job.journal = e->journal;
	op->job.at = op->job.next;
	job_begin(&op->worker, e->loop, "the work on a device", operation_run, operation_on_worked,
		  op);
	op->worker.describe = describe_work;
	op->worker.slow = on_slow;
	op->is_stuck = false;
	e->n_working++;
}

/* Starts queued operations while there are free workers. Starts none while a worker recreates the
 * journal: only that worker may write to it. */
static void pump(struct attach_engine *e)
{
	if (e->remake && e->journal && !e->closing) {
		if (e->n_working == 0 && !e->walk) /* the end of either causes a tick */
			engine_soon(e);
		return;
	}
	while (e->queue && e->n_working < WORKING_MAX)
		begin_work(dequeue(e));
}

/* An operation whose step hangs keeps its thread, but does not block other operations. */
static void on_slow(void *arg)
{
	struct operation *op = arg;
	struct attach_engine *e = op->engine;

	if (e->n_stuck == JOB_STUCK_MAX)
		return;
	op->is_stuck = true;
	e->n_stuck++;
	e->n_working--;
	if (op->kind == OP_CHECK) {
		e->n_checking--;
		engine_soon(e);
	}
	pump(e);
}

/* Adds the operation to the queue: at the head if it was begun before, otherwise at the end. */
static void enqueue(struct operation *op, bool begun)
{
	struct operation **at = &op->engine->queue;

	while (*at && !begun)
		at = &(*at)->next;
	op->place = PLACE_QUEUE;
	op->next = *at;
	*at = op;
	op->a->step = step_of(op);
	pump(op->engine);
}

/* --- results of a job ------------------------------------------------------------------------- */

/* Takes over the job's record, except for the state, which only the loop changes. */
static void operation_take_record(struct operation *op)
{
	struct attach_engine *e = op->engine;
	struct attach_record *r = &op->a->record;
	enum attach_state state = r->state;

	e->done_ms = engine_now(e);
	*r = op->job.record;
	r->state = state;
	if (r->serial > e->serial)
		e->serial = r->serial;
}

/* --- IPAM, between two jobs ------------------------------------------------------------------- */

static void go_on(struct operation *op, int next)
{
	op->job.next = next;
	enqueue(op, true);
}

static void pause_release(struct operation *op, uint64_t ms)
{
	struct attach_engine *e = op->engine;

	op->place = PLACE_PAUSE;
	op->resume_ms = engine_now(e) + ms;
	op->next = e->paused;
	e->paused = op;
	engine_tick_at(e, op->resume_ms);
}

static void on_release_failed(struct operation *op, const struct err *err)
{
	struct attachment *a = op->a;
	char device[DEVICE_TEXT_SIZE];

	if (err->code != -ENOENT && err->code != -EINVAL && ++a->ipam_tries < IPAM_DEL_MAX) {
		pause_release(op, (uint64_t)IPAM_PAUSE_MS << a->ipam_tries);
		return;
	}
	engine_event(op->engine, EVENT_WARNING, "AddressLeak", &a->record,
		     "IPAM DEL failed; the address of %s may be leaked: %s",
		     device_text(&a->record, device), err->msg);
	go_on(op, BACK_VERIFY);
}

static void on_released(const char *text, size_t len, const struct err *err, void *arg)
{
	struct operation *op = arg;

	(void)text, (void)len;
	op->ipam = NULL;
	kill_point("back-ipam", "after");
	if (err->code < 0) {
		on_release_failed(op, err);
		return;
	}
	op->a->ipam_asked = false;
	go_on(op, BACK_VERIFY);
}

static bool has_address_to_release(const struct attachment *a)
{
	return a->record.plan.ipam[0] && a->ipam_asked;
}

static void release_address(struct operation *op)
{
	struct attach_engine *e = op->engine;
	struct err err = {0};

	if (!has_address_to_release(op->a)) {
		go_on(op, BACK_VERIFY);
		return;
	}
	kill_point("back-ipam", "before");
	op->place = PLACE_IPAM;
	if (e->ops->ipam_start(&op->ipam, e->loop, IPAM_DEL, &op->job.record, NULL, &e->ipam_host,
			       IPAM_DEL_MS, on_released, op, &err) < 0)
		on_release_failed(op, &err);
}

static void operation_on_address(const char *text, size_t len, const struct err *err, void *arg)
{
	struct operation *op = arg;
	struct err failure = *err;

	op->ipam = NULL;
	kill_point("attach-ipam", "after");
	if (failure.code == -ENOENT) /* nothing has run, so no address has to be released */
		op->a->ipam_asked = false;
	if (failure.code == 0)
		ipam_parse_result(&op->job.record, text, len, &failure);
	operation_take_record(op); /* other requests for this address must see it */
	free(op->a->ipam_answer);
	op->a->ipam_answer = failure.code == 0 ? strndup(text, len) : NULL;
	if (failure.code < 0)
		operation_end(op, failure.code, &failure);
	else if (op->a->why)
		operation_end(op, -ECANCELED, &(struct err){0});
	else
		go_on(op, STEP_CONFIGURE);
}

static void request_address(struct operation *op)
{
	struct attach_engine *e = op->engine;
	struct attachment *a = op->a;
	uint32_t ms = a->timeout_ms && a->timeout_ms < IPAM_ADD_MS ? a->timeout_ms : IPAM_ADD_MS;
	struct err err = {0};

	if (!a->record.plan.ipam[0]) {
		go_on(op, STEP_CONFIGURE);
		return;
	}
	kill_point("attach-ipam", "before");
	op->place = PLACE_IPAM;
	a->step = attach_step_name(STEP_IPAM);
	if (e->ops->ipam_start(&op->ipam, e->loop, IPAM_ADD, &op->job.record, NULL, &e->ipam_host,
			       ms, operation_on_address, op, &err) == 0)
		a->ipam_asked = true;
	else
		operation_end(op, err.code, &err);
}

/* --- after a job ------------------------------------------------------------------------------ */

static void take_renewal(struct operation *op)
{
	struct attachment *a = op->a;

	if (!op->job.renewal)
		return;
	a->renewal = op->job.renewal;
	memcpy(a->left, op->job.traces, sizeof(a->left));
}

static void attach_worked(struct operation *op)
{
	operation_take_record(op);
	take_renewal(op);
	if (op->result < 0) {
		op->a->step = step_of(op);
		operation_end(op, op->result, &op->job.err);
	} else if (op->a->why) {
		operation_end(op, -ECANCELED, &(struct err){0});
	} else if (op->job.next >= N_ATTACH_STEPS) {
		operation_end(op, 0, &(struct err){0});
	} else {
		request_address(op);
	}
}

static void return_worked(struct operation *op)
{
	struct attachment *a = op->a;

	operation_take_record(op);
	a->superseded |= op->job.superseded;
	take_renewal(op);
	if (op->result == 0 && op->job.next == BACK_IPAM)
		release_address(op);
	else
		operation_end(op, op->result, &op->job.err);
}

/* Handles the end of a job while the engine closes. A return continues to its end, unless it needs
 * a plugin; other operations end here. */
static void worked_while_closing(struct operation *op)
{
	struct attach_engine *e = op->engine;

	if (op->kind == OP_RETURN && op->result == 0 && op->job.next == BACK_IPAM &&
	    !has_address_to_release(op->a)) {
		go_on(op, BACK_VERIFY);
		return;
	}
	operation_free(op);
	pump(e);
	engine_release_if_done(e);
}

static bool is_written_to(const struct attach_engine *e, const struct journal *j)
{
	if (e->probed == j)
		return true;
	for (size_t i = 0; i < e->all.n; i++) {
		const struct operation *op = e->all.items[i]->op;

		if (op && op->place == PLACE_WORKER && op->job.journal == j)
			return true;
	}
	return false;
}

void operations_close_unused(const struct attach_engine *e, struct journal *j)
{
	if (j && j != e->journal && !is_written_to(e, j))
		e->ops->journal_close(j);
}

void operations_leave_journal(struct attach_engine *e)
{
	struct journal *j = e->journal;

	e->journal = NULL;
	e->wants_journal = true;
	operations_close_unused(e, j);
}

/* Closes the journal if the engine has replaced it while the step was running. */
static void abandon_journal(struct operation *op)
{
	struct journal *j = op->job.journal;

	op->job.journal = NULL;
	operations_close_unused(op->engine, j);
}

static void operation_on_worked(void *arg)
{
	struct operation *op = arg;
	struct attach_engine *e = op->engine;

	abandon_journal(op);
	if (op->is_stuck)
		e->n_stuck--;
	else
		e->n_working--;
	if (e->closing) {
		worked_while_closing(op);
		return;
	}
	switch (op->kind) {
	case OP_ATTACH:
		attach_worked(op);
		break;
	case OP_RETURN:
		return_worked(op);
		break;
	case OP_CHECK:
	case OP_ANNOUNCE:
		operation_end(op, op->result, &op->job.err);
		break;
	}
	pump(e);
}

/* --- starting operations ---------------------------------------------------------------------- */

bool operation_attach(struct attach_engine *e, struct attachment *a)
{
	struct operation *op = operation_new(e, a, OP_ATTACH);

	if (!op)
		return false;
	a->why = NULL;
	a->failure = a->problem = (struct err){0};
	a->ipam_asked = a->interrupted = false;
	a->drift = 0;
	a->renewal = RENEWAL_NONE;
	a->began_us = uv_hrtime() / 1000;
	attachments_move(&e->all, a, ATTACH_ATTACHING, engine_now(e));
	enqueue(op, false);
	return true;
}

static bool begin_return(struct attach_engine *e, struct attachment *a, const char *why,
			 enum return_step first, bool begun)
{
	struct operation *op = operation_new(e, a, OP_RETURN);

	if (!op)
		return false;
	op->job.next = (int)first;
	op->job.may_replace = a->tries >= RETURN_TRIES_QUIET;
	a->why = why;
	a->interrupted = false;
	a->ipam_tries = 0;
	a->renewal = RENEWAL_NONE;
	a->superseded = false;
	a->began_us = uv_hrtime() / 1000;
	if (a->record.state != ATTACH_RETURNING)
		attachments_move(&e->all, a, ATTACH_RETURNING, engine_now(e));
	op->job.record.state = ATTACH_RETURNING;
	enqueue(op, begun);
	return true;
}

bool operation_return(struct attach_engine *e, struct attachment *a, const char *why)
{
	return begin_return(e, a, why, BACK_RECORD, false);
}

bool operation_undo(struct attach_engine *e, struct attachment *a, const char *why)
{
	return begin_return(e, a, why, BACK_RECORD, true);
}

bool operation_forget(struct attach_engine *e, struct attachment *a, const char *why)
{
	return begin_return(e, a, why, BACK_DONE, false);
}

bool operation_check(struct attach_engine *e, struct attachment *a, bool repair)
{
	struct operation *op = operation_new(e, a, OP_CHECK);

	if (op) {
		op->repair = repair;
		e->n_checking++;
		enqueue(op, false);
	}
	return op;
}

bool operation_announce(struct attach_engine *e, struct attachment *a)
{
	struct operation *op = operation_new(e, a, OP_ANNOUNCE);

	if (op)
		enqueue(op, false);
	return op;
}

/* --- all operations --------------------------------------------------------------------------- */

void operations_continue(struct attach_engine *e)
{
	struct operation *op = e->paused, *next;

	pump(e);
	e->paused = NULL;
	for (; op; op = next) {
		next = op->next;
		if (op->resume_ms <= engine_now(e)) {
			release_address(op);
			continue;
		}
		op->next = e->paused;
		e->paused = op;
		engine_tick_at(e, op->resume_ms);
	}
}

static bool goes_on_while_closing(const struct operation *op)
{
	return op->place == PLACE_WORKER || (op->place == PLACE_QUEUE && op->kind == OP_RETURN);
}

void operations_close(struct attach_engine *e)
{
	e->queue = e->paused = NULL;
	for (size_t i = 0; i < e->all.n; i++) {
		struct operation *op = e->all.items[i]->op;

		if (op && !goes_on_while_closing(op)) {
			e->ops->ipam_cancel(op->ipam);
			operation_free(op);
		} else if (op && op->place == PLACE_QUEUE) {
			enqueue(op, false);
		}
	}
}
