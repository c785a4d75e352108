/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_event.h - verdicts as events: one when a verdict is first reported, one when it ends.
 * Pure. */
#pragma once

#include "event.h"
#include "verdict.h"

/* True if the last sample changed the verdict in a way that is worth an event, *ret. The texts of
 * the onsets of the same verdict on the same port are always equal; an end has how long it lasted
 * and its worst value. */
bool verdict_event(const struct verdict *, uint64_t unix_ms, struct event *ret);
