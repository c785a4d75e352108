// SPDX-License-Identifier: Apache-2.0
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "age_text.h"
#include "search.h"

#define NUMBER_SIZE 40
/* Smaller ratios, such as those of bit errors, are not shown as percentages. */
#define SHARE_LEAST 1e-6
/* Shorter durations are seconds with decimals. */
#define AGE_LEAST_S 120

/* Returns the distance of the value from its limit, as a ratio. -1: it has no limit, or no value.
 */
static double evidence_ratio(const struct evidence *e, bool less_is_worse)
{
	double of = less_is_worse ? e->value : e->threshold,
	       value = less_is_worse ? e->threshold : e->value;

	if (isnan(e->threshold) || isnan(e->value))
		return -1;
	return of > 0 ? value / of : value > 0 ? INFINITY : 0;
}

const struct evidence *evidence_main(const struct evidence *e, unsigned n, bool less_is_worse)
{
	const struct evidence *most = n > 0 ? e : NULL;

	for (unsigned i = 1; i < n; i++)
		if (evidence_ratio(&e[i], less_is_worse) > evidence_ratio(most, less_is_worse))
			most = &e[i];
	return most;
}

void evidence_sort(struct evidence *e, unsigned n, bool less_is_worse)
{
	const struct evidence *most = evidence_main(e, n, less_is_worse);
	struct evidence first;

	if (!most)
		return;
	first = *most;
	memmove(e + 1, e, (size_t)(most - e) * sizeof(*e));
	e[0] = first;
}

/* Writes 24000 as "24,000", and 0.00312345 as "0.003123" if figures is 4. */
static void evidence_number(double v, int figures, char ret[NUMBER_SIZE])
{
	char digits[NUMBER_SIZE];
	size_t len, at = 0;

	if (!(fabs(v) >= 1000 && fabs(v) < 1e15)) {
		snprintf(ret, NUMBER_SIZE, "%.*g", figures, v);
		return;
	}
	len = (size_t)snprintf(digits, sizeof(digits), "%.0f", v);
	for (size_t i = 0; i < len; i++) {
		ret[at++] = digits[i];
		if (digits[i] != '-' && i + 1 < len && (len - i - 1) % 3 == 0)
			ret[at++] = ',';
	}
	ret[at] = '\0';
}

const char *evidence_value_text(double v, const char *unit, char ret[EVIDENCE_TEXT_SIZE])
{
	bool is_ratio = strcmp(unit, "ratio") == 0, is_bytes = strcmp(unit, "B/s") == 0;
	bool is_share = is_ratio && !(fabs(v) > 0 && fabs(v) < SHARE_LEAST);
	char number[NUMBER_SIZE], age[AGE_TEXT_SIZE];

	evidence_number(is_share ? v * 100 : is_bytes ? v * 8e-9 : v, is_share ? 3 : 4, number);
	if (strcmp(unit, "s") == 0 && v >= AGE_LEAST_S) {
		age_text((int64_t)v, age);
		snprintf(ret, EVIDENCE_TEXT_SIZE, "%s", age);
	} else if (is_ratio) {
		snprintf(ret, EVIDENCE_TEXT_SIZE, "%s%s", number, is_share ? " %" : "");
	} else if (strcmp(unit, "1/s") == 0) {
		snprintf(ret, EVIDENCE_TEXT_SIZE, "%s/s", number);
	} else {
		snprintf(ret, EVIDENCE_TEXT_SIZE, "%s%s%.30s", number, *unit ? " " : "",
			 is_bytes ? "Gbit/s" : unit);
	}
	return ret;
}

static bool evidence_is_priorities(const struct evidence *e)
{
	return strcmp(e->unit, EVIDENCE_PRIORITIES) == 0;
}

bool evidence_is_word(const struct evidence *e)
{
	return e->word || evidence_is_priorities(e);
}

/* Writes the mask 24 as "3,4". */
static const char *evidence_priorities(unsigned mask, char ret[EVIDENCE_TEXT_SIZE])
{
	size_t len = 0;

	snprintf(ret, EVIDENCE_TEXT_SIZE, "none");
	for (int p = 0; mask; p++, mask >>= 1)
		if (mask & 1)
			len += (size_t)snprintf(ret + len, EVIDENCE_TEXT_SIZE - len, "%s%d",
						len ? "," : "", p);
	return ret;
}

const char *evidence_text(const struct evidence *e, char ret[EVIDENCE_TEXT_SIZE])
{
	if (evidence_is_priorities(e))
		return evidence_priorities((uint8_t)e->value, ret);
	if (!e->word)
		return evidence_value_text(e->value, e->unit, ret);
	snprintf(ret, EVIDENCE_TEXT_SIZE, "%s", e->word);
	return ret;
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
	if (v->highest > v->severity)
		v->severity = v->highest;
}

bool verdict_leads(const struct verdict *v, const struct verdict *other)
{
	return (other->led_by & (CAUSE_BIT(v->cause) | v->symptoms)) && other->opened_ms &&
	       other->port == v->port && strcmp(other->pf, v->device) == 0;
}

enum verdict_relation verdict_relation(const struct verdict *v, const struct verdict *all,
				       size_t n_all, const char *device, uint32_t port,
				       const char *parent)
{
	const bool of_all_vfs = cause_row(v->cause)->concerns_vfs;

	if (v->port != port)
		return VERDICT_UNRELATED;
	if (strcmp(v->device, device) == 0)
		return VERDICT_OWN;
	if (!parent[0] || strcmp(v->function, parent) != 0)
		return VERDICT_UNRELATED;
	for (size_t i = 0; !of_all_vfs && i < n_all; i++)
		if (all[i].port == port && strcmp(all[i].device, device) == 0 &&
		    verdict_leads(v, &all[i]))
			return VERDICT_OF_PF;
	return of_all_vfs ? VERDICT_OF_PF : VERDICT_UNRELATED;
}

/* Returns the pod at a position, or NULL. The positions of the verdict's own pods come first, then
 * those of the verdicts that it explains. */
static const struct observed_pod *verdict_pod_at(const struct verdict *v, const struct verdict *all,
						 size_t pos)
{
	const struct verdict *of = pos < VERDICT_PODS_MAX ? v : &all[pos / VERDICT_PODS_MAX - 1];
	size_t k = pos % VERDICT_PODS_MAX;

	return k < of->n_pods && (of == v || verdict_leads(v, of)) ? &of->pods[k] : NULL;
}

static bool verdict_is_pod(const struct observed_pod *pod, const char *namespace, const char *name)
{
	return strcmp(pod->name, name) == 0 && strcmp(pod->namespace, namespace) == 0;
}

bool verdict_is_culprit(const struct verdict *v, const char *namespace, const char *name)
{
	return any_of(v->n_culprits, i, verdict_is_pod(&v->culprits[i], namespace, name));
}

const struct observed_pod *verdict_next_pod(const struct verdict *v, const struct verdict *all,
					    size_t n_all, size_t *pos)
{
	while (*pos < (n_all + 1) * VERDICT_PODS_MAX) {
		const struct observed_pod *pod = verdict_pod_at(v, all, (*pos)++), *other = NULL;
		bool is_first = pod && !verdict_is_culprit(v, pod->namespace, pod->name);

		for (size_t i = 0; is_first && i < *pos - 1; i++) {
			other = verdict_pod_at(v, all, i);
			is_first = !other || !verdict_is_pod(other, pod->namespace, pod->name);
		}
		if (is_first)
			return pod;
	}
	return NULL;
}
