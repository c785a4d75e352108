/* SPDX-License-Identifier: Apache-2.0 */
/* check_config.h - `--check-config`: checks whether rocelet would work with this configuration on
 * this node. */
#pragma once

#include "hw.h"

struct config_file;
struct options;
struct pool_config;

/* The exit status of a valid file with warnings about this node, with --strict. */
#define CHECK_CONFIG_NODE 3

/* Checks the configuration and the other groups of its file. Prints for every device its pool, or
 * why it has none, then warnings, and finally the result. n_warnings: number of warnings while the
 * file was read. Returns the exit status. 2: rocelet cannot work with it. 1: the node cannot be
 * scanned, the TCP listener's files are wrong, or --strict is set, and there are warnings about the
 * file or resources are left out. CHECK_CONFIG_NODE: --strict is set, and there are warnings about
 * this node only: a pool that offers nothing here, devices without character devices, a netdev that
 * does not exist. 0: otherwise. */
int check_config(const struct options *, const struct pool_config *, const struct config_file *,
		 unsigned n_warnings);

/* Scans the node once, for command line actions without a daemon. Prints the failed parts of the
 * scan on stderr; *ret_problems is their number. -EIO: sysfs is missing. The caller frees *ret
 * (scan_done()) in any case. */
int node_scan_once(struct scan *ret, const struct options *, unsigned *ret_problems);

/* `--suggest-config`: prints a configuration for a node that has none. Returns the exit status: 0;
 * 1: the node cannot be scanned. */
int suggest_config(const struct options *);
