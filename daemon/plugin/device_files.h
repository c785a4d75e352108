/* SPDX-License-Identifier: Apache-2.0 */
/* device_files.h - small files for other programs: device-info for Multus, CDI specifications for
 * container runtimes.
 *
 * A reader sees the old file or the new one, never a part: a temporary file in the same folder
 * (".rocelet-XXXXXX", which readers of these folders ignore) is renamed. Files are not synced to
 * disk, because a sync could block the loop for seconds. They are on tmpfs, or the next start
 * writes them again if they differ. */
#pragma once

#include <stdbool.h>

#include "err.h"

struct device_folder {
	const char *path; /* created if missing, with its parents */
	bool dry_run;	  /* only log the changes */
};

/* True if this file must be removed. */
typedef bool device_file_stale_fn(const char *name, void *arg);

/* Writes a file. 1: written, with mode 0644; 0: the file already has this content. A dry run
 * returns the same values. -EINVAL: the name contains '/' or "..", or is hidden. */
int device_files_write(const struct device_folder *, const char *name, const char *text,
		       struct err *);
/* Removes a file. 1: removed; 0: did not exist. */
int device_files_remove(const struct device_folder *, const char *name, struct err *);
/* Removes stale files, and temporary files left by a crash. Returns their number, or the first
 * error after trying all of them. A missing folder is not an error. */
int device_files_sweep(const struct device_folder *, device_file_stale_fn *, void *arg,
		       struct err *);
