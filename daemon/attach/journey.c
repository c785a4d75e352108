/* journey.c - a device's way into a pod and back: what follows each visit to a worker, and the IPAM
 * plugin between two of them.
 *
 * An attach that fails, or is not wanted any more, goes on as the return that undoes it. Can fail
 * by: any step (outcome.c), the plugin (an attach is undone; a return asks a few times, then goes
 * on: an address may leak, a device must not). */
#include <string.h>

#include "kill_point.h"
#include "log.h"
#include "operation.h"

/* Within the gate's time; a return has none, but the device waits. */
#define IPAM_ADD_MS   15000
#define IPAM_DEL_MS   5000
#define IPAM_DEL_MAX  3
#define IPAM_PAUSE_MS 300

/* --- return ----------------------------------------------------------------------------------- */

static void go_on_without_address(struct operation *op)
{
	op->job.next = BACK_VERIFY;
	operation_enqueue(op, true);
	operations_pump(op->a->engine);
}

static void ipam_refused(struct operation *op, const struct err *err)
{
	struct attachment *a = op->a;
	char device[DEVICE_TEXT_SIZE];

	if (err->code != -ENOENT && err->code != -EINVAL && ++a->ipam_tries < IPAM_DEL_MAX) {
		operation_pause(op, (uint64_t)IPAM_PAUSE_MS << a->ipam_tries);
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

void journey_release(struct operation *op)
{
	struct attach_engine *e = op->a->engine;
	struct err err = {0};

	if (!op->a->record.plan.ipam[0] || !op->a->ipam_asked) {
		go_on_without_address(op);
		return;
	}
	kill_point("back-ipam", "before");
	op->place = PLACE_IPAM;
	if (e->ops->ipam_start(&op->ipam, e->loop, IPAM_DEL, &op->job.record, e->cni_path,
			       IPAM_DEL_MS, on_released, op, &err) < 0)
		ipam_refused(op, &err);
}

void journey_back(struct operation *op)
{
	struct attachment *a = op->a;
	struct err err = op->job.err;

	if (op->job.renewal) {
		a->renewal = op->job.renewal;
		memcpy(a->left, op->job.traces, sizeof(a->left));
	}
	if (op->result < 0) {
		operation_free(op);
		outcome_stuck(a, &err);
	} else if (op->job.next == BACK_IPAM) {
		journey_release(op);
	} else {
		operation_free(op);
		outcome_returned(a);
	}
}

static bool begin_return(struct attachment *a, const char *why, enum return_step first)
{
	struct operation *op = operation_new(a, OP_RETURN);

	if (!op)
		return false;
	op->job.next = (int)first;
	op->job.insist = a->tries >= RETURN_PATIENCE;
	a->why = why;
	a->interrupted = false;
	a->ipam_tries = 0;
	a->renewal = RENEWAL_NONE;
	a->began_us = uv_hrtime() / 1000;
	if (a->record.state != ATTACH_RETURNING)
		attachment_become(a, ATTACH_RETURNING);
	op->job.record.state = ATTACH_RETURNING;
	operation_enqueue(op, false);
	operations_pump(a->engine);
	return true;
}

void attachment_return(struct attachment *a, const char *why)
{
	begin_return(a, why, BACK_RECORD);
}

bool attachment_forget(struct attachment *a, const char *why)
{
	return begin_return(a, why, BACK_DONE);
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
	a->renewal = RENEWAL_NONE;
	a->began_us = uv_hrtime() / 1000;
	op->kind = OP_RETURN;
	op->job.is_return = true;
	op->job.next = BACK_RECORD;
	op->job.err = (struct err){0};
	op->job.record.state = ATTACH_RETURNING;
	operation_enqueue(op, true);
}

static void fail(struct operation *op, const struct err *err)
{
	outcome_failed(op->a, attach_step_name((enum attach_step)op->job.next), err);
	undo(op);
}

static void configure(struct operation *op)
{
	op->job.next = STEP_CONFIGURE;
	operation_enqueue(op, true);
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
	struct attach_engine *e = a->engine;
	uint32_t ms = a->timeout_ms && a->timeout_ms < IPAM_ADD_MS ? a->timeout_ms : IPAM_ADD_MS;
	struct err err = {0};

	if (!a->record.plan.ipam[0]) {
		configure(op);
		return;
	}
	kill_point("attach-ipam", "before");
	op->place = PLACE_IPAM;
	op->step = attach_step_name(STEP_IPAM);
	if (e->ops->ipam_start(&op->ipam, e->loop, IPAM_ADD, &op->job.record, e->cni_path, ms,
			       on_address, op, &err) < 0)
		fail(op, &err);
	else
		a->ipam_asked = true;
}

void journey_in(struct operation *op)
{
	struct attachment *a = op->a;
	struct err err = op->job.err;

	if (op->result < 0) {
		fail(op, &err);
	} else if (a->why) {
		undo(op);
	} else if (op->job.next >= N_ATTACH_STEPS) {
		operation_free(op);
		outcome_attached(a);
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
	operation_enqueue(op, false);
	operations_pump(a->engine);
}
