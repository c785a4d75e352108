/* settings_watch.h - keeps what the host's RoCE ports are set to, read on a worker again and again:
 * most of it changes without a word of the kernel's (firmware, a driver's files, configfs). */
#pragma once

#include "err.h"
#include "inventory.h"
#include "settings_table.h"

struct uv_loop_s;
struct settings_watch;

/* On the loop's thread: the table is another one. */
typedef void settings_changed_fn(void *arg);

/* hw and inventory must outlive it. Nothing is read until it is told to look. pause_ms: at least so
 * long from one reading's begin to the next. */
int settings_watch_open(struct settings_watch **ret, struct uv_loop_s *, const struct hw *,
			struct inventory *, uint32_t pause_ms, settings_changed_fn *, void *arg,
			struct err *);
/* Time has passed: begins to read unless it is too early or does so already. It has no timer of its
 * own, so that an idle daemon does not wake up for it. NULL is fine. */
void settings_watch_look(struct settings_watch *);
/* Borrowed until the loop goes on; empty until it was read once. */
const struct settings_table *settings_watch_table(const struct settings_watch *);
/* NULL is fine. A reading in flight is waited for; the struct is gone when the loop has run out of
 * handles. */
void settings_watch_close(struct settings_watch *);
