/* genl.h - generic netlink: message headers, and which number a family has. Pure.
 *
 * Wire facts: linux/include/uapi/linux/genetlink.h. */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

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
