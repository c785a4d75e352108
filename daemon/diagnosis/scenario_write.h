/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_write.h - writes an observation as a line of a scenario file
 * (docs/reference/scenarios.md). Pure.
 *
 * Reading it back (scenario.h) gives diagnosis the same input, except for the time at which the
 * file begins. */
#pragma once

#include <jansson.h>

#include "observation.h"

/* Returns one point in time with a full description of every port. "t" has an arbitrary origin,
 * "wall" is unix time. NULL: out of memory. */
json_t *scenario_line(const struct observation *);
