/* SPDX-License-Identifier: Apache-2.0 */
/* shim_result.h - converts the result of an ADD between versions of the specification:
 * containernetworking/cni, pkg/types/020, 040 and 100. Pure. */
#pragma once

#include "shim_io.h"

/* Converts a result of a version to the format of 1.1.0, keeping the members defined by the
 * specification. null and an interface index of -1 count as absent. what: its name in the error
 * message, such as "prevResult". NULL with error code 6: not a valid result. The caller owns the
 * result. */
json_t *shim_result_read(const json_t *source, const char *version, const char *what,
			 struct shim_error *);
/* Prepends a previous plugin's result to ours, unless ours contains it already; both in the format
 * of 1.1.0. -EPROTO: out of memory. */
int shim_result_chain(json_t *result, const json_t *previous, struct shim_error *);
/* Converts a result to the format of a supported version. NULL with error code 999: that version
 * cannot express it. The caller owns the result. */
json_t *shim_result_write(const json_t *result, const char *version, struct shim_error *);
