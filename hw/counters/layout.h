/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - maps vendor counters to readings. Pure: no I/O.
 *
 * A slot is one vendor counter of one port. The layout is built port by port: the port, its slots
 * and their meanings. Each counter that is used (shape.h) gets a cell, into whose `raw` the source
 * writes the value. A reading is the sum of one or more cells of a port. Ports with the same
 * counters share a shape: the names and the structure, which are stored once. */
#pragma once

#include "shape.h"
#include "widen.h"

/* Location of a port's counters. */
struct place {
	uint32_t shape, first_cell;
};

/* A range of cells. */
struct cells {
	uint32_t first, n;
};

static inline bool cells_have(const struct cells *c, uint32_t cell)
{
	return cell >= c->first && cell - c->first < c->n;
}

/* Sources call this for each counter that they list. Returns its slot, or NO_SLOT to ignore it. */
typedef uint32_t layout_slot_fn(const char *name, void *arg);

/* Zero-initialised it is empty. */
struct layout {
	struct intern strings;
	struct sampled_port *ports; /* only ports with slots */
	size_t n_ports;
	struct place *places; /* one per port */
	size_t n_places;
	struct shape *shapes;
	size_t n_shapes;
	struct widen *cells; /* in the order of the ports */
	size_t n_cells;
	size_t n_readings;

	/* The following members are used only while building. */
	struct sampled_port open; /* the current port */
	bool opened;
	struct draft draft;
	uint32_t *cell_of; /* the cell of each slot */
	size_t n_slots;
	bool failed; /* out of memory */
};

void layout_done(struct layout *);

/* Starts the next port; 0 = the device as a whole. A port without slots is not added. */
void layout_port(struct layout *, const char *device, uint32_t port);

/* Adds a vendor counter to the current port. Returns its slot; NO_SLOT: it has no meaning (n is 0),
 * or out of memory. */
uint32_t layout_slot(struct layout *, enum source, const char *name, const struct meaning *meanings,
		     size_t n);
/* Like layout_slot(), with a constant value. labels: as in struct reading. */
void layout_constant(struct layout *, enum source, const struct family *, const char *labels,
		     uint64_t value);

/* Ends the last port. -ENOMEM: the layout must not be used. */
int layout_finish(struct layout *);
/* Returns the cell of a slot, after layout_finish(); NO_SLOT if no reading uses the slot. */
uint32_t layout_cell(const struct layout *, uint32_t slot);
/* Frees the slots, once all sources have looked up their cells. */
void layout_trim(struct layout *);
/* Returns the name of the vendor counter in a cell. */
const char *layout_cell_name(const struct layout *, uint32_t cell);

/* Copies the history of ports and counters that still exist. Returns how many counters of the given
 * source were lost on ports that still exist. Both layouts must be finished. */
size_t layout_inherit(struct layout *, const struct layout *old, enum source);

/* Returns the range of a port's cells. */
struct cells layout_port_cells(const struct layout *, size_t port);

/* Widens the counters and counts resets; call it after the sources wrote their cells. */
void layout_evaluate(struct layout *);
/* Like layout_evaluate(), for one port. */
void layout_evaluate_port(struct layout *, size_t port);
/* A reading_next_fn for a struct layout. */
bool layout_next(const void *layout, struct reading_pos *, struct reading *ret);
