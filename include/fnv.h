/* SPDX-License-Identifier: Apache-2.0 */
/* fnv.h - the FNV-1a hash: fast, not safe against chosen inputs. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FNV1A_START 0xcbf29ce484222325

/* Continues hash h; pass FNV1A_START first. */
static inline uint64_t fnv1a(uint64_t h, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return h;
}
