/* SPDX-License-Identifier: Apache-2.0 */
/* exact_copy.h - a fuzzer's input as code gets it that reads into a buffer. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* On the heap, of exactly this size: aligned as a receive buffer is, and a read past its end is
 * seen. NULL: no memory. */
static inline void *exact_copy(const uint8_t *data, size_t n)
{
	void *copy = malloc(n ? n : 1);

	if (copy)
		memcpy(copy, data, n);
	return copy;
}
