/* SPDX-License-Identifier: Apache-2.0 */
/* privilege_uses.h - the privileges that the daemon's options and pools need. */
#pragma once

#include "options.h"
#include "pool_config.h"

/* Bits of enum capability_use (capabilities.h). Pure.
 *
 * Possible: what any new configuration could require of a daemon started with these options. These
 * are kept, because dropped privileges cannot be restored. Options themselves need a restart. */
unsigned privilege_uses_possible(const struct options *);
/* What these options and pools require. */
unsigned privilege_uses_now(const struct options *, const struct pool_config *);
/* Bits of enum syscall_use (syscalls.h). Pure. */
unsigned privilege_calls_possible(const struct options *);

/* Drops all other privileges, and logs those that could not be dropped. Call before a second thread
 * exists. */
void privilege_uses_reduce(const struct options *);
