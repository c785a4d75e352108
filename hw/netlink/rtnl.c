// SPDX-License-Identifier: Apache-2.0
/* rtnl.c - decodes link and namespace messages and builds requests. */
#include "rtnl.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <string.h>

#include "attachment.h"
#include "cleanup.h"
#include "ifname.h"
#include "nlmsg.h"

/* Missing in some build machines' headers: linux/include/uapi/linux/rtnetlink.h (5.10). */
#ifndef RTEXT_FILTER_SKIP_STATS
#define RTEXT_FILTER_SKIP_STATS (1 << 3)
#endif

/* The first four members of struct rtnl_link_stats64, which only ever grows at its end. */
struct stats_head {
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
};

#define LINK_POLICY(id, name, attribute, ...) [attribute] = {.type = NLA_U32}

static const struct nla_policy link_policy[IFLA_MAX + 1] = {
	[IFLA_IFNAME] = {.type = NLA_STRING, .maxlen = IFNAMSIZ},
	[IFLA_ADDRESS] = {.maxlen = HW_ADDR_MAX},
	LINK_FIELDS(LINK_POLICY),
	[IFLA_OPERSTATE] = {.type = NLA_U8},
	[IFLA_CARRIER] = {.type = NLA_U8},
	[IFLA_CARRIER_CHANGES] = {.type = NLA_U32},
	[IFLA_MASTER] = {.type = NLA_U32},
	[IFLA_LINKINFO] = {.type = NLA_NESTED},
	[IFLA_PROP_LIST] = {.type = NLA_NESTED},
	[IFLA_PARENT_DEV_NAME] = {.type = NLA_STRING},
	[IFLA_PARENT_DEV_BUS_NAME] = {.type = NLA_STRING},
	[IFLA_TARGET_NETNSID] = {.type = NLA_S32},
	[IFLA_NEW_NETNSID] = {.type = NLA_S32},
	[IFLA_NEW_IFINDEX] = {.type = NLA_S32},
	[IFLA_LINK] = {.type = NLA_U32},
	[IFLA_LINK_NETNSID] = {.type = NLA_S32},
	[IFLA_PHYS_PORT_NAME] = {.type = NLA_STRING},
	[IFLA_STATS64] = {.minlen = sizeof(struct stats_head)},
};

static void decode_altnames(struct nlattr *list, struct netdev *d)
{
	struct nlattr *a;
	size_t n = 0;
	int left;

	nla_for_each_nested (a, list, left)
		/* The last byte ends the list. */
		if (nla_type(a) == IFLA_ALT_IFNAME &&
		    attr_text(a, d->altnames + n, sizeof(d->altnames) - 1 - n))
			n += strlen(d->altnames + n) + 1;
}

static void decode_kind(struct nlattr *linkinfo, struct netdev *d)
{
	const struct nlattr *kind = nla_find(nla_data(linkinfo), nla_len(linkinfo), IFLA_INFO_KIND);

	if (kind)
		attr_text(kind, d->kind, sizeof(d->kind));
}

/* Returns the name of an operational state (RFC 2863, ifOperStatus), as in operstates[] in
 * linux/net/core/net-sysfs.c. */
static const char *operstate_name(uint8_t state)
{
	static const char *const names[] = {"unknown", "notpresent", "down", "lowerlayerdown",
					    "testing", "dormant",    "up"};

	return state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

static void decode_state(struct nlattr **tb, struct netdev *d)
{
	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (tb[link_fields[i].attribute])
			d->link[i] = nla_get_u32(tb[link_fields[i].attribute]);
	if (tb[IFLA_OPERSTATE])
		snprintf(d->operstate, sizeof(d->operstate), "%s",
			 operstate_name(nla_get_u8(tb[IFLA_OPERSTATE])));
	if (tb[IFLA_CARRIER])
		d->carrier = nla_get_u8(tb[IFLA_CARRIER]) ? CARRIER_ON : CARRIER_OFF;
	if (tb[IFLA_CARRIER_CHANGES])
		d->carrier_changes = nla_get_u32(tb[IFLA_CARRIER_CHANGES]);
	if (tb[IFLA_MASTER])
		d->master = (int)nla_get_u32(tb[IFLA_MASTER]);
}

static void decode_origin(const struct nlattr *alias, struct netdev *d)
{
	char text[ATTACH_ALIAS_SIZE];

	if (attr_text(alias, text, sizeof(text)) && attach_alias_origin(text, d->origin))
		attach_alias_uid(text, d->origin_uid);
}

static void decode_identity(struct nlattr **tb, struct netdev *d)
{
	if (tb[IFLA_ADDRESS]) {
		d->addr_len = (unsigned)nla_len(tb[IFLA_ADDRESS]);
		memcpy(d->addr, nla_data(tb[IFLA_ADDRESS]), d->addr_len);
	}
	if (tb[IFLA_IFALIAS])
		decode_origin(tb[IFLA_IFALIAS], d);
	if (tb[IFLA_PROP_LIST])
		decode_altnames(tb[IFLA_PROP_LIST], d);
	if (tb[IFLA_LINKINFO])
		decode_kind(tb[IFLA_LINKINFO], d);
	if (tb[IFLA_PARENT_DEV_NAME] &&
	    attr_text(tb[IFLA_PARENT_DEV_NAME], d->function, sizeof(d->function)) &&
	    !is_function_id(d->function))
		d->function[0] = '\0'; /* "virtio3": its function is a parent of it */
	if (tb[IFLA_TARGET_NETNSID])
		d->nsid = nla_get_s32(tb[IFLA_TARGET_NETNSID]);
	if (tb[IFLA_PHYS_PORT_NAME])
		attr_text(tb[IFLA_PHYS_PORT_NAME], d->port_name, sizeof(d->port_name));
}

/* Decodes the lower netdev of a VLAN or the like. If that is in another namespace (a veth's peer,
 * the parent of a macvlan), its index is not valid here and is ignored. */
static void decode_lower(struct nlattr **tb, struct netdev *d)
{
	uint32_t lower = tb[IFLA_LINK] && !tb[IFLA_LINK_NETNSID] ? nla_get_u32(tb[IFLA_LINK]) : 0;

	if (lower <= INT32_MAX && (int)lower != d->ifindex)
		d->lower = (int)lower;
}

static void decode_stats(const struct nlattr *a, struct rtnl_stats *ret)
{
	struct stats_head s;

	*ret = (struct rtnl_stats){0};
	if (!a)
		return;
	memcpy(&s, nla_data(a), sizeof(s));
	*ret = (struct rtnl_stats){true, s.rx_bytes, s.tx_bytes, s.rx_packets, s.tx_packets};
}

int rtnl_decode_link(const struct nlmsghdr *h, struct rtnl_link *ret, struct rtnl_stats *stats)
{
	struct rtnl_link l = {.new_nsid = NSID_NONE, .netdev.nsid = NSID_HOST};
	struct nlattr *tb[IFLA_MAX + 1];
	struct ifinfomsg ifi;

	if (h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK)
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, sizeof(ifi)) ||
	    nlmsg_parse((struct nlmsghdr *)h, sizeof(ifi), tb, IFLA_MAX, link_policy) < 0)
		return -EBADMSG;
	memcpy(&ifi, nlmsg_data(h), sizeof(ifi));
	if (ifi.ifi_index <= 0 || !tb[IFLA_IFNAME] ||
	    !attr_text(tb[IFLA_IFNAME], l.netdev.name, IFNAMSIZ) || !ifname_is_valid(l.netdev.name))
		return -EBADMSG;
	l.gone = h->nlmsg_type == RTM_DELLINK;
	l.netdev.ifindex = ifi.ifi_index;
	l.netdev.flags = ifi.ifi_flags;
	l.netdev.type = ifi.ifi_type;
	decode_identity(tb, &l.netdev);
	decode_lower(tb, &l.netdev);
	decode_state(tb, &l.netdev);
	l.has_parent = tb[IFLA_PARENT_DEV_NAME] != NULL;
	if (tb[IFLA_NEW_NETNSID])
		l.new_nsid = nla_get_s32(tb[IFLA_NEW_NETNSID]);
	if (tb[IFLA_NEW_IFINDEX])
		l.new_ifindex = nla_get_s32(tb[IFLA_NEW_IFINDEX]);
	*ret = l;
	if (stats)
		decode_stats(tb[IFLA_STATS64], stats);
	return 0;
}

int rtnl_decode_alias(const struct nlmsghdr *h, char ret[ATTACH_ALIAS_SIZE])
{
	const struct nlattr *alias;
	char text[ATTACH_ALIAS_SIZE] = "";

	if (h->nlmsg_type != RTM_NEWLINK)
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, sizeof(struct ifinfomsg)))
		return -EBADMSG;
	alias = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg), IFLA_IFALIAS);
	if (alias)
		attr_text(alias, text, sizeof(text));
	memcpy(ret, text, sizeof(text));
	return 0;
}

int rtnl_decode_altnames(const struct nlmsghdr *h, char ret[ALTNAMES_SIZE])
{
	struct nlattr *list, *a;
	size_t n = 0;
	int left;

	ret[0] = '\0';
	if (!nlmsg_valid_hdr(h, sizeof(struct ifinfomsg)))
		return -EBADMSG;
	list = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg), IFLA_PROP_LIST);
	if (!list)
		return 0;
	nla_for_each_nested (a, list, left) {
		char name[ALTNAME_SIZE];

		if (nla_type(a) != IFLA_ALT_IFNAME || !attr_text(a, name, sizeof(name)))
			continue;
		if (n + strlen(name) + 2 > ALTNAMES_SIZE)
			return -EOVERFLOW;
		n += (size_t)snprintf(ret + n, ALTNAMES_SIZE - n, "%s%s", n ? " " : "", name);
	}
	return 0;
}

int rtnl_decode_nsid(const struct nlmsghdr *h, int *ret_nsid)
{
	static const struct nla_policy policy[NETNSA_MAX + 1] = {[NETNSA_NSID] = {.type = NLA_S32}};
	struct nlattr *tb[NETNSA_MAX + 1];

	if (h->nlmsg_type != RTM_NEWNSID)
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, sizeof(struct rtgenmsg)) ||
	    nlmsg_parse((struct nlmsghdr *)h, sizeof(struct rtgenmsg), tb, NETNSA_MAX, policy) <
		    0 ||
	    !tb[NETNSA_NSID])
		return -EBADMSG;
	*ret_nsid = nla_get_s32(tb[NETNSA_NSID]);
	return 0;
}

/* --- requests ----------------------------------------------------------------------------- */

static struct nl_msg *rtnl_link_request(int type, int flags, const struct ifinfomsg *ifi)
{
	return nlmsg_build(type, flags, ifi, sizeof(*ifi));
}

struct nl_msg *rtnl_dump_links(int nsid, bool with_stats)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};
	struct nl_msg *msg = rtnl_link_request(RTM_GETLINK, NLM_F_DUMP, &ifi);
	int r = msg ? 0 : -1;

	if (r == 0 && nsid != NSID_HOST)
		r = nla_put_s32(msg, IFLA_TARGET_NETNSID, nsid);
	if (r == 0 && !with_stats)
		r = nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return nlmsg_finished(msg, r);
}

struct nl_msg *rtnl_dump_nsids(void)
{
	struct rtgenmsg gen = {.rtgen_family = AF_UNSPEC};

	return nlmsg_build(RTM_GETNSID, NLM_F_DUMP, &gen, sizeof(gen));
}

struct nl_msg *rtnl_get_nsid(int netns_fd)
{
	struct rtgenmsg gen = {.rtgen_family = AF_UNSPEC};
	struct nl_msg *msg = nlmsg_build(RTM_GETNSID, 0, &gen, sizeof(gen));

	return nlmsg_finished(msg, msg ? nla_put_u32(msg, NETNSA_FD, (uint32_t)netns_fd) : -1);
}

/* --- changes of links ------------------------------------------------------------------------- */

struct nl_msg *rtnl_get_link(int ifindex, const char *name)
{
	struct ifinfomsg ifi = {.ifi_index = ifindex > 0 ? ifindex : 0};
	struct nl_msg *msg = rtnl_link_request(RTM_GETLINK, 0, &ifi);
	int r = msg ? nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS) : -1;

	if (r == 0 && ifindex <= 0)
		r = nla_put_string(msg, IFLA_IFNAME, name);
	return nlmsg_finished(msg, r);
}

/* Appends the attributes of a change. The alias is sent without its NUL, so an empty one removes
 * the alias. */
static int rtnl_put_change(struct nl_msg *msg, const struct netdev_change *c)
{
	int r = 0;

	if (c->netns_fd >= 0)
		r |= nla_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)c->netns_fd);
	if (c->name)
		r |= nla_put_string(msg, IFLA_IFNAME, c->name);
	if (c->alias)
		r |= nla_put(msg, IFLA_IFALIAS, (int)strlen(c->alias), c->alias);
	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (c->link[i])
			r |= nla_put_u32(msg, link_fields[i].attribute, c->link[i]);
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
	struct nl_msg *msg = rtnl_link_request(RTM_SETLINK, 0, &ifi);

	return nlmsg_finished(msg, msg ? rtnl_put_change(msg, c) : -1);
}

static int rtnl_put_kind(struct nl_msg *msg, const struct net_plan *plan)
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
	struct netdev_change c = {
		.netns_fd = netns_fd,
		.name = name,
		.addr = plan->mac,
		.addr_len = plan->has_mac ? sizeof(plan->mac) : 0,
	};
	struct nl_msg *msg = rtnl_link_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi);
	int r;

	memcpy(c.link, plan->link, sizeof(c.link));
	r = msg ? rtnl_put_change(msg, &c) : -1;
	if (r == 0)
		r = nla_put_u32(msg, IFLA_LINK, (uint32_t)parent_ifindex);
	return nlmsg_finished(msg, r == 0 ? rtnl_put_kind(msg, plan) : r);
}

struct nl_msg *rtnl_new_veth(const char *name)
{
	struct ifinfomsg ifi = {0};
	struct nl_msg *msg = rtnl_link_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi);
	struct nlattr *info;
	int r = msg ? nla_put_string(msg, IFLA_IFNAME, name) : -1;

	info = r == 0 ? nla_nest_start(msg, IFLA_LINKINFO) : NULL;
	r = info ? nla_put_string(msg, IFLA_INFO_KIND, "veth") : -1;
	if (info)
		nla_nest_end(msg, info);
	return nlmsg_finished(msg, r);
}

struct nl_msg *rtnl_delete_link(int ifindex)
{
	struct ifinfomsg ifi = {.ifi_index = ifindex};

	return rtnl_link_request(RTM_DELLINK, 0, &ifi);
}

static bool rtnl_has_word(const char *list, const char *word, size_t n)
{
	for (; *list; list += strcspn(list, " "), list += strspn(list, " "))
		if (strcspn(list, " ") == n && memcmp(list, word, n) == 0)
			return true;
	return false;
}

/* Appends the alternative names in `from` except those in `keep`. Returns how many fitted. */
static unsigned put_altnames(struct nl_msg *msg, const struct nlattr *from, const char *keep)
{
	unsigned n = 0;
	struct nlattr *a;
	int left;

	nla_for_each_nested (a, from, left) {
		const char *name = nla_data(a);
		size_t len = strnlen(name, (size_t)nla_len(a));

		if (nla_type(a) != IFLA_ALT_IFNAME || rtnl_has_word(keep, name, len))
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
	msg = rtnl_link_request(RTM_DELLINKPROP, 0, &ifi);
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
	struct nl_msg *msg = rtnl_link_request(RTM_NEWLINKPROP, NLM_F_CREATE | NLM_F_EXCL, &ifi);
	struct nlattr *list = msg ? nla_nest_start(msg, NLA_F_NESTED | IFLA_PROP_LIST) : NULL;
	int r = list ? nla_put_string(msg, IFLA_ALT_IFNAME, name) : -NLE_NOMEM;

	if (list)
		nla_nest_end(msg, list);
	return nlmsg_finished(msg, r);
}

struct nl_msg *rtnl_set_xdp(int ifindex, int program_fd, uint32_t flags)
{
	struct ifinfomsg ifi = {.ifi_index = ifindex};
	struct nl_msg *msg = rtnl_link_request(RTM_SETLINK, 0, &ifi);
	struct nlattr *xdp = msg ? nla_nest_start(msg, NLA_F_NESTED | IFLA_XDP) : NULL;
	int r = xdp ? nla_put_s32(msg, IFLA_XDP_FD, program_fd) : -NLE_NOMEM;

	if (r == 0)
		r = nla_put_u32(msg, IFLA_XDP_FLAGS, flags);
	if (r == 0)
		nla_nest_end(msg, xdp);
	return nlmsg_finished(msg, r);
}
