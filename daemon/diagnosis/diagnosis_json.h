/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_json.h - the diagnosis as JSON documents. Pure. */
#pragma once

#include <jansson.h>

#include "diagnosis_report.h"

/* Returns one verdict with its evidence, its symptoms and the advice. all: the verdicts of the same
 * sample; the pods of those that it explains, on the ports of its VFs, are included. NULL: only the
 * verdict's first pods are named. Returns NULL when out of memory. */
json_t *verdict_json(const struct verdict *, const struct verdict *all, size_t n_all);
/* As verdict_json(), for a verdict that has ended: adds "ended", "endedMs" and "endedAs"
 * (close_reason_name()). */
json_t *ended_verdict_json(const struct ended_verdict *);
/* Returns the document of the open verdicts, and the state of each port:
 * {"time":"2026-...Z","timeMs":123,"verdicts":[...],
 * "undecided":[{"device":"mlx5_0","port":1,"cause":"incast","why":"..."}],
 * "notTheNetwork":[{"device":"mlx5_0","port":1}],
 * "ports":[{"device":"mlx5_0","port":1,"watch":"judged","held":true,"clearSinceMs":null,
 * "resets":0,"ignoredRates":0}]} Keys that end in Ms are milliseconds of a monotonic clock; timeMs
 * is the current time on it. NULL when out of memory. */
json_t *diagnosis_json(const struct diagnosis_report *);
