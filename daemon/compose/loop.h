/* loop.h - composes the daemon: modules started in order, stopped in reverse, everything on one
 * libuv loop. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "options.h"

struct pool_config;

/* What the command line led to. */
struct launch {
	const struct options *options;
	struct pool_config *pools; /* taken over */
	int argc;		   /* for a reload */
	char *const *argv;
	uint64_t config_digest; /* of the file that options and pools are from */
	/* The file is refused as a whole, and no pool of it is there; code 0: it is not. */
	struct err refused;
	/* Its options are not in use either, so that nobody knows which folders are meant: nothing
	 * is changed, and what it says when it is right takes another start. */
	bool observes;
};

/* Runs until SIGINT or SIGTERM; returns 0 after a clean stop, or the reason why it could not start.
 * -EALREADY: another rocelet has its state or run folder (lock.h). */
int loop_run(const struct launch *, struct err *);
