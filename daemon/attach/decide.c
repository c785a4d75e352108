/* decide.c - what is to be done with each device, from what is known now: the kubelet's list, the
 * runtime's, the inventory. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "engine_state.h"
#include "log.h"

const struct pool *view_pool(const struct attach_view *view, const char *resource)
{
	const struct pool_view *p = pools_find(view->pools, resource);

	return p ? p->pool : NULL;
}

/* --- what is held ----------------------------------------------------------------------------- */

bool held_by(const struct pod_device *d, const struct attach_owner *o)
{
	if (d->uid[0] && o->uid[0])
		return strcmp(d->uid, o->uid) == 0;
	return strcmp(d->pod, o->pod) == 0 && strcmp(d->namespace, o->namespace) == 0;
}

static bool is_held(const struct pod_list *held, const struct attach_record *r)
{
	size_t n = 0;
	const struct pod_device *d = pod_list_find(held, r->resource, r->id, &n);

	for (size_t i = 0; i < n; i++)
		if (held_by(&d[i], &r->owner))
			return true;
	return false;
}

/* Whatever was free in between may be another pod's now, of the same name. */
static void follow_held(struct attachment *a, const struct pod_list *held)
{
	uint64_t now = uv_now(a->engine->loop);

	if (held->source == POD_SOURCE_NONE)
		return;
	if (is_held(held, &a->record)) {
		a->unheld_ms = 0;
		return;
	}
	a->doubt_ms = now;
	if (!a->unheld_ms)
		a->unheld_ms = now;
}

/* While the runtime says that the sandbox is ready, the kubelet's silence says nothing. */
static uint64_t doubted_since(const struct attachment *a)
{
	uint64_t silent = a->engine->cri_silent_ms;

	return a->unheld_ms > silent ? a->unheld_ms : silent;
}

static void follow_runtime(struct attach_engine *e)
{
	if (attach_engine_sandboxes(e)->known)
		e->cri_silent_ms = 0;
	else if (!e->cri_silent_ms)
		e->cri_silent_ms = uv_now(e->loop);
}

/* --- what is ---------------------------------------------------------------------------------- */

/* What a look shows that began earlier was so before; and on its way there it is in the host yet.
 */
static bool is_back(const struct attachment *a)
{
	const struct netdev *nd = attachment_netdev(a);

	return nd && nd->nsid == NSID_HOST && a->record.state == ATTACH_IN_POD &&
	       a->engine->inventory->devices_ms > a->since_ms;
}

static bool is_sandbox_ready(const struct attachment *a)
{
	const struct sandbox_list *l = attach_engine_sandboxes(a->engine);
	const struct sandbox *s = sandbox_find(l, a->record.owner.sandbox);

	return l->known && s && s->ready;
}

/* Nothing keeps it, and the runtime does not say otherwise. */
static bool is_netns_gone(const struct attachment *a)
{
	return a->life == NETNS_DEAD && !is_sandbox_ready(a);
}

static struct attach_fact fact_of(const struct attachment *a)
{
	const struct attach_engine *e = a->engine;

	return (struct attach_fact){
		.record = &a->record,
		.netns_gone = is_netns_gone(a),
		.in_host = is_back(a),
		.interrupted = a->interrupted,
		.unheld_ms = a->unheld_ms ? uv_now(e->loop) - doubted_since(a) + 1 : 0,
	};
}

bool only_say(struct attachment *a, const char *what, const char *why)
{
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];

	if (!a->engine->dry_run)
		return false;
	if (!a->told_dry)
		log_info("attach", 0, "dry run: would %s %s: %s%s%s", what,
			 device_text(&a->record, device), owner_text(&a->record.owner, owner),
			 why ? ", " : "", why ? why : "");
	a->told_dry = true;
	return true;
}

static bool is_judged(const struct attachment *a)
{
	switch (a->record.state) {
	case ATTACH_ATTACHING:
	case ATTACH_IN_POD:
		return true;
	case ATTACH_RETURNING:
		return a->interrupted;
	case ATTACH_FREE:
	case ATTACH_BAD:
		break;
	}
	return false;
}

/* An operation under way sees at its next step, or with its end, that there is a reason. */
static void judge(struct attachment *a, const struct reconcile_input *in)
{
	struct attach_fact fact = fact_of(a);

	if (!is_judged(a))
		return;
	if (!a->why)
		a->why = reconcile_attachment(&fact, in).why;
	if (a->why && !a->op && !only_say(a, "return", a->why))
		attachment_return(a, a->why);
}

/* --- what is wanted --------------------------------------------------------------------------- */

struct attach_record desired_record(const struct attach_engine *e, const struct desired *w)
{
	struct attach_record r = {
		.state = ATTACH_FREE, .serial = e->serial, .owner = w->owner, .plan = w->plan};

	memcpy(r.resource, w->resource, sizeof(r.resource));
	memcpy(r.id, w->id, sizeof(r.id));
	memcpy(r.function, w->function, sizeof(r.function));
	return r;
}

static bool is_same_sandbox(const struct attachment *a, const struct desired *w)
{
	return strcmp(a->record.owner.sandbox, w->owner.sandbox) == 0;
}

/* A container that waits is asked for again, and with it this; one that runs never is. */
static bool is_tried_again(const struct attachment *a)
{
	return a->failure.code != 0 && a->failure.code != -ECANCELED;
}

/* It failed like that a moment ago, or a person took it away. */
static bool failed_before(const struct attachment *a, const struct desired *w)
{
	return a->failure.code != 0 && is_same_sandbox(a, w) &&
	       plan_equal(&a->record.plan, &w->plan) &&
	       !(is_tried_again(a) && uv_now(a->engine->loop) >= a->again_ms);
}

void follow_pool(struct attachment *a, const struct desired *w)
{
	a->repair = w->network->drift == DRIFT_REPAIR;
	a->timeout_ms = w->network->timeout_ms;
}

/* What is away and not on record would be forgotten with us. */
static bool is_recorded(struct attachment *a)
{
	const char *why = a->engine->counters.journal_error;
	struct err err;

	if (a->engine->journal)
		return true;
	err_set(&err, -EROFS, "%s", why[0] ? why : "the journal is not open yet");
	outcome_failed(a, attach_step_name(STEP_RECORD), &err);
	return false;
}

static void bring(struct attach_engine *e, const struct desired *w)
{
	struct attach_record r = desired_record(e, w);
	struct attachment *a = attachment_find(e, &r);
	bool is_free = !a || attachment_is_idle(a);

	if (!is_free)
		follow_pool(a, w);
	if (!is_free || !reconcile_may_attach(w, NULL) || (a && failed_before(a, w)))
		return;
	if (a && !is_same_sandbox(a, w))
		a->n_failed = 0;
	if (a)
		a->record = r;
	else
		a = attachment_new(e, &r);
	if (!a) {
		engine_wake(e, ENGINE_MEMORY_MS);
		return;
	}
	follow_pool(a, w);
	if (!only_say(a, "attach", NULL) && is_recorded(a))
		attachment_attach(a);
}

/* Nobody asks for what failed any more. */
static void forget_unwanted(struct attach_engine *e)
{
	for (size_t i = e->n; i-- > 0;) {
		struct attachment *a = e->items[i];

		if (attachment_is_idle(a) &&
		    !desired_find(&e->desired, a->record.resource, a->record.id))
			attachment_drop(a);
	}
}

uint64_t decide_deadline(const struct attach_engine *e)
{
	uint64_t first = NEVER, now = uv_now(e->loop);

	for (size_t i = 0; i < e->n; i++) {
		const struct attachment *a = e->items[i];

		if (a->unheld_ms && e->cri_silent_ms && a->record.state == ATTACH_IN_POD &&
		    doubted_since(a) + RECONCILE_DOUBT_MS > now)
			first = earlier(first, doubted_since(a) + RECONCILE_DOUBT_MS);
		if (attachment_is_idle(a) && is_tried_again(a) && a->again_ms > now)
			first = earlier(first, a->again_ms);
	}
	return first;
}

/* --- the decision ----------------------------------------------------------------------------- */

static int find_desired(struct attach_engine *e, const struct attach_view *view)
{
	const struct attach_record **others = calloc(e->n + 1, sizeof(struct attach_record *));
	struct desired_list wanted = {0};
	size_t n = 0;
	int r;

	if (!others)
		return -ENOMEM;
	for (size_t i = 0; i < e->n; i++)
		if (e->items[i]->record.state != ATTACH_FREE)
			others[n++] = &e->items[i]->record;
	r = desired_build(&wanted, view->pools, &e->inventory->host, view->held,
			  attach_engine_sandboxes(e), others, n);
	free(others);
	if (r < 0)
		return r;
	desired_list_done(&e->desired);
	e->desired = wanted;
	return 0;
}

bool engine_decide(struct attach_engine *e, const struct attach_view *view)
{
	struct reconcile_input in = {.held = view->held, .sandboxes = attach_engine_sandboxes(e)};

	follow_runtime(e);
	if (find_desired(e, view) < 0)
		return false;
	namespaces_look(e);
	take_orphans(e, view);
	for (size_t i = 0; i < e->n; i++) {
		follow_held(e->items[i], view->held);
		settle_lost(e->items[i], view);
		judge(e->items[i], &in);
	}
	namespaces_search(e);
	forget_unwanted(e);
	for (size_t i = 0; i < e->desired.n; i++)
		bring(e, &e->desired.items[i]);
	return true;
}
