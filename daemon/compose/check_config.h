/* check_config.h - `--check-config`: would rocelet work with this configuration on this node? */
#pragma once

#include <stdbool.h>

struct options;
struct pool_config;

/* Prints for every device which pool has it, or why none does, what looks wrong, and last what came
 * of it. n_warnings: those that were told while the file was read; n_unknown: of these, for keys
 * that nobody knows. The exit status: 2, it cannot work; 1, the node cannot be looked at, the file
 * seems to mean resources and names none, or with --strict there are warnings; 0. */
int check_config(const struct options *, const struct pool_config *, bool has_file,
		 unsigned n_warnings, unsigned n_unknown);
