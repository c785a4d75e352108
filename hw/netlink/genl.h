/* SPDX-License-Identifier: Apache-2.0 */
/* genl.h - generic netlink: message headers, family ids, and the messages of two families: health
 * reporters of devlink, pause of ethtool. Pure.
 *
 * Wire facts: linux/include/uapi/linux/genetlink.h. */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "nldev.h"
#include "port_settings.h"

/* Builds a request with its generic header; NULL when out of memory, else the caller frees with
 * nlmsg_free(). */
struct nl_msg *genl_request(uint16_t family, uint8_t cmd, uint8_t version, int flags);
/* True if the message is of this family and command. */
bool genl_is(const struct nlmsghdr *, uint16_t family, uint8_t cmd);

/* Requests the id and the multicast groups of a family. */
struct nl_msg *genl_family_request(const char *name);
/* Decodes the family's id. Returns 0, -EPROTO for another message, -EBADMSG for a malformed one. */
int genl_decode_family(const struct nlmsghdr *, uint16_t *ret_family);
/* Decodes the id of the family's multicast group of that name; -ENOENT: the family has no such
 * group. */
int genl_decode_group(const struct nlmsghdr *, const char *name, uint32_t *ret_group);

/* --- devlink: health reporters ---------------------------------------------------------------- */

/* A driver has a reporter for each component that can fail ("fw", "fw_fatal", "tx", "rx"); a
 * reporter is in state error from the report of an error until its recovery. Wire facts:
 * linux/include/uapi/linux/devlink.h, linux/net/devlink/health.c; the states are not part of uapi:
 * enum devlink_health_reporter_state in linux/include/net/devlink.h. */

#define DEVLINK_FAMILY "devlink"
#define DEVLINK_GROUP  "config" /* its multicast group for all events */

struct devlink_reporter {
	char function[DEV_ID_SIZE]; /* bus name of its device or port; "" = not a function id */
	char name[32];
	bool error;
};

/* Requests all reporters of all devices and ports; NULL when out of memory, else the caller frees
 * with nlmsg_free(). */
struct nl_msg *devlink_dump_reporters(uint16_t family);
/* True if the event reports a change of a reporter. */
bool devlink_is_health_event(const struct nlmsghdr *, uint16_t family);
/* Decodes one reporter. -EPROTO: another message, -EBADMSG: malformed. *ret is untouched on
 * failure. */
int devlink_decode_reporter(const struct nlmsghdr *, uint16_t family, struct devlink_reporter *ret);

/* --- ethtool: pause --------------------------------------------------------------------------- */

/* IEEE 802.3x pause (PAUSE_GET): its frames, and the directions in which it is enabled. Wire facts:
 * linux/include/uapi/linux/ethtool_netlink.h, linux/net/ethtool/pause.c,
 * linux/include/uapi/linux/genetlink.h. */

/* Requests a netdev's pause settings. family: id of ETHTOOL_GENL_NAME. frames: also request the
 * frame counts, for which the driver may query the device. NULL when out of memory, else the caller
 * frees with nlmsg_free(). */
struct nl_msg *pause_request(uint16_t family, int ifindex, bool frames);
/* Calls fn with "rx_frames" and "tx_frames" if the driver counts them. Returns the number of calls,
 * -EPROTO for another message, -EBADMSG for malformed attributes. */
int pause_decode(const struct nlmsghdr *, uint16_t family, named_value_fn *, void *arg);
/* Adds the global pause settings of the answer. Returns 0, or an error as pause_decode(); *ret is
 * untouched on failure. */
int pause_decode_settings(const struct nlmsghdr *, uint16_t family, struct port_settings *ret);
