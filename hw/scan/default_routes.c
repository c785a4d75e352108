// SPDX-License-Identifier: Apache-2.0
/* default_routes.c - finds default routes over rtnetlink.
 *
 * Success: dump the IPv4 main table up to the first route that is not a default route (the kernel
 * walks its trie in the order of addresses, so that default routes come first: fib_table_dump() in
 * linux/net/ipv4/fib_trie.c), then the whole IPv6 table (fib6_walk() visits the root of its tree
 * last). Nexthop objects are queried one by one. Errors: no such table or no IPv6 (means no default
 * route); routes that change during every attempt (routes seen in any attempt count). */
#include "default_routes.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <net/route.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "array.h"
#include "cleanup.h"
#include "rtnl_addr.h"

#define DUMP_ATTEMPTS 3
#define NEXTHOPS_MAX  1024

struct found {
	int *links;
	size_t n_links;
	uint32_t *nexthops;
	size_t n_nexthops;
	bool in_order; /* this dump has the default routes first */
};

static int default_routes_add_link(struct found *f, int ifindex)
{
	int *link = array_push(f->links, f->n_links);

	if (!link)
		return -ENOMEM;
	*link = ifindex;
	return 0;
}

static int add_nexthop(struct found *f, uint32_t id)
{
	uint32_t *nexthop = array_push(f->nexthops, f->n_nexthops);

	if (!nexthop)
		return -ENOMEM;
	*nexthop = id;
	return 0;
}

/* Adds the links of a default route. Malformed messages are skipped. */
static int default_routes_on_route(const struct nlmsghdr *h, void *arg)
{
	struct found *f = arg;
	struct rtnl_route route;
	int r = 0;

	if (!f->in_order && !rtnl_is_default_route(h))
		return 0;
	if (rtnl_decode_route(h, &route) < 0 || !route.is_main)
		return 0;
	if (!route.is_default)
		return f->in_order && !route.at_zero ? -ECANCELED : 0;
	for (unsigned i = 0; i < route.n_links && r == 0; i++)
		r = default_routes_add_link(f, route.links[i]);
	if (route.n_links == 0 && route.nexthop)
		r = add_nexthop(f, route.nexthop);
	return r;
}

static int dump_once(struct nlsock *s, uint8_t family, struct found *f, struct err *e)
{
	return nlsock_query(s, rtnl_dump_routes(family), default_routes_on_route, f, e);
}

/* Aborts the IPv4 dump after the default routes; its socket cannot be used afterwards. */
static int dump_v4(struct found *f, struct err *e)
{
	struct nlsock s;
	int r = nlsock_open(&s, NETLINK_ROUTE, e);

	if (r < 0)
		return r;
	f->in_order = true;
	r = dump_once(&s, AF_INET, f, e);
	f->in_order = false;
	nlsock_close(&s);
	return r == -ECANCELED ? 0 : r;
}

/* True unless the request failed: a missing table or family means that there is no default route.
 */
static bool is_answer(int r)
{
	return r == 0 || r == -ENOENT || r == -EOPNOTSUPP || r == -EAFNOSUPPORT;
}

static int routes_dump(struct nlsock *s, uint8_t family, struct found *f, struct err *e)
{
	struct err why = {0};
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++)
		r = family == AF_INET ? dump_v4(f, &why) : dump_once(s, family, f, &why);
	return r == -EAGAIN || is_answer(r) ? 0 : err_set(e, r, "default routes: %.200s", why.msg);
}

/* --- nexthop objects ------------------------------------------------------------------------ */

static int on_nexthop(const struct nlmsghdr *h, void *arg)
{
	rtnl_decode_nexthop(h, arg);
	return 0;
}

/* Adds the links of nexthop objects; the members of a group are appended to the list. Groups are
 * not nested, but the loop is bounded anyway. */
static int nexthops_resolve(struct nlsock *s, struct found *f)
{
	for (size_t i = 0; i < f->n_nexthops && i < NEXTHOPS_MAX; i++) {
		struct rtnl_nexthop n = {0};
		int r = 0;

		/* If the object was removed meanwhile, its routes were, too. */
		nlsock_query(s, rtnl_get_nexthop(f->nexthops[i]), on_nexthop, &n, NULL);
		if (n.link)
			r = default_routes_add_link(f, n.link);
		for (unsigned k = 0; k < n.n_group && r == 0; k++)
			r = add_nexthop(f, n.group[k]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- all default routes ----------------------------------------------------------------------- */

static void mark_links(struct host *h, const struct found *f)
{
	for (size_t i = 0; i < f->n_links; i++)
		for (size_t k = 0; k < h->n_netdevs; k++)
			if (h->netdevs[k].nsid == NSID_HOST && h->netdevs[k].ifindex == f->links[i])
				h->netdevs[k].default_route = true;
}

int default_routes_read(struct nlsock *s, struct host *h, struct err *e)
{
	struct found f = {0};
	int r = routes_dump(s, AF_INET, &f, e), r6 = routes_dump(s, AF_INET6, &f, r < 0 ? NULL : e);

	if (r == 0)
		r = r6;
	if (nexthops_resolve(s, &f) < 0 && r == 0)
		r = err_set(e, -ENOMEM, "default routes: out of memory");
	mark_links(h, &f);
	free(f.links);
	free(f.nexthops);
	return r;
}

/* --- procfs, for trees of another machine ----------------------------------------------------- */

/* Columns: fib_route_seq_show() in linux/net/ipv4/fib_trie.c, rt6_info_seq_show() in
 * linux/net/ipv6/ip6_fib.c. */

/* Zero as 8 or 32 hex digits. */
#define ZERO8  "00000000"
#define ZERO32 ZERO8 ZERO8 ZERO8 ZERO8

static bool default_routes_is_usable(const char *flags)
{
	unsigned long f = strtoul(flags, NULL, 16);

	return f & RTF_UP && !(f & RTF_REJECT);
}

static bool take_name(const char *name, char ret[IFNAMSIZ])
{
	if (strlen(name) >= IFNAMSIZ)
		return false;
	memcpy(ret, name, strlen(name) + 1);
	return true;
}

/* Fields: interface, destination, gateway, flags, references, use, metric, mask ... */
bool route_line(const char *line, char ret[IFNAMSIZ])
{
	char name[32], dst[16], flags[16], mask[16];

	return sscanf(line, "%31s %15s %*s %15s %*s %*s %*s %15s", name, dst, flags, mask) == 4 &&
	       strcmp(dst, ZERO8) == 0 && strcmp(mask, ZERO8) == 0 &&
	       default_routes_is_usable(flags) && take_name(name, ret);
}

/* Fields: destination, its length, source, its length, next hop, metric, references, use, flags,
 * interface. */
bool route_line_v6(const char *line, char ret[IFNAMSIZ])
{
	char dst[40], len[8], flags[16], name[32];

	return sscanf(line, "%39s %7s %*s %*s %*s %*s %*s %*s %15s %31s", dst, len, flags, name) ==
		       4 &&
	       strcmp(dst, ZERO32) == 0 && strcmp(len, "00") == 0 &&
	       default_routes_is_usable(flags) && take_name(name, ret);
}

static void mark_name(struct host *h, const char *name)
{
	for (size_t i = 0; i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid == NSID_HOST && strcmp(h->netdevs[i].name, name) == 0)
			h->netdevs[i].default_route = true;
}

static int default_routes_read_file(const struct hw *hw, const char *path,
				    bool (*parse)(const char *, char *), struct host *h)
{
	AUTO_FD fd = openat(hw->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512], name[IFNAMSIZ];

	if (!f)
		return -errno;
	(void)take_fd(&fd); /* fclose() closes it */
	while (fgets(line, sizeof(line), f))
		if (parse(line, name))
			mark_name(h, name);
	fclose(f);
	return 0;
}

int default_routes_read_proc(const struct hw *hw, struct host *h)
{
	int r = default_routes_read_file(hw, "net/route", route_line, h);
	int r6 = default_routes_read_file(hw, "net/ipv6_route", route_line_v6, h);

	return r < 0 ? r6 : 0;
}
