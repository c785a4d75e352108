// SPDX-License-Identifier: Apache-2.0
#include "vf_fields.h"

#include <linux/if_ether.h>
#include <string.h>

const struct vf_words vf_switch = {2, {"off", "on"}, {false, true}};
static const struct vf_words protos = {2, {"802.1q", "802.1ad"}, {ETH_P_8021Q, ETH_P_8021AD}};
static const struct vf_words links = {
	3, {"auto", "enable", "disable"}, {VF_LINK_AUTO, VF_LINK_ENABLE, VF_LINK_DISABLE}};

#define WORDS_NUMBER NULL
#define WORDS_SWITCH &vf_switch
#define WORDS_PROTO  &protos
#define WORDS_LINK   &links
#define SIZE(member) sizeof(((struct vf_settings *)0)->member)
#define KEY(id, member, key, bit, kind, most)                                                      \
	[VF_KEY_##id] = {                                                                          \
		key, offsetof(struct vf_settings, member), SIZE(member), WORDS_##kind, bit, most}

const struct vf_key_row vf_keys[N_VF_KEYS] = {VF_KEYS(KEY)};

/* Offset of the first member, and size up to the end of the last. */
#define SPAN(first, last)                                                                          \
	offsetof(struct vf_settings, first), offsetof(struct vf_settings, last) + SIZE(last) -     \
						     offsetof(struct vf_settings, first)

const struct vf_field_row vf_fields[N_VF_FIELDS] = {
	{VF_MAC, "mac", SPAN(mac, mac)},
	{VF_VLAN, "vlan", SPAN(vlan, vlan_proto)},
	{VF_MIN_RATE, "min_rate", SPAN(min_rate, min_rate)},
	{VF_MAX_RATE, "max_rate", SPAN(max_rate, max_rate)},
	{VF_SPOOFCHK, "spoofchk", SPAN(spoofchk, spoofchk)},
	{VF_LINK_STATE, "link_state", SPAN(link_state, link_state)},
	{VF_TRUST, "trust", SPAN(trust, trust)},
	{VF_NODE_GUID, "node_guid", SPAN(node_guid, node_guid)},
	{VF_PORT_GUID, "port_guid", SPAN(port_guid, port_guid)},
};

void vf_settings_copy(struct vf_settings *s, const struct vf_settings *from, unsigned bits)
{
	for (size_t i = 0; i < N_VF_FIELDS; i++)
		if (bits & vf_fields[i].bit)
			memcpy((char *)s + vf_fields[i].at, (const char *)from + vf_fields[i].at,
			       vf_fields[i].size);
	s->fields |= bits;
}
