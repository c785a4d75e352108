/* events.h - where an event goes: into the ring that the API shows, and once into the log. */
#pragma once

#include "event_ring.h"

/* Logged as a line with type, reason, object and device. */
void events_tell(struct event_ring *, const struct event *);
