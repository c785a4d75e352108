// SPDX-License-Identifier: Apache-2.0
/* The list of verdicts: one for each open latch, reported or explained by another one. */
#include <errno.h>
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
	if (!v->explained)
		ended_add(&d->ended, v, d->now_ms, d->unix_ms);
}

/* The causes among `open` that c explains directly. */
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

/* The causes among `open` that c explains directly or through others. */
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

void verdicts_explain(struct diagnosis *d, const struct watched_port *p)
{
	uint64_t open = 0, explained = 0;

	for (const struct latch *l = p->latches.first; l; l = l->next)
		if (latch_is_open(l))
			open |= CAUSE_BIT(l->cause);
	for (int c = 0; open && c < N_CAUSES; c++)
		if (open & CAUSE_BIT(c))
			explained |= symptoms_of(p, (enum cause)c, open);
	for (size_t i = 0; open && i < d->n_verdicts; i++) {
		struct verdict *v = &d->verdicts[i];

		if (d->owners[i].port_id != p->id || !v->opened_ms)
			continue;
		v->symptoms = symptoms_of(p, v->cause, open);
		v->explained = explained & CAUSE_BIT(v->cause);
		if (d->owners[i].reported && v->explained) {
			d->owners[i].reported = false;
			v->change = VERDICT_CLOSED;
			v->closed = CLOSE_EXPLAINED;
			ended_add(&d->ended, v, d->now_ms, d->unix_ms);
		} else if (!d->owners[i].reported && !v->explained) {
			/* A verdict that outlives its cause for a short time is still its
			 * symptom. */
			v->explained = !is_bad(p, v->cause) || outlives_shortly(d, &d->owners[i]);
			if (!v->explained)
				verdicts_report(d, i);
		}
		if (explained & CAUSE_BIT(v->cause))
			d->owners[i].explained_ms = d->now_ms;
	}
}
