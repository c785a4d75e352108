// SPDX-License-Identifier: Apache-2.0
#include "observe.h"

#include <stdlib.h>
#include <string.h>

#include "fnv.h"
#include "search.h"

/* --- allocations ------------------------------------------------------------------------------ */

static bool observe_is_held(const struct pod_list *held, const struct attach_record *r)
{
	size_t n = 0;
	const struct pod_device *d = pod_list_find(held, r->resource, r->id, &n);

	return any_of(n, i, held_by(&d[i], &r->owner));
}

/* Updates unheld_ms and confirm_ms. If the device was missing from the kubelet's list for some
 * time, it may belong to another pod of the same name now. */
static void follow_held(struct attachment *a, const struct pod_list *held, uint64_t now_ms)
{
	if (held->source == POD_SOURCE_NONE)
		return;
	if (observe_is_held(held, &a->record)) {
		a->unheld_ms = 0;
		return;
	}
	a->confirm_ms = now_ms;
	if (!a->unheld_ms)
		a->unheld_ms = now_ms;
}

static void follow_runtime(struct attach_engine *e)
{
	if (engine_sandboxes(e)->known)
		e->cri_silent_ms = 0;
	else if (!e->cri_silent_ms)
		e->cri_silent_ms = engine_now(e);
}

static bool is_missed(const struct attachment *a, const struct sandbox_list *l)
{
	const struct sandbox *s = sandbox_find(l, a->record.owner.sandbox);

	return l->known && !(s && s->ready) && a->record.owner.door != DOOR_ADMIN &&
	       (a->record.owner.door == DOOR_NATIVE || a->record.owner.pod[0]) &&
	       (a->record.state == ATTACH_ATTACHING || a->record.state == ATTACH_IN_POD);
}

/* Updates missed_ms and the use of the namespace. We have put nothing into a namespace that is not
 * identified yet, so it counts as empty. */
static void follow_sandbox(struct attachment *a, const struct sandbox_list *l, uint64_t now_ms)
{
	const struct sandbox *s = sandbox_find(l, a->record.owner.sandbox);
	const bool missed = is_missed(a, l);

	a->was_ready |= s && s->ready;
	if (missed && a->missed_ms)
		return;
	a->missed_ms = missed ? now_ms : 0;
	a->use = missed && !a->record.owner.netns.ino ? NETNS_EMPTY : NETNS_USE_UNKNOWN;
	a->user_pid = a->n_uses = 0;
	a->use_ms = now_ms;
}

/* --- desired attachments ---------------------------------------------------------------------- */

static bool observe_is_plain(const struct granted_list *granted, const struct pod_list *held,
			     const struct desired *w)
{
	const struct pod_device *d = pod_list_find(held, w->resource, w->id, NULL);

	return granted_has_no_network(granted, w->resource, w->id, d ? d->reserved_ms : 0);
}

/* Removes devices that were allocated while their pool had no network: they are not moved into the
 * pod later. */
static void drop_plain(struct attach_engine *e, const struct pod_list *held, struct desired_list *l)
{
	const struct granted_list *granted = l->n ? e->ops->granted(e->holders) : NULL;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (!observe_is_plain(granted, held, &l->items[i]))
			l->items[n++] = l->items[i];
	l->n = n;
}

static int build_desired(struct attach_engine *e, const struct attach_view *view)
{
	const struct attach_record **others = calloc(e->all.n + 1, sizeof(struct attach_record *));
	struct desired_list desired = {0};
	size_t n = 0;
	int r;

	if (!others)
		return -ENOMEM;
	for (size_t i = 0; i < e->all.n; i++)
		if (e->all.items[i]->record.state != ATTACH_FREE)
			others[n++] = &e->all.items[i]->record;
	r = desired_build(&desired, view->pools, &e->inventory->host, view->held,
			  engine_sandboxes(e), others, n);
	free(others);
	if (r < 0)
		return r;
	drop_plain(e, view->held, &desired);
	desired_list_done(&e->desired);
	e->desired = desired;
	return 0;
}

int engine_observe(struct attach_engine *e, const struct attach_view *view)
{
	int r;

	follow_runtime(e);
	r = build_desired(e, view);
	if (r < 0)
		return r;
	for (size_t i = 0; i < e->all.n; i++) {
		follow_held(e->all.items[i], view->held, engine_now(e));
		follow_sandbox(e->all.items[i], engine_sandboxes(e), engine_now(e));
	}
	namespaces_check(e);
	return 0;
}

/* --- netdevs ---------------------------------------------------------------------------------- */

static bool is_rdma_seen(const struct attach_record *r, const struct host *host)
{
	return r->rdma_id.known && any_of(host->n_rdma, i, host->rdma[i].index == r->rdma_id.index);
}

/* A digest of the settings that an attach makes and the inventory shows. */
static uint64_t observe_digest_of(const struct netdev *nd, const struct function *fn, bool rdma)
{
	unsigned up = nd->flags & IFF_UP;
	uint64_t h = fnv1a(FNV1A_START, nd->name, strlen(nd->name));

	h = fnv1a(h, nd->addr, nd->addr_len);
	h = fnv1a(h, nd->link, sizeof(nd->link));
	h = fnv1a(h, &up, sizeof(up));
	h = fnv1a(h, &rdma, sizeof(rdma));
	if (fn)
		h = fnv1a(h, &fn->vf_settings, sizeof(fn->vf_settings));
	return h ? h : 1;
}

static void follow_netdev(struct attachment *a, const struct host *host)
{
	const struct netdev *nd = record_netdev(&a->record, host);
	uint64_t digest;

	if (!nd || nd->nsid == NSID_HOST)
		return;
	digest = observe_digest_of(nd, host_function(host, a->record.function),
				   is_rdma_seen(&a->record, host));
	if (a->digest && a->digest != digest)
		a->check_now = true;
	a->digest = digest;
}

void observe_netdevs(struct attach_engine *e)
{
	for (size_t i = 0; i < e->all.n; i++)
		if (e->all.items[i]->record.state == ATTACH_IN_POD)
			follow_netdev(e->all.items[i], &e->inventory->host);
}
