/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_tar.h - writes a gzip'd tar archive of plain files piece by piece: POSIX.1-1988's ustar,
 * which every tar reads. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct gzFile_s;

struct tar {
	struct gzFile_s *gz;
	int64_t mtime; /* of all files, unix time */
	int error;     /* the first error, 0 = none */
};

/* Takes ownership of fd, even if it fails with -ENOMEM. */
int tar_open(struct tar *, int fd, int64_t mtime);
/* Adds a file with mode 0600 and owner root; name: less than 100 bytes. tar_close() reports
 * errors. */
void tar_add(struct tar *, const char *name, const void *data, size_t len);
/* Writes the end of the archive and closes it. Returns 0 or the first error (-ENOSPC ...), after
 * which the archive is incomplete. */
int tar_close(struct tar *);
