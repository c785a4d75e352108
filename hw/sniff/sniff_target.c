// SPDX-License-Identifier: Apache-2.0
#include "sniff_target.h"

#include <stdio.h>
#include <string.h>

#include "sysfs.h"

/* Names come from the command line and become part of a path. */
static bool is_one_component(const char *name)
{
	return name[0] && strlen(name) < DEV_ID_SIZE && !strchr(name, '/') &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

struct first {
	char *ret;
	size_t size;
};

/* Takes the first name in alphabetical order, for a stable result. */
static int sniff_target_on_entry(int dir, const char *name, void *arg)
{
	struct first *f = arg;

	(void)dir;
	if (strlen(name) < f->size && (f->ret[0] == '\0' || strcmp(name, f->ret) < 0))
		snprintf(f->ret, f->size, "%s", name);
	return 0;
}

static void sniff_target_first_of(const struct hw *hw, const char *folder, const char *name,
				  const char *below, char *ret, size_t size)
{
	struct first f = {ret, size};
	char path[SYSFS_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", folder, name, below);
	sysfs_list(hw->sys_fd, path, sniff_target_on_entry, &f);
}

/* A soft-RoCE device has its netdev in `parent`; otherwise use that of the first port's first GID,
 * or of the function. */
static void netdev_of_rdma(const struct hw *hw, const char *name, struct sniff_target *t)
{
	if (sysfs_str(hw->sys_fd, t->netdev, sizeof(t->netdev), "class/infiniband/%s/parent",
		      name) > 0 ||
	    sysfs_str(hw->sys_fd, t->netdev, sizeof(t->netdev),
		      "class/infiniband/%s/ports/1/gid_attrs/ndevs/0", name) > 0)
		return;
	sniff_target_first_of(hw, "class/infiniband", name, "device/net", t->netdev,
			      sizeof(t->netdev));
}

bool sniff_target_is_soft(const struct hw *hw, const char *rdma)
{
	return rdma[0] && sysfs_exists(hw->sys_fd, "class/infiniband/%s", rdma) &&
	       !sysfs_exists(hw->sys_fd, "class/infiniband/%s/device", rdma);
}

int sniff_target_find(const struct hw *hw, const char *name, struct sniff_target *ret)
{
	struct sniff_target t = {0};

	if (!is_one_component(name))
		return -ENODEV;
	if (strlen(name) < sizeof(t.netdev) && sysfs_exists(hw->sys_fd, "class/net/%s", name)) {
		memcpy(t.netdev, name, strlen(name));
		sniff_target_first_of(hw, "class/net", name, "device/infiniband", t.rdma,
				      sizeof(t.rdma));
	} else if (sysfs_exists(hw->sys_fd, "class/infiniband/%s", name)) {
		memcpy(t.rdma, name, strlen(name));
		netdev_of_rdma(hw, name, &t);
	} else {
		sniff_target_first_of(hw, "bus/pci/devices", name, "net", t.netdev,
				      sizeof(t.netdev));
		sniff_target_first_of(hw, "bus/pci/devices", name, "infiniband", t.rdma,
				      sizeof(t.rdma));
	}
	if (t.netdev[0] == '\0' && t.rdma[0] == '\0')
		return -ENODEV;
	t.soft = sniff_target_is_soft(hw, t.rdma);
	*ret = t;
	return 0;
}
