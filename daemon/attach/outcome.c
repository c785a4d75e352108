// SPDX-License-Identifier: Apache-2.0
#include "outcome.h"

#include <inttypes.h>
#include <string.h>

#include "attach_events.h"
#include "explain.h"
#include "log.h"
#include "numbers.h"

/* First pause before a return is retried: a device that is being reset recovers soon. */
#define RETRY_FIRST_MS 100
#define RETRY_LAST_MS  30000
#define CHECK_MS       60000
/* A failed attach may fail permanently, and each try may run an IPAM plugin. */
#define AGAIN_FIRST_MS 1000
#define AGAIN_LAST_MS  300000

static uint64_t outcome_back_off(unsigned tries, uint64_t first_ms, uint64_t last_ms)
{
	return earlier(first_ms << (tries > 16 ? 16 : tries - 1), last_ms);
}

static uint64_t took_us(const struct attachment *a, uint64_t *sum, uint64_t *max)
{
	uint64_t us = uv_hrtime() / 1000 - a->began_us;

	*sum += us;
	*max = us > *max ? us : *max;
	return us;
}

/* --- attach ----------------------------------------------------------------------------------- */

static void stacked_text(const struct attachment *a, char *text, size_t size)
{
	text[0] = '\0';
	if (a->renewal == RENEWAL_DIRTY)
		snprintf(text, size, ", on a new netdev: %s was stacked on the old one", a->left);
	else if (a->renewal != RENEWAL_NONE)
		snprintf(text, size,
			 ", on a new netdev: unknown whether an interface was stacked on the old "
			 "one");
}

static void attached(struct attach_engine *e, struct attachment *a)
{
	struct attach_counters *c = &e->counters;
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];
	char renewed[ATTACH_LEFT_SIZE + 64];
	uint64_t us = took_us(a, &c->attach_us, &c->attach_us_max);

	attachments_move(&e->all, a, ATTACH_IN_POD, engine_now(e));
	c->attached++;
	a->n_failed = 0;
	c->journal_error[0] = '\0';
	a->announced = false;
	a->digest = 0;
	a->check_ms = engine_now(e) + CHECK_MS;
	if (a->record.plan.in_host) {
		engine_event(e, EVENT_NORMAL, "Attached", &a->record,
			     "%s stays in the host with %s; its original state was recorded",
			     device_text(&a->record, device), owner_text(&a->record.owner, owner));
		return;
	}
	stacked_text(a, renewed, sizeof(renewed));
	engine_event(e, EVENT_NORMAL, "Attached", &a->record,
		     "%s is %s of %s, after %" PRIu64 ".%" PRIu64 " ms%s",
		     device_text(&a->record, device), a->record.plan.ifname,
		     owner_text(&a->record.owner, owner), us / 1000, us / 100 % 10, renewed);
}

static bool is_journal_error(int code)
{
	return code == -EROFS || code == -ENOSPC || code == -EDQUOT || code == -EIO;
}

void outcome_failed(struct attach_engine *e, struct attachment *a, const char *step,
		    const struct err *err)
{
	struct attach_counters *c = &e->counters;
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];

	a->failure = *err;
	a->n_failed++;
	a->again_ms = engine_now(e) + outcome_back_off(a->n_failed, AGAIN_FIRST_MS, AGAIN_LAST_MS);
	a->why = "the attach failed";
	err_wrap(&a->failure, "%s for %s, step %s", device_text(&a->record, device),
		 owner_text(&a->record.owner, owner), step);
	c->attach_failures++;
	if (is_journal_error(err->code) && strcmp(step, attach_step_name(STEP_RECORD)) == 0)
		snprintf(c->journal_error, sizeof(c->journal_error), "%s", err->msg);
	engine_event(e, EVENT_WARNING, "AttachFailed", &a->record, "%s", a->failure.msg);
}

/* Moves the attachment to state free. It is kept while it has a failure, which prevents an
 * immediate new attach. */
static void free_again(struct attach_engine *e, struct attachment *a)
{
	attachments_move(&e->all, a, ATTACH_FREE, engine_now(e));
	a->retry_ms = NEVER;
	a->tries = 0;
	a->lost = a->ipam_asked = false;
	a->problem = (struct err){0};
	a->drift = 0;
	if (!a->failure.code && attachment_is_idle(a))
		attachments_drop(&e->all, a);
}

/* Undoes an attach that failed or is not desired any more. */
static void not_attached(struct attach_engine *e, struct attachment *a,
			 const struct operation_end *how)
{
	if (how->result != -ECANCELED || !a->why)
		outcome_failed(e, a, how->step, &how->err);
	if (how->untouched) {
		attachments_move(&e->all, a, ATTACH_RETURNING, engine_now(e));
		free_again(e, a);
	} else {
		operation_undo(e, a, a->why);
	}
}

static void outcome_attach_ended(struct attach_engine *e, struct attachment *a,
				 const struct operation_end *how)
{
	struct operation_end end = *how;

	if (end.result == 0)
		end.result = numbers_check(e, a, &end.err);
	if (end.result < 0)
		not_attached(e, a, &end);
	else
		attached(e, a);
}

/* --- return ----------------------------------------------------------------------------------- */

/* Writes ", with a new netdev: ..." with the reason; "" if the netdev was kept. */
static void renewal_text(const struct attachment *a, char *text, size_t size)
{
	text[0] = '\0';
	switch (a->renewal) {
	case RENEWAL_DIRTY:
		snprintf(text, size, ", with a new netdev: its pod left behind %s", a->left);
		return;
	case RENEWAL_UNKNOWN:
		snprintf(text, size,
			 ", with a new netdev: cannot verify that the old one was clean");
		return;
	case RENEWAL_ALWAYS:
		snprintf(text, size, ", with a new netdev, as its pool requires");
		return;
	case RENEWAL_BEYOND:
		snprintf(text, size,
			 ", with a new netdev: the old one is stuck in an unreachable namespace");
		return;
	case RENEWAL_NONE:
	case N_RENEWALS:
		return;
	}
}

static void returned(struct attach_engine *e, struct attachment *a)
{
	struct attach_counters *c = &e->counters;
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];
	char renewed[ATTACH_LEFT_SIZE + 64];

	took_us(a, &c->return_us, &c->return_us_max);
	c->returned++;
	if (e->journal)
		c->journal_error[0] = '\0'; /* its record was written */
	c->renewals[a->renewal]++;
	renewal_text(a, renewed, sizeof(renewed));
	if (a->superseded)
		engine_event(e, EVENT_WARNING, "Returned", &a->record,
			     "the record of %s for %s is stale: another pod has the device, which "
			     "stays there; the record is removed",
			     device_text(&a->record, device), owner_text(&a->record.owner, owner));
	else
		engine_event(e, EVENT_NORMAL, "Returned", &a->record, "%s returned from %s: %s%s",
			     device_text(&a->record, device), owner_text(&a->record.owner, owner),
			     a->why ? a->why : "its return was interrupted", renewed);
	free_again(e, a);
}

/* True if the device was removed from the bus, so that it needs no cleaning. */
static bool is_unplugged(const struct attach_engine *e, const struct attachment *a, int code)
{
	return err_is_not_found(code) && e->inventory->generation > 0 &&
	       !host_function(&e->inventory->host, a->record.function);
}

/* Is the error worth an event? Not if it equals the previous one. -EAGAIN (the kernel still uses
 * the device) is reported only if it persists. */
static bool outcome_is_news(const struct attachment *a, const struct err *err)
{
	if (err->code == -EAGAIN)
		return a->tries == RETURN_TRIES_QUIET;
	return a->tries == 1 || strcmp(err->msg, a->problem.msg) != 0;
}

static void report_stuck(struct attach_engine *e, struct attachment *a, const struct err *err)
{
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];

	if (!outcome_is_news(a, err))
		return;
	engine_event(e, EVENT_WARNING, "ReturnFailed", &a->record,
		     "%s cannot be returned from %s, trying again: %s",
		     device_text(&a->record, device), owner_text(&a->record.owner, owner),
		     err->msg);
}

static void outcome_stuck(struct attach_engine *e, struct attachment *a, const struct err *err)
{
	e->counters.return_failures++;
	if (is_unplugged(e, a, err->code) && operation_forget(e, a, "it was removed from the bus"))
		return;
	a->tries++;
	report_stuck(e, a, err);
	a->problem = *err;
	attachments_move(&e->all, a, ATTACH_BAD, engine_now(e));
	a->retry_ms = engine_now(e) + outcome_back_off(a->tries, RETRY_FIRST_MS, RETRY_LAST_MS);
}

/* --- check ------------------------------------------------------------------------------------ */

static void report_drift(struct attach_engine *e, struct attachment *a, unsigned drift,
			 bool repaired)
{
	struct attach_counters *c = &e->counters;
	char owner[OWNER_TEXT_SIZE], text[160];

	explain_drift(drift, text, sizeof(text));
	owner_text(&a->record.owner, owner);
	if (drift & ~a->drift) {
		c->drifts++;
		engine_event(e, EVENT_WARNING, "Drift", &a->record,
			     "%s of %s differs from its plan: %s", a->record.plan.ifname, owner,
			     text);
	}
	if (!repaired)
		return;
	c->repairs++;
	engine_event(e, EVENT_NORMAL, "Repaired", &a->record, "%s of %s was repaired: %s",
		     a->record.plan.ifname, owner, text);
}

static void checked(struct attach_engine *e, struct attachment *a, const struct operation_end *how)
{
	bool misplaced = how->result == -ENODEV && a->life == NETNS_ALIVE;

	a->n_checks++;
	a->check_ms = engine_now(e) + CHECK_MS;
	a->problem = (struct err){0};
	a->checked = how->result < 0 ? how->err : (struct err){0};
	if (misplaced) {
		report_drift(e, a, ATTACH_DRIFT_NAME, false);
		a->drift |= ATTACH_DRIFT_NAME;
		a->problem = how->err;
	} else if (how->result < 0 && !err_is_not_found(how->result)) {
		log_info("attach", 0, "%s cannot be compared with its plan: %s", a->record.function,
			 how->err.msg);
		a->problem = how->err;
	}
	if (how->result == 0 && how->drift)
		report_drift(e, a, how->drift, how->repaired);
	if (how->result == 0)
		a->drift = how->repaired ? 0 : how->drift;
}

void outcome(struct attach_engine *e, struct attachment *a, const struct operation_end *how)
{
	switch (how->kind) {
	case OP_ATTACH:
		outcome_attach_ended(e, a, how);
		break;
	case OP_RETURN:
		if (how->result < 0)
			outcome_stuck(e, a, &how->err);
		else
			returned(e, a);
		break;
	case OP_CHECK:
		checked(e, a, how);
		break;
	case OP_ANNOUNCE:
		if (how->result < 0)
			log_info("attach", how->result,
				 "%s: gratuitous ARP / unsolicited NA failed: %s",
				 a->record.function, how->err.msg);
		break;
	}
	engine_soon(e);
}
