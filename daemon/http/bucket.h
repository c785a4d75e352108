/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.h - a token bucket: per_second tokens per second, at most `burst` at once. Pure: time is
 * an argument. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint32_t per_second, burst; /* at most about 4 million each */
	uint32_t milli_tokens;
	uint64_t last_ms;
};

static inline void bucket_init(struct bucket *b, uint32_t per_second, uint32_t burst,
			       uint64_t now_ms)
{
	*b = (struct bucket){per_second, burst, burst * 1000, now_ms};
}

/* Removes this many tokens, or all if there are fewer. */
static inline void bucket_charge(struct bucket *b, uint32_t tokens)
{
	b->milli_tokens -= b->milli_tokens < tokens * 1000 ? b->milli_tokens : tokens * 1000;
}

/* Takes one token; false: none left. A clock that steps back adds nothing. */
static inline bool bucket_take(struct bucket *b, uint64_t now_ms)
{
	uint64_t passed = now_ms > b->last_ms ? now_ms - b->last_ms : 0;
	uint64_t full = (uint64_t)b->burst * 1000;
	uint64_t level = passed > full ? full : b->milli_tokens + passed * b->per_second;

	b->last_ms = now_ms;
	b->milli_tokens = (uint32_t)(level > full ? full : level);
	if (b->milli_tokens < 1000)
		return false;
	b->milli_tokens -= 1000;
	return true;
}
