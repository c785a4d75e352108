/* SPDX-License-Identifier: Apache-2.0 */
/* desired_claims.h - assigns each address to one pod only. Part of desired_build(). Pure. */
#pragma once

#include "desired.h"

/* Sets err of every desired device that requests an address which another device has on the same
 * VLAN. Records have precedence over requests, older sandboxes over younger ones. sandboxes: one
 * per device. */
int desired_claims(struct desired *, const struct sandbox *const *sandboxes, size_t n,
		   const struct attach_record *const *others, size_t n_others);
