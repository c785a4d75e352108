// SPDX-License-Identifier: Apache-2.0
/* status_files.c - see status_files.h. Names were checked by pod_status_name(), or come from the
 * folder itself. */
#include "status_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "pod_status.h"

#define FOLDER_MODE 0755
#define FILE_MODE   0644
/* Names of the file being written, and prefix of folders put aside. */
#define FRESH	    "." POD_STATUS_FILE
#define ASIDE	    ".aside-"
/* Maximum number of put-aside folders: more of them means that purging fails. */
#define ASIDE_MAX   4096

static int status_failed(const char *what, const char *name, struct err *e)
{
	int r = -errno;

	return err_set(e, r, "%s %s/%s: %s", what, POD_STATUS_DIR, name, strerror(-r));
}

static int status_files_open_folder(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool status_files_is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_aside(const char *name)
{
	return strncmp(name, ASIDE, sizeof(ASIDE) - 1) == 0;
}

/* Returns a descriptor. Sets the mode again, because mkdir(2) applies the umask. */
static int status_files_make_folder(int dir, const char *name)
{
	AUTO_FD fd = -1;

	if (mkdirat(dir, name, FOLDER_MODE) < 0 && errno != EEXIST)
		return -errno;
	fd = status_files_open_folder(dir, name);
	if (fd < 0)
		return fd;
	if (!status_files_is_ours(fd))
		return -EPERM;
	if (fchmod(fd, FOLDER_MODE) < 0)
		return -errno;
	return take_fd(&fd);
}

int status_files_open(const char *run_dir, bool make, struct err *e)
{
	AUTO_FD run = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD all = -1;

	if (run < 0)
		return err_set(e, -errno, "%s: %s", run_dir, strerror(errno));
	all = make ? status_files_make_folder(run, POD_STATUS_DIR)
		   : status_files_open_folder(run, POD_STATUS_DIR);
	if (all >= 0 && !status_files_is_ours(all))
		return err_set(e, -EPERM, "%s/%s: other users can write there", run_dir,
			       POD_STATUS_DIR);
	if (all < 0)
		return err_set(e, all, "%s/%s: %s", run_dir, POD_STATUS_DIR, strerror(-all));
	return take_fd(&all);
}

/* --- folders ---------------------------------------------------------------------------------- */

/* Moves the entry aside, whatever it is. A name that is taken may be of another kind, or not empty.
 * 0: there was nothing, 1: done. */
static int put_aside(int all, const char *name)
{
	char aside[sizeof(ASIDE) + 8];

	for (unsigned i = 0; i < ASIDE_MAX; i++) {
		snprintf(aside, sizeof(aside), ASIDE "%u", i);
		if (renameat2(all, name, all, aside, RENAME_NOREPLACE) == 0)
			return 1;
		if (errno == ENOENT)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EBUSY;
}

int status_files_renew(int all, const char *name, struct err *e)
{
	int r = put_aside(all, name);
	AUTO_FD fd = r < 0 ? r : status_files_make_folder(all, name);

	if (fd >= 0)
		return 0;
	errno = -fd;
	return status_failed("making", name, e);
}

int status_files_folder(int all, const char *name)
{
	int fd = status_files_open_folder(all, name);

	return fd == -ELOOP || fd == -ENOTDIR ? -ENOENT : fd;
}

int status_files_ensure(int all, const char *name, struct err *e)
{
	AUTO_FD fd = status_files_folder(all, name);

	if (fd >= 0 && status_files_is_ours(fd))
		return 0;
	/* Do not replace a folder only because we are out of descriptors. */
	if (fd < 0 && fd != -ENOENT) {
		errno = -fd;
		return status_failed("opening", name, e);
	}
	return status_files_renew(all, name, e);
}

bool status_files_has_file(int all, const char *name)
{
	AUTO_FD fd = status_files_open_folder(all, name);
	struct stat st;

	return fd >= 0 && fstatat(fd, POD_STATUS_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Uses a separate descriptor, which closedir() closes. */
static DIR *read_folder(int fd)
{
	AUTO_FD own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);

	if (dir)
		take_fd(&own);
	return dir;
}

int status_files_sweep(int all, status_stale_fn *is_stale, void *arg, struct err *e)
{
	AUTO_DIR dir = read_folder(all);
	int n = 0, failure = 0, r;
	struct dirent *entry;

	if (!dir)
		return status_failed("reading", ".", e);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || !is_stale(entry->d_name, arg))
			continue;
		r = put_aside(all, entry->d_name);
		if (r < 0 && failure == 0) {
			errno = -r;
			failure = status_failed("removing", entry->d_name, e);
		}
		n += r > 0;
	}
	return failure < 0 ? failure : n;
}

/* --- on a worker ------------------------------------------------------------------------------ */

/* Removes the files in it; it has no subfolders. */
static void empty_folder(int all, const char *name)
{
	AUTO_FD fd = status_files_open_folder(all, name);
	AUTO_DIR dir = fd < 0 ? NULL : read_folder(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(fd, entry->d_name, 0);
}

static int remove_aside(int all, const char *name)
{
	if (unlinkat(all, name, 0) == 0 || errno == ENOENT)
		return 0;
	empty_folder(all, name);
	return unlinkat(all, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int status_files_purge(int all, struct err *e)
{
	AUTO_DIR dir = read_folder(all);
	int failure = 0, r;
	struct dirent *entry;

	if (!dir)
		return status_failed("reading", ".", e);
	while ((entry = readdir(dir)) != NULL) {
		r = is_aside(entry->d_name) ? remove_aside(all, entry->d_name) : 0;
		if (r < 0 && failure == 0) {
			errno = -r;
			failure = status_failed("removing", entry->d_name, e);
		}
	}
	return failure;
}

static int write_whole(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A file left by a crash is removed, not opened. */
static int open_fresh(int folder)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(folder, FRESH, flags, FILE_MODE);

	if (fd < 0 && errno == EEXIST && unlinkat(folder, FRESH, 0) == 0)
		fd = openat(folder, FRESH, flags, FILE_MODE);
	return fd < 0 ? -errno : fd;
}

int status_files_write(int folder, const char *text, size_t len, struct err *e)
{
	AUTO_FD fd = open_fresh(folder);
	int r = fd < 0 ? fd : write_whole(fd, text, len);

	if (r >= 0 && fchmod(fd, FILE_MODE) < 0)
		r = -errno;
	if (r >= 0 && renameat(folder, FRESH, folder, POD_STATUS_FILE) < 0)
		r = -errno;
	if (r >= 0)
		return 0;
	if (fd >= 0)
		unlinkat(folder, FRESH, 0);
	errno = -r;
	return status_failed("writing", POD_STATUS_FILE, e);
}
