/* soft_roce_nodes.c - a folder of device nodes. */
#include "soft_roce_nodes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attachment.h"
#include "cleanup.h"
#include "sysfs.h"

/* As udev's rules make them: rdma-core, rdma-hw-modules.rules and rdma-umad.rules. */
#define NODE_MODE 0666

static int failed(const char *what, const char *path, int r, struct err *e)
{
	return err_set(e, r, "device nodes: %s %s: %s", what, path, strerror(-r));
}

/* One component, never through a link. */
static int open_folder(int dir, const char *name, bool make)
{
	int fd;

	if (make && mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Of "rocelet/<id>": *ret_top is the first part, the result the second. */
static int open_both(const struct hw *hw, char *path, bool make, int *ret_top)
{
	char *slash = strchr(path, '/');

	*slash = '\0';
	*ret_top = open_folder(hw->dev_fd, path, make);
	*slash = '/';
	return *ret_top < 0 ? *ret_top : open_folder(*ret_top, slash + 1, make);
}

static int remove_entry(int dir, const char *name, void *arg)
{
	(void)arg;
	return unlinkat(dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* mknod(2)'s mode is cut by the umask. */
static int make_node(int dir, const char *name, dev_t dev)
{
	if (mknodat(dir, name, S_IFCHR | NODE_MODE, dev) < 0)
		return -errno;
	return fchmodat(dir, name, NODE_MODE, 0) < 0 ? -errno : 0;
}

/* "10:123", as linux/Documentation/ABI/stable/sysfs-devices has it. */
static int read_dev(const struct hw *hw, dev_t *ret)
{
	char text[32], *colon;
	int major_nr, minor_nr;
	int r = sysfs_str(hw->sys_fd, text, sizeof(text), "class/misc/rdma_cm/dev");

	if (r < 0)
		return r;
	colon = strchr(text, ':');
	if (!colon)
		return -EINVAL;
	*colon = '\0';
	if (parse_int(text, &major_nr) < 0 || parse_int(colon + 1, &minor_nr) < 0)
		return -EINVAL;
	*ret = makedev(major_nr, minor_nr);
	return 0;
}

static int make_all(const struct hw *hw, int dir, const struct nldev_chardev *uverbs)
{
	dev_t rdma_cm;
	int r = sysfs_list(dir, ".", remove_entry, NULL);

	if (r >= 0)
		r = make_node(dir, uverbs->name, (dev_t)uverbs->dev);
	if (r >= 0)
		r = make_node(dir, "uverbs", (dev_t)uverbs->dev);
	if (r >= 0 && read_dev(hw, &rdma_cm) == 0)
		r = make_node(dir, "rdma_cm", rdma_cm);
	return r;
}

int soft_roce_nodes_make(const struct hw *hw, const char *id, const struct nldev_chardev *uverbs,
			 struct err *e)
{
	char path[SOFT_ROCE_DIR_SIZE];
	AUTO_FD top = -1;
	AUTO_FD dir = -1;
	int r;

	if (strchr(uverbs->name, '/') || uverbs->name[0] == '.' || !uverbs->name[0])
		return err_set(e, -EINVAL, "\"%s\" is no name for a device node", uverbs->name);
	soft_roce_dir(id, path, sizeof(path));
	dir = open_both(hw, path, true, &top);
	if (dir < 0)
		return failed("making", path, dir, e);
	r = make_all(hw, dir, uverbs);
	return r < 0 ? failed("making those of", path, r, e) : 0;
}

int soft_roce_nodes_remove(const struct hw *hw, const char *id, struct err *e)
{
	char path[SOFT_ROCE_DIR_SIZE];
	AUTO_FD top = -1;
	AUTO_FD dir = -1;
	int r;

	soft_roce_dir(id, path, sizeof(path));
	dir = open_both(hw, path, false, &top);
	if (dir < 0)
		return dir == -ENOENT ? 0 : failed("opening", path, dir, e);
	r = sysfs_list(dir, ".", remove_entry, NULL);
	if (r >= 0 && unlinkat(top, strchr(path, '/') + 1, AT_REMOVEDIR) < 0)
		r = -errno;
	return r < 0 ? failed("removing", path, r, e) : 0;
}
