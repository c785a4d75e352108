/* order.h - what a person orders, as rocectl sends it. Pure: bytes in, values out. */
#pragma once

#include "attachment.h"
#include "err.h"

/* {"device": "0000:03:00.2", "netns": "/run/netns/a" | "pod": "train/job-7", "softRoce": true,
 *  and the keys of an entry of the annotation (networks.h), all of them, and "ipam"}
 * {"device": "0000:03:00.2", "force": true}
 * {"pod": "rocelet/rocelet-x7k2p"}, of a successor; without it that is in no pod */
struct order {
	char device[ALTNAME_SIZE]; /* bus, netdev or RDMA device name */
	/* DOOR_ADMIN; netns.path, or namespace and pod, which are still to be looked up: then path
	 * is
	 * "". */
	struct attach_owner owner;
	struct net_plan plan;
	bool force;
};

enum order_kind { ORDER_ATTACH, ORDER_DETACH, ORDER_FIX, ORDER_HAND_OVER };

/* -EINVAL: a sentence that names the key. Unknown keys are refused; *ret is untouched then. Text
 * need not be terminated; ORDER_FIX may be empty. */
int order_parse(struct order *ret, enum order_kind, const char *text, size_t len, struct err *);
