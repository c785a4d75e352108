/* statfiles.h - counters that are files of one number each, read through held descriptors.
 *
 * A directory is listed once; then its files are opened, kept open and read with pread(). When the
 * descriptors run out, files are opened for each reading instead. A directory that changed since
 * makes the whole set stale: who owns it lists again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "layout.h"

/* More entries than any driver has; the rest of a directory is not looked at. */
#define STATFILES_PER_DIR 512

struct statdir {
	int fd;
	/* Its files: while listing their slots, then their cells. They follow each other. */
	uint32_t first, n;
	struct timespec changed;
};

/* Zero-initialised it is empty. */
struct statfiles {
	struct statdir *dirs;
	size_t n_dirs;
	int *fds; /* of all files, by directory and cell; -1 = open it for each reading */
	size_t n_files;
	bool check_links; /* no reading since they were listed: look at every file's links, too */
};

/* Lists a directory, path relative to dir_fd, in the order that is cheapest to read. 0 or a
 * negative errno; -ENOENT is normal. */
int statfiles_add(struct statfiles *, int dir_fd, const char *path, layout_slot_fn *, void *arg);
/* Forgets what the finished layout does not use; to be called once. 0 or -ENOMEM. */
int statfiles_trim(struct statfiles *, const struct layout *);
/* Opens the files that are left, as far as descriptors go. */
void statfiles_open(struct statfiles *, const struct layout *);
void statfiles_done(struct statfiles *);

/* A directory is no longer what was listed. */
bool statfiles_stale(const struct statfiles *);
/* Reads all files into their slots' cells. Returns the number of readings that failed. */
size_t statfiles_read(struct statfiles *, struct layout *);
/* The same of the files that feed these cells alone; *asked grows by how many those are. */
size_t statfiles_read_cells(struct statfiles *, struct layout *, const struct cells *,
			    size_t *asked);

/* Pure: exactly one unsigned decimal number, at most one newline after it. */
bool statfile_parse(const char *text, size_t n, uint64_t *ret);
