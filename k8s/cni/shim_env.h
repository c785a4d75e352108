/* SPDX-License-Identifier: Apache-2.0 */
/* shim_env.h - parses the environment variables that a runtime sets: CNI specification 1.1.0,
 * section 2, Parameters. Unknown variables (TRACEPARENT, ...) are ignored. */
#pragma once

#include <stdbool.h>

#include "shim_io.h"

enum shim_verb {
	SHIM_ADD,
	SHIM_DEL,
	SHIM_CHECK,
	SHIM_GC,
	SHIM_STATUS,
	SHIM_VERSION_VERB,
	SHIM_UNKNOWN, /* an unknown command; errors of the configuration are reported first */
	N_SHIM_VERBS,
};

/* Borrowed from the environment; "" = not set. */
struct shim_env {
	enum shim_verb verb;
	const char *command, *container_id, *netns, *ifname, *args, *path;
	bool netns_override; /* CNI_NETNS may be our own namespace */
};

/* Reads the variables. -EPROTO with error code 4: a variable that the verb requires is missing or
 * malformed. */
int shim_env_read(struct shim_env *ret, struct shim_error *);
/* Checks CNI_ARGS of an ADD or CHECK by the rules of the Go library (pkg/types/args.go):
 * KEY=VALUE;..., with unknown keys only if IgnoreUnknown is set. */
int shim_env_check_args(const char *args, struct shim_error *);
/* Checks that CNI_NETNS of an ADD or CHECK is a network namespace other than our own. -EPROTO with
 * error code 8. */
int shim_env_check_netns(const struct shim_env *, struct shim_error *);
