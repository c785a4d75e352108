/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_age.h - the age of a time as a short text: "45s", "3m20s", "2h5m", "4d". Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define AGE_TEXT_SIZE 32

/* Parses an RFC 3339 time in UTC, as in the daemon's documents, into unix seconds; -1 = invalid. */
int64_t ctl_age_parse(const char *time);
/* Formats an age; "0s" if negative. Exact to a second below 10 minutes, to a minute below 8 hours,
 * to an hour below 8 days, else to a day. */
void ctl_age_text(int64_t seconds, char ret[AGE_TEXT_SIZE]);
/* Parses a text of ctl_age_text() into seconds; -1 = invalid. */
int64_t ctl_age_seconds(const char *text);
