/* top_view.h - what of a top_model is seen, in which order and where on the screen, and what keys
 * do about that. Pure: the screen itself is top_screen.h's. */
#pragma once

#include "top_model.h"

#define TOP_SORTS "verdict|use|received|sent|pause|ce|cnp|loss|port|pod"

/* Zero-initialised: the worst first, all of them. */
struct top_view {
	unsigned sort; /* place in TOP_SORTS */
	bool backwards, only_verdicts, frozen, typing, help;
	bool ascii; /* the terminal has no blocks */
	char filter[48];
	char selected[96]; /* the port's name; "" = the first */
	size_t first;	   /* row of the list that stands on top */
	char problem[160]; /* why there is nothing new; "" = nothing */
	uint64_t asked_ms; /* when ports were last asked for, CLOCK_MONOTONIC */
};

enum top_action {
	TOP_STAYS,
	TOP_QUITS,
	TOP_OPENS, /* the selected port's queue pairs */
};

/* Keys that are no characters. */
enum { TOP_KEY_UP = 0x110000, TOP_KEY_DOWN, TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN, TOP_KEY_BACKSPACE };

/* height: of the whole screen. */
enum top_action top_key(struct top_view *, const struct top_model *, int key, size_t height);
/* False: TOP_SORTS does not have it. */
bool top_sort_by(struct top_view *, const char *name);
/* Places of the ports that are shown, in order, in ret[m->n_ports]; returns how many. */
size_t top_order(const struct top_view *, const struct top_model *, size_t *ret);
/* Of those shown; NULL = none. */
const struct top_port *top_selected(const struct top_view *, const struct top_model *);

enum top_style { TOP_PLAIN, TOP_HEAD, TOP_SELECTED, TOP_GOOD, TOP_WARNING, TOP_CRITICAL };

/* Cuts a text at the screen's edge; each character is one column wide. */
void top_cut(char *text, size_t width);

typedef void top_put_fn(size_t row, const char *text, enum top_style, void *arg);

/* Each row of the screen that has something, from above. Moves what stands on top so that the
 * selected port is seen. height 0: as long as it takes. */
void top_draw(struct top_view *, const struct top_model *, size_t width, size_t height,
	      top_put_fn *put, void *arg);
