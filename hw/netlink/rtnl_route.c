/* rtnl_route.c - see rtnl_route.h. */
#include "rtnl_route.h"

#include <errno.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <string.h>

static const struct nla_policy route_policy[RTA_MAX + 1] = {
	[RTA_OIF] = {.type = NLA_U32},
	[RTA_TABLE] = {.type = NLA_U32},
	[RTA_NH_ID] = {.type = NLA_U32},
};

static void add_link(struct rtnl_route *r, uint32_t ifindex)
{
	if (ifindex && ifindex <= INT32_MAX && r->n_links < ROUTE_LINKS_MAX)
		r->links[r->n_links++] = (int)ifindex;
}

/* struct rtnexthop, one behind the other, each with attributes of its own. */
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
		add_link(r, (uint32_t)hop.rtnh_ifindex);
		if (step >= left)
			return;
		p += step;
		left -= step;
	}
}

static bool is_zero(const struct nlattr *dst)
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
	r.is_main = (tb[RTA_TABLE] ? nla_get_u32(tb[RTA_TABLE]) : rtm.rtm_table) == RT_TABLE_MAIN;
	r.is_default = rtm.rtm_dst_len == 0 && rtm.rtm_type == RTN_UNICAST &&
		       !(rtm.rtm_flags & RTM_F_CLONED);
	r.at_zero = is_zero(tb[RTA_DST]);
	if (tb[RTA_OIF])
		add_link(&r, nla_get_u32(tb[RTA_OIF]));
	if (tb[RTA_MULTIPATH])
		add_hops(&r, tb[RTA_MULTIPATH]);
	if (tb[RTA_NH_ID])
		r.nexthop = nla_get_u32(tb[RTA_NH_ID]);
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

static struct nl_msg *request(int type, int flags, const void *header, size_t size, int attr,
			      uint32_t value)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags);

	if (msg && (nlmsg_append(msg, (void *)header, size, NLMSG_ALIGNTO) < 0 ||
		    nla_put_u32(msg, attr, value) < 0)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

struct nl_msg *rtnl_dump_routes(uint8_t family)
{
	struct rtmsg rtm = {.rtm_family = family, .rtm_table = RT_TABLE_MAIN};

	return request(RTM_GETROUTE, NLM_F_DUMP, &rtm, sizeof(rtm), RTA_TABLE, RT_TABLE_MAIN);
}

struct nl_msg *rtnl_get_nexthop(uint32_t id)
{
	struct nhmsg nh = {.nh_family = AF_UNSPEC};

	return request(RTM_GETNEXTHOP, 0, &nh, sizeof(nh), NHA_ID, id);
}
