/* SPDX-License-Identifier: Apache-2.0 */
/* status_files.h - the folders in which containers read the status of their devices, and the file
 * in each.
 *
 * A container sees its folder through a bind mount, even after the folder was renamed. So a device
 * that is allocated again gets a new folder, and the old one is renamed to a hidden name, emptied
 * and removed. Nothing is synced to disk: this is a run folder.
 *
 * A container can only read, but root in a container may take leases on open files, which block
 * other openers for up to 45 s (F_SETLEASE of fcntl(2); newer kernels have leases on folders, too).
 * So a file is never opened again once it has its final name, and entries of a folder are created
 * or removed on a worker only. Only functions marked "In the loop" may be called there. Symbolic
 * links are never followed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

/* In the loop. Returns a descriptor of run_dir/pod-status. -ENOENT: it does not exist and `make` is
 * false. -EPERM: other users can write there. */
int status_files_open(const char *run_dir, bool make, struct err *);
/* In the loop. Creates an empty folder; an existing entry with that name is replaced. */
int status_files_renew(int root, const char *name, struct err *);
/* In the loop. Makes sure that there is a folder of this name, writable by us alone; anything else
 * with that name is replaced. */
int status_files_ensure(int root, const char *name, struct err *);
/* In the loop. Returns a descriptor of the folder, for a worker. -ENOENT: no folder has this name.
 */
int status_files_folder(int root, const char *name);
/* In the loop. True if the folder has a status file. */
bool status_files_has_file(int root, const char *name);

/* True if this folder must be removed. */
typedef bool status_stale_fn(const char *name, void *arg);

/* In the loop. Renames stale folders for removal; returns their number, or the first error after
 * trying all of them. */
int status_files_sweep(int root, status_stale_fn *, void *arg, struct err *);
/* On a worker. Removes the folders that were renamed for removal. */
int status_files_purge(int root, struct err *);
/* On a worker. Writes the status file; a reader sees the old file or the new one. -ENOENT: the
 * folder was removed. */
int status_files_write(int folder, const char *text, size_t len, struct err *);
