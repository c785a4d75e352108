/* scenario_write.h - an observation as a line of a scenario file (docs/reference/scenarios.md).
 * Pure.
 *
 * Whoever reads it back (scenario.h) is told what diagnosis was told, but for the time at which the
 * file begins. */
#pragma once

#include <jansson.h>

#include "observation.h"

/* One point in time with all of its ports, each described in full; "t" counts from any moment on,
 * "wall" is people's clock. NULL: out of memory. */
json_t *scenario_line(const struct observation *);
