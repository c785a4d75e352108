/* layout.h - from vendor counters to readings. Pure: no I/O.
 *
 * A slot is one vendor counter of one port. While laying out, ports come in order, each followed by
 * its slots and what they mean. What counts (shape.h) has a cell each, into whose `raw` the sources
 * write what they read. A reading is the sum of one or more cells of a port. What ports have in
 * common is kept once, as their shape. */
#pragma once

#include "shape.h"
#include "widen.h"

/* Where a port's counters are. */
struct place {
	uint32_t shape, first_cell;
};

/* Cells that follow each other. */
struct cells {
	uint32_t first, n;
};

static inline bool cells_have(const struct cells *c, uint32_t cell)
{
	return cell >= c->first && cell - c->first < c->n;
}

/* Which slot a vendor counter feeds, NO_SLOT to leave it out: what sources ask while they list. */
typedef uint32_t layout_slot_fn(const char *name, void *arg);

/* Zero-initialised it is empty. */
struct layout {
	struct intern strings;
	struct sampled_port *ports; /* those that have a slot */
	size_t n_ports;
	struct place *places; /* one per port */
	size_t n_places;
	struct shape *shapes;
	size_t n_shapes;
	struct widen *cells; /* port by port */
	size_t n_cells;
	size_t n_readings;

	/* Only while laying out. */
	struct sampled_port open; /* the port whose counters come */
	bool opened;
	struct draft draft;
	uint32_t *cell_of; /* by slot */
	size_t n_slots;
	bool failed; /* out of memory */
};

void layout_done(struct layout *);

/* Opens the next port; 0 = the device as a whole. It counts from its first slot on. */
void layout_port(struct layout *, const char *device, uint32_t port);

/* Adds a vendor counter to the open port. Returns its index, or NO_SLOT when it means nothing. */
uint32_t layout_slot(struct layout *, enum source, const char *name, const struct meaning *meanings,
		     size_t n);
/* The same with a value that stays. labels: as in struct reading. */
void layout_constant(struct layout *, enum source, const struct family *, const char *labels,
		     uint64_t value);

/* Closes the last port. -ENOMEM: the layout is of no use. */
int layout_finish(struct layout *);
/* Once finished: the cell of a slot, NO_SLOT when no reading needs it. */
uint32_t layout_cell(const struct layout *, uint32_t slot);
/* Forgets the slots, when all sources know their cells. */
void layout_trim(struct layout *);
/* The vendor's name of a cell. */
const char *layout_cell_name(const struct layout *, uint32_t cell);

/* Takes over the history of ports and counters that are still there. Returns the number of counters
 * that such ports lost, for the given source. Both must be finished. */
size_t layout_inherit(struct layout *, const struct layout *old, enum source);

/* The cells of a port. */
struct cells layout_port_cells(const struct layout *, size_t port);

/* After the sources wrote their cells: widens and counts resets. */
void layout_evaluate(struct layout *);
/* The same of one port. */
void layout_evaluate_port(struct layout *, size_t port);
/* A reading_next_fn for a struct layout. */
bool layout_next(const void *layout, struct reading_pos *, struct reading *ret);
