// SPDX-License-Identifier: Apache-2.0
/* attach_series.c - one small writer per kind of family. */
#include "attach_series.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "host_series.h"

static void take_drift(struct attach_summary *s, const struct attach_status *a)
{
	const struct attach_record *r = a->record;
	unsigned k = s->n_drifts;

	if (k == ATTACH_DRIFTS_MAX) {
		s->drifts_left_out++;
		return;
	}
	memcpy(s->drifts[k].resource, r->resource, sizeof(r->resource));
	memcpy(s->drifts[k].id, r->id, sizeof(r->id));
	memcpy(s->drifts[k].interface, r->plan.ifname, sizeof(r->plan.ifname));
	memcpy(s->drifts[k].namespace, r->owner.namespace, sizeof(r->owner.namespace));
	memcpy(s->drifts[k].pod, r->owner.pod, sizeof(r->owner.pod));
	s->drifts[k].bits = a->drift;
	s->n_drifts++;
}

static void attach_take_bad(struct attach_summary *s, const struct attach_record *r)
{
	unsigned k = s->n_bad;

	if (k == ATTACH_BAD_MAX)
		return;
	memcpy(s->bad[k].resource, r->resource, sizeof(r->resource));
	/* A device that an administrator attached has no device ID, so use its function's name. */
	snprintf(s->bad[k].id, sizeof(s->bad[k].id), "%s", r->id[0] ? r->id : r->function);
	memcpy(s->bad[k].namespace, r->owner.namespace, sizeof(r->owner.namespace));
	memcpy(s->bad[k].pod, r->owner.pod, sizeof(r->owner.pod));
	s->n_bad++;
}

void attach_summary_build(struct attach_summary *ret, const struct attach_counters *counters,
			  struct attach_list list)
{
	*ret = (struct attach_summary){.known = true, .counters = *counters};
	for (size_t i = 0; i < list.n; i++) {
		if (list.items[i].drift)
			take_drift(ret, &list.items[i]);
		if (list.items[i].record->state == ATTACH_BAD)
			attach_take_bad(ret, list.items[i].record);
	}
}

static void attach_add_number(struct page *p, const char *name, const char *type, const char *help,
			      uint64_t value)
{
	page_begin(p, name, type, help);
	text_addf(&p->text, "%s %" PRIu64 "\n", name, value);
	page_end(p);
}

static void attach_add_counter(struct page *p, const char *name, const char *help, uint64_t value)
{
	attach_add_number(p, name, "counter", help, value);
}

static void attach_add_us(struct page *p, const char *name, const char *suffix, uint64_t us)
{
	text_addf(&p->text, "%s%s %" PRIu64 ".%06" PRIu64 "\n", name, suffix, us / 1000000,
		  us % 1000000);
}

/* A duration: its sum and count are a summary; its maximum is a gauge, absent if nothing was
 * measured. */
struct duration {
	const char *name, *help, *longest, *longest_help;
	uint64_t sum_us, n, max_us;
};

static void add_duration(struct page *p, const struct duration *d)
{
	page_begin(p, d->name, "summary", d->help);
	attach_add_us(p, d->name, "_sum", d->sum_us);
	text_addf(&p->text, "%s_count %" PRIu64 "\n", d->name, d->n);
	page_end(p);
	if (d->n == 0)
		return;
	page_begin(p, d->longest, "gauge", d->longest_help);
	attach_add_us(p, d->longest, "", d->max_us);
	page_end(p);
}

static void add_states(struct page *p, const struct attach_counters *c)
{
	static const char name[] = "rocelet_attachments";
	const unsigned n[] = {
		[ATTACH_FREE] = c->free,     [ATTACH_ATTACHING] = c->attaching,
		[ATTACH_IN_POD] = c->in_pod, [ATTACH_RETURNING] = c->returning,
		[ATTACH_BAD] = c->bad,
	};

	page_begin(p, name, "gauge", "Devices that rocelet attaches, by state.");
	for (size_t i = 0; i < ARRAY_SIZE(n); i++)
		text_addf(&p->text, "%s{state=\"%s\"} %u\n", name,
			  attach_state_name((enum attach_state)i), n[i]);
	page_end(p);
}

static void add_renewals(struct page *p, const struct attach_counters *c)
{
	static const char name[] = "rocelet_return_resets_total";

	page_begin(
		p, name, "counter",
		"Returns that recreated a function's netdev: the pod left state behind (dirty), it cannot be verified (unknown), the pool requires it (always), or the old netdev was in an unreachable namespace (beyond).");
	for (unsigned i = RENEWAL_NONE + 1; i < N_RENEWALS; i++)
		text_addf(&p->text, "%s{reason=\"%s\"} %" PRIu64 "\n", name,
			  renewal_name((enum renewal)i), c->renewals[i]);
	page_end(p);
}

static void add_totals(struct page *p, const struct attach_counters *c)
{
	attach_add_counter(p, "rocelet_attach_total", "Devices that were attached to a pod.",
			   c->attached);
	attach_add_counter(p, "rocelet_attach_failures_total",
			   "Attaches that failed and were rolled back.", c->attach_failures);
	attach_add_counter(p, "rocelet_return_total", "Devices returned clean.", c->returned);
	attach_add_counter(p, "rocelet_return_failures_total",
			   "Returns that failed; each is retried.", c->return_failures);
	add_renewals(p, c);
	attach_add_counter(p, "rocelet_orphans_total",
			   "Devices found attached without a container (orphaned) and returned.",
			   c->orphans);
	attach_add_counter(p, "rocelet_drift_total",
			   "How often a setting of an attached device was found changed.",
			   c->drifts);
	attach_add_counter(p, "rocelet_drift_repairs_total",
			   "How often a changed setting of an attached device was repaired.",
			   c->repairs);
}

/* Adds the number of searches for namespaces that were no longer at their paths. */
static void add_searches(struct page *p, const struct attach_counters *c)
{
	static const char name[] = "rocelet_namespace_searches_total";

	page_begin(p, name, "counter",
		   "Searches for pods' namespaces that were no longer at their paths, by result.");
	text_addf(&p->text, "%s{result=\"alive\"} %" PRIu64 "\n", name, c->searches_alive);
	text_addf(&p->text, "%s{result=\"dead\"} %" PRIu64 "\n", name, c->searches_dead);
	text_addf(&p->text, "%s{result=\"unknown\"} %" PRIu64 "\n", name, c->searches_unknown);
	page_end(p);
}

static void add_durations(struct page *p, const struct attach_counters *c)
{
	const struct duration all[] = {
		{"rocelet_attach_seconds", "Duration of attaches.",
		 "rocelet_attach_longest_seconds", "Longest duration of an attach.", c->attach_us,
		 c->attached, c->attach_us_max},
		{"rocelet_return_seconds", "Duration of returns.", "rocelet_return_longest_seconds",
		 "Longest duration of a return.", c->return_us, c->returned, c->return_us_max},
		{"rocelet_gate_seconds",
		 "Time that containers waited for their devices to be attached.",
		 "rocelet_gate_longest_seconds",
		 "Longest time that a container waited for its devices.", c->gate_us,
		 c->gate_questions, c->gate_us_max},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		add_duration(p, &all[i]);
	attach_add_counter(
		p, "rocelet_gate_refusals_total",
		"Containers that were not started because a device could not be attached.",
		c->gate_refusals);
}

static const char *hints_name(enum cri_hints hints)
{
	switch (hints) {
	case CRI_HINTS_NONE:
		break;
	case CRI_HINTS_CONTAINERD:
		return "containerd";
	case CRI_HINTS_CRI:
		return "cri";
	}
	return "none";
}

static void add_runtime(struct page *p, const struct cri_status *cri)
{
	bool up = cri->socket[0] && cri->asked > cri->failed && !cri->error[0];

	if (cri->socket[0]) {
		page_begin(p, "rocelet_cri_info", "info", "The container runtime in use.");
		text_addf(&p->text, "rocelet_cri_info{socket=");
		text_add_label(&p->text, cri->socket);
		text_addf(&p->text, ",runtime=");
		text_add_label(&p->text, cri->runtime);
		text_addf(&p->text, ",hints=\"%s\"} 1\n", hints_name(cri->hints));
		page_end(p);
	}
	attach_add_number(p, "rocelet_cri_up", "gauge", "1 while the container runtime responds.",
			  up);
	attach_add_counter(p, "rocelet_cri_requests_total", "Requests to the container runtime.",
			   cri->asked);
	attach_add_counter(p, "rocelet_cri_request_failures_total",
			   "Requests that the container runtime did not answer.", cri->failed);
	attach_add_counter(p, "rocelet_cri_events_total",
			   "Events received from the container runtime.", cri->events);
}

static void add_drift(struct page *p, const struct attach_summary *s, unsigned k)
{
	const char *name;
	unsigned bit;

	for (size_t i = 0; (name = attach_drift_name(i, &bit)); i++) {
		if (!(s->drifts[k].bits & bit))
			continue;
		text_addf(&p->text, "rocelet_attachment_drift{resource=");
		text_add_label(&p->text, s->drifts[k].resource);
		text_addf(&p->text, ",id=");
		text_add_label(&p->text, s->drifts[k].id);
		text_addf(&p->text, ",interface=");
		text_add_label(&p->text, s->drifts[k].interface);
		text_addf(&p->text, ",namespace=");
		text_add_label(&p->text, s->drifts[k].namespace);
		text_addf(&p->text, ",pod=");
		text_add_label(&p->text, s->drifts[k].pod);
		text_addf(&p->text, ",setting=\"%s\"} 1\n", name);
	}
}

static void add_drifts(struct page *p, const struct attach_summary *s)
{
	page_begin(p, "rocelet_attachment_drift", "gauge",
		   "1 for every setting of an attached device that is not as rocelet set it.");
	for (unsigned i = 0; i < s->n_drifts; i++)
		add_drift(p, s, i);
	page_end(p);
	attach_add_number(
		p, "rocelet_attachment_drift_left_out", "gauge",
		"Attachments with a changed setting that this page leaves out, because there are too many.",
		s->drifts_left_out);
}

static void attach_add_bad(struct page *p, const struct attach_summary *s)
{
	page_begin(p, "rocelet_attachment_bad", "gauge",
		   "1 for every device in state bad, with the pod that had it last.");
	for (unsigned i = 0; i < s->n_bad; i++) {
		text_addf(&p->text, "rocelet_attachment_bad{resource=");
		text_add_label(&p->text, s->bad[i].resource);
		text_addf(&p->text, ",id=");
		text_add_label(&p->text, s->bad[i].id);
		text_addf(&p->text, ",namespace=");
		text_add_label(&p->text, s->bad[i].namespace);
		text_addf(&p->text, ",pod=");
		text_add_label(&p->text, s->bad[i].pod);
		text_addf(&p->text, "} 1\n");
	}
	page_end(p);
}

void attach_series(struct page *p, const struct attach_summary *s)
{
	if (!s->known)
		return;
	add_states(p, &s->counters);
	add_totals(p, &s->counters);
	add_searches(p, &s->counters);
	add_durations(p, &s->counters);
	add_drifts(p, s);
	attach_add_bad(p, s);
	if (s->counters.cri_open)
		add_runtime(p, &s->counters.cri);
	attach_add_number(
		p, "rocelet_runtime_contradictions", "gauge",
		"Devices in running pods whose sandbox the container runtime does not list as ready; they stay attached.",
		s->counters.contradicting);
	attach_add_number(
		p, "rocelet_journal_writable", "gauge",
		"1 while the journal of attachments is writable; without it nothing is attached.",
		s->counters.journal_error[0] == '\0');
}
