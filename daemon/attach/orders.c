/* orders.c - what a person asks for. */
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "networks.h"

/* How long an order waits for what it needs to be known: a journal and a runtime that nothing
 * needed before are opened for it. */
#define EARLY_MS 3000

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

static int check_order(struct attach_engine *e, const struct attach_view *view,
		       const char *function, struct err *err)
{
	const struct attachment *a = attachment_of_function(e, function);
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
static int find_pod(const struct attach_engine *e, struct attach_owner *o, struct err *err)
{
	const struct sandbox_list *list = attach_engine_sandboxes(e);
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

static int bring(struct attach_engine *e, const struct attach_record *r, struct order_waiter *o)
{
	struct attachment *a = attachment_find(e, r);

	if (a)
		attachment_drop(a); /* idle: only its failure is known */
	a = attachment_new(e, r);
	if (a)
		attachment_attach(a);
	if (!a || !a->op) {
		if (a)
			attachment_drop(a);
		return -ENOMEM;
	}
	order_add(a, o);
	return 0;
}

/* -EAGAIN: something that it needs is not known yet. Otherwise *o is somebody else's, unless it
 * fails. */
static int begin(struct attach_engine *e, struct attach_record *r, struct order_waiter *o,
		 struct err *err)
{
	const char *journal = e->counters.journal_error;
	struct attach_view view;
	int error;

	if (!e->journal || !e->journal_read || !e->hooks.view(&view, e->hooks.arg))
		return err_set(err, -EAGAIN, "rocelet is still starting%s%s",
			       journal[0] ? ": " : "", journal);
	error = engine_refuse_blind(e, err);
	if (error == 0)
		error = find_pod(e, &r->owner, err);
	if (error == 0)
		error = check_order(e, &view, r->function, err);
	if (error == 0)
		error = network_on_function(&r->plan,
					    host_function(&e->inventory->host, r->function), err);
	if (error < 0)
		return error;
	r->serial = e->serial;
	return bring(e, r, o) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
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

/* --- attach, once everything is known --------------------------------------------------------- */

struct early_order {
	struct early_order *next;
	struct order_waiter *waiter;
	struct attach_record record;
	uint64_t deadline_ms;
};

/* Journal and runtime are opened for it. */
static int put_off(struct attach_engine *e, const struct attach_record *r, struct order_waiter *o)
{
	struct early_order *early = calloc(1, sizeof(*early)), **at = &e->early;

	if (!early)
		return -ENOMEM;
	early->waiter = o;
	early->record = *r;
	early->deadline_ms = uv_now(e->loop) + EARLY_MS;
	while (*at)
		at = &(*at)->next;
	*at = early;
	engine_decide_soon(e);
	return 0;
}

int attach_engine_attach(struct attach_engine *e, const char *function,
			 const struct attach_owner *owner, const struct net_plan *plan,
			 attach_order_fn *fn, void *arg, struct err *err)
{
	struct attach_record r = record_of(function, owner, plan);
	struct order_waiter *o;
	int error;

	if (e->dry_run)
		return err_set(err, -EROFS, "a dry run attaches nothing");
	o = order_new(false, fn, arg);
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	error = begin(e, &r, o, err);
	if (error == -EAGAIN && put_off(e, &r, o) == 0)
		return 0;
	if (error < 0)
		free(o);
	return error;
}

/* False: not yet. */
static bool is_over(struct attach_engine *e, struct early_order *early)
{
	struct order_waiter *o = early->waiter;
	struct err err = {0};
	int error;

	if (e->closing)
		error = err_set(&err, -ECANCELED, "rocelet is stopping");
	else
		error = begin(e, &early->record, o, &err);
	if (error == -EAGAIN && uv_now(e->loop) < early->deadline_ms)
		return false;
	if (error < 0) {
		o->fn(&err, o->arg);
		free(o);
	}
	return true;
}

/* Who is told may order anew. */
void orders_continue(struct attach_engine *e)
{
	struct early_order *list = e->early, *next, **at;

	e->early = NULL;
	for (; list; list = next) {
		next = list->next;
		if (is_over(e, list)) {
			free(list);
			continue;
		}
		for (at = &e->early; *at;)
			at = &(*at)->next;
		list->next = NULL;
		*at = list;
	}
}

uint64_t orders_deadline(const struct attach_engine *e)
{
	uint64_t first = NEVER;

	for (const struct early_order *o = e->early; o; o = o->next)
		first = earlier(first, o->deadline_ms);
	return first;
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
	o = order_new(true, fn, arg);
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	order_add(a, o);
	take_back(a);
	return 0;
}

void attach_engine_fix(struct attach_engine *e)
{
	for (size_t i = 0; i < e->n && !e->blind; i++) {
		struct attachment *a = e->items[i];

		if (a->record.state == ATTACH_BAD && a->retry_ms != NEVER)
			a->retry_ms = 0;
		a->repair_now = a->record.state == ATTACH_IN_POD;
	}
	engine_ask(e);
	engine_decide_soon(e);
}
