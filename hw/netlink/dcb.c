#include "dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <string.h>

#include "nlmsg.h"

_Static_assert(sizeof(struct ieee_pfc) == 136, "ABI of dcbnl.h");

struct nl_msg *dcb_ieee_request(const char *ifname)
{
	struct dcbmsg d = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET};
	struct nl_msg *msg = nlmsg_build(RTM_GETDCB, NLM_F_REQUEST, &d, sizeof(d));

	return nlmsg_finished(msg, msg ? nla_put_string(msg, DCB_ATTR_IFNAME, ifname) : -1);
}

static void copy_pfc(struct pfc *ret, struct nlattr *a)
{
	struct ieee_pfc p;

	memcpy(&p, nla_data(a), sizeof(p));
	ret->enabled = p.pfc_en;
	ret->classes = p.pfc_cap;
	ret->delay = p.delay;
	for (int i = 0; i < N_PRIORITIES; i++) {
		ret->requests[i] = p.requests[i];
		ret->indications[i] = p.indications[i];
	}
}

int dcb_decode_pfc(const struct nlmsghdr *h, struct pfc *ret)
{
	static const struct nla_policy policy[DCB_ATTR_IEEE + 1] = {
		[DCB_ATTR_IEEE] = {.type = NLA_NESTED},
	};
	static const struct nla_policy ieee_policy[DCB_ATTR_IEEE_PFC + 1] = {
		[DCB_ATTR_IEEE_PFC] = {.minlen = sizeof(struct ieee_pfc)},
	};
	struct nlattr *tb[DCB_ATTR_IEEE + 1], *ieee[DCB_ATTR_IEEE_PFC + 1];

	if (h->nlmsg_type != RTM_GETDCB || !nlmsg_valid_hdr(h, sizeof(struct dcbmsg)) ||
	    ((const struct dcbmsg *)nlmsg_data(h))->cmd != DCB_CMD_IEEE_GET)
		return -EPROTO;
	if (nlmsg_parse((struct nlmsghdr *)h, sizeof(struct dcbmsg), tb, DCB_ATTR_IEEE, policy) < 0)
		return -EBADMSG;
	if (!tb[DCB_ATTR_IEEE])
		return -ENODATA;
	if (nla_parse_nested(ieee, DCB_ATTR_IEEE_PFC, tb[DCB_ATTR_IEEE], ieee_policy) < 0)
		return -EBADMSG;
	if (!ieee[DCB_ATTR_IEEE_PFC])
		return -ENODATA;
	copy_pfc(ret, ieee[DCB_ATTR_IEEE_PFC]);
	return 0;
}
