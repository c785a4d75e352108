// SPDX-License-Identifier: Apache-2.0
/* apply.c - see apply.h.
 *
 * Failures: out of memory; the next tick makes the same decision again. */
#include "apply.h"

#include <string.h>

#include "attach_events.h"
#include "log.h"
#include "operation.h"
#include "outcome.h"

/* How long the runtime may take to report the end of a sandbox after its namespace was removed. */
#define ENDING_MS 2000

/* Dry run: log once, return true. why: may be NULL. */
static bool apply_dry_run(const struct attach_engine *e, struct attachment *a, const char *what,
			  const char *why)
{
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];

	if (!e->dry_run)
		return false;
	if (!a->dry_logged)
		log_info("attach", 0, "dry run: would %s %s: %s%s%s", what,
			 device_text(&a->record, device), owner_text(&a->record.owner, owner),
			 why ? ", " : "", why ? why : "");
	a->dry_logged = true;
	return true;
}

static struct attach_record desired_record(const struct desired *w, uint64_t serial)
{
	struct attach_record r = {
		.state = ATTACH_FREE, .serial = serial, .owner = w->owner, .plan = w->plan};

	memcpy(r.resource, w->resource, sizeof(r.resource));
	memcpy(r.id, w->id, sizeof(r.id));
	memcpy(r.function, w->function, sizeof(r.function));
	return r;
}

static void follow_pool(struct attachment *a, const struct pool_network *n)
{
	a->repair = n->drift == DRIFT_REPAIR;
	a->timeout_ms = n->timeout_ms;
	a->record.plan.clean = n->plan.clean;
}

/* --- into a pod ------------------------------------------------------------------------------- */

/* Creates or resets the attachment for w. NULL: out of memory, or the device is not idle. */
static struct attachment *prepare(struct attach_engine *e, const struct desired *w)
{
	const struct attach_record r = desired_record(w, e->serial);
	struct attachment *a = attachments_find(&e->all, &r);

	if (a && !attachment_is_idle(a)) /* an earlier action of this tick began something */
		return NULL;
	if (a && strcmp(a->record.owner.sandbox, r.owner.sandbox) != 0) {
		a->n_failed = 0;
		a->ending_ms = 0;
	}
	if (a)
		a->record = r;
	else
		a = attachments_add(&e->all, &r, engine_now(e));
	if (!a) {
		engine_tick_at(e, engine_now(e) + ENGINE_MEMORY_MS);
		return NULL;
	}
	follow_pool(a, w->network);
	return a;
}

/* True while the pod seems to be ending: its namespace was removed, but the runtime still lists the
 * sandbox as ready. Requests new lists; returns false after ENDING_MS. */
static bool is_ending(struct attach_engine *e, struct attachment *a, const struct desired *w)
{
	struct netns_id netns;

	if (w->plan.in_host || e->ops->netns_find(e->hw, w->owner.netns.path, &netns) == 0) {
		a->ending_ms = 0;
		return false;
	}
	if (!a->ending_ms) {
		a->ending_ms = engine_now(e);
		engine_request_lists(e);
	}
	if (engine_now(e) - a->ending_ms >= ENDING_MS)
		return false;
	engine_tick_at(e, a->ending_ms + ENDING_MS);
	return true;
}

static void attach(struct attach_engine *e, const struct desired *w)
{
	struct attachment *a = prepare(e, w);

	if (a && !apply_dry_run(e, a, "attach", NULL) && !is_ending(e, a, w))
		operation_attach(e, a);
}

static void fail(struct attach_engine *e, const struct desired *w, const char *why)
{
	struct attachment *a = prepare(e, w);
	struct err err;

	err_set(&err, -EROFS, "%s", why);
	if (!a)
		return;
	outcome_failed(e, a, attach_step_name(STEP_RECORD), &err);
	engine_tick_at(e, a->again_ms);
}

/* --- return ----------------------------------------------------------------------------------- */

/* mark: the netdev of a lost device; its mark (ifalias), if it has one, is the only source of the
 * original name. NULL: the device is not lost. A record without a boot ID gets this boot's, which
 * is harmless if a reboot has recreated the netdev. */
static void apply_return(struct attach_engine *e, struct attachment *a, const char *why,
			 const struct netdev *mark)
{
	a->retry_ms = NEVER;
	a->why = why;
	if (apply_dry_run(e, a, "return", why))
		return;
	if (mark) {
		a->lost = false;
		memcpy(a->record.origin.name, mark->origin, sizeof(a->record.origin.name));
		if (!a->record.boot[0])
			e->ops->boot_id(e->hw, a->record.boot);
	}
	operation_return(e, a, why);
}

/* --- devices without a usable record ---------------------------------------------------------- */

static void set_free(struct attach_engine *e, struct attachment *a, const char *why)
{
	a->lost = false;
	log_info("attach", 0, "%s %s: it is free", a->record.function, why);
	attachments_move(&e->all, a, ATTACH_RETURNING, engine_now(e));
	attachments_move(&e->all, a, ATTACH_FREE, engine_now(e));
	engine_soon(e);
}

/* Records the device as attached according to w. Only the original name is known, from the mark.
 * The original PF settings are unknown; the return sets them to the drivers' defaults. */
static void adopt(struct attach_engine *e, struct attachment *a, const struct desired *w,
		  const struct netdev *nd)
{
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];
	struct netns_id netns;

	if (e->ops->netns_find(e->hw, w->owner.netns.path, &netns) < 0)
		return;
	a->record = desired_record(w, e->serial);
	a->record.state = ATTACH_IN_POD;
	e->ops->boot_id(e->hw, a->record.boot);
	a->record.owner.netns = netns;
	a->record.plan.vf.fields = 0;
	a->record.origin.vf_index = -1;
	memcpy(a->record.origin.name, nd->origin, sizeof(nd->origin));
	a->lost = false;
	a->why = NULL;
	a->problem = (struct err){0};
	a->ipam_asked = a->announced = true;
	a->unheld_ms = 0;
	a->since_ms = a->confirm_ms = a->check_ms = engine_now(e);
	follow_pool(a, w->network);
	e->all.changed = true;
	engine_event(
		e, EVENT_WARNING, "Adopted", &a->record,
		"%s stays attached to %s: its mark, the kubelet and the runtime agree; no journal "
		"record, original state unknown",
		device_text(&a->record, device), owner_text(&a->record.owner, owner));
	engine_soon(e);
}

static struct attach_record record_of_mark(const struct attach_engine *e, const struct netdev *nd)
{
	struct attach_record r = {.state = ATTACH_FREE, .serial = e->serial};

	memcpy(r.function, nd->function, sizeof(r.function));
	memcpy(r.origin.name, nd->origin, sizeof(r.origin.name));
	r.origin.vf_index = -1;
	return r;
}

/* True once opening the journal was tried. Before that, a marked netdev is not an orphan: the
 * journal may have its record. */
static bool is_journal_tried(const struct attach_engine *e)
{
	return e->journal || e->journal_ms || e->dry_run;
}

static void adopt_orphan(struct attach_engine *e, const struct netdev *nd)
{
	const struct attach_record r = record_of_mark(e, nd);
	struct attachment *a = attachments_of_function(&e->all, nd->function);

	e->wants_journal = true;
	if (!is_journal_tried(e)) {
		engine_soon(e);
		return;
	}
	if (a)
		attachments_drop(&e->all, a);
	a = attachments_add(&e->all, &r, engine_now(e));
	if (!a) {
		engine_tick_at(e, engine_now(e) + ENGINE_MEMORY_MS);
		return;
	}
	engine_soon(e);
	e->counters.orphans++;
	engine_event(e, EVENT_WARNING, "Orphan", &r, "%s (%s) has our mark, but no journal record",
		     nd->function, nd->name);
	attachments_move(&e->all, a, ATTACH_BAD, engine_now(e));
	a->lost = true;
	a->why = "its owner is unknown (no journal record)";
	err_set(&a->problem, -EUCLEAN, "%s has our mark, but no journal record", nd->function);
}

/* --- upkeep ----------------------------------------------------------------------------------- */

static void check(struct attach_engine *e, struct attachment *a)
{
	bool repair = a->repair || a->repair_now;

	a->check_now = a->repair_now = false;
	a->check_ms = engine_now(e) + ENGINE_MEMORY_MS;
	operation_check(e, a, repair);
}

static void apply_announce(struct attach_engine *e, struct attachment *a)
{
	a->announced = true;
	operation_announce(e, a);
}

/* --- all actions ------------------------------------------------------------------------------ */

static void apply_one(struct attach_engine *e, const struct attach_action *action)
{
	struct attachment *a = action->a;

	switch (action->act) {
	case ACT_FOLLOW_POOL:
		follow_pool(a, action->network);
		return;
	case ACT_UNDO:
		a->why = action->why;
		return;
	case ACT_RETURN:
		apply_return(e, a, action->why, action->netdev);
		return;
	case ACT_SET_FREE:
		set_free(e, a, action->why);
		return;
	case ACT_ADOPT:
		adopt(e, a, action->desired, action->netdev);
		return;
	case ACT_ADOPT_ORPHAN:
		adopt_orphan(e, action->netdev);
		return;
	case ACT_ATTACH:
		attach(e, action->desired);
		return;
	case ACT_FAIL:
		fail(e, action->desired, action->why);
		return;
	case ACT_ANNOUNCE:
		apply_announce(e, a);
		return;
	case ACT_CHECK:
		check(e, a);
		return;
	case ACT_DROP:
		attachments_drop(&e->all, a);
		return;
	}
}

void apply(struct attach_engine *e, const struct attach_actions *actions)
{
	for (size_t i = 0; i < actions->n; i++)
		apply_one(e, &actions->items[i]);
}
