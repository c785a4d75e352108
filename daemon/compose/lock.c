// SPDX-License-Identifier: Apache-2.0
#include "lock.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "folders.h"
#include "kill_point.h"
#include "log.h"
#include "utf8.h"

static const char file_name[] = "lock";

/* Maximum number of tries, in case another process keeps deleting and creating the file. */
#define ATTEMPTS 100

/* --- the owner -------------------------------------------------------------------------------- */

/* Parses a line of /proc/locks, such as "1: FLOCK  ADVISORY  WRITE 1234 08:01:131075 0 EOF". True
 * if it is a lock of that folder. */
static bool is_lock_of(const char *line, const struct stat *st, int *ret_pid)
{
	unsigned maj, min;
	unsigned long ino;

	return sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", ret_pid, &maj, &min, &ino) == 4 &&
	       maj == major(st->st_dev) && min == minor(st->st_dev) && ino == st->st_ino;
}

/* Returns the pid of the process that locks the folder according to the kernel, preferring one of
 * our user; 0 = unknown. */
static int find_holder(const struct hw *hw, int folder, bool *ret_other_user)
{
	AUTO_FD fd = hw->proc_fd < 0 ? -1 : openat(hw->proc_fd, "locks", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st, process;
	char line[256], name[16];
	int pid, found = 0;

	*ret_other_user = false;
	if (!f)
		return 0;
	(void)take_fd(&fd);
	while (fstat(folder, &st) == 0 && (!found || *ret_other_user) &&
	       fgets(line, sizeof(line), f)) {
		if (!is_lock_of(line, &st, &pid) || pid <= 0)
			continue;
		snprintf(name, sizeof(name), "%d", pid);
		found = pid;
		*ret_other_user = fstatat(hw->proc_fd, name, &process, 0) == 0 &&
				  process.st_uid != geteuid();
	}
	fclose(f);
	return found;
}

/* Returns a description of the process that has the lock. The contents of the file are untrusted,
 * because others may have written it. */
static void read_holder(const struct hw *hw, int folder, char *ret, size_t size)
{
	AUTO_FD fd = openat(folder, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : pread(fd, ret, size - 1, 0);
	bool is_other_user;
	int pid;

	ret[n > 0 ? n : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	if (ret[0] && utf8_is_name(ret, size))
		return;
	pid = find_holder(hw, folder, &is_other_user);
	snprintf(ret, size, pid ? "pid %d" : "an unidentified process", pid);
}

static int lock_is_held(const struct hw *hw, int folder, const char *path, struct err *e)
{
	char holder[180];

	read_holder(hw, folder, holder, sizeof(holder));
	return err_set(e, -EALREADY, "%s is in use by another rocelet: %s", path, holder);
}

static int cannot(const char *path, int r, struct err *e)
{
	return err_set(e, r, "%s cannot be locked: %s", path, strerror(-r));
}

/* --- the file --------------------------------------------------------------------------------- */

/* False if the file was deleted or replaced. */
static bool is_current(int folder, int fd)
{
	struct stat open, there;

	return fstat(fd, &open) == 0 &&
	       fstatat(folder, file_name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

static int lock_open_file(int folder)
{
	int fd = openat(folder, file_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			0600);

	return fd < 0 ? -errno : fd;
}

/* Opens and locks the file. Tries again if it was deleted before we locked it, because that lock is
 * not valid. */
static int lock_file(int folder)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		AUTO_FD fd = lock_open_file(folder);

		if (fd < 0)
			return fd;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return -errno;
		if (is_current(folder, fd))
			return take_fd(&fd);
	}
	return -EBUSY;
}

static void write_self(int fd, const char *self)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%.*s\n", (int)sizeof(line) - 2, self);

	/* best effort: the line is only for people */
	if (ftruncate(fd, 0) < 0 || pwrite(fd, line, (size_t)n, 0) < 0)
		return;
}

/* --- the folder ------------------------------------------------------------------------------- */

/* Locks the folder. Any user who can read a folder can lock it, so the lock of another user is
 * ignored. If the file system cannot lock folders, the file's lock is sufficient. */
static int lock_folder(const struct hw *hw, int folder, bool *ret_locked)
{
	bool is_other_user;

	*ret_locked = flock(folder, LOCK_EX | LOCK_NB) == 0;
	if (*ret_locked || errno != EWOULDBLOCK)
		return 0;
	return find_holder(hw, folder, &is_other_user) && is_other_user ? 0 : -EWOULDBLOCK;
}

static uint64_t lock_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- both ------------------------------------------------------------------------------------- */

static int take(struct lock *l, const struct hw *hw, const char *path, const char *self,
		struct err *e)
{
	bool locked;
	int r = 0;

	l->folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->folder_fd < 0)
		return cannot(path, -errno, e);
	kill_point("lock", "before");
	l->file_fd = lock_file(l->folder_fd);
	if (l->file_fd == -EWOULDBLOCK || lock_folder(hw, l->folder_fd, &locked) < 0)
		return lock_is_held(hw, l->folder_fd, path, e);
	/* If the file cannot be created (disk full or read-only), the folder's lock is
	 * sufficient. */
	if (l->file_fd < 0 && l->file_fd != -EROFS && !locked)
		r = cannot(path, l->file_fd, e);
	if (l->file_fd >= 0)
		write_self(l->file_fd, self);
	kill_point("lock", "after");
	return r;
}

int lock_take(struct lock *ret, const struct hw *hw, const char *folder, mode_t mode,
	      const char *self, struct err *e)
{
	struct lock l = LOCK_NONE;
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s", folder);
	r = make_folders(path, mode);
	if (access(path, F_OK) < 0)
		return cannot(path, r < 0 ? r : -errno, e);
	r = take(&l, hw, path, self, e);
	if (r < 0)
		lock_release(&l);
	else
		*ret = l;
	return r;
}

bool lock_is_of(const struct lock *l, const char *folder)
{
	struct stat had, there;

	return l->folder_fd >= 0 && fstat(l->folder_fd, &had) == 0 && stat(folder, &there) == 0 &&
	       had.st_dev == there.st_dev && had.st_ino == there.st_ino;
}

bool lock_is_free(const char *folder)
{
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

int lock_wait(int (*attempt)(void *arg, struct err *), uint64_t wait_ms,
	      void (*meanwhile)(uint64_t left_ms, void *arg), void *arg, struct err *e)
{
	const struct timespec moment = {.tv_nsec = 50 * 1000000L};
	const uint64_t until = lock_now_ms() + wait_ms;
	bool logged = false;
	int r;

	while ((r = attempt(arg, e)) == -EALREADY && lock_now_ms() < until) {
		if (!logged)
			log_info("lock", 0, "%s, waiting %llu s for its exit", e->msg,
				 (unsigned long long)(wait_ms + 999) / 1000);
		logged = true;
		if (meanwhile)
			meanwhile(until - lock_now_ms(), arg);
		nanosleep(&moment, NULL);
	}
	return r;
}

void lock_release(struct lock *l)
{
	/* A process that has opened the file already detects the deletion after locking it. */
	if (l->file_fd >= 0 && is_current(l->folder_fd, l->file_fd))
		unlinkat(l->folder_fd, file_name, 0);
	if (l->file_fd >= 0)
		close(l->file_fd);
	if (l->folder_fd >= 0)
		close(l->folder_fd);
	*l = LOCK_NONE;
}
