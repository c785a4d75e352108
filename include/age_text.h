/* SPDX-License-Identifier: Apache-2.0 */
/* age_text.h - a duration as a short text: "45s", "3m20s", "2h5m", "4d". Pure. */
#pragma once

#include <stdint.h>

#define AGE_TEXT_SIZE 32

/* Formats a duration; "0s" if negative. Exact to a second below 10 minutes, to a minute below 8
 * hours, to an hour below 8 days, else to a day. */
void age_text(int64_t seconds, char ret[AGE_TEXT_SIZE]);
/* Parses a text of age_text() into seconds; -1 = invalid. */
int64_t age_seconds(const char *text);
