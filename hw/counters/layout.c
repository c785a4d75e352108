// SPDX-License-Identifier: Apache-2.0
/* layout.c - builds the layout port by port, copies the history of counters from an old layout, and
 * iterates over the readings. */
#include "layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

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

/* --- slots of the current port ---------------------------------------------------------------- */

static struct draft_slot *add_slot(struct layout *l, enum source source, const char *name)
{
	struct draft_slot *s;

	if (!l->opened || l->n_slots + l->draft.n_slots >= NO_SLOT)
		return NULL;
	s = draft_slot(&l->draft, &l->strings, source, name);
	l->failed |= !s;
	return s;
}

uint32_t layout_slot(struct layout *l, enum source source, const char *name,
		     const struct meaning *meanings, size_t n)
{
	struct draft_slot *s = n ? add_slot(l, source, name) : NULL;

	if (!s)
		return NO_SLOT;
	for (size_t i = 0; i < n; i++) {
		const struct meaning *m = &meanings[i];

		s->slot.wraps32 |= m->wraps32;
		s->slot.monotonic |= m->monotonic;
		l->failed |= draft_meaning(&l->draft, &l->strings, m->family, m->labels, m->unit,
					   m->rank, m->alias) < 0;
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
	l->failed |= draft_meaning(&l->draft, &l->strings, family, labels, UNIT_ONE, 0, 0) < 0;
}

/* --- ports ------------------------------------------------------------------------------------ */

/* Adds the shape, or frees it if an equal one exists. Returns the index. */
static uint32_t keep_shape(struct layout *l, struct shape *s)
{
	struct shape *kept;

	for (size_t i = l->n_shapes; i-- > 0;)
		if (shape_same(&l->shapes[i], s)) {
			shape_done(s);
			return i;
		}
	kept = array_push(l->shapes, l->n_shapes);
	l->failed |= !kept;
	if (kept)
		*kept = *s;
	else
		shape_done(s);
	return l->n_shapes - 1;
}

static void layout_add_cell(struct layout *l, const struct draft_slot *s)
{
	struct widen *cell = array_push(l->cells, l->n_cells);

	l->failed |= !cell;
	if (cell)
		*cell = (struct widen){
			.raw = s->value,
			.ok = s->slot.constant,
			.wraps32 = s->slot.wraps32,
			.monotonic = s->slot.monotonic,
		};
}

static void add_cells(struct layout *l, const struct draft *d)
{
	for (size_t i = 0; i < d->n_slots; i++) {
		const struct draft_slot *s = &d->slots[i];
		uint32_t *cell_of = array_push(l->cell_of, l->n_slots);

		l->failed |= !cell_of;
		if (cell_of)
			*cell_of = s->cell == NO_SLOT ? NO_SLOT : l->n_cells;
		if (s->cell != NO_SLOT)
			layout_add_cell(l, s);
	}
}

static void layout_add_port(struct layout *l, const struct shape *s, uint32_t shape)
{
	struct place *place = array_push(l->places, l->n_places);
	struct sampled_port *p = array_push(l->ports, l->n_ports);
	size_t bytes = dict_family_index(dict_bytes_family()), at;

	l->failed |= !place || !p;
	if (l->failed)
		return;
	*place = (struct place){shape, (uint32_t)l->n_cells};
	*p = l->open;
	at = s->starts[bytes];
	if (at < s->starts[bytes + 1])
		snprintf(p->bytes_source, sizeof(p->bytes_source), "%s",
			 source_name(s->slots[s->terms[s->series[at].first_term]].source));
	l->n_readings += s->n_series;
}

static void close_port(struct layout *l)
{
	struct draft *d = &l->draft;
	struct shape s;
	uint32_t index;

	l->opened = false;
	if (!d->n_slots || l->failed)
		return;
	if (shape_make(&s, d) < 0) {
		l->failed = true;
		return;
	}
	index = keep_shape(l, &s);
	if (!l->failed)
		layout_add_port(l, &l->shapes[index], index);
	add_cells(l, d);
	d->n_slots = d->n_candidates = 0;
}

void layout_port(struct layout *l, const char *device, uint32_t port)
{
	close_port(l);
	l->opened = true;
	l->open = (struct sampled_port){.port = port};
	snprintf(l->open.device, sizeof(l->open.device), "%s", device);
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
	l->n_slots = 0;
}

static const struct shape *shape_of(const struct layout *l, size_t port)
{
	return &l->shapes[l->places[port].shape];
}

const char *layout_cell_name(const struct layout *l, uint32_t cell)
{
	size_t low = 0, high = l->n_places;

	/* The last port whose cells begin at or before the cell. */
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

/* Returns the index of the port, n_ports if it is not found. Searches from the expected position.
 */
static size_t layout_find_port(const struct layout *l, const struct sampled_port *p,
			       size_t expected)
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

/* Returns the index of the same counter in the shape, n_slots if it is not found. Searches from
 * behind the last match, because both shapes usually have the same order. */
static size_t layout_find_slot(const struct shape *s, const struct slot *wanted, size_t *hint)
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

/* Copies the history of a port. Returns how many counters of this source the old port has and the
 * new one lacks. */
static size_t inherit_port(struct layout *l, size_t port, const struct layout *old, size_t old_port,
			   enum source source)
{
	const struct shape *s = shape_of(l, port), *from = shape_of(old, old_port);
	size_t lost = 0, hint = 0;

	l->ports[port].resets = old->ports[old_port].resets;
	l->ports[port].has_moved = old->ports[old_port].has_moved;
	for (size_t i = 0; i < from->n_slots; i++)
		lost += from->slots[i].source == source && !from->slots[i].constant;
	for (size_t i = 0; i < s->n_slots; i++) {
		size_t at = layout_find_slot(from, &s->slots[i], &hint);

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
		size_t at = layout_find_port(old, &l->ports[i], next);

		if (at == old->n_ports)
			continue;
		lost += inherit_port(l, i, old, at, source);
		next = at + 1;
	}
	return lost;
}

/* --- sampling --------------------------------------------------------------------------------- */

struct cells layout_port_cells(const struct layout *l, size_t port)
{
	return (struct cells){l->places[port].first_cell, (uint32_t)shape_of(l, port)->n_slots};
}

void layout_evaluate_port(struct layout *l, size_t port)
{
	struct cells cells = layout_port_cells(l, port);
	struct widened widened = widen_port(&l->cells[cells.first], cells.n);

	if (widened.is_reset)
		l->ports[port].resets++;
	l->ports[port].has_moved |= widened.has_moved;
}

void layout_evaluate(struct layout *l)
{
	for (size_t i = 0; i < l->n_ports; i++)
		layout_evaluate_port(l, i);
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

/* Moves to the next port, or after the last one to the next family; with one_port always to the
 * next family. */
static void step(const struct layout *l, struct reading_pos *pos)
{
	pos->at = 0;
	if (!pos->one_port && ++pos->port < l->n_ports)
		return;
	if (!pos->one_port)
		pos->port = 0;
	pos->family++;
}

bool layout_next(const void *layout, struct reading_pos *pos, struct reading *ret)
{
	const struct layout *l = layout;

	for (; pos->port < l->n_ports && dict_family(pos->family); step(l, pos)) {
		const struct shape *s = shape_of(l, pos->port);
		size_t at = s->starts[pos->family] + pos->at;

		if (at >= s->starts[pos->family + 1])
			continue;
		pos->at++;
		evaluate(l, pos->port, s, &s->series[at], ret);
		return true;
	}
	return false;
}
