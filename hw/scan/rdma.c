// SPDX-License-Identifier: Apache-2.0
/* rdma.c - merges the RDMA devices from RDMA netlink, sysfs and verbs.
 *
 * Steps:
 * 1. List devices and ports over RDMA netlink; in exclusive mode also from inside the other
 *    namespaces that have netdevs of our functions.
 * 2. Find the character devices.
 * 3. Read the rest from sysfs.
 * 4. Find the netdevs in other namespaces.
 *
 * Errors: without RDMA netlink sysfs lists the devices; the devices of a namespace that we may not
 * enter stay unknown. Details (MTUs, GIDs) are read separately: that opens the device, which is
 * slow, and a new device must be visible before its details are known.
 *
 * Finding a port's netdev: the kernel reports it only to sockets in the netdev's namespace. If it
 * is in another namespace, hardware is matched by the common function; a soft-RoCE device has no
 * function, so its port is queried again from inside each candidate namespace. */

#include <linux/netlink.h>

#include "cleanup.h"
#include "netns.h"
#include "rdma_netlink.h"
#include "rdma_sysfs.h"
#include "scan.h"
#include "search.h"
#include "sysfs.h"

/* --- other namespaces ------------------------------------------------------------------------- */

static bool holds_our_netdev(const struct host *h, int nsid)
{
	return any_of(h->n_netdevs, i, h->netdevs[i].nsid == nsid && h->netdevs[i].function[0]);
}

static int open_inside(const struct hw *hw, const char *name, struct nlsock *ret)
{
	AUTO_FD ns = netns_open(hw, name);
	int fd = ns < 0 ? ns : netns_socket(ns, NETLINK_RDMA);

	return fd < 0 ? fd : nlsock_adopt(ret, fd);
}

typedef int visit_fn(struct nlsock *, int nsid, struct host *);

/* Calls fn with a socket inside every named namespace that has a netdev of one of our functions. */
static void visit_namespaces(const struct hw *hw, struct host *h, visit_fn *fn,
			     struct err problem[N_SCAN_SOURCES])
{
	for (size_t i = 0; i < h->n_namespaces; i++) {
		const struct netns *ns = &h->namespaces[i];
		struct nlsock s;
		int r;

		if (!ns->name[0] || !holds_our_netdev(h, ns->nsid))
			continue;
		r = open_inside(hw, ns->name, &s);
		if (r == 0) {
			r = fn(&s, ns->nsid, h);
			nlsock_close(&s);
		}
		if (r < 0 &&
		    !err_is_not_found(r)) /* not found: the namespace was removed meanwhile */
			err_set(problem_slot(problem, SRC_NETNS), r,
				"RDMA devices of network namespace %s: %s", ns->name, strerror(-r));
	}
}

static int devices_inside(struct nlsock *s, int nsid, struct host *h)
{
	return rdma_netlink_devices(s, nsid, h, NULL);
}

static bool is_virtual(const struct rdma_dev *d)
{
	return !d->function[0];
}

static bool lacks_netdev(const struct rdma_dev *d)
{
	return any_of(d->n_ports, i, !d->ports[i].netdev_ifindex);
}

/* Uses the netdev that has the same function as the port and is in another namespace. Stays unknown
 * if there are several. */
static void rdma_netdev_by_function(const struct host *h, const char *function, struct rdma_port *p)
{
	const struct netdev *found = NULL;

	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *d = &h->netdevs[i];

		if (d->nsid == NSID_HOST || strcmp(d->function, function) != 0)
			continue;
		if (found)
			return;
		found = d;
	}
	if (!found)
		return;
	p->netdev_nsid = found->nsid;
	p->netdev_ifindex = found->ifindex;
	memcpy(p->netdev, found->name, IFNAMSIZ);
}

static void find_netdevs(const struct hw *hw, struct host *h, struct err problem[N_SCAN_SOURCES])
{
	bool query = false;

	for (size_t i = 0; i < h->n_rdma; i++) {
		struct rdma_dev *d = &h->rdma[i];

		for (unsigned k = 0; k < d->n_ports && !is_virtual(d); k++)
			if (!d->ports[k].netdev_ifindex &&
			    d->ports[k].link_layer != LINK_INFINIBAND)
				rdma_netdev_by_function(h, d->function, &d->ports[k]);
		query |= is_virtual(d) && lacks_netdev(d);
	}
	if (query)
		visit_namespaces(hw, h, rdma_netlink_netdevs, problem);
}

/* Assigns a device without hardware to the function of its port's netdev, else to its own virtual
 * function. */
static void rdma_find_function(const struct host *h, struct rdma_dev *d)
{
	for (unsigned i = 0; i < d->n_ports && !d->function[0]; i++) {
		const struct rdma_port *p = &d->ports[i];
		const struct netdev *netdev = p->netdev_ifindex ? host_netdev(h, p->netdev_nsid,
									      p->netdev_ifindex)
								: NULL;

		if (netdev)
			memcpy(d->function, netdev->function, sizeof(d->function));
	}
	if (!d->function[0])
		memcpy(d->function, d->name, sizeof(d->function));
}

/* --- sources ---------------------------------------------------------------------------------- */

static int list_over_netlink(const struct hw *hw, struct nlsock *s, struct host *h,
			     struct err problem[N_SCAN_SOURCES])
{
	struct err *e = problem_slot(problem, SRC_RDMA_NETLINK);
	int r = rdma_netlink_devices(s, NSID_HOST, h, e);

	if (r < 0)
		return r;
	/* -EINVAL: the kernel does not support the request, so it does not separate namespaces. */
	if (rdma_netlink_mode(s, &h->rdma_mode, NULL) == 0 && h->rdma_mode == RDMA_NETNS_EXCLUSIVE)
		visit_namespaces(hw, h, devices_inside, problem);
	return 0;
}

/* Reads the rest from sysfs, only for devices of our own namespace: our sysfs has no others, and
 * devices of other namespaces may have the same names. */
static void fill_from_sysfs(const struct hw *hw, struct host *h)
{
	for (size_t i = 0; i < h->n_rdma; i++)
		if (h->rdma[i].nsid == NSID_HOST)
			rdma_sysfs_fill(hw, &h->rdma[i]);
}

static void fill_gids_from_sysfs(const struct hw *hw, struct host *h)
{
	for (size_t i = 0; i < h->n_rdma; i++)
		if (h->rdma[i].nsid == NSID_HOST)
			rdma_sysfs_gids(hw, &h->rdma[i]);
}

static bool lacks_node(const struct hw *hw, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "infiniband/%s", name);
	return *name != '\0' && faccessat(hw->dev_fd, path, F_OK, 0) < 0;
}

static void find_nodes(const struct hw *hw, struct rdma_dev *d)
{
	d->no_uverbs_node = lacks_node(hw, d->uverbs);
	d->no_umad_node = lacks_node(hw, d->umad);
}

static bool rdma_is_missing(int dir_fd, const char *path)
{
	return faccessat(dir_fd, path, F_OK, 0) < 0 && errno == ENOENT;
}

/* Returns the state of /dev/infiniband/rdma_cm. drivers/infiniband/core/ucma.c registers a misc
 * device of that name. */
static enum rdma_cm_node find_rdma_cm(const struct hw *hw)
{
	if (faccessat(hw->dev_fd, "infiniband/rdma_cm", F_OK, 0) == 0)
		return RDMA_CM_THERE;
	if (errno != ENOENT || !sysfs_exists(hw->sys_fd, "class/misc"))
		return RDMA_CM_UNKNOWN;
	return rdma_is_missing(hw->sys_fd, "class/misc/rdma_cm") ? RDMA_CM_NO_MODULE
								 : RDMA_CM_NO_NODE;
}

static int assign_chardevs(const struct hw *hw, struct host *h)
{
	struct chardev_table table;
	int r = chardevs_read(hw, &table);

	h->rdma_cm = find_rdma_cm(hw);
	for (size_t i = 0; i < h->n_rdma && r == 0; i++) {
		if (h->rdma[i].nsid != NSID_HOST)
			continue;
		chardevs_assign(&table, &h->rdma[i]);
		find_nodes(hw, &h->rdma[i]);
	}
	chardevs_done(&table);
	return r;
}

static int read_sysfs(const struct hw *hw, struct host *h, struct err *e)
{
	int r = rdma_sysfs_list(hw, h);

	if (r == 0)
		r = assign_chardevs(hw, h);
	if (r < 0)
		return err_set(e, r, "sysfs: listing class/infiniband: %s", strerror(-r));
	fill_from_sysfs(hw, h);
	fill_gids_from_sysfs(hw, h);
	for (size_t i = 0; i < h->n_rdma; i++)
		rdma_sysfs_netdevs(hw, &h->rdma[i]);
	return 0;
}

static int read_live(const struct hw *hw, struct nlsock *s, struct host *h,
		     struct err problem[N_SCAN_SOURCES])
{
	int r = list_over_netlink(hw, s, h, problem);

	if (r < 0)
		return r;
	r = assign_chardevs(hw, h);
	if (r < 0)
		return r;
	rdma_netlink_drivers(s, h);
	fill_from_sysfs(hw, h);
	find_netdevs(hw, h, problem);
	for (size_t i = 0; i < h->n_rdma; i++)
		h->rdma[i].stale = true;
	return 0;
}

static void drop_all(struct host *h)
{
	for (size_t i = 0; i < h->n_rdma; i++)
		rdma_dev_done(&h->rdma[i]);
	h->n_rdma = 0;
}

int rdma_read(const struct hw *hw, struct host *h, struct err problem[N_SCAN_SOURCES])
{
	struct nlsock s = NLSOCK_CLOSED;
	int r = -EOPNOTSUPP;

	/* If the class does not exist, ib_core is not loaded; a netlink request would load it. */
	if (!sysfs_exists(hw->sys_fd, "class/infiniband"))
		return 0;
	if (hw->live)
		r = nlsock_open(&s, NETLINK_RDMA, problem_slot(problem, SRC_RDMA_NETLINK));
	if (r == 0)
		r = read_live(hw, &s, h, problem);
	nlsock_close(&s);
	if (r < 0 && r != -ENOMEM && r != -EAGAIN) {
		drop_all(h);
		r = read_sysfs(hw, h, problem_slot(problem, SRC_SYSFS));
	}
	for (size_t i = 0; i < h->n_rdma; i++)
		rdma_find_function(h, &h->rdma[i]);
	return r;
}

void hw_read_details(const struct hw *hw, struct host *h, struct err problem[N_SCAN_SOURCES])
{
	for (size_t i = 0; i < h->n_rdma; i++)
		h->rdma[i].stale = false;
	if (hw->live && h->n_rdma)
		verbs_read(h->rdma, h->n_rdma, problem_slot(problem, SRC_VERBS));
	fill_gids_from_sysfs(hw, h);
}
