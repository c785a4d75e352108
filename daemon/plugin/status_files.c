// SPDX-License-Identifier: Apache-2.0
/* status_files.c - see status_files.h. Names were checked by pod_status_name(), or were read
 * from the status folder. */
#include "status_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_io.h"
#include "pod_status.h"

#define FOLDER_MODE 0755
#define FILE_MODE   0644
/* Name of the file being written, and prefix of folders renamed for removal. */
#define TEMPORARY   "." POD_STATUS_FILE
#define RENAMED	    ".aside-"
/* Maximum number of folders renamed for removal: more of them means that purging fails. */
#define RENAMED_MAX 4096

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

static bool is_renamed(const char *name)
{
	return strncmp(name, RENAMED, sizeof(RENAMED) - 1) == 0;
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
	AUTO_FD root = -1;

	if (run < 0)
		return err_set(e, -errno, "%s: %s", run_dir, strerror(errno));
	root = make ? status_files_make_folder(run, POD_STATUS_DIR)
		    : status_files_open_folder(run, POD_STATUS_DIR);
	if (root >= 0 && !status_files_is_ours(root))
		return err_set(e, -EPERM, "%s/%s: other users can write there", run_dir,
			       POD_STATUS_DIR);
	if (root < 0)
		return err_set(e, root, "%s/%s: %s", run_dir, POD_STATUS_DIR, strerror(-root));
	return take_fd(&root);
}

/* --- folders ---------------------------------------------------------------------------------- */

/* Renames the entry, of any kind, for removal. The new name may be in use; the next number is
 * then tried. 0: there was no entry; 1: done. */
static int rename_for_removal(int root, const char *name)
{
	char renamed[sizeof(RENAMED) + 8];

	for (unsigned i = 0; i < RENAMED_MAX; i++) {
		snprintf(renamed, sizeof(renamed), RENAMED "%u", i);
		if (renameat2(root, name, root, renamed, RENAME_NOREPLACE) == 0)
			return 1;
		if (errno == ENOENT)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EBUSY;
}

int status_files_renew(int root, const char *name, struct err *e)
{
	int r = rename_for_removal(root, name);
	AUTO_FD fd = r < 0 ? r : status_files_make_folder(root, name);

	if (fd >= 0)
		return 0;
	errno = -fd;
	return status_failed("making", name, e);
}

int status_files_folder(int root, const char *name)
{
	int fd = status_files_open_folder(root, name);

	return fd == -ELOOP || fd == -ENOTDIR ? -ENOENT : fd;
}

int status_files_ensure(int root, const char *name, struct err *e)
{
	AUTO_FD fd = status_files_folder(root, name);

	if (fd >= 0 && status_files_is_ours(fd))
		return 0;
	/* A folder must not be replaced only because we are out of descriptors. */
	if (fd < 0 && fd != -ENOENT) {
		errno = -fd;
		return status_failed("opening", name, e);
	}
	return status_files_renew(root, name, e);
}

bool status_files_has_file(int root, const char *name)
{
	AUTO_FD fd = status_files_open_folder(root, name);
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

int status_files_sweep(int root, status_stale_fn *is_stale, void *arg, struct err *e)
{
	AUTO_DIR dir = read_folder(root);
	int n = 0, failure = 0, r;
	struct dirent *entry;

	if (!dir)
		return status_failed("reading", ".", e);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || !is_stale(entry->d_name, arg))
			continue;
		r = rename_for_removal(root, entry->d_name);
		if (r < 0 && failure == 0) {
			errno = -r;
			failure = status_failed("removing", entry->d_name, e);
		}
		n += r > 0;
	}
	return failure < 0 ? failure : n;
}

/* --- on a worker ------------------------------------------------------------------------------ */

/* Removes the files in the folder, which has no subfolders. */
static void empty_folder(int root, const char *name)
{
	AUTO_FD fd = status_files_open_folder(root, name);
	AUTO_DIR dir = fd < 0 ? NULL : read_folder(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(fd, entry->d_name, 0);
}

static int remove_renamed(int root, const char *name)
{
	if (unlinkat(root, name, 0) == 0 || errno == ENOENT)
		return 0;
	empty_folder(root, name);
	return unlinkat(root, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int status_files_purge(int root, struct err *e)
{
	AUTO_DIR dir = read_folder(root);
	int failure = 0, r;
	struct dirent *entry;

	if (!dir)
		return status_failed("reading", ".", e);
	while ((entry = readdir(dir)) != NULL) {
		r = is_renamed(entry->d_name) ? remove_renamed(root, entry->d_name) : 0;
		if (r < 0 && failure == 0) {
			errno = -r;
			failure = status_failed("removing", entry->d_name, e);
		}
	}
	return failure;
}

/* Creates a temporary file. A file left by a crash is removed, not opened. */
static int open_temporary(int folder)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(folder, TEMPORARY, flags, FILE_MODE);

	if (fd < 0 && errno == EEXIST && unlinkat(folder, TEMPORARY, 0) == 0)
		fd = openat(folder, TEMPORARY, flags, FILE_MODE);
	return fd < 0 ? -errno : fd;
}

int status_files_write(int folder, const char *text, size_t len, struct err *e)
{
	AUTO_FD fd = open_temporary(folder);
	int r = fd < 0 ? fd : file_write_all(fd, text, len);

	if (r >= 0 && fchmod(fd, FILE_MODE) < 0)
		r = -errno;
	if (r >= 0 && renameat(folder, TEMPORARY, folder, POD_STATUS_FILE) < 0)
		r = -errno;
	if (r >= 0)
		return 0;
	if (fd >= 0)
		unlinkat(folder, TEMPORARY, 0);
	errno = -r;
	return status_failed("writing", POD_STATUS_FILE, e);
}
