/* back_off.h - pauses between tries, each twice as long as the one before. Pure. */
#pragma once

#include <stdint.h>

/* The pause after one more try that has failed, and kept in *pause_ms: first_ms where that is 0, as
 * it is before the first and has to be set after a success; max_ms at most, which may change. */
static inline uint32_t back_off(uint32_t *pause_ms, uint32_t first_ms, uint32_t max_ms)
{
	uint64_t next_ms = *pause_ms ? 2 * (uint64_t)*pause_ms : first_ms;

	*pause_ms = next_ms < max_ms ? (uint32_t)next_ms : max_ms;
	return *pause_ms;
}
