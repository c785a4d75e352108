// SPDX-License-Identifier: Apache-2.0
#include "verdict_event.h"

#include <stdio.h>
#include <string.h>

/* A symptom has no events of its own. A verdict that becomes a symptom was reported before, so its
 * end is reported, too. */
static bool verdict_event_is_reported(const struct verdict *v)
{
	if (v->change == VERDICT_CLOSED)
		return !v->explained || v->closed == CLOSE_EXPLAINED;
	return v->change == VERDICT_OPENED && !v->explained;
}

static const char *verdict_end_text(enum close_reason why)
{
	static const char *const texts[] = {
		[CLOSE_CLEARED] = "over",
		[CLOSE_GONE] = "over, the port was removed",
		[CLOSE_UNSEEN] = "closed, its counters are no longer visible",
		[CLOSE_EXPLAINED] = "now explained by another cause",
	};

	return texts[why];
}

bool verdict_event(const struct verdict *v, uint64_t unix_ms, struct event *ret)
{
	const struct cause_row *row = cause_row(v->cause);
	bool ends = v->change == VERDICT_CLOSED;

	if (!verdict_event_is_reported(v))
		return false;
	*ret = (struct event){.first_ms = unix_ms, .last_ms = unix_ms, .count = 1};
	ret->type = !ends && v->severity > SEVERITY_INFO ? EVENT_WARNING : EVENT_NORMAL;
	snprintf(ret->reason, sizeof(ret->reason), "%s", ends ? "DiagnosisEnd" : "DiagnosisOnset");
	memcpy(ret->device, v->function, sizeof(ret->device));
	if (v->n_pods > 0) {
		snprintf(ret->namespace, sizeof(ret->namespace), "%s", v->pods[0].namespace);
		snprintf(ret->pod, sizeof(ret->pod), "%s", v->pods[0].name);
	}
	if (ends)
		snprintf(ret->message, sizeof(ret->message), "%s port %u: %s is %s", v->device,
			 v->port, row->name, verdict_end_text(v->closed));
	else
		snprintf(ret->message, sizeof(ret->message), "%s port %u: %s, %s: %s", v->device,
			 v->port, row->name, severity_name(v->severity), row->sentence);
	return true;
}
