/* SPDX-License-Identifier: Apache-2.0 */
/* back_off.h - retry pauses, each twice as long as the one before. Pure. */
#pragma once

#include <stdint.h>

/* Returns the pause after a failed try and keeps it in *pause_ms. The caller sets *pause_ms to 0
 * before the first try and after a success; then the pause is first_ms. The pause is at most
 * max_ms, which may change between calls. */
static inline uint32_t back_off(uint32_t *pause_ms, uint32_t first_ms, uint32_t max_ms)
{
	uint64_t next_ms = *pause_ms ? 2 * (uint64_t)*pause_ms : first_ms;

	*pause_ms = next_ms < max_ms ? (uint32_t)next_ms : max_ms;
	return *pause_ms;
}
