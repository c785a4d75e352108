/* layout.c - slots, ranks, shapes and sums.
 *
 * Candidates are (family, labels, rank, slot) of one port. Of one family only the lowest rank
 * survives: it decides for all labels together, so that received and sent bytes never come from
 * different sources. Survivors that agree in labels are added up. */
#include "layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
	const struct family *family;
	const char *labels; /* interned */
	uint32_t slot;	    /* of the draft */
	enum unit unit;
	unsigned rank;
};

struct draft_slot {
	struct slot slot;
	uint64_t value; /* when constant */
	uint32_t cell;	/* of the port; NO_SLOT = no reading needs it */
};

static void shape_done(struct shape *s)
{
	free(s->slots);
	free(s->series);
	free(s->terms);
	free(s->starts);
	*s = (struct shape){0};
}

static void draft_done(struct draft *d)
{
	free(d->slots);
	free(d->candidates);
	*d = (struct draft){0};
}

void layout_done(struct layout *l)
{
	for (size_t i = 0; i < l->n_shapes; i++)
		shape_done(&l->shapes[i]);
	draft_done(&l->draft);
	intern_done(&l->strings);
	free(l->ports);
	free(l->places);
	free(l->shapes);
	free(l->cells);
	free(l->cell_of);
	*l = (struct layout){0};
}

/* Makes room for one more element of `size` bytes and returns it zeroed; NULL marks the failure. */
static void *push(struct layout *l, void *array, size_t *n, size_t *cap, size_t size)
{
	void **p = array;
	void *grown = *p;

	if (*n == *cap) {
		grown = reallocarray(*p, *cap ? *cap * 2 : 32, size);
		if (!grown) {
			l->failed = true;
			return NULL;
		}
		*p = grown;
		*cap = *cap ? *cap * 2 : 32;
	}
	return memset((char *)grown + (*n)++ * size, 0, size);
}

/* --- slots of the open port ------------------------------------------------------------------- */

static void add_candidate(struct layout *l, const struct family *family, const char *labels,
			  enum unit unit, unsigned rank)
{
	struct draft *d = &l->draft;
	struct candidate *c = push(l, &d->candidates, &d->n_candidates, &d->cap_candidates,
				   sizeof(*c));

	if (!c)
		return;
	c->family = family;
	c->labels = intern(&l->strings, labels);
	c->slot = d->n_slots - 1;
	c->unit = unit;
	c->rank = rank;
	l->failed |= !c->labels;
}

static struct draft_slot *add_slot(struct layout *l, enum source source, const char *name)
{
	struct draft *d = &l->draft;
	struct draft_slot *s;

	if (!d->opened || l->n_slots + d->n_slots >= NO_SLOT)
		return NULL;
	s = push(l, &d->slots, &d->n_slots, &d->cap_slots, sizeof(*s));
	if (!s)
		return NULL;
	s->slot.name = intern(&l->strings, name);
	s->slot.source = source;
	s->cell = NO_SLOT;
	l->failed |= !s->slot.name;
	return s;
}

uint32_t layout_slot(struct layout *l, enum source source, const char *name,
		     const struct meaning *meanings, size_t n)
{
	struct draft_slot *s = n ? add_slot(l, source, name) : NULL;

	if (!s)
		return NO_SLOT;
	for (size_t i = 0; i < n; i++) {
		s->slot.wraps32 |= meanings[i].wraps32;
		s->slot.monotonic |= meanings[i].monotonic;
		add_candidate(l, meanings[i].family, meanings[i].labels, meanings[i].unit,
			      meanings[i].rank);
	}
	return l->n_slots + l->draft.n_slots - 1;
}

void layout_constant(struct layout *l, enum source source, const struct family *family,
		     const char *labels, uint64_t value)
{
	struct draft_slot *s = add_slot(l, source, family->name);

	if (!s)
		return;
	s->slot.constant = true;
	s->value = value;
	add_candidate(l, family, labels, UNIT_ONE, 0);
}

/* --- which of them count ---------------------------------------------------------------------- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_rank(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	int r = compare_u64(dict_family_index(a->family), dict_family_index(b->family));

	if (!r)
		r = compare_u64(a->rank, b->rank);
	if (!r && a->labels != b->labels)
		r = strcmp(a->labels, b->labels);
	return r ? r : compare_u64(a->slot, b->slot);
}

/* Drops every candidate that is outranked; they are sorted. */
static void keep_best(struct draft *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_candidates; i++) {
		const struct candidate *c = &d->candidates[i];
		const struct candidate *best = kept ? &d->candidates[kept - 1] : c;

		if (best->family != c->family || best->rank == c->rank)
			d->candidates[kept++] = *c;
	}
	d->n_candidates = kept;
}

/* Gives the slots that count a cell; returns how many do. */
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
	/* One more than needed: nothing is not a failure. */
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

/* The shape of the open port, whose candidates are sorted and whose cells are numbered. */
static bool make_shape(struct shape *s, const struct draft *d, size_t n_cells)
{
	if (!shape_alloc(s, n_cells, d->n_candidates))
		return false;
	for (size_t i = 0; i < d->n_slots; i++)
		if (d->slots[i].cell != NO_SLOT)
			s->slots[s->n_slots++] = d->slots[i].slot;
	for (size_t i = 0; i < d->n_candidates; i++)
		add_term(s, d, &d->candidates[i]);
	index_families(s);
	return true;
}

/* Names and labels are interned. */
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

static bool same_shape(const struct shape *a, const struct shape *b)
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

/* Takes over the shape, or forgets it for one that is the same. Returns its index. */
static uint32_t keep_shape(struct layout *l, struct shape *s)
{
	struct shape *kept;

	for (size_t i = l->n_shapes; i-- > 0;)
		if (same_shape(&l->shapes[i], s)) {
			shape_done(s);
			return i;
		}
	kept = push(l, &l->shapes, &l->n_shapes, &l->cap_shapes, sizeof(*kept));
	if (kept)
		*kept = *s;
	else
		shape_done(s);
	return l->n_shapes - 1;
}

/* --- ports ------------------------------------------------------------------------------------ */

static void add_cells(struct layout *l, const struct draft *d)
{
	for (size_t i = 0; i < d->n_slots; i++) {
		const struct draft_slot *s = &d->slots[i];
		uint32_t *cell_of = push(l, &l->cell_of, &l->n_slots, &l->cap_slots,
					 sizeof(*cell_of));
		struct widen *cell;

		if (cell_of)
			*cell_of = s->cell == NO_SLOT ? NO_SLOT : l->n_cells;
		if (s->cell == NO_SLOT)
			continue;
		cell = push(l, &l->cells, &l->n_cells, &l->cap_cells, sizeof(*cell));
		if (cell)
			*cell = (struct widen){
				.raw = s->value,
				.ok = s->slot.constant,
				.wraps32 = s->slot.wraps32,
				.monotonic = s->slot.monotonic,
			};
	}
}

static void add_port(struct layout *l, const struct shape *s, uint32_t shape)
{
	struct place *place = push(l, &l->places, &l->n_places, &l->cap_places, sizeof(*place));
	struct sampled_port *p = push(l, &l->ports, &l->n_ports, &l->cap_ports, sizeof(*p));
	size_t bytes = dict_family_index(dict_bytes_family()), at;

	if (!place || !p)
		return;
	*place = (struct place){shape, (uint32_t)l->n_cells};
	*p = l->draft.port;
	at = s->starts[bytes];
	if (at < s->starts[bytes + 1])
		snprintf(p->bytes_source, sizeof(p->bytes_source), "%s",
			 source_name(s->slots[s->terms[s->series[at].first_term]].source));
	l->n_readings += s->n_series;
}

static void close_port(struct layout *l)
{
	struct draft *d = &l->draft;
	struct shape s = {0};
	uint32_t index;

	d->opened = false;
	if (!d->n_slots || l->failed)
		return;
	if (d->n_candidates)
		qsort(d->candidates, d->n_candidates, sizeof(*d->candidates), by_rank);
	keep_best(d);
	if (!make_shape(&s, d, number_cells(d))) {
		shape_done(&s);
		l->failed = true;
		return;
	}
	index = keep_shape(l, &s);
	if (!l->failed)
		add_port(l, &l->shapes[index], index);
	add_cells(l, d);
	d->n_slots = d->n_candidates = 0;
}

void layout_port(struct layout *l, const char *device, uint32_t port)
{
	close_port(l);
	l->draft.opened = true;
	l->draft.port = (struct sampled_port){.port = port};
	snprintf(l->draft.port.device, sizeof(l->draft.port.device), "%s", device);
}

int layout_finish(struct layout *l)
{
	close_port(l);
	draft_done(&l->draft);
	return l->failed ? -ENOMEM : 0;
}

uint32_t layout_cell(const struct layout *l, uint32_t slot)
{
	return slot < l->n_slots ? l->cell_of[slot] : NO_SLOT;
}

void layout_trim(struct layout *l)
{
	struct widen *cells = reallocarray(l->cells, l->n_cells + 1, sizeof(*cells));

	if (cells)
		l->cells = cells;
	free(l->cell_of);
	l->cell_of = NULL;
	l->n_slots = l->cap_slots = 0;
}

static const struct shape *shape_of(const struct layout *l, size_t port)
{
	return &l->shapes[l->places[port].shape];
}

const char *layout_cell_name(const struct layout *l, uint32_t cell)
{
	size_t low = 0, high = l->n_places;

	/* The last port that does not begin after the cell. */
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (l->places[mid].first_cell <= cell)
			low = mid;
		else
			high = mid;
	}
	return shape_of(l, low)->slots[cell - l->places[low].first_cell].name;
}

/* --- history ---------------------------------------------------------------------------------- */

/* Index of the port, searched from where it is expected; n_ports when it is new. */
static size_t find_port(const struct layout *l, const struct sampled_port *p, size_t expected)
{
	for (size_t i = 0; i < l->n_ports; i++) {
		size_t at = (expected + i) % l->n_ports;

		if (l->ports[at].port == p->port && !strcmp(l->ports[at].device, p->device))
			return at;
	}
	return l->n_ports;
}

static bool same_counter(const struct slot *a, const struct slot *b)
{
	return a->source == b->source && !a->constant && !b->constant && !strcmp(a->name, b->name);
}

/* Both in the same order as a rule, so the search goes on behind the last hit. */
static size_t find_slot(const struct shape *s, const struct slot *wanted, size_t *hint)
{
	for (size_t i = 0; i < s->n_slots; i++) {
		size_t at = (*hint + i) % s->n_slots;

		if (same_counter(&s->slots[at], wanted)) {
			*hint = at + 1;
			return at;
		}
	}
	return s->n_slots;
}

static void inherit_cell(struct widen *to, const struct widen *from)
{
	to->last = from->last;
	to->wraps = from->wraps;
	to->seen = from->seen;
}

/* Returns how many of the old port's counters of this source were not found again. */
static size_t inherit_port(struct layout *l, size_t port, const struct layout *old, size_t old_port,
			   enum source source)
{
	const struct shape *s = shape_of(l, port), *from = shape_of(old, old_port);
	size_t lost = 0, hint = 0;

	l->ports[port].resets = old->ports[old_port].resets;
	for (size_t i = 0; i < from->n_slots; i++)
		lost += from->slots[i].source == source && !from->slots[i].constant;
	for (size_t i = 0; i < s->n_slots; i++) {
		size_t at = find_slot(from, &s->slots[i], &hint);

		if (at == from->n_slots)
			continue;
		inherit_cell(&l->cells[l->places[port].first_cell + i],
			     &old->cells[old->places[old_port].first_cell + at]);
		lost -= s->slots[i].source == source;
	}
	return lost;
}

size_t layout_inherit(struct layout *l, const struct layout *old, enum source source)
{
	size_t lost = 0, next = 0;

	for (size_t i = 0; i < l->n_ports; i++) {
		size_t at = find_port(old, &l->ports[i], next);

		if (at == old->n_ports)
			continue;
		lost += inherit_port(l, i, old, at, source);
		next = at + 1;
	}
	return lost;
}

/* --- a sample --------------------------------------------------------------------------------- */

void layout_evaluate(struct layout *l)
{
	for (size_t i = 0; i < l->n_ports; i++)
		if (widen_port(&l->cells[l->places[i].first_cell], shape_of(l, i)->n_slots))
			l->ports[i].resets++;
}

static void evaluate(const struct layout *l, size_t port, const struct shape *shape,
		     const struct series *s, struct reading *ret)
{
	const struct widen *cells = &l->cells[l->places[port].first_cell];

	*ret = (struct reading){
		.family = s->family,
		.port = (uint32_t)port,
		.unit = s->unit,
		.state = READING_OK,
		.labels = s->labels,
	};
	for (uint32_t i = 0; i < s->n_terms; i++) {
		const struct widen *cell = &cells[shape->terms[s->first_term + i]];

		ret->value += widen_value(cell);
		if (!cell->ok)
			ret->state = READING_ABSENT;
	}
}

bool layout_next(const void *layout, struct reading_pos *pos, struct reading *ret)
{
	const struct layout *l = layout;

	for (; l->n_ports && dict_family(pos->family); pos->family++, pos->port = 0) {
		for (; pos->port < l->n_ports; pos->port++, pos->at = 0) {
			const struct shape *s = shape_of(l, pos->port);
			size_t at = s->starts[pos->family] + pos->at;

			if (at >= s->starts[pos->family + 1])
				continue;
			pos->at++;
			evaluate(l, pos->port, s, &s->series[at], ret);
			return true;
		}
	}
	return false;
}
