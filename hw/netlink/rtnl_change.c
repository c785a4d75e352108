/* rtnl_change.c - see rtnl_change.h. */
#include "rtnl_change.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <string.h>

#include "nlmsg_build.h"

/* Newer than some build machines' headers: linux/include/uapi/linux/rtnetlink.h (5.10). */
#ifndef RTEXT_FILTER_SKIP_STATS
#define RTEXT_FILTER_SKIP_STATS (1 << 3)
#endif

static struct nl_msg *link_request(int type, int flags, const struct ifinfomsg *ifi)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags);

	return nlmsg_finished(msg, msg ? nlmsg_append(msg, (void *)ifi, sizeof(*ifi), NLMSG_ALIGNTO)
				       : -1);
}

struct nl_msg *rtnl_get_link(int ifindex, const char *name)
{
	struct ifinfomsg ifi = {.ifi_index = ifindex > 0 ? ifindex : 0};
	struct nl_msg *msg = link_request(RTM_GETLINK, 0, &ifi);
	int r = msg ? nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS) : -1;

	if (r == 0 && ifindex <= 0)
		r = nla_put_string(msg, IFLA_IFNAME, name);
	return nlmsg_finished(msg, r);
}

/* The alias is bytes to the kernel, so that none of them can mean none. */
static int put_change(struct nl_msg *msg, const struct netdev_change *c)
{
	int r = 0;

	if (c->netns_fd >= 0)
		r |= nla_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)c->netns_fd);
	if (c->name)
		r |= nla_put_string(msg, IFLA_IFNAME, c->name);
	if (c->alias)
		r |= nla_put(msg, IFLA_IFALIAS, (int)strlen(c->alias), c->alias);
	if (c->mtu)
		r |= nla_put_u32(msg, IFLA_MTU, c->mtu);
	if (c->addr_len)
		r |= nla_put(msg, IFLA_ADDRESS, (int)c->addr_len, c->addr);
	return r;
}

struct nl_msg *rtnl_change_link(int ifindex, const struct netdev_change *c)
{
	struct ifinfomsg ifi = {
		.ifi_index = ifindex,
		.ifi_flags = c->up == 1 ? IFF_UP : 0,
		.ifi_change = (c->up >= 0 ? IFF_UP : 0) | c->clear,
	};
	struct nl_msg *msg = link_request(RTM_SETLINK, 0, &ifi);

	return nlmsg_finished(msg, msg ? put_change(msg, c) : -1);
}

static int put_kind(struct nl_msg *msg, const struct net_plan *plan)
{
	bool is_macvlan = plan->kind == PLAN_MACVLAN;
	struct nlattr *info = nla_nest_start(msg, IFLA_LINKINFO), *data;
	int r = info ? nla_put_string(msg, IFLA_INFO_KIND, is_macvlan ? "macvlan" : "ipvlan") : -1;

	data = r == 0 ? nla_nest_start(msg, IFLA_INFO_DATA) : NULL;
	if (!data)
		return -1;
	r = is_macvlan ? nla_put_u32(msg, IFLA_MACVLAN_MODE, MACVLAN_MODE_BRIDGE)
		       : nla_put_u16(msg, IFLA_IPVLAN_MODE, IPVLAN_MODE_L2);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	return r;
}

struct nl_msg *rtnl_new_stacked(const struct net_plan *plan, const char *name, int parent_ifindex,
				int netns_fd)
{
	struct ifinfomsg ifi = {0};
	const struct netdev_change c = {
		.netns_fd = netns_fd,
		.name = name,
		.mtu = plan->mtu,
		.addr = plan->mac,
		.addr_len = plan->has_mac ? sizeof(plan->mac) : 0,
	};
	struct nl_msg *msg = link_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi);
	int r = msg ? put_change(msg, &c) : -1;

	if (r == 0)
		r = nla_put_u32(msg, IFLA_LINK, (uint32_t)parent_ifindex);
	return nlmsg_finished(msg, r == 0 ? put_kind(msg, plan) : r);
}

struct nl_msg *rtnl_delete_link(int ifindex)
{
	struct ifinfomsg ifi = {.ifi_index = ifindex};

	return link_request(RTM_DELLINK, 0, &ifi);
}

static bool has_word(const char *list, const char *word, size_t n)
{
	for (; *list; list += strcspn(list, " "), list += strspn(list, " "))
		if (strcspn(list, " ") == n && memcmp(list, word, n) == 0)
			return true;
	return false;
}

/* Returns how many of them found room. */
static unsigned put_altnames(struct nl_msg *msg, const struct nlattr *from, const char *keep)
{
	unsigned n = 0;
	struct nlattr *a;
	int left;

	nla_for_each_nested (a, from, left) {
		const char *name = nla_data(a);
		size_t len = strnlen(name, (size_t)nla_len(a));

		if (nla_type(a) != IFLA_ALT_IFNAME || has_word(keep, name, len))
			continue;
		if (nla_put(msg, IFLA_ALT_IFNAME, nla_len(a), name) < 0)
			break;
		n++;
	}
	return n;
}

struct nl_msg *rtnl_delete_altnames(const struct nlmsghdr *link, const char *keep, unsigned *ret_n)
{
	struct nlattr *from, *list;
	struct ifinfomsg ifi;
	struct nl_msg *msg;

	*ret_n = 0;
	if (!nlmsg_valid_hdr(link, sizeof(ifi)))
		return NULL;
	memcpy(&ifi, nlmsg_data(link), sizeof(ifi));
	ifi = (struct ifinfomsg){.ifi_index = ifi.ifi_index};
	from = nlmsg_find_attr((struct nlmsghdr *)link, sizeof(ifi), IFLA_PROP_LIST);
	msg = link_request(RTM_DELLINKPROP, 0, &ifi);
	list = msg ? nla_nest_start(msg, NLA_F_NESTED | IFLA_PROP_LIST) : NULL;
	if (list && from)
		*ret_n = put_altnames(msg, from, keep);
	if (list)
		nla_nest_end(msg, list);
	return nlmsg_finished(msg, list ? 0 : -NLE_NOMEM);
}

struct nl_msg *rtnl_add_altname(int ifindex, const char *name)
{
	struct ifinfomsg ifi = {.ifi_index = ifindex};
	struct nl_msg *msg = link_request(RTM_NEWLINKPROP, NLM_F_CREATE | NLM_F_EXCL, &ifi);
	struct nlattr *list = msg ? nla_nest_start(msg, NLA_F_NESTED | IFLA_PROP_LIST) : NULL;
	int r = list ? nla_put_string(msg, IFLA_ALT_IFNAME, name) : -NLE_NOMEM;

	if (list)
		nla_nest_end(msg, list);
	return nlmsg_finished(msg, r);
}

struct nl_msg *rtnl_set_xdp(int ifindex, int program_fd, uint32_t flags)
{
	struct ifinfomsg ifi = {.ifi_index = ifindex};
	struct nl_msg *msg = link_request(RTM_SETLINK, 0, &ifi);
	struct nlattr *xdp = msg ? nla_nest_start(msg, NLA_F_NESTED | IFLA_XDP) : NULL;
	int r = xdp ? nla_put_s32(msg, IFLA_XDP_FD, program_fd) : -NLE_NOMEM;

	if (r == 0)
		r = nla_put_u32(msg, IFLA_XDP_FLAGS, flags);
	if (r == 0)
		nla_nest_end(msg, xdp);
	return nlmsg_finished(msg, r);
}
