/* SPDX-License-Identifier: Apache-2.0 */
/* utc_text.h - formats a time for people, RFC 3339 in UTC. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UTC_TEXT_SIZE 32

/* Formats unix milliseconds as "2026-11-21T23:06:08.123Z"; 0 (unknown) gives "". */
void utc_text(uint64_t unix_ms, char ret[UTC_TEXT_SIZE]);
/* Returns when a day begins, in seconds since 1970. -1: there is no such day since 1970. */
int64_t utc_day(int year, int month, int day);
