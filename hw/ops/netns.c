// SPDX-License-Identifier: Apache-2.0
/* netns.c - opens network namespaces by name, path or identity, verifies their identity, and runs
 * functions inside them.
 *
 * A path comes from the container runtime and is valid on the host. If we have another mount
 * namespace, it is resolved below process 1's root, including symbolic links: "/var/run" usually is
 * a link to "/run". Errors: a removed path (-ENOENT); one that never was a network namespace
 * (-EINVAL); a path that leads to another namespace now (-ENOENT); a path below a process's root
 * whose resolution needs an answer of its file system (-EAGAIN). */
#include "netns.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "cleanup.h"
#include "netns_walk.h"
#include "sysfs.h"

/* Opens the host's /run/netns, through process 1 because a container has its own /run. */
static int open_names_dir(const struct hw *hw)
{
	int fd = hw->proc_fd < 0 ? -1 : sysfs_open_dir(hw->proc_fd, "1/root/run/netns");

	if (fd < 0)
		fd = open("/run/netns", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opens a named namespace. A file that is not a mount point (yet or any more) is an ordinary empty
 * file. */
static int netns_open_namespace(int dir, const char *name)
{
	int fd = netns_open_at(dir, name, 0);

	return fd == -EINVAL ? -ENOENT : fd;
}

struct names_walk {
	netns_fn *fn;
	void *arg;
};

static int netns_on_name(int dir, const char *name, void *arg)
{
	const struct names_walk *w = arg;
	AUTO_FD fd = netns_open_namespace(dir, name);

	return fd < 0 ? 0 : w->fn(fd, name, w->arg);
}

int netns_list(const struct hw *hw, netns_fn *fn, void *arg)
{
	struct names_walk w = {fn, arg};
	AUTO_FD dir = open_names_dir(hw);

	return dir < 0 ? dir : sysfs_list(dir, ".", netns_on_name, &w);
}

int netns_open(const struct hw *hw, const char *name)
{
	AUTO_FD dir = open_names_dir(hw);

	return dir < 0 ? dir : netns_open_namespace(dir, name);
}

int netns_open_own(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int netns_open_socket(void *arg)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, *(int *)arg);

	return fd < 0 ? -errno : fd;
}

int netns_socket(int netns_fd, int protocol)
{
	return netns_run(netns_fd, netns_open_socket, &protocol);
}

/* --- settings in /proc/sys/net ---------------------------------------------------------------- */

/* Files below /proc/sys/net belong to the namespace of the task that opens them. Errors: a missing
 * setting or netdev (-ENOENT); /proc/sys read-only, as container runtimes mount it for all but
 * privileged containers (-EROFS). */

struct sysctl_job {
	const struct hw *hw;
	const char *ifname;
	const struct sysctl_setting *settings;
	size_t n;
	struct err *e;
};

static bool is_path_part(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static int write_value(const struct hw *hw, const char *path, const char *value)
{
	AUTO_FD fd = -1;
	ssize_t n;

	if (hw->proc_fd < 0)
		return -ENOENT;
	fd = openat(hw->proc_fd, path, O_WRONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : write(fd, value, strlen(value));
	return n < 0 ? -errno : n == (ssize_t)strlen(value) ? 0 : -EIO;
}

static int write_setting(const struct hw *hw, const char *ifname, const struct sysctl_setting *s,
			 struct err *e)
{
	const char *ip = s->family == AF_INET6 ? "ipv6" : "ipv4";
	char path[128];
	int r;

	if (!is_path_part(s->key) || strlen(s->key) > 64)
		return err_set(e, -EINVAL, "\"%s\" is not the name of a setting", s->key);
	snprintf(path, sizeof(path), "sys/net/%s/conf/%.15s/%.64s", ip, ifname, s->key);
	r = write_value(hw, path, s->value);
	if (r == -EROFS)
		return err_set(e, r, "net.%s.conf.%s.%s: /proc/sys is mounted read-only", ip,
			       ifname, s->key);
	return r < 0 ? err_set(e, r, "net.%s.conf.%s.%s = %s: %s", ip, ifname, s->key, s->value,
			       strerror(-r))
		     : 0;
}

static int write_settings(void *arg)
{
	const struct sysctl_job *job = arg;
	int r = 0;

	for (size_t i = 0; i < job->n && r == 0; i++)
		r = write_setting(job->hw, job->ifname, &job->settings[i], job->e);
	return r;
}

int netns_sysctl(const struct hw *hw, int netns_fd, const char *ifname,
		 const struct sysctl_setting *settings, size_t n, struct err *e)
{
	struct err inner = {0};
	struct sysctl_job job = {hw, ifname, settings, n, &inner};
	int r;

	if (!is_path_part(ifname) || strlen(ifname) >= IFNAMSIZ)
		return err_set(e, -EINVAL, "\"%s\" is not the name of a netdev", ifname);
	r = netns_run(netns_fd, write_settings, &job);
	return r < 0 ? err_set(e, r, "%s", inner.code ? inner.msg : strerror(-r)) : 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* True if the file is a namespace: all namespaces are on one file system. AT_STATX_DONT_SYNC:
 * another file system (FUSE) might never answer. */
static bool is_on_nsfs(int path_fd)
{
	struct statx file, own;

	return statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &file) == 0 &&
	       statx(AT_FDCWD, "/proc/thread-self/ns/net", AT_STATX_DONT_SYNC, STATX_INO, &own) ==
		       0 &&
	       file.stx_dev_major == own.stx_dev_major && file.stx_dev_minor == own.stx_dev_minor;
}

/* Opens the file itself, which is known to be on nsfs. nsfs has several kinds of namespaces, and
 * the ioctl returns the kind. */
static int reopen(int path_fd)
{
	char link[64];
	AUTO_FD fd = -1;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET ? take_fd(&fd) : -EINVAL;
}

int netns_open_at(int dir_fd, const char *path, uint64_t resolve)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};
	AUTO_FD at = resolve ? (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how))
			     : openat(dir_fd, path, O_PATH | O_CLOEXEC);

	if (at < 0)
		return -errno;
	return is_on_nsfs(at) ? reopen(at) : -EINVAL;
}

/* Compares links such as "mnt:[4026531841]". If unreadable, assumes the same mount namespace. */
static bool has_own_mounts(const struct hw *hw)
{
	char ours[64], first[64];

	return hw->proc_fd >= 0 &&
	       sysfs_target(hw->proc_fd, ours, sizeof(ours), "thread-self/ns/mnt") == 0 &&
	       sysfs_target(hw->proc_fd, first, sizeof(first), "1/ns/mnt") == 0 &&
	       strcmp(ours, first) != 0;
}

/* Returns the flag to resolve a path below a process's root only from the cache: a mount there may
 * be served by a file system (FUSE) that never answers. Mount points and the path to them are
 * always cached. 0 before Linux 5.12, which does not have the flag. */
static uint64_t resolve_cached_only(int root_fd)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED};
	AUTO_FD fd = (int)syscall(SYS_openat2, root_fd, ".", &how, sizeof(how));

	return fd < 0 && errno == EINVAL ? 0 : RESOLVE_CACHED;
}

/* Opens a path below the root of a process, and resolves symbolic links below that root, too. The
 * host's own root (process 1) is trusted. */
static int open_below_root(int proc_fd, const char *process, const char *path)
{
	char root[32];
	AUTO_FD fd = -1;

	if ((size_t)snprintf(root, sizeof(root), "%s/root", process) >= sizeof(root))
		return -ENOENT;
	fd = openat(proc_fd, root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return netns_open_at(
		fd, path, RESOLVE_IN_ROOT | (strcmp(process, "1") ? resolve_cached_only(fd) : 0));
}

/* Returns "17/..." of "/proc/17/...", else NULL: a process is the same in any /proc mount, and its
 * magic links do not depend on mounts. */
static const char *below_proc(const char *path)
{
	static const char proc[] = "/proc/";

	return strncmp(path, proc, strlen(proc)) == 0 && isdigit((unsigned char)path[strlen(proc)])
		       ? path + strlen(proc)
		       : NULL;
}

/* Opens a path relative to /proc: "17/ns/net", "17/fd/4", "17/root/run/netns/a". */
static int open_of_process(int proc_fd, const char *path)
{
	size_t digits = strspn(path, "0123456789");
	char process[16];

	if (digits >= sizeof(process))
		return -ENOENT;
	if (strncmp(path + digits, "/root/", 6) != 0)
		return netns_open_at(proc_fd, path, 0);
	snprintf(process, sizeof(process), "%.*s", (int)digits, path);
	return open_below_root(proc_fd, process, path + digits + strlen("/root"));
}

static int open_path(const struct hw *hw, const char *path)
{
	const char *process = hw->proc_fd >= 0 ? below_proc(path) : NULL;

	if (path[0] != '/')
		return -EINVAL;
	if (process)
		return open_of_process(hw->proc_fd, process);
	return has_own_mounts(hw) ? open_below_root(hw->proc_fd, "1", path)
				  : netns_open_at(AT_FDCWD, path, 0);
}

int netns_open_path(const struct hw *hw, const char *path, struct err *e)
{
	int fd = open_path(hw, path);

	/* Each of these errors means that the path or its process does not exist. */
	if (fd == -ENOTDIR || fd == -ESRCH || fd == -ELOOP || fd == -ENXIO)
		fd = -ENOENT;
	if (fd == -EINVAL)
		return err_set(e, fd, "%s: not a network namespace", path);
	return fd < 0 ? err_set(e, fd, "%s: %s", path, strerror(-fd)) : fd;
}

/* --- identity --------------------------------------------------------------------------------- */

int netns_identify(int netns_fd, const char *path, struct netns_id *ret)
{
	struct netns_id id = {0};
	struct stat st;

	if (strlen(path) >= sizeof(id.path))
		return -ENAMETOOLONG;
	if (fstat(netns_fd, &st) < 0)
		return -errno;
	memcpy(id.path, path, strlen(path) + 1);
	id.dev = st.st_dev;
	id.ino = st.st_ino;
	*ret = id;
	return 0;
}

int netns_open_id(const struct hw *hw, const struct netns_id *id, struct err *e)
{
	AUTO_FD fd = netns_open_path(hw, id->path, e);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return err_set(e, -errno, "%s: %s", id->path, strerror(errno));
	if (st.st_dev != id->dev || st.st_ino != id->ino)
		return err_set(e, -ENOENT, "%s: now a different namespace", id->path);
	return take_fd(&fd);
}

bool netns_is_there(const struct hw *hw, const struct netns_id *id)
{
	AUTO_FD fd = netns_open_id(hw, id, NULL);

	return fd >= 0;
}

/* --- inside --------------------------------------------------------------------------------- */

/* Returns to our own namespace. setns() fails here only while the kernel is out of memory
 * (create_new_namespaces() in linux/kernel/nsproxy.c). The thread must not continue in the wrong
 * namespace, so retry forever. */
static void return_to_own_netns(int own_fd)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	while (setns(own_fd, CLONE_NEWNET) < 0)
		nanosleep(&moment, NULL);
}

int netns_run(int netns_fd, int (*fn)(void *arg), void *arg)
{
	AUTO_FD own = netns_open_own();
	int r;

	if (own < 0)
		return own;
	if (setns(netns_fd, CLONE_NEWNET) < 0)
		return -errno;
	r = fn(arg);
	return_to_own_netns(own);
	return r;
}

int netns_nlsock(struct nlsock *ret, int netns_fd, int protocol, struct err *e)
{
	int fd = netns_socket(netns_fd, protocol), r = fd;

	*ret = NLSOCK_CLOSED;
	if (r >= 0)
		r = nlsock_adopt(ret, fd);
	return r < 0 ? err_set(e, r, "netlink: cannot open a socket inside the namespace: %s",
			       strerror(-r))
		     : 0;
}
