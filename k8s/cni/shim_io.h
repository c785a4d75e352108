/* SPDX-License-Identifier: Apache-2.0 */
/* shim_io.h - standard input and output of a CNI plugin. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim_error.h"

struct shim_input {
	char *text; /* heap, terminated */
	size_t len;
	bool too_long; /* the rest was read and dropped */
};

/* Opens closed standard descriptors such that their use fails, before another file gets their
 * number. */
void shim_io_begin(void);
/* Reads standard input to its end, and keeps the first max bytes. deadline: a time of
 * client_now_ms(). -EPROTO with error code 5. The caller frees ret->text. */
int shim_io_read(struct shim_input *ret, size_t max, uint64_t deadline, struct shim_error *);
/* Writes a text and a newline to standard output. -errno if not everything was written. */
int shim_io_print(const char *text);
