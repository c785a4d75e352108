// SPDX-License-Identifier: Apache-2.0
#include "ctl_show_diagnosis.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_age.h"
#include "ctl_table.h"

/* At most this many ports are listed by name; the others are counted. */
#define NAMED_MAX	     4
#define EVIDENCE_NUMBER_SIZE 40
/* Smaller ratios, such as those of bit errors, are no percentages. */
#define SHARE_LEAST	     1e-6
/* Shorter durations are seconds with decimals. */
#define AGE_LEAST_S	     120

static const char *ctl_show_diagnosis_text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static json_int_t ctl_show_diagnosis_number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void ctl_put_text(const json_t *object, const char *key, FILE *f)
{
	const char *text = ctl_show_diagnosis_text_of(object, key);

	table_put(text ? text : "-", f);
}

static void ctl_put_port(const json_t *object, FILE *f)
{
	ctl_put_text(object, "device", f);
	fprintf(f, "/%" JSON_INTEGER_FORMAT, ctl_show_diagnosis_number_of(object, "port"));
	if (!ctl_show_diagnosis_text_of(object, "pod"))
		return;
	fputs(" (", f);
	ctl_put_text(object, "namespace", f);
	fputc('/', f);
	ctl_put_text(object, "pod", f);
	fputc(')', f);
}

/* --- a verdict -------------------------------------------------------------------------------- */

/* Prints " advice: ..."; nothing if the verdict lacks the key. */
static void ctl_show_diagnosis_put_line(const json_t *verdict, const char *before, const char *key,
					FILE *f)
{
	if (!ctl_show_diagnosis_text_of(verdict, key))
		return;
	fprintf(f, "    %s", before);
	ctl_put_text(verdict, key, f);
	fputc('\n', f);
}

/* 24000 as "24,000", 0.00312345 as "0.003123" */
static void ctl_evidence_number(double v, char ret[EVIDENCE_NUMBER_SIZE])
{
	char digits[EVIDENCE_NUMBER_SIZE];
	size_t len, at = 0;

	if (!(fabs(v) >= 1000 && fabs(v) < 1e15)) {
		snprintf(ret, EVIDENCE_NUMBER_SIZE, "%.4g", v);
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

const char *ctl_evidence_text(double v, const char *unit, char ret[CTL_EVIDENCE_SIZE])
{
	bool is_share = strcmp(unit, "ratio") == 0 && !(fabs(v) > 0 && fabs(v) < SHARE_LEAST);
	bool is_age = strcmp(unit, "s") == 0 && v >= AGE_LEAST_S;
	char number[EVIDENCE_NUMBER_SIZE], age[AGE_TEXT_SIZE];

	ctl_evidence_number(is_share ? v * 100 : v, number);
	if (is_age)
		ctl_age_text((int64_t)v, age);
	if (is_age)
		snprintf(ret, CTL_EVIDENCE_SIZE, "%s", age);
	else if (is_share)
		snprintf(ret, CTL_EVIDENCE_SIZE, "%s %%", number);
	else if (strcmp(unit, "1/s") == 0)
		snprintf(ret, CTL_EVIDENCE_SIZE, "%s/s", number);
	else if (strcmp(unit, "ratio") == 0)
		snprintf(ret, CTL_EVIDENCE_SIZE, "%s", number);
	else
		snprintf(ret, CTL_EVIDENCE_SIZE, "%s%s%.30s", number, *unit ? " " : "", unit);
	return ret;
}

static void ctl_show_diagnosis_put_evidence(const json_t *verdict, FILE *f)
{
	json_t *e;
	size_t i;

	json_array_foreach (json_object_get(verdict, "evidence"), i, e) {
		const json_t *value = json_object_get(e, "value"), *limit;
		const char *unit = ctl_show_diagnosis_text_of(e, "unit") ?: "";
		const char *word = ctl_show_diagnosis_text_of(e, "word");
		char text[CTL_EVIDENCE_SIZE];

		if (!json_is_number(value))
			continue;
		fputs("    ", f);
		ctl_put_text(e, "name", f);
		fputs(" = ", f);
		table_put(word ?: ctl_evidence_text(json_number_value(value), unit, text), f);
		limit = json_object_get(e, "threshold");
		if (json_is_number(limit)) {
			fputs(" (limit ", f);
			table_put(ctl_evidence_text(json_number_value(limit), unit, text), f);
			fputc(')', f);
		}
		fputc('\n', f);
	}
}

static void put_first_moved(const json_t *verdict, FILE *f)
{
	if (!ctl_show_diagnosis_text_of(verdict, "firstMoved"))
		return;
	fputs("    first moved: ", f);
	ctl_put_text(verdict, "firstMoved", f);
	fputs(json_is_true(json_object_get(verdict, "sameSample")) ? ", others in the same sample\n"
								   : "\n",
	      f);
}

/* Whether the verdict's pods are its cause, if it says so. */
static const char *ctl_show_diagnosis_role(const json_t *verdict)
{
	const char *role = ctl_show_diagnosis_text_of(verdict, "role");

	return !role ? "pod" : strcmp(role, "cause") == 0 ? "caused by" : "affected";
}

static void ctl_show_diagnosis_put_pods(const json_t *verdict, FILE *f)
{
	const json_t *pods = json_object_get(verdict, "pods");
	json_int_t n = ctl_show_diagnosis_number_of(verdict, "podCount");
	json_t *pod;
	size_t i;

	json_array_foreach ((json_t *)pods, i, pod) {
		if (i == 0)
			fprintf(f, "    %s: ", ctl_show_diagnosis_role(verdict));
		fputs(i ? ", " : "", f);
		ctl_put_text(pod, "namespace", f);
		fputc('/', f);
		ctl_put_text(pod, "name", f);
	}
	if (n > (json_int_t)json_array_size(pods))
		fprintf(f, " and %" JSON_INTEGER_FORMAT " more",
			n - (json_int_t)json_array_size(pods));
	if (json_array_size(pods) > 0)
		fputc('\n', f);
}

static void ctl_show_diagnosis_put_symptoms(const json_t *verdict, FILE *f)
{
	json_t *symptom;
	size_t i;

	json_array_foreach (json_object_get(verdict, "symptoms"), i, symptom) {
		const char *name = json_string_value(symptom);

		fputs(i ? ", " : "    explains: ", f);
		table_put(name ? name : "-", f);
	}
	if (json_array_size(json_object_get(verdict, "symptoms")) > 0)
		fputc('\n', f);
}

void ctl_show_since(const json_t *verdict, const json_t *document, FILE *f)
{
	const char *onset = ctl_show_diagnosis_text_of(verdict, "onset");
	int64_t then = ctl_age_parse(onset);
	int64_t now = ctl_age_parse(ctl_show_diagnosis_text_of(document, "time"));
	char age[AGE_TEXT_SIZE];

	if (then < 0)
		return;
	fprintf(f, ", since %.19sZ", onset);
	if (now >= then) {
		ctl_age_text(now - then, age);
		fprintf(f, " (%s)", age);
	}
}

static void put_verdict(const json_t *v, const json_t *document, FILE *f)
{
	ctl_put_text(v, "severity", f);
	fputs(": ", f);
	ctl_put_port(v, f);
	if (ctl_show_diagnosis_text_of(v, "netdev")) {
		fputs(" (", f);
		ctl_put_text(v, "netdev", f);
		fputc(')', f);
	}
	fputs(": ", f);
	ctl_put_text(v, "cause", f);
	ctl_show_since(v, document, f);
	fputs(ctl_show_diagnosis_number_of(v, "clearingSinceMs") ? ", better now\n" : "\n", f);
	ctl_show_diagnosis_put_line(v, "", "sentence", f);
	ctl_show_diagnosis_put_line(v, "", "remark", f);
	put_first_moved(v, f);
	ctl_show_diagnosis_put_evidence(v, f);
	ctl_show_diagnosis_put_pods(v, f);
	ctl_show_diagnosis_put_line(v, "peer: ", "peer", f);
	ctl_show_diagnosis_put_symptoms(v, f);
	ctl_show_diagnosis_put_line(v, "advice: ", "advice", f);
	ctl_show_diagnosis_put_line(v, "unless: ", "disproof", f);
	ctl_show_diagnosis_put_line(v, "runbook: ", "runbook", f);
	fputc('\n', f);
}

/* --- the ports -------------------------------------------------------------------------------- */

static bool is_watched_as(const json_t *port, const char *watch)
{
	const char *is = ctl_show_diagnosis_text_of(port, "watch");

	return is && strcmp(is, watch) == 0;
}

static size_t count_watched_as(const json_t *ports, const char *watch)
{
	json_t *port;
	size_t i, n = 0;

	json_array_foreach ((json_t *)ports, i, port) {
		n += is_watched_as(port, watch);
	}
	return n;
}

static void say_no_verdict(const json_t *document, FILE *f)
{
	const json_t *ports = json_object_get(document, "ports");
	size_t judged = count_watched_as(ports, "judged");

	if (json_array_size(ports) == 0)
		fputs("no port is watched\n", f);
	else if (judged == 0 && count_watched_as(ports, "down") == 0)
		fputs("no verdict yet\n", f);
	else if (judged == 0)
		return;
	else if (ctl_diagnosis_level(document) > 0)
		fprintf(f, "no verdict on %zu port%s, but the link of a pod's port is down\n",
			judged, judged == 1 ? "" : "s");
	else
		fprintf(f, "nothing is wrong with %zu port%s\n", judged, judged == 1 ? "" : "s");
}

/* "warming, no verdict yet: mlx5_0/1, mlx5_1/1 and 12 more". */
static void list_watched_as(const json_t *ports, const char *watch, const char *says, FILE *f)
{
	size_t i, all = count_watched_as(ports, watch), n = 0;
	json_t *port;

	json_array_foreach ((json_t *)ports, i, port) {
		if (!is_watched_as(port, watch) || n == NAMED_MAX)
			continue;
		fputs(n++ ? ", " : says, f);
		ctl_put_port(port, f);
	}
	if (all > n)
		fprintf(f, " and %zu more", all - n);
	if (n > 0)
		fputc('\n', f);
}

static void list_clear(const json_t *document, FILE *f)
{
	json_t *port;
	size_t i;

	json_array_foreach (json_object_get(document, "notTheNetwork"), i, port) {
		ctl_put_port(port, f);
		fputs(": the network is not what is slow: much moves, and nothing is wrong\n", f);
	}
}

/* --- undecided -------------------------------------------------------------------------------- */

static bool ctl_is_same(const json_t *a, const json_t *b, const char *key)
{
	return json_equal(json_object_get(a, key), json_object_get(b, key));
}

static bool is_same_reason(const json_t *a, const json_t *b)
{
	return ctl_is_same(a, b, "cause") && ctl_is_same(a, b, "why");
}

/* Adds the ports that share the reason of the i-th entry, the first with that reason. */
static void ctl_show_diagnosis_add_ports(struct table *t, const json_t *undecided, size_t i)
{
	const json_t *first = json_array_get(undecided, i);
	char *text = NULL;
	size_t len, n = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		t->failed = true;
		return;
	}
	for (; i < json_array_size(undecided); i++) {
		const json_t *u = json_array_get(undecided, i);

		if (!is_same_reason(first, u) || n++ >= NAMED_MAX)
			continue;
		fputs(n > 1 ? "," : "", f);
		ctl_put_port(u, f);
	}
	if (n > NAMED_MAX)
		fprintf(f, " and %zu more", n - NAMED_MAX);
	fclose(f);
	table_add(t, text);
	free(text);
}

static size_t count_undecided_causes(const json_t *undecided)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(undecided); i++) {
		size_t k = 0;

		while (k < i && !ctl_is_same(json_array_get(undecided, k),
					     json_array_get(undecided, i), "cause"))
			k++;
		n += k == i;
	}
	return n;
}

static void count_undecided(const json_t *document, FILE *f)
{
	size_t n = count_undecided_causes(json_object_get(document, "undecided"));

	if (n > 0)
		fprintf(f, "%zu cause%s cannot be decided here: rocectl diagnose --undecided\n", n,
			n == 1 ? "" : "s");
}

static bool ctl_is_told(const json_t *undecided, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_same_reason(json_array_get(undecided, k), json_array_get(undecided, i)))
			return true;
	return false;
}

static void list_undecided(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"CANNOT BE DECIDED", "BECAUSE", "PORTS"}, .n_columns = 3};
	const json_t *undecided = json_object_get(document, "undecided");
	json_t *u;
	size_t i;

	json_array_foreach ((json_t *)undecided, i, u) {
		if (ctl_is_told(undecided, i))
			continue;
		table_add(&t, ctl_show_diagnosis_text_of(u, "cause"));
		table_add(&t, ctl_show_diagnosis_text_of(u, "why"));
		ctl_show_diagnosis_add_ports(&t, undecided, i);
	}
	if (t.n_rows > 0)
		fputc('\n', f);
	if (t.failed)
		fputs("out of memory\n", f);
	else
		table_print(&t, NULL, f);
	table_done(&t);
}

/* --- the document ----------------------------------------------------------------------------- */

bool ctl_diagnosis_is_lost(const json_t *port)
{
	return is_watched_as(port, "down") && json_is_true(json_object_get(port, "held"));
}

int ctl_diagnosis_level(const json_t *document)
{
	json_int_t worst = 0;
	json_t *verdict, *port;
	size_t i;

	json_array_foreach (json_object_get(document, "verdicts"), i, verdict) {
		json_int_t level = ctl_show_diagnosis_number_of(verdict, "level");

		worst = level > worst ? level : worst;
	}
	json_array_foreach (json_object_get(document, "ports"), i, port) {
		if (ctl_diagnosis_is_lost(port) && worst < CTL_LEVEL_WARNING)
			worst = CTL_LEVEL_WARNING;
	}
	return (int)worst;
}

/* Adds "WORD N"; *before: what is before the next one. */
static void put_number_of(size_t n, const char *word, const char **before, FILE *f)
{
	if (n == 0)
		return;
	fprintf(f, "%s%zu %s", *before, n, word);
	*before = ", ";
}

bool ctl_show_worst(const json_t *document, FILE *f)
{
	static const char *const words[] = {"", "information", "warning", "critical"};
	size_t verdicts[4] = {0}, lost = 0, i;
	const char *before = "";
	json_t *verdict, *port;

	json_array_foreach (json_object_get(document, "verdicts"), i, verdict) {
		json_int_t level = ctl_show_diagnosis_number_of(verdict, "level");

		verdicts[level < 0 ? 0 : level > 3 ? 3 : level]++;
	}
	json_array_foreach (json_object_get(document, "ports"), i, port) {
		lost += ctl_diagnosis_is_lost(port);
	}
	for (int level = 3; level > 0; level--)
		put_number_of(verdicts[level], words[level], &before, f);
	put_number_of(lost, lost == 1 ? "port of a pod is down" : "ports of pods are down", &before,
		      f);
	return *before != '\0';
}

void ctl_show_down(const json_t *ports, FILE *f)
{
	list_watched_as(ports, "down", "the link is down: ", f);
}

void ctl_show_diagnosis(const json_t *document, bool undecided, FILE *f)
{
	const json_t *ports = json_object_get(document, "ports");
	const json_t *verdicts = json_object_get(document, "verdicts");
	json_t *verdict;
	size_t i;

	for (json_int_t level = 3; level > 0; level--) {
		json_array_foreach ((json_t *)verdicts, i, verdict) {
			if (ctl_show_diagnosis_number_of(verdict, "level") == level)
				put_verdict(verdict, document, f);
		}
	}
	if (json_array_size(verdicts) == 0)
		say_no_verdict(document, f);
	list_clear(document, f);
	list_watched_as(ports, "warming", "watched for too short a time to be called healthy: ", f);
	ctl_show_down(ports, f);
	list_watched_as(ports, "unseen", "cannot be read at the moment: ", f);
	if (undecided)
		list_undecided(document, f);
	else
		count_undecided(document, f);
}
