// SPDX-License-Identifier: Apache-2.0
/* netdevs.c - reads network devices with rtnetlink dumps.
 *
 * Success: dump the links of our namespace; list the other namespaces that have an id, with their
 * names; dump their links, too, and keep the netdevs of this host's functions. Errors: no netlink
 * at all (then class/net is read for our own namespace); links that change during every attempt
 * (-EAGAIN: the caller scans again); another namespace that we may not access or that was removed
 * meanwhile (its devices are missing, a problem is recorded). */

#include <ctype.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/vfs.h>

#include "array.h"
#include "attachment.h"
#include "cleanup.h"
#include "default_routes.h"
#include "functions.h"
#include "netns.h"
#include "nlsock.h"
#include "rtnl.h"
#include "scan.h"
#include "sysfs.h"

#define DUMP_ATTEMPTS 5

struct netdev_list {
	struct netdev *items;
	size_t n;
	int nsid;
	size_t n_malformed;
};

/* --- one namespace ------------------------------------------------------------------------ */

static int netdevs_read_on_link(const struct nlmsghdr *h, void *arg)
{
	struct netdev_list *list = arg;
	struct rtnl_link link;
	struct netdev *d;

	if (rtnl_decode_link(h, &link, NULL) < 0) {
		list->n_malformed++;
		return 0;
	}
	/* A kernel without IFLA_TARGET_NETNSID returns our own links. */
	if (link.netdev.nsid != list->nsid)
		return -EOPNOTSUPP;
	d = array_push(list->items, list->n);
	if (!d)
		return -ENOMEM;
	*d = link.netdev;
	return 0;
}

static int dump_links(struct nlsock *s, struct netdev_list *list, struct err *e)
{
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++) {
		list->n = 0;
		list->n_malformed = 0;
		r = nlsock_query(s, rtnl_dump_links(list->nsid, false), netdevs_read_on_link, list,
				 e);
	}
	if (r == 0 && e)
		*e = (struct err){0}; /* clears the error of earlier attempts */
	if (r == 0 && list->n_malformed)
		err_set(e, -EBADMSG, "rtnetlink: %zu malformed link messages, skipped",
			list->n_malformed);
	return r;
}

static void name_masters(struct netdev_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct netdev *d = &list->items[i];

		for (size_t k = 0; k < list->n && d->master && !d->master_name[0]; k++)
			if (list->items[k].ifindex == d->master)
				memcpy(d->master_name, list->items[k].name, IFNAMSIZ);
	}
}

/* True if the netdev may belong to a function. Software devices have a kind and no function; IPoIB
 * has a kind, but belongs to the HCA. */
static bool may_have_function(const struct netdev *d)
{
	return !d->kind[0] || strcmp(d->kind, "ipoib") == 0;
}

/* Finds missing functions by the device's path in sysfs: kernels before 5.14 do not report the
 * parent device, and a virtio device's parent is not the function itself. */
static void find_functions(const struct hw *hw, struct netdev_list *list)
{
	char path[SYSFS_PATH_MAX];

	for (size_t i = 0; i < list->n; i++) {
		struct netdev *d = &list->items[i];

		if (!d->function[0] && may_have_function(d) &&
		    sysfs_target(hw->sys_fd, path, sizeof(path), "class/net/%s", d->name) == 0)
			function_id_from_path(path, d->function);
	}
}

static int netdevs_append(struct host *h, const struct netdev_list *list, bool only_functions)
{
	for (size_t i = 0; i < list->n; i++) {
		struct netdev *d;

		if (only_functions && !list->items[i].function[0])
			continue;
		d = array_push(h->netdevs, h->n_netdevs);
		if (!d)
			return -ENOMEM;
		*d = list->items[i];
	}
	return 0;
}

static int read_own(const struct hw *hw, struct nlsock *s, struct host *h, struct err *e)
{
	struct netdev_list list = {.nsid = NSID_HOST};
	int r = dump_links(s, &list, e);

	if (r == 0) {
		find_functions(hw, &list);
		name_masters(&list);
		r = netdevs_append(h, &list, false);
	}
	free(list.items);
	return r;
}

static int read_other(struct nlsock *s, int nsid, struct host *h, struct err *e)
{
	struct netdev_list list = {.nsid = nsid};
	int r = dump_links(s, &list, e);

	if (r == 0) {
		name_masters(&list);
		r = netdevs_append(h, &list, true);
	}
	free(list.items);
	return r;
}

/* --- other namespaces ------------------------------------------------------------------------- */

static int netdevs_read_on_nsid(const struct nlmsghdr *h, void *arg)
{
	struct host *host = arg;
	struct netns *ns;
	int nsid;

	if (rtnl_decode_nsid(h, &nsid) < 0 || nsid < 0)
		return 0;
	ns = array_push(host->namespaces, host->n_namespaces);
	if (!ns)
		return -ENOMEM;
	ns->nsid = nsid;
	return 0;
}

static int list_nsids(struct nlsock *s, struct host *h, struct err *e)
{
	int r = nlsock_query(s, rtnl_dump_nsids(), netdevs_read_on_nsid, h, e);

	/* An id appears only together with a moved device or veth end, whose event triggers a
	 * rescan. */
	return r == -EAGAIN ? 0 : r;
}

static int on_one_nsid(const struct nlmsghdr *h, void *arg)
{
	return rtnl_decode_nsid(h, arg);
}

/* Gets the id of a namespace relative to ours, -1 if it has none. */
static int netdevs_read_nsid_of(struct nlsock *s, int netns_fd)
{
	int nsid = -1;

	nlsock_query(s, rtnl_get_nsid(netns_fd), on_one_nsid, &nsid, NULL);
	return nsid;
}

struct naming {
	struct nlsock *s;
	struct host *h;
};

static int netdevs_read_on_named(int fd, const char *name, void *arg)
{
	const struct naming *n = arg;
	int nsid = netdevs_read_nsid_of(n->s, fd);

	for (size_t i = 0; i < n->h->n_namespaces && nsid >= 0; i++) {
		struct netns *ns = &n->h->namespaces[i];

		if (ns->nsid == nsid && !ns->name[0])
			snprintf(ns->name, sizeof(ns->name), "%s", name);
	}
	return 0;
}

/* Removes our own namespace from the list of other namespaces: it may have an id, too. */
static void drop_own_id(struct nlsock *s, struct host *h)
{
	AUTO_FD fd = netns_open_own();
	int own = fd < 0 ? -1 : netdevs_read_nsid_of(s, fd);

	for (size_t i = 0; i < h->n_namespaces && own >= 0; i++)
		if (h->namespaces[i].nsid == own)
			h->namespaces[i] = h->namespaces[--h->n_namespaces];
}

static int read_others(const struct hw *hw, struct nlsock *s, struct host *h, struct err *e)
{
	struct naming naming = {s, h};
	struct err why = {0};
	int r = list_nsids(s, h, e);

	if (r < 0)
		return r;
	drop_own_id(s, h);
	netns_list(hw, netdevs_read_on_named, &naming);
	for (size_t i = 0; i < h->n_namespaces; i++) {
		const struct netns *ns = &h->namespaces[i];
		int one = read_other(s, ns->nsid, h, &why);

		if (one == -ENOMEM)
			return one;
		/* -EINVAL: the namespace was removed (rtnl_get_net_ns_capable()). */
		if (one < 0 && r == 0 && one != -EINVAL)
			r = err_set(e, one, "network namespace %d %s: %.160s", ns->nsid, ns->name,
				    why.msg);
	}
	return r;
}

/* --- all netdevs ------------------------------------------------------------------------------ */

static int read_kernel(const struct hw *hw, struct host *h, struct err problem[N_SCAN_SOURCES])
{
	struct nlsock s;
	int r = nlsock_open(&s, NETLINK_ROUTE, problem_slot(problem, SRC_RTNETLINK));

	if (r < 0)
		return r;
	r = read_own(hw, &s, h, problem_slot(problem, SRC_RTNETLINK));
	if (r == 0 && default_routes_read(&s, h, problem_slot(problem, SRC_RTNETLINK)) < 0)
		default_routes_read_proc(hw, h);
	if (r == 0 && read_others(hw, &s, h, problem_slot(problem, SRC_NETNS)) == -ENOMEM)
		r = -ENOMEM;
	nlsock_close(&s);
	return r;
}

int netdevs_read(const struct hw *hw, struct host *h, struct err problem[N_SCAN_SOURCES])
{
	int r = hw->live ? read_kernel(hw, h, problem) : -EOPNOTSUPP;

	if (r == 0 || r == -EAGAIN || r == -ENOMEM)
		return r;
	return netdevs_read_sysfs(hw, h, problem_slot(problem, SRC_SYSFS));
}

/* --- class/net: Documentation/ABI/testing/sysfs-class-net ------------------------------------- */

/* Parses "a0:88:c2:03:00:01"; any other form leaves the address unknown. */
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

static void netdevs_read_read_state(int dir, struct netdev *d)
{
	uint32_t v;

	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		sysfs_u32(dir, &d->link[i], "%s", link_fields[i].file);
	sysfs_str(dir, d->operstate, sizeof(d->operstate), "operstate");
	/* The file shows the device's internal flags, without those that netlink adds. */
	if (sysfs_u32(dir, &v, "flags") == 0 ? v & IFF_UP : !strcmp(d->operstate, "up"))
		d->flags = IFF_UP;
	if (sysfs_u32(dir, &v, "carrier") == 0) /* -EINVAL while administratively down */
		d->carrier = v ? CARRIER_ON : CARRIER_OFF;
	if (sysfs_u32(dir, &v, "carrier_changes") == 0)
		d->carrier_changes = v;
	if (sysfs_u32(dir, &v, "type") == 0)
		d->type = (uint16_t)v;
	/* Hardware devices report their own index. */
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

/* Reads the kind of the most common software devices, which is in their uevent
 * (SET_NETDEV_DEVTYPE). */
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

static int netdevs_read_on_netdev(int class_dir, const char *name, void *arg)
{
	struct host *h = arg;
	struct netdev d = {.nsid = NSID_HOST}, *new;
	char text[3 * HW_ADDR_MAX + 1];
	AUTO_FD dir = strlen(name) < IFNAMSIZ ? sysfs_open_dir(class_dir, "%s", name) : -1;

	/* No ifindex: removed meanwhile, or not a device (bonding_masters). */
	if (dir < 0 || sysfs_int(dir, &d.ifindex, "ifindex") < 0 || d.ifindex <= 0)
		return 0;
	memcpy(d.name, name, strlen(name) + 1);
	if (sysfs_str(dir, text, sizeof(text), "address") > 0)
		parse_address(text, &d);
	netdevs_read_read_state(dir, &d);
	read_relations(class_dir, dir, &d);
	if (!d.function[0])
		read_kind(dir, &d);
	new = array_push(h->netdevs, h->n_netdevs);
	if (!new)
		return -ENOMEM;
	*new = d;
	return 0;
}

/* Clears `lower` if the lower device is in another namespace, which the file `iflink` does not
 * show. The folder has a link lower_NAME only for a lower device in our namespace. */
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

/* True if the proc root belongs to the same machine as the sysfs root. False for a copied sysfs
 * with this machine's /proc, in which the same name means another device. */
static bool has_own_routes(const struct hw *hw)
{
	struct statfs fs;

	return hw->proc_fd >= 0 &&
	       (hw->live || fstatfs(hw->proc_fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC);
}

int netdevs_read_sysfs(const struct hw *hw, struct host *h, struct err *e)
{
	int r = sysfs_list(hw->sys_fd, "class/net", netdevs_read_on_netdev, h);

	check_lower(hw, h);
	if (has_own_routes(hw))
		default_routes_read_proc(hw, h);
	/* A tree without the class has no network devices. */
	return r < 0 && r != -ENOENT ? err_set(e, r, "sysfs: listing class/net: %s", strerror(-r))
				     : 0;
}
