/* resource_index.h - finds quickly which resources offer a function. Pure. */
#pragma once

#include "resource_table.h"

/* A function and what offers it: an ID of its own, or (device NULL) a shared resource. */
struct resource_entry {
	const char *function;
	const struct resource_info *resource;
	const struct resource_device *device;
};

/* Borrows the table. */
struct resource_index {
	const struct resource_table *table;
	struct resource_entry *entries; /* sorted by function; owned */
	size_t n;
};

/* NULL: out of memory. */
struct resource_index *resource_index_new(const struct resource_table *);
void resource_index_free(struct resource_index *);
/* The first of *ret_n entries of a function. */
const struct resource_entry *resource_index_find(const struct resource_index *,
						 const char *function, size_t *ret_n);
