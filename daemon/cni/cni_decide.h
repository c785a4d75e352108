/* SPDX-License-Identifier: Apache-2.0 */
/* cni_decide.h - decisions for CNI requests: the function of an ADD, the differences that a CHECK
 * reports, the attachments that GC returns. Pure. */
#pragma once

#include "attach_status.h"
#include "netconf.h"

struct cni_wanted {
	char function[DEV_ID_SIZE];
	bool no_netdev; /* bound to a user-space driver: only the PF's settings apply */
	bool pass_on;	/* attach nothing and return prevResult (rdma-cni in a chain) */
};

/* Resolves the function of an ADD. Code 7: no device is named, the type is rdma-cni without a
 * previous plugin, or a netdev setting is for a device without a netdev; 101: no such device. */
int cni_decide_add(struct cni_wanted *ret, const struct netconf *, const struct cni_request *,
		   const struct host *, struct attach_list, struct cni_error *);
/* Fails with code 103 if the interface differs from the attachment. Differences that later plugins
 * of the chain have made are ignored: prevResult, the chain's final result, shows them. */
int cni_decide_check(const struct attach_status *, const struct cni_request *, struct cni_error *);

/* Returns 1 if GC has a list; 0 if it is absent or null: then no attachment is returned. Code 7: a
 * malformed list. */
int cni_decide_gc(const struct cni_request *, struct cni_error *);
bool cni_is_valid(const struct cni_request *, const struct attach_record *);
