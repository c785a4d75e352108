/* address_hash.h - spreads two addresses and a number over a table. Keys that differ in a few bits
 * go far apart; who makes collisions on purpose pushes out what is his own. Pure. */
#pragma once

#include <stdint.h>
#include <string.h>

/* `addresses`: both, 32 bytes. */
static inline uint64_t address_hash(const void *addresses, uint32_t number)
{
	uint64_t h = number, words[4];

	memcpy(words, addresses, sizeof(words));
	for (size_t i = 0; i < 4; i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	return h;
}
