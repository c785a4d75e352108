/* top_screen.h - the terminal as rows of text and keys, by ncurses. There is one at most. */
#pragma once

#include "top_view.h"

/* Takes over the terminal of standard input and output. -ENOTTY: it is none that can be drawn on,
 * and is left as it was. SIGINT, SIGTERM and SIGQUIT end us after it was given back. */
int top_screen_open(bool colours);
/* Gives it back as it was. */
void top_screen_close(void);
/* Its text has more than ASCII. */
bool top_screen_has_blocks(void);
void top_screen_size(size_t *ret_width, size_t *ret_height);
void top_screen_clear(void);
/* A top_put_fn; arg is nothing. */
void top_screen_put(size_t row, const char *text, enum top_style, void *arg);
void top_screen_show(void);
/* The next key, as top_key() takes it; -1: none came in that time, or the size has changed. */
int top_screen_key(int wait_ms);
/* The terminal has hung up. Where SIGHUP is ignored nothing else says so: there is no key, at once
 * and for ever. */
bool top_screen_has_gone(void);
