// SPDX-License-Identifier: Apache-2.0
#include "cni_install.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "cleanup.h"

#define PROGRAM		 "rocelet-cni"
/* Prefix of incomplete copies. */
#define TEMPORARY	 "." PROGRAM "."
/* The text that the program prints without CNI_COMMAND (shim.c). */
#define MARK		 "CNI plugin rocelet-cni v"
/* Ten times the size of the program. */
#define SIZE_MAX_OF_OURS ((off_t)16 << 20)

/* --- installed files -------------------------------------------------------------------------- */

static int install_open_dir(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_set(e, -errno, "%.180s: %s", dir, strerror(errno)) : fd;
}

/* Reads a whole file into heap memory; -errno. */
static int install_read(int at, const char *path, char **ret, size_t *ret_len)
{
	AUTO_FD fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	AUTO_FREE char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > SIZE_MAX_OF_OURS)
		return -EEXIST;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	n = read(fd, text, (size_t)st.st_size);
	if (n != st.st_size)
		return n < 0 ? -errno : -EIO;
	*ret = take_ptr(text);
	*ret_len = (size_t)n;
	return 0;
}

static bool install_is_ours(const char *bytes, size_t len)
{
	return bytes && memmem(bytes, len, MARK, sizeof(MARK) - 1) != NULL;
}

/* 1: the name is a link to our program; 0: the name is free; -EEXIST: something else. */
static int install_judge_link(int dir, const char *name)
{
	char target[sizeof(PROGRAM) + 1];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n == sizeof(PROGRAM) - 1 && memcmp(target, PROGRAM, sizeof(PROGRAM) - 1) == 0)
		return 1;
	return n < 0 && errno == ENOENT ? 0 : -EEXIST;
}

/* --- installing ------------------------------------------------------------------------------- */

static int install_check_links(int dir, const char *path, const char (*links)[CNI_INSTALL_NAME],
			       size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		if (links[i][0] == '\0' || links[i][0] == '.' || strchr(links[i], '/') ||
		    strcmp(links[i], PROGRAM) == 0)
			return err_set(e, -EINVAL, "\"%s\" cannot be the name of a link", links[i]);
		if (install_judge_link(dir, links[i]) < 0)
			return err_set(e, -EEXIST,
				       "%.120s/%s is another plugin; move it away first", path,
				       links[i]);
	}
	return 0;
}

/* Relative to the folder of this program: when installed, and in the build. */
static const char *const install_sources[] = {"../libexec/rocelet/" PROGRAM, PROGRAM};

/* The path of this program; without /proc, the path that was executed (getauxval(3)). */
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
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes += n;
		len -= (size_t)n;
	}
	/* Set before the rename makes the file visible; fchmod() because the umask applies to
	 * open(). */
	return fchmod(fd, 0755) < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* Replaces the file by rename: a runtime executes the old or the new program, never a part, and
 * never gets ETXTBSY. */
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

int cni_install(const char *dir, const char (*links)[CNI_INSTALL_NAME], size_t n, struct err *e)
{
	AUTO_FREE char *bytes = NULL;
	AUTO_FD fd = install_open_dir(dir, e);
	size_t len = 0;
	int r;

	if (fd < 0)
		return fd;
	r = install_check_links(fd, dir, links, n, e);
	if (r == 0)
		r = install_source(&bytes, &len, e);
	if (r < 0)
		return r;
	r = install_replace(fd, bytes, len);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (install_judge_link(fd, links[i]) == 0 && symlinkat(PROGRAM, fd, links[i]) < 0)
			r = -errno;
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

/* Removes links and temporary files. */
static int uninstall_names(int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	AUTO_DIR d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	int r = 0;

	if (!d)
		return -errno;
	while ((entry = readdir(d)))
		if ((strncmp(entry->d_name, TEMPORARY, sizeof(TEMPORARY) - 1) == 0 ||
		     install_judge_link(fd, entry->d_name) == 1) &&
		    unlinkat(fd, entry->d_name, 0) < 0 && errno != ENOENT)
			r = -errno;
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
		return err_set(e, r, "%.180s/" PROGRAM " is another program, it stays", dir);
	r = r < 0 ? r : names;
	return r < 0 ? err_set(e, r, "%.180s: %s", dir, strerror(-r)) : 0;
}
