/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - composes the daemon: modules are started in order and stopped in reverse, all on one
 * libuv loop. */
#pragma once

#include <stdint.h>

#include "config_file.h"
#include "err.h"
#include "options.h"

struct pool_config;

/* The result of the command line. */
struct launch {
	const struct options *options;
	struct pool_config *pools; /* ownership moves to loop_run() */
	int argc;		   /* for a reload */
	char *const *argv;
	uint64_t config_digest;	       /* of the file with the options and pools */
	char group[CONFIG_GROUP_SIZE]; /* the group of that file that applies; "" = none */
	bool has_groups;
	/* The file was rejected as a whole, so there are no pools; code 0: it was not. */
	struct err refused;
	/* Its options are not in use either, so the intended folders are unknown: nothing is
	 * changed, and a corrected file takes effect after a restart. */
	bool observes;
};

/* Runs until SIGINT or SIGTERM; returns 0 after a clean stop, or the reason why it could not start.
 * -EALREADY: another rocelet has its state or run folder (lock.h). */
int loop_run(const struct launch *, struct err *);
