/* orders.c - what a person asks for. */
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"

struct order_waiter {
	struct order_waiter *next;
	bool detach;
	attach_order_fn *fn;
	void *arg;
};

/* --- telling ---------------------------------------------------------------------------------- */

/* False: not yet. */
static bool outcome_of(const struct attachment *a, const struct order_waiter *o, struct err *ret)
{
	const struct err *why = a->failure.code ? &a->failure : &a->trouble;

	*ret = (struct err){0};
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

void orders_tell(struct attachment *a)
{
	struct order_waiter **at = &a->orders;

	while (*at) {
		struct order_waiter *o = *at;
		struct err err;

		if (a->engine->closing) {
			err_set(&err, -ECANCELED, "rocelet is stopping");
		} else if (!outcome_of(a, o, &err)) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		o->fn(&err, o->arg);
		free(o);
	}
}

static struct order_waiter *order_new(bool detach, attach_order_fn *fn, void *arg)
{
	struct order_waiter *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->detach = detach;
	o->fn = fn;
	o->arg = arg;
	return o;
}

static void order_add(struct attachment *a, struct order_waiter *o)
{
	o->next = a->orders;
	a->orders = o;
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

static int check_order(struct attach_engine *e, const char *function, struct err *err)
{
	const struct attachment *a = attachment_of_function(e, function);
	char owner[OWNER_TEXT_SIZE];
	struct attach_view view;
	int error;

	if (e->dry_run)
		return err_set(err, -EROFS, "a dry run attaches nothing");
	if (!e->journal) {
		e->wants_journal = true;
		engine_decide_soon(e);
	}
	if (!e->journal || !e->journal_read || !e->hooks.view(&view, e->hooks.arg))
		return err_set(err, -EAGAIN, "rocelet is still starting");
	if (!host_function(&e->inventory->host, function))
		return err_set(err, -ENODEV, "there is no function %s", function);
	if (a && !attachment_is_idle(a))
		return err_set(err, -EBUSY, "%s is %s: %s", function,
			       attach_state_name(a->record.state),
			       owner_text(&a->record.owner, owner));
	error = check_held(&view, function, err);
	return error < 0 ? error : order_check_unused(e, &view, function, err);
}

static struct attach_record record_of(const struct attach_engine *e, const char *function,
				      const struct attach_owner *owner, const struct net_plan *plan)
{
	struct attach_record r = {
		.state = ATTACH_FREE, .serial = e->serial, .owner = *owner, .plan = *plan};

	r.owner.door = DOOR_ADMIN;
	snprintf(r.function, sizeof(r.function), "%s", function);
	snprintf(r.id, sizeof(r.id), "%s", function);
	return r;
}

int attach_engine_attach(struct attach_engine *e, const char *function,
			 const struct attach_owner *owner, const struct net_plan *plan,
			 attach_order_fn *fn, void *arg, struct err *err)
{
	struct attach_record r = record_of(e, function, owner, plan);
	struct attachment *a;
	struct order_waiter *o;
	int error = check_order(e, function, err);

	if (error < 0)
		return error;
	a = attachment_find(e, &r);
	if (a)
		attachment_drop(a); /* idle: only its failure is known */
	o = order_new(false, fn, arg);
	a = o ? attachment_new(e, &r) : NULL;
	if (a)
		attachment_attach(a);
	if (!a || !a->op) {
		if (a)
			attachment_drop(a);
		free(o);
		return err_set(err, -ENOMEM, "out of memory");
	}
	order_add(a, o);
	return 0;
}

/* --- detach ----------------------------------------------------------------------------------- */

#define BY_HAND "somebody asked for it"

static void take_back(struct attachment *a)
{
	if (a->record.state == ATTACH_BAD)
		a->retry_ms = 0;
	else if (a->record.state != ATTACH_RETURNING)
		a->why = BY_HAND;
	/* It is not brought back at once to whom the kubelet gave it. */
	if (!a->failure.code)
		err_set(&a->failure, -ECANCELED, "%s was taken back: " BY_HAND, a->record.function);
	engine_decide_soon(a->engine);
}

int attach_engine_detach(struct attach_engine *e, const char *function, bool force,
			 attach_order_fn *fn, void *arg, struct err *err)
{
	struct attachment *a = attachment_of_function(e, function);
	char owner[OWNER_TEXT_SIZE];
	struct order_waiter *o;

	if (!a || a->record.state == ATTACH_FREE)
		return err_set(err, -ENOENT, "%s is not attached", function);
	if (e->dry_run)
		return err_set(err, -EROFS, "a dry run returns nothing");
	if (a->lost)
		return err_set(
			err, -EAGAIN,
			"no record tells whose %s is; it is returned as soon as it is seen, and "
			"no pod runs with it",
			function);
	if (a->record.owner.door != DOOR_ADMIN && !force)
		return err_set(err, -EBUSY, "%s belongs to %s", function,
			       owner_text(&a->record.owner, owner));
	o = order_new(true, fn, arg);
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	order_add(a, o);
	take_back(a);
	return 0;
}

void attach_engine_fix(struct attach_engine *e)
{
	for (size_t i = 0; i < e->n; i++) {
		struct attachment *a = e->items[i];

		if (a->record.state == ATTACH_BAD && a->retry_ms != NEVER)
			a->retry_ms = 0;
		a->repair_now = a->record.state == ATTACH_IN_POD;
	}
	engine_ask(e);
	engine_decide_soon(e);
}
