/* scenario.h - scenario files (docs/reference/scenarios.md) as observations, one point in time
 * after the other. Pure, but for reading the file.
 *
 * Memory is bounded whatever the file holds: one line, and one struct for each port. What is wrong
 * is passed over; of each kind of mistake the first is complained of, with its line. */
#pragma once

#include <stdio.h>

#include "observation.h"
#include "thresholds.h"

#define SCENARIO_PORTS_MAX 1024
#define SCENARIO_LINE_MAX  (8 << 20)
/* t = 0 of a file, as the monotonic clock of observations. */
#define SCENARIO_BASE_MS   1000000

struct scenario;

/* "FILE: line 12: ...", of FILE the name that was given. */
typedef void scenario_complain_fn(const char *message, void *arg);

/* Reads the header, if there is one; thresholds and expectations of congestion control in it change
 * *limits. The file stays the caller's. -ENOMEM, or -errno of reading. */
int scenario_open(struct scenario **ret, FILE *, const char *name, struct thresholds *limits,
		  scenario_complain_fn *, void *arg, struct err *);
/* 1: *ret is the next point in time, borrowed until the next call; 0: the end; else -errno. */
int scenario_next(struct scenario *, struct observation *ret, struct err *);
/* Complains in one line of mistakes that came again. */
void scenario_sum_up(struct scenario *);
void scenario_free(struct scenario *);

/* Of the header; "" = none. */
const char *scenario_title(const struct scenario *);
