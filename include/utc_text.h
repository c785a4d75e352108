/* utc_text.h - a point in time as people read it, RFC 3339 in UTC. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UTC_TEXT_SIZE 32

/* "2026-11-21T23:06:08.123Z" of unix milliseconds; "" for 0, which is no time that we know. */
void utc_text(uint64_t unix_ms, char ret[UTC_TEXT_SIZE]);
