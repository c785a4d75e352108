/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h - reads a scenario file (docs/reference/scenarios.md) as observations, one point in
 * time after the other. Pure, except for reading the file.
 *
 * Memory is bounded for any file: one line, and one struct per port. Invalid input is skipped; the
 * first mistake of each kind is reported with its line number. */
#pragma once

#include <stdio.h>

#include "observation.h"
#include "thresholds.h"

#define SCENARIO_PORTS_MAX 1024
#define SCENARIO_LINE_MAX  (8 << 20)
/* Monotonic time of an observation at t = 0 of the file. */
#define SCENARIO_BASE_MS   1000000

struct scenario;

/* message: "FILE: line 12: ...", with the name given to scenario_open(). */
typedef void scenario_complain_fn(const char *message, void *arg);

/* Reads the header, if there is one, and applies its thresholds and expected congestion control to
 * *limits. The caller keeps the file and closes it. -ENOMEM, or -errno of reading. */
int scenario_open(struct scenario **ret, FILE *, const char *name, struct thresholds *limits,
		  scenario_complain_fn *, void *arg, struct err *);
/* Reads the next point in time. 1: *ret is the next point in time, borrowed until the next call; 0:
 * end of file; else -errno. */
int scenario_next(struct scenario *, struct observation *ret, struct err *);
/* Reports in one line how many mistakes were repeated. */
void scenario_sum_up(struct scenario *);
void scenario_free(struct scenario *);

/* Returns the title from the header; "" = none. */
const char *scenario_title(const struct scenario *);
