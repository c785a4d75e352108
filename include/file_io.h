/* SPDX-License-Identifier: Apache-2.0 */
/* file_io.h - reads and writes whole files, through descriptors. All block, and resume when a
 * signal interrupts them. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Writes all bytes; 0, or -errno with errno set. */
int file_write_all(int fd, const void *bytes, size_t len);
/* Reads from the start of the file to its end, or until the buffer is full. Returns the number of
 * bytes, or -errno. */
ssize_t file_read_all(int fd, void *bytes, size_t size);
/* Like file_read_all(), but from the current position, also of a pipe. */
ssize_t file_read_stream(int fd, void *bytes, size_t size);
/* Like file_read_all(), but into heap memory, not terminated. -EINVAL: not a regular file, -EFBIG:
 * larger than max, -ENOMEM. */
int file_read_heap(int fd, size_t max, char **ret, size_t *ret_len);
