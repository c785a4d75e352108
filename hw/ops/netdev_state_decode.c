// SPDX-License-Identifier: Apache-2.0
/* netdev_state_decode.c - digests of the kernel's messages about a netdev. Pure.
 *
 * All attributes are included, even unknown ones, except those listed here: attributes that change
 * by themselves, and attributes that are restored and compared by value. */
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>

#include "cleanup.h"
#include "genl.h"
#include "netdev_state_read.h"

/* Missing in some build machines' headers: linux/include/uapi/linux/if_link.h. */
#define LINK_GRO_MAX_SIZE      58
#define LINK_TSO_MAX_SIZE      59
#define LINK_TSO_MAX_SEGS      60
#define LINK_ALLMULTI	       61
#define LINK_GSO_IPV4_MAX_SIZE 63
#define LINK_GRO_IPV4_MAX_SIZE 64

/* --- links ------------------------------------------------------------------------------------ */

#define LEFT_OUT (-1)

/* Returns the section of an attribute, or LEFT_OUT. */
static int link_section(int type)
{
	switch (type) {
	/* Restored and compared by value. */
	case IFLA_IFNAME:
	case IFLA_IFALIAS:
	case IFLA_ADDRESS:
	case IFLA_MTU:
	case IFLA_PROP_LIST:
	/* Counters and operational state. */
	case IFLA_STATS:
	case IFLA_STATS64:
	case IFLA_OPERSTATE:
	case IFLA_CARRIER:
	case IFLA_CARRIER_CHANGES:
	case IFLA_CARRIER_UP_COUNT:
	case IFLA_CARRIER_DOWN_COUNT:
	case IFLA_EVENT:
	/* Results of a move, which also resets the queueing discipline and the sysctls. */
	case IFLA_QDISC:
	case IFLA_AF_SPEC:
	case IFLA_NEW_NETNSID:
	case IFLA_NEW_IFINDEX:
	case IFLA_TARGET_NETNSID:
	case IFLA_LINK_NETNSID:
	/* Checked before the netdev is attached, and cleared by a move. */
	case IFLA_MASTER:
	/* Some drivers choose a new one for every netdev. */
	case IFLA_PERM_ADDRESS:
	/* Settings of a PF; vf_settings_get() compares them. */
	case IFLA_NUM_VF:
	case IFLA_VFINFO_LIST:
		return LEFT_OUT;
	case IFLA_LINKMODE:
		return STATE_LINK_MODE;
	case IFLA_GROUP:
		return STATE_GROUP;
	case IFLA_TXQLEN:
		return STATE_QUEUE_LENGTH;
	case IFLA_GSO_MAX_SIZE:
	case IFLA_GSO_MAX_SEGS:
	case LINK_GRO_MAX_SIZE:
	case LINK_TSO_MAX_SIZE:
	case LINK_TSO_MAX_SEGS:
	case LINK_GSO_IPV4_MAX_SIZE:
	case LINK_GRO_IPV4_MAX_SIZE:
		return STATE_LIMITS;
	case IFLA_PROMISCUITY:
	case LINK_ALLMULTI:
		return STATE_LISTENERS;
	case IFLA_XDP:
		return STATE_XDP;
	default:
		return STATE_LINK;
	}
}

/* IFF_UP is restored; the other flags depend on it and on the carrier. */
#define FOLLOWING_FLAGS ((unsigned)(IFF_UP | IFF_RUNNING | 1 << 16 | 1 << 17))

static void add_attr(struct netdev_state *s, enum netdev_section section, const struct nlattr *a)
{
	netdev_state_add(s, section, (uint32_t)nla_type(a), nla_data(a), (size_t)nla_len(a));
}

int netdev_state_link(struct netdev_state *s, const struct nlmsghdr *h)
{
	struct ifinfomsg ifi;
	struct nlattr *a;
	unsigned flags;
	int left;

	if (h->nlmsg_type != RTM_NEWLINK || !nlmsg_valid_hdr(h, sizeof(ifi)))
		return -EBADMSG;
	memcpy(&ifi, nlmsg_data(h), sizeof(ifi));
	flags = ifi.ifi_flags & ~FOLLOWING_FLAGS;
	netdev_state_add(s, STATE_FLAGS, ifi.ifi_type, &flags, sizeof(flags));
	nlmsg_for_each_attr (a, (struct nlmsghdr *)h, sizeof(ifi), left) {
		int section = link_section(nla_type(a));

		if (section != LEFT_OUT)
			add_attr(s, (enum netdev_section)section, a);
	}
	return 0;
}

/* --- ethtool ---------------------------------------------------------------------------------- */

/* linux/include/uapi/linux/ethtool_netlink{,_generated}.h; RSS_GET is newer than some headers. */
#define MSG_RSS_GET 38

/* left_out: bit mask of attributes: the header (1) has the netdev's name; the link partner's modes
 * and negotiated results are not settings. */
#define HEADER (1u << 1)

static const struct {
	enum netdev_section section;
	uint8_t command;
	uint32_t left_out;
} questions[] = {
	{STATE_OFFLOADS, ETHTOOL_MSG_FEATURES_GET, HEADER},
	{STATE_RINGS, ETHTOOL_MSG_RINGS_GET, HEADER},
	{STATE_COALESCING, ETHTOOL_MSG_COALESCE_GET, HEADER},
	{STATE_CHANNELS, ETHTOOL_MSG_CHANNELS_GET, HEADER},
	{STATE_MESSAGES, ETHTOOL_MSG_DEBUG_GET, HEADER},
	{STATE_WAKE, ETHTOOL_MSG_WOL_GET, HEADER},
	{STATE_PRIVATE_FLAGS, ETHTOOL_MSG_PRIVFLAGS_GET, HEADER},
	{STATE_PAUSE, ETHTOOL_MSG_PAUSE_GET, HEADER},
	{STATE_EEE, ETHTOOL_MSG_EEE_GET,
	 HEADER | 1u << ETHTOOL_A_EEE_MODES_PEER | 1u << ETHTOOL_A_EEE_ACTIVE},
	{STATE_FEC, ETHTOOL_MSG_FEC_GET, HEADER | 1u << ETHTOOL_A_FEC_ACTIVE},
	{STATE_RSS, MSG_RSS_GET, HEADER},
};

static struct nl_msg *ethtool_request_of(uint16_t family, uint8_t command, int flags, int ifindex)
{
	struct nl_msg *msg = genl_request(family, command, ETHTOOL_GENL_VERSION, flags);
	struct nlattr *header = msg ? nla_nest_start(msg, NLA_F_NESTED | 1) : NULL;

	if (!header || nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)ifindex) < 0 ||
	    nla_put_u32(msg, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	nla_nest_end(msg, header);
	return msg;
}

struct nl_msg *netdev_state_question(size_t i, uint16_t family, int ifindex,
				     enum netdev_section *ret_section)
{
	struct nl_msg *msg;

	if (i >= ARRAY_SIZE(questions))
		return NULL;
	msg = ethtool_request_of(family, questions[i].command, 0, ifindex);
	if (msg)
		*ret_section = questions[i].section;
	return msg;
}

struct nl_msg *netdev_state_rss_dump(uint16_t family, int ifindex)
{
	return ethtool_request_of(family, MSG_RSS_GET, NLM_F_DUMP, ifindex);
}

static void add_attrs(struct netdev_state *s, enum netdev_section section, uint32_t left_out,
		      const struct nlmsghdr *h)
{
	struct nlattr *a;
	int left;

	if (!nlmsg_valid_hdr(h, sizeof(struct genlmsghdr))) {
		netdev_state_unknown(s, section);
		return;
	}
	nlmsg_for_each_attr (a, (struct nlmsghdr *)h, sizeof(struct genlmsghdr), left)
		if (nla_type(a) > 31 || !(left_out & 1u << nla_type(a)))
			add_attr(s, section, a);
}

void netdev_state_answer(struct netdev_state *s, size_t i, const struct nlmsghdr *h, int error)
{
	if (i >= ARRAY_SIZE(questions))
		return;
	/* -EOPNOTSUPP: the driver or the kernel has no such setting, so it cannot have changed. */
	if (!h && error != -EOPNOTSUPP)
		netdev_state_unknown(s, questions[i].section);
	if (h)
		add_attrs(s, questions[i].section, questions[i].left_out, h);
}

void netdev_state_rss(struct netdev_state *s, const struct nlmsghdr *h)
{
	add_attrs(s, STATE_RSS, HEADER, h);
}

/* --- NAPI ------------------------------------------------------------------------------------- */

/* linux/include/uapi/linux/netdev.h: attributes below are not settings (ifindex, id, interrupt,
 * thread). */
#define NAPI_FIRST_SETTING 5

int netdev_state_napi(struct netdev_state *s, const struct nlmsghdr *h)
{
	struct nlattr *a;
	int left;

	if (!nlmsg_valid_hdr(h, sizeof(struct genlmsghdr)))
		return -EBADMSG;
	nlmsg_for_each_attr (a, (struct nlmsghdr *)h, sizeof(struct genlmsghdr), left)
		if (nla_type(a) >= NAPI_FIRST_SETTING)
			add_attr(s, STATE_NAPI, a);
	return 0;
}
