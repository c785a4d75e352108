/* layout.c - slots, ranks and sums.
 *
 * Candidates are (port, family, labels, rank, slot). Of one port and family only the lowest rank
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
	uint32_t port, slot;
	enum unit unit;
	unsigned rank;
};

void layout_done(struct layout *l)
{
	intern_done(&l->strings);
	free(l->ports);
	free(l->slots);
	free(l->cells);
	free(l->readings);
	free(l->terms);
	free(l->term_ends);
	free(l->candidates);
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

void layout_port(struct layout *l, const char *device, uint32_t port)
{
	l->opened = true;
	l->next = (struct sampled_port){.port = port};
	snprintf(l->next.device, sizeof(l->next.device), "%s", device);
}

static bool has_port(struct layout *l)
{
	struct sampled_port *p;

	if (!l->opened)
		return l->n_ports > 0;
	p = push(l, &l->ports, &l->n_ports, &l->cap_ports, sizeof(*p));
	if (!p)
		return false;
	*p = l->next;
	l->opened = false;
	return true;
}

static void add_candidate(struct layout *l, const struct family *family, const char *labels,
			  enum unit unit, unsigned rank)
{
	struct candidate *c = push(l, &l->candidates, &l->n_candidates, &l->cap_candidates,
				   sizeof(*c));

	if (!c)
		return;
	c->family = family;
	c->labels = intern(&l->strings, labels);
	c->port = l->n_ports - 1;
	c->slot = l->n_slots - 1;
	c->unit = unit;
	c->rank = rank;
	l->failed |= !c->labels;
}

static struct slot *add_slot(struct layout *l, enum source source, const char *name)
{
	struct slot *s;

	if (!has_port(l) || l->n_slots >= NO_SLOT)
		return NULL;
	s = push(l, &l->slots, &l->n_slots, &l->cap_slots, sizeof(*s));
	if (!s)
		return NULL;
	s->name = intern(&l->strings, name);
	s->port = l->n_ports - 1;
	s->source = source;
	l->failed |= !s->name;
	return s;
}

uint32_t layout_slot(struct layout *l, enum source source, const char *name,
		     const struct meaning *meanings, size_t n)
{
	struct slot *s = n ? add_slot(l, source, name) : NULL;

	if (!s)
		return NO_SLOT;
	for (size_t i = 0; i < n; i++) {
		s->wraps32 |= meanings[i].wraps32;
		s->monotonic |= meanings[i].monotonic;
		add_candidate(l, meanings[i].family, meanings[i].labels, meanings[i].unit,
			      meanings[i].rank);
	}
	return l->n_slots - 1;
}

void layout_constant(struct layout *l, enum source source, const struct family *family,
		     const char *labels, uint64_t value)
{
	struct slot *s = add_slot(l, source, family->name);

	if (!s)
		return;
	s->constant = true;
	s->value = value;
	add_candidate(l, family, labels, UNIT_ONE, 0);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_rank(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	int r = compare_u64(dict_family_index(a->family), dict_family_index(b->family));

	if (!r)
		r = compare_u64(a->port, b->port);
	if (!r)
		r = compare_u64(a->rank, b->rank);
	if (!r && a->labels != b->labels)
		r = strcmp(a->labels, b->labels);
	return r ? r : compare_u64(a->slot, b->slot);
}

/* Drops every candidate that is outranked; they are sorted. */
static void keep_best(struct layout *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n_candidates; i++) {
		const struct candidate *c = &l->candidates[i];
		const struct candidate *best = kept ? &l->candidates[kept - 1] : c;

		if (best->family != c->family || best->port != c->port || best->rank == c->rank)
			l->candidates[kept++] = *c;
	}
	l->n_candidates = kept;
}

static bool same_reading(const struct candidate *a, const struct candidate *b)
{
	return a->family == b->family && a->port == b->port && a->labels == b->labels;
}

static void start_reading(struct layout *l, const struct candidate *c)
{
	struct reading *r = &l->readings[l->n_readings++];
	enum source source = l->slots[c->slot].source;

	*r = (struct reading){
		.family = c->family,
		.port = c->port,
		.source = source,
		.unit = c->unit,
		.labels = c->labels,
	};
	if (c->family == dict_bytes_family())
		snprintf(l->ports[c->port].bytes_source, sizeof(l->ports[0].bytes_source), "%s",
			 source_name(source));
}

static void make_readings(struct layout *l)
{
	for (size_t i = 0; i < l->n_candidates; i++) {
		const struct candidate *c = &l->candidates[i];

		if (!i || !same_reading(c - 1, c))
			start_reading(l, c);
		l->terms[i] = c->slot;
		l->term_ends[l->n_readings - 1] = i + 1;
		l->slots[c->slot].used = true;
	}
}

static void make_cells(struct layout *l)
{
	for (size_t i = 0; i < l->n_slots; i++) {
		struct slot *s = &l->slots[i];

		s->cell = &l->cells[i];
		s->cell->wraps32 = s->wraps32;
		s->cell->monotonic = s->monotonic;
		s->cell->ok = s->constant;
		s->cell->raw = s->value;
	}
}

int layout_finish(struct layout *l)
{
	size_t n = l->n_candidates;

	/* One more than needed: an empty layout is not a failure. */
	l->cells = calloc(l->n_slots + 1, sizeof(*l->cells));
	l->readings = calloc(n + 1, sizeof(*l->readings));
	l->terms = calloc(n + 1, sizeof(*l->terms));
	l->term_ends = calloc(n + 1, sizeof(*l->term_ends));
	if (l->failed || !l->cells || !l->readings || !l->terms || !l->term_ends)
		return -ENOMEM;
	if (n)
		qsort(l->candidates, n, sizeof(*l->candidates), by_rank);
	keep_best(l);
	make_readings(l);
	make_cells(l);
	free(l->candidates);
	l->candidates = NULL;
	l->n_candidates = l->cap_candidates = 0;
	return 0;
}

/* --- history ---------------------------------------------------------------------------------- */

static const struct sampled_port *find_port(const struct layout *l, const struct sampled_port *p)
{
	for (size_t i = 0; i < l->n_ports; i++)
		if (l->ports[i].port == p->port && !strcmp(l->ports[i].device, p->device))
			return &l->ports[i];
	return NULL;
}

/* The first slot of the port at or after `from`; slots are ordered by port. */
static size_t first_slot(const struct layout *l, uint32_t port, size_t from)
{
	while (from < l->n_slots && l->slots[from].port < port)
		from++;
	return from;
}

static bool same_counter(const struct slot *a, const struct slot *b)
{
	return a->source == b->source && !a->constant && !b->constant && !strcmp(a->name, b->name);
}

/* Both in the same order as a rule, so the search goes on behind the last hit. */
static const struct slot *find_slot(const struct layout *l, uint32_t port, size_t first,
				    size_t *hint, const struct slot *wanted)
{
	size_t end = first_slot(l, port + 1, first), n = end - first;

	for (size_t i = 0; i < n; i++) {
		size_t at = first + (*hint - first + i) % n;

		if (same_counter(&l->slots[at], wanted)) {
			*hint = at + 1 < end ? at + 1 : first;
			return &l->slots[at];
		}
	}
	return NULL;
}

static void inherit_cell(struct widen *to, const struct widen *from)
{
	to->last = from->last;
	to->base = from->base;
	to->seen = from->seen;
}

/* Returns how many of the old port's counters of this source were not found again. */
static size_t inherit_port(struct layout *l, struct sampled_port *p, const struct layout *old,
			   const struct sampled_port *old_port, enum source source)
{
	uint32_t port = p - l->ports, old_index = old_port - old->ports;
	size_t first = first_slot(old, old_index, 0), hint = first, lost = 0;

	p->resets = old_port->resets;
	for (size_t i = first; i < old->n_slots && old->slots[i].port == old_index; i++)
		lost += old->slots[i].source == source && old->slots[i].used &&
			!old->slots[i].constant;
	for (size_t i = first_slot(l, port, 0); i < l->n_slots && l->slots[i].port == port; i++) {
		const struct slot *s = find_slot(old, old_index, first, &hint, &l->slots[i]);

		if (!s)
			continue;
		inherit_cell(l->slots[i].cell, s->cell);
		lost -= s->source == source && s->used;
	}
	return lost;
}

size_t layout_inherit(struct layout *l, const struct layout *old, enum source source)
{
	size_t lost = 0;

	for (size_t i = 0; i < l->n_ports; i++) {
		const struct sampled_port *p = find_port(old, &l->ports[i]);

		if (p)
			lost += inherit_port(l, &l->ports[i], old, p, source);
	}
	return lost;
}

/* --- a sample --------------------------------------------------------------------------------- */

static void widen_all(struct layout *l)
{
	for (size_t first = 0, end; first < l->n_slots; first = end) {
		uint32_t port = l->slots[first].port;

		end = first_slot(l, port + 1, first);
		if (widen_port(&l->cells[first], end - first))
			l->ports[port].resets++;
	}
}

void layout_evaluate(struct layout *l)
{
	size_t term = 0;

	widen_all(l);
	for (size_t i = 0; i < l->n_readings; i++) {
		struct reading *r = &l->readings[i];

		r->value = 0;
		r->state = READING_OK;
		for (; term < l->term_ends[i]; term++) {
			const struct widen *w = &l->cells[l->terms[term]];

			r->value += w->value;
			if (!w->ok)
				r->state = READING_ABSENT;
		}
	}
}
