// SPDX-License-Identifier: Apache-2.0
#include "events.h"

#include <stdio.h>

#include "cleanup.h"
#include "log.h"

/* Logs the event. The field "object" has the form of the involved object of a Kubernetes event. */
static void log_event(const struct event *e)
{
	static struct log_site normal, warning, answer = {.is_answer = true};
	bool is_warning = e->type == EVENT_WARNING;
	struct log_site *site = e->is_answer ? &answer : is_warning ? &warning : &normal;
	char object[sizeof(e->namespace) + sizeof(e->pod) + 8] = "";
	const struct log_field fields[] = {
		{"type", event_type_name(e->type)},
		{"reason", e->reason},
		{"object", object},
		{"device", e->device},
	};

	if (e->pod[0])
		snprintf(object, sizeof(object), "pod/%s/%s", e->namespace, e->pod);
	log_fields(site, is_warning ? LOG_LVL_WARN : LOG_LVL_INFO, "event", e->message, fields,
		   ARRAY_SIZE(fields));
}

void events_add(struct event_ring *ring, const struct event *event)
{
	event_ring_add(ring, event);
	log_event(event);
}
