/* SPDX-License-Identifier: Apache-2.0 */
/* undecided.h - stores why causes could not be decided on a port in its last sample. Pure.
 *
 * Ports of the same kind mostly have the same reasons: equal lists are stored once. */
#pragma once

#include "cause.h"

/* A cause that could not be decided. Without padding: lists are compared as bytes. */
struct undecided {
	const char *why;  /* static */
	enum cause cause; /* lists are sorted by it */
	int missing;	  /* enum series: the missing series; -1: there is another reason */
};

struct undecided_list {
	size_t n_users; /* ports */
	uint64_t digest;
	size_t n;
	struct undecided items[];
};

/* The distinct lists of all ports. Zero-initialised it is empty. */
struct undecided_lists {
	struct undecided_list **lists; /* owned */
	size_t n, room;
};

/* Sets *list, the list of a port, to the one with these items; NULL is the empty list. A list that
 * has lost its last user stays valid until undecided_sweep(). -ENOMEM: *list is the empty list. */
int undecided_set(struct undecided_lists *, struct undecided_list **list,
		  const struct undecided *items, size_t n);
/* Frees the lists without users. */
void undecided_sweep(struct undecided_lists *);
void undecided_done(struct undecided_lists *);

#define UNDECIDED_SIZE 160

/* Writes the reason, such as "roce_pause_frames_total is not visible". */
void undecided_text(const struct undecided *, char ret[UNDECIDED_SIZE]);
