/* ctl_table.h - columns for people: as wide as their widest cell, the last one as long as it is.
 * Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 24

struct table_row {
	char *cells[TABLE_COLUMNS_MAX]; /* owned */
	size_t number, object;		/* which row this was, and what it is of, at first */
};

/* Zero-initialised but for its heads. */
struct table {
	const char *heads[TABLE_COLUMNS_MAX];
	size_t n_columns;
	struct table_row *rows; /* owned; the last may be unfinished */
	size_t n_rows, n_cells;
	size_t object; /* of the rows that are added */
	bool failed;   /* out of memory: not to be printed */
};

struct table_style {
	bool no_heads, colours;
	unsigned hidden; /* columns that are left out, a bit each */
	/* TABLE_COLUMNS_MAX of them, NULL = none: columns are as wide at least, and as wide as they
	 * became afterwards: tables below one another. */
	size_t *widths;
};

/* Appends a cell; NULL and "" become "-", control characters '?'. */
void table_add(struct table *, const char *text);
void table_drop_row(struct table *, size_t row);
/* Numbers as numbers, names with their numbers in order, what is unknown last. */
void table_sort(struct table *, size_t column, bool largest_first);
/* Nothing for a table without rows. style NULL: none. */
void table_print(const struct table *, const struct table_style *, FILE *);
void table_done(struct table *);
/* A text as it may be written to a terminal. */
void table_put(const char *text, FILE *);
