// SPDX-License-Identifier: Apache-2.0
#include "ctl_show_diagnosis.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_table.h"

/* At most this many ports are listed by name; the others are counted. */
#define NAMED_MAX     4
/* "level" of a verdict. */
#define LEVEL_WARNING 2

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

const char *ctl_evidence_number(double v, char ret[EVIDENCE_NUMBER_SIZE])
{
	char digits[EVIDENCE_NUMBER_SIZE];
	size_t len, at = 0;

	if (!(fabs(v) >= 1000 && fabs(v) < 1e15)) {
		snprintf(ret, EVIDENCE_NUMBER_SIZE, "%.4g", v);
		return ret;
	}
	len = (size_t)snprintf(digits, sizeof(digits), "%.0f", v);
	for (size_t i = 0; i < len; i++) {
		ret[at++] = digits[i];
		if (digits[i] != '-' && i + 1 < len && (len - i - 1) % 3 == 0)
			ret[at++] = ',';
	}
	ret[at] = '\0';
	return ret;
}

static void ctl_show_diagnosis_put_evidence(const json_t *verdict, FILE *f)
{
	json_t *e;
	size_t i;

	json_array_foreach (json_object_get(verdict, "evidence"), i, e) {
		const json_t *value = json_object_get(e, "value"), *limit;
		const char *unit = ctl_show_diagnosis_text_of(e, "unit");
		char number[EVIDENCE_NUMBER_SIZE];

		if (!json_is_number(value))
			continue;
		fputs("    ", f);
		ctl_put_text(e, "name", f);
		fprintf(f, " = %s", ctl_evidence_number(json_number_value(value), number));
		if (unit && *unit) {
			fputc(' ', f);
			table_put(unit, f);
		}
		limit = json_object_get(e, "threshold");
		if (json_is_number(limit))
			fprintf(f, " (limit %s)",
				ctl_evidence_number(json_number_value(limit), number));
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

static void ctl_show_diagnosis_put_pods(const json_t *verdict, FILE *f)
{
	const json_t *pods = json_object_get(verdict, "pods");
	json_int_t n = ctl_show_diagnosis_number_of(verdict, "podCount");
	json_t *pod;
	size_t i;

	json_array_foreach ((json_t *)pods, i, pod) {
		fputs(i ? ", " : "    pod: ", f);
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

static void put_verdict(const json_t *v, FILE *f)
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
	fputs(", since ", f);
	ctl_put_text(v, "onset", f);
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
	else
		fprintf(f, "nothing is wrong with %zu port%s\n", judged, judged == 1 ? "" : "s");
}

/* "warming, no verdict yet: mlx5_0/1, mlx5_1/1 and 12 more". */
static void list_watched_as(const json_t *document, const char *watch, const char *says, FILE *f)
{
	const json_t *ports = json_object_get(document, "ports");
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

int ctl_diagnosis_level(const json_t *document)
{
	json_int_t worst = 0;
	json_t *verdict, *port;
	size_t i;

	json_array_foreach (json_object_get(document, "verdicts"), i, verdict) {
		json_int_t level = ctl_show_diagnosis_number_of(verdict, "level");

		worst = level > worst ? level : worst;
	}
	/* A port that is down may have no verdict, but the pod that holds it cannot use it. */
	json_array_foreach (json_object_get(document, "ports"), i, port) {
		if (is_watched_as(port, "down") && json_is_true(json_object_get(port, "held")) &&
		    worst < LEVEL_WARNING)
			worst = LEVEL_WARNING;
	}
	return (int)worst;
}

void ctl_show_diagnosis(const json_t *document, FILE *f)
{
	const json_t *verdicts = json_object_get(document, "verdicts");
	json_t *verdict;
	size_t i;

	for (json_int_t level = 3; level > 0; level--) {
		json_array_foreach ((json_t *)verdicts, i, verdict) {
			if (ctl_show_diagnosis_number_of(verdict, "level") == level)
				put_verdict(verdict, f);
		}
	}
	if (json_array_size(verdicts) == 0)
		say_no_verdict(document, f);
	list_clear(document, f);
	list_watched_as(document, "warming",
			"watched for too short a time to be called healthy: ", f);
	list_watched_as(document, "down", "the link is down: ", f);
	list_watched_as(document, "unseen", "cannot be read at the moment: ", f);
	list_undecided(document, f);
}
