// SPDX-License-Identifier: Apache-2.0
#include "rtnl_addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <string.h>

#include "nlmsg.h"

/* The kernel's IPv6 default for priority 0: IP6_RT_PRIO_USER in
 * linux/include/uapi/linux/ipv6_route.h. */
#define IP6_DEFAULT_PRIORITY 1024

static int addr_size(int family)
{
	return family == AF_INET6 ? 16 : 4;
}

/* --- addresses ------------------------------------------------------------------------------ */

/* Appends the broadcast address, whose host part is all ones. A network of one or two addresses has
 * no broadcast (RFC 3021). */
static int put_broadcast(struct nl_msg *msg, const struct ip_prefix *ip)
{
	uint32_t addr;

	if (ip->family != AF_INET || ip->len > 30)
		return 0;
	memcpy(&addr, ip->addr, sizeof(addr));
	addr |= htonl(UINT32_MAX >> ip->len);
	return nla_put_u32(msg, IFA_BROADCAST, addr);
}

struct nl_msg *rtnl_new_addr(int ifindex, const struct ip_prefix *ip)
{
	struct ifaddrmsg ifa = {
		.ifa_family = (uint8_t)ip->family,
		.ifa_prefixlen = ip->len,
		.ifa_scope = RT_SCOPE_UNIVERSE,
		.ifa_index = (uint32_t)ifindex,
	};
	struct nl_msg *msg = nlmsg_build(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &ifa, sizeof(ifa));
	int r = -1;

	if (msg)
		r = nla_put(msg, IFA_LOCAL, addr_size(ip->family), ip->addr) |
		    nla_put(msg, IFA_ADDRESS, addr_size(ip->family), ip->addr) |
		    put_broadcast(msg, ip);
	return nlmsg_finished(msg, r);
}

struct nl_msg *rtnl_dump_addrs(int ifindex)
{
	struct ifaddrmsg ifa = {.ifa_family = AF_UNSPEC, .ifa_index = (uint32_t)ifindex};

	return nlmsg_build(RTM_GETADDR, NLM_F_DUMP, &ifa, sizeof(ifa));
}

/* Returns the attribute if its size matches the family, else NULL. */
static const struct nlattr *addr_of(const struct nlattr *a, int family)
{
	return a && nla_len(a) == addr_size(family) ? a : NULL;
}

int rtnl_decode_addr(const struct nlmsghdr *h, struct rtnl_addr *ret)
{
	struct nlattr *tb[IFA_MAX + 1];
	const struct nlattr *addr;
	struct ifaddrmsg ifa;

	if (h->nlmsg_type != RTM_NEWADDR)
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, sizeof(ifa)) ||
	    nlmsg_parse((struct nlmsghdr *)h, sizeof(ifa), tb, IFA_MAX, NULL) < 0)
		return -EBADMSG;
	memcpy(&ifa, nlmsg_data(h), sizeof(ifa));
	/* IFA_ADDRESS is the peer's address on point-to-point links. */
	addr = addr_of(tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS], ifa.ifa_family);
	if ((ifa.ifa_family != AF_INET && ifa.ifa_family != AF_INET6) || !addr ||
	    ifa.ifa_prefixlen > 8 * nla_len(addr) || ifa.ifa_index > INT32_MAX)
		return -EBADMSG;
	*ret = (struct rtnl_addr){
		.ifindex = (int)ifa.ifa_index,
		.scope = ifa.ifa_scope,
		.ip = {.family = ifa.ifa_family, .len = ifa.ifa_prefixlen},
	};
	memcpy(ret->ip.addr, nla_data(addr), (size_t)nla_len(addr));
	return 0;
}

/* --- routes --------------------------------------------------------------------------------- */

/* Returns the family of a route. A default route may have no destination; then the gateway
 * determines the family. */
static int route_family(const struct net_route *route)
{
	return route->dst.family != AF_UNSPEC ? route->dst.family : route->gateway.family;
}

static int put_route(struct nl_msg *msg, int ifindex, const struct net_route *route)
{
	int size = addr_size(route_family(route));
	int r = nla_put_u32(msg, RTA_OIF, (uint32_t)ifindex);

	if (route->dst.len)
		r |= nla_put(msg, RTA_DST, size, route->dst.addr);
	if (route->gateway.family != AF_UNSPEC)
		r |= nla_put(msg, RTA_GATEWAY, size, route->gateway.addr);
	if (route->priority)
		r |= nla_put_u32(msg, RTA_PRIORITY, route->priority);
	return r;
}

struct nl_msg *rtnl_new_route(int ifindex, const struct net_route *route)
{
	bool on_link = route->gateway.family == AF_UNSPEC;
	struct rtmsg rtm = {
		.rtm_family = (uint8_t)route_family(route),
		.rtm_dst_len = route->dst.len,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = on_link ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_UNICAST,
	};
	struct nl_msg *msg = nlmsg_build(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &rtm,
					 sizeof(rtm));

	return nlmsg_finished(msg, msg ? put_route(msg, ifindex, route) : -1);
}

struct nl_msg *rtnl_dump_link_routes(uint8_t family, int ifindex)
{
	struct rtmsg rtm = {.rtm_family = family, .rtm_table = RT_TABLE_MAIN};
	struct nl_msg *msg = nlmsg_build(RTM_GETROUTE, NLM_F_DUMP, &rtm, sizeof(rtm));

	return nlmsg_finished(msg, msg ? nla_put_u32(msg, RTA_TABLE, RT_TABLE_MAIN) |
						   nla_put_u32(msg, RTA_OIF, (uint32_t)ifindex)
				       : -1);
}

/* Compares the prefix bits only: the kernel clears the others. */
static bool is_same_net(const struct nlattr *a, const struct ip_prefix *ip, int family)
{
	const uint8_t *p;
	unsigned whole = ip->len / 8, rest = ip->len % 8;

	if (ip->len == 0)
		return true;
	if (!addr_of(a, family) || ip->len > 8 * nla_len(a))
		return false;
	p = nla_data(a);
	return memcmp(p, ip->addr, whole) == 0 &&
	       (rest == 0 || ((p[whole] ^ ip->addr[whole]) >> (8 - rest)) == 0);
}

static bool rtnl_is_gateway(const struct nlattr *a, const struct ip_prefix *gateway)
{
	if (gateway->family == AF_UNSPEC)
		return a == NULL;
	return addr_of(a, gateway->family) &&
	       memcmp(nla_data(a), gateway->addr, (size_t)nla_len(a)) == 0;
}

bool rtnl_is_route(const struct nlmsghdr *h, int ifindex, const struct net_route *route)
{
	static const struct nla_policy policy[RTA_MAX + 1] = {
		[RTA_OIF] = {.type = NLA_U32},
		[RTA_PRIORITY] = {.type = NLA_U32},
		[RTA_TABLE] = {.type = NLA_U32},
	};
	int family = route_family(route);
	uint32_t priority = route->priority || family != AF_INET6 ? route->priority
								  : IP6_DEFAULT_PRIORITY;
	struct nlattr *tb[RTA_MAX + 1];
	struct rtmsg rtm;

	if (h->nlmsg_type != RTM_NEWROUTE || !nlmsg_valid_hdr(h, sizeof(rtm)) ||
	    nlmsg_parse((struct nlmsghdr *)h, sizeof(rtm), tb, RTA_MAX, policy) < 0)
		return false;
	memcpy(&rtm, nlmsg_data(h), sizeof(rtm));
	return rtm.rtm_family == family && rtm.rtm_dst_len == route->dst.len &&
	       rtm.rtm_type == RTN_UNICAST && !(rtm.rtm_flags & RTM_F_CLONED) &&
	       attr_u32(tb[RTA_TABLE], rtm.rtm_table) == RT_TABLE_MAIN &&
	       attr_u32(tb[RTA_OIF], 0) == (uint32_t)ifindex &&
	       attr_u32(tb[RTA_PRIORITY], 0) == priority &&
	       is_same_net(tb[RTA_DST], &route->dst, family) &&
	       rtnl_is_gateway(tb[RTA_GATEWAY], &route->gateway);
}

void rtnl_prefix_text(const struct ip_prefix *ip, char text[RTNL_PREFIX_SIZE])
{
	char addr[INET6_ADDRSTRLEN] = "?";

	inet_ntop(ip->family, ip->addr, addr, sizeof(addr));
	snprintf(text, RTNL_PREFIX_SIZE, "%s/%u", addr, ip->len);
}

/* --- decoding routes -------------------------------------------------------------------------- */

static const struct nla_policy route_policy[RTA_MAX + 1] = {
	[RTA_OIF] = {.type = NLA_U32},
	[RTA_TABLE] = {.type = NLA_U32},
	[RTA_NH_ID] = {.type = NLA_U32},
};

static void rtnl_add_link(struct rtnl_route *r, uint32_t ifindex)
{
	if (ifindex && ifindex <= INT32_MAX && r->n_links < ROUTE_LINKS_MAX)
		r->links[r->n_links++] = (int)ifindex;
}

/* Adds the links of a multipath route: a sequence of struct rtnexthop, each followed by its own
 * attributes. */
static void add_hops(struct rtnl_route *r, const struct nlattr *multipath)
{
	const uint8_t *p = nla_data(multipath);
	size_t left = (size_t)nla_len(multipath);

	while (left >= sizeof(struct rtnexthop)) {
		struct rtnexthop hop;
		size_t step;

		memcpy(&hop, p, sizeof(hop));
		step = RTNH_ALIGN((size_t)hop.rtnh_len);
		if (hop.rtnh_len < sizeof(hop) || hop.rtnh_len > left)
			return;
		rtnl_add_link(r, (uint32_t)hop.rtnh_ifindex);
		if (step >= left)
			return;
		p += step;
		left -= step;
	}
}

static bool rtnl_is_zero(const struct nlattr *dst)
{
	const uint8_t *p = dst ? nla_data(dst) : NULL;

	for (int i = 0; p && i < nla_len(dst); i++)
		if (p[i])
			return false;
	return true;
}

int rtnl_decode_route(const struct nlmsghdr *h, struct rtnl_route *ret)
{
	struct rtnl_route r = {0};
	struct nlattr *tb[RTA_MAX + 1];
	struct rtmsg rtm;

	if (h->nlmsg_type != RTM_NEWROUTE && h->nlmsg_type != RTM_DELROUTE)
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, sizeof(rtm)) ||
	    nlmsg_parse((struct nlmsghdr *)h, sizeof(rtm), tb, RTA_MAX, route_policy) < 0)
		return -EBADMSG;
	memcpy(&rtm, nlmsg_data(h), sizeof(rtm));
	r.is_main = attr_u32(tb[RTA_TABLE], rtm.rtm_table) == RT_TABLE_MAIN;
	r.is_default = rtm.rtm_dst_len == 0 && rtm.rtm_type == RTN_UNICAST &&
		       !(rtm.rtm_flags & RTM_F_CLONED);
	r.at_zero = rtnl_is_zero(tb[RTA_DST]);
	rtnl_add_link(&r, attr_u32(tb[RTA_OIF], 0));
	if (tb[RTA_MULTIPATH])
		add_hops(&r, tb[RTA_MULTIPATH]);
	r.nexthop = attr_u32(tb[RTA_NH_ID], 0);
	*ret = r;
	return 0;
}

bool rtnl_is_default_route(const struct nlmsghdr *h)
{
	struct rtmsg rtm;

	if ((h->nlmsg_type != RTM_NEWROUTE && h->nlmsg_type != RTM_DELROUTE) ||
	    !nlmsg_valid_hdr(h, sizeof(rtm)))
		return false;
	memcpy(&rtm, nlmsg_data(h), sizeof(rtm));
	return rtm.rtm_dst_len == 0;
}

static void add_group(struct rtnl_nexthop *n, const struct nlattr *group)
{
	size_t count = (size_t)nla_len(group) / sizeof(struct nexthop_grp);
	const uint8_t *p = nla_data(group);

	for (size_t i = 0; i < count && n->n_group < ROUTE_LINKS_MAX; i++) {
		struct nexthop_grp one;

		memcpy(&one, p + i * sizeof(one), sizeof(one));
		n->group[n->n_group++] = one.id;
	}
}

int rtnl_decode_nexthop(const struct nlmsghdr *h, struct rtnl_nexthop *ret)
{
	static const struct nla_policy policy[NHA_OIF + 1] = {[NHA_OIF] = {.type = NLA_U32}};
	struct nlattr *tb[NHA_OIF + 1];
	struct rtnl_nexthop n = {0};

	if (h->nlmsg_type != RTM_NEWNEXTHOP)
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, sizeof(struct nhmsg)) ||
	    nlmsg_parse((struct nlmsghdr *)h, sizeof(struct nhmsg), tb, NHA_OIF, policy) < 0)
		return -EBADMSG;
	if (tb[NHA_OIF] && nla_get_u32(tb[NHA_OIF]) <= INT32_MAX)
		n.link = (int)nla_get_u32(tb[NHA_OIF]);
	if (tb[NHA_GROUP])
		add_group(&n, tb[NHA_GROUP]);
	*ret = n;
	return 0;
}

/* --- requests ----------------------------------------------------------------------------- */

struct nl_msg *rtnl_dump_routes(uint8_t family)
{
	struct rtmsg rtm = {.rtm_family = family, .rtm_table = RT_TABLE_MAIN};
	struct nl_msg *msg = nlmsg_build(RTM_GETROUTE, NLM_F_DUMP, &rtm, sizeof(rtm));

	return nlmsg_finished(msg, msg ? nla_put_u32(msg, RTA_TABLE, RT_TABLE_MAIN) : -1);
}

struct nl_msg *rtnl_get_nexthop(uint32_t id)
{
	struct nhmsg nh = {.nh_family = AF_UNSPEC};
	struct nl_msg *msg = nlmsg_build(RTM_GETNEXTHOP, 0, &nh, sizeof(nh));

	return nlmsg_finished(msg, msg ? nla_put_u32(msg, NHA_ID, id) : -1);
}
