/* SPDX-License-Identifier: Apache-2.0 */
/* node_scan.h - a single scan of the node, for command line actions without a daemon. */
#pragma once

#include "hw.h"

struct options;

/* Prints on stderr what could not be scanned; *ret_problems is the number of problems. -EIO: sysfs
 * is missing. The caller frees *ret (scan_done()) in any case. */
int node_scan_once(struct scan *ret, const struct options *, unsigned *ret_problems);
