// SPDX-License-Identifier: Apache-2.0
#include "ctl_show_status.h"

#include <stdlib.h>
#include <string.h>

#include "ctl_age.h"
#include "ctl_cut.h"
#include "ctl_merge.h"
#include "ctl_show.h"
#include "ctl_show_diagnosis.h"
#include "ctl_table.h"
#include "listing.h"

/* At most this many entries of each kind are listed; the others are counted. */
#define LISTED_MAX 8
/* Width of the column of pods. */
#define PODS_WIDTH 56

static const json_t *ctl_show_member(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static void ctl_show_status_put_text(const json_t *object, const char *key, FILE *f)
{
	const char *text = json_string_value(ctl_show_member(object, key));

	table_put(text ? text : "-", f);
}

/* "8 pf, 128 vf"; "-" if unknown, `nothing` if there are none. */
static void put_counts(const json_t *counts, const char *nothing, FILE *f)
{
	const char *word, *before = "";
	json_t *n;

	if (!json_is_object(counts))
		nothing = "-";
	json_object_foreach ((json_t *)counts, word, n) {
		fprintf(f, "%s%" JSON_INTEGER_FORMAT " ", before, json_integer_value(n));
		table_put(word, f);
		before = ", ";
	}
	fputs(*before ? "" : nothing, f);
	fputc('\n', f);
}

static void ctl_show_put_pods(const json_t *document, FILE *f)
{
	const json_t *n = ctl_show_member(document, "pods");

	if (json_is_integer(n))
		fprintf(f, "%" JSON_INTEGER_FORMAT " with devices", json_integer_value(n));
	else
		fputs("unknown", f);
	if (json_integer_value(ctl_show_member(document, "podsInTrouble")) > 0)
		fprintf(f, ", %" JSON_INTEGER_FORMAT " in trouble (rocectl pods)",
			json_integer_value(ctl_show_member(document, "podsInTrouble")));
	fputs("; interfaces: ", f);
	put_counts(ctl_show_member(document, "attachments"), "none", f);
}

static void put_more(size_t n, const char *where, FILE *f)
{
	if (n > LISTED_MAX)
		fprintf(f, "and %zu more: %s\n", n - LISTED_MAX, where);
}

static void put_remarks(const json_t *document, FILE *f)
{
	json_t *remark;
	size_t i;

	json_array_foreach (ctl_show_member(document, "remarks"), i, remark) {
		fputs("            ", f);
		table_put(json_string_value(remark), f);
		fputc('\n', f);
	}
}

static void add_path(struct table *t, const json_t *object, const char *path)
{
	char *text = listing_text(object, path);

	table_add(t, text);
	free(text);
}

/* zeros: columns in which 0 is a warning, one bit each. */
static void put_table(struct table *t, unsigned zeros, bool colours, FILE *f)
{
	const struct table_style style = {.colours = colours, .zeros = zeros};

	if (t->n_rows > 0)
		fputc('\n', f);
	table_print(t, &style, f);
	table_done(t);
}

static void put_resources(const json_t *document, bool colours, FILE *f)
{
	enum { FREE_COLUMN = 4 };
	static const char *const keys[] = {"name",	"devices", "healthy",
					   "allocated", "free",	   "registration"};
	struct table t = {
		.heads = {"RESOURCE", "TOTAL", "HEALTHY", "ALLOCATED", "FREE", "REGISTERED"},
		.n_columns = 6};
	json_t *resource;
	size_t i;

	json_array_foreach (ctl_show_member(document, "resources"), i, resource)
		for (size_t k = 0; k < t.n_columns; k++)
			add_path(&t, resource, keys[k]);
	put_table(&t, 1u << FREE_COLUMN, colours, f);
}

/* "train/llm-0, train/llm-1 and 3 more"; "caused by train/llm-1" */
static void ctl_show_status_add_pods(struct table *t, const json_t *verdict)
{
	const char *role = json_string_value(ctl_show_member(verdict, "role"));
	bool cause = role && strcmp(role, "cause") == 0;
	char pods[160], text[200];

	ctl_pods_text(verdict, cause ? PODS_WIDTH - 10 : PODS_WIDTH, pods, sizeof(pods));
	snprintf(text, sizeof(text), "%s%s", pods[0] && cause ? "caused by " : "", pods);
	table_add(t, text);
}

/* "5m"; ">5m": earlier than that, too */
static void add_for(struct table *t, const char *since, bool or_earlier, int64_t now)
{
	int64_t onset = ctl_age_parse(since);
	char age[AGE_TEXT_SIZE] = "", text[AGE_TEXT_SIZE + 2] = "";

	if (onset >= 0 && now >= onset) {
		age_text(now - onset, age);
		snprintf(text, sizeof(text), "%s%s", or_earlier ? ">" : "", age);
	}
	table_add(t, text);
}

static void ctl_show_add_verdict(struct table *t, const json_t *verdict, int64_t now)
{
	char port[160];

	snprintf(port, sizeof(port), "%s/%" JSON_INTEGER_FORMAT,
		 json_string_value(ctl_show_member(verdict, "device")) ?: "-",
		 json_integer_value(ctl_show_member(verdict, "port")));
	table_add(t, json_string_value(ctl_show_member(verdict, "severity")));
	add_for(t, json_string_value(ctl_show_member(verdict, "onset")),
		json_is_true(ctl_show_member(verdict, "beforeStart")), now);
	table_add(t, port);
	add_path(t, verdict, "cause");
	ctl_show_status_add_pods(t, verdict);
	add_path(t, verdict, "sentence");
}

/* Adds a problem of a pod's device without a verdict. */
static void add_trouble(struct table *t, const json_t *trouble, int64_t now)
{
	const char *namespace = json_string_value(ctl_show_member(trouble, "namespace"));
	const char *name = json_string_value(ctl_show_member(trouble, "pod"));
	char pod[384] = "";

	if (name) {
		snprintf(pod, sizeof(pod), "%s/%s", namespace ?: "-", name);
		ctl_cut_pod(pod, sizeof(pod), PODS_WIDTH, true);
	}
	table_add(t, json_string_value(ctl_show_member(trouble, "severity")));
	add_for(t, json_string_value(ctl_show_member(trouble, "since")),
		json_is_true(ctl_show_member(trouble, "orEarlier")), now);
	add_path(t, trouble, "rdma|netdev|device");
	add_path(t, trouble, "word");
	table_add(t, pod);
	add_path(t, trouble, "what");
}

typedef void add_problem_fn(struct table *, const json_t *problem, int64_t now);

static void add_problems(struct table *t, const json_t *list, json_int_t level, add_problem_fn *add,
			 int64_t now)
{
	json_t *problem;
	size_t i;

	json_array_foreach ((json_t *)list, i, problem) {
		if (json_integer_value(ctl_show_member(problem, "level")) == level &&
		    t->n_rows < LISTED_MAX)
			add(t, problem, now);
	}
}

/* Prints the table of the problems that ctl_show_worst() counts; without `wide` it fits 120
 * columns. */
static void put_problems(const json_t *document, bool wide, bool colours, FILE *f)
{
	enum { WHAT_COLUMN = 5 };
	struct table t = {.heads = {"SEVERITY", "FOR", "PORT", "CAUSE", "PODS", "WHAT"},
			  .n_columns = 6};
	const struct table_style style = {.colours = colours,
					  .hidden = wide ? 0 : 1u << WHAT_COLUMN};
	const json_t *verdicts = ctl_show_member(document, "verdicts");
	const json_t *troubles = ctl_show_member(document, "troubles");
	int64_t now = ctl_age_parse(json_string_value(ctl_show_member(document, "time")));

	for (json_int_t level = 3; level > 0; level--) {
		add_problems(&t, verdicts, level, ctl_show_add_verdict, now);
		add_problems(&t, troubles, level, add_trouble, now);
	}
	if (t.n_rows > 0)
		fputc('\n', f);
	table_print(&t, &style, f);
	table_done(&t);
	put_more(json_array_size(verdicts) + json_array_size(troubles), "rocectl diagnose", f);
}

static void put_findings(const json_t *document, FILE *f)
{
	const json_t *findings = ctl_show_member(document, "findings");
	json_t *finding;
	size_t i;

	if (json_array_size(findings) > 0)
		fputc('\n', f);
	json_array_foreach ((json_t *)findings, i, finding) {
		if (i >= LISTED_MAX)
			break;
		ctl_show_status_put_text(finding, "kind", f);
		fputs(": ", f);
		if (json_is_string(ctl_show_member(finding, "object"))) {
			ctl_show_status_put_text(finding, "object", f);
			if (json_is_string(ctl_show_member(finding, "pod"))) {
				fputs(" (pod ", f);
				ctl_show_status_put_text(finding, "namespace", f);
				fputc('/', f);
				ctl_show_status_put_text(finding, "pod", f);
				fputc(')', f);
			}
			fputs(": ", f);
		}
		ctl_show_status_put_text(finding, "what", f);
		fputc('\n', f);
	}
	put_more(json_array_size(findings), "rocectl doctor", f);
}

/* Prints "node        node-17; rocelet 1.2.0, up 4d3h". */
static void ctl_show_put_identity(const json_t *document, FILE *f)
{
	const json_t *up = ctl_show_member(document, "upSeconds");
	char age[AGE_TEXT_SIZE];

	fputs("node        ", f);
	ctl_show_status_put_text(document, "node", f);
	fputs("; rocelet ", f);
	ctl_show_status_put_text(document, "version", f);
	if (json_is_integer(up)) {
		age_text(json_integer_value(up), age);
		fprintf(f, ", up %s", age);
	}
	fputc('\n', f);
}

static size_t count_bad_resources(const json_t *document)
{
	json_t *resource;
	size_t i, n = 0;

	json_array_foreach (ctl_show_member(document, "resources"), i, resource) {
		n += ctl_is_bad_resource(resource);
	}
	return n;
}

/* Prints the state of the agent: "rocelet     ready, no findings". */
static void ctl_show_put_agent(const json_t *document, bool colours, FILE *f)
{
	bool ready = json_is_true(ctl_show_member(document, "ready"));
	const json_t *findings = ctl_show_member(document, "findings");
	size_t n = ctl_show_own_findings(findings), all = json_array_size(findings);
	size_t bad = count_bad_resources(document);
	bool good = ready && n == 0 && bad == 0 && json_is_array(findings);

	fprintf(f, "rocelet     %s%s",
		!colours ? ""
		: good	 ? "\033[32m"
			 : "\033[31m",
		ready ? "ready, " : "not ready, ");
	if (!json_is_array(findings))
		fputs("findings not known", f);
	else if (n == 0)
		fputs("no findings", f);
	else
		fprintf(f, "%zu finding%s", n, n == 1 ? "" : "s");
	if (all > n)
		fprintf(f, ", %zu about this host", all - n);
	if (bad > 0)
		fprintf(f, ", %zu resource%s unhealthy or not registered", bad,
			bad == 1 ? "" : "s");
	fputs(colours ? "\033[m\n" : "\n", f);
}

/* Prints the number of problems, verdicts and other troubles: "network     2 problems: 1 critical,
 * 1 warning". */
static void ctl_show_put_network(const json_t *document, bool colours, FILE *f)
{
	static const char *const shades[] = {"\033[32m", "\033[32m", "\033[33m", "\033[31m"};
	const json_t *judged = ctl_show_member(ctl_show_member(document, "ports"), "judged");
	int level = ctl_diagnosis_level(document);
	bool known = level > 0 || json_integer_value(judged) > 0;
	size_t n = (size_t)json_integer_value(ctl_show_member(document, "undecidedCauses"));

	fprintf(f, "network     %s", colours && known ? shades[level < 3 ? level : 3] : "");
	if (!ctl_show_worst(document, f) && !known)
		fputs("no verdict yet", f);
	else if (level == 0)
		fputs(n > 0 ? "no problems found" : "no problems", f);
	fputs(colours && known ? "\033[m" : "", f);
	if (n > 0 && known)
		fprintf(f, "; %zu cause%s cannot be judged", n, n == 1 ? "" : "s");
	fputc('\n', f);
}

void ctl_show_status(const json_t *document, bool wide, bool colours, FILE *f)
{
	ctl_show_put_identity(document, f);
	ctl_show_put_agent(document, colours, f);
	put_remarks(document, f);
	ctl_show_put_network(document, colours, f);
	fputs("devices     ", f);
	put_counts(ctl_show_member(document, "devices"), "none", f);
	fputs("pods        ", f);
	ctl_show_put_pods(document, f);
	fputs("ports       ", f);
	put_counts(ctl_show_member(document, "ports"), "none is watched", f);
	put_resources(document, colours, f);
	put_problems(document, wide, colours, f);
	put_findings(document, f);
	ctl_count_ended(json_integer_value(ctl_show_member(document, "ended")), f);
}
