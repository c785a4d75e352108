/* SPDX-License-Identifier: Apache-2.0 */
/* top_columns.h - formats a port as a row with as many columns as fit on the screen. Pure. */
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
	COL_PAUSED, /* the larger direction, if COL_PAUSE does not fit */
	COL_CE,
	COL_CNP,
	COL_LOSS,
	COL_RETR,
	COL_VERDICT,
	COL_FOR, /* how long the worst trouble has existed */
	COL_POD,
	COL_SPARK,
	N_COLUMNS
};

struct top_layout {
	int widths[N_COLUMNS]; /* 0 = not shown */
	int gap;	       /* blanks between two columns */
};

struct top_line {
	char text[TOP_LINE_SIZE];
	size_t len;
};

/* Sets the widths for the n ports of `order` (indexes into the model) on a screen of this width.
 * Columns that are unknown for every port of the model are not shown. If the others do not fit, the
 * least important are dropped first, but never port, verdict, pause, CE and loss. Names are cut in
 * the middle. */
void top_columns_fit(struct top_layout *ret, const struct top_view *, const struct top_model *,
		     const size_t *order, size_t n, size_t width);
/* Converts bytes per second to bits per second: "196.0G"; "-" = unknown. */
void top_rate_text(double bytes, char *ret, size_t size);
/* "8.1" of 0.081; "-" = unknown. */
void top_percent_text(double share, char *ret, size_t size);
/* "300k", "2.5"; "-" = unknown. */
void top_count_text(double n, char *ret, size_t size);
void top_columns_head(struct top_line *ret, const struct top_layout *);
void top_columns_port(struct top_line *ret, const struct top_layout *, const struct top_view *,
		      const struct top_model *, const struct top_port *);
