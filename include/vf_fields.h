/* vf_fields.h - what a pool's "network" can set on a VF through its PF, one row each: as
 * link_fields.h for what is set on the netdev itself. Made of the rows are the keys of pools,
 * annotations, requests and journal records, comparison, merge and drift; how the kernel is asked
 * for them is in rtnl_vf.c, as each has a message of its own. Pure. */
#pragma once

#include "attachment.h"

/* member: of struct vf_settings, and the journal's key. key: as files spell it. bit: of the setting
 * that it belongs to. kind: a number up to `most` (VLAN 4095 is reserved, IEEE 802.1Q), or which
 * words it has. */
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

/* A setting as the kernel has it; three keys are one VLAN. */
#define N_VF_FIELDS 9
struct vf_field_row {
	unsigned bit;
	const char *name; /* in series and sentences: "link_state" */
	size_t at, size;
};
/* In the order in which do_setvfinfo() in linux/net/core/rtnetlink.c makes them. */
extern const struct vf_field_row vf_fields[N_VF_FIELDS];

/* The values of those settings, and their bits. */
void vf_settings_copy(struct vf_settings *, const struct vf_settings *from, unsigned bits);
