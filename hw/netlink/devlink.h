/* devlink.h - health reporters over generic netlink ("devlink"). Pure.
 *
 * A driver has a reporter for each thing that can break ("fw", "fw_fatal", "tx", "rx"); it is in
 * state error from the report of an error until its recovery. Wire facts:
 * linux/include/uapi/linux/devlink.h, linux/net/devlink/health.c; the states are no part of uapi:
 * enum devlink_health_reporter_state in linux/include/net/devlink.h. */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

#include "model.h"

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
