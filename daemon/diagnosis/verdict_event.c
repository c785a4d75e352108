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

static void verdict_end_message(const struct verdict *v, char *ret, size_t size)
{
	const struct evidence *worst = evidence_main(v->worst.evidence, v->worst.n_evidence);
	char name[EVIDENCE_NAME_SIZE], value[EVIDENCE_TEXT_SIZE], lasted[48] = "", most[240] = "";

	if (v->closed != CLOSE_EXPLAINED && v->over_ms)
		snprintf(lasted, sizeof(lasted), ", lasted %.0f s",
			 (double)(v->over_ms - v->onset_ms) / 1000);
	if (v->closed != CLOSE_EXPLAINED && worst) {
		evidence_name(worst, name);
		evidence_text(worst, value);
		snprintf(most, sizeof(most), ", at worst %s: %s", value, name);
	}
	snprintf(ret, size, "%s port %u: %s is %s%s%s", v->device, v->port,
		 cause_row(v->cause)->name, verdict_end_text(v->closed), lasted, most);
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
		verdict_end_message(v, ret->message, sizeof(ret->message));
	else
		snprintf(ret->message, sizeof(ret->message), "%s port %u: %s, %s: %s", v->device,
			 v->port, row->name, severity_name(v->severity), row->sentence);
	return true;
}
