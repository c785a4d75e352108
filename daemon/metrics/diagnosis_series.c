// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_series.h"

#include <inttypes.h>
#include <string.h>

#include "host_series.h"
#include "verdict_pods.h"

static const struct family families[N_DIAGNOSIS_FAMILIES] = {
	[DIAGNOSIS] =
		{"roce_diagnosis",
		 "Severity of a port's verdict: 1 info, 2 warning, 3 critical; absent without a verdict.",
		 METRIC_GAUGE},
	[DIAGNOSIS_ONSET_TIME] =
		{"roce_diagnosis_onset_timestamp_seconds",
		 "Unix time at which the fault of an open verdict began; absent without a verdict. If the fault is older than rocelet's start (beforeStart in the API), the time of the first sample that has the port.",
		 METRIC_GAUGE},
	[DIAGNOSIS_POD] =
		{"roce_diagnosis_pod_info",
		 "The pods that a verdict affects, or that cause it (role). For the port of a PF, also the pods of its VFs if the cause affects them.",
		 METRIC_GAUGE},
	[DIAGNOSIS_ONSETS] = {"roce_diagnosis_onsets_total", "Verdicts by cause.", METRIC_COUNTER},
	[DIAGNOSIS_UNDECIDABLE] =
		{"roce_diagnosis_undecidable",
		 "Ports on which a cause cannot be decided; /api/v1/diagnosis lists them with the reasons.",
		 METRIC_GAUGE},
	[DIAGNOSIS_PORT_CAUSES] =
		{"roce_diagnosis_port_causes",
		 "Causes that were decided on the port in the last sample (judged), and those that cannot be (undecided). All are undecided until the port was watched for a minute, and while it cannot be read.",
		 METRIC_GAUGE},
};

const struct family *diagnosis_family(enum diagnosis_family f)
{
	return &families[f];
}

static int diagnosis_begin_family(struct page *p, const struct family *f)
{
	return page_begin(p, f->name,
			  f->type == METRIC_COUNTER	  ? "counter"
			  : f == &families[DIAGNOSIS_POD] ? "info"
							  : "gauge",
			  f->help);
}

static void diagnosis_add_labels(struct text *t, const struct family *f, const struct verdict *v,
				 const struct resource_table *table)
{
	text_addf(t, "%s", f->name);
	text_add_port(t, v->device, v->port,
		      table ? resource_table_holder(table, v->function, v->device) : NULL);
	text_addf(t, ",cause=\"%s\"} ", cause_row(v->cause)->name);
}

static int diagnosis_add_verdicts(struct page *p, const struct diagnosis_report *r,
				  const struct resource_table *table)
{
	const struct family *f = &families[DIAGNOSIS];
	int failed = diagnosis_begin_family(p, f);

	for (size_t i = 0; failed == 0 && i < r->n_verdicts; i++)
		if (verdict_is_reported(&r->verdicts[i])) {
			diagnosis_add_labels(&p->text, f, &r->verdicts[i], table);
			text_addf(&p->text, "%d\n", (int)r->verdicts[i].severity);
		}
	page_end(p);
	return failed;
}

/* Adds the onset times, with the same labels as the verdicts, so that queries can join both. */
static int diagnosis_add_onset_times(struct page *p, const struct diagnosis_report *r,
				     const struct resource_table *table)
{
	const struct family *f = &families[DIAGNOSIS_ONSET_TIME];
	int failed = diagnosis_begin_family(p, f);

	for (size_t i = 0; failed == 0 && i < r->n_verdicts; i++)
		/* 0: the node's clock does not show a time since 1970. */
		if (verdict_is_reported(&r->verdicts[i]) && r->verdicts[i].onset_unix_ms) {
			diagnosis_add_labels(&p->text, f, &r->verdicts[i], table);
			text_addf(&p->text, "%.3f\n", (double)r->verdicts[i].onset_unix_ms / 1000);
		}
	page_end(p);
	return failed;
}

/* --- pods ------------------------------------------------------------------------------------- */

static void diagnosis_add_pod(struct text *t, const struct verdict *v, const char *role,
			      const char *namespace, const char *pod)
{
	text_addf(t, "%s{device=", families[DIAGNOSIS_POD].name);
	text_add_label(t, v->device);
	text_addf(t, ",port=\"%" PRIu32 "\",cause=\"%s\",role=\"%s\",namespace=", v->port,
		  cause_row(v->cause)->name, role);
	text_add_label(t, namespace);
	text_addf(t, ",pod=");
	text_add_label(t, pod);
	text_addf(t, "} 1\n");
}

static int diagnosis_add_pods(struct page *p, const struct diagnosis_report *r,
			      const struct resource_table *table, const struct host *host)
{
	int failed = diagnosis_begin_family(p, &families[DIAGNOSIS_POD]);
	const struct verdict_holders holders = {r, table, host};

	for (size_t i = 0; failed == 0 && i < r->n_verdicts; i++) {
		const struct verdict *v = &r->verdicts[i];
		const char *namespace, *name;
		size_t pos = 0;

		if (!verdict_is_reported(v))
			continue;
		while (verdict_pods_next(&holders, v, &pos, &namespace, &name))
			diagnosis_add_pod(&p->text, v, "affected", namespace, name);
		for (uint32_t k = 0; k < v->n_culprits; k++)
			diagnosis_add_pod(&p->text, v, "cause", v->culprits[k].namespace,
					  v->culprits[k].name);
	}
	page_end(p);
	return failed;
}

/* Adds one number per cause. */
static int add_causes(struct page *p, const struct family *f, const struct diagnosis_report *r)
{
	int failed = diagnosis_begin_family(p, f);

	for (int c = 0; failed == 0 && c < N_CAUSES; c++)
		text_addf(&p->text, "%s{cause=\"%s\"} %" PRIu64 "\n", f->name,
			  cause_row((enum cause)c)->name,
			  f == &families[DIAGNOSIS_ONSETS] ? r->onsets[c] : r->undecidable[c]);
	page_end(p);
	return failed;
}

static unsigned diagnosis_n_judged(const struct port_watched *p)
{
	switch (p->watch) {
	case WATCH_JUDGED:
	case WATCH_DOWN:
		return N_CAUSES - (unsigned)(p->undecided ? p->undecided->n : 0);
	case WATCH_WARMING:
	case WATCH_UNSEEN:
	case WATCH_NOT_APPLICABLE:
		break;
	}
	return 0;
}

void diagnosis_port_series(struct text *t, const char *labels, size_t n_labels,
			   const struct port_watched *p)
{
	const char *name = families[DIAGNOSIS_PORT_CAUSES].name;
	unsigned judged = diagnosis_n_judged(p);

	if (p->watch == WATCH_NOT_APPLICABLE)
		return;
	text_addf(t, "%s%.*s,decision=\"judged\"} %u\n", name, (int)n_labels, labels, judged);
	text_addf(t, "%s%.*s,decision=\"undecided\"} %u\n", name, (int)n_labels, labels,
		  N_CAUSES - judged);
}

int diagnosis_series(struct page *p, const struct diagnosis_report *r,
		     const struct resource_table *table, const struct host *host)
{
	int failed = diagnosis_add_verdicts(p, r, table);

	if (failed == 0)
		failed = diagnosis_add_onset_times(p, r, table);
	if (failed == 0)
		failed = diagnosis_add_pods(p, r, table, host);
	if (failed == 0)
		failed = add_causes(p, &families[DIAGNOSIS_ONSETS], r);
	if (failed == 0)
		failed = add_causes(p, &families[DIAGNOSIS_UNDECIDABLE], r);
	return failed;
}
