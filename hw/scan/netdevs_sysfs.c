/* netdevs_sysfs.c - network devices from class/net:
 * linux/Documentation/ABI/testing/sysfs-class-net. */
#include <ctype.h>
#include <linux/magic.h>
#include <net/if.h>
#include <sys/vfs.h>

#include "array.h"
#include "attachment.h"
#include "cleanup.h"
#include "default_routes.h"
#include "functions.h"
#include "netdevs.h"
#include "sysfs.h"

/* "a0:88:c2:03:00:01"; anything else leaves the address unknown. */
static void parse_address(const char *s, struct netdev *d)
{
	unsigned n = 0;

	for (; n < HW_ADDR_MAX; n++, s += 3) {
		char byte[5] = {'0', 'x', s[0], s[0] ? s[1] : '\0', '\0'};
		uint64_t v;

		if (!isxdigit((unsigned char)byte[2]) || parse_u64(byte, &v) < 0 || !byte[3])
			return;
		d->addr[n] = (uint8_t)v;
		if (s[2] != ':') {
			d->addr_len = s[2] ? 0 : n + 1;
			return;
		}
	}
}

static void read_origin(int dir, struct netdev *d)
{
	char alias[ATTACH_ALIAS_SIZE];

	if (sysfs_str(dir, alias, sizeof(alias), "ifalias") > 0 &&
	    attach_alias_origin(alias, d->origin))
		attach_alias_uid(alias, d->origin_uid);
}

static void read_state(int dir, struct netdev *d)
{
	uint32_t v;

	if (sysfs_u32(dir, &v, "mtu") == 0)
		d->mtu = v;
	sysfs_str(dir, d->operstate, sizeof(d->operstate), "operstate");
	/* The file shows the device's own flags, which lack what netlink adds to them. */
	if (sysfs_u32(dir, &v, "flags") == 0 ? v & IFF_UP : !strcmp(d->operstate, "up"))
		d->flags = IFF_UP;
	if (sysfs_u32(dir, &v, "carrier") == 0) /* -EINVAL while administratively down */
		d->carrier = v ? CARRIER_ON : CARRIER_OFF;
	if (sysfs_u32(dir, &v, "carrier_changes") == 0)
		d->carrier_changes = v;
	if (sysfs_u32(dir, &v, "type") == 0)
		d->type = (uint16_t)v;
	/* Hardware names itself. */
	if (sysfs_int(dir, &d->lower, "iflink") == 0 && (d->lower < 0 || d->lower == d->ifindex))
		d->lower = 0;
	sysfs_str(dir, d->port_name, sizeof(d->port_name), "phys_port_name");
	read_origin(dir, d);
}

static void read_relations(int class_dir, int dir, struct netdev *d)
{
	char text[SYSFS_PATH_MAX];

	if (sysfs_target(class_dir, text, sizeof(text), "%s", d->name) == 0)
		function_id_from_path(text, d->function);
	if (!d->function[0] && sysfs_link(dir, text, sizeof(text), "device") == 0 &&
	    is_function_id(text))
		snprintf(d->function, sizeof(d->function), "%.*s", DEV_ID_SIZE - 1, text);
	if (sysfs_link(dir, d->master_name, sizeof(d->master_name), "master") == 0)
		sysfs_int(dir, &d->master, "master/ifindex");
}

/* Software devices of the commonest kinds say so in their uevent (SET_NETDEV_DEVTYPE). */
static void read_kind(int dir, struct netdev *d)
{
	char text[SYSFS_ATTR_MAX];
	const char *type;

	if (sysfs_str(dir, text, sizeof(text), "uevent") <= 0)
		return;
	type = strstr(text, "DEVTYPE=");
	if (type && (type == text || type[-1] == '\n'))
		snprintf(d->kind, sizeof(d->kind), "%.*s", (int)strcspn(type + 8, "\n"), type + 8);
}

static int on_netdev(int class_dir, const char *name, void *arg)
{
	struct host *h = arg;
	struct netdev d = {.nsid = NSID_HOST}, *new;
	char text[3 * HW_ADDR_MAX + 1];
	AUTO_FD dir = strlen(name) < IFNAMSIZ ? sysfs_open_dir(class_dir, "%s", name) : -1;

	/* No ifindex: gone meanwhile, or not a device (bonding_masters). */
	if (dir < 0 || sysfs_int(dir, &d.ifindex, "ifindex") < 0 || d.ifindex <= 0)
		return 0;
	memcpy(d.name, name, strlen(name) + 1);
	if (sysfs_str(dir, text, sizeof(text), "address") > 0)
		parse_address(text, &d);
	read_state(dir, &d);
	read_relations(class_dir, dir, &d);
	if (!d.function[0])
		read_kind(dir, &d);
	new = array_push(h->netdevs, h->n_netdevs);
	if (!new)
		return -ENOMEM;
	*new = d;
	return 0;
}

/* A device's file `iflink` does not say in which namespace; one that is below it here has a link
 * lower_NAME in its directory. */
static void check_lower(const struct hw *hw, const struct host *h)
{
	for (size_t i = 0; i < h->n_netdevs; i++) {
		struct netdev *d = &h->netdevs[i];
		const struct netdev *lower = d->lower ? host_netdev(h, NSID_HOST, d->lower) : NULL;

		if (!lower ||
		    !sysfs_exists(hw->sys_fd, "class/net/%s/lower_%s", d->name, lower->name))
			d->lower = 0;
	}
}

/* Another machine's sysfs beside this machine's /proc: devices of the same name are not the same.
 */
static bool has_own_routes(const struct hw *hw)
{
	struct statfs fs;

	return hw->proc_fd >= 0 &&
	       (hw->live || fstatfs(hw->proc_fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC);
}

int netdevs_read_sysfs(const struct hw *hw, struct host *h, struct err *e)
{
	int r = sysfs_list(hw->sys_fd, "class/net", on_netdev, h);

	check_lower(hw, h);
	if (has_own_routes(hw))
		default_routes_read_proc(hw, h);
	/* A tree without the class has no network devices. */
	return r < 0 && r != -ENOENT ? err_set(e, r, "sysfs: listing class/net: %s", strerror(-r))
				     : 0;
}
