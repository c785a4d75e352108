/* orphans.c - devices that bear our mark, and nobody remembers how they came to be where they are:
 * the journal is lost, or cannot be read. Whose they are, the mark itself, the kubelet and the
 * runtime tell together.
 *
 * A pod that runs keeps its device; what nobody has is returned. Whoever may set an alias may set
 * ours: only what is ours to attach, or has been attached, is ours to return. */
#include <string.h>

#include "engine_state.h"
#include "log.h"

/* --- is it ours? ------------------------------------------------------------------------------ */

static bool offers(const struct pool_view *p, const char *function)
{
	for (size_t i = 0; i < p->n_members; i++)
		if (strcmp(p->members[i], function) == 0)
			return true;
	return false;
}

/* The pool that attaches it; NULL = none. */
static const struct pool *pool_of(const struct attach_view *view, const char *function)
{
	for (size_t i = 0; i < view->pools->n_views; i++) {
		const struct pool_view *p = &view->pools->views[i];

		if (p->pool->kind == POOL_EXCLUSIVE && p->pool->network && offers(p, function))
			return p->pool;
	}
	return NULL;
}

static bool is_held_as_another(const struct pod_list *held, const char *function,
			       const char *resource)
{
	for (size_t i = 0; i < held->n; i++)
		if (strcmp(held->devices[i].id, function) == 0 &&
		    strcmp(held->devices[i].resource, resource) != 0)
			return true;
	return false;
}

static bool is_ours(const struct attach_engine *e, const struct attach_view *view,
		    const char *function)
{
	const struct pool *pool = pool_of(view, function);
	char resource[RESOURCE_NAME_SIZE] = "";
	struct attach_record r = {.state = ATTACH_FREE};

	if (pool)
		pool_resource(pool, resource);
	if (is_held_as_another(view->held, function, resource))
		return false;
	snprintf(r.function, sizeof(r.function), "%s", function);
	return pool || journal_has(e->state_dir, &r);
}

/* --- does a pod run with it? ------------------------------------------------------------------ */

static bool may_run(const struct attach_engine *e, const struct netdev *nd)
{
	const struct sandbox_list *l = attach_engine_sandboxes(e);

	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].ready && strcmp(l->items[i].uid, nd->origin_uid) == 0)
			return true;
	return !l->known;
}

/* The pod that it was attached to lives, whomever the kubelet has given it to since; or nobody can
 * say. */
static bool is_in_use(const struct attach_engine *e, const struct attach_view *view,
		      const struct netdev *nd)
{
	return nd->nsid != NSID_HOST && (view->held->source == POD_SOURCE_NONE || may_run(e, nd));
}

static const struct desired *find_wanted(const struct attach_engine *e, const struct netdev *nd)
{
	for (size_t i = 0; i < e->desired.n; i++) {
		const struct desired *w = &e->desired.items[i];

		if (w->plan.kind == PLAN_VF && strcmp(w->function, nd->function) == 0)
			return w->err.code || strcmp(w->owner.uid, nd->origin_uid) != 0 ? NULL : w;
	}
	return NULL;
}

/* As if it had been attached as it is wanted; of what it was before, its name is known. The PF's
 * settings cannot be compared: they are set to what drivers start with when it comes back. */
static void adopt(struct attachment *a, const struct netdev *nd)
{
	struct attach_engine *e = a->engine;
	const struct desired *w = find_wanted(e, nd);
	char device[DEVICE_TEXT_SIZE], owner[OWNER_TEXT_SIZE];
	struct netns_id netns;

	if (!w || e->ops->netns_find(e->hw, w->owner.netns.path, &netns) < 0)
		return;
	a->record = desired_record(e, w);
	a->record.state = ATTACH_IN_POD;
	e->ops->boot_id(e->hw, a->record.boot);
	a->record.owner.netns = netns;
	a->record.plan.vf.fields = 0;
	a->record.origin.vf_index = -1;
	memcpy(a->record.origin.name, nd->origin, sizeof(nd->origin));
	a->lost = false;
	a->why = NULL;
	a->trouble = (struct err){0};
	a->ipam_asked = a->announced = true;
	a->unheld_ms = 0;
	a->since_ms = a->doubt_ms = a->check_ms = uv_now(e->loop);
	follow_pool(a, w);
	e->list_changed = true;
	engine_event(e, EVENT_WARNING, "Adopted", &a->record,
		     "%s stays with %s: its mark, the kubelet and the runtime agree on that, no "
		     "record tells more",
		     device_text(&a->record, device), owner_text(&a->record.owner, owner));
}

/* --- lost ones -------------------------------------------------------------------------------- */

static void set_free(struct attachment *a, const char *why)
{
	a->lost = false;
	log_info("attach", 0, "%s %s: it is free", a->record.function, why);
	attachment_become(a, ATTACH_RETURNING);
	attachment_become(a, ATTACH_FREE);
	orders_tell(a);
}

void settle_lost(struct attachment *a, const struct attach_view *view)
{
	const struct netdev *nd = attachment_netdev(a);

	if (!a->lost || a->op)
		return;
	if (!nd) {
		if (attachment_is_off_the_bus(a))
			set_free(a, "is not on the bus");
		return;
	}
	if (!nd->origin[0]) {
		if (nd->nsid == NSID_HOST)
			set_free(a, "is in the host and bears no mark");
		return;
	}
	if (!is_ours(a->engine, view, nd->function))
		return;
	if (is_in_use(a->engine, view, nd)) {
		adopt(a, nd);
	} else if (!only_say(a, "return", a->why)) {
		a->lost = false;
		memcpy(a->record.origin.name, nd->origin, sizeof(a->record.origin.name));
		attachment_return(a, a->why);
	}
}

/* --- orphans ---------------------------------------------------------------------------------- */

static struct attach_record record_of_mark(const struct attach_engine *e, const struct netdev *nd)
{
	struct attach_record r = {.state = ATTACH_FREE, .serial = e->serial};

	memcpy(r.function, nd->function, sizeof(r.function));
	memcpy(r.origin.name, nd->origin, sizeof(r.origin.name));
	r.origin.vf_index = -1;
	return r;
}

/* The journal is opened first, if it can be: it may explain them. */
static bool is_journal_tried(const struct attach_engine *e)
{
	return e->journal || e->journal_ms || e->dry_run;
}

static void take_orphan(struct attach_engine *e, const struct netdev *nd)
{
	struct attach_record r = record_of_mark(e, nd);
	struct attachment *a = attachment_of_function(e, nd->function);

	e->wants_journal = true;
	if ((a && !attachment_is_idle(a)) || !is_journal_tried(e))
		return;
	if (a)
		attachment_drop(a);
	a = attachment_new(e, &r);
	if (!a)
		return;
	e->counters.orphans++;
	engine_event(e, EVENT_WARNING, "Orphan", &r,
		     "%s bears our mark as %s, and nothing is known of it", nd->function, nd->name);
	attachment_become(a, ATTACH_BAD);
	a->lost = true;
	a->why = "nobody knows who has it";
	err_set(&a->trouble, -EUCLEAN, "%s bears our mark, and nothing is known of it",
		nd->function);
}

static bool is_orphan(const struct attach_engine *e, const struct netdev *nd)
{
	const struct attachment *a = attachment_of_function(e, nd->function);

	return nd->function[0] &&
	       reconcile_is_orphan(nd, a && a->record.state != ATTACH_FREE ? &a->record : NULL);
}

void take_orphans(struct attach_engine *e, const struct attach_view *view)
{
	const struct host *h = &e->inventory->host;

	if (e->inventory->devices_ms <= e->done_ms)
		return;
	for (size_t i = 0; i < h->n_netdevs; i++)
		if (is_orphan(e, &h->netdevs[i]) && is_ours(e, view, h->netdevs[i].function))
			take_orphan(e, &h->netdevs[i]);
}
