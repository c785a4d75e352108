/* dcb.h - what data centre bridging netlink tells of a port: priority flow control and its frames,
 * traffic classes, DSCP to priority, DCBX. Pure.
 *
 * Wire facts: linux/include/uapi/linux/dcbnl.h, linux/net/dcb/dcbnl.c (dcbnl_ieee_fill). The frame
 * counts are live with bnxt; mlx5 copies them from statistics that nobody refreshes. */
#pragma once

#include <netlink/msg.h>
#include <stdint.h>

#include "port_settings.h"

#define N_PRIORITIES 8

struct pfc {
	uint8_t enabled;		    /* one bit per priority */
	uint8_t classes;		    /* how many can have PFC at a time */
	uint16_t delay;			    /* round trip allowed for, in bits */
	uint64_t requests[N_PRIORITIES];    /* PFC frames sent */
	uint64_t indications[N_PRIORITIES]; /* PFC frames received */
};

/* NULL when out of memory; the caller frees with nlmsg_free(). */
struct nl_msg *dcb_ieee_request(const char *ifname);
/* -EPROTO: another message. -EBADMSG: attributes of the wrong form. -ENODATA: the device does not
 * do PFC. The output is untouched on failure. */
int dcb_decode_pfc(const struct nlmsghdr *, struct pfc *ret);
/* Adds what the same answer tells of DSCP, PFC, the peer's PFC, ETS and DCBX; parts of the wrong
 * form, or with values that no port can have, stay as they are. 0, -EPROTO, or -EBADMSG where the
 * message as a whole is malformed. */
int dcb_decode_settings(const struct nlmsghdr *, struct port_settings *ret);
