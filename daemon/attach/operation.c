/* operation.c - the work on one device, on its way to a worker and back.
 *
 * Happy path: queued -> worker -> what follows (journey.c, or the end of a check). Can fail by: out
 * of memory (the next decision comes to it again). */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "operation.h"
#include "worker.h"

/* The pool of threads is the looks' and the sampler's, too. */
#define WORKING_MAX 4

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
void operation_enqueue(struct operation *op, bool begun)
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

struct operation *operation_new(struct attachment *a, enum operation_kind kind)
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

void operation_free(struct operation *op)
{
	op->a->op = NULL;
	op->a->engine->list_changed = true;
	if (op->kind == OP_CHECK)
		op->a->engine->checking = false;
	free(op);
}

/* --- pauses ------------------------------------------------------------------------------------
 */

void operation_pause(struct operation *op, uint64_t ms)
{
	struct attach_engine *e = op->a->engine;

	op->place = PLACE_PAUSE;
	op->due_ms = uv_now(e->loop) + ms;
	op->next = e->paused;
	e->paused = op;
	engine_wake(e, ms);
}

/* --- looking after ---------------------------------------------------------------------------- */

void attachment_check(struct attachment *a, bool repair)
{
	struct operation *op = operation_new(a, OP_CHECK);

	if (!op)
		return;
	op->repair = repair;
	a->engine->checking = true;
	operation_enqueue(op, false);
	operations_pump(a->engine);
}

void attachment_announce(struct attachment *a)
{
	struct operation *op = operation_new(a, OP_ANNOUNCE);

	if (!op)
		return;
	operation_enqueue(op, false);
	operations_pump(a->engine);
}

static void end_check(struct operation *op)
{
	struct attachment *a = op->a;
	bool repair = op->repair && !op->job.left;
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

	op->a->engine->done_ms = uv_now(op->a->engine->loop);
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
		journey_in(op);
		break;
	case OP_RETURN:
		take_record(op);
		journey_back(op);
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
			journey_release(op);
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
		e->ops->ipam_cancel(op->ipam);
		operation_free(op);
	}
	e->queue = e->paused = NULL;
}
