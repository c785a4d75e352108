/* ctl_tar.h - a gzip'd tar archive of plain files, written as it grows: POSIX.1-1988's ustar, which
 * every tar reads. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct gzFile_s;

struct tar {
	struct gzFile_s *gz;
	int64_t mtime; /* of all files, unix time */
	int error;     /* the first one, 0 = none */
};

/* Takes the descriptor, also when it fails with -ENOMEM. */
int tar_open(struct tar *, int fd, int64_t mtime);
/* name: less than 100 bytes. Mode 0600, root's. Errors are kept for the end. */
void tar_add(struct tar *, const char *name, const void *data, size_t len);
/* Writes the end and closes. 0, or the first error (-ENOSPC ...): then the archive is not whole. */
int tar_close(struct tar *);
