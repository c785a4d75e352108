/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - stores an event in the ring shown by the API, and logs it once. */
#pragma once

#include "event_ring.h"

/* Adds and logs the event. The log line has type, reason, object and device. */
void events_add(struct event_ring *, const struct event *);
