// SPDX-License-Identifier: Apache-2.0
/* engine_requests.c - attach and detach requests of administrators and CNI plugins. */
#include "engine_requests.h"

#include <stdlib.h>
#include <string.h>

#include "attach_events.h"
#include "networks.h"
#include "operation.h"
#include "request_checks.h"

/* How long a request waits for the journal and the runtime, which may have to be opened first. */
#define EARLY_MS   3000
/* Interval of requests for new lists, and of checks whether the client is still connected. */
#define REQUEST_MS 200

/* --- waiting ---------------------------------------------------------------------------------- */

static bool engine_request_settle(struct waiter *, const struct attach_view *, struct err *);

static void attach_engine_answer(struct waiter *w, const struct err *err)
{
	struct engine_request *o = (struct engine_request *)w;

	if (o->a)
		o->a->n_requests--;
	else
		o->engine->n_early--;
	engine_soon(o->engine); /* the device may be attached again now, or its record removed */
	o->fn(err, o->arg);
	free(o);
}

struct engine_request *engine_request_new(struct attach_engine *e, attach_request_fn *fn, void *arg)
{
	struct engine_request *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->waiter = (struct waiter){.look = engine_request_settle,
				    .answer = attach_engine_answer,
				    .since_ms = engine_now(e),
				    .deadline_ms = NEVER};
	o->engine = e;
	o->early_ms = EARLY_MS;
	o->fn = fn;
	o->arg = arg;
	return o;
}

static void attach_engine_wait_for(struct engine_request *o, struct attachment *a)
{
	o->a = a;
	a->n_requests++;
	o->waiter.deadline_ms = NEVER;
}

/* True if the request's operation has ended; *ret is its error. */
static bool has_ended(const struct engine_request *o, struct err *ret)
{
	const struct attachment *a = o->a;
	const struct err *why = a->failure.code ? &a->failure : &a->problem;

	switch (a->record.state) {
	case ATTACH_IN_POD:
		return !o->detach;
	case ATTACH_FREE:
		if (!o->detach && why->code)
			*ret = *why;
		else if (!o->detach)
			err_set(ret, -ECANCELED, "%s was returned: %s", a->record.function,
				a->why ? a->why : "an admin request");
		return true;
	case ATTACH_BAD:
		*ret = o->detach ? a->problem : *why;
		return true;
	case ATTACH_ATTACHING:
	case ATTACH_RETURNING:
		break;
	}
	return false;
}

/* --- attach ----------------------------------------------------------------------------------- */

static int check_request(struct attach_engine *e, const struct attach_view *view,
			 struct attach_record *r, struct err *err)
{
	const struct attachment *a = attachments_of_function(&e->all, r->function);
	char owner[OWNER_TEXT_SIZE];
	int error;

	if (!host_function(&e->inventory->host, r->function))
		return err_set(err, -ENODEV, "there is no function %s", r->function);
	if (a && !attachment_is_idle(a))
		return err_set(err, request_may_wait(a, r) ? -EAGAIN : -EBUSY, "%s is %s: %s",
			       r->function, attach_state_name(a->record.state),
			       owner_text(&a->record.owner, owner));
	error = r->owner.door == DOOR_CNI ? request_check_cni(e, view, r, err)
					  : request_check_held(view, r->function, err);
	return error < 0 ? error : request_check_unused(e, view, r->function, err);
}

/* Finds the namespace of the request's pod. -EAGAIN: the runtime has not reported it yet. */
static int attach_engine_find_pod(const struct attach_engine *e, struct attach_owner *o,
				  struct err *err)
{
	const struct sandbox_list *list = engine_sandboxes(e);
	const struct sandbox *pod = NULL;
	bool known = list->known;

	if (o->netns.path[0])
		return 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct sandbox *s = &list->items[i];

		if (!s->ready || strcmp(s->namespace, o->namespace) != 0 ||
		    strcmp(s->pod, o->pod) != 0)
			continue;
		known = known && s->detailed;
		if (s->netns[0] && (!pod || sandbox_is_younger(s, pod)))
			pod = s;
	}
	if (pod) {
		memcpy(o->uid, pod->uid, sizeof(o->uid));
		memcpy(o->sandbox, pod->id, sizeof(o->sandbox));
		memcpy(o->netns.path, pod->netns, sizeof(o->netns.path));
		return 0;
	}
	if (!known)
		return err_set(err, -EAGAIN,
			       "pod %s/%s: the container runtime does not report its namespace",
			       o->namespace, o->pod);
	return err_set(err, -ENOENT, "there is no running pod %s/%s with a network of its own",
		       o->namespace, o->pod);
}

static int bring(struct engine_request *o, const struct attach_record *r)
{
	struct attach_engine *e = o->engine;
	struct attachment *a = attachments_find(&e->all, r);

	if (a)
		attachments_drop(&e->all, a); /* idle: kept for its failure only */
	a = attachments_add(&e->all, r, engine_now(e));
	if (!a)
		return -ENOMEM;
	if (!operation_attach(e, a)) {
		attachments_drop(&e->all, a);
		return -ENOMEM;
	}
	attach_engine_wait_for(o, a);
	engine_cni_attaches(e, r);
	return 0;
}

/* Begins the attach. -EAGAIN: the journal, or a list that the attach needs, is not available
 * yet. */
static int attach_engine_begin(struct engine_request *o, const struct attach_view *view,
			       struct err *err)
{
	struct attach_engine *e = o->engine;
	struct attach_record r = o->record;
	const char *journal = e->counters.journal_error;
	int error;

	if (!e->journal || !e->journal_read || !view)
		return err_set(err, -EAGAIN, "rocelet is still starting%s%s",
			       journal[0] ? ": " : "", journal);
	error = engine_check_visible(e, err);
	if (error == 0)
		error = attach_engine_find_pod(e, &r.owner, err);
	if (error == 0)
		error = check_request(e, view, &r, err);
	if (error == 0)
		error = network_on_function(&r.plan, host_function(&e->inventory->host, r.function),
					    err);
	if (error < 0)
		return error;
	r.serial = e->serial;
	return bring(o, &r) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* Requests new lists for a waiting CNI request: it may wait because the kubelet's list is old. */
static void engine_request_refresh(struct engine_request *o)
{
	struct attach_engine *e = o->engine;
	const uint64_t now = engine_now(e);

	if (o->record.owner.door != DOOR_CNI)
		return;
	if (now >= o->next_lists_ms) {
		o->next_lists_ms = now + REQUEST_MS;
		engine_request_lists(e);
	}
	engine_tick_at(e, o->next_lists_ms);
}

/* True if a request that has not begun must end: its client has disconnected, or a DEL has
 * cancelled it. If the attach is already running, undoes it. */
static bool is_abandoned(struct engine_request *o, struct err *err)
{
	if (o->cancelled && !o->a) {
		err_set(err, -ECANCELED, "its container's runtime deleted it");
		return true;
	}
	if (!o->is_wanted)
		return false;
	if (o->is_wanted(o->arg)) {
		engine_tick_at(o->engine, engine_now(o->engine) + REQUEST_MS);
		return false;
	}
	if (o->a && !o->a->why && o->a->record.state == ATTACH_ATTACHING)
		engine_request_take_back(o->a, "its client disconnected");
	if (!o->a)
		err_set(err, -ECANCELED, "the client disconnected");
	return !o->a;
}

/* True if the attach has exceeded the request's limit; begins to undo it. The answer does not wait
 * for the undo, which may take as long as the attach did. */
static bool is_too_late(const struct engine_request *o, struct err *err)
{
	struct attachment *a = o->a;

	if (!o->limit_ms || !a || a->why || a->record.state != ATTACH_ATTACHING ||
	    engine_now(o->engine) < o->waiter.since_ms + o->limit_ms)
		return false;
	err_set(err, -ETIMEDOUT, "%s is not attached after %u ms, at step %s: rolling back",
		a->record.function, o->limit_ms, a->step ? a->step : "?");
	engine_request_take_back(a, "its attach exceeded the time limit");
	return true;
}

static bool engine_request_settle(struct waiter *w, const struct attach_view *view, struct err *err)
{
	struct engine_request *o = (struct engine_request *)w;
	int error;

	if (is_abandoned(o, err) || is_too_late(o, err))
		return true;
	if (o->a)
		return has_ended(o, err);
	error = attach_engine_begin(o, view, err);
	if (error == 0)
		o->engine->n_early--;
	if (error == -EAGAIN)
		engine_request_refresh(o);
	return error < 0 && (error != -EAGAIN || engine_now(o->engine) >= w->deadline_ms);
}

struct attach_record engine_request_record(const char *function, const struct attach_owner *owner,
					   const struct net_plan *plan)
{
	struct attach_record r = {.state = ATTACH_FREE, .owner = *owner, .plan = *plan};

	snprintf(r.function, sizeof(r.function), "%s", function);
	snprintf(r.id, sizeof(r.id), "%s", function);
	return r;
}

void engine_requests_cancel(struct attach_engine *e, const char *container, const char *ifname)
{
	for (struct waiter *w = e->waiters.first; w; w = w->next) {
		struct engine_request *o = (struct engine_request *)w;

		if (w->look == engine_request_settle && !o->a && o->record.owner.door == DOOR_CNI &&
		    strcmp(o->record.owner.sandbox, container) == 0 &&
		    strcmp(o->record.plan.ifname, ifname) == 0)
			o->cancelled = true;
	}
}

/* Lets the request wait until the engine has opened the journal and the runtime. */
static void wait_to_begin(struct engine_request *o)
{
	o->waiter.deadline_ms = o->waiter.since_ms + o->early_ms;
	o->engine->n_early++;
	engine_request_refresh(o);
}

int engine_request_submit(struct engine_request *o, struct err *err)
{
	struct attach_engine *e = o->engine;
	struct attach_view view;
	bool known = engine_view(e, &view);
	int error = attach_engine_begin(o, known ? &view : NULL, err);

	if (error == -EAGAIN) {
		wait_to_begin(o);
	} else if (error < 0) {
		free(o);
		return error;
	}
	waiters_add(&e->waiters, &o->waiter);
	engine_soon(e);
	return 0;
}

int attach_engine_attach(struct attach_engine *e, const char *function,
			 const struct attach_owner *owner, const struct net_plan *plan,
			 attach_request_fn *fn, void *arg, struct err *err)
{
	struct engine_request *o;

	if (e->dry_run)
		return err_set(err, -EROFS, "rocelet attaches nothing (dry-run or observe)");
	o = engine_request_new(e, fn, arg);
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->record = engine_request_record(function, owner, plan);
	return engine_request_submit(o, err);
}

/* --- detach ----------------------------------------------------------------------------------- */

#define BY_HAND "an admin request"

void engine_request_take_back(struct attachment *a, const char *why)
{
	if (a->record.state == ATTACH_BAD)
		a->retry_ms = 0;
	else if (a->record.state != ATTACH_RETURNING)
		a->why = why;
	/* A recorded failure keeps the engine from attaching the device to its owner again at once.
	 */
	if (!a->failure.code)
		err_set(&a->failure, -ECANCELED, "%s was returned: %s", a->record.function, why);
}

int attach_engine_detach(struct attach_engine *e, const char *function, bool force,
			 attach_request_fn *fn, void *arg, struct err *err)
{
	struct attachment *a = attachments_of_function(&e->all, function);
	char owner[OWNER_TEXT_SIZE];
	struct engine_request *o;

	if (!a || a->record.state == ATTACH_FREE)
		return err_set(err, -ENOENT, "%s is not attached", function);
	if (e->dry_run)
		return err_set(err, -EROFS, "rocelet returns nothing (dry-run or observe)");
	if (engine_check_visible(e, err) < 0)
		return -EAGAIN;
	if (a->lost)
		return err_set(
			err, -EAGAIN,
			"no journal record has the owner of %s; it is returned as soon as its "
			"netdev is visible and no pod uses it",
			function);
	if (a->record.owner.door != DOOR_ADMIN && !force)
		return err_set(err, -EBUSY, "%s belongs to %s", function,
			       owner_text(&a->record.owner, owner));
	o = engine_request_new(e, fn, arg);
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->detach = true;
	attach_engine_wait_for(o, a);
	waiters_add(&e->waiters, &o->waiter);
	engine_request_take_back(a, BY_HAND);
	engine_soon(e);
	return 0;
}

void attach_engine_fix(struct attach_engine *e)
{
	for (size_t i = 0; i < e->all.n && !e->blind; i++) {
		struct attachment *a = e->all.items[i];

		if (a->record.state == ATTACH_BAD && a->retry_ms != NEVER)
			a->retry_ms = 0;
		a->repair_now = a->record.state == ATTACH_IN_POD;
	}
	engine_request_lists(e);
	engine_soon(e);
}
