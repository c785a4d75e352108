// SPDX-License-Identifier: Apache-2.0
/* desired_claims.c - collects every address that is in use or requested, and sorts them, so that
 * equal ones are adjacent. */
#include "desired_claims.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "network_text.h"

struct claim {
	struct ip_prefix ip;
	uint16_t vlan;
	const struct sandbox *sandbox; /* NULL: the address is in use already */
	const char *resource, *id;
	const struct attach_owner *owner;
	struct desired *desired; /* NULL: the address is from a record */
};

struct claims {
	struct claim *list;
	size_t n;
};

static bool is_older(const struct claim *a, const struct claim *b)
{
	if (!a->sandbox || !b->sandbox)
		return !a->sandbox && b->sandbox;
	return sandbox_is_younger(b->sandbox, a->sandbox);
}

static int desired_compare(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	int r = x->ip.family - y->ip.family;

	if (r == 0)
		r = memcmp(x->ip.addr, y->ip.addr, sizeof(x->ip.addr));
	if (r == 0)
		r = x->vlan - y->vlan;
	if (r == 0)
		r = is_older(y, x) - is_older(x, y);
	if (r == 0)
		r = strcmp(x->resource, y->resource);
	return r ? r : strcmp(x->id, y->id);
}

static bool is_same_claim(const struct claim *a, const struct claim *b)
{
	return ip_same_address(&a->ip, &b->ip) && a->vlan == b->vlan;
}

static int desired_add(struct claims *c, const struct claim *like, const struct net_plan *plan,
		       const struct ip_prefix *ips, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct claim *slot = array_push(c->list, c->n);

		if (!slot)
			return -ENOMEM;
		*slot = *like;
		slot->ip = ips[i];
		slot->vlan = plan->vf.fields & VF_VLAN ? plan->vf.vlan : 0;
	}
	return 0;
}

static int add_record(struct claims *c, const struct attach_record *r)
{
	const struct claim like = {.resource = r->resource, .id = r->id, .owner = &r->owner};
	int error;

	/* A bad function has left its pod, so its addresses are free. A macvlan that could not be
	 * deleted still has its addresses. */
	if (r->state == ATTACH_FREE || (r->state == ATTACH_BAD && r->plan.kind == PLAN_VF))
		return 0;
	error = desired_add(c, &like, &r->plan, r->plan.ips, r->plan.n_ips);
	return error < 0 ? error : desired_add(c, &like, &r->plan, r->ips, r->n_ips);
}

static int add_desired(struct claims *c, struct desired *w, const struct sandbox *s)
{
	const struct claim like = {.sandbox = s,
				   .resource = w->resource,
				   .id = w->id,
				   .owner = &w->owner,
				   .desired = w};

	return w->err.code ? 0 : desired_add(c, &like, &w->plan, w->plan.ips, w->plan.n_ips);
}

static void desired_reject(const struct claim *claim, const struct claim *holder)
{
	struct desired *w = claim->desired;
	char ip[IP_TEXT_SIZE];

	if (!w || w->err.code ||
	    (strcmp(claim->id, holder->id) == 0 && strcmp(claim->resource, holder->resource) == 0))
		return;
	ip_address_text(&claim->ip, ip);
	err_set(&w->err, -EBUSY, "pod %s/%.63s: ips: %s is pod %s/%.63s's", w->owner.namespace,
		w->owner.pod, ip, holder->owner->namespace, holder->owner->pod);
}

static void desired_judge(struct claims *c)
{
	const struct claim *holder = c->list;

	if (c->n)
		qsort(c->list, c->n, sizeof(*c->list), desired_compare);
	for (size_t i = 1; i < c->n; i++) {
		if (is_same_claim(holder, &c->list[i]))
			desired_reject(&c->list[i], holder);
		else
			holder = &c->list[i];
	}
}

int desired_claims(struct desired *desired, const struct sandbox *const *sandboxes, size_t n,
		   const struct attach_record *const *others, size_t n_others)
{
	struct claims c = {0};
	int r = 0;

	for (size_t i = 0; i < n_others && r == 0; i++)
		r = add_record(&c, others[i]);
	for (size_t i = 0; i < n && r == 0; i++)
		r = add_desired(&c, &desired[i], sandboxes[i]);
	if (r == 0)
		desired_judge(&c);
	free(c.list);
	return r;
}
