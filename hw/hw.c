// SPDX-License-Identifier: Apache-2.0
/* hw.c - opens the root directories that hw/ reads. */
#include "hw.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "cleanup.h"

static int open_root(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int hw_open(struct hw *hw, const char *sys_root, const char *dev_root, const char *proc_root,
	    struct err *e)
{
	AUTO_FD sys = open_root(sys_root);
	struct statfs fs;
	int fd;

	*hw = (struct hw){.sys_fd = -1, .dev_fd = -1, .proc_fd = -1};
	if (sys < 0)
		return err_set(e, sys, "sysfs root %s: %s", sys_root, strerror(-sys));
	hw->live = fstatfs(sys, &fs) == 0 && fs.f_type == SYSFS_MAGIC;
	hw->sys_fd = take_fd(&sys);
	/* Optional: without device nodes or /proc only a part of the host is visible. */
	fd = open_root(dev_root);
	hw->dev_fd = fd < 0 ? -1 : fd;
	fd = open_root(proc_root);
	hw->proc_fd = fd < 0 ? -1 : fd;
	return 0;
}

void hw_close(struct hw *hw)
{
	cleanup_fd(&hw->sys_fd);
	cleanup_fd(&hw->dev_fd);
	cleanup_fd(&hw->proc_fd);
	*hw = (struct hw){.sys_fd = -1, .dev_fd = -1, .proc_fd = -1};
}
