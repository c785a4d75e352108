/* SPDX-License-Identifier: Apache-2.0 */
/* last_good.h - the last good configuration, as the previous one at a start: the daemon judges its
 * file at a start as at a reload, so a restart with a wrong file does not withdraw the devices of a
 * node. */
#pragma once

#include "config_file.h"
#include "err.h"
#include "options.h"
#include "pool_config.h"
#include "utc_text.h"

/* All zero: there is none. */
struct last_good {
	struct options options;
	struct config_file file;
	struct pool_config pools;
	char of[UTC_TEXT_SIZE]; /* when it was first used */
};

/* Reads and parses config.good in the state folder, with the flags, for this node's group. -ENOENT:
 * there is none, or a daemon with these options keeps none. Other negative errno with a message: it
 * cannot be used. *ret is all zero then. Blocks. */
int last_good_read(struct last_good *ret, const struct options *, int argc, char *const argv[],
		   struct err *);
void last_good_done(struct last_good *);
