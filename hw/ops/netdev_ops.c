// SPDX-License-Identifier: Apache-2.0
/* netdev_ops.c - finds, changes, creates and deletes one netdev.
 *
 * Success: one request each; a stacked netdev needs a second one inside its namespace to set its
 * alias, and has a temporary name until then.
 * Errors: any rejection by the kernel, with its extack message. */
#include "netdev_ops.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "cleanup.h"
#include "netns.h"
#include "nldev.h"
#include "rtnl.h"
#include "rtnl_addr.h"

#define DUMP_ATTEMPTS 5

/* --- find ----------------------------------------------------------------------------------- */

/* True if an XDP program is attached. The message must have been validated. */
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

static int netdev_ops_on_link(const struct nlmsghdr *h, void *arg)
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

static int netdev_find(struct nlsock *s, int ifindex, const char *name, struct netdev_seen *ret,
		       struct err *e)
{
	struct netdev_seen seen = {0};
	int r = nlsock_query(s, rtnl_get_link(ifindex, name), netdev_ops_on_link, &seen, e);

	if (r < 0)
		return r;
	if (!seen.netdev.ifindex)
		return err_set(e, -EBADMSG, "the kernel's answer contains no link");
	*ret = seen;
	return 0;
}

int netdev_by_index(struct nlsock *s, int ifindex, struct netdev_seen *ret, struct err *e)
{
	int r = ifindex > 0 ? netdev_find(s, ifindex, NULL, ret, e)
			    : err_set(e, -ENODEV, "%s", strerror(ENODEV));

	if (r < 0)
		err_wrap(e, "link %d", ifindex);
	return r;
}

int netdev_by_name(struct nlsock *s, const char *name, struct netdev_seen *ret, struct err *e)
{
	int r = netdev_find(s, 0, name, ret, e);

	if (r < 0)
		err_wrap(e, "%s", name);
	return r;
}

struct link_search {
	bool (*fits)(const struct netdev_seen *, const char *wanted);
	const char *wanted;
	struct netdev_seen found;
};

/* True if the netdev is that of the function, and not a representor "pf0vf3" (IFLA_PHYS_PORT_NAME):
 * in switchdev mode a PF is also the parent of its VFs' representors. */
static bool netdev_is_of_function(const struct netdev_seen *seen, const char *function)
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
	int r = netdev_ops_on_link(h, &seen);

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
		r = nlsock_query(s, rtnl_dump_links(NSID_HOST, false), on_any_link, search, e);
	}
	if (r == 0 && !search->found.netdev.ifindex)
		r = err_set(e, -ENODEV, "no such netdev in this namespace");
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
	struct link_search search = {.fits = netdev_is_of_function, .wanted = function};
	struct netdev_seen seen;

	if (guess > 0 && netdev_find(s, guess, NULL, &seen, NULL) == 0 &&
	    netdev_is_of_function(&seen, function)) {
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

void netdev_change_trim(struct netdev_change *c, const struct netdev_seen *seen)
{
	const struct netdev *nd = &seen->netdev;

	if (c->name && c->netns_fd < 0 && strcmp(nd->name, c->name) == 0)
		c->name = NULL;
	if (c->alias && strcmp(seen->alias, c->alias) == 0)
		c->alias = NULL;
	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (nd->link[i] == c->link[i])
			c->link[i] = 0;
	if (c->addr_len && memcmp(nd->addr, c->addr, c->addr_len) == 0)
		c->addr_len = 0;
}

bool netdev_change_is_empty(const struct netdev_change *c)
{
	static const uint32_t none[N_LINK_FIELDS];

	return c->netns_fd < 0 && !c->name && !c->alias && !c->addr_len && !c->clear &&
	       memcmp(c->link, none, sizeof(none)) == 0;
}

int netdev_change(struct nlsock *s, int ifindex, const struct netdev_change *c, struct err *e)
{
	int r;

	if (c->addr_len > HW_ADDR_MAX || (c->name && strlen(c->name) >= IFNAMSIZ))
		return err_set(e, -EINVAL, "an address or name of that length does not exist");
	r = nlsock_query(s, rtnl_change_link(ifindex, c), NULL, NULL, e);
	if (r < 0)
		err_wrap(e, "changing link %d", ifindex);
	return r;
}

int netdev_delete(struct nlsock *s, int ifindex, struct err *e)
{
	int r = nlsock_query(s, rtnl_delete_link(ifindex), NULL, NULL, e);

	if (r < 0)
		err_wrap(e, "deleting link %d", ifindex);
	return r;
}

struct altname_request {
	const char *keep;
	struct nl_msg *request; /* NULL = no answer, or out of memory */
	unsigned n;
};

static int on_altnames(const struct nlmsghdr *h, void *arg)
{
	struct altname_request *q = arg;

	nlmsg_free(q->request);
	q->request = rtnl_delete_altnames(h, q->keep, &q->n);
	return q->request ? 0 : -ENOMEM;
}

/* Deletes as many alternative names as fit into one request; returns how many. */
static int delete_some_altnames(struct nlsock *s, int ifindex, const char *keep, struct err *e)
{
	struct altname_request q = {.keep = keep};
	int r = nlsock_query(s, rtnl_get_link(ifindex, NULL), on_altnames, &q, e);

	if (r < 0 || q.n == 0) {
		nlmsg_free(q.request);
		return r;
	}
	r = nlsock_query(s, q.request, NULL, NULL, e);
	return r < 0 ? r : (int)q.n;
}

/* Maximum number of requests: enough for all names that the kernel allows, even if another process
 * adds some meanwhile. */
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
	return nlsock_query(s, rtnl_add_altname(ifindex, name), NULL, NULL, e);
}

void netdev_detach_xdp(struct nlsock *s, int ifindex)
{
	static const uint32_t modes[] = {XDP_FLAGS_SKB_MODE, XDP_FLAGS_DRV_MODE, XDP_FLAGS_HW_MODE};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		nlsock_query(s, rtnl_set_xdp(ifindex, -1, modes[i]), NULL, NULL, NULL);
}

/* --- create ----------------------------------------------------------------------------------- */

/* Makes the temporary name. Before Linux 6.14 the kernel also checks the name in the socket's
 * namespace, where a common name may be in use. Also, a netdev without an alias must not look
 * finished. */
static void unfinished_name(const char *ifname, char ret[IFNAMSIZ])
{
	snprintf(ret, IFNAMSIZ, "rl-%.12s", ifname);
}

static int delete_leftover(struct nlsock *inside, const char *name)
{
	struct netdev_seen seen = {0};
	int r = netdev_by_name(inside, name, &seen, NULL);

	return r < 0 ? r : netdev_delete(inside, seen.netdev.ifindex, NULL);
}

/* Creates the netdev under its temporary name. If a leftover of an interrupted attempt has that
 * name, deletes the leftover and retries. */
static int make_unfinished(struct nlsock *s, struct nlsock *inside, const struct net_plan *plan,
			   const char *name, int parent_ifindex, int netns_fd, struct err *e)
{
	int r = nlsock_query(s, rtnl_new_stacked(plan, name, parent_ifindex, netns_fd), NULL, NULL,
			     e);

	if (r == -EEXIST && delete_leftover(inside, name) == 0)
		r = nlsock_query(s, rtnl_new_stacked(plan, name, parent_ifindex, netns_fd), NULL,
				 NULL, e);
	return r;
}

int netdev_make_veth(struct nlsock *s, const char *name, int *ret_ifindex, struct err *e)
{
	struct netdev_seen seen = {0};
	int r = nlsock_query(s, rtnl_new_veth(name), NULL, NULL, e);

	if (r == -EEXIST && delete_leftover(s, name) == 0)
		r = nlsock_query(s, rtnl_new_veth(name), NULL, NULL, e);
	if (r == 0)
		r = netdev_by_name(s, name, &seen, e);
	if (r < 0)
		return err_wrap(e, "creating veth %s", name);
	*ret_ifindex = seen.netdev.ifindex;
	return 0;
}

static int netdev_finish(struct nlsock *inside, const char *unfinished, const char *ifname,
			 const char *alias, struct err *e)
{
	struct netdev_change c = NETDEV_NO_CHANGE;
	struct netdev_seen seen = {0};
	int r = netdev_by_name(inside, unfinished, &seen, e);

	if (r < 0)
		return r;
	c.name = ifname;
	c.alias = alias;
	r = nlsock_query(inside, rtnl_change_link(seen.netdev.ifindex, &c), NULL, NULL, e);
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
	return r < 0 ? r : netdev_finish(inside, unfinished, plan->ifname, alias, e);
}

int netdev_make_stacked(struct nlsock *s, const struct net_plan *plan, int parent_ifindex,
			int netns_fd, const char *alias, struct err *e)
{
	struct nlsock inside;
	int r;

	if (plan->kind == PLAN_VF)
		return err_set(e, -EINVAL, "%s: a VF cannot be created as a stacked netdev",
			       plan->ifname);
	if (plan->kind == PLAN_IPVLAN && plan->has_mac)
		return err_set(e, -EINVAL, "%s: an ipvlan has the MAC of the netdev below it",
			       plan->ifname);
	r = netns_nlsock(&inside, netns_fd, NETLINK_ROUTE, e);
	if (r < 0)
		return r;
	r = make_inside(s, &inside, plan, parent_ifindex, netns_fd, alias, e);
	nlsock_close(&inside);
	if (r < 0)
		err_wrap(e, "creating %s on link %d", plan->ifname, parent_ifindex);
	return r;
}

/* --- addresses and routes --------------------------------------------------------------------- */

/* One datagram with addresses, up and routes; routes come last, because the kernel rejects routes
 * through a link that is down. Errors: a rejected request, which the message names; a different
 * route with the same key exists (-EEXIST, which is accepted if the existing route is the same). */

struct configuration {
	int ifindex;
	const struct ip_prefix *ips;
	size_t n_ips;
	const struct net_route *routes;
	size_t n_routes;
	bool up;
	/* The first rejected request. */
	size_t failed_at;
	int failed;
	uint64_t exist; /* bit mask of routes that got -EEXIST */
};

/* --- batch ---------------------------------------------------------------------------------- */

static struct nl_msg *make_request(const struct configuration *c, size_t i)
{
	struct netdev_change up = NETDEV_NO_CHANGE;

	if (i < c->n_ips)
		return rtnl_new_addr(c->ifindex, &c->ips[i]);
	i -= c->n_ips;
	if (i >= c->up)
		return rtnl_new_route(c->ifindex, &c->routes[i - c->up]);
	up.up = 1;
	return rtnl_change_link(c->ifindex, &up);
}

/* Adds a request and sets its flags, because nlsock_batch() does not. */
static int netdev_add_request(struct nldev_batch *b, struct nl_msg *req)
{
	if (req)
		nlmsg_hdr(req)->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	return nldev_batch_add(b, req);
}

static void netdev_ops_on_answer(size_t i, const struct nlmsghdr *h, int error, void *arg)
{
	struct configuration *c = arg;
	size_t before_routes = c->n_ips + c->up;

	(void)h;
	if (error == -EEXIST && i < c->n_ips)
		return;
	if (error == -EEXIST && i >= before_routes)
		c->exist |= UINT64_C(1) << (i - before_routes);
	else if (error && !c->failed) {
		c->failed = error;
		c->failed_at = i;
	}
}

static int netdev_run_batch(struct nlsock *s, struct configuration *c)
{
	struct nldev_batch b = {0};
	size_t n = c->n_ips + c->up + c->n_routes;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = netdev_add_request(&b, make_request(c, i));
	if (r == 0 && b.n)
		r = nlsock_batch(s, b.buf, b.len, b.n, netdev_ops_on_answer, c);
	nldev_batch_done(&b);
	return r;
}

/* --- error messages --------------------------------------------------------------------------- */

#define ROUTE_TEXT_SIZE (2 * RTNL_PREFIX_SIZE + 8)

static void route_text(const struct net_route *route, char text[ROUTE_TEXT_SIZE])
{
	char dst[RTNL_PREFIX_SIZE], via[RTNL_PREFIX_SIZE];

	rtnl_prefix_text(&route->dst, dst);
	rtnl_prefix_text(&route->gateway, via);
	via[strcspn(via, "/")] = '\0';
	snprintf(text, ROUTE_TEXT_SIZE, "%s%s%s", route->dst.len ? dst : "default",
		 route->gateway.family ? " via " : "", route->gateway.family ? via : "");
}

static void request_text(const struct configuration *c, size_t i, char *text, size_t size)
{
	size_t n = c->n_ips + c->up;
	char what[ROUTE_TEXT_SIZE] = "";

	if (i < c->n_ips)
		rtnl_prefix_text(&c->ips[i], what);
	else if (i >= n)
		route_text(&c->routes[i - n], what);
	if (i < c->n_ips || i >= n)
		snprintf(text, size, "%s %s", i < c->n_ips ? "address" : "route", what);
	else
		snprintf(text, size, "setting it up");
}

/* Sets the message for the rejected request. Answers in a batch have no extack text, so the request
 * is repeated alone. */
static int name_failure(struct nlsock *s, const struct configuration *c, struct err *e)
{
	char what[ROUTE_TEXT_SIZE + 16];
	struct err now = {0};
	int r = nlsock_query(s, make_request(c, c->failed_at), NULL, NULL, &now);

	request_text(c, c->failed_at, what, sizeof(what));
	return err_set(e, c->failed, "%s: %s", what,
		       r == c->failed ? now.msg : strerror(-c->failed));
}

/* --- existing routes -------------------------------------------------------------------------- */

static int netdev_on_route(const struct nlmsghdr *h, void *arg)
{
	struct configuration *c = arg;

	for (size_t i = 0; i < c->n_routes; i++)
		if (rtnl_is_route(h, c->ifindex, &c->routes[i]))
			c->exist &= ~(UINT64_C(1) << i);
	return 0;
}

static int dump_routes(struct nlsock *s, struct configuration *c, uint8_t family, struct err *e)
{
	int r = nlsock_query(s, rtnl_dump_link_routes(family, c->ifindex), netdev_on_route, c, e);

	/* An interrupted dump may have missed a route; the caller then retries. */
	return r == -EAGAIN ? 0 : r;
}

static int name_clash(const struct net_route *route, struct err *e)
{
	char text[ROUTE_TEXT_SIZE];

	route_text(route, text);
	return err_set(e, -EEXIST, "route %s: a different route exists", text);
}

/* Clears the routes in `exist` that are identical to the desired ones; the others are errors. */
static int check_existing(struct nlsock *s, struct configuration *c, struct err *e)
{
	int r = 0;

	for (int i = 0; i < DUMP_ATTEMPTS && c->exist && r == 0; i++) {
		r = dump_routes(s, c, AF_INET, e);
		if (r == 0 && c->exist)
			r = dump_routes(s, c, AF_INET6, e);
	}
	for (size_t i = 0; i < c->n_routes && r == 0; i++)
		if (c->exist >> i & 1)
			r = name_clash(&c->routes[i], e);
	return r;
}

int netdev_configure(struct nlsock *s, int ifindex, const struct ip_prefix *ips, size_t n_ips,
		     const struct net_route *routes, size_t n_routes, bool up, struct err *e)
{
	struct configuration c = {.ifindex = ifindex,
				  .ips = ips,
				  .n_ips = n_ips,
				  .routes = routes,
				  .n_routes = n_routes,
				  .up = up};
	int r;

	if (n_routes > 64)
		return err_set(e, -E2BIG, "%zu routes exceed the maximum of an interface",
			       n_routes);
	r = netdev_run_batch(s, &c);
	if (r < 0)
		return err_set(e, r, "configuring link %d: %s", ifindex, strerror(-r));
	if (c.failed)
		return name_failure(s, &c, e);
	return c.exist ? check_existing(s, &c, e) : 0;
}

/* --- addresses ------------------------------------------------------------------------------ */

struct address_list {
	int ifindex;
	struct ip_prefix *ips;
	size_t n, max;
};

static int netdev_on_address(const struct nlmsghdr *h, void *arg)
{
	struct address_list *list = arg;
	struct rtnl_addr a;

	if (rtnl_decode_addr(h, &a) < 0 || a.ifindex != list->ifindex ||
	    a.scope != RT_SCOPE_UNIVERSE)
		return 0;
	if (list->n < list->max)
		list->ips[list->n] = a.ip;
	list->n++;
	return 0;
}

int netdev_addresses(struct nlsock *s, int ifindex, struct ip_prefix *ret, size_t max,
		     struct err *e)
{
	struct address_list list = {.ifindex = ifindex, .ips = ret, .max = max};
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++) {
		list.n = 0;
		r = nlsock_query(s, rtnl_dump_addrs(ifindex), netdev_on_address, &list, e);
	}
	if (r < 0) {
		err_wrap(e, "addresses of link %d", ifindex);
		return r;
	}
	return (int)list.n;
}
