/* SPDX-License-Identifier: Apache-2.0 */
/* check_config.h - `--check-config`: would rocelet work with this configuration on this node? */
#pragma once

struct config_file;
struct options;
struct pool_config;

/* Checks the other groups of the file, too. Prints for every device its pool, or why it has none,
 * then warnings, and finally the result. n_warnings: warnings while the file was read. Returns the
 * exit status: 2: it cannot work; 1: the node cannot be scanned, the TCP listener's files are
 * wrong, the file seems to define resources but has none, or --strict and there are warnings; 0. */
int check_config(const struct options *, const struct pool_config *, const struct config_file *,
		 unsigned n_warnings);
