/* netns.c - names of network namespaces, and netlink sockets inside them. */
#include "netns.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "netns_ops.h"
#include "netns_walk.h"
#include "sysfs.h"

/* A container has a /run of its own; the host's is seen through its first process. */
static int open_names_dir(const struct hw *hw)
{
	int fd = hw->proc_fd < 0 ? -1 : sysfs_open_dir(hw->proc_fd, "1/root/run/netns");

	if (fd < 0)
		fd = open("/run/netns", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Where a namespace is not mounted yet, or no longer, an ordinary empty file is. */
static int open_namespace(int dir, const char *name)
{
	int fd = netns_open_at(dir, name, 0);

	return fd == -EINVAL ? -ENOENT : fd;
}

struct names_walk {
	netns_fn *fn;
	void *arg;
};

static int on_name(int dir, const char *name, void *arg)
{
	const struct names_walk *w = arg;
	AUTO_FD fd = open_namespace(dir, name);

	return fd < 0 ? 0 : w->fn(fd, name, w->arg);
}

int netns_list(const struct hw *hw, netns_fn *fn, void *arg)
{
	struct names_walk w = {fn, arg};
	AUTO_FD dir = open_names_dir(hw);

	return dir < 0 ? dir : sysfs_list(dir, ".", on_name, &w);
}

int netns_open(const struct hw *hw, const char *name)
{
	AUTO_FD dir = open_names_dir(hw);

	return dir < 0 ? dir : open_namespace(dir, name);
}

int netns_open_own(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_socket(void *arg)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, *(int *)arg);

	return fd < 0 ? -errno : fd;
}

int netns_socket(int netns_fd, int protocol)
{
	return netns_run(netns_fd, open_socket, &protocol);
}
