/* shape.h - what a port's vendor counters mean, and which of them count. Pure.
 *
 * A draft takes a port's counters one after the other, each with what it means. Of several for one
 * family the best counts; the others are dropped, and what is left has a cell each. All functions
 * of a NIC have the same counters: what their ports have in common is a shape. */
#pragma once

#include <stddef.h>

#include "dictionary.h"

/* One copy of each string, with a pointer that stays put until intern_done(). */

/* Zero-initialised it is empty. */
struct intern {
	char **slots; /* open addressing, a power of two */
	size_t n, cap;
};

/* NULL when out of memory. */
const char *intern(struct intern *, const char *s);
void intern_done(struct intern *);

#define NO_SLOT UINT32_MAX

/* A vendor counter that some reading needs. */
struct slot {
	const char *name; /* the vendor's */
	enum source source;
	bool constant; /* its value was set while laying out */
	bool wraps32, monotonic;
};

/* A reading of every port of a shape: the sum of its terms. */
struct series {
	const struct family *family;
	const char *labels;
	enum unit unit;
	uint32_t first_term, n_terms;
};

struct shape {
	struct slot *slots; /* one per cell of a port */
	size_t n_slots;
	struct series *series; /* by family, then labels */
	size_t n_series;
	uint32_t *terms; /* cells, counted from the port's first */
	size_t n_terms;
	uint32_t *starts; /* by family: its first series; one more for the end */
};

/* A counter of the port that is being laid out. */
struct draft_slot {
	struct slot slot;
	uint64_t value; /* when constant */
	uint32_t cell;	/* of the port, once its shape is made; NO_SLOT = no reading needs it */
};

/* Zero-initialised it is empty; to be emptied for the next port it keeps its memory. */
struct draft {
	struct draft_slot *slots;
	size_t n_slots;
	struct candidate *candidates;
	size_t n_candidates;
};

/* Adds a counter; borrowed until the next. Names live in `strings`. NULL: out of memory. */
struct draft_slot *draft_slot(struct draft *, struct intern *strings, enum source,
			      const char *name);
/* One thing that the last counter means; see struct meaning. -ENOMEM. */
int draft_meaning(struct draft *, struct intern *strings, const struct family *, const char *labels,
		  enum unit, unsigned rank, unsigned alias);
void draft_done(struct draft *);

/* Gives the counters that count their cells. -ENOMEM. */
int shape_make(struct shape *ret, struct draft *);
/* Of the same strings. */
bool shape_same(const struct shape *, const struct shape *);
void shape_done(struct shape *);
