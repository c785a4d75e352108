// SPDX-License-Identifier: Apache-2.0
#include "decide.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "reconcile.h"
#include "record_json.h"
#include "search.h"

struct decision {
	const struct attach_snapshot *s;
	struct attach_actions *ret;
	unsigned n_checking;
	bool contradicted; /* at least one attachment contradicts the runtime's list */
	int error;
};

static void attach_act(struct decision *d, struct attach_action action)
{
	struct attach_action *new = array_push(d->ret->items, d->ret->n);

	if (new)
		*new = action;
	else
		d->error = -ENOMEM;
}

static void decide_again_at(struct decision *d, uint64_t at_ms)
{
	if (at_ms < d->ret->recheck_ms)
		d->ret->recheck_ms = at_ms;
}

/* --- lost devices ------------------------------------------------------------------------------
 *
 * The device's journal record is lost or unreadable. Its owner is then derived from its mark
 * (ifalias), the kubelet's list and the runtime's list: a running pod keeps the device, and a
 * device without a running pod is returned. Any process with CAP_NET_ADMIN can set an alias, so
 * only functions of our pools, or with a file in the journal, are returned. */

static bool offers(const struct pool_view *p, const char *function)
{
	return any_of(p->n_members, i, strcmp(p->members[i], function) == 0);
}

/* Returns the exclusive pool that offers the function, and that attaches it natively (true) or
 * leaves that to CNI (false). NULL = none. */
static const struct pool *pool_offering(const struct pools *pools, const char *function,
					bool natively)
{
	for (size_t i = 0; i < pools->n_views; i++) {
		const struct pool_view *p = &pools->views[i];

		if (p->pool->kind == POOL_EXCLUSIVE && !p->pool->network == !natively &&
		    offers(p, function))
			return p->pool;
	}
	return NULL;
}

/* Returns the pool that attaches the function natively; NULL = none. */
static const struct pool *pool_of(const struct pools *pools, const char *function)
{
	return pool_offering(pools, function, true);
}

static bool is_held_as_another(const struct pod_list *held, const char *function,
			       const char *resource)
{
	return any_of(held->n, i,
		      strcmp(held->devices[i].id, function) == 0 &&
			      strcmp(held->devices[i].resource, resource) != 0);
}

static bool attach_is_of_pod(const struct sandbox *s, const struct pod_device *held)
{
	if (held->uid[0])
		return strcmp(s->uid, held->uid) == 0;
	return strcmp(s->pod, held->pod) == 0 && strcmp(s->namespace, held->namespace) == 0;
}

static bool attach_is_recorded(const struct attach_snapshot *s, const char *function)
{
	return any_of(s->n_recorded, i, strcmp(s->recorded[i], function) == 0);
}

static bool is_held_elsewhere(const struct attach_snapshot *s, const struct pool *pool,
			      const char *function)
{
	char resource[RESOURCE_NAME_SIZE] = "";

	if (pool)
		pool_resource(pool, resource);
	return is_held_as_another(s->held, function, resource);
}

static bool attach_is_ours(const struct attach_snapshot *s, const char *function)
{
	const struct pool *pool = pool_of(s->pools, function);

	return !is_held_elsewhere(s, pool, function) && (pool || attach_is_recorded(s, function));
}

/* Could a pod with the host's network be using the function? The runtime lists the sandbox of such
 * a pod as ready before its containers start. Other pods get a granted function by a CNI ADD,
 * during which their sandbox may not be listed yet. */
static bool may_stay_in_host(const struct attach_snapshot *s, const char *function)
{
	for (size_t i = 0; i < s->held->n; i++) {
		const struct pod_device *d = &s->held->devices[i];

		if (strcmp(d->id, function) != 0 || !(d->pod[0] || d->uid[0]))
			continue;
		if (!s->sandboxes->known)
			return true;
		for (size_t k = 0; k < s->sandboxes->n; k++) {
			const struct sandbox *x = &s->sandboxes->items[k];

			if (x->ready && (!x->detailed || x->host_network) && attach_is_of_pod(x, d))
				return true;
		}
	}
	return s->held->source == POD_SOURCE_NONE;
}

/* True if the function belongs to a pool that is attached by CNI, and its netdev is in the host
 * with our mark: its pod has ended, but the record that would cause the return was lost. A netdev
 * in another namespace stays there: without a record its container is unknown. */
static bool is_left_by_cni(const struct attach_snapshot *s, const struct netdev *nd)
{
	const struct pool *pool = pool_offering(s->pools, nd->function, false);

	return pool && nd->nsid == NSID_HOST && nd->origin[0] &&
	       !is_held_elsewhere(s, pool, nd->function) && !may_stay_in_host(s, nd->function);
}

static bool is_ours_to_return(const struct attach_snapshot *s, const struct netdev *nd)
{
	return attach_is_ours(s, nd->function) || is_left_by_cni(s, nd);
}

static bool may_run(const struct decision *d, const struct netdev *nd)
{
	const struct sandbox_list *l = d->s->sandboxes;

	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].ready && strcmp(l->items[i].uid, nd->origin_uid) == 0)
			return true;
	return !l->known || d->contradicted;
}

static bool has_sandbox(const struct sandbox_list *l, const struct pod_device *held)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct sandbox *s = &l->items[i];

		if (s->ready && attach_is_of_pod(s, held))
			return true;
	}
	return false;
}

/* Does the kubelet's list have the function for a pod that has no ready sandbox in the runtime's
 * list? That pod may be the pod of the mark. */
static bool may_be_held(const struct attach_snapshot *s, const char *function)
{
	for (size_t i = 0; i < s->held->n; i++) {
		const struct pod_device *held = &s->held->devices[i];

		if (strcmp(held->id, function) == 0 && (held->pod[0] || held->uid[0]) &&
		    !has_sandbox(s->sandboxes, held))
			return true;
	}
	return false;
}

/* Is the pod of the mark running, even if the kubelet has granted the function to another pod
 * since? True if unknown. */
static bool attach_is_in_use(const struct decision *d, const struct netdev *nd)
{
	return nd->nsid != NSID_HOST && (d->s->held->source == POD_SOURCE_NONE || may_run(d, nd) ||
					 may_be_held(d->s, nd->function));
}

/* Returns the desired attachment of the function if it is for the pod of the mark; NULL: there is
 * none. */
static const struct desired *desired_of_mark(const struct attach_snapshot *s,
					     const struct netdev *nd)
{
	for (size_t i = 0; i < s->desired->n; i++) {
		const struct desired *w = &s->desired->items[i];

		if (w->plan.kind == PLAN_VF && strcmp(w->function, nd->function) == 0)
			return w->err.code || strcmp(w->owner.uid, nd->origin_uid) != 0 ? NULL : w;
	}
	return NULL;
}

static bool is_off_the_bus(const struct attach_snapshot *s, const struct attachment *a)
{
	return s->devices_ms > 0 && !host_function(s->host, a->record.function);
}

static bool attach_names_pod(const struct pod_list *held, const char *function)
{
	return any_of(held->n, i,
		      strcmp(held->devices[i].id, function) == 0 &&
			      (held->devices[i].pod[0] || held->devices[i].uid[0]));
}

/* Could a pod with the host's network be using the function? True until the kubelet's and the
 * runtime's lists are known. */
static bool may_be_used_in_host(const struct attach_snapshot *s, const char *function)
{
	return s->held->source == POD_SOURCE_NONE ||
	       (!s->sandboxes->known && attach_names_pod(s->held, function));
}

/* Is a container waiting for the function? It must get a clean device. */
static bool attach_is_awaited(const struct attach_snapshot *s, const char *function)
{
	return any_of(s->held->n, i,
		      s->held->devices[i].start_ms &&
			      strcmp(s->held->devices[i].id, function) == 0);
}

/* Is a running pod with the host's network using the function? */
static bool is_used_in_host(const struct attach_snapshot *s, const char *function)
{
	for (size_t i = 0; i < s->desired->n; i++) {
		const struct desired *w = &s->desired->items[i];

		if (w->plan.in_host && !w->err.code && strcmp(w->function, function) == 0)
			return !attach_is_awaited(s, function);
	}
	return false;
}

/* Decides about a lost function that is in the host without a mark: its pod may have removed the
 * mark and left other state. A function that a pool attaches gets a new netdev; other functions are
 * not changed. */
static void decide_unmarked(struct decision *d, struct attachment *a, const struct netdev *nd)
{
	if (!pool_of(d->s->pools, nd->function))
		attach_act(
			d,
			(struct attach_action){
				ACT_SET_FREE, a,
				.why = "is in the host, and no pool with \"network\" selects it"});
	else if (is_used_in_host(d->s, nd->function))
		attach_act(d, (struct attach_action){
				      ACT_SET_FREE, a,
				      .why = "is in use by a pod with the host's network"});
	else if (attach_is_ours(d->s, nd->function) && !may_be_used_in_host(d->s, nd->function))
		attach_act(d, (struct attach_action){
				      .act = ACT_RETURN, .a = a, .netdev = nd, .why = a->why});
}

static void decide_lost(struct decision *d, struct attachment *a)
{
	const struct attach_snapshot *s = d->s;
	const struct netdev *nd = record_netdev(&a->record, s->host);
	const struct desired *w;

	if (!nd && is_off_the_bus(s, a))
		attach_act(d, (struct attach_action){
				      .act = ACT_SET_FREE, .a = a, .why = "is not on the bus"});
	else if (nd && !nd->origin[0] && nd->nsid == NSID_HOST)
		decide_unmarked(d, a, nd);
	if (!nd || !nd->origin[0] || !is_ours_to_return(s, nd))
		return;
	if (!attach_is_in_use(d, nd))
		attach_act(d, (struct attach_action){
				      .act = ACT_RETURN, .a = a, .netdev = nd, .why = a->why});
	else if ((w = desired_of_mark(s, nd)))
		attach_act(d, (struct attach_action){
				      .act = ACT_ADOPT, .a = a, .desired = w, .netdev = nd});
}

static void decide_orphan(struct decision *d, const struct netdev *nd)
{
	const struct attachment *a = attachments_of_function(d->s->all, nd->function);

	if (nd->function[0] &&
	    reconcile_is_orphan(nd, a && a->record.state != ATTACH_FREE ? &a->record : NULL) &&
	    (!a || attachment_is_idle(a)) && is_ours_to_return(d->s, nd))
		attach_act(d, (struct attach_action){.act = ACT_ADOPT_ORPHAN, .netdev = nd});
}

/* Finds orphans. Does nothing if the last scan began before the last step of any operation, because
 * the scan may be outdated. */
static void decide_orphans(struct decision *d)
{
	const struct host *h = d->s->host;

	if (d->s->devices_ms <= d->s->done_ms)
		return;
	for (size_t i = 0; i < h->n_netdevs; i++)
		decide_orphan(d, &h->netdevs[i]);
}

/* --- attachments ------------------------------------------------------------------------------ */

/* Returns since when the device is missing from the kubelet's list while the runtime does not
 * answer. If the runtime answers, the kubelet's list is ignored as long as the sandbox is ready. */
static uint64_t unheld_since(const struct attach_snapshot *s, const struct attachment *a)
{
	return a->unheld_ms > s->cri_silent_ms ? a->unheld_ms : s->cri_silent_ms;
}

/* Is the netdev of an attached device back in the host, according to a scan that began after the
 * attach? */
static bool is_back(const struct attach_snapshot *s, const struct attachment *a)
{
	const struct netdev *nd = record_netdev(&a->record, s->host);

	return nd && nd->nsid == NSID_HOST && !a->record.plan.in_host &&
	       a->record.state == ATTACH_IN_POD && s->devices_ms > a->since_ms;
}

/* True if the namespace was removed, and the runtime does not report its sandbox as ready. */
static bool is_netns_ended(const struct attach_snapshot *s, const struct attachment *a)
{
	const struct sandbox *sandbox = sandbox_find(s->sandboxes, a->record.owner.sandbox);

	return a->life == NETNS_DEAD && !(s->sandboxes->known && sandbox && sandbox->ready);
}

static struct attach_fact fact_of(const struct attach_snapshot *s, const struct attachment *a)
{
	return (struct attach_fact){
		.record = &a->record,
		.netns_ended = is_netns_ended(s, a),
		.in_host = is_back(s, a),
		.netns_there = a->life == NETNS_ALIVE,
		.interrupted = a->interrupted,
		.unheld_ms = a->unheld_ms ? s->now_ms - unheld_since(s, a) + 1 : 0,
		.missed_ms = a->missed_ms ? s->now_ms - a->missed_ms + 1 : 0,
		.use = a->use,
		.was_ready = a->was_ready,
	};
}

static const char *why_return(const struct attach_snapshot *s, const struct attachment *a)
{
	const struct reconcile_input in = {s->held, s->sandboxes};
	struct attach_fact fact;

	if (a->why || !s->desired)
		return a->why;
	fact = fact_of(s, a);
	return reconcile_attachment(&fact, &in);
}

/* True if the addresses can be announced: the netdev has a carrier, or the carrier is unknown
 * because the namespace is unreachable. */
static bool may_announce(const struct attach_snapshot *s, const struct attachment *a)
{
	const struct netdev *nd = record_netdev(&a->record, s->host);

	if (record_is_stacked(&a->record))
		return true;
	return nd && nd->nsid != NSID_HOST &&
	       (nd->carrier == CARRIER_ON || nd->nsid == NSID_ELSEWHERE);
}

/* Announces the addresses when there is a carrier; checks the device after a change was seen, and
 * periodically. */
static void decide_upkeep(struct decision *d, struct attachment *a)
{
	if (a->op || d->s->dry_run || a->record.plan.in_host)
		return;
	if (!a->announced && may_announce(d->s, a)) {
		attach_act(d, (struct attach_action){.act = ACT_ANNOUNCE, .a = a});
		return;
	}
	if (!a->check_now && !a->repair_now && d->s->now_ms < a->check_ms) {
		decide_again_at(d, a->check_ms);
		return;
	}
	/* The end of a check causes a tick, which begins the next check. */
	if (d->n_checking >= (a->check_now ? ATTACH_CHECKS_MAX : 1))
		return;
	d->n_checking++;
	attach_act(d, (struct attach_action){.act = ACT_CHECK, .a = a});
}

static void await_deadlines(struct decision *d, const struct attachment *a)
{
	uint64_t at = unheld_since(d->s, a) + RECONCILE_UNHELD_MS;

	if (a->unheld_ms && d->s->cri_silent_ms && at > d->s->now_ms)
		decide_again_at(d, at);
	at = a->missed_ms +
	     (a->record.owner.door == DOOR_CNI ? RECONCILE_MADE_MS : reconcile_grace_ms(a->use));
	if (a->missed_ms && at > d->s->now_ms)
		decide_again_at(d, at);
}

/* Returns the device if its attachment has to end; a running operation is cancelled after its
 * current step. Otherwise decides the upkeep of a device in its pod. */
static void decide_away(struct decision *d, struct attachment *a)
{
	const char *why = why_return(d->s, a);

	if (why && !a->op)
		attach_act(d, (struct attach_action){.act = ACT_RETURN, .a = a, .why = why});
	else if (why && !a->why)
		attach_act(d, (struct attach_action){.act = ACT_UNDO, .a = a, .why = why});
	if (why || a->record.state != ATTACH_IN_POD)
		return;
	await_deadlines(d, a);
	decide_upkeep(d, a);
}

/* --- bad and free devices --------------------------------------------------------------------- */

static void decide_bad(struct decision *d, struct attachment *a)
{
	if (a->op)
		return;
	if (a->lost && d->s->desired)
		decide_lost(d, a);
	else if (a->retry_ms > d->s->now_ms)
		decide_again_at(d, a->retry_ms);
	else
		attach_act(d, (struct attach_action){.act = ACT_RETURN, .a = a, .why = a->why});
}

/* Is the device no longer desired, and its attachment kept only for the failure? */
static bool is_unwanted(const struct attach_snapshot *s, const struct attachment *a)
{
	return attachment_is_idle(a) && s->desired &&
	       !desired_find(s->desired, a->record.resource, a->record.id);
}

/* Applies changed pool settings for drift, timeout and cleaning, also to devices of pods that ended
 * while rocelet was stopped. */
static void decide_follow(struct decision *d, struct attachment *a)
{
	const struct pool_view *view = a->record.owner.door == DOOR_NATIVE
					       ? pools_find(d->s->pools, a->record.resource)
					       : NULL;
	const struct pool_network *n = view ? view->pool->network : NULL;

	if (n && !attachment_is_idle(a) &&
	    (a->repair != (n->drift == DRIFT_REPAIR) || a->timeout_ms != n->timeout_ms ||
	     a->record.plan.clean != n->plan.clean))
		attach_act(d, (struct attach_action){.act = ACT_FOLLOW_POOL, .a = a, .network = n});
}

static void decide_one(struct decision *d, struct attachment *a)
{
	switch (a->record.state) {
	case ATTACH_FREE:
		if (is_unwanted(d->s, a))
			attach_act(d, (struct attach_action){.act = ACT_DROP, .a = a});
		return;
	case ATTACH_RETURNING:
		if (a->interrupted)
			decide_away(d, a);
		return;
	case ATTACH_ATTACHING:
	case ATTACH_IN_POD:
		decide_away(d, a);
		return;
	case ATTACH_BAD:
		decide_bad(d, a);
		return;
	}
}

/* --- desired attachments ---------------------------------------------------------------------- */

static struct attachment *attachment_of(const struct attach_snapshot *s, const struct desired *w)
{
	struct attachment *a = w->plan.kind == PLAN_VF
				       ? attachments_of_function(s->all, w->function)
				       : attachments_of_id(s->all, w->resource, w->id);

	return a && is_unwanted(s, a) ? NULL : a;
}

/* Did the same attach fail recently, or did an admin request detach the device? A request by a
 * waiting container clears the failure. */
static bool failed_before(struct decision *d, const struct attachment *a, const struct desired *w)
{
	if (a->failure.code == 0 || strcmp(a->record.owner.sandbox, w->owner.sandbox) != 0 ||
	    !plan_equal(&a->record.plan, &w->plan))
		return false;
	if (a->failure.code == -ECANCELED)
		return true;
	if (a->again_ms > d->s->now_ms)
		decide_again_at(d, a->again_ms);
	return a->again_ms > d->s->now_ms;
}

/* True if an earlier action of this decision concerns the same function: an orphan is returned
 * first, or the lists have the function for two pods or as two resources. */
static bool has_earlier_action(const struct decision *d, const struct desired *w)
{
	for (size_t i = 0; i < d->ret->n && w->plan.kind == PLAN_VF; i++) {
		const struct attach_action *a = &d->ret->items[i];
		const char *function = NULL;

		if (a->act == ACT_ADOPT_ORPHAN)
			function = a->netdev->function;
		else if ((a->act == ACT_ATTACH || a->act == ACT_FAIL) &&
			 a->desired->plan.kind == PLAN_VF)
			function = a->desired->function;
		if (function && strcmp(function, w->function) == 0)
			return true;
	}
	return false;
}

static void decide_desired(struct decision *d, const struct desired *w)
{
	struct attachment *a = attachment_of(d->s, w);
	const char *missing = d->s->dry_run ? NULL : d->s->journal_missing;

	if (a && !attachment_is_idle(a))
		return;
	if (!reconcile_may_attach(w, NULL) || has_earlier_action(d, w) ||
	    (a && failed_before(d, a, w)))
		return;
	/* Without a record, a restarted rocelet would not know the device. */
	attach_act(d, (struct attach_action){.act = missing ? ACT_FAIL : ACT_ATTACH,
					     .desired = w,
					     .why = missing});
}

/* --- is the runtime's list correct? ----------------------------------------------------------- */

static void note_contradiction(struct decision *d, const struct attachment *a)
{
	const uint64_t at = a->missed_ms + CONTRADICTION_MS;

	d->contradicted = true;
	if (a->missed_ms && at > d->s->now_ms) {
		decide_again_at(d, at);
		return;
	}
	if (!d->ret->contradicting)
		d->ret->contradicting = a;
	d->ret->n_contradicting++;
}

static void judge_runtime(struct decision *d)
{
	const struct attach_snapshot *s = d->s;
	const struct reconcile_input in = {s->held, s->sandboxes};
	bool names_one = false;

	for (size_t i = 0; i < s->all->n; i++) {
		const struct attachment *a = s->all->items[i];
		const struct attach_fact fact = fact_of(s, a);

		names_one |= sandbox_find(s->sandboxes, a->record.owner.sandbox) != NULL;
		if (reconcile_is_contradicted(&fact, &in))
			note_contradiction(d, a);
	}
	d->ret->lacks_all = d->ret->contradicting && !names_one;
}

int attach_decide(const struct attach_snapshot *s, struct attach_actions *ret)
{
	struct decision d = {.s = s, .ret = ret, .n_checking = s->n_checking};

	*ret = (struct attach_actions){.recheck_ms = NEVER};
	if (s->desired)
		judge_runtime(&d);
	for (size_t i = 0; i < s->all->n; i++) {
		if (s->desired)
			decide_follow(&d, s->all->items[i]);
		decide_one(&d, s->all->items[i]);
	}
	if (s->desired)
		decide_orphans(&d);
	for (size_t i = 0; s->desired && i < s->desired->n; i++)
		decide_desired(&d, &s->desired->items[i]);
	if (d.error < 0)
		attach_actions_done(ret);
	return d.error;
}

void attach_actions_done(struct attach_actions *actions)
{
	free(actions->items);
	*actions = (struct attach_actions){.recheck_ms = NEVER};
}
