/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - composes the daemon: modules are started in order and stopped in reverse, all on one
 * libuv loop. */
#pragma once

#include <stdint.h>

#include "config_file.h"
#include "err.h"
#include "options.h"
#include "utc_text.h"

struct pool_config;

/* The result of the command line. */
struct launch {
	const struct options *options;
	struct pool_config *pools; /* ownership moves to loop_run() */
	struct config_file *file;  /* their text; its ownership moves, too. NULL: not kept */
	int argc;		   /* for a reload */
	char *const *argv;
	uint64_t config_digest;	       /* of the file with the options and pools */
	char group[CONFIG_GROUP_SIZE]; /* the group of that file that applies; "" = none */
	bool can_match;
	/* Why the file was rejected as a whole, so that there are no pools, or those of the last
	 * good one; code 0: it was not rejected. */
	struct err refused;
	/* The options of the file are not in use either, so the intended folders are unknown:
	 * nothing is changed, and a corrected file takes effect after a restart. */
	bool observes;
	/* The file was rejected, and options and pools are the last good ones, first used at this
	 * time; "" = no. */
	char last_good_of[UTC_TEXT_SIZE];
	struct err no_last_good; /* why the kept ones cannot be used; code 0: none were kept */
};

/* Runs the daemon until SIGINT or SIGTERM; returns 0 after a clean stop, or the reason why it could
 * not start. -EALREADY: another rocelet has the node, or the state or run folder (node_lock.h,
 * lock.h). */
int loop_run(const struct launch *, struct err *);
