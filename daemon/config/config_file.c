// SPDX-License-Identifier: Apache-2.0
/* config_file.c - reads through one descriptor, and compares the file's status before and after. */
#include "config_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_io.h"
#include "fnv.h"

/* Number of attempts while the file is being written; a watch reports when the writer is done. */
#define ATTEMPTS 5

static bool same_version(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Reads the file once. 0: it changed during the read; 1: success. */
static int read_version(int fd, char *text, size_t *ret_len, const char *path, struct err *e)
{
	struct stat before, after;
	ssize_t n;

	if (fstat(fd, &before) < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(before.st_mode))
		return err_set(e, -EINVAL, "%s: not a file", path);
	if (before.st_size > CONFIG_FILE_MAX)
		return err_set(e, -EFBIG, "%s: larger than %d bytes", path, CONFIG_FILE_MAX);
	n = file_read_all(fd, text, CONFIG_FILE_MAX + 1);
	if (n < 0)
		return err_set(e, (int)n, "%s: %s", path, strerror((int)-n));
	if (fstat(fd, &after) < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	*ret_len = (size_t)n;
	return same_version(&before, &after) && n == before.st_size;
}

/* Copies the text into exactly its size, because it may be kept as long as the daemon runs. */
static int config_file_keep(struct config_file *ret, const char *text, size_t len, const char *path,
			    struct err *e)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	memcpy(copy, text, len);
	copy[len] = '\0';
	ret->text = copy;
	ret->len = len;
	return 0;
}

/* Reads the file again while it changes. The buffer has room for the largest file. */
static int read_stable(int fd, char *text, size_t *ret_len, const char *path, struct err *e)
{
	int r = 0;

	for (int i = 0; i < ATTEMPTS && r == 0; i++)
		r = read_version(fd, text, ret_len, path, e);
	return r == 0 ? err_set(e, -EAGAIN, "%s: keeps changing while it is read", path) : r;
}

int config_file_read(struct config_file *ret, const char *path, struct err *e)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t len = 0;
	char *text;
	int r;

	if (fd < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	text = malloc(CONFIG_FILE_MAX + 1);
	if (!text)
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	r = read_stable(fd, text, &len, path, e);
	if (r >= 0)
		r = config_file_keep(ret, text, len, path, e);
	free(text);
	return r;
}

int config_file_read_stdin(struct config_file *ret, struct err *e)
{
	AUTO_FREE char *text = malloc(CONFIG_FILE_MAX + 1);
	ssize_t n = text ? file_read_stream(STDIN_FILENO, text, CONFIG_FILE_MAX + 1) : -ENOMEM;

	if (n < 0)
		return err_set(e, (int)n, "stdin: %s", strerror((int)-n));
	if (n > CONFIG_FILE_MAX)
		return err_set(e, -EFBIG, "stdin: larger than %d bytes", CONFIG_FILE_MAX);
	return config_file_keep(ret, text, (size_t)n, "stdin", e);
}

uint64_t config_file_digest(const struct config_file *f)
{
	return f->text ? fnv1a(FNV1A_START, f->text, f->len) : 0;
}

void config_file_done(struct config_file *f)
{
	free(f->text);
	memset(f, 0, sizeof(*f));
}
