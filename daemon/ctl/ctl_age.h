/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_age.h - reads times. Pure. */
#pragma once

#include "age_text.h"

/* Parses an RFC 3339 time in UTC, as in the daemon's documents, into unix seconds; -1 = invalid. */
int64_t ctl_age_parse(const char *time);
