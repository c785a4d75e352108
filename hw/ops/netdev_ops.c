/* netdev_ops.c - finds, changes, makes and deletes one netdev.
 *
 * Happy path: one request each; a stacked netdev takes a second one inside its namespace for its
 * alias, and bears a name that says it is unfinished until then.
 * Can fail by: whatever the kernel refuses, in its own words. */
#include "netdev_ops.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "cleanup.h"
#include "netns_ops.h"
#include "rtnl.h"

#define DUMP_ATTEMPTS 5

/* --- find ----------------------------------------------------------------------------------- */

/* Of a message that is known to be whole. */
static bool has_xdp(const struct nlmsghdr *h)
{
	const struct nlattr *xdp = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg),
						   IFLA_XDP);
	const struct nlattr *mode = xdp ? nla_find(nla_data(xdp), nla_len(xdp), IFLA_XDP_ATTACHED)
					: NULL;

	return mode && nla_len(mode) == 1 && nla_get_u8(mode) != XDP_ATTACHED_NONE;
}

static void read_perm_addr(const struct nlmsghdr *h, struct netdev_seen *seen)
{
	const struct nlattr *a = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg),
						 IFLA_PERM_ADDRESS);

	seen->perm_addr_len = 0;
	if (!a || nla_len(a) > HW_ADDR_MAX)
		return;
	seen->perm_addr_len = (unsigned)nla_len(a);
	memcpy(seen->perm_addr, nla_data(a), seen->perm_addr_len);
}

static int on_link(const struct nlmsghdr *h, void *arg)
{
	struct netdev_seen *seen = arg;
	struct rtnl_link link;
	int r = rtnl_decode_link(h, &link, NULL);

	if (r < 0)
		return r;
	seen->netdev = link.netdev;
	seen->has_xdp = has_xdp(h);
	seen->more_altnames = rtnl_decode_altnames(h, seen->altnames) < 0;
	read_perm_addr(h, seen);
	return rtnl_decode_alias(h, seen->alias);
}

static int find(struct nlsock *s, int ifindex, const char *name, struct netdev_seen *ret,
		struct err *e)
{
	struct netdev_seen seen = {0};
	int r = nlsock_ask(s, rtnl_get_link(ifindex, name), on_link, &seen, e);

	if (r < 0)
		return r;
	if (!seen.netdev.ifindex)
		return err_set(e, -EBADMSG, "the kernel's answer names no link");
	*ret = seen;
	return 0;
}

int netdev_by_index(struct nlsock *s, int ifindex, struct netdev_seen *ret, struct err *e)
{
	int r = ifindex > 0 ? find(s, ifindex, NULL, ret, e)
			    : err_set(e, -ENODEV, "%s", strerror(ENODEV));

	if (r < 0)
		err_wrap(e, "link %d", ifindex);
	return r;
}

int netdev_by_name(struct nlsock *s, const char *name, struct netdev_seen *ret, struct err *e)
{
	int r = find(s, 0, name, ret, e);

	if (r < 0)
		err_wrap(e, "%s", name);
	return r;
}

struct link_search {
	bool (*fits)(const struct netdev_seen *, const char *wanted);
	const char *wanted;
	struct netdev_seen found;
};

/* In switchdev mode a PF bears its VFs' representors, too: "pf0vf3" (IFLA_PHYS_PORT_NAME). */
static bool is_of_function(const struct netdev_seen *seen, const char *function)
{
	return strcmp(seen->netdev.function, function) == 0 &&
	       !strstr(seen->netdev.port_name, "pf");
}

static bool has_alias(const struct netdev_seen *seen, const char *alias)
{
	return strcmp(seen->alias, alias) == 0;
}

static int on_any_link(const struct nlmsghdr *h, void *arg)
{
	struct link_search *search = arg;
	struct netdev_seen seen;
	int r = on_link(h, &seen);

	if (r == -ENOMEM)
		return r;
	if (r == 0 && !search->found.netdev.ifindex && search->fits(&seen, search->wanted))
		search->found = seen;
	return 0;
}

static int search_links(struct nlsock *s, struct link_search *search, struct netdev_seen *ret,
			struct err *e)
{
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++) {
		search->found.netdev.ifindex = 0;
		r = nlsock_ask(s, rtnl_dump_links(NSID_HOST, false), on_any_link, search, e);
	}
	if (r == 0 && !search->found.netdev.ifindex)
		r = err_set(e, -ENODEV, "no netdev here");
	if (r < 0) {
		err_wrap(e, "%s", search->wanted);
		return r;
	}
	*ret = search->found;
	return 0;
}

int netdev_by_function(struct nlsock *s, const char *function, int guess, struct netdev_seen *ret,
		       struct err *e)
{
	struct link_search search = {.fits = is_of_function, .wanted = function};
	struct netdev_seen seen;

	if (guess > 0 && find(s, guess, NULL, &seen, NULL) == 0 &&
	    is_of_function(&seen, function)) {
		*ret = seen;
		return 0;
	}
	return search_links(s, &search, ret, e);
}

int netdev_by_alias(struct nlsock *s, const char *alias, struct netdev_seen *ret, struct err *e)
{
	struct link_search search = {.fits = has_alias, .wanted = alias};

	return search_links(s, &search, ret, e);
}

/* --- change --------------------------------------------------------------------------------- */

int netdev_change(struct nlsock *s, int ifindex, const struct netdev_change *c, struct err *e)
{
	int r;

	if (c->addr_len > HW_ADDR_MAX || (c->name && strlen(c->name) >= IFNAMSIZ))
		return err_set(e, -EINVAL, "an address or name of that length does not exist");
	r = nlsock_ask(s, rtnl_change_link(ifindex, c), NULL, NULL, e);
	if (r < 0)
		err_wrap(e, "changing link %d", ifindex);
	return r;
}

int netdev_delete(struct nlsock *s, int ifindex, struct err *e)
{
	int r = nlsock_ask(s, rtnl_delete_link(ifindex), NULL, NULL, e);

	if (r < 0)
		err_wrap(e, "deleting link %d", ifindex);
	return r;
}

struct altname_question {
	const char *keep;
	struct nl_msg *request; /* NULL = there was no answer, or no memory */
	unsigned n;
};

static int on_altnames(const struct nlmsghdr *h, void *arg)
{
	struct altname_question *q = arg;

	nlmsg_free(q->request);
	q->request = rtnl_delete_altnames(h, q->keep, &q->n);
	return q->request ? 0 : -ENOMEM;
}

/* As many as one request has room for; returns how many. */
static int delete_some_altnames(struct nlsock *s, int ifindex, const char *keep, struct err *e)
{
	struct altname_question q = {.keep = keep};
	int r = nlsock_ask(s, rtnl_get_link(ifindex, NULL), on_altnames, &q, e);

	if (r < 0 || q.n == 0) {
		nlmsg_free(q.request);
		return r;
	}
	r = nlsock_ask(s, q.request, NULL, NULL, e);
	return r < 0 ? r : (int)q.n;
}

/* All that the kernel lets a netdev have are fewer; somebody may be adding some. */
#define ALTNAME_ROUNDS 512

int netdev_keep_altnames(struct nlsock *s, int ifindex, const char *keep, struct err *e)
{
	int r = 1;

	for (int i = 0; i < ALTNAME_ROUNDS && r > 0; i++)
		r = delete_some_altnames(s, ifindex, keep, e);
	if (r < 0)
		err_wrap(e, "alternative names of link %d", ifindex);
	return r < 0 ? r : 0;
}

int netdev_add_altname(struct nlsock *s, int ifindex, const char *name, struct err *e)
{
	return nlsock_ask(s, rtnl_add_altname(ifindex, name), NULL, NULL, e);
}

void netdev_detach_xdp(struct nlsock *s, int ifindex)
{
	static const uint32_t modes[] = {XDP_FLAGS_SKB_MODE, XDP_FLAGS_DRV_MODE, XDP_FLAGS_HW_MODE};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		nlsock_ask(s, rtnl_set_xdp(ifindex, -1, modes[i]), NULL, NULL, NULL);
}

/* --- make ----------------------------------------------------------------------------------- */

/* The kernel looks for the name in the socket's namespace, too (before Linux 6.14), where an
 * ordinary one may be taken by another; and a netdev without an alias must not look finished. */
static void unfinished_name(const char *ifname, char ret[IFNAMSIZ])
{
	snprintf(ret, IFNAMSIZ, "rl-%.12s", ifname);
}

static int delete_leftover(struct nlsock *inside, const char *name)
{
	struct netdev_seen seen;
	int r = netdev_by_name(inside, name, &seen, NULL);

	return r < 0 ? r : netdev_delete(inside, seen.netdev.ifindex, NULL);
}

/* Once more when an attempt that died has left one. */
static int make_unfinished(struct nlsock *s, struct nlsock *inside, const struct net_plan *plan,
			   const char *name, int parent_ifindex, int netns_fd, struct err *e)
{
	int r = nlsock_ask(s, rtnl_new_stacked(plan, name, parent_ifindex, netns_fd), NULL, NULL,
			   e);

	if (r == -EEXIST && delete_leftover(inside, name) == 0)
		r = nlsock_ask(s, rtnl_new_stacked(plan, name, parent_ifindex, netns_fd), NULL,
			       NULL, e);
	return r;
}

static int finish(struct nlsock *inside, const char *unfinished, const char *ifname,
		  const char *alias, struct err *e)
{
	struct netdev_change c = NETDEV_NO_CHANGE;
	struct netdev_seen seen = {0};
	int r = netdev_by_name(inside, unfinished, &seen, e);

	if (r < 0)
		return r;
	c.name = ifname;
	c.alias = alias;
	r = nlsock_ask(inside, rtnl_change_link(seen.netdev.ifindex, &c), NULL, NULL, e);
	if (r < 0)
		netdev_delete(inside, seen.netdev.ifindex, NULL);
	return r;
}

static int make_inside(struct nlsock *s, struct nlsock *inside, const struct net_plan *plan,
		       int parent_ifindex, int netns_fd, const char *alias, struct err *e)
{
	char unfinished[IFNAMSIZ];
	int r;

	unfinished_name(plan->ifname, unfinished);
	r = make_unfinished(s, inside, plan, unfinished, parent_ifindex, netns_fd, e);
	return r < 0 ? r : finish(inside, unfinished, plan->ifname, alias, e);
}

int netdev_make_stacked(struct nlsock *s, const struct net_plan *plan, int parent_ifindex,
			int netns_fd, const char *alias, struct err *e)
{
	struct nlsock inside;
	int r;

	if (plan->kind == PLAN_VF)
		return err_set(e, -EINVAL, "%s: a VF is moved, not made", plan->ifname);
	if (plan->kind == PLAN_IPVLAN && plan->has_mac)
		return err_set(e, -EINVAL, "%s: an ipvlan has the MAC of the netdev below it",
			       plan->ifname);
	r = netns_nlsock(&inside, netns_fd, NETLINK_ROUTE, e);
	if (r < 0)
		return r;
	r = make_inside(s, &inside, plan, parent_ifindex, netns_fd, alias, e);
	nlsock_close(&inside);
	if (r < 0)
		err_wrap(e, "making %s on link %d", plan->ifname, parent_ifindex);
	return r;
}
