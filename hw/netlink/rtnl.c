/* rtnl.c - link and namespace messages to and from plain values. */
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

/* Newer than some build machines' headers: linux/include/uapi/linux/rtnetlink.h (5.10). */
#ifndef RTEXT_FILTER_SKIP_STATS
#define RTEXT_FILTER_SKIP_STATS (1 << 3)
#endif

/* The first four members of struct rtnl_link_stats64, which only ever grows at its end. */
struct stats_head {
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
};

static const struct nla_policy link_policy[IFLA_MAX + 1] = {
	[IFLA_IFNAME] = {.type = NLA_STRING, .maxlen = IFNAMSIZ},
	[IFLA_ADDRESS] = {.maxlen = HW_ADDR_MAX},
	[IFLA_MTU] = {.type = NLA_U32},
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

/* Copies a string attribute; false when it does not fit or is empty. */
static bool copy_str(const struct nlattr *a, char *ret, size_t size)
{
	size_t n = strnlen(nla_data(a), (size_t)nla_len(a));

	if (n == 0 || n >= size)
		return false;
	memcpy(ret, nla_data(a), n);
	ret[n] = '\0';
	return true;
}

static void decode_altnames(struct nlattr *list, struct netdev *d)
{
	struct nlattr *a;
	size_t n = 0;
	int left;

	nla_for_each_nested (a, list, left)
		/* The last byte ends the list. */
		if (nla_type(a) == IFLA_ALT_IFNAME &&
		    copy_str(a, d->altnames + n, sizeof(d->altnames) - 1 - n))
			n += strlen(d->altnames + n) + 1;
}

static void decode_kind(struct nlattr *linkinfo, struct netdev *d)
{
	const struct nlattr *kind = nla_find(nla_data(linkinfo), nla_len(linkinfo), IFLA_INFO_KIND);

	if (kind)
		copy_str(kind, d->kind, sizeof(d->kind));
}

/* RFC 2863 ifOperStatus as operstates[] in linux/net/core/net-sysfs.c spells it. */
static const char *operstate_name(uint8_t state)
{
	static const char *const names[] = {"unknown", "notpresent", "down", "lowerlayerdown",
					    "testing", "dormant",    "up"};

	return state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

static void decode_state(struct nlattr **tb, struct netdev *d)
{
	if (tb[IFLA_MTU])
		d->mtu = nla_get_u32(tb[IFLA_MTU]);
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

	if (copy_str(alias, text, sizeof(text)) && attach_alias_origin(text, d->origin))
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
	    copy_str(tb[IFLA_PARENT_DEV_NAME], d->function, sizeof(d->function)) &&
	    !is_function_id(d->function))
		d->function[0] = '\0'; /* "virtio3": the function is further up */
	if (tb[IFLA_TARGET_NETNSID])
		d->nsid = nla_get_s32(tb[IFLA_TARGET_NETNSID]);
	if (tb[IFLA_PHYS_PORT_NAME])
		copy_str(tb[IFLA_PHYS_PORT_NAME], d->port_name, sizeof(d->port_name));
}

/* Below a VLAN or the like. A veth's other end, or what a macvlan in another namespace sits on,
 * has its index there, which means nothing here. */
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
	    !copy_str(tb[IFLA_IFNAME], l.netdev.name, IFNAMSIZ) || !ifname_is_valid(l.netdev.name))
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
		copy_str(alias, text, sizeof(text));
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

		if (nla_type(a) != IFLA_ALT_IFNAME || !copy_str(a, name, sizeof(name)))
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

/* Appends the family header; frees msg and returns NULL when there is no room. */
static struct nl_msg *with_header(struct nl_msg *msg, const void *header, size_t size)
{
	if (msg && nlmsg_append(msg, (void *)header, size, NLMSG_ALIGNTO) == 0)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

struct nl_msg *rtnl_dump_links(int nsid, bool with_stats)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC};
	struct nl_msg *msg = with_header(nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP), &ifi,
					 sizeof(ifi));

	if (!msg)
		return NULL;
	if ((nsid != NSID_HOST && nla_put_s32(msg, IFLA_TARGET_NETNSID, nsid) < 0) ||
	    (!with_stats && nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS) < 0)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

struct nl_msg *rtnl_dump_nsids(void)
{
	struct rtgenmsg gen = {.rtgen_family = AF_UNSPEC};

	return with_header(nlmsg_alloc_simple(RTM_GETNSID, NLM_F_DUMP), &gen, sizeof(gen));
}

struct nl_msg *rtnl_get_nsid(int netns_fd)
{
	struct rtgenmsg gen = {.rtgen_family = AF_UNSPEC};
	struct nl_msg *msg = with_header(nlmsg_alloc_simple(RTM_GETNSID, 0), &gen, sizeof(gen));

	if (msg && nla_put_u32(msg, NETNSA_FD, (uint32_t)netns_fd) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}
