/* genl.h - generic netlink: message headers, which number a family has, and what is asked of two of
 * them: health reporters of devlink, pause of ethtool. Pure.
 *
 * Wire facts: linux/include/uapi/linux/genetlink.h. */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "nldev.h"
#include "port_settings.h"

/* A request with its generic header; NULL when out of memory, else the caller frees with
 * nlmsg_free(). */
struct nl_msg *genl_request(uint16_t family, uint8_t cmd, uint8_t version, int flags);
/* Is it a message of this family and command? */
bool genl_is(const struct nlmsghdr *, uint16_t family, uint8_t cmd);

/* Asks for the number of a family and its multicast groups. */
struct nl_msg *genl_family_request(const char *name);
/* 0, -EPROTO for another message, -EBADMSG for one of the wrong form. */
int genl_decode_family(const struct nlmsghdr *, uint16_t *ret_family);
/* The number of its multicast group of that name, to be joined; -ENOENT: it has none. */
int genl_decode_group(const struct nlmsghdr *, const char *name, uint32_t *ret_group);

/* --- devlink: health reporters ---------------------------------------------------------------- */

/* A driver has a reporter for each thing that can break ("fw", "fw_fatal", "tx", "rx"); it is in
 * state error from the report of an error until its recovery. Wire facts:
 * linux/include/uapi/linux/devlink.h, linux/net/devlink/health.c; the states are no part of uapi:
 * enum devlink_health_reporter_state in linux/include/net/devlink.h. */

#define DEVLINK_FAMILY "devlink"
#define DEVLINK_GROUP  "config" /* its multicast group for all events */

struct devlink_reporter {
	char function[DEV_ID_SIZE]; /* of its device or port; "" = on neither bus that we know */
	char name[32];
	bool error;
};

/* Asks for all reporters of all devices and ports; NULL when out of memory, else the caller frees
 * with nlmsg_free(). */
struct nl_msg *devlink_dump_reporters(uint16_t family);
/* Does this event tell of a reporter whose state has changed? */
bool devlink_is_health_event(const struct nlmsghdr *, uint16_t family);
/* -EPROTO: another message, -EBADMSG: of the wrong form. *ret is untouched on failure. */
int devlink_decode_reporter(const struct nlmsghdr *, uint16_t family, struct devlink_reporter *ret);

/* --- ethtool: pause --------------------------------------------------------------------------- */

/* IEEE 802.3x pause (PAUSE_GET): its frames, and in which directions it is on. Wire facts:
 * linux/include/uapi/linux/ethtool_netlink.h, linux/net/ethtool/pause.c,
 * linux/include/uapi/linux/genetlink.h. */

/* family: of ETHTOOL_GENL_NAME. frames: count them, too, for which a device may be asked. NULL when
 * out of memory, else the caller frees with nlmsg_free(). */
struct nl_msg *pause_request(uint16_t family, int ifindex, bool frames);
/* Delivers "rx_frames" and "tx_frames", each only where the driver counts it. Returns how many,
 * -EPROTO for another message, -EBADMSG for attributes of the wrong form. */
int pause_decode(const struct nlmsghdr *, uint16_t family, named_value_fn *, void *arg);
/* Adds what the answer tells of global pause. 0, or as above; *ret is untouched on failure. */
int pause_decode_settings(const struct nlmsghdr *, uint16_t family, struct port_settings *ret);
