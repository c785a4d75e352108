/* SPDX-License-Identifier: Apache-2.0 */
/* privilege_uses.h - the privileges that the daemon's options and pools need. */
#pragma once

#include "options.h"
#include "pool_config.h"

/* Returns the capabilities that any new configuration could require of a daemon started with these
 * options, as bits of enum capability_use (capabilities.h). They are kept, because dropped
 * privileges cannot be restored. Changed options need a restart. Pure. */
unsigned privilege_uses_possible(const struct options *);
/* Returns the capabilities that these options and pools require, as such bits. Pure. */
unsigned privilege_uses_now(const struct options *, const struct pool_config *);
/* Returns the system calls that could be required, as bits of enum syscall_use (syscalls.h). Pure.
 */
unsigned privilege_calls_possible(const struct options *);

/* Drops all other privileges, and logs those that could not be dropped. Call before a second thread
 * exists. */
void privilege_uses_reduce(const struct options *);
