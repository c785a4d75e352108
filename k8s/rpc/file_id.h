/* SPDX-License-Identifier: Apache-2.0 */
/* file_id.h - identifies a socket's file, to detect that the file at a path was replaced. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/* Inode numbers are reused, so the time of creation is included: it is the mtime, because the inode
 * of a socket is not written later. All zero: no file. */
struct file_id {
	dev_t dev;
	ino_t ino;
	struct timespec born;
};

static inline struct file_id file_id_of(const struct stat *st)
{
	if (!S_ISSOCK(st->st_mode))
		return (struct file_id){.ino = 0};
	return (struct file_id){.dev = st->st_dev, .ino = st->st_ino, .born = st->st_mtim};
}

static inline struct file_id file_id_of_socket(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return (struct file_id){.ino = 0};
	return file_id_of(&st);
}

/* Like file_id_of_socket(), but follows a symbolic link at the path. */
static inline struct file_id file_id_of_linked_socket(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct file_id){.ino = 0};
	return file_id_of(&st);
}

static inline bool file_id_is_there(const struct file_id *id)
{
	return id->ino != 0;
}

static inline bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born.tv_sec == b->born.tv_sec &&
	       a->born.tv_nsec == b->born.tv_nsec;
}
