/* SPDX-License-Identifier: Apache-2.0 */
/* dcb.h - data centre bridging netlink: requests and decodes a port's priority flow control (PFC),
 * its frame counts, traffic classes, the DSCP table and DCBX. Pure.
 *
 * Wire facts: linux/include/uapi/linux/dcbnl.h, linux/net/dcb/dcbnl.c (dcbnl_ieee_fill). The frame
 * counts are live with bnxt; mlx5 copies them from statistics that may be stale. */
#pragma once

#include <netlink/msg.h>
#include <stdint.h>

#include "port_settings.h"

#define N_PRIORITIES 8

struct pfc {
	uint8_t enabled;		    /* one bit per priority */
	uint8_t classes;		    /* how many priorities can have PFC at a time */
	uint16_t delay;			    /* round trip allowance, in bits */
	uint64_t requests[N_PRIORITIES];    /* PFC frames sent */
	uint64_t indications[N_PRIORITIES]; /* PFC frames received */
};

/* Requests all IEEE settings of the port. NULL when out of memory; the caller frees with
 * nlmsg_free(). */
struct nl_msg *dcb_ieee_request(const char *ifname);
/* Decodes PFC and its frame counts. -EPROTO: another message. -EBADMSG: malformed attributes.
 * -ENODATA: the device has no PFC. The output is untouched on failure. */
int dcb_decode_pfc(const struct nlmsghdr *, struct pfc *ret);
/* Adds DSCP, PFC, the peer's PFC, ETS and DCBX from the same answer; parts that are malformed or
 * have impossible values remain unchanged. Returns 0, -EPROTO, or -EBADMSG if the message as a
 * whole is malformed. */
int dcb_decode_settings(const struct nlmsghdr *, struct port_settings *ret);
