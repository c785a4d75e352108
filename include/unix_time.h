/* unix_time.h - what the machine's clock says, as people and other processes tell time; it may be
 * set back and forth. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Nanoseconds since 1970. */
static inline int64_t unix_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Milliseconds since 1970. */
static inline uint64_t unix_ms(void)
{
	return (uint64_t)unix_ns() / 1000000;
}
