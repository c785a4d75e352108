/* SPDX-License-Identifier: Apache-2.0 */
/* dir_watch.h - reports changes of names in a folder (inotify(7)), even if the folder itself is
 * removed and created again.
 *
 * Reports are hints: a name that may have changed, or NULL if anything may have changed (the folder
 * was created, deleted or replaced, or events were lost). */
#pragma once

#include <stdint.h>

#include "err.h"

struct uv_loop_s;
struct dir_watch;

/* Receives a hint. name: an entry that was created, deleted, moved here or away, closed after
 * writing, or whose attributes changed; borrowed. */
typedef void dir_watch_fn(const char *name, void *arg);

/* Watches a folder, which need not exist yet. The folders on its path, including links, are
 * watched, too, so that its creation or a replaced parent is detected. Fails if the kernel's limits
 * for inotify are reached. Gives no hints for existing entries. */
int dir_watch_open(struct dir_watch **ret, struct uv_loop_s *, const char *dir, dir_watch_fn *,
		   void *arg, struct err *);
/* May be NULL. */
void dir_watch_close(struct dir_watch *);
