// SPDX-License-Identifier: Apache-2.0
#include "verdict_event.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* True if the change gets an event. A symptom has no events of its own. A verdict that becomes a
 * symptom was reported before, so its end is reported, too. */
static bool verdict_event_is_reported(const struct verdict *v)
{
	if (v->change == VERDICT_CLOSED)
		return !v->explained || v->closed == CLOSE_EXPLAINED;
	return (v->change == VERDICT_OPENED || v->change == VERDICT_SEVERITY) && !v->explained;
}

static const char *verdict_end_text(enum close_reason why)
{
	static const char *const texts[] = {
		[CLOSE_CLEARED] = "over",
		[CLOSE_GONE] = "over, the port was removed",
		[CLOSE_UNSEEN] = "closed, its counters are no longer visible",
		[CLOSE_EXPLAINED] = "now explained by ",
	};

	return texts[why];
}

static void verdict_end_message(const struct verdict *v, char *ret, size_t size)
{
	const struct evidence *worst = evidence_main(v->worst.evidence, v->worst.n_evidence,
						     cause_row(v->cause)->less_is_worse);
	bool absorbed = v->closed == CLOSE_EXPLAINED,
	     by_pf = absorbed && v->explained_on[0] && strcmp(v->explained_on, v->device) != 0;
	char name[EVIDENCE_NAME_SIZE], value[EVIDENCE_TEXT_SIZE],
		lasted[48] = "", most[EVIDENCE_NAME_SIZE + EVIDENCE_TEXT_SIZE + 24] = "";

	if (!absorbed && v->over_ms)
		snprintf(lasted, sizeof(lasted), ", lasted %.0f s",
			 (double)(v->over_ms - v->onset_ms) / 1000);
	if (!absorbed && worst) {
		evidence_name(worst, name);
		evidence_text(worst, value);
		snprintf(most, sizeof(most), "; at its worst, %s: %s", name, value);
	}
	snprintf(ret, size, "%s port %u: %s is %s%s%s%s%s%s", v->device, v->port,
		 cause_row(v->cause)->name, verdict_end_text(v->closed),
		 !absorbed	      ? ""
		 : v->explained_on[0] ? cause_row(v->explained_by)->name
				      : "another cause",
		 by_pf ? " of " : "", by_pf ? v->explained_on : "", lasted, most);
}

/* Writes "link_flap is now critical; link down for: 4m (limit 4m)". */
static void verdict_worse_message(const struct verdict *v, char *ret, size_t size)
{
	const struct evidence *e = v->n_evidence ? &v->evidence[0] : NULL;
	char name[EVIDENCE_NAME_SIZE], value[EVIDENCE_TEXT_SIZE], limit[EVIDENCE_TEXT_SIZE];
	size_t len;

	snprintf(ret, size, "%s port %u: %s is now %s", v->device, v->port,
		 cause_row(v->cause)->name, severity_name(v->severity));
	len = strlen(ret);
	if (v->remark) {
		snprintf(ret + len, size - len, ": %s", v->remark);
	} else if (e) {
		evidence_name(e, name);
		snprintf(ret + len, size - len, "; %s: %s", name, evidence_text(e, value));
		len = strlen(ret);
		if (!isnan(e->threshold))
			snprintf(ret + len, size - len, " (limit %s)",
				 evidence_value_text(e->threshold, e->unit, limit));
	}
}

/* Appends "; pods: train/a, train/b and 3 more". Pods that do not fit are only counted. */
static void verdict_event_add_pods(const struct verdict *v, const struct verdict *all, size_t n_all,
				   char *ret, size_t size)
{
	size_t len = strlen(ret), pos = 0, n = 0;
	const struct observed_pod *pod;

	while ((pod = verdict_next_pod(v, all, n_all, &pos)) != NULL) {
		char name[sizeof(pod->namespace) + sizeof(pod->name) + 16];
		int added = snprintf(name, sizeof(name), "%s%s/%s",
				     n ? ", " : "; pods: ", pod->namespace, pod->name);

		if (len + (size_t)added + sizeof(" and 4294967295 more") > size)
			break;
		memcpy(ret + len, name, (size_t)added + 1);
		len += (size_t)added;
		n++;
	}
	if (n > 0 && v->n_pods > n)
		snprintf(ret + len, size - len, " and %zu more", v->n_pods - n);
}

/* Appends "; caused by: train/a" if there is room. */
static void verdict_event_add_culprits(const struct verdict *v, char *ret, size_t size)
{
	for (uint32_t i = 0; i < v->n_culprits; i++) {
		const struct observed_pod *pod = &v->culprits[i];
		size_t len = strlen(ret);
		const char *word = i ? ", " : "; caused by: ";

		if (len + strlen(word) + strlen(pod->namespace) + 1 + strlen(pod->name) >= size)
			return;
		snprintf(ret + len, size - len, "%s%s/%s", word, pod->namespace, pod->name);
	}
}

/* The first affected pod is the event's own; without one, the first that causes it. */
static void verdict_event_set_pod(const struct verdict *v, struct event *e)
{
	const struct observed_pod *pod = v->n_pods ? v->pods : v->n_culprits ? v->culprits : NULL;

	if (!pod)
		return;
	snprintf(e->namespace, sizeof(e->namespace), "%.63s", pod->namespace);
	snprintf(e->pod, sizeof(e->pod), "%.253s", pod->name);
}

bool verdict_event(const struct verdict *v, const struct verdict *all, size_t n_all,
		   uint64_t unix_ms, struct event *ret)
{
	bool ends = v->change == VERDICT_CLOSED, worse = v->change == VERDICT_SEVERITY;

	if (!verdict_event_is_reported(v))
		return false;
	*ret = (struct event){.first_ms = unix_ms, .last_ms = unix_ms, .count = 1};
	ret->type = !ends && v->severity > SEVERITY_INFO ? EVENT_WARNING : EVENT_NORMAL;
	snprintf(ret->reason, sizeof(ret->reason), "%s",
		 ends	 ? "DiagnosisEnd"
		 : worse ? "DiagnosisWorse"
			 : "DiagnosisOnset");
	memcpy(ret->device, v->function, sizeof(ret->device));
	verdict_event_set_pod(v, ret);
	if (ends)
		verdict_end_message(v, ret->message, sizeof(ret->message));
	else if (worse)
		verdict_worse_message(v, ret->message, sizeof(ret->message));
	else
		snprintf(ret->message, sizeof(ret->message), "%s port %u: %s, %s: %s%s", v->device,
			 v->port, cause_row(v->cause)->name, severity_name(v->severity),
			 cause_row(v->cause)->sentence,
			 v->before_start ? "; since before rocelet's start" : "");
	verdict_event_add_pods(v, all, n_all, ret->message, sizeof(ret->message));
	verdict_event_add_culprits(v, ret->message, sizeof(ret->message));
	return true;
}
