// SPDX-License-Identifier: Apache-2.0
/* shape.c - selects the counters to use. For each family, only counters of the lowest rank are
 * kept; the rank is compared across all labels, so that received and sent bytes never come from
 * different sources. Then, for each set of labels, only counters of the lowest alias are kept. The
 * values of the remaining counters with the same labels are added. */
#include "shape.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

struct candidate {
	const struct family *family;
	const char *labels; /* interned */
	uint32_t slot;	    /* index in the draft */
	enum unit unit;
	unsigned rank, alias;
};

void shape_done(struct shape *s)
{
	free(s->slots);
	free(s->series);
	free(s->terms);
	free(s->starts);
	*s = (struct shape){0};
}

void draft_done(struct draft *d)
{
	free(d->slots);
	free(d->candidates);
	*d = (struct draft){0};
}

/* --- a port's counters ------------------------------------------------------------------------ */

struct draft_slot *draft_slot(struct draft *d, struct intern *strings, enum source source,
			      const char *name)
{
	const char *own = intern(strings, name);
	struct draft_slot *s = own ? array_push(d->slots, d->n_slots) : NULL;

	if (!s)
		return NULL;
	s->slot.name = own;
	s->slot.source = source;
	s->cell = NO_SLOT;
	return s;
}

int draft_meaning(struct draft *d, struct intern *strings, const struct family *family,
		  const char *labels, enum unit unit, unsigned rank, unsigned alias)
{
	const char *own = intern(strings, labels);
	struct candidate *c = own ? array_push(d->candidates, d->n_candidates) : NULL;

	if (!c)
		return -ENOMEM;
	*c = (struct candidate){family, own, (uint32_t)d->n_slots - 1, unit, rank, alias};
	return 0;
}

/* --- selection -------------------------------------------------------------------------------- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int shape_by_rank(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	int r = compare_u64(dict_family_index(a->family), dict_family_index(b->family));

	if (!r)
		r = compare_u64(a->rank, b->rank);
	if (!r && a->labels != b->labels)
		r = strcmp(a->labels, b->labels);
	if (!r)
		r = compare_u64(a->alias, b->alias);
	return r ? r : compare_u64(a->slot, b->slot);
}

static bool is_outranked(const struct candidate *c, const struct candidate *best)
{
	if (best->family != c->family)
		return false;
	return best->rank != c->rank || (best->labels == c->labels && best->alias != c->alias);
}

/* Drops outranked candidates; they must be sorted. */
static void keep_best(struct draft *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_candidates; i++) {
		const struct candidate *c = &d->candidates[i];

		if (!kept || !is_outranked(c, &d->candidates[kept - 1]))
			d->candidates[kept++] = *c;
	}
	d->n_candidates = kept;
}

/* Assigns cells to the slots that are used; returns their number. */
static size_t number_cells(struct draft *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_candidates; i++)
		d->slots[d->candidates[i].slot].cell = 0;
	for (size_t i = 0; i < d->n_slots; i++)
		if (d->slots[i].cell != NO_SLOT)
			d->slots[i].cell = n++;
	return n;
}

/* --- shapes ----------------------------------------------------------------------------------- */

static size_t count_families(void)
{
	size_t n = 0;

	while (dict_family(n))
		n++;
	return n;
}

static bool shape_alloc(struct shape *s, size_t n_slots, size_t n_candidates)
{
	/* One more than needed, as calloc(0) may return NULL. */
	s->slots = calloc(n_slots + 1, sizeof(*s->slots));
	s->series = calloc(n_candidates + 1, sizeof(*s->series));
	s->terms = calloc(n_candidates + 1, sizeof(*s->terms));
	s->starts = calloc(count_families() + 1, sizeof(*s->starts));
	return s->slots && s->series && s->terms && s->starts;
}

static void add_term(struct shape *s, const struct draft *d, const struct candidate *c)
{
	struct series *last = s->n_series ? &s->series[s->n_series - 1] : NULL;

	if (!last || last->family != c->family || last->labels != c->labels) {
		last = &s->series[s->n_series++];
		*last = (struct series){c->family, c->labels, c->unit, (uint32_t)s->n_terms, 0};
	}
	last->n_terms++;
	s->terms[s->n_terms++] = d->slots[c->slot].cell;
}

static void index_families(struct shape *s)
{
	size_t n = count_families(), at = 0;

	for (size_t i = 0; i <= n; i++) {
		while (at < s->n_series && dict_family_index(s->series[at].family) < i)
			at++;
		s->starts[i] = at;
	}
}

/* Fills the shape from the draft, whose candidates are sorted and whose cells are assigned. */
static int shape_fill(struct shape *s, const struct draft *d, size_t n_cells)
{
	if (!shape_alloc(s, n_cells, d->n_candidates)) {
		shape_done(s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < d->n_slots; i++)
		if (d->slots[i].cell != NO_SLOT)
			s->slots[s->n_slots++] = d->slots[i].slot;
	for (size_t i = 0; i < d->n_candidates; i++)
		add_term(s, d, &d->candidates[i]);
	index_families(s);
	return 0;
}

int shape_make(struct shape *ret, struct draft *d)
{
	if (d->n_candidates)
		qsort(d->candidates, d->n_candidates, sizeof(*d->candidates), shape_by_rank);
	keep_best(d);
	*ret = (struct shape){0};
	return shape_fill(ret, d, number_cells(d));
}

/* True if the slots are equal. Names and labels are interned, so pointers can be compared. */
static bool same_slot(const struct slot *a, const struct slot *b)
{
	return a->name == b->name && a->source == b->source && a->constant == b->constant &&
	       a->wraps32 == b->wraps32 && a->monotonic == b->monotonic;
}

static bool same_series(const struct series *a, const struct series *b)
{
	return a->family == b->family && a->labels == b->labels && a->unit == b->unit &&
	       a->first_term == b->first_term && a->n_terms == b->n_terms;
}

bool shape_same(const struct shape *a, const struct shape *b)
{
	if (a->n_slots != b->n_slots || a->n_series != b->n_series || a->n_terms != b->n_terms)
		return false;
	for (size_t i = 0; i < a->n_slots; i++)
		if (!same_slot(&a->slots[i], &b->slots[i]))
			return false;
	for (size_t i = 0; i < a->n_series; i++)
		if (!same_series(&a->series[i], &b->series[i]))
			return false;
	return memcmp(a->terms, b->terms, a->n_terms * sizeof(*a->terms)) == 0;
}

/* --- strings ---------------------------------------------------------------------------------- */

/* Hashes by FNV-1a. */
static uint32_t shape_hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static char **intern_slot(char **slots, size_t cap, const char *s)
{
	size_t i = shape_hash(s) & (cap - 1);

	while (slots[i] && strcmp(slots[i], s) != 0)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static int grow(struct intern *in)
{
	size_t cap = in->cap ? in->cap * 2 : 64;
	char **slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < in->cap; i++)
		if (in->slots[i])
			*intern_slot(slots, cap, in->slots[i]) = in->slots[i];
	free(in->slots);
	in->slots = slots;
	in->cap = cap;
	return 0;
}

const char *intern(struct intern *in, const char *s)
{
	char **slot;

	if (in->n * 2 >= in->cap && grow(in) < 0)
		return NULL;
	slot = intern_slot(in->slots, in->cap, s);
	if (!*slot && (*slot = strdup(s)))
		in->n++;
	return *slot;
}

void intern_done(struct intern *in)
{
	for (size_t i = 0; i < in->cap; i++)
		free(in->slots[i]);
	free(in->slots);
	*in = (struct intern){0};
}
