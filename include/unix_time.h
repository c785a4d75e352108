/* SPDX-License-Identifier: Apache-2.0 */
/* unix_time.h - wall-clock time (CLOCK_REALTIME), for users and other processes; it may jump in
 * both directions. */
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
