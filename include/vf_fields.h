/* SPDX-License-Identifier: Apache-2.0 */
/* vf_fields.h - the settings of a VF that a pool's "network" can make through its PF, one row each;
 * the counterpart of link_fields.h for settings of the netdev itself. The keys of pools,
 * annotations, requests and journal records, comparison, merge and drift are generated from the
 * rows; the netlink messages are in rtnl_vf.c, because each setting has its own message. Pure. */
#pragma once

#include "attachment.h"

/* member: of struct vf_settings, and the journal's key. key: as in files. bit: the setting it
 * belongs to. kind: NUMBER up to `most` (VLAN 4095 is reserved, IEEE 802.1Q), or the set of allowed
 * words. */
/* clang-format off */
#define VF_KEYS(X) \
	X(VLAN,       vlan,       "vlan",      VF_VLAN,       NUMBER, 4094), \
	X(VLAN_QOS,   vlan_qos,   "vlanQoS",   VF_VLAN,       NUMBER, 7), \
	X(VLAN_PROTO, vlan_proto, "vlanProto", VF_VLAN,       PROTO,  0), \
	X(SPOOFCHK,   spoofchk,   "spoofchk",  VF_SPOOFCHK,   SWITCH, 0), \
	X(TRUST,      trust,      "trust",     VF_TRUST,      SWITCH, 0), \
	X(LINK_STATE, link_state, "linkState", VF_LINK_STATE, LINK,   0), \
	X(MIN_RATE,   min_rate,   "minTxRate", VF_MIN_RATE,   NUMBER, UINT32_MAX), \
	X(MAX_RATE,   max_rate,   "maxTxRate", VF_MAX_RATE,   NUMBER, UINT32_MAX)
/* clang-format on */

#define VF_KEY_ID(id, ...) VF_KEY_##id
enum vf_key { VF_KEYS(VF_KEY_ID), N_VF_KEYS };

struct vf_words {
	size_t n;
	const char *words[3];
	uint32_t values[3];
};

struct vf_key_row {
	const char *key;
	size_t at, size;	      /* of the member */
	const struct vf_words *words; /* NULL: a number */
	unsigned bit;
	uint32_t most;
};
extern const struct vf_key_row vf_keys[N_VF_KEYS];
extern const struct vf_words vf_switch; /* "off", "on" */

/* One setting of the kernel; three keys form one VLAN. */
#define N_VF_FIELDS 9
struct vf_field_row {
	unsigned bit;
	const char *name; /* name in metrics and messages: "link_state" */
	size_t at, size;
};
/* In the order in which do_setvfinfo() in linux/net/core/rtnetlink.c applies them. */
extern const struct vf_field_row vf_fields[N_VF_FIELDS];

/* Copies the values of the settings in `bits` and adds the bits to `fields`. */
void vf_settings_copy(struct vf_settings *, const struct vf_settings *from, unsigned bits);
