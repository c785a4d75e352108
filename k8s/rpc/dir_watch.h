/* dir_watch.h - tells when names in a folder change (inotify(7)), also while the folder itself
 * comes and goes.
 *
 * Only hints: which name something happened to. NULL: anything may have changed (the folder was
 * made, deleted or replaced, or events were lost). */
#pragma once

#include <stdint.h>

#include "err.h"

struct uv_loop_s;
struct dir_watch;

/* name: an entry that was created, deleted, moved here or away, closed after writing, or whose
 * attributes changed; borrowed. */
typedef void dir_watch_fn(const char *name, void *arg);

/* A folder that does not exist yet is waited for through the folders that its path leads through,
 * links included; these are watched in any case, so that a replaced parent is seen. Fails when the
 * kernel's limits for inotify are used up. No hint comes for what is there already. */
int dir_watch_open(struct dir_watch **ret, struct uv_loop_s *, const char *dir, dir_watch_fn *,
		   void *arg, struct err *);
/* NULL is fine. */
void dir_watch_close(struct dir_watch *);
