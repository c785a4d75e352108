/* world_ipam.h - the IPAM plugin of attach_world.h: a program, or one that is none, answers, fails,
 * hangs, and may have given an address all the same. What that has given is counted: no device gets
 * two, and none is forgotten. */
#pragma once

#include "attach_world.h"

int world_ipam_start(struct ipam_call **ret, struct uv_loop_s *, enum ipam_verb,
		     const struct attach_record *, const struct ipam_host *, uint32_t timeout_ms,
		     ipam_fn *, void *arg, struct err *);
void world_ipam_cancel(struct ipam_call *);
/* VF i is written down as free; the world is locked. False: an address of its is forgotten. */
bool world_ipam_is_settled(struct world *, unsigned i);
