/* SPDX-License-Identifier: Apache-2.0 */
/* world_ipam.h - the IPAM plugin of attach_world.h, a real program or simulated: it answers, fails
 * or hangs, and may have allocated an address even so. Tracks allocations: asserts that no device
 * has two addresses and none is leaked. */
#pragma once

#include "attach_world.h"

int world_ipam_start(struct ipam_call **ret, struct uv_loop_s *, enum ipam_verb,
		     const struct attach_record *, const struct json_t *more,
		     const struct ipam_host *, uint32_t timeout_ms, ipam_fn *, void *arg,
		     struct err *);
void world_ipam_cancel(struct ipam_call *);
/* To be called when VF i is recorded as free, with the world locked. False: one of its addresses
 * was leaked. */
bool world_ipam_is_settled(struct world *, unsigned i);
