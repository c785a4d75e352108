// SPDX-License-Identifier: Apache-2.0
#include "settings_answers.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdlib.h>

/* Older nests of the kernel lack the flag NLA_F_NESTED. Empty nests are sent, too. */
static struct nlattr *plain_nest(struct nl_msg *m, int type)
{
	struct nlattr *a = nla_nest_start(m, type);

	a->nla_type &= ~NLA_F_NESTED;
	return a;
}

void dcb_answer_dscp(struct dcb_answer *a, uint16_t dscp, uint8_t priority)
{
	a->apps[a->n_apps++] = (struct dcb_app){
		.selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = priority, .protocol = dscp};
}

static void put_ieee(struct nl_msg *m, const struct dcb_answer *a)
{
	struct nlattr *nest = plain_nest(m, DCB_ATTR_IEEE), *inner;

	if (a->ets)
		nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(*a->ets), a->ets);
	if (a->pfc)
		nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(*a->pfc), a->pfc);
	inner = plain_nest(m, DCB_ATTR_IEEE_APP_TABLE);
	for (size_t i = 0; i < a->n_apps; i++)
		nla_put(m, DCB_ATTR_IEEE_APP, sizeof(a->apps[i]), &a->apps[i]);
	nla_nest_end_keep_empty(m, inner);
	if (a->has_trust) {
		inner = nla_nest_start(m, 11); /* DCB_ATTR_DCB_APP_TRUST_TABLE */
		for (size_t i = 0; i < a->n_trust; i++)
			nla_put_u8(m, DCB_ATTR_IEEE_APP, a->trust[i]);
		nla_nest_end_keep_empty(m, inner);
	}
	if (a->peer_pfc)
		nla_put(m, DCB_ATTR_IEEE_PEER_PFC, sizeof(*a->peer_pfc), a->peer_pfc);
	nla_nest_end_keep_empty(m, nest);
}

struct nl_msg *dcb_answer_build(const struct dcb_answer *a, const char *ifname)
{
	struct dcbmsg d = {.cmd = DCB_CMD_IEEE_GET};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);

	if (!m)
		abort();
	nlmsg_append(m, &d, sizeof(d), NLMSG_ALIGNTO);
	nla_put_string(m, DCB_ATTR_IFNAME, ifname);
	put_ieee(m, a);
	if (a->has_dcbx)
		nla_put_u8(m, DCB_ATTR_DCBX, a->dcbx);
	return m;
}

struct nl_msg *pause_answer_build(uint16_t family, bool receives, bool sends)
{
	struct genlmsghdr g = {.cmd = ETHTOOL_MSG_PAUSE_GET_REPLY, .version = 1};
	struct nl_msg *m = nlmsg_alloc_simple(family, 0);
	struct nlattr *header;

	if (!m)
		abort();
	nlmsg_append(m, &g, sizeof(g), NLMSG_ALIGNTO);
	header = nla_nest_start(m, ETHTOOL_A_PAUSE_HEADER);
	nla_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, 3);
	nla_put_string(m, ETHTOOL_A_HEADER_DEV_NAME, "ens1np0");
	nla_nest_end(m, header);
	nla_put_u8(m, ETHTOOL_A_PAUSE_AUTONEG, 0);
	nla_put_u8(m, ETHTOOL_A_PAUSE_RX, receives);
	nla_put_u8(m, ETHTOOL_A_PAUSE_TX, sends);
	return m;
}
