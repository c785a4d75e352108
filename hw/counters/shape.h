/* SPDX-License-Identifier: Apache-2.0 */
/* shape.h - the meanings of a port's vendor counters, and which of them are used. Pure.
 *
 * A draft collects a port's counters, each with its meanings. If several counters measure one
 * family, the best ones are used and get a cell each; the others are dropped. The result is the
 * port's shape. All functions of a NIC have the same counters, so their ports share one shape. */
#pragma once

#include <stddef.h>

#include "dictionary.h"

/* Interned strings: one copy of each, with a pointer that is valid until intern_done().
 * Zero-initialised it is empty. */
struct intern {
	char **slots; /* open addressing, a power of two */
	size_t n, cap;
};

/* Returns the interned string; NULL when out of memory. */
const char *intern(struct intern *, const char *s);
void intern_done(struct intern *);

#define NO_SLOT UINT32_MAX

/* A vendor counter that some reading uses. */
struct slot {
	const char *name; /* the vendor's name of the counter */
	enum source source;
	bool constant; /* its value was set while building the layout */
	bool wraps32, monotonic;
};

/* A reading of every port with the shape: the sum of its terms. */
struct series {
	const struct family *family;
	const char *labels;
	enum unit unit;
	uint32_t first_term, n_terms;
};

struct shape {
	struct slot *slots; /* one per cell of a port */
	size_t n_slots;
	struct series *series; /* sorted by family, then labels */
	size_t n_series;
	uint32_t *terms; /* cells, relative to the port's first */
	size_t n_terms;
	uint32_t *starts; /* index of a family's first series, by family; plus the end */
};

/* A counter of the port whose layout is being built. */
struct draft_slot {
	struct slot slot;
	uint64_t value; /* when constant */
	uint32_t cell;	/* relative to the port's first, set by shape_make(); NO_SLOT = unused */
};

/* Zero-initialised it is empty. Setting the counts to 0 for the next port keeps the memory. */
struct draft {
	struct draft_slot *slots;
	size_t n_slots;
	struct candidate *candidates;
	size_t n_candidates;
};

/* Adds a counter; borrowed until the next call. `strings` owns the names. NULL: out of memory. */
struct draft_slot *draft_slot(struct draft *, struct intern *strings, enum source,
			      const char *name);
/* Adds a meaning to the last counter; see struct meaning. -ENOMEM. */
int draft_meaning(struct draft *, struct intern *strings, const struct family *, const char *labels,
		  enum unit, unsigned rank, unsigned alias);
void draft_done(struct draft *);

/* Selects the counters and assigns cells. -ENOMEM. */
int shape_make(struct shape *ret, struct draft *);
/* True if the shapes are equal; both must use the same struct intern. */
bool shape_same(const struct shape *, const struct shape *);
void shape_done(struct shape *);
