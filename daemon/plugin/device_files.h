/* device_files.h - small files in folders that others read: device-info for Multus, CDI
 * specifications for container runtimes.
 *
 * A reader sees the old file or the new one, never a part: a temporary file in the same folder
 * (".rocelet-XXXXXX", which no reader of these folders looks at) is renamed. Files are not synced
 * to the disk: they lie on tmpfs or are made again at the next start, where what differs is written
 * anew; a sync could hold the loop up for seconds. */
#pragma once

#include <stdbool.h>

#include "err.h"

struct device_folder {
	const char *path; /* made if it is missing, with those above it */
	bool dry_run;	  /* changes nothing, logs what it would do */
};

/* To be removed? */
typedef bool device_file_stale_fn(const char *name, void *arg);

/* 1: written, mode 0644; 0: the file is there with this content already. A dry run answers the
 * same. -EINVAL: a name with '/' or "..", or that is hidden. */
int device_files_write(const struct device_folder *, const char *name, const char *text,
		       struct err *);
/* 1: removed; 0: there was none. */
int device_files_remove(const struct device_folder *, const char *name, struct err *);
/* Removes those that are stale, and temporary files that a crash has left. How many; the first
 * error, after everything else was tried. No folder: nothing to do. */
int device_files_sweep(const struct device_folder *, device_file_stale_fn *, void *arg,
		       struct err *);
