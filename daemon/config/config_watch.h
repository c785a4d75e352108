/* SPDX-License-Identifier: Apache-2.0 */
/* config_watch.h - calls back in the loop when the configuration file may have changed: written,
 * replaced by a rename, deleted, created, or switched by a symlink anywhere on its path (a
 * ConfigMap's "..data").
 *
 * Calls are only hints, one per burst of changes: compare the file's content. Read the file after
 * config_watch_open(), so that no change is missed. */
#pragma once

#include "err.h"

struct uv_loop_s;
struct config_watch;

/* Called after a change of the file. May close the watch. */
typedef void config_watch_fn(void *arg);

/* Watches a file. The file and its folder need not exist yet. */
int config_watch_open(struct config_watch **ret, struct uv_loop_s *, const char *path,
		      config_watch_fn *, void *arg, struct err *);
/* Ends the watch; the callback is not called afterwards. May be NULL. */
void config_watch_close(struct config_watch *);
