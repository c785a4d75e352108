// SPDX-License-Identifier: Apache-2.0
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct evidence *evidence_main(const struct evidence *e, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!isnan(e[i].threshold) && !isnan(e[i].value))
			return &e[i];
	return n > 0 ? e : NULL;
}

void evidence_text(const struct evidence *e, char ret[EVIDENCE_TEXT_SIZE])
{
	if (e->word)
		snprintf(ret, EVIDENCE_TEXT_SIZE, "%s", e->word);
	else if (strcmp(e->unit, "ratio") == 0)
		snprintf(ret, EVIDENCE_TEXT_SIZE, "%.2g %%", 100 * e->value);
	else if (strcmp(e->unit, "1/s") == 0)
		snprintf(ret, EVIDENCE_TEXT_SIZE, "%.3g/s", e->value);
	else if (strcmp(e->unit, "B/s") == 0)
		snprintf(ret, EVIDENCE_TEXT_SIZE, "%.3g Gbit/s", 8e-9 * e->value);
	else
		snprintf(ret, EVIDENCE_TEXT_SIZE, e->value < 1000 ? "%.3g%s%s" : "%.0f%s%s",
			 e->value, e->unit[0] ? " " : "", e->unit);
}

void evidence_name(const struct evidence *e, char ret[EVIDENCE_NAME_SIZE])
{
	const char *mark = strchr(e->name, '#');

	if (e->number < 0 || !mark)
		snprintf(ret, EVIDENCE_NAME_SIZE, "%s", e->name);
	else
		snprintf(ret, EVIDENCE_NAME_SIZE, "%.*s%d%s", (int)(mark - e->name), e->name,
			 e->number, mark + 1);
}

void verdict_show_worst(struct verdict *v)
{
	v->n_evidence = v->worst.n_evidence;
	memcpy(v->evidence, v->worst.evidence, v->n_evidence * sizeof(v->evidence[0]));
}

bool verdict_leads(const struct verdict *v, const struct verdict *other)
{
	return (other->led_by & (CAUSE_BIT(v->cause) | v->symptoms)) && other->opened_ms &&
	       other->port == v->port && strcmp(other->pf, v->device) == 0;
}

/* The places of the verdict's own pods come first, then those of each other verdict. */
static const struct observed_pod *verdict_pod_at(const struct verdict *v, const struct verdict *all,
						 size_t pos)
{
	const struct verdict *of = pos < VERDICT_PODS_MAX ? v : &all[pos / VERDICT_PODS_MAX - 1];
	size_t k = pos % VERDICT_PODS_MAX;

	return k < of->n_pods && (of == v || verdict_leads(v, of)) ? &of->pods[k] : NULL;
}

static bool verdict_is_same_pod(const struct observed_pod *a, const struct observed_pod *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->namespace, b->namespace) == 0;
}

const struct observed_pod *verdict_next_pod(const struct verdict *v, const struct verdict *all,
					    size_t n_all, size_t *pos)
{
	while (*pos < (n_all + 1) * VERDICT_PODS_MAX) {
		const struct observed_pod *pod = verdict_pod_at(v, all, (*pos)++), *other = NULL;
		bool is_first = pod;

		for (size_t i = 0; is_first && i < *pos - 1; i++) {
			other = verdict_pod_at(v, all, i);
			is_first = !other || !verdict_is_same_pod(other, pod);
		}
		if (is_first)
			return pod;
	}
	return NULL;
}
