#include "pause.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>

static struct nl_msg *genl_request(uint16_t family, uint8_t cmd, uint8_t version)
{
	struct genlmsghdr g = {.cmd = cmd, .version = version};
	struct nl_msg *msg = nlmsg_alloc_simple(family, NLM_F_REQUEST);

	if (msg && nlmsg_append(msg, &g, sizeof(g), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* The generic netlink header of a message of this family and command, or NULL. */
static bool is_genl(const struct nlmsghdr *h, uint16_t family, uint8_t cmd)
{
	return h->nlmsg_type == family && nlmsg_valid_hdr(h, sizeof(struct genlmsghdr)) &&
	       ((const struct genlmsghdr *)nlmsg_data(h))->cmd == cmd;
}

struct nl_msg *pause_family_request(void)
{
	struct nl_msg *msg = genl_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);

	if (msg && nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int pause_decode_family(const struct nlmsghdr *h, uint16_t *ret_family)
{
	static const struct nla_policy policy[CTRL_ATTR_FAMILY_ID + 1] = {
		[CTRL_ATTR_FAMILY_ID] = {.type = NLA_U16},
	};
	struct nlattr *tb[CTRL_ATTR_FAMILY_ID + 1];

	if (!is_genl(h, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY))
		return -EPROTO;
	if (nlmsg_parse((struct nlmsghdr *)h, sizeof(struct genlmsghdr), tb, CTRL_ATTR_FAMILY_ID,
			policy) < 0 ||
	    !tb[CTRL_ATTR_FAMILY_ID])
		return -EBADMSG;
	*ret_family = nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	return 0;
}

struct nl_msg *pause_request(uint16_t family, int ifindex)
{
	struct nl_msg *msg = genl_request(family, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_GENL_VERSION);
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

	if (!is_genl(h, family, ETHTOOL_MSG_PAUSE_GET_REPLY))
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
