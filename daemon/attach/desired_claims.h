/* desired_claims.h - one address, one pod. Part of desired_build(). Pure. */
#pragma once

#include "desired.h"

/* Sets err of every wanted device that asks for an address which another device has on the same
 * VLAN: a record's first, then of the older sandbox. sandboxes: one for each. */
int desired_claims(struct desired *, const struct sandbox *const *sandboxes, size_t n,
		   const struct attach_record *const *others, size_t n_others);
