// SPDX-License-Identifier: Apache-2.0
#include "attach_events.h"

#include <stdarg.h>
#include <string.h>

#include "unix_time.h"

const char *device_text(const struct attach_record *r, char text[DEVICE_TEXT_SIZE])
{
	const char *id = r->id[0] ? r->id : r->function;

	snprintf(text, DEVICE_TEXT_SIZE, "%s%s%s", r->resource, r->resource[0] ? " " : "", id);
	return text;
}

const char *owner_text(const struct attach_owner *o, char text[OWNER_TEXT_SIZE])
{
	if (o->pod[0])
		snprintf(text, OWNER_TEXT_SIZE, "pod %s/%s", o->namespace, o->pod);
	else if (o->netns.path[0])
		snprintf(text, OWNER_TEXT_SIZE, "namespace %s", o->netns.path);
	else
		snprintf(text, OWNER_TEXT_SIZE, "an unknown namespace");
	return text;
}

void engine_event(struct attach_engine *e, enum event_type type, const char *reason,
		  const struct attach_record *r, const char *fmt, ...)
{
	struct event event = {.count = 1, .type = type};
	va_list ap;

	event.first_ms = event.last_ms = unix_ms();
	snprintf(event.reason, sizeof(event.reason), "%s", reason);
	va_start(ap, fmt);
	vsnprintf(event.message, sizeof(event.message), fmt, ap);
	va_end(ap);
	if (r) {
		memcpy(event.namespace, r->owner.namespace, sizeof(event.namespace));
		memcpy(event.pod, r->owner.pod, sizeof(event.pod));
		memcpy(event.device, r->function, sizeof(event.device));
	}
	e->hooks.event(&event, e->hooks.arg);
}
