/* top_columns.h - a port as a row of columns, of which as many are there as the screen is wide.
 * Pure. */
#pragma once

#include "top_view.h"

#define TOP_LINE_SIZE 1024

enum top_column {
	COL_PORT,
	COL_NETDEV,
	COL_LINK,
	COL_RECEIVED,
	COL_SENT,
	COL_USE,
	COL_PAUSE,
	COL_CE,
	COL_CNP,
	COL_LOSS,
	COL_VERDICT,
	COL_POD,
	COL_SPARK,
	N_COLUMNS
};

struct top_layout {
	int widths[N_COLUMNS]; /* 0 = it is not there */
};

struct top_line {
	char text[TOP_LINE_SIZE];
	size_t len;
};

/* For the n ports of `order` (places in the model) on a screen of that width: columns that do not
 * fit are left out, the least needed first. */
void top_columns_fit(struct top_layout *ret, const struct top_view *, const struct top_model *,
		     const size_t *order, size_t n, size_t width);
void top_columns_head(struct top_line *ret, const struct top_layout *);
void top_columns_port(struct top_line *ret, const struct top_layout *, const struct top_view *,
		      const struct top_port *);
