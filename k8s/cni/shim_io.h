/* SPDX-License-Identifier: Apache-2.0 */
/* shim_io.h - standard input and output of a CNI plugin. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* The error that a CNI plugin prints: CNI specification 1.1.0, section 2, Error. */

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
/* Formats the error object; heap, NULL if out of memory. Replaces "not found" and "no such file or
 * directory", because containerd treats a DEL with these words in its error as done
 * (internal/cri/server/sandbox_stop.go). */
char *shim_error_text(struct shim_error *);
/* Returns the name of an errno: "ENOENT" for -ENOENT. */
const char *shim_errno(int code);

struct shim_input {
	char *text; /* heap, terminated */
	size_t len;
	bool too_long; /* the rest was read and dropped */
};

/* Opens /dev/null for closed standard descriptors in a mode in which their use fails, before
 * another file gets their number. */
void shim_io_begin(void);
/* Reads standard input to its end, and keeps the first max bytes. deadline: a time of
 * client_now_ms(). -EPROTO with error code 5. The caller frees ret->text. */
int shim_io_read(struct shim_input *ret, size_t max, uint64_t deadline, struct shim_error *);
/* Writes a text and a newline to standard output. -errno if not everything was written. */
int shim_io_print(const char *text);

/* Stores DEL requests while no daemon answers: files in STATE_DIR/cni/del/, each the body of a
 * request, which the next daemon processes. */

/* Writes a request durably as a new file RANDOM.json. While it is being written, its name starts
 * with a dot, which the daemon ignores, and the file is locked (flock()); the daemon removes such
 * files if they are not locked. Folders are created as needed. -EPERM if another user can write to
 * one of them; below STATE_DIR, they must not be links. */
int shim_spool_put(const char *state_dir, const char *body, struct err *);
