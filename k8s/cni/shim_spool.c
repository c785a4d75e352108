// SPDX-License-Identifier: Apache-2.0
#include "shim_spool.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "folders.h"
#include "kill_point.h"
#include "shim_error.h"

#define SHIM_NAME_SIZE	48
/* Attempts, in case the daemon removes the file between creation and lock. It reads the folder at
 * each change, so it may come in time for several. */
#define SHIM_NAME_TRIES 100

/* Another user who can write there could forge requests to the daemon. */
static int shim_check_folder(int fd, const char *name, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(e, -errno, "%s: %s", name, shim_errno(errno));
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, -EPERM, "%s: users other than root can write there", name);
	return 0;
}

/* A descriptor. at: AT_FDCWD, or the folder above, in which links are not followed. */
static int shim_open_folder(int at, const char *name, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (at == AT_FDCWD ? 0 : O_NOFOLLOW);
	AUTO_FD fd = openat(at, name, flags);
	int r;

	if (fd < 0 && at != AT_FDCWD && errno == ENOENT) {
		(void)mkdirat(at, name, 0700);
		fd = openat(at, name, flags);
	}
	if (fd < 0)
		return err_set(e, -errno, "%s: %s", name, shim_errno(errno));
	r = shim_check_folder(fd, name, e);
	return r < 0 ? r : take_fd(&fd);
}

static int shim_open_spool(const char *state_dir, struct err *e)
{
	char path[PATH_MAX];
	AUTO_FD state = -1;
	AUTO_FD cni = -1;

	if (snprintf(path, sizeof(path), "%s", state_dir) >= (int)sizeof(path))
		return err_set(e, -ENAMETOOLONG, "%.100s...: ENAMETOOLONG", state_dir);
	(void)make_folders(path, 0700); /* a failure shows in the next call */
	state = shim_open_folder(AT_FDCWD, state_dir, e);
	if (state < 0)
		return state;
	cni = shim_open_folder(state, "cni", e);
	return cni < 0 ? cni : shim_open_folder(cni, "del", e);
}

/* ".RANDOM.json": process IDs repeat in other PID namespaces. */
static int shim_new_name(char name[SHIM_NAME_SIZE])
{
	unsigned char bytes[16];
	char *out = name;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	*out++ = '.';
	for (size_t i = 0; i < sizeof(bytes); i++, out += 2)
		snprintf(out, 3, "%02x", bytes[i]);
	strcpy(out, ".json");
	return 0;
}

static int shim_write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		left -= (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* Locks the file, because the daemon removes incomplete files that it can lock. -EAGAIN: the daemon
 * locked it first and has removed the name. */
static int shim_lock(int fd)
{
	struct stat st;
	int r;

	while ((r = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
		;
	if (r < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_nlink ? 0 : -EAGAIN;
}

/* A descriptor of a new file, locked until it is closed. */
static int shim_create(int dir, char name[SHIM_NAME_SIZE])
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int r = -EAGAIN;

	for (unsigned i = 0; i < SHIM_NAME_TRIES && r == -EAGAIN; i++) {
		AUTO_FD fd = -1;

		r = shim_new_name(name);
		if (r < 0)
			return r;
		fd = openat(dir, name, flags, 0600);
		if (fd < 0)
			return -errno;
		r = shim_lock(fd);
		if (r == 0)
			return take_fd(&fd);
		unlinkat(dir, name, 0);
	}
	return r;
}

int shim_spool_put(const char *state_dir, const char *body, struct err *e)
{
	char name[SHIM_NAME_SIZE];
	AUTO_FD dir = shim_open_spool(state_dir, e);
	AUTO_FD fd = -1;
	int r;

	if (dir < 0)
		return err_wrap(e, "%.100s", state_dir);
	fd = shim_create(dir, name);
	r = fd < 0 ? fd : shim_write_all(fd, body);
	kill_point("cni-spool", "before");
	if (r == 0 && renameat(dir, name, dir, name + 1) < 0)
		r = -errno;
	if (r < 0 && fd >= 0)
		unlinkat(dir, name, 0);
	if (r == 0 && fsync(dir) < 0)
		r = -errno;
	kill_point("cni-spool", "after");
	return r < 0 ? err_set(e, r, "%.100s/cni/del: %s", state_dir, shim_errno(r)) : 0;
}
