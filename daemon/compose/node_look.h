/* node_look.h - one look at the node, for what the command line asks instead of a daemon. */
#pragma once

#include "hw.h"

struct options;

/* Tells on stderr what could not be looked at; *ret_problems is how much that was. -EIO: without
 * sysfs nothing can be told. *ret is the caller's (scan_done()), whatever is returned. */
int node_look(struct scan *ret, const struct options *, unsigned *ret_problems);
