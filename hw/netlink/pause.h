/* pause.h - IEEE 802.3x pause frames over generic netlink ("ethtool", PAUSE_GET). Pure.
 *
 * Wire facts: linux/include/uapi/linux/ethtool_netlink.h, linux/net/ethtool/pause.c,
 * linux/include/uapi/linux/genetlink.h. */
#pragma once

#include "nldev_stat.h"

/* Asks for the id of the generic netlink family "ethtool". All requests: NULL when out of memory,
 * the caller frees with nlmsg_free(). */
struct nl_msg *pause_family_request(void);
int pause_decode_family(const struct nlmsghdr *, uint16_t *ret_family);

struct nl_msg *pause_request(uint16_t family, int ifindex);
/* Delivers "rx_frames" and "tx_frames", each only where the driver counts it. Returns how many,
 * -EPROTO for another message, -EBADMSG for attributes of the wrong form. */
int pause_decode(const struct nlmsghdr *, uint16_t family, named_value_fn *, void *arg);
