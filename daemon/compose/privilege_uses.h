/* privilege_uses.h - what of the daemon's privileges its options and pools have a use for. */
#pragma once

#include "options.h"
#include "pool_config.h"

/* Bits of enum capability_use (capabilities.h). Pure.
 *
 * Possible: what a new configuration can ask of a daemon that was started with these options; that
 * is what is kept, since nothing that was dropped comes back. Options themselves wait for a
 * restart. */
unsigned privilege_uses_possible(const struct options *);
/* What these options and pools ask. */
unsigned privilege_uses_now(const struct options *, const struct pool_config *);
/* Bits of enum syscall_use (syscalls.h). Pure. */
unsigned privilege_calls_possible(const struct options *);

/* Gives away what there can be no use for, and says in the log what could not be given away. Before
 * there is a second thread. */
void privilege_uses_reduce(const struct options *);
