// SPDX-License-Identifier: Apache-2.0
#include "uds_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cleanup.h"

#define BACKLOG	  64
/* Length of our temporary names: seven random characters after a dot, because kubelets ignore names
 * with a leading dot in plugins_registry/. */
#define TEMPORARY 8
#define TRIES	  8

int uds_address(struct sockaddr_un *ret, const char *path, struct err *e)
{
	size_t len = strlen(path);

	if (len == 0 || len >= sizeof(ret->sun_path))
		return err_set(e, -ENAMETOOLONG, "\"%s\": a socket's path has 1 to %zu bytes", path,
			       sizeof(ret->sun_path) - 1);
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(ret->sun_path, path, len);
	return 0;
}

static int new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* --- listening -------------------------------------------------------------------------------- */

/* Makes a random name in the same folder; false = too long. */
static bool temporary_name(struct sockaddr_un *ret, const struct sockaddr_un *sa)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	const char *slash = strrchr(sa->sun_path, '/');
	size_t dir = slash ? (size_t)(slash - sa->sun_path) + 1 : 0;
	unsigned char random[TEMPORARY - 1] = {0};

	if (dir + TEMPORARY >= sizeof(ret->sun_path))
		return false;
	if (getrandom(random, sizeof(random), 0) < 0)
		return false;
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(ret->sun_path, sa->sun_path, dir);
	ret->sun_path[dir] = '.';
	for (size_t i = 0; i < sizeof(random); i++)
		ret->sun_path[dir + 1 + i] = letters[random[i] % 32];
	return true;
}

static int bind_temporary(int fd, const struct sockaddr_un *sa, struct sockaddr_un *ret)
{
	int r = -ENAMETOOLONG;

	for (int i = 0; i < TRIES && temporary_name(ret, sa); i++) {
		r = bind(fd, (struct sockaddr *)ret, sizeof(*ret)) < 0 ? -errno : 0;
		if (r != -EADDRINUSE)
			break;
	}
	return r;
}

/* Listens, sets the mode, and then renames the file, so that it is visible only when the socket
 * accepts connections. Other device plugins may share the folder, so a symlink that one of them
 * puts in the file's place is not followed. */
static int uds_publish(int fd, const struct sockaddr_un *temporary, const struct sockaddr_un *sa,
		       uint32_t mode, struct stat *ret_file)
{
	if (listen(fd, BACKLOG) < 0 || lstat(temporary->sun_path, ret_file) < 0)
		return -errno;
	/* Needs procfs (fchmodat(3)), but is rarely necessary. */
	if ((ret_file->st_mode & 07777) != mode &&
	    fchmodat(AT_FDCWD, temporary->sun_path, mode, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return rename(temporary->sun_path, sa->sun_path) < 0 ? -errno : 0;
}

/* Creates a listening socket. Sets the mode before bind(), which gives the file the mode of the
 * socket's inode, less the umask (unix_bind_bsd() in linux/net/unix/af_unix.c); so the file is
 * never more open than requested. */
static int listen_at(const struct sockaddr_un *sa, uint32_t mode, struct stat *ret_file)
{
	struct sockaddr_un temporary;
	AUTO_FD fd = new_socket();
	int r;

	if (fd < 0)
		return fd;
	if (fchmod(fd, mode) < 0)
		return -errno;
	r = bind_temporary(fd, sa, &temporary);
	if (r < 0)
		return r;
	r = uds_publish(fd, &temporary, sa, mode, ret_file);
	if (r < 0) {
		unlink(temporary.sun_path);
		return r;
	}
	return take_fd(&fd);
}

int uds_listen(const struct sockaddr_un *sa, uint32_t mode, struct stat *ret_file, struct err *e)
{
	struct stat st;
	int fd;

	if (lstat(sa->sun_path, &st) == 0 && !S_ISSOCK(st.st_mode))
		return err_set(e, -EEXIST,
			       "cannot listen on %s: the file exists and is not a socket",
			       sa->sun_path);
	fd = listen_at(sa, mode, ret_file);
	return fd < 0 ? err_set(e, fd, "cannot listen on %s: %s", sa->sun_path, strerror(-fd)) : fd;
}

bool uds_is_ours(const struct sockaddr_un *sa, const struct stat *file)
{
	struct stat st;

	return lstat(sa->sun_path, &st) == 0 && st.st_dev == file->st_dev &&
	       st.st_ino == file->st_ino;
}

/* --- connected -------------------------------------------------------------------------------- */

int uds_connect(const struct sockaddr_un *sa)
{
	AUTO_FD fd = new_socket();

	if (fd < 0)
		return fd;
	if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) < 0)
		return -errno;
	return take_fd(&fd);
}

bool uds_is_hung_up(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0;
}

bool uds_is_silent(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLRDHUP};

	return poll(&p, 1, 0) == 0;
}
