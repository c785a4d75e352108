/* netdevs.c - network devices from rtnetlink dumps.
 *
 * Happy path: dump the links of our namespace; ask which other namespaces the kernel has an id for
 * and what they are called; dump those too, keeping what sits on one of this host's functions. Can
 * fail by: no netlink at all (class/net then serves our own namespace); links changing during every
 * attempt (-EAGAIN: the caller looks again); another namespace that we may not look into or that
 * died meanwhile (its devices are missing, a problem is noted). */
#include "netdevs.h"

#include <linux/netlink.h>

#include "array.h"
#include "cleanup.h"
#include "default_routes.h"
#include "functions.h"
#include "netns.h"
#include "nlsock.h"
#include "problem.h"
#include "rtnl.h"
#include "sysfs.h"

#define DUMP_ATTEMPTS 5

struct netdev_list {
	struct netdev *items;
	size_t n;
	int nsid;
	size_t n_malformed;
};

/* --- one namespace ------------------------------------------------------------------------ */

static int on_link(const struct nlmsghdr *h, void *arg)
{
	struct netdev_list *list = arg;
	struct rtnl_link link;
	struct netdev *d;

	if (rtnl_decode_link(h, &link, NULL) < 0) {
		list->n_malformed++;
		return 0;
	}
	/* A kernel that does not know IFLA_TARGET_NETNSID answers with our own links. */
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
		struct nl_msg *req = rtnl_dump_links(list->nsid, false);

		list->n = 0;
		list->n_malformed = 0;
		r = req ? nlsock_call(s, req, on_link, list, e) : -ENOMEM;
		nlmsg_free(req);
	}
	if (r == 0 && e)
		*e = (struct err){0}; /* of the attempts before */
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

/* Kernels before 5.14 do not name the parent device, and a virtio device's parent is not the
 * function itself: then the device's path in sysfs tells. Software devices have a kind and no
 * function. */
static void find_functions(const struct hw *hw, struct netdev_list *list)
{
	char path[SYSFS_PATH_MAX];

	for (size_t i = 0; i < list->n; i++) {
		struct netdev *d = &list->items[i];

		if (!d->function[0] && !d->kind[0] &&
		    sysfs_target(hw->sys_fd, path, sizeof(path), "class/net/%s", d->name) == 0)
			function_id_from_path(path, d->function);
	}
}

static int append(struct host *h, const struct netdev_list *list, bool only_functions)
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
		r = append(h, &list, false);
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
		r = append(h, &list, true);
	}
	free(list.items);
	return r;
}

/* --- the other namespaces ----------------------------------------------------------------- */

static int on_nsid(const struct nlmsghdr *h, void *arg)
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
	struct nl_msg *req = rtnl_dump_nsids();
	int r = req ? nlsock_call(s, req, on_nsid, h, e) : -ENOMEM;

	nlmsg_free(req);
	/* Ids only ever appear with a device or a veth end moving; the next event brings a rescan.
	 */
	return r == -EAGAIN ? 0 : r;
}

static int on_one_nsid(const struct nlmsghdr *h, void *arg)
{
	return rtnl_decode_nsid(h, arg);
}

/* The id that we know a namespace by, -1 when it has none. */
static int nsid_of(struct nlsock *s, int netns_fd)
{
	struct nl_msg *req = rtnl_get_nsid(netns_fd);
	int nsid = -1;

	if (req)
		nlsock_call(s, req, on_one_nsid, &nsid, NULL);
	nlmsg_free(req);
	return nsid;
}

struct naming {
	struct nlsock *s;
	struct host *h;
};

static int on_named(int fd, const char *name, void *arg)
{
	const struct naming *n = arg;
	int nsid = nsid_of(n->s, fd);

	for (size_t i = 0; i < n->h->n_namespaces && nsid >= 0; i++) {
		struct netns *ns = &n->h->namespaces[i];

		if (ns->nsid == nsid && !ns->name[0])
			snprintf(ns->name, sizeof(ns->name), "%s", name);
	}
	return 0;
}

/* A namespace may have an id for itself; it is not another one then. */
static void drop_own_id(struct nlsock *s, struct host *h)
{
	AUTO_FD fd = netns_open_own();
	int own = fd < 0 ? -1 : nsid_of(s, fd);

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
	netns_list(hw, on_named, &naming);
	for (size_t i = 0; i < h->n_namespaces; i++) {
		const struct netns *ns = &h->namespaces[i];
		int one = read_other(s, ns->nsid, h, &why);

		if (one == -ENOMEM)
			return one;
		/* -EINVAL: the namespace behind the id died (rtnl_get_net_ns_capable()). */
		if (one < 0 && r == 0 && one != -EINVAL)
			r = err_set(e, one, "network namespace %d %s: %.160s", ns->nsid, ns->name,
				    why.msg);
	}
	return r;
}

/* --- all ---------------------------------------------------------------------------------- */

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
