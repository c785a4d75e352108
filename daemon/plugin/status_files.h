/* status_files.h - the folders in which containers read how their devices do, and the file in each.
 *
 * A container has a folder by a bind mount, so it sees what is in that folder, whatever bears its
 * name later: a device that is given away anew gets a new folder, and the old one is put aside
 * under a hidden name, emptied and removed. Nothing is synced to the disk: it is a run folder.
 *
 * A container reads only, but root in one may take leases on what it has opened, which let others
 * wait for up to 45 s (F_SETLEASE of fcntl(2), and of newer kernels those on folders). So no file
 * is ever opened again once it has its name, and inside of a folder something is made or removed on
 * a worker only: what is marked so may be called in the loop. Never through a symbolic link. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

/* In the loop. A descriptor of run_dir/pod-status, -ENOENT: it is not there and not to be made.
 * -EPERM: others may write there. */
int status_files_open(const char *run_dir, bool make, struct err *);
/* In the loop. An empty folder in place of whatever has that name now. */
int status_files_renew(int all, const char *name, struct err *);
/* In the loop. There is a folder of this name, ours alone; what else has the name is replaced. */
int status_files_ensure(int all, const char *name, struct err *);
/* In the loop. A descriptor of it, for a worker; -ENOENT: there is none, or no folder has its name.
 */
int status_files_folder(int all, const char *name);
/* In the loop. Is there a file in it? */
bool status_files_has_file(int all, const char *name);

/* To be removed? */
typedef bool status_stale_fn(const char *name, void *arg);

/* In the loop. Puts aside what is stale; how many. The first error, after everything else was
 * tried. */
int status_files_sweep(int all, status_stale_fn *, void *arg, struct err *);
/* On a worker. Removes what was put aside. */
int status_files_purge(int all, struct err *);
/* On a worker. A reader sees the old file or the new one. -ENOENT: the folder was removed. */
int status_files_write(int folder, const char *text, size_t len, struct err *);
