/* SPDX-License-Identifier: Apache-2.0 */
/* ipam_grants.h - the option cni-ipam-needs: permissions that the administrator grants to IPAM
 * plugins of CNI configurations. The configurations cannot grant them: any user of the cluster may
 * write one. Pure.
 *
 * An item is TYPE:KEY=VALUE, a part of "needs" (ipam_needs.h) of the plugin TYPE:
 *   whereabouts:network=host    nv-ipam:write=/var/lib/cni/nv-ipam    dhcp:capabilities=NET_RAW
 * Items of one type add up. */
#pragma once

#include "err.h"

struct json_t;
struct option_list;

/* Checks an item. -EINVAL with a message: the item is malformed, or "needs" could not have that
 * value. */
int ipam_grant_check(const char *item, struct err *);
/* Collects the grants of a type. *ret: "needs" of that type, owned by the caller; NULL = none is
 * listed. The list may be NULL (empty). -ENOMEM. */
int ipam_grants_of(struct json_t **ret, const struct option_list *, const char *type);
