/* verdict_event.h - verdicts as events: one when a verdict is told, one when it ends. Pure. */
#pragma once

#include "event.h"
#include "verdict.h"

/* True: what the last sample has changed about the verdict is worth an event, *ret. The same
 * verdict of the same port has the same texts each time. */
bool verdict_event(const struct verdict *, uint64_t unix_ms, struct event *ret);
