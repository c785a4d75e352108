/* SPDX-License-Identifier: Apache-2.0 */
/* settings_watch.h - keeps the settings of the host's RoCE ports up to date by reading them
 * periodically on a worker: the kernel sends no events for most of them (firmware, a driver's
 * files, configfs). */
#pragma once

#include "err.h"
#include "inventory.h"
#include "settings_table.h"

struct uv_loop_s;
struct settings_watch;

/* Called on the loop's thread when the table has changed. */
typedef void settings_changed_fn(void *arg);

/* Opens the watch. hw and inventory must outlive the result. Reads nothing before the first
 * settings_watch_refresh(). pause_ms: minimum time from the start of one reading to the start of
 * the next. */
int settings_watch_open(struct settings_watch **ret, struct uv_loop_s *, const struct hw *,
			struct inventory *, uint32_t pause_ms, settings_changed_fn *, void *arg,
			struct err *);
/* Starts a reading unless one is running or pause_ms has not elapsed. There is no timer, so an idle
 * daemon is not woken up. The argument may be NULL. */
void settings_watch_refresh(struct settings_watch *);
/* Returns the settings; borrowed until the next loop iteration; empty before the first reading. */
const struct settings_table *settings_watch_table(const struct settings_watch *);
/* Closes the watch. May be NULL. Waits for a running reading; the struct is freed when the loop has
 * no handles left. */
void settings_watch_close(struct settings_watch *);
