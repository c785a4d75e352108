#include "genl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>

struct nl_msg *genl_request(uint16_t family, uint8_t cmd, uint8_t version, int flags)
{
	struct genlmsghdr g = {.cmd = cmd, .version = version};
	struct nl_msg *msg = nlmsg_alloc_simple(family, NLM_F_REQUEST | flags);

	if (msg && nlmsg_append(msg, &g, sizeof(g), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

bool genl_is(const struct nlmsghdr *h, uint16_t family, uint8_t cmd)
{
	return h->nlmsg_type == family && nlmsg_valid_hdr(h, sizeof(struct genlmsghdr)) &&
	       ((const struct genlmsghdr *)nlmsg_data(h))->cmd == cmd;
}

struct nl_msg *genl_family_request(const char *name)
{
	struct nl_msg *msg = genl_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);

	if (msg && nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, name) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
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
