/* SPDX-License-Identifier: Apache-2.0 */
/* exact_copy.h - a fuzzer's input as code gets it from a receive buffer. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A copy of exactly this size on the heap, aligned like a receive buffer, so that sanitizers find a
 * read past its end. NULL: no memory. */
static inline void *exact_copy(const uint8_t *data, size_t n)
{
	void *copy = malloc(n ? n : 1);

	if (copy)
		memcpy(copy, data, n);
	return copy;
}
