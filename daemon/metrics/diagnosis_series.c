// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_series.h"

#include <inttypes.h>

#include "host_series.h"

static const struct family families[N_DIAGNOSIS_FAMILIES] = {
	[DIAGNOSIS] =
		{"roce_diagnosis",
		 "Severity of a port's verdict: 1 info, 2 warning, 3 critical; absent without a verdict.",
		 METRIC_GAUGE},
	[DIAGNOSIS_ONSETS] = {"roce_diagnosis_onsets_total", "Verdicts by cause.", METRIC_COUNTER},
	[DIAGNOSIS_UNDECIDABLE] =
		{"roce_diagnosis_undecidable",
		 "Ports on which a cause cannot be decided; /api/v1/diagnosis lists them with the reasons.",
		 METRIC_GAUGE},
};

const struct family *diagnosis_family(enum diagnosis_family f)
{
	return &families[f];
}

static int diagnosis_begin_family(struct page *p, const struct family *f)
{
	return page_begin(p, f->name, f->type == METRIC_COUNTER ? "counter" : "gauge", f->help);
}

static void diagnosis_add_verdict(struct text *t, const struct verdict *v,
				  const struct resource_table *table)
{
	text_addf(t, "%s", families[DIAGNOSIS].name);
	text_add_port(t, v->device, v->port,
		      table ? resource_table_holder(table, v->function, v->device) : NULL);
	text_addf(t, ",cause=\"%s\"} %d\n", cause_row(v->cause)->name, (int)v->severity);
}

static int diagnosis_add_verdicts(struct page *p, const struct diagnosis_report *r,
				  const struct resource_table *table)
{
	int failed = diagnosis_begin_family(p, &families[DIAGNOSIS]);

	for (size_t i = 0; failed == 0 && i < r->n_verdicts; i++)
		if (verdict_is_reported(&r->verdicts[i]))
			diagnosis_add_verdict(&p->text, &r->verdicts[i], table);
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

int diagnosis_series(struct page *p, const struct diagnosis_report *r,
		     const struct resource_table *table)
{
	int failed = diagnosis_add_verdicts(p, r, table);

	if (failed == 0)
		failed = add_causes(p, &families[DIAGNOSIS_ONSETS], r);
	if (failed == 0)
		failed = add_causes(p, &families[DIAGNOSIS_UNDECIDABLE], r);
	return failed;
}
