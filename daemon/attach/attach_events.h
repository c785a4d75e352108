/* attach_events.h - what happens, in a sentence each: to whoever shows events, and into the log. */
#pragma once

#include "engine_state.h"

/* r may be NULL. */
__attribute__((format(printf, 5, 6))) void engine_event(struct attach_engine *, enum event_type,
							const char *reason,
							const struct attach_record *,
							const char *fmt, ...);
/* "rocelet.dev/roce 0000:03:00.2", "pod a/b" */
#define DEVICE_TEXT_SIZE (RESOURCE_NAME_SIZE + PLUGIN_ID_SIZE)
const char *device_text(const struct attach_record *, char text[DEVICE_TEXT_SIZE]);
#define OWNER_TEXT_SIZE 400
const char *owner_text(const struct attach_owner *, char text[OWNER_TEXT_SIZE]);
