/* SPDX-License-Identifier: Apache-2.0 */
/* moment_text.h - parses a moment that a person gives. Pure.
 *
 * An age ("10m"), a time of day ("02:10", "02:10:30"), or a date and time of RFC 3339
 * ("2026-11-30T02:10:00Z"; the zone may be an offset, and is UTC if it is missing; a space may
 * replace the T). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The accepted forms, for error messages. */
#define MOMENT_TEXT_FORMS                                                                          \
	"an age such as 10m, a time of day such as 02:10, or a date such as 2026-11-30T02:10:00Z"

/* Parses a text into unix milliseconds. A time of day is the last one, in UTC, that is not later
 * than now. after: 0, or the time of another moment: a time of day is then the first one that is
 * not earlier than that. False: it is no moment. */
bool moment_text(const char *text, uint64_t now_ms, uint64_t after, uint64_t *ret_ms);
