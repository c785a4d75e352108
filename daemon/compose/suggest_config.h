/* SPDX-License-Identifier: Apache-2.0 */
/* suggest_config.h - `--suggest-config`: a configuration for a node without one. */
#pragma once

struct options;

/* Prints it. Returns the exit status: 0; 1: the node cannot be scanned. */
int suggest_config(const struct options *);
