// SPDX-License-Identifier: Apache-2.0
/* engine.c - see engine.h.
 *
 * Success: something may have changed -> one tick: observe -> decide -> apply, which begins
 * operations on workers -> waiters with a result are answered. The end of an operation (outcome.c)
 * causes a tick, too. Failures: out of memory (retried after a second), no journal (nothing is
 * attached), no runtime (an unknown list causes no action). */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "array.h"
#include "attach_events.h"
#include "cleanup.h"
#include "cni_limits.h"
#include "engine_start.h"
#include "gate.h"
#include "ipam_requests.h"
#include "journal_heal.h"
#include "log.h"
#include "observe.h"
#include "operation.h"
#include "outcome.h"
#include "search.h"

/* While devices are in pods: the interval of a full check, in case a change was missed. */
#define FULL_CHECK_MS 30000

void attach_engine_inputs_changed(struct attach_engine *e)
{
	engine_soon(e);
}

const struct pools *attach_engine_pools(const struct attach_engine *e)
{
	return e->pools;
}

void attach_engine_offer(struct attach_engine *e, const struct pools *pools)
{
	e->pools = pools;
	engine_soon(e);
}

/* --- the runtime ------------------------------------------------------------------------------ */

/* Is a device allocated to a pod that is not known yet? Its sandbox will be created soon. */
static bool is_reserved(const struct attach_view *view)
{
	for (size_t i = 0; i < view->held->n; i++) {
		const struct pod_device *d = &view->held->devices[i];
		const struct pool *pool;

		if (d->pod[0] || d->uid[0])
			continue;
		pool = view_pool(view, d->resource);
		if (pool && pool->network)
			return true;
	}
	return false;
}

static void expect_sandboxes(struct attach_engine *e, const struct attach_view *view)
{
	bool expecting = e->n_gates > 0 || (view && is_reserved(view));

	if (expecting == e->expecting)
		return;
	e->expecting = expecting;
	e->ops->expect_sandboxes(e->holders, expecting);
}

/* --- opening what is needed ------------------------------------------------------------------- */

static bool attaches(const struct attach_view *view)
{
	return any_of(view->pools->n_views, i, view->pools->views[i].pool->network);
}

static void need_runtime(struct attach_engine *e)
{
	struct err err = {0};

	if (e->ops->watch_sandboxes(e->holders, &err) == 0)
		return;
	log_warn("attach", 0, "%s; retrying", err.msg);
	engine_tick_at(e, engine_now(e) + ENGINE_MEMORY_MS);
}

/* If the state folder was removed while we run, opens the journal again as at the start, but only
 * after the workers have stopped writing to the removed folder. */
static void follow_journal(struct attach_engine *e)
{
	if (!e->journal || e->walk || e->dry_run)
		return;
	e->remake = e->remake || e->ops->journal_is_removed(e->journal);
	if (!e->remake || e->n_working > 0)
		return;
	operations_leave_journal(e);
	e->journal_ms = 0;
}

/* Opens the runtime and the journal if they are needed: without attachments, neither is. */
static void open_runtime_and_journal(struct attach_engine *e, bool needed)
{
	if (needed)
		need_runtime(e);
	follow_journal(e);
	if ((!needed && !e->wants_journal) || e->journal || e->walk || e->dry_run ||
	    (e->remake && e->n_working > 0))
		return;
	if (engine_now(e) >= e->journal_ms)
		journal_begin(e, true);
	if (!e->journal && !e->walk)
		engine_tick_at(e, e->journal_ms);
}

static void follow_readiness(struct attach_engine *e, const struct attach_view *view)
{
	const uint64_t late_ms = e->opened_ms + ENGINE_START_MS;
	const bool known = engine_sandboxes(e)->known;
	const bool nothing = !attaches(view) && e->all.n == 0;

	if (e->ready)
		return;
	if (!known && !nothing && engine_now(e) < late_ms) {
		engine_tick_at(e, late_ms);
		return;
	}
	if (!known && !nothing)
		log_warn("attach", 0,
			 "cannot list the sandboxes of the container runtime, going on without "
			 "them");
	e->ready = true;
	e->all.changed = true;
}

/* --- the tick --------------------------------------------------------------------------------- */

static void full_check_of_all(struct attach_engine *e)
{
	if (e->all.n == 0)
		return;
	if (engine_now(e) >= e->full_check_ms + FULL_CHECK_MS) {
		e->full_check_ms = engine_now(e);
		engine_request_lists(e);
	}
	engine_tick_at(e, e->full_check_ms + FULL_CHECK_MS);
}

/* Lists the functions with our mark that have a file in the journal, except those with a usable
 * attachment. */
static int list_recorded(const struct attach_engine *e, const char ***ret, size_t *ret_n)
{
	const struct host *h = &e->inventory->host;
	struct attach_record r = {.state = ATTACH_FREE};
	const char **new;

	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *nd = &h->netdevs[i];
		const struct attachment *a = attachments_of_function(&e->all, nd->function);

		if (!nd->function[0] || !nd->origin[0] ||
		    (a && !a->lost && a->record.state != ATTACH_FREE))
			continue;
		memcpy(r.function, nd->function, sizeof(r.function));
		if (!journal_has(e->state_dir, &r))
			continue;
		new = array_push(*ret, *ret_n);
		if (!new)
			return -ENOMEM;
		*new = nd->function;
	}
	return 0;
}

static const char *journal_missing(const struct attach_engine *e)
{
	const char *why = e->counters.journal_error;

	if (e->journal)
		return NULL;
	return why[0] ? why : "the journal is not open yet";
}

/* view NULL: decides only actions that need no list of the kubelet or the runtime. */
static int decide(struct attach_engine *e, const struct attach_view *view,
		  struct attach_actions *actions)
{
	AUTO_FREE const char **recorded = NULL;
	struct attach_snapshot s = {
		.now_ms = engine_now(e),
		.all = &e->all,
		.host = &e->inventory->host,
		.devices_ms = e->inventory->generation ? e->inventory->devices_ms : 0,
		.done_ms = e->done_ms,
		.dry_run = e->dry_run,
		.n_checking = e->n_checking,
		.sandboxes = engine_sandboxes(e),
		.cri_silent_ms = e->cri_silent_ms,
		.journal_missing = journal_missing(e),
	};
	int r = 0;

	if (view) {
		s.desired = &e->desired;
		s.pools = view->pools;
		s.held = view->held;
		r = list_recorded(e, &recorded, &s.n_recorded);
		s.recorded = recorded;
	}
	return r < 0 ? r : attach_decide(&s, actions);
}

static void describe_contradiction(const struct attach_engine *e, const struct attachment *a,
				   char *text, size_t size)
{
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE],
		user[64] = "the kubelet's list has its pod";
	struct cri_status status = {.socket = ""};

	if (e->holders)
		e->ops->runtime(e->holders, &status);
	if (a->user_pid)
		snprintf(user, sizeof(user), "process %u is in its network namespace", a->user_pid);
	snprintf(
		text, size,
		"the container runtime%s%s does not list the sandbox of %s as ready, but %s: the pod "
		"keeps %s",
		status.socket[0] ? " at " : "", status.socket, owner_text(&a->record.owner, owner),
		user, device_text(&a->record, device));
}

/* Sends one event for the first contradiction, and no other until all contradictions have ended. */
static void report_contradiction(struct attach_engine *e, const struct attach_actions *actions)
{
	const struct attachment *a = actions->contradicting;
	struct attach_counters *c = &e->counters;
	const bool before = c->contradicting > 0;

	c->contradicting = (unsigned)actions->n_contradicting;
	c->runtime_lacks_all = actions->lacks_all;
	if (a)
		describe_contradiction(e, a, c->runtime_error, sizeof(c->runtime_error));
	if (a && !before)
		engine_event(e, EVENT_WARNING, "RuntimeContradicted", &a->record,
			     "%s; is it the kubelet's runtime (--cri-socket)?", c->runtime_error);
	else if (!a && before)
		log_info("attach", 0,
			 "the container runtime's list matches the running pods again");
	if (!a)
		c->runtime_error[0] = '\0';
}

static void decide_and_apply(struct attach_engine *e, const struct attach_view *view)
{
	struct attach_actions actions = {.recheck_ms = NEVER};
	int r = view ? engine_observe(e, view) : 0;

	if (r == 0)
		r = decide(e, view, &actions);
	if (r < 0) {
		log_warn("attach", r, "cannot decide what to attach; retrying");
		engine_tick_at(e, engine_now(e) + ENGINE_MEMORY_MS);
		return;
	}
	engine_tick_at(e, actions.recheck_ms);
	if (view)
		report_contradiction(e, &actions);
	apply(e, &actions);
	attach_actions_done(&actions);
	namespaces_search(e);
	if (view)
		follow_readiness(e, view);
}

/* True if a netdev has our mark. It may have no record; then the runtime's list is needed to find
 * out whether a running pod uses it. */
static bool has_marked_netdev(const struct host *h)
{
	return any_of(h->n_netdevs, i, h->netdevs[i].origin[0]);
}

/* Decides and applies actions. Does nothing if devices are or should be attached while parts of the
 * host are hidden from us. */
static void work(struct attach_engine *e, const struct attach_view *view)
{
	bool needed = view && (attaches(view) || e->all.n > 0 || e->n_early > 0 ||
			       has_marked_netdev(&e->inventory->host));
	bool known = view && e->journal_read;

	if (view)
		open_runtime_and_journal(e, needed);
	journal_heal(e);
	if (known && !engine_sees(e, needed) && needed)
		return;
	if (known || !e->blind) {
		observe_netdevs(e);
		decide_and_apply(e, known ? view : NULL);
	}
}

static void publish(struct attach_engine *e)
{
	if (!e->all.changed)
		return;
	if (attachments_publish(&e->all) < 0)
		engine_tick_at(e, engine_now(e) + ENGINE_MEMORY_MS);
	else
		e->hooks.changed(e->hooks.arg);
}

/* Sets the timer of the next tick, at least 1 ms from now: a deadline that is always in the past
 * must not starve the rest of the loop. */
static void arm(struct attach_engine *e)
{
	const uint64_t now = engine_now(e);

	e->ticking = false;
	if (e->tick_ms != NEVER && !e->closing)
		timer_in(&e->tick, e->tick_ms > now ? e->tick_ms - now : 1);
}

static void attach_engine_on_tick(void *arg)
{
	struct attach_engine *e = arg;
	struct attach_view view, *known = engine_view(e, &view) ? &view : NULL;

	e->ticking = true;
	e->tick_ms = NEVER;
	for (size_t i = 0; i < e->all.n; i++)
		e->all.items[i]->awaited = false;
	operations_continue(e);
	full_check_of_all(e);
	/* Before the other work: a waiter with its device in place gets its answer at once, and the
	 * return of a DEL starts in this tick. */
	waiters_settle(&e->waiters, known, engine_now(e));
	work(e, known);
	gates_request_lists(e);
	engine_tick_at(e, waiters_settle(&e->waiters, known, engine_now(e)));
	expect_sandboxes(e, known);
	publish(e);
	arm(e);
}

/* --- open and close --------------------------------------------------------------------------- */

static char *attach_engine_copy(const char *s)
{
	return strdup(s ? s : "");
}

static int copy_opts(struct attach_engine *e, const struct attach_engine_opts *o)
{
	e->state_dir = attach_engine_copy(o->state_dir);
	e->ipam_host = o->ipam;
	e->holders = o->holders;
	e->dry_run = o->dry_run;
	e->cni_add_ms = o->cni_add_ms ? o->cni_add_ms : CNI_ADD_ATTACH_MS;
	e->cni_early_ms = o->cni_early_ms ? o->cni_early_ms : CNI_EARLY_MS;
	e->cni_wait_ms = o->cni_wait_ms ? o->cni_wait_ms : CNI_WAIT_MS;
	e->ops = o->ops ? o->ops : &attach_real_ops;
	return e->state_dir ? 0 : -ENOMEM;
}

int attach_engine_open(struct attach_engine **ret, struct uv_loop_s *loop, const struct hw *hw,
		       const struct inventory *inventory, const struct attach_engine_opts *opts,
		       const struct attach_hooks *hooks, struct err *err)
{
	struct attach_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return err_set(err, -ENOMEM, "attach: out of memory");
	if (copy_opts(e, opts) < 0) {
		e->closed = true;
		engine_release_if_done(e);
		return err_set(err, -ENOMEM, "attach: out of memory");
	}
	e->loop = loop;
	e->hw = hw;
	e->inventory = inventory;
	e->hooks = *hooks;
	e->blind = true;
	e->opened_ms = e->full_check_ms = uv_now(loop);
	e->tick_ms = NEVER;
	e->ended = outcome;
	timer_init(&e->tick, loop, attach_engine_on_tick, e);
	journal_begin(e, false);
	engine_soon(e);
	*ret = e;
	return 0;
}

static void on_tick_closed(void *arg)
{
	struct attach_engine *e = arg;

	e->closed = true;
	engine_release_if_done(e);
}

void attach_engine_close(struct attach_engine *e)
{
	if (!e)
		return;
	e->closing = true;
	waiters_close(&e->waiters);
	ipam_requests_close(e);
	operations_close(e);
	e->holders = NULL;
	timer_close(&e->tick, on_tick_closed);
}
