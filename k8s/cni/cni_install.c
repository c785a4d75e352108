// SPDX-License-Identifier: Apache-2.0
#include "cni_install.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "file_io.h"

#define PROGRAM		 "rocelet-cni"
/* Prefix of incomplete copies. */
#define TEMPORARY	 "." PROGRAM "."
/* Suffix of other plugins that are kept aside. */
#define ASIDE		 ".before-rocelet"
#define ASIDE_NAME	 (CNI_INSTALL_NAME + sizeof(ASIDE))
/* The program prints this text if CNI_COMMAND is not set (shim.c); installed copies are recognised
 * by it. */
#define MARK		 "CNI plugin rocelet-cni v"
/* A larger file is not our program, which has about a tenth of this. */
#define SIZE_MAX_OF_OURS ((off_t)16 << 20)

/* --- installed files -------------------------------------------------------------------------- */

static int install_open_dir(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_set(e, -errno, "%.180s: %s", dir, strerror(errno)) : fd;
}

/* Reads a whole file into heap memory. -EEXIST: the file cannot be our program; -errno. */
static int install_read(int at, const char *path, char **ret, size_t *ret_len)
{
	AUTO_FD fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int r = fd < 0 ? -errno : file_read_heap(fd, SIZE_MAX_OF_OURS, ret, ret_len);

	return r == -EINVAL || r == -EFBIG ? -EEXIST : r;
}

static bool install_is_ours(const char *bytes, size_t len)
{
	return bytes && memmem(bytes, len, MARK, sizeof(MARK) - 1) != NULL;
}

/* Returns 1 if the name is a link to our program, 0 if the name is free; -EEXIST: it is another
 * file. */
static int install_check_link(int dir, const char *name)
{
	char target[sizeof(PROGRAM) + 1];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n == sizeof(PROGRAM) - 1 && memcmp(target, PROGRAM, sizeof(PROGRAM) - 1) == 0)
		return 1;
	return n < 0 && errno == ENOENT ? 0 : -EEXIST;
}

/* --- installing ------------------------------------------------------------------------------- */

static bool install_can_set_aside(int dir, const char *name)
{
	char aside[ASIDE_NAME];

	snprintf(aside, sizeof(aside), "%s" ASIDE, name);
	return faccessat(dir, aside, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* The name is free for a moment: on a node that is in use, an ADD may fail. */
static int install_link(int dir, const char *name)
{
	char aside[ASIDE_NAME];
	int r = install_check_link(dir, name);

	snprintf(aside, sizeof(aside), "%s" ASIDE, name);
	if (r == 1)
		return 0;
	if (r == -EEXIST && renameat2(dir, name, dir, aside, RENAME_NOREPLACE) < 0)
		return -errno;
	return symlinkat(PROGRAM, dir, name) < 0 ? -errno : 0;
}

static int install_check_links(int dir, const char *path, const char (*links)[CNI_INSTALL_NAME],
			       size_t n, bool sets_aside, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		if (links[i][0] == '\0' || links[i][0] == '.' || strchr(links[i], '/') ||
		    strcmp(links[i], PROGRAM) == 0)
			return err_set(e, -EINVAL, "\"%s\" cannot be the name of a link", links[i]);
		if (install_check_link(dir, links[i]) < 0 &&
		    !(sets_aside && install_can_set_aside(dir, links[i])))
			return err_set(e, -EEXIST,
				       "%.120s/%s is another plugin; move it away first", path,
				       links[i]);
	}
	return 0;
}

/* Paths of the plugin relative to the folder of this program: in an installation, and in a build.
 */
static const char *const install_sources[] = {"../libexec/rocelet/" PROGRAM, PROGRAM};

/* Gets the path of this program; without /proc, the path that was executed (getauxval(3)). */
static int install_self(char *ret, size_t size, struct err *e)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);
	const char *executed = (const char *)getauxval(AT_EXECFN);

	if (n >= 0)
		ret[n] = '\0';
	else if (executed && executed[0] == '/' && strlen(executed) < size)
		snprintf(ret, size, "%s", executed);
	else
		return err_set(e, -errno, "/proc/self/exe: %s", strerror(errno));
	return 0;
}

static int install_source(char **ret, size_t *ret_len, struct err *e)
{
	char self[PATH_MAX], path[PATH_MAX + 32];
	int r = install_self(self, sizeof(self), e);

	if (r < 0)
		return r;
	r = -ENOENT;
	*(strrchr(self, '/') + 1) = '\0'; /* an absolute path */
	for (size_t i = 0; i < ARRAY_SIZE(install_sources) && r == -ENOENT; i++) {
		snprintf(path, sizeof(path), "%s%s", self, install_sources[i]);
		r = install_read(AT_FDCWD, path, ret, ret_len);
	}
	return r < 0 ? err_set(e, r, "%.180s: %s", path, strerror(-r)) : 0;
}

static int install_write(int fd, const char *bytes, size_t len)
{
	int r = file_write_all(fd, bytes, len);

	/* The mode is set before the rename makes the file visible, by fchmod(), because the umask
	 * applies to open(). */
	if (r == 0 && (fchmod(fd, 0755) < 0 || fsync(fd) < 0))
		r = -errno;
	return r;
}

/* Replaces the file by rename, so that a runtime executes the old or the new program, never a part
 * of it, and never gets ETXTBSY. */
static int install_replace(int dir, const char *bytes, size_t len)
{
	char name[40];
	unsigned long long random;
	int r;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(name, sizeof(name), TEMPORARY "%016llx", random);
	{
		AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				    0700);

		if (fd < 0)
			return -errno;
		r = install_write(fd, bytes, len);
	}
	if (r == 0 && renameat(dir, name, dir, PROGRAM) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir, name, 0);
	else if (fsync(dir) < 0)
		r = -errno;
	return r;
}

int cni_install(const char *dir, const char (*links)[CNI_INSTALL_NAME], size_t n, bool sets_aside,
		struct err *e)
{
	AUTO_FREE char *bytes = NULL;
	AUTO_FD fd = install_open_dir(dir, e);
	size_t len = 0;
	int r;

	if (fd < 0)
		return fd;
	r = install_check_links(fd, dir, links, n, sets_aside, e);
	if (r == 0)
		r = install_source(&bytes, &len, e);
	if (r < 0)
		return r;
	r = install_replace(fd, bytes, len);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = install_link(fd, links[i]);
	return r < 0 ? err_set(e, r, "%.180s: %s", dir, strerror(-r)) : 0;
}

/* --- removing --------------------------------------------------------------------------------- */

static int uninstall_program(int dir)
{
	AUTO_FREE char *bytes = NULL;
	size_t len = 0;
	int r = install_read(dir, PROGRAM, &bytes, &len);

	if (r == -ENOENT)
		return 0;
	if (r == -ELOOP || (r == 0 && !install_is_ours(bytes, len)))
		return -EEXIST;
	return r == 0 && unlinkat(dir, PROGRAM, 0) < 0 ? -errno : r;
}

/* Gives the plugin of a name like "sriov.before-rocelet" its name back, unless another one has it
 * by now; other names: does nothing. */
static int uninstall_restore(int dir, const char *aside)
{
	char name[CNI_INSTALL_NAME];
	size_t len = strlen(aside), n = len - (sizeof(ASIDE) - 1);

	if (len < sizeof(ASIDE) || n >= sizeof(name) || strcmp(aside + n, ASIDE) != 0)
		return 0;
	memcpy(name, aside, n);
	name[n] = '\0';
	if (install_check_link(dir, name) == 1 && unlinkat(dir, name, 0) < 0)
		return -errno;
	return renameat2(dir, aside, dir, name, RENAME_NOREPLACE) < 0 && errno != EEXIST ? -errno
											 : 0;
}

/* Removes links and temporary files, and restores plugins that were set aside. */
static int uninstall_names(int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	AUTO_DIR d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	int r = 0, restored;

	if (!d)
		return -errno;
	while ((entry = readdir(d))) {
		if ((strncmp(entry->d_name, TEMPORARY, sizeof(TEMPORARY) - 1) == 0 ||
		     install_check_link(fd, entry->d_name) == 1) &&
		    unlinkat(fd, entry->d_name, 0) < 0 && errno != ENOENT)
			r = -errno;
		restored = uninstall_restore(fd, entry->d_name);
		r = restored < 0 ? restored : r;
	}
	return r;
}

int cni_uninstall(const char *dir, struct err *e)
{
	AUTO_FD fd = install_open_dir(dir, e);
	int r, names;

	if (fd < 0)
		return fd;
	names = uninstall_names(fd);
	r = uninstall_program(fd);
	if (r == -EEXIST)
		return err_set(e, r, "%.180s/" PROGRAM " is another program, so it is not removed",
			       dir);
	r = r < 0 ? r : names;
	return r < 0 ? err_set(e, r, "%.180s: %s", dir, strerror(-r)) : 0;
}
