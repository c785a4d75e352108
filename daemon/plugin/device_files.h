/* SPDX-License-Identifier: Apache-2.0 */
/* device_files.h - small files for other programs: device-info for Multus, CDI specifications for
 * container runtimes.
 *
 * A reader sees the old file or the new one, never a part: a temporary file in the same folder
 * (".rocelet-XXXXXX", which readers of these folders ignore) is renamed. Files are not synced to
 * disk: they are on tmpfs, or any that differ are written again at the next start; a sync could
 * block the loop for seconds. */
#pragma once

#include <stdbool.h>

#include "err.h"

struct device_folder {
	const char *path; /* created if missing, with its parents */
	bool dry_run;	  /* changes nothing, logs what it would do */
};

/* Is this file to be removed? */
typedef bool device_file_stale_fn(const char *name, void *arg);

/* 1: written, mode 0644; 0: the file already has this content. A dry run returns the same. -EINVAL:
 * the name contains '/' or "..", or is hidden. */
int device_files_write(const struct device_folder *, const char *name, const char *text,
		       struct err *);
/* 1: removed; 0: did not exist. */
int device_files_remove(const struct device_folder *, const char *name, struct err *);
/* Removes stale files, and temporary files left by a crash. Returns their number, or the first
 * error after trying all. A missing folder is no error. */
int device_files_sweep(const struct device_folder *, device_file_stale_fn *, void *arg,
		       struct err *);
