/* SPDX-License-Identifier: Apache-2.0 */
/* member.h - access to unsigned members of 1, 2 or 4 bytes at an offset from a table. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline uint32_t member_load(const void *p, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	default:
		return *(const uint32_t *)p;
	}
}

static inline void member_store(void *p, size_t size, uint32_t v)
{
	switch (size) {
	case 1:
		*(uint8_t *)p = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)p = (uint16_t)v;
		break;
	default:
		*(uint32_t *)p = v;
	}
}
