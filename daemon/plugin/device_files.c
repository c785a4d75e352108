// SPDX-License-Identifier: Apache-2.0
#include "device_files.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_io.h"
#include "log.h"

#define FILE_MODE 0644

static const char temporary[] = ".rocelet-";

/* --- names ------------------------------------------------------------------------------------ */

static int check_name(const char *name, struct err *err)
{
	if (name[0] == '\0' || name[0] == '.' || strchr(name, '/'))
		return err_set(err, -EINVAL, "\"%s\" is not a valid file name", name);
	return 0;
}

static int join(char path[PATH_MAX], const struct device_folder *f, const char *name,
		struct err *err)
{
	if (snprintf(path, PATH_MAX, "%s/%s", f->path, name) >= PATH_MAX)
		return err_set(err, -ENAMETOOLONG, "%s: name too long", f->path);
	return 0;
}

static int device_file_failed(struct err *err, const char *what, const char *path)
{
	int r = -errno;

	return err_set(err, r, "%s %s: %s", what, path, strerror(-r));
}

/* Creates the folder and its parents. */
static int device_files_make_folder(const struct device_folder *f, struct err *err)
{
	char path[PATH_MAX];
	size_t len = strlen(f->path);

	if (len >= sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%.64s...: name too long", f->path);
	for (size_t i = 1; i <= len; i++) {
		if (f->path[i] != '/' && f->path[i] != '\0')
			continue;
		memcpy(path, f->path, i);
		path[i] = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return device_file_failed(err, "making", path);
	}
	return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool file_equals(int fd, const char *text, size_t len)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		if ((size_t)n > len || memcmp(buf, text, (size_t)n) != 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return n == 0 && len == 0;
}

/* True if it is a regular, world-readable file with exactly this content. */
static bool device_files_is_current(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 07777) == FILE_MODE && file_equals(fd, text, strlen(text));
}

static int replace(const char *path, const char *temp, int fd, const char *text, struct err *err)
{
	if (fchmod(fd, FILE_MODE) < 0 || file_write_all(fd, text, strlen(text)) < 0)
		return device_file_failed(err, "writing", temp);
	if (rename(temp, path) < 0)
		return device_file_failed(err, "writing", path);
	return 1;
}

/* Returns an open descriptor, or negative errno. */
static int make_temporary(char temp[PATH_MAX], const struct device_folder *f, struct err *err)
{
	char name[sizeof(temporary) + 6];
	int r, fd;

	snprintf(name, sizeof(name), "%sXXXXXX", temporary);
	r = join(temp, f, name, err);
	if (r < 0)
		return r;
	fd = mkostemp(temp, O_CLOEXEC);
	return fd < 0 ? device_file_failed(err, "writing", temp) : fd;
}

/* Creates the folder only if the file cannot be created, because the folder usually exists. */
static int write_file(const struct device_folder *f, const char *path, const char *text,
		      struct err *err)
{
	char temp[PATH_MAX];
	AUTO_FD fd = make_temporary(temp, f, NULL);
	int r;

	if (fd < 0) {
		r = device_files_make_folder(f, err);
		fd = r < 0 ? r : make_temporary(temp, f, err);
	}
	if (fd < 0)
		return fd;
	r = replace(path, temp, fd, text, err);
	if (r < 0)
		unlink(temp);
	return r;
}

int device_files_write(const struct device_folder *f, const char *name, const char *text,
		       struct err *err)
{
	char path[PATH_MAX];
	int r = check_name(name, err);

	if (r == 0)
		r = join(path, f, name, err);
	if (r < 0)
		return r;
	if (device_files_is_current(path, text))
		return 0;
	if (f->dry_run) {
		log_info("files", 0, "dry run: would write %s", path);
		return 1;
	}
	return write_file(f, path, text, err);
}

/* --- removing --------------------------------------------------------------------------------- */

static int remove_file(const struct device_folder *f, const char *name, struct err *err)
{
	char path[PATH_MAX];
	int r = join(path, f, name, err);

	if (r < 0)
		return r;
	if (f->dry_run) {
		if (access(path, F_OK) < 0)
			return 0;
		log_info("files", 0, "dry run: would remove %s", path);
		return 1;
	}
	if (unlink(path) == 0)
		return 1;
	return errno == ENOENT ? 0 : device_file_failed(err, "removing", path);
}

int device_files_remove(const struct device_folder *f, const char *name, struct err *err)
{
	int r = check_name(name, err);

	return r < 0 ? r : remove_file(f, name, err);
}

static bool is_temporary(const char *name)
{
	return strncmp(name, temporary, sizeof(temporary) - 1) == 0;
}

int device_files_sweep(const struct device_folder *f, device_file_stale_fn *stale, void *arg,
		       struct err *err)
{
	AUTO_DIR dir = opendir(f->path);
	int removed = 0, failure = 0, r;
	struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : device_file_failed(err, "reading", f->path);
	while ((entry = readdir(dir)) != NULL) {
		if (!is_temporary(entry->d_name) &&
		    (entry->d_name[0] == '.' || !stale(entry->d_name, arg)))
			continue;
		r = remove_file(f, entry->d_name, failure < 0 ? NULL : err);
		if (r < 0 && failure == 0)
			failure = r;
		else if (r > 0)
			removed++;
	}
	return failure < 0 ? failure : removed;
}
