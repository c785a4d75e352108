// SPDX-License-Identifier: Apache-2.0
#include "genl.h"

#include <errno.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <string.h>

#include "nlmsg.h"

struct nl_msg *genl_request(uint16_t family, uint8_t cmd, uint8_t version, int flags)
{
	struct genlmsghdr g = {.cmd = cmd, .version = version};

	return nlmsg_build(family, NLM_F_REQUEST | flags, &g, sizeof(g));
}

bool genl_is(const struct nlmsghdr *h, uint16_t family, uint8_t cmd)
{
	return h->nlmsg_type == family && nlmsg_valid_hdr(h, sizeof(struct genlmsghdr)) &&
	       ((const struct genlmsghdr *)nlmsg_data(h))->cmd == cmd;
}

struct nl_msg *genl_family_request(const char *name)
{
	struct nl_msg *msg = genl_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);

	return nlmsg_finished(msg, msg ? nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, name) : -1);
}

static const struct nla_policy family_policy[CTRL_ATTR_MCAST_GROUPS + 1] = {
	[CTRL_ATTR_FAMILY_ID] = {.type = NLA_U16},
	[CTRL_ATTR_MCAST_GROUPS] = {.type = NLA_NESTED},
};

static int parse_family(const struct nlmsghdr *h, struct nlattr *tb[CTRL_ATTR_MCAST_GROUPS + 1])
{
	if (!genl_is(h, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY))
		return -EPROTO;
	return nlmsg_parse((struct nlmsghdr *)h, sizeof(struct genlmsghdr), tb,
			   CTRL_ATTR_MCAST_GROUPS, family_policy) < 0
		       ? -EBADMSG
		       : 0;
}

int genl_decode_family(const struct nlmsghdr *h, uint16_t *ret_family)
{
	struct nlattr *tb[CTRL_ATTR_MCAST_GROUPS + 1];
	int r = parse_family(h, tb);

	if (r < 0)
		return r;
	if (!tb[CTRL_ATTR_FAMILY_ID])
		return -EBADMSG;
	*ret_family = nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	return 0;
}

static bool is_group(struct nlattr *group, const char *name, uint32_t *ret)
{
	static const struct nla_policy policy[CTRL_ATTR_MCAST_GRP_ID + 1] = {
		[CTRL_ATTR_MCAST_GRP_NAME] = {.type = NLA_STRING},
		[CTRL_ATTR_MCAST_GRP_ID] = {.type = NLA_U32},
	};
	struct nlattr *tb[CTRL_ATTR_MCAST_GRP_ID + 1];

	if (nla_parse_nested(tb, CTRL_ATTR_MCAST_GRP_ID, group, policy) < 0 ||
	    !tb[CTRL_ATTR_MCAST_GRP_NAME] || !tb[CTRL_ATTR_MCAST_GRP_ID] ||
	    nla_strcmp(tb[CTRL_ATTR_MCAST_GRP_NAME], name) != 0)
		return false;
	*ret = nla_get_u32(tb[CTRL_ATTR_MCAST_GRP_ID]);
	return true;
}

int genl_decode_group(const struct nlmsghdr *h, const char *name, uint32_t *ret_group)
{
	struct nlattr *tb[CTRL_ATTR_MCAST_GROUPS + 1], *group;
	int r = parse_family(h, tb), left;

	if (r < 0)
		return r;
	if (!tb[CTRL_ATTR_MCAST_GROUPS])
		return -ENOENT;
	nla_for_each_nested (group, tb[CTRL_ATTR_MCAST_GROUPS], left)
		if (is_group(group, name, ret_group))
			return 0;
	return -ENOENT;
}

/* --- devlink: health reporters ---------------------------------------------------------------- */

#define STATE_ERROR 1

struct nl_msg *devlink_dump_reporters(uint16_t family)
{
	return genl_request(family, DEVLINK_CMD_HEALTH_REPORTER_GET, DEVLINK_GENL_VERSION,
			    NLM_F_DUMP);
}

/* True for RECOVER, which devlink_recover_notify() in linux/net/devlink/health.c uses for errors
 * and recoveries. */
bool devlink_is_health_event(const struct nlmsghdr *h, uint16_t family)
{
	return genl_is(h, family, DEVLINK_CMD_HEALTH_REPORTER_RECOVER) ||
	       genl_is(h, family, DEVLINK_CMD_HEALTH_REPORTER_GET);
}

int devlink_decode_reporter(const struct nlmsghdr *h, uint16_t family, struct devlink_reporter *ret)
{
	static const struct nla_policy policy[DEVLINK_ATTR_HEALTH_REPORTER + 1] = {
		[DEVLINK_ATTR_HEALTH_REPORTER] = {.type = NLA_NESTED},
	};
	static const struct nla_policy reporter_policy[DEVLINK_ATTR_HEALTH_REPORTER_STATE + 1] = {
		[DEVLINK_ATTR_HEALTH_REPORTER_STATE] = {.type = NLA_U8},
	};
	struct nlattr *tb[DEVLINK_ATTR_HEALTH_REPORTER + 1];
	struct nlattr *reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE + 1];
	struct devlink_reporter r = {0};

	if (!genl_is(h, family, DEVLINK_CMD_HEALTH_REPORTER_GET))
		return -EPROTO;
	if (nlmsg_parse((struct nlmsghdr *)h, sizeof(struct genlmsghdr), tb,
			DEVLINK_ATTR_HEALTH_REPORTER, policy) < 0 ||
	    !tb[DEVLINK_ATTR_HEALTH_REPORTER] ||
	    nla_parse_nested(reporter, DEVLINK_ATTR_HEALTH_REPORTER_STATE,
			     tb[DEVLINK_ATTR_HEALTH_REPORTER], reporter_policy) < 0 ||
	    !reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE])
		return -EBADMSG;
	attr_text(tb[DEVLINK_ATTR_DEV_NAME], r.function, sizeof(r.function));
	if (!is_function_id(r.function))
		r.function[0] = '\0';
	attr_text(reporter[DEVLINK_ATTR_HEALTH_REPORTER_NAME], r.name, sizeof(r.name));
	r.error = nla_get_u8(reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE]) == STATE_ERROR;
	*ret = r;
	return 0;
}

/* --- ethtool: pause --------------------------------------------------------------------------- */

struct nl_msg *pause_request(uint16_t family, int ifindex, bool frames)
{
	struct nl_msg *msg = genl_request(family, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_GENL_VERSION, 0);
	struct nlattr *header = msg ? nla_nest_start(msg, ETHTOOL_A_PAUSE_HEADER) : NULL;

	if (!header || nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, ifindex) < 0 ||
	    nla_put_u32(msg, ETHTOOL_A_HEADER_FLAGS, frames ? ETHTOOL_FLAG_STATS : 0) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	nla_nest_end(msg, header);
	/* The ethtool family validates strictly: a nest must have its flag set. */
	header->nla_type |= NLA_F_NESTED;
	return msg;
}

static int pause_deliver(struct nlattr *a, const char *name, named_value_fn *fn, void *arg)
{
	if (!a)
		return 0;
	fn(name, nla_get_u64(a), arg);
	return 1;
}

static int parse_pause(const struct nlmsghdr *h, uint16_t family,
		       struct nlattr *tb[ETHTOOL_A_PAUSE_STATS + 1])
{
	static const struct nla_policy policy[ETHTOOL_A_PAUSE_STATS + 1] = {
		[ETHTOOL_A_PAUSE_RX] = {.type = NLA_U8},
		[ETHTOOL_A_PAUSE_TX] = {.type = NLA_U8},
		[ETHTOOL_A_PAUSE_STATS] = {.type = NLA_NESTED},
	};

	if (!genl_is(h, family, ETHTOOL_MSG_PAUSE_GET_REPLY))
		return -EPROTO;
	return nlmsg_parse((struct nlmsghdr *)h, sizeof(struct genlmsghdr), tb,
			   ETHTOOL_A_PAUSE_STATS, policy) < 0
		       ? -EBADMSG
		       : 0;
}

int pause_decode(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn, void *arg)
{
	static const struct nla_policy stats_policy[ETHTOOL_A_PAUSE_STAT_RX_FRAMES + 1] = {
		[ETHTOOL_A_PAUSE_STAT_TX_FRAMES] = {.type = NLA_U64},
		[ETHTOOL_A_PAUSE_STAT_RX_FRAMES] = {.type = NLA_U64},
	};
	struct nlattr *tb[ETHTOOL_A_PAUSE_STATS + 1], *st[ETHTOOL_A_PAUSE_STAT_RX_FRAMES + 1];
	int r = parse_pause(h, family, tb);

	if (r < 0)
		return r;
	if (!tb[ETHTOOL_A_PAUSE_STATS])
		return 0;
	if (nla_parse_nested(st, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, tb[ETHTOOL_A_PAUSE_STATS],
			     stats_policy) < 0)
		return -EBADMSG;
	return pause_deliver(st[ETHTOOL_A_PAUSE_STAT_RX_FRAMES], "rx_frames", fn, arg) +
	       pause_deliver(st[ETHTOOL_A_PAUSE_STAT_TX_FRAMES], "tx_frames", fn, arg);
}

int pause_decode_settings(const struct nlmsghdr *h, uint16_t family, struct port_settings *ret)
{
	struct nlattr *tb[ETHTOOL_A_PAUSE_STATS + 1];
	int r = parse_pause(h, family, tb);

	if (r < 0)
		return r;
	if (!tb[ETHTOOL_A_PAUSE_RX] || !tb[ETHTOOL_A_PAUSE_TX])
		return -EBADMSG;
	ret->pause_receives = nla_get_u8(tb[ETHTOOL_A_PAUSE_RX]) != 0;
	ret->pause_sends = nla_get_u8(tb[ETHTOOL_A_PAUSE_TX]) != 0;
	ret->seen |= SETTINGS_PAUSE;
	return 0;
}
