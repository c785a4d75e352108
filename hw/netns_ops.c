/* netns_ops.c - opens network namespaces as others name them, proves which one it is, and does work
 * inside.
 *
 * A path comes from the container runtime and is one of the host's. When our mount namespace is
 * another, it is looked up below process 1's root, and symbolic links on the way stay below that
 * root, too: "/var/run" is one to "/run" as a rule.
 * Can fail by: a path that is gone (-ENOENT) or was never a network namespace (-EINVAL); one whose
 * namespace is another by now. */
#include "netns_ops.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cleanup.h"
#include "netns.h"
#include "netns_walk.h"
#include "sysfs.h"

#define NSFS_OPEN (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* --- open ----------------------------------------------------------------------------------- */

/* Closes fd unless it is a network namespace. Only nsfs answers the question. */
static int checked(int fd)
{
	if (fd < 0)
		return -errno;
	if (ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET)
		return fd;
	close(fd);
	return -EINVAL;
}

int netns_open_below(int root_fd, const char *path)
{
	const struct open_how how = {.flags = NSFS_OPEN, .resolve = RESOLVE_IN_ROOT};

	return checked((int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how)));
}

int netns_open_proc(int proc_fd, const char *path)
{
	return checked(openat(proc_fd, path, NSFS_OPEN));
}

/* The links read "mnt:[4026531841]". What cannot be read is taken for the same. */
static bool has_own_mounts(const struct hw *hw)
{
	char ours[64], first[64];

	return hw->proc_fd >= 0 &&
	       sysfs_target(hw->proc_fd, ours, sizeof(ours), "thread-self/ns/mnt") == 0 &&
	       sysfs_target(hw->proc_fd, first, sizeof(first), "1/ns/mnt") == 0 &&
	       strcmp(ours, first) != 0;
}

/* "/proc/17/...": processes are the same whoever's /proc shows them, and what is in there are magic
 * links, which lead where no path does. */
static const char *below_proc(const char *path)
{
	static const char proc[] = "/proc/";

	return strncmp(path, proc, strlen(proc)) == 0 && isdigit((unsigned char)path[strlen(proc)])
		       ? path + strlen(proc)
		       : NULL;
}

static int open_path(const struct hw *hw, const char *path)
{
	const char *process = hw->proc_fd >= 0 ? below_proc(path) : NULL;
	AUTO_FD root = -1;

	if (path[0] != '/')
		return -EINVAL;
	if (process)
		return netns_open_proc(hw->proc_fd, process);
	if (!has_own_mounts(hw))
		return checked(open(path, NSFS_OPEN));
	root = sysfs_open_dir(hw->proc_fd, "1/root");
	return root < 0 ? root : netns_open_below(root, path);
}

int netns_open_path(const struct hw *hw, const char *path, struct err *e)
{
	int fd = open_path(hw, path);

	/* Ways in which a path, or the process in it, is not there. */
	if (fd == -ENOTDIR || fd == -ESRCH || fd == -ELOOP || fd == -ENXIO)
		fd = -ENOENT;
	if (fd == -EINVAL)
		return err_set(e, fd, "%s: not a network namespace", path);
	return fd < 0 ? err_set(e, fd, "%s: %s", path, strerror(-fd)) : fd;
}

/* --- which one ------------------------------------------------------------------------------ */

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
		return err_set(e, -ENOENT, "%s: another namespace by now", id->path);
	return take_fd(&fd);
}

/* What we could not find out (no descriptors left, no rights) is no proof of death. */
bool netns_is_alive(const struct hw *hw, const struct netns_id *id)
{
	AUTO_FD fd = netns_open_id(hw, id, NULL);

	return fd >= 0 || (fd != -ENOENT && fd != -EINVAL);
}

/* --- inside --------------------------------------------------------------------------------- */

struct visit {
	int netns_fd;
	int (*fn)(void *arg);
	void *arg;
	int result;
};

static void *visit_namespace(void *arg)
{
	struct visit *v = arg;

	v->result = setns(v->netns_fd, CLONE_NEWNET) < 0 ? -errno : v->fn(v->arg);
	return NULL;
}

int netns_run(int netns_fd, int (*fn)(void *arg), void *arg)
{
	struct visit v = {.netns_fd = netns_fd, .fn = fn, .arg = arg};
	pthread_t thread;
	int r = pthread_create(&thread, NULL, visit_namespace, &v);

	if (r)
		return -r;
	pthread_join(thread, NULL);
	return v.result;
}

int netns_nlsock(struct nlsock *ret, int netns_fd, int protocol, struct err *e)
{
	int fd = netns_socket(netns_fd, protocol), r = fd;

	*ret = NLSOCK_CLOSED;
	if (r >= 0)
		r = nlsock_adopt(ret, fd);
	return r < 0 ? err_set(e, r, "netlink: a socket inside the namespace: %s", strerror(-r))
		     : 0;
}
