/* file_id.h - whether a socket's file is still the one it was: a path may get another file at any
 * time. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/* Inodes are used again, so the time of birth belongs to it: nobody writes to a socket's inode, its
 * mtime stays. All zero: no file. */
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

/* The path may be a link to it. */
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
