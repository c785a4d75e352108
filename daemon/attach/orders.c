/* orders.c - what a person asks for. */
#include <stdlib.h>
#include <string.h>

#include "attach_events.h"
#include "networks.h"
#include "operation.h"
#include "order_checks.h"

/* How long an order waits for what it needs to be known: a journal and a runtime that nothing
 * needed before are opened for it. */
#define EARLY_MS 3000

struct order {
	struct waiter waiter; /* first: it is freed as this */
	struct attach_engine *engine;
	bool detach;
	struct attachment *a; /* whose end it waits for; NULL: it could not be begun yet */
	struct attach_record record;
	attach_order_fn *fn;
	void *arg;
};

/* --- waiting ---------------------------------------------------------------------------------- */

static bool orders_look(struct waiter *, const struct attach_view *, struct err *);

static void attach_engine_answer(struct waiter *w, const struct err *err)
{
	struct order *o = (struct order *)w;

	if (o->a)
		o->a->n_orders--;
	else
		o->engine->n_early--;
	engine_soon(o->engine); /* it may be had, or forgotten, now */
	o->fn(err, o->arg);
	free(o);
}

static struct order *order_new(struct attach_engine *e, attach_order_fn *fn, void *arg)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->waiter = (struct waiter){.look = orders_look,
				    .answer = attach_engine_answer,
				    .since_ms = engine_now(e),
				    .deadline_ms = NEVER};
	o->engine = e;
	o->fn = fn;
	o->arg = arg;
	return o;
}

static void attach_engine_wait_for(struct order *o, struct attachment *a)
{
	o->a = a;
	a->n_orders++;
	o->waiter.deadline_ms = NEVER;
}

/* False: not yet. */
static bool has_ended(const struct order *o, struct err *ret)
{
	const struct attachment *a = o->a;
	const struct err *why = a->failure.code ? &a->failure : &a->trouble;

	switch (a->record.state) {
	case ATTACH_IN_POD:
		return !o->detach;
	case ATTACH_FREE:
		if (!o->detach && why->code)
			*ret = *why;
		else if (!o->detach)
			err_set(ret, -ECANCELED, "%s was taken back: %s", a->record.function,
				a->why ? a->why : "somebody asked for it");
		return true;
	case ATTACH_BAD:
		*ret = o->detach ? a->trouble : *why;
		return true;
	case ATTACH_ATTACHING:
	case ATTACH_RETURNING:
		break;
	}
	return false;
}

/* --- attach ----------------------------------------------------------------------------------- */

/* A container has it, or is about to. */
static int check_held(const struct attach_view *view, const char *function, struct err *err)
{
	for (size_t i = 0; i < view->pools->n_views; i++) {
		const struct pool_view *p = &view->pools->views[i];
		char resource[RESOURCE_NAME_SIZE];
		const struct pod_device *d;

		if (p->pool->kind != POOL_EXCLUSIVE)
			continue;
		pool_resource(p->pool, resource);
		d = pod_list_find(view->held, resource, function, NULL);
		if (d)
			return err_set(err, -EBUSY, "%s is given away by the kubelet, to pod %s/%s",
				       function, d->namespace, d->pod[0] ? d->pod : "?");
	}
	return 0;
}

static int check_order(struct attach_engine *e, const struct attach_view *view,
		       const char *function, struct err *err)
{
	const struct attachment *a = attachments_of_function(&e->all, function);
	char owner[OWNER_TEXT_SIZE];
	int error;

	if (!host_function(&e->inventory->host, function))
		return err_set(err, -ENODEV, "there is no function %s", function);
	if (a && !attachment_is_idle(a))
		return err_set(err, -EBUSY, "%s is %s: %s", function,
			       attach_state_name(a->record.state),
			       owner_text(&a->record.owner, owner));
	error = check_held(view, function, err);
	return error < 0 ? error : order_check_unused(e, view, function, err);
}

/* -EAGAIN: the runtime has not told it yet. */
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
			       "pod %s/%s: the container runtime does not tell where it is",
			       o->namespace, o->pod);
	return err_set(err, -ENOENT, "there is no running pod %s/%s with a network of its own",
		       o->namespace, o->pod);
}

static int bring(struct order *o, const struct attach_record *r)
{
	struct attach_engine *e = o->engine;
	struct attachment *a = attachments_find(&e->all, r);

	if (a)
		attachments_drop(&e->all, a); /* idle: only its failure is known */
	a = attachments_add(&e->all, r, engine_now(e));
	if (!a)
		return -ENOMEM;
	if (!operation_attach(e, a)) {
		attachments_drop(&e->all, a);
		return -ENOMEM;
	}
	attach_engine_wait_for(o, a);
	return 0;
}

/* -EAGAIN: something that it needs is not known yet. */
static int attach_engine_begin(struct order *o, const struct attach_view *view, struct err *err)
{
	struct attach_engine *e = o->engine;
	struct attach_record r = o->record;
	const char *journal = e->counters.journal_error;
	int error;

	if (!e->journal || !e->journal_read || !view)
		return err_set(err, -EAGAIN, "rocelet is still starting%s%s",
			       journal[0] ? ": " : "", journal);
	error = engine_refuse_blind(e, err);
	if (error == 0)
		error = attach_engine_find_pod(e, &r.owner, err);
	if (error == 0)
		error = check_order(e, view, r.function, err);
	if (error == 0)
		error = network_on_function(&r.plan, host_function(&e->inventory->host, r.function),
					    err);
	if (error < 0)
		return error;
	r.serial = e->serial;
	return bring(o, &r) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static bool orders_look(struct waiter *w, const struct attach_view *view, struct err *err)
{
	struct order *o = (struct order *)w;
	int error;

	if (o->a)
		return has_ended(o, err);
	error = attach_engine_begin(o, view, err);
	if (error == 0)
		o->engine->n_early--;
	return error < 0 && (error != -EAGAIN || engine_now(o->engine) >= w->deadline_ms);
}

static struct attach_record record_of(const char *function, const struct attach_owner *owner,
				      const struct net_plan *plan)
{
	struct attach_record r = {.state = ATTACH_FREE, .owner = *owner, .plan = *plan};

	r.owner.door = DOOR_ADMIN;
	snprintf(r.function, sizeof(r.function), "%s", function);
	snprintf(r.id, sizeof(r.id), "%s", function);
	return r;
}

/* Journal and runtime are opened for it. */
static void wait_to_begin(struct order *o)
{
	o->waiter.deadline_ms = o->waiter.since_ms + EARLY_MS;
	o->engine->n_early++;
}

int attach_engine_attach(struct attach_engine *e, const char *function,
			 const struct attach_owner *owner, const struct net_plan *plan,
			 attach_order_fn *fn, void *arg, struct err *err)
{
	struct attach_view view;
	bool known = engine_view(e, &view);
	struct order *o;
	int error;

	if (e->dry_run)
		return err_set(err, -EROFS, "a dry run attaches nothing");
	o = order_new(e, fn, arg);
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->record = record_of(function, owner, plan);
	error = attach_engine_begin(o, known ? &view : NULL, err);
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

/* --- detach ----------------------------------------------------------------------------------- */

#define BY_HAND "somebody asked for it"

static void attach_engine_take_back(struct attachment *a)
{
	if (a->record.state == ATTACH_BAD)
		a->retry_ms = 0;
	else if (a->record.state != ATTACH_RETURNING)
		a->why = BY_HAND;
	/* It is not brought back at once to whom the kubelet gave it. */
	if (!a->failure.code)
		err_set(&a->failure, -ECANCELED, "%s was taken back: " BY_HAND, a->record.function);
}

int attach_engine_detach(struct attach_engine *e, const char *function, bool force,
			 attach_order_fn *fn, void *arg, struct err *err)
{
	struct attachment *a = attachments_of_function(&e->all, function);
	char owner[OWNER_TEXT_SIZE];
	struct order *o;

	if (!a || a->record.state == ATTACH_FREE)
		return err_set(err, -ENOENT, "%s is not attached", function);
	if (e->dry_run)
		return err_set(err, -EROFS, "a dry run returns nothing");
	if (engine_refuse_blind(e, err) < 0)
		return -EAGAIN;
	if (a->lost)
		return err_set(
			err, -EAGAIN,
			"no record tells whose %s is; it is returned as soon as it is seen, and "
			"no pod runs with it",
			function);
	if (a->record.owner.door != DOOR_ADMIN && !force)
		return err_set(err, -EBUSY, "%s belongs to %s", function,
			       owner_text(&a->record.owner, owner));
	o = order_new(e, fn, arg);
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->detach = true;
	attach_engine_wait_for(o, a);
	waiters_add(&e->waiters, &o->waiter);
	attach_engine_take_back(a);
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
	engine_ask(e);
	engine_soon(e);
}
