/* SPDX-License-Identifier: Apache-2.0 */
/* statfiles.h - counters in files with one number each, read through open descriptors.
 *
 * A directory is listed once; its files are opened, kept open and read with pread(). If descriptors
 * run out, files are opened for each reading instead. A directory that has changed since makes the
 * whole set stale: the owner must list again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "layout.h"

/* Exceeds the entries of any driver; the rest of a directory is ignored. */
#define STATFILES_PER_DIR 512

struct statdir {
	int fd;
	/* Consecutive numbers of its files: their slots while listing, then their cells. */
	uint32_t first, n;
	struct timespec changed;
};

/* Zero-initialised it is empty. */
struct statfiles {
	struct statdir *dirs;
	size_t n_dirs;
	int *fds; /* descriptors by directory and cell; -1 = opened for each reading */
	size_t n_files;
	bool check_links; /* first reading since the listing: check every file's link count, too */
};

/* Lists a directory, path relative to dir_fd, in the order that is cheapest to read. Returns 0 or a
 * negative errno; -ENOENT is normal. */
int statfiles_add(struct statfiles *, int dir_fd, const char *path, layout_slot_fn *, void *arg);
/* Drops files that the finished layout does not use; call it once. Returns 0 or -ENOMEM. */
int statfiles_trim(struct statfiles *, const struct layout *);
/* Opens the remaining files, as far as descriptors are available. */
void statfiles_open(struct statfiles *, const struct layout *);
void statfiles_done(struct statfiles *);

/* True if a directory has changed since it was listed. */
bool statfiles_stale(const struct statfiles *);
/* Reads all files into their cells. Returns the number of failed readings. */
size_t statfiles_read(struct statfiles *, struct layout *);
/* Like statfiles_read(), for the files that feed these cells; adds their number to *asked. */
size_t statfiles_read_cells(struct statfiles *, struct layout *, const struct cells *,
			    size_t *asked);

/* Pure: parses exactly one unsigned decimal number, with at most one newline after it. */
bool statfile_parse(const char *text, size_t n, uint64_t *ret);
