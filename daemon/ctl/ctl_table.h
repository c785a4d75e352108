/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_table.h - prints tables: each column is as wide as its widest cell; the last one is not
 * padded. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 24

struct table_row {
	char *cells[TABLE_COLUMNS_MAX]; /* owned */
	size_t number, object;		/* row before sorting, and the object that it shows */
	int level;			/* how bad it is; see table_sort_worst() */
};

/* All zero except heads and n_columns. */
struct table {
	const char *heads[TABLE_COLUMNS_MAX];
	size_t n_columns;
	struct table_row *rows; /* owned; the last may be incomplete */
	size_t n_rows, n_cells;
	size_t object;		       /* object number of rows that are added next */
	bool failed;		       /* out of memory: do not print the table */
	char *kept[TABLE_COLUMNS_MAX]; /* owned; copies made by table_keep() */
	size_t n_kept;
};

struct table_style {
	bool no_heads, colours;
	unsigned hidden; /* columns to leave out, one bit each */
	unsigned zeros;	 /* columns in which 0 is a warning, one bit each */
	/* The columns to print, in order, even hidden ones; n_order 0: all that are not hidden. */
	unsigned char order[TABLE_COLUMNS_MAX];
	size_t n_order;
	/* TABLE_COLUMNS_MAX minimum widths, updated by table_print(), so that consecutive tables
	 * are aligned; NULL = none. */
	size_t *widths;
};

/* Appends a cell; NULL and "" become "-". Control characters are printed as '?'. */
void table_add(struct table *, const char *text);
/* Copies a heading; the table owns the copy. */
const char *table_keep(struct table *, const char *head, size_t len);
void table_drop_row(struct table *, size_t row);
/* Sorts numbers and ages (age_text.h) by value, severities from critical to ok, names with numbers
 * in natural order, unknown cells last. */
void table_sort(struct table *, size_t column, bool largest_first);
/* Sorts objects by their row with the highest level, and the rows of each in the same way; equal
 * ones stay in their order. */
void table_sort_worst(struct table *);
/* Prints nothing for a table without rows. style may be NULL. */
void table_print(const struct table *, const struct table_style *, FILE *);
void table_done(struct table *);
/* Writes a text with '?' for control characters. */
void table_put(const char *text, FILE *);
