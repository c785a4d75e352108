/* config_watch.h - tells in the loop that the configuration file may have changed: written to,
 * replaced by a rename, deleted, made, or switched by a symlink anywhere on the way to it (a
 * ConfigMap's "..data").
 *
 * Only hints, and those of a burst together; read the file after config_watch_open() to miss none.
 * The reader finds out whether anything is different. */
#pragma once

#include "err.h"

struct uv_loop_s;
struct config_watch;

/* May close the watch. */
typedef void config_watch_fn(void *arg);

/* The file need not be there yet, nor its folder. */
int config_watch_open(struct config_watch **ret, struct uv_loop_s *, const char *path,
		      config_watch_fn *, void *arg, struct err *);
/* NULL is fine. No call follows. */
void config_watch_close(struct config_watch *);
