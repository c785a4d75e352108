// SPDX-License-Identifier: Apache-2.0
#include "reconcile.h"

#include <string.h>

/* --- the kubelet's list ----------------------------------------------------------------------- */

struct holders {
	const struct pod_device *entries;
	size_t n;
	bool own;    /* this pod has the device, according to the list */
	bool by_uid; /* the list identifies the pod by its uid */
	bool others; /* other pods have it */
};

static bool reconcile_is_of(const struct pod_device *d, const struct attach_owner *o)
{
	if (d->uid[0])
		return strcmp(d->uid, o->uid) == 0;
	return strcmp(d->pod, o->pod) == 0 && strcmp(d->namespace, o->namespace) == 0;
}

static struct holders find_holders(const struct attach_record *r, const struct pod_list *held)
{
	struct holders h = {0};

	h.entries = pod_list_find(held, r->resource, r->id, &h.n);
	for (size_t i = 0; i < h.n; i++) {
		const struct pod_device *d = &h.entries[i];

		if (d->pod[0] == '\0' && d->uid[0] == '\0')
			continue; /* only reserved */
		if (reconcile_is_of(d, &r->owner))
			h.own = true;
		else
			h.others = true;
		h.by_uid |= d->uid[0] && reconcile_is_of(d, &r->owner);
	}
	return h;
}

/* --- native ----------------------------------------------------------------------------------- */

/* Does the pod have a newer sandbox? s: the attachment's sandbox, NULL = not in the list. Pods are
 * compared by uid: a pod of the same name and another uid is another pod. */
static bool has_newer(const struct sandbox_list *l, const struct attach_owner *o,
		      const struct sandbox *s)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct sandbox *other = &l->items[i];

		if (other->ready && o->uid[0] && strcmp(other->uid, o->uid) == 0 &&
		    (!s || other->attempt > s->attempt))
			return true;
	}
	return false;
}

/* Does another pod of the same name run? The kubelet's list has no uids, so its entry may be for
 * that pod. */
static bool has_namesake(const struct sandbox_list *l, const struct attach_owner *o)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct sandbox *s = &l->items[i];

		if (s->ready && strcmp(s->pod, o->pod) == 0 &&
		    strcmp(s->namespace, o->namespace) == 0 && strcmp(s->uid, o->uid) != 0)
			return true;
	}
	return false;
}

/* Does the kubelet's list have the device for this pod? */
static bool kubelet_confirms(const struct attach_record *r, const struct reconcile_input *in)
{
	const struct holders h = find_holders(r, in->held);

	return in->held->source != POD_SOURCE_NONE &&
	       (h.by_uid || (h.own && !has_namesake(in->sandboxes, &r->owner)));
}

static const char *judge_missed(const struct attach_fact *f, const struct sandbox *s,
				const struct reconcile_input *in)
{
	const char *why = s ? "its sandbox has ended" : "its sandbox was removed";
	const bool confirmed = kubelet_confirms(f->record, in);
	/* A device that stays in the host has no namespace that could be empty. */
	const bool unseen = f->record->plan.in_host && !s;

	const enum netns_use use = unseen ? NETNS_USE_UNKNOWN : f->use;

	if (use == NETNS_EMPTY)
		return s || !confirmed ? why : NULL;
	return !confirmed && in->held->source != POD_SOURCE_NONE &&
			       f->missed_ms >= reconcile_grace_ms(use)
		       ? why
		       : NULL;
}

static const char *judge_holders(const struct attach_fact *f, const struct holders *h,
				 const struct reconcile_input *in)
{
	if (in->held->source == POD_SOURCE_NONE || h->own || f->unheld_ms < RECONCILE_UNHELD_MS)
		return NULL;
	return h->others ? "another pod has it" : "no pod has it";
}

static const char *judge_native(const struct attach_fact *f, const struct reconcile_input *in)
{
	const struct attach_record *r = f->record;
	const struct sandbox *s = sandbox_find(in->sandboxes, r->owner.sandbox);
	struct holders h = find_holders(r, in->held);

	if ((s || in->sandboxes->known) && has_newer(in->sandboxes, &r->owner, s))
		return "its pod has a newer sandbox";
	if (!in->sandboxes->known)
		return judge_holders(f, &h, in);
	return s && s->ready ? NULL : judge_missed(f, s, in);
}

/* True if the kubelet's list is known and could have the device for the pod, but does not. */
static bool is_disowned(const struct attach_record *r, const struct reconcile_input *in)
{
	return r->resource[0] && in->held->source != POD_SOURCE_NONE && !kubelet_confirms(r, in);
}

static const char *judge_cni(const struct attach_fact *f, const struct reconcile_input *in)
{
	const struct attach_owner *o = &f->record->owner;
	const struct sandbox *s = sandbox_find(in->sandboxes, o->sandbox);
	const char *why = s ? "its sandbox has ended" : "its sandbox was removed";
	const bool ended = s || f->was_ready;

	if (!o->pod[0] || !in->sandboxes->known || (s && s->ready))
		return NULL;
	if (ended && f->use == NETNS_EMPTY && f->record->state == ATTACH_IN_POD)
		return why;
	if (f->missed_ms < RECONCILE_MADE_MS)
		return NULL;
	return f->use == NETNS_EMPTY || is_disowned(f->record, in) ? why : NULL;
}

bool reconcile_is_contradicted(const struct attach_fact *f, const struct reconcile_input *in)
{
	const struct attach_record *r = f->record;
	const struct sandbox *s = sandbox_find(in->sandboxes, r->owner.sandbox);

	if (r->owner.door == DOOR_ADMIN || r->state != ATTACH_IN_POD || f->netns_ended ||
	    !in->sandboxes->known || (s && s->ready) || has_newer(in->sandboxes, &r->owner, s))
		return false;
	/* The runtime does not list a sandbox that is still being created. */
	if (r->owner.door == DOOR_CNI &&
	    (!r->owner.pod[0] || (!f->was_ready && f->missed_ms < RECONCILE_MADE_MS)))
		return false;
	return f->use == NETNS_IN_USE || (!s && kubelet_confirms(r, in));
}

const char *reconcile_attachment(const struct attach_fact *f, const struct reconcile_input *in)
{
	enum attach_state state = f->record->state;

	if (f->interrupted)
		return "rocelet was stopped during the operation";
	if (state != ATTACH_ATTACHING && state != ATTACH_IN_POD)
		return NULL;
	if (f->netns_ended)
		return "its namespace was removed";
	/* When the namespace ends, the kernel moves the netdev to the host. We see that before the
	 * runtime reports the end of the sandbox. */
	if (state == ATTACH_IN_POD && f->in_host)
		return f->netns_there ? "it was moved out of its pod"
				      : "its netdev is in the host again";
	switch (f->record->owner.door) {
	case DOOR_NATIVE:
		return judge_native(f, in);
	case DOOR_CNI:
		return judge_cni(f, in);
	case DOOR_ADMIN:
		break;
	}
	return NULL;
}

bool reconcile_may_attach(const struct desired *w, const struct attach_record *current)
{
	return w->err.code == 0 && (!current || current->state == ATTACH_FREE);
}

bool reconcile_is_orphan(const struct netdev *nd, const struct attach_record *current)
{
	return nd->origin[0] && (!current || current->state == ATTACH_FREE);
}
