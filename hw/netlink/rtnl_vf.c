/* rtnl_vf.c - see rtnl_vf.h. */
#include "rtnl_vf.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <string.h>

#include "fnv.h"

/* Newer than some build machines' headers: linux/include/uapi/linux/rtnetlink.h (5.10). VFs'
 * statistics may cost a firmware command each. */
#ifndef RTEXT_FILTER_SKIP_STATS
#define RTEXT_FILTER_SKIP_STATS (1 << 3)
#endif

struct nl_msg *rtnl_get_vfs(int ifindex)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = ifindex};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, 0);

	if (msg &&
	    (nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) < 0 ||
	     nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS) < 0)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static enum vf_link link_of(uint32_t state)
{
	switch (state) {
	case IFLA_VF_LINK_STATE_AUTO:
		return VF_LINK_AUTO;
	case IFLA_VF_LINK_STATE_ENABLE:
		return VF_LINK_ENABLE;
	case IFLA_VF_LINK_STATE_DISABLE:
		return VF_LINK_DISABLE;
	}
	return VF_LINK_UNKNOWN;
}

/* Of every attribute but those that count traffic, which an older kernel tells all the same. */
static uint64_t digest_of(const struct nlattr *info)
{
	uint64_t h = FNV1A_START;
	const struct nlattr *a;
	int left;

	nla_for_each_nested (a, info, left)
		if (nla_type(a) != IFLA_VF_STATS) {
			h = fnv1a(h, &(int){nla_type(a)}, sizeof(int));
			h = fnv1a(h, nla_data(a), (size_t)nla_len(a));
		}
	return h ? h : 1;
}

/* One IFLA_VF_INFO: 1 when it told a link state. */
static int deliver(const struct nlattr *info, rtnl_vf_fn *fn, void *arg)
{
	const struct nlattr *a = nla_find(nla_data(info), nla_len(info), IFLA_VF_LINK_STATE);
	struct ifla_vf_link_state s;
	int r;

	if (!a || (size_t)nla_len(a) < sizeof(s))
		return 0;
	memcpy(&s, nla_data(a), sizeof(s));
	if (s.vf > UINT16_MAX || link_of(s.link_state) == VF_LINK_UNKNOWN)
		return 0;
	r = fn((int)s.vf, link_of(s.link_state), digest_of(info), arg);
	return r < 0 ? r : 1;
}

int rtnl_decode_vfs(const struct nlmsghdr *h, rtnl_vf_fn *fn, void *arg)
{
	const struct nlattr *info;
	struct nlattr *list;
	int left, n = 0;

	if (h->nlmsg_type != RTM_NEWLINK || !nlmsg_valid_hdr(h, sizeof(struct ifinfomsg)))
		return -EPROTO;
	/* Found before anything that a list with a wrong length has pushed out of place. */
	list = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg), IFLA_VFINFO_LIST);
	if (!list)
		return 0;
	nla_for_each_nested (info, list, left) {
		int r = nla_type(info) == IFLA_VF_INFO ? deliver(info, fn, arg) : 0;

		if (r < 0)
			return r;
		n += r;
	}
	return n;
}
