/* ctl_table.h - columns for people: as wide as their widest cell, the last one as long as it is.
 * Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 14

struct table {
	const char *heads[TABLE_COLUMNS_MAX];
	size_t n_columns;
	char **cells; /* owned, row by row */
	size_t n_cells;
	bool failed; /* out of memory: not to be printed */
};

/* Appends a cell; NULL and "" become "-", control characters '?'. */
void table_add(struct table *, const char *text);
/* Nothing for a table without rows. */
void table_print(const struct table *, FILE *);
void table_done(struct table *);
/* A text as it may be written to a terminal. */
void table_put(const char *text, FILE *);
