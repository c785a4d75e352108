/* SPDX-License-Identifier: Apache-2.0 */
/* attach_events.h - events of attachments. Each has a message of one sentence, and is passed to the
 * engine's event hook. */
#pragma once

#include "engine_state.h"

/* r: the device and pod of the event; may be NULL. */
__attribute__((format(printf, 5, 6))) void engine_event(struct attach_engine *, enum event_type,
							const char *reason,
							const struct attach_record *,
							const char *fmt, ...);
/* "rocelet.dev/roce 0000:03:00.2", "pod a/b" */
#define DEVICE_TEXT_SIZE (RESOURCE_NAME_SIZE + PLUGIN_ID_SIZE)
const char *device_text(const struct attach_record *, char text[DEVICE_TEXT_SIZE]);
#define OWNER_TEXT_SIZE 400
const char *owner_text(const struct attach_owner *, char text[OWNER_TEXT_SIZE]);
