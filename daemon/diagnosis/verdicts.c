// SPDX-License-Identifier: Apache-2.0
/* The list of verdicts: one for each open latch, reported or explained by another one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_state.h"

#define FIRST_ROOM 16

void verdicts_begin(struct diagnosis *d)
{
	size_t kept = 0;

	ended_forget(&d->ended, d->now_ms);
	for (size_t i = 0; i < d->n_verdicts; i++) {
		if (d->verdicts[i].change == VERDICT_CLOSED && d->verdicts[i].opened_ms == 0)
			continue;
		if (kept != i) {
			d->verdicts[kept] = d->verdicts[i];
			d->owners[kept] = d->owners[i];
		}
		d->owners[kept].before = d->verdicts[kept].severity;
		d->verdicts[kept++].change = VERDICT_SAME;
	}
	d->n_verdicts = kept;
}

static size_t verdicts_index_of(const struct diagnosis *d, uint32_t port_id, enum cause c)
{
	size_t i = 0;

	while (i < d->n_verdicts && !(d->owners[i].port_id == port_id &&
				      d->verdicts[i].cause == c && d->verdicts[i].opened_ms))
		i++;
	return i;
}

struct verdict *verdicts_find(struct diagnosis *d, uint32_t port_id, enum cause c)
{
	size_t i = verdicts_index_of(d, port_id, c);

	return i < d->n_verdicts ? &d->verdicts[i] : NULL;
}

static int verdicts_make_room(struct diagnosis *d)
{
	size_t room = d->room_verdicts ? 2 * d->room_verdicts : FIRST_ROOM;
	void *p;

	if (d->n_verdicts < d->room_verdicts)
		return 0;
	p = reallocarray(d->verdicts, room, sizeof(*d->verdicts));
	if (!p)
		return -ENOMEM;
	d->verdicts = p;
	p = reallocarray(d->owners, room, sizeof(*d->owners));
	if (!p)
		return -ENOMEM;
	d->owners = p;
	d->room_verdicts = room;
	return 0;
}

struct verdict *verdicts_add(struct diagnosis *d, const struct watched_port *p,
			     const struct port_observation *o, enum cause c)
{
	struct verdict *v;

	if (verdicts_make_room(d) < 0)
		return NULL;
	v = &d->verdicts[d->n_verdicts];
	d->owners[d->n_verdicts++] = (struct verdict_owner){.port_id = p->id};
	memset(v, 0, sizeof(*v));
	memcpy(v->device, p->device, sizeof(v->device));
	memcpy(v->netdev, o->netdev, sizeof(v->netdev));
	memcpy(v->function, o->function, sizeof(v->function));
	v->port = p->port;
	v->cause = c;
	v->opened_ms = d->now_ms;
	v->first_moved = "";
	return v;
}

void verdicts_close(struct diagnosis *d, const struct watched_port *p, enum cause c,
		    enum close_reason reason)
{
	struct verdict *v = verdicts_find(d, p->id, c);

	if (!v)
		return;
	v->opened_ms = 0;
	/* A verdict that is a symptom was never reported, or was reported as closed when it became
	 * one. */
	v->change = VERDICT_CLOSED;
	v->closed = reason;
	if (!v->over_ms)
		v->over_ms = d->now_ms;
	verdict_show_worst(v);
	if (!v->explained)
		ended_add(&d->ended, v, d->now_ms, d->unix_ms);
}

/* Returns the causes among `open` that c explains directly. */
static uint64_t explained_by(const struct watched_port *p, enum cause c, uint64_t open)
{
	uint64_t found = cause_row(c)->explains & open;
	const struct latch *own = latches_find(&p->latches, c);

	if (own && own->yields)
		found &= ~cause_row(c)->yields;
	for (const struct latch *l = p->latches.first; l; l = l->next)
		if (open & CAUSE_BIT(l->cause) && l->yields &&
		    cause_row(l->cause)->yields & CAUSE_BIT(c))
			found |= CAUSE_BIT(l->cause);
	return found;
}

/* Returns the causes among `open` that c explains directly or through others. */
static uint64_t symptoms_of(const struct watched_port *p, enum cause c, uint64_t open)
{
	uint64_t found = explained_by(p, c, open), before;

	do {
		before = found;
		for (int i = 0; i < N_CAUSES; i++)
			if (found & CAUSE_BIT(i))
				found |= explained_by(p, (enum cause)i, open);
	} while (found != before);
	return found & ~CAUSE_BIT(c);
}

static bool is_bad(const struct watched_port *p, enum cause c)
{
	const struct latch *l = latches_find(&p->latches, c);

	return l && l->answer == ANSWER_YES;
}

static bool outlives_shortly(const struct diagnosis *d, const struct verdict_owner *o)
{
	return o->explained_ms &&
	       (double)(d->now_ms - o->explained_ms) < 1000 * d->limits.value[LIMIT_hold_seconds];
}

static void verdicts_report(struct diagnosis *d, size_t at)
{
	d->owners[at].reported = true;
	d->verdicts[at].change = VERDICT_OPENED;
	d->onsets[d->verdicts[at].cause]++;
}

static uint64_t open_causes(const struct watched_port *p)
{
	uint64_t open = 0;

	for (const struct latch *l = p ? p->latches.first : NULL; l; l = l->next)
		if (latch_is_open(l))
			open |= CAUSE_BIT(l->cause);
	return open;
}

/* Returns the causes among `open`, of the PF's port, that explain c on the port of a VF: c itself,
 * if they share what is at fault, and those whose rows say so. */
static uint64_t leaders_of(enum cause c, uint64_t open)
{
	uint64_t found = cause_row(c)->concerns_vfs ? open & CAUSE_BIT(c) : 0;

	for (int i = 0; open && i < N_CAUSES; i++)
		if (open & CAUSE_BIT(i) && cause_row((enum cause)i)->explains_vfs & CAUSE_BIT(c))
			found |= CAUSE_BIT(i);
	return found;
}

/* Copies the first pods of the verdict and of those that it explains on other ports. */
static void gather_pods(struct diagnosis *d, struct verdict *v)
{
	const struct observed_pod *pod, *first[VERDICT_PODS_MAX];
	struct observed_pod found[VERDICT_PODS_MAX];
	size_t pos = 0;
	uint32_t n = 0;

	while ((pod = verdict_next_pod(v, d->verdicts, d->n_verdicts, &pos)) != NULL) {
		if (n < VERDICT_PODS_MAX)
			first[n] = pod;
		n++;
	}
	if (n < v->n_pods)
		return;
	for (uint32_t i = 0; i < n && i < VERDICT_PODS_MAX; i++)
		found[i] = *first[i];
	memcpy(v->pods, found, (n < VERDICT_PODS_MAX ? n : VERDICT_PODS_MAX) * sizeof(found[0]));
	v->n_pods = n;
}

/* Raises the severity to the highest of the verdicts that this one explains on the ports of VFs:
 * even on a management port, whose own verdicts are info. */
static void raise_severity(const struct diagnosis *d, size_t at)
{
	struct verdict *v = &d->verdicts[at];

	if (cause_row(v->cause)->severity_now)
		v->of_vfs = SEVERITY_NONE;
	for (size_t i = 0; i < d->n_verdicts; i++)
		if (d->verdicts[i].severity > v->of_vfs && verdict_leads(v, &d->verdicts[i])) {
			v->of_vfs = d->verdicts[i].severity;
			if (v->change == VERDICT_SAME && v->of_vfs > v->severity &&
			    v->of_vfs > d->owners[at].before)
				v->change = VERDICT_SEVERITY;
		}
	if (v->of_vfs > v->severity)
		v->severity = v->of_vfs;
	if (!v->remark && !v->management && v->of_vfs > v->worst.severity)
		v->remark = "its severity is that of the verdict of a VF, which it explains";
}

void verdicts_gather(struct diagnosis *d)
{
	bool any = false;

	for (size_t i = 0; i < d->n_verdicts; i++)
		any |= d->verdicts[i].led_by && d->verdicts[i].opened_ms;
	for (size_t i = 0; any && i < d->n_verdicts; i++)
		if (verdict_is_reported(&d->verdicts[i]) && !d->verdicts[i].pf[0]) {
			gather_pods(d, &d->verdicts[i]);
			raise_severity(d, i);
		}
	for (size_t i = 0; i < d->n_verdicts; i++) {
		struct verdict *v = &d->verdicts[i];

		if (verdict_is_reported(v) && v->severity > v->highest)
			v->highest = v->severity;
	}
}

static enum cause first_cause(uint64_t causes)
{
	enum cause c = 0;

	while (c + 1 < N_CAUSES && !(causes & CAUSE_BIT(c)))
		c++;
	return c;
}

/* Remembers what explains the verdict in the end: on its own port a cause that no other one
 * explains, and if the PF explains that, the PF's cause. */
static void set_explained_by(struct verdict *v, const struct watched_port *p, uint64_t own,
			     uint64_t of_pf, const char *pf)
{
	uint64_t roots = 0, leaders = v->led_by;

	for (int c = 0; c < N_CAUSES; c++)
		if (own & CAUSE_BIT(c) &&
		    symptoms_of(p, (enum cause)c, open_causes(p)) & CAUSE_BIT(v->cause))
			roots |= CAUSE_BIT(c);
	if (roots)
		leaders = leaders_of(first_cause(roots), of_pf);
	if (!(roots | leaders))
		return;
	v->explained_by = first_cause(leaders ? leaders : roots);
	snprintf(v->explained_on, sizeof(v->explained_on), "%s", leaders ? pf : p->device);
}

void verdicts_explain(struct diagnosis *d, const struct watched_port *p,
		      const struct watched_port *pf)
{
	uint64_t open = open_causes(p), of_pf = open ? open_causes(pf) : 0, explained = 0;

	for (int c = 0; open && c < N_CAUSES; c++)
		if (open & CAUSE_BIT(c))
			explained |= symptoms_of(p, (enum cause)c, open);
	for (size_t i = 0; open && i < d->n_verdicts; i++) {
		struct verdict *v = &d->verdicts[i];

		if (d->owners[i].port_id != p->id || !v->opened_ms)
			continue;
		v->symptoms = symptoms_of(p, v->cause, open);
		v->led_by = explained & CAUSE_BIT(v->cause) ? 0 : leaders_of(v->cause, of_pf);
		v->explained = explained & CAUSE_BIT(v->cause) || v->led_by;
		if (v->led_by)
			memcpy(v->pf, pf->device, sizeof(v->pf));
		if (v->explained)
			set_explained_by(v, p, open & ~explained, of_pf, pf ? pf->device : "");
		if (d->owners[i].reported && v->explained) {
			d->owners[i].reported = false;
			v->change = VERDICT_CLOSED;
			v->closed = CLOSE_EXPLAINED;
			ended_add(&d->ended, v, d->now_ms, d->unix_ms);
		} else if (!d->owners[i].reported && !v->explained) {
			/* A verdict that stays open for a short time after the one that explained
			 * it is still a symptom. */
			v->explained = !is_bad(p, v->cause) || outlives_shortly(d, &d->owners[i]);
			if (!v->explained)
				verdicts_report(d, i);
		}
		if (explained & CAUSE_BIT(v->cause))
			d->owners[i].explained_ms = d->now_ms;
	}
}
