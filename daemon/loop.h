/* loop.h - composes the daemon: modules started in order, stopped in reverse, everything on one
 * libuv loop. */
#pragma once

#include "err.h"
#include "options.h"

/* Runs until SIGINT or SIGTERM; returns 0 after a clean stop, or the reason why it could not start.
 */
int loop_run(const struct options *, struct err *);
