/* SPDX-License-Identifier: Apache-2.0 */
/* request_checks.h - reasons to reject an attach request: the function is used by a pod or by the
 * node. */
#pragma once

#include "engine_state.h"

/* -EBUSY: the kubelet has granted the function to a container, as a resource of any plugin, or ours
 * has reserved it. */
int request_check_held(const struct attach_view *, const char *function, struct err *);
/* Checks a request of DOOR_CNI: -EBADF: its namespace is the host's; -EEXIST: the container already
 * has such an interface; -EBUSY: the device was granted to another pod; -EAGAIN: the kubelet's list
 * does not show yet to which pod. On success the record gets the device's resource. */
int request_check_cni(const struct attach_engine *, const struct attach_view *,
		      struct attach_record *, struct err *);
/* True if the device will be free soon; a request of DOOR_CNI waits for that. */
bool request_may_wait(const struct attachment *, const struct attach_record *request);
/* -EBUSY: the function has VFs or a macvlan, is shared and a slot is allocated, or carries the
 * node's default route. -ENOMEM. */
int request_check_unused(const struct attach_engine *, const struct attach_view *,
			 const char *function, struct err *);
