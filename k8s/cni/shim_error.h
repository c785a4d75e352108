/* SPDX-License-Identifier: Apache-2.0 */
/* shim_error.h - the error that a CNI plugin prints: CNI specification 1.1.0, section 2, Error. */
#pragma once

#include <jansson.h>

/* Codes of the specification. From 100 on, codes are the plugin's own; the Go library uses 999 for
 * errors without a code (containernetworking/cni, pkg/types/types.go). */
enum shim_code {
	SHIM_VERSION = 1,
	SHIM_ENV = 4,
	SHIM_IO = 5,
	SHIM_DECODE = 6,
	SHIM_CONFIG = 7,
	SHIM_NETNS = 8,
	SHIM_LATER = 11,
	SHIM_UNAVAILABLE = 50,
	SHIM_INTERNAL = 999,
};

struct shim_error {
	json_int_t code;
	char msg[1024], details[1024]; /* "" = none; cut off if longer */
};

/* Sets code and message, clears the details. Returns -EPROTO, for `return shim_fail(e, ...)`. */
__attribute__((format(printf, 3, 4))) int shim_fail(struct shim_error *, json_int_t code,
						    const char *fmt, ...);
/* Appends to the details; returns -EPROTO. */
__attribute__((format(printf, 2, 3))) int shim_details(struct shim_error *, const char *fmt, ...);
/* The error object as text; heap, NULL if out of memory. Replaces "not found" and "no such file or
 * directory", because containerd treats a DEL with these words in its error as done
 * (internal/cri/server/sandbox_stop.go). */
char *shim_error_text(struct shim_error *);
/* "ENOENT" for -ENOENT. */
const char *shim_errno(int code);
