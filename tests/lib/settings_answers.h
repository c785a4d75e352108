/* SPDX-License-Identifier: Apache-2.0 */
/* settings_answers.h - builds netlink replies about a port's settings with the kernel's layout:
 * dcbnl_ieee_fill() in linux/net/dcb/dcbnl.c, pause_fill_reply() in linux/net/ethtool/pause.c. */
#pragma once

#include <linux/dcbnl.h>
#include <netlink/msg.h>
#include <stdbool.h>
#include <stddef.h>

struct dcb_answer {
	const struct ieee_ets *ets; /* NULL: absent */
	const struct ieee_pfc *pfc, *peer_pfc;
	struct dcb_app apps[80]; /* in the kernel's order */
	size_t n_apps;
	bool has_trust; /* a table of trusted selectors */
	uint8_t trust[8];
	size_t n_trust;
	bool has_dcbx;
	uint8_t dcbx;
};

/* Appends an entry for a DSCP. */
void dcb_answer_dscp(struct dcb_answer *, uint16_t dscp, uint8_t priority);
struct nl_msg *dcb_answer_build(const struct dcb_answer *, const char *ifname);
struct nl_msg *pause_answer_build(uint16_t family, bool receives, bool sends);
