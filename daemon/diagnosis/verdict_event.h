/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_event.h - verdicts as events: one when a verdict is first reported, one when it ends.
 * Pure. */
#pragma once

#include "event.h"
#include "verdict.h"

/* True if the last sample changed the verdict in a way that is worth an event, *ret. `all` are the
 * verdicts of the node: those that it explains name further pods. The onsets of the same verdict on
 * the same port with the same pods have equal texts; the text of an end contains the duration and
 * the worst value. */
bool verdict_event(const struct verdict *, const struct verdict *all, size_t n_all,
		   uint64_t unix_ms, struct event *ret);
