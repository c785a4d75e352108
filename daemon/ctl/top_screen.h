/* SPDX-License-Identifier: Apache-2.0 */
/* top_screen.h - draws rows of text and reads keys with ncurses. Only one screen can be open. */
#pragma once

#include "top_view.h"

/* Takes over the terminal of standard input and output. -ENOTTY if it cannot be drawn on; it is
 * unchanged then. SIGINT, SIGTERM, SIGHUP and SIGQUIT restore the terminal and end the process. */
int top_screen_open(bool colours);
/* Restores the terminal. */
void top_screen_close(void);
/* True if the terminal can show block characters. */
bool top_screen_has_blocks(void);
void top_screen_size(size_t *ret_width, size_t *ret_height);
void top_screen_clear(void);
/* A top_put_fn; arg is unused. */
void top_screen_put(size_t row, const char *text, enum top_style, void *arg);
void top_screen_show(void);
/* The next key, for top_key(); -1 after wait_ms without a key, or if the size has changed. */
int top_screen_key(int wait_ms);
/* True if the terminal has hung up. Needed if SIGHUP is ignored: top_screen_key() then keeps
 * returning -1 at once. */
bool top_screen_has_hung_up(void);
