/* netdev_configure.c - addresses and routes of one netdev.
 *
 * Happy path: addresses, up, routes, all in one datagram; routes come last, because the kernel
 * takes none through a link that is down. Can fail by: one that the kernel refuses, which is named;
 * a route whose place another one has
 * (-EEXIST; if it is the same route, all is well). */
#include "netdev_ops.h"

#include "nldev.h"
#include "rtnl_addr.h"

#define DUMP_ATTEMPTS 5

struct configuration {
	int ifindex;
	const struct ip_prefix *ips;
	size_t n_ips;
	const struct net_route *routes;
	size_t n_routes;
	bool up;
	/* The first request that was refused. */
	size_t failed_at;
	int failed;
	uint64_t exist; /* routes that something is in the way of, as bits */
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

/* A batch sends requests as they are. */
static int add_request(struct nldev_batch *b, struct nl_msg *req)
{
	if (req)
		nlmsg_hdr(req)->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	return nldev_batch_add(b, req);
}

static void on_answer(size_t i, const struct nlmsghdr *h, int error, void *arg)
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

static int run_batch(struct nlsock *s, struct configuration *c)
{
	struct nldev_batch b = {0};
	size_t n = c->n_ips + c->up + c->n_routes;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = add_request(&b, make_request(c, i));
	if (r == 0 && b.n)
		r = nlsock_batch(s, b.buf, b.len, b.n, on_answer, c);
	nldev_batch_done(&b);
	return r;
}

/* --- what went wrong ------------------------------------------------------------------------ */

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

/* A batch brings no sentences, so the one that was refused is asked for once more, alone. */
static int name_failure(struct nlsock *s, const struct configuration *c, struct err *e)
{
	char what[ROUTE_TEXT_SIZE + 16];
	struct err now = {0};
	int r = nlsock_ask(s, make_request(c, c->failed_at), NULL, NULL, &now);

	request_text(c, c->failed_at, what, sizeof(what));
	return err_set(e, c->failed, "%s: %s", what,
		       r == c->failed ? now.msg : strerror(-c->failed));
}

/* --- routes that are there ------------------------------------------------------------------ */

static int on_route(const struct nlmsghdr *h, void *arg)
{
	struct configuration *c = arg;

	for (size_t i = 0; i < c->n_routes; i++)
		if (rtnl_is_route(h, c->ifindex, &c->routes[i]))
			c->exist &= ~(UINT64_C(1) << i);
	return 0;
}

static int dump_routes(struct nlsock *s, struct configuration *c, uint8_t family, struct err *e)
{
	int r = nlsock_ask(s, rtnl_dump_link_routes(family, c->ifindex), on_route, c, e);

	/* What was interrupted may have missed one; the caller sees by what is left. */
	return r == -EAGAIN ? 0 : r;
}

static int name_clash(const struct net_route *route, struct err *e)
{
	char text[ROUTE_TEXT_SIZE];

	route_text(route, text);
	return err_set(e, -EEXIST, "route %s: another one is in its place", text);
}

/* Which of those that were in the way are the very routes that are wanted? */
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
		return err_set(e, -E2BIG, "%zu routes are more than an interface takes", n_routes);
	r = run_batch(s, &c);
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

static int on_address(const struct nlmsghdr *h, void *arg)
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
		r = nlsock_ask(s, rtnl_dump_addrs(ifindex), on_address, &list, e);
	}
	if (r < 0) {
		err_wrap(e, "addresses of link %d", ifindex);
		return r;
	}
	return (int)list.n;
}
