#include "pause.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>

#include "genl.h"

struct nl_msg *pause_family_request(void)
{
	return genl_family_request(ETHTOOL_GENL_NAME);
}

int pause_decode_family(const struct nlmsghdr *h, uint16_t *ret_family)
{
	return genl_decode_family(h, ret_family);
}

struct nl_msg *pause_request(uint16_t family, int ifindex)
{
	struct nl_msg *msg = genl_request(family, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_GENL_VERSION, 0);
	struct nlattr *header;

	if (!msg)
		return NULL;
	header = nla_nest_start(msg, ETHTOOL_A_PAUSE_HEADER);
	if (!header || nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, ifindex) < 0 ||
	    nla_put_u32(msg, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_STATS) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	nla_nest_end(msg, header);
	/* The ethtool family validates strictly: a nest must say that it is one. */
	header->nla_type |= NLA_F_NESTED;
	return msg;
}

static int deliver(struct nlattr *a, const char *name, named_value_fn *fn, void *arg)
{
	if (!a)
		return 0;
	fn(name, nla_get_u64(a), arg);
	return 1;
}

int pause_decode(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn, void *arg)
{
	static const struct nla_policy policy[ETHTOOL_A_PAUSE_STATS + 1] = {
		[ETHTOOL_A_PAUSE_STATS] = {.type = NLA_NESTED},
	};
	static const struct nla_policy stats_policy[ETHTOOL_A_PAUSE_STAT_RX_FRAMES + 1] = {
		[ETHTOOL_A_PAUSE_STAT_TX_FRAMES] = {.type = NLA_U64},
		[ETHTOOL_A_PAUSE_STAT_RX_FRAMES] = {.type = NLA_U64},
	};
	struct nlattr *tb[ETHTOOL_A_PAUSE_STATS + 1], *st[ETHTOOL_A_PAUSE_STAT_RX_FRAMES + 1];

	if (!genl_is(h, family, ETHTOOL_MSG_PAUSE_GET_REPLY))
		return -EPROTO;
	if (nlmsg_parse((struct nlmsghdr *)h, sizeof(struct genlmsghdr), tb, ETHTOOL_A_PAUSE_STATS,
			policy) < 0)
		return -EBADMSG;
	if (!tb[ETHTOOL_A_PAUSE_STATS])
		return 0;
	if (nla_parse_nested(st, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, tb[ETHTOOL_A_PAUSE_STATS],
			     stats_policy) < 0)
		return -EBADMSG;
	return deliver(st[ETHTOOL_A_PAUSE_STAT_RX_FRAMES], "rx_frames", fn, arg) +
	       deliver(st[ETHTOOL_A_PAUSE_STAT_TX_FRAMES], "tx_frames", fn, arg);
}
