// SPDX-License-Identifier: Apache-2.0
/* function_files.c - reads and writes the sysfs files of one function. */
#include "function_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "functions.h"
#include "sysfs.h"

static int open_function(const struct hw *hw, const char *function)
{
	int fd;

	if (!is_function_id(function) || strchr(function, '/'))
		return -EINVAL;
	fd = sysfs_open_dir(hw->sys_fd, "bus/pci/devices/%s", function);
	return fd == -ENOENT ? sysfs_open_dir(hw->sys_fd, "bus/auxiliary/devices/%s", function)
			     : fd;
}

bool function_is_on_bus(const struct hw *hw, const char *function)
{
	AUTO_FD dir = open_function(hw, function);

	return dir >= 0;
}

uint64_t function_folder(const struct hw *hw, const char *function)
{
	AUTO_FD dir = open_function(hw, function);
	struct stat st;

	return dir < 0 || fstat(dir, &st) < 0 ? 0 : st.st_ino;
}

bool function_has(const struct hw *hw, const char *function, const char *entry)
{
	AUTO_FD dir = open_function(hw, function);

	return dir >= 0 && sysfs_exists(dir, "%s", entry);
}

static int function_on_netdev(int dir, const char *name, void *arg)
{
	int *first = arg, index;

	if (sysfs_int(dir, &index, "%s/ifindex", name) == 0 && (!*first || index < *first))
		*first = index;
	return 0;
}

int function_ifindex(const struct hw *hw, const char *function)
{
	AUTO_FD dir = open_function(hw, function);
	int ret = 0;

	if (dir >= 0)
		sysfs_list(dir, "net", function_on_netdev, &ret);
	return ret;
}

static int on_any(int dir, const char *name, void *arg)
{
	(void)dir, (void)name, (void)arg;
	return 0;
}

int function_count(const struct hw *hw, const char *function, const char *entry)
{
	AUTO_FD dir = open_function(hw, function);

	return dir < 0 ? dir : sysfs_list(dir, entry, on_any, NULL);
}

static int on_own_netdev(int dir, const char *name, void *arg)
{
	char port[IFNAMSIZ];

	if (sysfs_str(dir, port, sizeof(port), "%s/phys_port_name", name) < 0 ||
	    !strstr(port, "pf"))
		++*(int *)arg;
	return 0;
}

int function_own_netdevs(const struct hw *hw, const char *function)
{
	AUTO_FD dir = open_function(hw, function);
	int n = 0;

	if (dir >= 0)
		sysfs_list(dir, "net", on_own_netdev, &n);
	return n;
}

/* --- the PF ----------------------------------------------------------------------------------- */

struct vf_search {
	const char *function;
	int vf;
};

static int function_on_pf_entry(int dir, const char *name, void *arg)
{
	struct vf_search *s = arg;
	char target[DEV_ID_SIZE];
	int vf;

	if (strncmp(name, "virtfn", 6) != 0 || parse_int(name + 6, &vf) < 0 || vf < 0 ||
	    sysfs_link(dir, target, sizeof(target), "%s", name) < 0 ||
	    strcmp(target, s->function) != 0)
		return 0;
	s->vf = vf;
	return -ECANCELED;
}

int function_pf(const struct hw *hw, const char *function, char ret_pf[DEV_ID_SIZE], int *ret_vf)
{
	struct vf_search s = {function, -1};
	AUTO_FD dir = open_function(hw, function);
	char pf[DEV_ID_SIZE] = "";
	int r;

	if (dir < 0)
		return dir;
	r = sysfs_link(dir, pf, sizeof(pf), "physfn");
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0)
		sysfs_list(dir, "physfn", function_on_pf_entry, &s);
	if (r == 0 && s.vf < 0)
		return -ENOENT;
	memcpy(ret_pf, pf, sizeof(pf));
	*ret_vf = r == 0 ? s.vf : 0;
	return 0;
}

bool function_is_vf_of(const struct hw *hw, const char *function, const char *pf, int vf)
{
	AUTO_FD dir = open_function(hw, pf);
	char target[DEV_ID_SIZE];

	return dir >= 0 && sysfs_link(dir, target, sizeof(target), "virtfn%d", vf) == 0 &&
	       strcmp(target, function) == 0;
}

int function_ids(const struct hw *hw, const char *function, uint16_t *ret_vendor,
		 uint16_t *ret_device)
{
	AUTO_FD dir = open_function(hw, function);
	uint32_t vendor = 0, device = 0;
	int r = dir < 0 ? dir : sysfs_u32(dir, &vendor, "vendor");

	if (r == 0)
		r = sysfs_u32(dir, &device, "device");
	if (r < 0)
		return r;
	*ret_vendor = (uint16_t)vendor;
	*ret_device = (uint16_t)device;
	return 0;
}

/* --- the RDMA device -------------------------------------------------------------------------- */

static int on_rdma(int dir, const char *name, void *arg)
{
	(void)dir;
	if (strlen(name) < RDMA_NAME_SIZE)
		memcpy(arg, name, strlen(name) + 1);
	return 0;
}

int function_rdma(const struct hw *hw, const char *function, char ret[RDMA_NAME_SIZE])
{
	AUTO_FD dir = open_function(hw, function);
	char name[RDMA_NAME_SIZE] = "";
	int r = dir < 0 ? dir : sysfs_list(dir, "infiniband", on_rdma, name);

	if (r < 0 && r != -ENOENT)
		return r;
	if (dir < 0)
		return dir;
	memcpy(ret, name, sizeof(name));
	return 0;
}

/* --- the driver ------------------------------------------------------------------------------- */

static int write_name(int dir, const char *path, const char *function)
{
	AUTO_FD fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, function, strlen(function));

	return n < 0 ? -errno : 0;
}

int function_unbind(const struct hw *hw, const char *function, struct err *e)
{
	AUTO_FD dir = open_function(hw, function);
	int r = dir < 0 ? dir : 0;

	if (r == 0 && sysfs_exists(dir, "driver"))
		r = write_name(dir, "driver/unbind", function);
	return r < 0 ? err_set(e, r, "%s: unbinding its driver: %s", function, strerror(-r)) : 0;
}

/* The kernel chooses the driver in the same way as originally, including driver_override. The write
 * may succeed although no driver binds, so the driver is checked afterwards. */
int function_bind(const struct hw *hw, const char *function, struct err *e)
{
	AUTO_FD dir = open_function(hw, function);
	int r = dir < 0 ? dir : 0;

	if (r == 0 && !sysfs_exists(dir, "driver")) {
		r = write_name(dir, "subsystem/drivers_probe", function);
		if (r == 0 && !sysfs_exists(dir, "driver"))
			r = -ENODEV;
	}
	return r < 0 ? err_set(e, r, "%s: binding its driver: %s", function, strerror(-r)) : 0;
}
