/* The list of verdicts: one for each latch that is open, told or explained by another. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_state.h"

#define FIRST_ROOM 16

void verdicts_begin(struct diagnosis *d)
{
	size_t kept = 0;

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
	/* One that was explained by another has not been told, or was closed when it became that.
	 */
	v->change = VERDICT_CLOSED;
	v->closed = reason;
}

/* Those among `open` that c explains by itself. */
static uint64_t explained_by(const struct watched_port *p, enum cause c, uint64_t open)
{
	uint64_t found = cause_row(c)->explains & open;

	if (p->latch[c].yields)
		found &= ~cause_row(c)->yields;
	for (int i = 0; i < N_CAUSES; i++)
		if (open & CAUSE_BIT(i) && p->latch[i].yields &&
		    cause_row((enum cause)i)->yields & CAUSE_BIT(c))
			found |= CAUSE_BIT(i);
	return found;
}

/* Everything among `open` that c explains, also by what it explains. */
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

static bool is_bad(const struct latch *l)
{
	return l->sight == SIGHT_YES;
}

static bool outlives_shortly(const struct diagnosis *d, const struct verdict_owner *o)
{
	return o->explained_ms &&
	       (double)(d->now_ms - o->explained_ms) < 1000 * d->limits.value[LIMIT_hold_seconds];
}

static void verdicts_tell(struct diagnosis *d, size_t at)
{
	d->owners[at].told = true;
	d->verdicts[at].change = VERDICT_OPENED;
	d->onsets[d->verdicts[at].cause]++;
}

void verdicts_explain(struct diagnosis *d, const struct watched_port *p)
{
	uint64_t open = 0, explained = 0;

	for (int c = 0; c < N_CAUSES; c++)
		if (latch_is_open(&p->latch[c]))
			open |= CAUSE_BIT(c);
	for (int c = 0; open && c < N_CAUSES; c++)
		if (open & CAUSE_BIT(c))
			explained |= symptoms_of(p, (enum cause)c, open);
	for (size_t i = 0; open && i < d->n_verdicts; i++) {
		struct verdict *v = &d->verdicts[i];

		if (d->owners[i].port_id != p->id || !v->opened_ms)
			continue;
		v->symptoms = symptoms_of(p, v->cause, open);
		v->explained = explained & CAUSE_BIT(v->cause);
		if (d->owners[i].told && v->explained) {
			d->owners[i].told = false;
			v->change = VERDICT_CLOSED;
			v->closed = CLOSE_EXPLAINED;
		} else if (!d->owners[i].told && !v->explained) {
			/* What outlives its cause only for a while is still its symptom. */
			v->explained = !is_bad(&p->latch[v->cause]) ||
				       outlives_shortly(d, &d->owners[i]);
			if (!v->explained)
				verdicts_tell(d, i);
		}
		if (explained & CAUSE_BIT(v->cause))
			d->owners[i].explained_ms = d->now_ms;
	}
}
