// SPDX-License-Identifier: Apache-2.0
#include "rtnl_vf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <string.h>

#include "cleanup.h"
#include "fnv.h"
#include "nlmsg.h"

/* Missing in some build machines' headers: linux/include/uapi/linux/rtnetlink.h (5.10). Each VF's
 * statistics may cost a firmware command. */
#ifndef RTEXT_FILTER_SKIP_STATS
#define RTEXT_FILTER_SKIP_STATS (1 << 3)
#endif

struct nl_msg *rtnl_get_vfs(int ifindex)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = ifindex};
	struct nl_msg *msg = nlmsg_build(RTM_GETLINK, 0, &ifi, sizeof(ifi));
	uint32_t mask = RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS;

	return nlmsg_finished(msg, msg ? nla_put_u32(msg, IFLA_EXT_MASK, mask) : -1);
}

static const enum vf_link vf_links[] = {
	[IFLA_VF_LINK_STATE_AUTO] = VF_LINK_AUTO,
	[IFLA_VF_LINK_STATE_ENABLE] = VF_LINK_ENABLE,
	[IFLA_VF_LINK_STATE_DISABLE] = VF_LINK_DISABLE,
};

/* Computes a digest of all attributes except the traffic statistics, which older kernels send
 * although they were not requested. */
static uint64_t rtnl_digest_of(const struct nlattr *info)
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

/* Handles one IFLA_VF_INFO; returns 1 if it had a link state. */
static int vf_deliver(const struct nlattr *info, rtnl_vf_fn *fn, void *arg)
{
	const struct nlattr *a = nla_find(nla_data(info), nla_len(info), IFLA_VF_LINK_STATE);
	struct ifla_vf_link_state s;
	int r;

	if (!a || (size_t)nla_len(a) < sizeof(s))
		return 0;
	memcpy(&s, nla_data(a), sizeof(s));
	if (s.vf > UINT16_MAX || s.link_state >= ARRAY_SIZE(vf_links))
		return 0;
	r = fn((int)s.vf, vf_links[s.link_state], rtnl_digest_of(info), arg);
	return r < 0 ? r : 1;
}

int rtnl_decode_vfs(const struct nlmsghdr *h, rtnl_vf_fn *fn, void *arg)
{
	const struct nlattr *info;
	struct nlattr *list;
	int left, n = 0;

	if (h->nlmsg_type != RTM_NEWLINK || !nlmsg_valid_hdr(h, sizeof(struct ifinfomsg)))
		return -EPROTO;
	/* The first match is correct even if a list with a wrong length makes later attributes
	 * unreadable. */
	list = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg), IFLA_VFINFO_LIST);
	if (!list)
		return 0;
	nla_for_each_nested (info, list, left) {
		int r = nla_type(info) == IFLA_VF_INFO ? vf_deliver(info, fn, arg) : 0;

		if (r < 0)
			return r;
		n += r;
	}
	return n;
}

/* --- a VF's settings -------------------------------------------------------------------------- */

/* --- request -------------------------------------------------------------------------------- */

static int put_mac(struct nl_msg *msg, uint32_t vf, const struct vf_settings *s)
{
	struct ifla_vf_mac mac = {.vf = vf};

	memcpy(mac.mac, s->mac, sizeof(s->mac));
	return nla_put(msg, IFLA_VF_MAC, sizeof(mac), &mac);
}

/* Appends the VLAN as a list (Linux 4.9), because IFLA_VF_VLAN has no protocol. */
static int put_vlan(struct nl_msg *msg, uint32_t vf, const struct vf_settings *s)
{
	struct ifla_vf_vlan_info info = {
		.vf = vf,
		.vlan = s->vlan,
		.qos = s->vlan_qos,
		.vlan_proto = htons(s->vlan_proto ? s->vlan_proto : ETH_P_8021Q),
	};
	struct nlattr *list = nla_nest_start(msg, IFLA_VF_VLAN_LIST);
	int r = list ? nla_put(msg, IFLA_VF_VLAN_INFO, sizeof(info), &info) : -1;

	if (list)
		nla_nest_end(msg, list);
	return r;
}

static int put_rates(struct nl_msg *msg, uint32_t vf, const struct vf_settings *s, unsigned fields)
{
	struct ifla_vf_rate both = {vf, s->min_rate, s->max_rate};
	struct ifla_vf_tx_rate max = {vf, s->max_rate};

	if (fields & VF_MIN_RATE)
		return nla_put(msg, IFLA_VF_RATE, sizeof(both), &both);
	if (fields & VF_MAX_RATE)
		return nla_put(msg, IFLA_VF_TX_RATE, sizeof(max), &max);
	return 0;
}

static uint32_t wire_link_state(enum vf_link l)
{
	switch (l) {
	case VF_LINK_UNKNOWN:
	case VF_LINK_AUTO:
		break;
	case VF_LINK_ENABLE:
		return IFLA_VF_LINK_STATE_ENABLE;
	case VF_LINK_DISABLE:
		return IFLA_VF_LINK_STATE_DISABLE;
	}
	return IFLA_VF_LINK_STATE_AUTO;
}

/* Common layout of struct ifla_vf_spoofchk, ifla_vf_trust and ifla_vf_link_state. */
struct vf_u32 {
	uint32_t vf, value;
};
_Static_assert(sizeof(struct vf_u32) == sizeof(struct ifla_vf_spoofchk) &&
		       sizeof(struct vf_u32) == sizeof(struct ifla_vf_trust) &&
		       sizeof(struct vf_u32) == sizeof(struct ifla_vf_link_state),
	       "struct vf_u32 has the layout of all three");

static int put_u32(struct nl_msg *msg, bool wanted, int type, uint32_t vf, uint32_t value)
{
	struct vf_u32 v = {vf, value};

	return wanted ? nla_put(msg, type, sizeof(v), &v) : 0;
}

static int put_guid(struct nl_msg *msg, bool wanted, int type, uint32_t vf, uint64_t value)
{
	struct ifla_vf_guid guid = {.vf = vf, .guid = value};

	return wanted ? nla_put(msg, type, sizeof(guid), &guid) : 0;
}

static int put_settings(struct nl_msg *msg, uint32_t vf, const struct vf_settings *s, unsigned f)
{
	return (f & VF_MAC ? put_mac(msg, vf, s) : 0) | (f & VF_VLAN ? put_vlan(msg, vf, s) : 0) |
	       put_rates(msg, vf, s, f) |
	       put_u32(msg, f & VF_SPOOFCHK, IFLA_VF_SPOOFCHK, vf, s->spoofchk) |
	       put_u32(msg, f & VF_LINK_STATE, IFLA_VF_LINK_STATE, vf,
		       wire_link_state(s->link_state)) |
	       put_u32(msg, f & VF_TRUST, IFLA_VF_TRUST, vf, s->trust) |
	       put_guid(msg, f & VF_NODE_GUID, IFLA_VF_IB_NODE_GUID, vf, s->node_guid) |
	       put_guid(msg, f & VF_PORT_GUID, IFLA_VF_IB_PORT_GUID, vf, s->port_guid);
}

static int put_list(struct nl_msg *msg, uint32_t vf, const struct vf_settings *s, unsigned fields)
{
	struct nlattr *list = nla_nest_start(msg, IFLA_VFINFO_LIST);
	struct nlattr *info = list ? nla_nest_start(msg, IFLA_VF_INFO) : NULL;

	if (!info || put_settings(msg, vf, s, fields) < 0)
		return -1;
	nla_nest_end(msg, info);
	nla_nest_end(msg, list);
	return 0;
}

struct nl_msg *rtnl_set_vf(int pf_ifindex, int vf, const struct vf_settings *want, unsigned fields)
{
	struct ifinfomsg ifi = {.ifi_index = pf_ifindex};
	struct nl_msg *msg = nlmsg_build(RTM_SETLINK, 0, &ifi, sizeof(ifi));
	unsigned set = want->fields & fields;

	return nlmsg_finished(msg, msg ? put_list(msg, (uint32_t)vf, want, set) : -1);
}

/* --- answer --------------------------------------------------------------------------------- */

/* Copies a value, which begins with the number of its VF. */
static bool copy_value(const struct nlattr *a, uint32_t vf, void *ret, size_t size)
{
	if (!a || (size_t)nla_len(a) < size || memcmp(nla_data(a), &vf, sizeof(vf)) != 0)
		return false;
	memcpy(ret, nla_data(a), size);
	return true;
}

static void decode_mac(struct nlattr **tb, uint32_t vf, struct vf_settings *s)
{
	struct ifla_vf_mac mac;

	if (!copy_value(tb[IFLA_VF_MAC], vf, &mac, sizeof(mac)))
		return;
	memcpy(s->mac, mac.mac, sizeof(s->mac));
	s->fields |= VF_MAC;
}

static void decode_vlan(struct nlattr **tb, uint32_t vf, struct vf_settings *s)
{
	const struct nlattr *list = tb[IFLA_VF_VLAN_LIST];
	const struct nlattr *a = list ? nla_find(nla_data(list), nla_len(list), IFLA_VF_VLAN_INFO)
				      : NULL;
	struct ifla_vf_vlan_info info = {.vlan_proto = htons(ETH_P_8021Q)};
	struct ifla_vf_vlan plain;

	if (copy_value(tb[IFLA_VF_VLAN], vf, &plain, sizeof(plain))) {
		info.vlan = plain.vlan;
		info.qos = plain.qos;
	} else if (!a) {
		return;
	}
	if (a && !copy_value(a, vf, &info, sizeof(info)))
		return;
	if (info.vlan > 4095 || info.qos > 7)
		return;
	s->vlan = (uint16_t)info.vlan;
	s->vlan_qos = (uint8_t)info.qos;
	s->vlan_proto = ntohs(info.vlan_proto);
	s->fields |= VF_VLAN;
}

static void decode_rates(struct nlattr **tb, uint32_t vf, struct vf_settings *s)
{
	struct ifla_vf_tx_rate max;
	struct ifla_vf_rate both;

	if (copy_value(tb[IFLA_VF_RATE], vf, &both, sizeof(both))) {
		s->min_rate = both.min_tx_rate;
		s->max_rate = both.max_tx_rate;
		s->fields |= VF_MIN_RATE | VF_MAX_RATE;
	} else if (copy_value(tb[IFLA_VF_TX_RATE], vf, &max, sizeof(max))) {
		s->max_rate = max.rate;
		s->fields |= VF_MAX_RATE;
	}
}

/* Decodes a switch; false if it is -1, which means that the driver does not report it
 * (rtnl_fill_vfinfo()). */
static bool decode_switch(const struct nlattr *a, uint32_t vf, bool *ret)
{
	struct vf_u32 v;

	if (!copy_value(a, vf, &v, sizeof(v)) || v.value > 1)
		return false;
	*ret = v.value;
	return true;
}

static void decode_link_state(struct nlattr **tb, uint32_t vf, struct vf_settings *s)
{
	struct vf_u32 v;

	if (!copy_value(tb[IFLA_VF_LINK_STATE], vf, &v, sizeof(v)) ||
	    v.value >= ARRAY_SIZE(vf_links))
		return;
	s->link_state = vf_links[v.value];
	s->fields |= VF_LINK_STATE;
}

static bool decode_guid(const struct nlattr *a, uint32_t vf, uint64_t *ret)
{
	struct ifla_vf_guid guid;

	if (!copy_value(a, vf, &guid, sizeof(guid)))
		return false;
	*ret = guid.guid;
	return true;
}

static void decode_settings(struct nlattr **tb, uint32_t vf, struct vf_settings *s)
{
	decode_mac(tb, vf, s);
	decode_vlan(tb, vf, s);
	decode_rates(tb, vf, s);
	decode_link_state(tb, vf, s);
	if (decode_switch(tb[IFLA_VF_SPOOFCHK], vf, &s->spoofchk))
		s->fields |= VF_SPOOFCHK;
	if (decode_switch(tb[IFLA_VF_TRUST], vf, &s->trust))
		s->fields |= VF_TRUST;
	if (decode_guid(tb[IFLA_VF_IB_NODE_GUID], vf, &s->node_guid))
		s->fields |= VF_NODE_GUID;
	if (decode_guid(tb[IFLA_VF_IB_PORT_GUID], vf, &s->port_guid))
		s->fields |= VF_PORT_GUID;
}

/* Whether the attribute is about that VF, according to its MAC value. */
static bool is_about(const struct nlattr *info, uint32_t vf)
{
	const struct nlattr *a = nla_find(nla_data(info), nla_len(info), IFLA_VF_MAC);

	return a && (size_t)nla_len(a) >= sizeof(vf) && memcmp(nla_data(a), &vf, sizeof(vf)) == 0;
}

int rtnl_decode_vf(const struct nlmsghdr *h, int vf, struct vf_settings *ret)
{
	const uint8_t *end = (const uint8_t *)h + h->nlmsg_len;
	struct nlattr *tb[IFLA_VF_MAX + 1];
	const struct nlattr *list, *info;
	int left;

	if (h->nlmsg_type != RTM_NEWLINK || !nlmsg_valid_hdr(h, sizeof(struct ifinfomsg)))
		return -EPROTO;
	list = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg), IFLA_VFINFO_LIST);
	if (!list)
		return -ENODEV;
	/* Ignores the list's length: attributes after the list have other types and end the loop.
	 */
	info = nla_data(list);
	for (left = (int)(end - (const uint8_t *)info);
	     nla_ok(info, left) && nla_type(info) == IFLA_VF_INFO; info = nla_next(info, &left)) {
		struct vf_settings s = {0};

		if (!is_about(info, (uint32_t)vf) ||
		    nla_parse(tb, IFLA_VF_MAX, nla_data(info), nla_len(info), NULL) < 0)
			continue;
		decode_settings(tb, (uint32_t)vf, &s);
		*ret = s;
		return 0;
	}
	return -ENODEV;
}
