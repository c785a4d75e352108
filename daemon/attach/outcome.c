/* outcome.c - what the end of an operation means: for the state, the counters, whoever waits, and
 * when it is tried again. */
#include <inttypes.h>
#include <string.h>

#include "engine_state.h"
#include "explain.h"
#include "log.h"

/* A device in a reset heals by itself. */
#define RETRY_FIRST_MS 100
#define RETRY_LAST_MS  30000
#define CHECK_MS       60000
/* What has failed once may do so for good, and each try may ask an IPAM plugin. */
#define AGAIN_FIRST_MS 1000
#define AGAIN_LAST_MS  300000

static uint64_t back_off(unsigned tries, uint64_t first_ms, uint64_t last_ms)
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

void outcome_attached(struct attachment *a)
{
	struct attach_counters *c = &a->engine->counters;
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];
	uint64_t us = took_us(a, &c->attach_us, &c->attach_us_max);

	attachment_become(a, ATTACH_IN_POD);
	c->attached++;
	a->n_failed = 0;
	c->journal_error[0] = '\0';
	a->announced = false;
	a->digest = 0;
	a->check_ms = uv_now(a->engine->loop) + CHECK_MS;
	engine_event(a->engine, EVENT_NORMAL, "Attached", &a->record,
		     "%s is %s of %s, after %" PRIu64 ".%" PRIu64 " ms",
		     device_text(&a->record, device), a->record.plan.ifname,
		     owner_text(&a->record.owner, owner), us / 1000, us / 100 % 10);
	orders_tell(a);
}

static bool is_journal(int code)
{
	return code == -EROFS || code == -ENOSPC || code == -EDQUOT || code == -EIO;
}

void outcome_failed(struct attachment *a, const char *step, const struct err *err)
{
	struct attach_counters *c = &a->engine->counters;
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];

	a->failure = *err;
	a->n_failed++;
	a->again_ms = uv_now(a->engine->loop) +
		      back_off(a->n_failed, AGAIN_FIRST_MS, AGAIN_LAST_MS);
	a->why = "the attach failed";
	err_wrap(&a->failure, "%s for %s, step %s", device_text(&a->record, device),
		 owner_text(&a->record.owner, owner), step);
	c->attach_failures++;
	if (is_journal(err->code) && strcmp(step, attach_step_name(STEP_RECORD)) == 0)
		snprintf(c->journal_error, sizeof(c->journal_error), "%s", err->msg);
	engine_event(a->engine, EVENT_WARNING, "AttachFailed", &a->record, "%s", a->failure.msg);
}

/* It stays for its failure, which is not to be had again at once. */
static void free_again(struct attachment *a)
{
	attachment_become(a, ATTACH_FREE);
	a->retry_ms = NEVER;
	a->tries = 0;
	a->lost = a->ipam_asked = false;
	a->trouble = (struct err){0};
	a->drift = 0;
	orders_tell(a);
	if (!a->failure.code && attachment_is_idle(a))
		attachment_drop(a);
}

void outcome_unchanged(struct attachment *a)
{
	attachment_become(a, ATTACH_RETURNING);
	free_again(a);
}

/* --- return ----------------------------------------------------------------------------------- */

/* ", with a new netdev: ..." */
static void renewal_text(const struct attachment *a, char *text, size_t size)
{
	text[0] = '\0';
	switch (a->renewal) {
	case RENEWAL_DIRTY:
		snprintf(text, size, ", with a new netdev: its pod had left behind %s", a->left);
		return;
	case RENEWAL_UNKNOWN:
		snprintf(text, size,
			 ", with a new netdev: nobody could tell what its pod had left behind");
		return;
	case RENEWAL_ALWAYS:
		snprintf(text, size, ", with a new netdev, as its pool wants");
		return;
	case RENEWAL_BEYOND:
		snprintf(text, size,
			 ", with a new netdev: the old one was where nobody could get it");
		return;
	case RENEWAL_NONE:
	case N_RENEWALS:
		return;
	}
}

void outcome_returned(struct attachment *a)
{
	struct attach_counters *c = &a->engine->counters;
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];
	char renewed[ATTACH_LEFT_SIZE + 64];

	took_us(a, &c->return_us, &c->return_us_max);
	c->returned++;
	c->renewals[a->renewal]++;
	renewal_text(a, renewed, sizeof(renewed));
	engine_event(a->engine, EVENT_NORMAL, "Returned", &a->record, "%s is back from %s: %s%s",
		     device_text(&a->record, device), owner_text(&a->record.owner, owner),
		     a->why ? a->why : "its return was interrupted", renewed);
	free_again(a);
}

/* What has left the bus needs no cleaning. */
static bool is_unplugged(const struct attachment *a, int code)
{
	return err_is_gone(code) && attachment_is_off_the_bus(a);
}

/* The same trouble again is not told again; that the kernel is not done yet (-EAGAIN) is trouble
 * only when it lasts. */
static bool is_news(const struct attachment *a, const struct err *err)
{
	if (err->code == -EAGAIN)
		return a->tries == RETURN_PATIENCE;
	return a->tries == 1 || strcmp(err->msg, a->trouble.msg) != 0;
}

bool outcome_is_trouble(const struct attachment *a)
{
	if (a->trouble.code == -EAGAIN)
		return a->tries >= RETURN_PATIENCE;
	return a->tries > 0 || a->record.state == ATTACH_BAD;
}

static void tell_stuck(struct attachment *a, const struct err *err)
{
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];

	if (!is_news(a, err))
		return;
	engine_event(a->engine, EVENT_WARNING, "ReturnFailed", &a->record,
		     "%s does not come back from %s, trying again: %s",
		     device_text(&a->record, device), owner_text(&a->record.owner, owner),
		     err->msg);
}

void outcome_stuck(struct attachment *a, const struct err *err)
{
	uint64_t wait_ms;

	a->engine->counters.return_failures++;
	if (is_unplugged(a, err->code) && attachment_forget(a, "it is not on the bus any more"))
		return;
	a->tries++;
	tell_stuck(a, err);
	a->trouble = *err;
	attachment_become(a, ATTACH_BAD);
	wait_ms = back_off(a->tries, RETRY_FIRST_MS, RETRY_LAST_MS);
	a->retry_ms = uv_now(a->engine->loop) + wait_ms;
	engine_wake(a->engine, wait_ms);
	orders_tell(a);
}

void outcome_retry(struct attach_engine *e)
{
	uint64_t now = uv_now(e->loop);

	for (size_t i = 0; i < e->n; i++) {
		struct attachment *a = e->items[i];

		if (a->record.state != ATTACH_BAD || a->op || a->retry_ms > now)
			continue;
		a->retry_ms = NEVER;
		if (!only_say(a, "return", a->why))
			attachment_return(a, a->why);
	}
}

uint64_t outcome_deadline(const struct attach_engine *e)
{
	uint64_t first = NEVER;

	for (size_t i = 0; i < e->n; i++)
		if (e->items[i]->record.state == ATTACH_BAD)
			first = earlier(first, e->items[i]->retry_ms);
	return first;
}

/* --- check ------------------------------------------------------------------------------------ */

static void tell_drift(struct attachment *a, unsigned drift, bool repaired)
{
	struct attach_counters *c = &a->engine->counters;
	char owner[OWNER_TEXT_SIZE], text[160];

	explain_drift(drift, text, sizeof(text));
	owner_text(&a->record.owner, owner);
	if (drift & ~a->drift) {
		c->drifts++;
		engine_event(a->engine, EVENT_WARNING, "Drift", &a->record,
			     "%s of %s is not as it was attached: %s", a->record.plan.ifname, owner,
			     text);
	}
	if (!repaired)
		return;
	c->repairs++;
	engine_event(a->engine, EVENT_NORMAL, "Repaired", &a->record, "%s of %s is set right: %s",
		     a->record.plan.ifname, owner, text);
}

void outcome_checked(struct attachment *a, int result, unsigned drift, bool repaired,
		     const struct err *err)
{
	struct attach_engine *e = a->engine;
	bool astray = result == -ENODEV && a->life == NETNS_ALIVE;

	a->check_ms = uv_now(e->loop) + CHECK_MS;
	a->trouble = (struct err){0};
	if (astray) {
		tell_drift(a, ATTACH_DRIFT_NAME, false);
		a->drift |= ATTACH_DRIFT_NAME;
		a->trouble = *err;
	} else if (result < 0 && !err_is_gone(result)) {
		log_info("attach", 0, "%s cannot be compared with its plan: %s", a->record.function,
			 err->msg);
		a->trouble = *err;
	}
	if (result == 0 && drift)
		tell_drift(a, drift, repaired);
	if (result == 0)
		a->drift = repaired ? 0 : drift;
	e->list_changed = true;
}
