/* diagnosis_json.h - verdicts as documents. Pure. */
#pragma once

#include <jansson.h>

#include "diagnosis_report.h"

/* One verdict with its evidence, what explains it and what to do. NULL when out of memory. */
json_t *verdict_json(const struct verdict *);
/* What is open:
 * {"time":"2026-...Z","timeMs":123,"verdicts":[...],
 *  "undecided":[{"device":"mlx5_0","port":1,"cause":"incast","why":"..."}],
 *  "notTheNetwork":[{"device":"mlx5_0","port":1}],
 *  "ports":[{"device":"mlx5_0","port":1,"watch":"judged","clearSinceMs":null,"resets":0,
 *    "ignoredRates":0}]}
 * Keys that end in Ms are milliseconds of a clock that only counts on, as timeMs is; those of
 * verdict_json(), too. NULL when out of memory. */
json_t *diagnosis_json(const struct diagnosis_report *);
