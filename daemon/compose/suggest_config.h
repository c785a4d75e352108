/* suggest_config.h - `--suggest-config`: a configuration for a node that has none. */
#pragma once

struct options;

/* Prints it. The exit status: 0; 1, the node cannot be looked at. */
int suggest_config(const struct options *);
