/* SPDX-License-Identifier: Apache-2.0 */
/* top_view.h - selects, sorts and lays out the ports of a top_model, and handles keys. Pure:
 * top_screen.h draws. */
#pragma once

#include <stdio.h>

#include "top_model.h"

#define TOP_SORTS "verdict|use|received|sent|pause|ce|cnp|loss|retr|port|pod"

/* All zero: all ports, worst verdict first. */
struct top_view {
	unsigned sort; /* index in TOP_SORTS */
	bool backwards, only_verdicts, frozen, typing, help;
	bool old;   /* set by top_draw(): no new samples, or no answers */
	bool ascii; /* the terminal has no block characters */
	char filter[48];
	char selected[96];     /* the port's name; "" = the first */
	size_t first;	       /* first visible row of the list */
	char problem[160];     /* why there is no new data; "" = no problem */
	uint64_t requested_ms; /* when ports were last requested, CLOCK_MONOTONIC */
	uint64_t answered_ms;  /* the same, of the last request that was answered */
};

enum top_action {
	TOP_STAYS,
	TOP_QUITS,
	TOP_OPENS, /* show the selected port's verdicts and queue pairs */
};

/* Codes of keys that have no character. */
enum { TOP_KEY_UP = 0x110000, TOP_KEY_DOWN, TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN, TOP_KEY_BACKSPACE };

/* Handles a key. height: of the whole screen. */
enum top_action top_key(struct top_view *, const struct top_model *, int key, size_t height);
/* Sets the order by its name. False: the name is not in TOP_SORTS. */
bool top_sort_by(struct top_view *, const char *name);
/* Writes the indexes of the ports shown, in order, to ret[m->n_ports]; returns their number. */
size_t top_order(const struct top_view *, const struct top_model *, size_t *ret);
/* The selected port, or the first shown one if it is hidden; NULL = no port is shown. */
const struct top_port *top_selected(const struct top_view *, const struct top_model *);

/* TOP_OLD: the shown data may be outdated. */
enum top_style { TOP_PLAIN, TOP_HEAD, TOP_SELECTED, TOP_GOOD, TOP_WARNING, TOP_CRITICAL, TOP_OLD };

/* Cuts a text at the screen's edge; each character is one column wide. */
void top_cut(char *text, size_t width);

/* Writes lines, wrapped between words at `width`; continuation lines keep the indent. */
void top_wrap(const char *text, size_t width, FILE *);

typedef void top_put_fn(size_t row, const char *text, enum top_style, void *arg);

/* Draws each row of the screen that has text, from the top, and scrolls so that the selected port
 * is visible. height 0: unlimited. */
void top_draw(struct top_view *, const struct top_model *, size_t width, size_t height,
	      top_put_fn *put, void *arg);
