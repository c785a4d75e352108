/* SPDX-License-Identifier: Apache-2.0 */
/* shim_request.h - builds the request body of POST /api/v1/cni. Pure. */
#pragma once

#include "shim_env.h"

/* Maximum body that the daemon accepts. */
#define SHIM_REQUEST_MAX ((size_t)1 << 20)

/* Returns the body; heap. For a DEL, parts that it does not need are left out until the body is
 * short enough: container ID and interface name suffice. config is borrowed. NULL with the error:
 * too long, a variable is not UTF-8, or out of memory. */
char *shim_request(const struct shim_env *, enum shim_verb, const json_t *config,
		   struct shim_error *);
