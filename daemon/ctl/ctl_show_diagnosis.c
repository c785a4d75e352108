// SPDX-License-Identifier: Apache-2.0
#include "ctl_show_diagnosis.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "ctl_age.h"
#include "ctl_cut.h"
#include "ctl_table.h"
#include "runbook_text.h"
#include "search.h"
#include "trouble_word.h"
#include "verdict.h"

/* At most this many ports are listed by name; the others are counted. */
#define NAMED_MAX   4
/* A verdict that was seen less than this long ago counts as seen now. */
#define LAST_SEEN_S 10
/* Width of the column of pods in the list of ended verdicts. */
#define ENDED_PODS  40

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

/* True for a rate or a share, whose value is a mean. */
static bool is_mean(const json_t *evidence)
{
	static const char *const units[] = {"ratio", "1/s", "B/s"};
	const char *unit = ctl_show_diagnosis_text_of(evidence, "unit");

	return unit && json_is_number(json_object_get(evidence, "value")) &&
	       any_of(ARRAY_SIZE(units), i, strcmp(unit, units[i]) == 0);
}

static void ctl_show_diagnosis_put_evidence(const json_t *verdict, FILE *f)
{
	const json_t *evidence = json_object_get(verdict, "evidence");
	json_t *e;
	size_t i;

	if (any_of(json_array_size(evidence), k, is_mean(json_array_get(evidence, k))))
		fputs("    evidence (rates and shares are means over the time judged):\n", f);

	json_array_foreach (json_object_get(verdict, "evidence"), i, e) {
		const json_t *value = json_object_get(e, "value"), *limit;
		const char *unit = ctl_show_diagnosis_text_of(e, "unit") ?: "";
		const char *word = ctl_show_diagnosis_text_of(e, "word");
		char text[EVIDENCE_TEXT_SIZE];

		limit = json_object_get(e, "threshold");
		if (!json_is_number(value) && !json_is_number(limit))
			continue;
		fputs("    ", f);
		ctl_put_text(e, "name", f);
		fputs(" = ", f);
		table_put(!json_is_number(value)
				  ? "not readable, check it before you follow the advice"
				  : word ?: evidence_value_text(json_number_value(value), unit, text),
			  f);
		if (json_is_number(limit)) {
			fputs(" (limit ", f);
			table_put(evidence_value_text(json_number_value(limit), unit, text), f);
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

/* Prints "    affected: train/llm-0, train/llm-1 and 3 more"; n: how many there are. */
static void ctl_show_diagnosis_put_list(const char *label, const json_t *pods, json_int_t n,
					FILE *f)
{
	json_t *pod;
	size_t i;

	json_array_foreach ((json_t *)pods, i, pod) {
		if (i == 0)
			fprintf(f, "    %s: ", label);
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

static void ctl_show_diagnosis_put_pods(const json_t *verdict, FILE *f)
{
	ctl_show_diagnosis_put_list("affected", json_object_get(verdict, "pods"),
				    ctl_show_diagnosis_number_of(verdict, "podCount"), f);
	ctl_show_diagnosis_put_list("caused by", json_object_get(verdict, "causedBy"), 0, f);
}

/* "train/llm-0" */
static void ctl_show_diagnosis_pod(const json_t *pod, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s", ctl_show_diagnosis_text_of(pod, "namespace") ?: "-",
		 ctl_show_diagnosis_text_of(pod, "name") ?: "-");
}

static void ctl_show_diagnosis_affected_text(const json_t *verdict, size_t width, char *ret,
					     size_t size)
{
	const json_t *pods = json_object_get(verdict, "pods");
	json_int_t all = ctl_show_diagnosis_number_of(verdict, "podCount");
	size_t len = 0, n = 0, i;
	json_t *pod;

	ret[0] = '\0';
	json_array_foreach ((json_t *)pods, i, pod) {
		char name[384];

		ctl_show_diagnosis_pod(pod, name, sizeof(name));
		if (n == 0)
			ctl_cut_pod(name, sizeof(name), width - sizeof(" and 99 more"), true);
		if (n > 0 && len + strlen(name) + sizeof(",  and 99 more") > width)
			break;
		len += (size_t)snprintf(ret + len, size - len, "%s%s", n ? ", " : "", name);
		n++;
	}
	all = all > (json_int_t)json_array_size(pods) ? all : (json_int_t)json_array_size(pods);
	if (n > 0 && all > (json_int_t)n)
		snprintf(ret + len, size - len, " and %" JSON_INTEGER_FORMAT " more",
			 all - (json_int_t)n);
}

void ctl_pods_text(const json_t *verdict, size_t width, char *ret, size_t size)
{
	const json_t *culprit = json_array_get(json_object_get(verdict, "causedBy"), 0);
	char by[384] = "";
	size_t len = 0;

	if (culprit) {
		ctl_show_diagnosis_pod(culprit, by, sizeof(by));
		ctl_cut_pod(by, sizeof(by), width / 2, true);
		len = strlen(", by ") + strlen(by);
	}
	ctl_show_diagnosis_affected_text(verdict, width - len, ret, size);
	len = strlen(ret);
	if (by[0])
		snprintf(ret + len, size - len, "%sby %s", len ? ", " : "", by);
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

/* Seconds between a time of the verdict and the document's; -1 = unknown. */
static int64_t seconds_since(const json_t *verdict, const char *key, const json_t *document)
{
	int64_t then = ctl_age_parse(ctl_show_diagnosis_text_of(verdict, key));
	int64_t now = ctl_age_parse(ctl_show_diagnosis_text_of(document, "time"));

	return then >= 0 && now >= then ? now - then : -1;
}

/* Prints ", since TIME (AGE)" of a verdict of the document, and when it was last seen, if that is
 * at least 10 s ago. */
static void ctl_show_since(const json_t *verdict, const json_t *document, FILE *f)
{
	const char *onset = ctl_show_diagnosis_text_of(verdict, "onset");
	bool before = json_is_true(json_object_get(verdict, "beforeStart"));
	int64_t since = seconds_since(verdict, "onset", document),
		last = seconds_since(verdict, "lastSeen", document);
	char age[AGE_TEXT_SIZE];

	if (ctl_age_parse(onset) < 0)
		return;
	fprintf(f, before ? ", since before rocelet's start at %.19sZ" : ", since %.19sZ", onset);
	if (since >= 0) {
		age_text(since, age);
		fprintf(f, " (%s)", age);
	}
	if (last >= LAST_SEEN_S) {
		age_text(last, age);
		fprintf(f, ", last seen %s ago", age);
	}
}

void ctl_show_trouble_since(const json_t *trouble, const json_t *document, FILE *f)
{
	const char *onset = ctl_show_diagnosis_text_of(trouble, "since");
	int64_t since = seconds_since(trouble, "since", document);
	char age[AGE_TEXT_SIZE];

	if (ctl_age_parse(onset) < 0)
		return;
	fprintf(f, ", since %.19sZ%s", onset,
		json_is_true(json_object_get(trouble, "orEarlier")) ? " or earlier" : "");
	if (since >= 0) {
		age_text(since, age);
		fprintf(f, " (%s)", age);
	}
}

void ctl_show_better(const json_t *diagnosis, const char *cause, const char *onset, FILE *f)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(diagnosis, "verdicts"), i, v) {
		const char *c = ctl_show_diagnosis_text_of(v, "cause"),
			   *since = ctl_show_diagnosis_text_of(v, "onset");
		int64_t last = seconds_since(v, "lastSeen", diagnosis);
		char age[AGE_TEXT_SIZE] = "";

		if (!c || !cause || !since || !onset || strcmp(c, cause) != 0 ||
		    strcmp(since, onset) != 0 ||
		    !ctl_show_diagnosis_number_of(v, "clearingSinceMs"))
			continue;
		if (last >= 0)
			age_text(last, age);
		fprintf(f, ", better now%s%s%s", age[0] ? ", last seen " : "", age,
			age[0] ? " ago" : "");
		return;
	}
}

/* Prints " (mlx5_4, ens1f0v1)". */
static void put_names(const json_t *t, FILE *f)
{
	static const char *const keys[] = {"rdma", "netdev"};
	const char *before = " (";

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!ctl_show_diagnosis_text_of(t, keys[i]))
			continue;
		fputs(before, f);
		ctl_put_text(t, keys[i], f);
		before = ", ";
	}
	fputs(before[0] == ',' ? ")" : "", f);
}

/* Prints an entry of "troubles": a problem of a pod's device without a verdict. */
static void put_trouble(const json_t *t, const json_t *document, FILE *f)
{
	ctl_put_text(t, "severity", f);
	fputs(": ", f);
	ctl_put_text(t, "device", f);
	put_names(t, f);
	fputs(": ", f);
	ctl_put_text(t, "word", f);
	ctl_show_trouble_since(t, document, f);
	fputc('\n', f);
	ctl_show_diagnosis_put_line(t, "", "what", f);
	if (ctl_show_diagnosis_text_of(t, "pod")) {
		fputs("    affected: ", f);
		ctl_put_text(t, "namespace", f);
		fputc('/', f);
		ctl_put_text(t, "pod", f);
		fputc('\n', f);
	}
	ctl_show_diagnosis_put_line(t, "advice: ", "help", f);
	fputc('\n', f);
}

void ctl_show_node_action(const json_t *v, bool knows_pods, FILE *f)
{
	const char *name = ctl_show_diagnosis_text_of(v, "nodeAction");
	bool is_free = knows_pods && json_is_integer(json_object_get(v, "podCount")) &&
		       ctl_show_diagnosis_number_of(v, "podCount") == 0;

	for (int a = 0; name && a < N_NODE_ACTIONS; a++)
		if (strcmp(name, node_action_name((enum node_action)a)) == 0)
			fprintf(f, "    node: %s\n",
				a == NODE_DRAIN && is_free
					? "No pod has this port. Cordon the node, so that no job gets it."
					: node_action_text((enum node_action)a));
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
	ctl_show_node_action(v, json_is_true(json_object_get(document, "knowsPods")), f);
	ctl_show_diagnosis_put_line(v, "advice: ", "advice", f);
	ctl_show_diagnosis_put_line(v, "ruled out if: ", "disproof", f);
	fputs("    more: rocectl explain ", f);
	ctl_put_text(v, "cause", f);
	fputc('\n', f);
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

static void put_no_verdict(const json_t *document, FILE *f)
{
	const json_t *ports = json_object_get(document, "ports");
	size_t judged = count_watched_as(ports, "judged");

	if (json_array_size(ports) == 0)
		fputs("no port is watched\n", f);
	else if (judged == 0 && count_watched_as(ports, "down") == 0)
		fputs("no verdict yet\n", f);
	else if (judged == 0)
		return;
	else if (json_array_size(json_object_get(document, "troubles")) > 0)
		fprintf(f, "no verdict on %zu port%s\n", judged, judged == 1 ? "" : "s");
	else
		fprintf(f, "no problems %s %zu port%s\n",
			ctl_diagnosis_undecided(document) ? "found on" : "on", judged,
			judged == 1 ? "" : "s");
}

/* Prints "BEFORE mlx5_0/1, mlx5_1/1 and 12 more", the ports with this watch; nothing if there are
 * none. */
static void list_watched_as(const json_t *ports, const char *watch, const char *before, FILE *f)
{
	size_t i, all = count_watched_as(ports, watch), n = 0;
	json_t *port;

	json_array_foreach ((json_t *)ports, i, port) {
		if (!is_watched_as(port, watch) || n == NAMED_MAX)
			continue;
		fputs(n++ ? ", " : before, f);
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
		fputs(": the network is not the bottleneck: high traffic and no problems\n", f);
	}
}

/* --- undecided causes ------------------------------------------------------------------------- */

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

/* True if the i-th entry is the first of its cause. */
static bool is_first_of_cause(const json_t *undecided, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (ctl_is_same(json_array_get(undecided, k), json_array_get(undecided, i),
				"cause"))
			return false;
	return true;
}

size_t ctl_diagnosis_undecided(const json_t *document)
{
	const json_t *undecided = json_object_get(document, "undecided");
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(undecided); i++)
		n += is_first_of_cause(undecided, i);
	return n;
}

/* "15 causes cannot be judged: incast, ... and 11 more (why: rocectl diagnose --undecided)" */
static void count_undecided(const json_t *document, FILE *f)
{
	const json_t *undecided = json_object_get(document, "undecided");
	size_t n = ctl_diagnosis_undecided(document), named = 0;

	if (n == 0)
		return;
	fprintf(f, "%zu cause%s cannot be judged: ", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < json_array_size(undecided) && named < NAMED_MAX; i++) {
		if (!is_first_of_cause(undecided, i))
			continue;
		fputs(named++ ? ", " : "", f);
		ctl_put_text(json_array_get(undecided, i), "cause", f);
	}
	if (n > named)
		fprintf(f, " and %zu more", n - named);
	fputs(" (why: rocectl diagnose --undecided)\n", f);
}

static bool ctl_repeats_reason(const json_t *undecided, size_t i)
{
	return any_of(i, k,
		      is_same_reason(json_array_get(undecided, k), json_array_get(undecided, i)));
}

static void list_undecided(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"CANNOT BE DECIDED", "BECAUSE", "PORTS"}, .n_columns = 3};
	const json_t *undecided = json_object_get(document, "undecided");
	json_t *u;
	size_t i;

	json_array_foreach ((json_t *)undecided, i, u) {
		if (ctl_repeats_reason(undecided, i))
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

/* --- levels ----------------------------------------------------------------------------------- */

/* The lists of problems in the document. A fault is in exactly one of them, so their sizes can be
 * added. */
static const char *const problem_lists[] = {"verdicts", "troubles"};

bool ctl_diagnosis_is_pod_port_down(const json_t *port)
{
	return is_watched_as(port, "down") && json_is_true(json_object_get(port, "held"));
}

static int worst_level(const json_t *list, int worst)
{
	json_t *item;
	size_t i;

	json_array_foreach ((json_t *)list, i, item) {
		int level = (int)ctl_show_diagnosis_number_of(item, "level");

		worst = level > worst ? level : worst;
	}
	return worst;
}

int ctl_diagnosis_level(const json_t *document)
{
	int worst = 0;

	for (size_t k = 0; k < ARRAY_SIZE(problem_lists); k++)
		worst = worst_level(json_object_get(document, problem_lists[k]), worst);
	return worst;
}

int ctl_diagnosis_level_with_ended(const json_t *document)
{
	return worst_level(json_object_get(document, "ended"), ctl_diagnosis_level(document));
}

void ctl_problems_text(size_t critical, size_t warnings, char *ret, size_t size)
{
	size_t n = critical + warnings, len;

	snprintf(ret, size, n == 0 ? "no problems" : n == 1 ? "1 problem: " : "%zu problems: ", n);
	len = strlen(ret);
	if (critical)
		snprintf(ret + len, size - len, "%zu critical%s", critical, warnings ? ", " : "");
	len = strlen(ret);
	if (warnings)
		snprintf(ret + len, size - len, "%zu warning%s", warnings,
			 warnings == 1 ? "" : "s");
}

bool ctl_show_worst(const json_t *document, FILE *f)
{
	size_t n[4] = {0}, i;
	json_t *problem;
	char text[96];

	for (size_t k = 0; k < ARRAY_SIZE(problem_lists); k++)
		json_array_foreach (json_object_get(document, problem_lists[k]), i, problem) {
			json_int_t level = ctl_show_diagnosis_number_of(problem, "level");

			n[level < 0 ? 0 : level > 3 ? 3 : level]++;
		}
	if (n[1] + n[2] + n[3] == 0)
		return false;
	ctl_problems_text(n[3], n[2], text, sizeof(text));
	fputs(text, f);
	if (n[1])
		fprintf(f, "; %zu information", n[1]);
	return true;
}

/* --- a cause ---------------------------------------------------------------------------------- */

static void show_causes(const char *before, uint64_t causes, FILE *f)
{
	for (int c = 0; c < N_CAUSES; c++) {
		if (!(causes & CAUSE_BIT(c)))
			continue;
		fprintf(f, "%s%s", before, cause_row((enum cause)c)->name);
		before = ", ";
	}
	fputs(causes ? "\n" : "", f);
}

static void put_series(const char *before, const enum series *list, unsigned n, FILE *f)
{
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "%s%s%s", i ? ", " : before, series_name(list[i]),
			i + 1 == n ? "\n" : "");
}

void ctl_show_cause(const struct cause_row *row, FILE *f)
{
	const struct runbook_text *text = runbook_text(row->name);
	char node[128];

	fprintf(f, "%s: %s\n", row->name, row->sentence);
	fprintf(f, "    severity: at most %s\n", severity_name(row->severity));
	if (text)
		fprintf(f, "    impact: %s\n    confirm: %s\n", text->impact, text->confirm);
	fprintf(f, "    advice: %s\n    ruled out if: %s\n", row->advice, row->disproof);
	cause_node_rule(row, node, sizeof(node));
	fprintf(f, "    node: %s\n", node);
	put_series("    needs: ", row->needs, row->n_needs, f);
	put_series("    reads: ", row->reads, row->n_reads, f);
	show_causes("    its symptoms: ", row->explains | row->explains_vfs, f);
	fprintf(f, "    runbook: http://NODE:9907" CAUSE_FOLDER "%s (" CAUSE_RUNBOOK ")\n",
		row->name);
}

void ctl_show_word(const struct trouble_row *word, FILE *f)
{
	fprintf(f,
		"%s: %s\n    severity: %s\n    advice: %s\n    no verdict of the diagnosis: a trouble of the %s\n",
		word->word, word->sentence, word->severity, word->advice, word->kind);
}

/* --- ended verdicts --------------------------------------------------------------------------- */

static void add_age(struct table *t, int64_t seconds)
{
	char age[AGE_TEXT_SIZE] = "";

	if (seconds >= 0)
		age_text(seconds, age);
	table_add(t, age);
}

/* Adds the first evidence of the verdict at its worst, "0.05 %: sequence NAKs per packet". */
static void add_main(struct table *t, const json_t *verdict)
{
	const json_t *e = json_array_get(json_object_get(verdict, "evidence"), 0);
	const json_t *value = json_object_get(e, "value");
	char number[EVIDENCE_TEXT_SIZE], text[EVIDENCE_TEXT_SIZE + EVIDENCE_NAME_SIZE + 4] = "";

	if (json_is_number(value))
		snprintf(text, sizeof(text), "%s: %s",
			 ctl_show_diagnosis_text_of(e, "word")
				 ?: evidence_value_text(json_number_value(value),
							ctl_show_diagnosis_text_of(e, "unit") ?: "",
							number),
			 ctl_show_diagnosis_text_of(e, "name") ?: "-");
	table_add(t, text);
}

/* How it ended: only "cleared" means that the fault is over. */
static void add_end(struct table *t, const json_t *v)
{
	static const struct {
		const char *as, *text;
	} ends[] = {
		{"gone", "port removed"},
		{"unseen", "counters lost"},
		{"explained", "absorbed by another cause"},
	};
	const char *as = ctl_show_diagnosis_text_of(v, "endedAs");
	const char *by = ctl_show_diagnosis_text_of(v, "explainedBy");
	char text[96];

	for (size_t i = 0; as && i < ARRAY_SIZE(ends); i++)
		if (strcmp(as, ends[i].as) == 0)
			as = ends[i].text;
	if (by) {
		snprintf(text, sizeof(text), "absorbed by %.64s", by);
		as = text;
	}
	table_add(t, as);
}

/* Adds "mlx5_0/1", or the name of a trouble's device. */
static void ctl_add_place(struct table *t, const json_t *problem)
{
	const char *names[] = {"rdma", "netdev", "device"}, *name = NULL;
	char text[160];

	for (size_t i = 0; i < ARRAY_SIZE(names) && !name; i++)
		name = ctl_show_diagnosis_text_of(problem, names[i]);
	if (!json_object_get(problem, "port")) {
		table_add(t, name);
		return;
	}
	snprintf(text, sizeof(text), "%s/%" JSON_INTEGER_FORMAT,
		 ctl_show_diagnosis_text_of(problem, "device") ?: "-",
		 ctl_show_diagnosis_number_of(problem, "port"));
	table_add(t, text);
}

/* Adds a verdict that has ended, or one of which the document has no end: it is open. */
static void add_past(struct table *t, const json_t *v, const json_t *document)
{
	int64_t onset = ctl_age_parse(ctl_show_diagnosis_text_of(v, "onset"));
	int64_t ended = ctl_age_parse(ctl_show_diagnosis_text_of(v, "ended"));
	bool is_open = !json_object_get(v, "endedAs");
	char pods[160];

	if (is_open) {
		table_add(t, "open");
		add_age(t, seconds_since(v, "onset", document));
	} else {
		add_age(t, seconds_since(v, "ended", document));
		add_age(t, onset >= 0 && ended >= onset ? ended - onset : -1);
	}
	table_add(t, ctl_show_diagnosis_text_of(v, "severity"));
	ctl_add_place(t, v);
	table_add(t, ctl_show_diagnosis_text_of(v, "cause"));
	if (is_open)
		table_add(t, "open");
	else
		add_end(t, v);
	add_main(t, v);
	ctl_pods_text(v, ENDED_PODS, pods, sizeof(pods));
	table_add(t, pods);
}

static void add_open_trouble(struct table *t, const json_t *trouble, const json_t *document)
{
	const char *namespace = ctl_show_diagnosis_text_of(trouble, "namespace");
	const char *name = ctl_show_diagnosis_text_of(trouble, "pod");
	char pod[384] = "";

	if (name) {
		snprintf(pod, sizeof(pod), "%s/%s", namespace ?: "-", name);
		ctl_cut_pod(pod, sizeof(pod), ENDED_PODS, true);
	}
	table_add(t, "open");
	add_age(t, seconds_since(trouble, "since", document));
	table_add(t, ctl_show_diagnosis_text_of(trouble, "severity"));
	ctl_add_place(t, trouble);
	table_add(t, ctl_show_diagnosis_text_of(trouble, "word"));
	table_add(t, "open");
	table_add(t, "");
	table_add(t, pod);
}

static void add_open(struct table *t, const json_t *document)
{
	json_t *problem;
	size_t i;

	json_array_foreach (json_object_get(document, "verdicts"), i, problem) {
		add_past(t, problem, document);
	}
	json_array_foreach (json_object_get(document, "troubles"), i, problem) {
		add_open_trouble(t, problem, document);
	}
}

void ctl_count_ended(json_int_t n, FILE *f)
{
	if (n > 0)
		fprintf(f,
			"%" JSON_INTEGER_FORMAT
			" verdict%s ended in the last hour: rocectl diagnose --ended\n",
			n, n == 1 ? "" : "s");
}

bool ctl_diagnosis_remembers(const json_t *document)
{
	return ctl_age_parse(ctl_show_diagnosis_text_of(document, "since")) >=
	       ctl_age_parse(ctl_show_diagnosis_text_of(document, "knownSince"));
}

void ctl_show_ended(const json_t *document, bool of_a_time, FILE *f)
{
	struct table t = {
		.heads = {"ENDED", "LASTED", "SEVERITY", "PORT", "CAUSE", "AS", "AT WORST", "PODS"},
		.n_columns = 8};
	json_t *v;
	size_t i;

	if (of_a_time)
		add_open(&t, document);
	json_array_foreach (json_object_get(document, "ended"), i, v) {
		add_past(&t, v, document);
	}
	if (t.failed)
		fputs("out of memory\n", f);
	else if (t.n_rows == 0 && !of_a_time)
		fputs("no verdict ended in the last hour, or since rocelet's start\n", f);
	else if (t.n_rows == 0 && ctl_diagnosis_remembers(document))
		fputs("no problems at this time\n", f);
	table_print(&t, NULL, f);
	table_done(&t);
}

/* --- the document ----------------------------------------------------------------------------- */

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
		json_array_foreach (json_object_get(document, "troubles"), i, verdict) {
			if (ctl_show_diagnosis_number_of(verdict, "level") == level)
				put_trouble(verdict, document, f);
		}
	}
	if (json_array_size(verdicts) == 0 && json_object_get(document, "ports"))
		put_no_verdict(document, f);
	list_clear(document, f);
	list_watched_as(ports, "warming", "watched for too short a time to be called healthy: ", f);
	list_watched_as(ports, "down", "the link is down: ", f);
	list_watched_as(ports, "unseen", "cannot be read at the moment: ", f);
	if (undecided)
		list_undecided(document, f);
	else
		count_undecided(document, f);
	ctl_count_ended((json_int_t)json_array_size(json_object_get(document, "ended")), f);
}
