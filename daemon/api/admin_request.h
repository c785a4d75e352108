/* SPDX-License-Identifier: Apache-2.0 */
/* admin_request.h - admin requests as rocectl sends them. Pure: bytes in, values out. */
#pragma once

#include "attachment.h"
#include "err.h"

/* ADMIN_ATTACH: {"device": "0000:03:00.2", "netns": "/run/netns/a" | "pod": "train/job-7",
 *  "softRoce": true, ...}, plus "ipam" and all keys of an annotation's entry (networks.h)
 * ADMIN_DETACH: {"device": "0000:03:00.2", "force": true}
 * ADMIN_FIX: {}
 * ADMIN_HAND_OVER: {"pod": "rocelet/rocelet-x7k2p"}, the pod of the daemon that takes over; {} if
 * that daemon is not in a pod */
struct admin_request {
	char device[ALTNAME_SIZE]; /* bus, netdev or RDMA device name */
	/* door is DOOR_ADMIN. Either netns.path is set, or namespace and pod; the caller then finds
	 * the netns. */
	struct attach_owner owner;
	struct net_plan plan;
	bool force;
};

enum admin_request_kind { ADMIN_ATTACH, ADMIN_DETACH, ADMIN_FIX, ADMIN_HAND_OVER };

/* Parses the body of a request. Unknown keys are rejected. -EINVAL: the message names the key; *ret
 * is untouched. text need not be terminated, and may be empty for ADMIN_FIX. */
int admin_request_parse(struct admin_request *ret, enum admin_request_kind, const char *text,
			size_t len, struct err *);
