/* layout.h - from vendor counters to readings. Pure: no I/O.
 *
 * A slot is one vendor counter of one port; sources write what they read into its widen.raw. A
 * reading is one series: the sum of one or more slots. While laying out, ports come in order, each
 * followed by its slots and what they mean; layout_finish() then decides which of several vendor
 * counters for one family counts, and orders the readings. */
#pragma once

#include "dictionary.h"
#include "intern.h"
#include "widen.h"

struct slot {
	struct widen *cell; /* set by layout_finish() */
	const char *name;   /* the vendor's */
	uint32_t port;
	enum source source;
	bool used;     /* some reading needs it */
	bool constant; /* its value was set while laying out */
	bool wraps32, monotonic;
	uint64_t value; /* when constant */
};

/* Which slot a vendor counter feeds, NO_SLOT to leave it out: what sources ask while they list. */
typedef uint32_t layout_slot_fn(const char *name, void *arg);
#define NO_SLOT UINT32_MAX

struct candidate;

/* Zero-initialised it is empty. */
struct layout {
	struct intern strings;
	struct sampled_port *ports; /* those that have a slot */
	size_t n_ports, cap_ports;
	struct sampled_port next; /* opened, and without a slot so far */
	bool opened;
	struct slot *slots; /* by port */
	size_t n_slots, cap_slots;
	struct widen *cells; /* one per slot */

	struct reading *readings;
	size_t n_readings;
	uint32_t *terms;     /* slots of all readings, reading by reading */
	uint32_t *term_ends; /* one per reading: where its terms end */

	struct candidate *candidates; /* only until layout_finish() */
	size_t n_candidates, cap_candidates;
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

/* Makes the readings. -ENOMEM: the layout is of no use. */
int layout_finish(struct layout *);

/* Takes over the history of ports and counters that are still there. Returns the number of counters
 * that such ports lost, for the given source. Both must be finished. */
size_t layout_inherit(struct layout *, const struct layout *old, enum source);

/* After the sources wrote their cells: widens, counts resets, sums up the readings. */
void layout_evaluate(struct layout *);
