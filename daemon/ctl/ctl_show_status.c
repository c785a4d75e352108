// SPDX-License-Identifier: Apache-2.0
#include "ctl_show_status.h"

#include <stdlib.h>
#include <string.h>

#include "ctl_age.h"
#include "ctl_merge.h"
#include "ctl_show_diagnosis.h"
#include "ctl_table.h"
#include "listing.h"

/* At most this many entries of each kind are listed; the others are counted. */
#define TOLD_MAX 8

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
		fprintf(f, "%" JSON_INTEGER_FORMAT " with devices; ", json_integer_value(n));
	else
		fputs("-; ", f);
	fputs("interfaces: ", f);
	put_counts(ctl_show_member(document, "attachments"), "none", f);
}

static void put_more(size_t n, const char *where, FILE *f)
{
	if (n > TOLD_MAX)
		fprintf(f, "and %zu more: %s\n", n - TOLD_MAX, where);
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

/* "train/llm-0,train/llm-1"; "caused by train/llm-1" */
static void ctl_show_status_add_pods(struct table *t, const json_t *verdict)
{
	const char *role = json_string_value(ctl_show_member(verdict, "role"));
	const char *before = role && strcmp(role, "cause") == 0 ? "caused by " : "";
	char *text = NULL;
	size_t len, i;
	FILE *f = open_memstream(&text, &len);
	json_t *pod;

	json_array_foreach (ctl_show_member(verdict, "pods"), i, pod) {
		if (f)
			fprintf(f, "%s%s/%s", i ? "," : before,
				json_string_value(ctl_show_member(pod, "namespace")) ?: "-",
				json_string_value(ctl_show_member(pod, "name")) ?: "-");
	}
	if (f)
		fclose(f);
	table_add(t, text);
	free(text);
}

static void ctl_show_add_verdict(struct table *t, const json_t *verdict)
{
	char port[160];

	snprintf(port, sizeof(port), "%s/%" JSON_INTEGER_FORMAT,
		 json_string_value(ctl_show_member(verdict, "device")) ?: "-",
		 json_integer_value(ctl_show_member(verdict, "port")));
	table_add(t, json_string_value(ctl_show_member(verdict, "severity")));
	table_add(t, port);
	add_path(t, verdict, "cause");
	ctl_show_status_add_pods(t, verdict);
	add_path(t, verdict, "sentence");
}

static void put_verdicts(const json_t *document, bool colours, FILE *f)
{
	struct table t = {.heads = {"SEVERITY", "PORT", "CAUSE", "PODS", "WHAT"}, .n_columns = 5};
	const json_t *verdicts = ctl_show_member(document, "verdicts");
	json_t *verdict;
	size_t i;

	for (json_int_t level = 3; level > 0; level--) {
		json_array_foreach ((json_t *)verdicts, i, verdict) {
			if (json_integer_value(ctl_show_member(verdict, "level")) == level &&
			    t.n_rows < TOLD_MAX)
				ctl_show_add_verdict(&t, verdict);
		}
	}
	put_table(&t, 0, colours, f);
	put_more(json_array_size(verdicts), "rocectl diagnose", f);
}

static void put_findings(const json_t *document, FILE *f)
{
	const json_t *findings = ctl_show_member(document, "findings");
	json_t *finding;
	size_t i;

	if (json_array_size(findings) > 0)
		fputc('\n', f);
	json_array_foreach ((json_t *)findings, i, finding) {
		if (i >= TOLD_MAX)
			break;
		ctl_show_status_put_text(finding, "kind", f);
		fputs(": ", f);
		if (json_is_string(ctl_show_member(finding, "object"))) {
			ctl_show_status_put_text(finding, "object", f);
			fputs(": ", f);
		}
		ctl_show_status_put_text(finding, "what", f);
		fputc('\n', f);
	}
	put_more(json_array_size(findings), "rocectl doctor", f);
}

/* "node        node-17; rocelet 1.2.0, up 4d3h" */
static void ctl_show_put_identity(const json_t *document, FILE *f)
{
	const json_t *up = ctl_show_member(document, "upSeconds");
	char age[AGE_TEXT_SIZE];

	fputs("node        ", f);
	ctl_show_status_put_text(document, "node", f);
	fputs("; rocelet ", f);
	ctl_show_status_put_text(document, "version", f);
	if (json_is_integer(up)) {
		ctl_age_text(json_integer_value(up), age);
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

/* "rocelet     ready, no findings": the agent. */
static void ctl_show_put_agent(const json_t *document, bool colours, FILE *f)
{
	bool ready = json_is_true(ctl_show_member(document, "ready"));
	const json_t *findings = ctl_show_member(document, "findings");
	size_t n = json_array_size(findings), bad = count_bad_resources(document);
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
	if (bad > 0)
		fprintf(f, ", %zu resource%s unhealthy or not registered", bad,
			bad == 1 ? "" : "s");
	fputs(colours ? "\033[m\n" : "\n", f);
}

/* "network     1 critical, 1 warning": the verdicts. */
static void ctl_show_put_network(const json_t *document, bool colours, FILE *f)
{
	static const char *const shades[] = {"\033[32m", "\033[32m", "\033[33m", "\033[31m"};
	json_t *told = json_pack("{sO* sO*}", "verdicts", ctl_show_member(document, "verdicts"),
				 "ports", ctl_show_member(document, "podPortsDown"));
	const json_t *judged = ctl_show_member(ctl_show_member(document, "ports"), "judged");
	int level = ctl_diagnosis_level(told);
	bool known = level > 0 || json_integer_value(judged) > 0;

	fprintf(f, "network     %s", colours && known ? shades[level < 3 ? level : 3] : "");
	if (!ctl_show_worst(told, f))
		fputs(known ? "no verdicts" : "no verdict yet", f);
	fputs(colours && known ? "\033[m\n" : "\n", f);
	json_decref(told);
}

void ctl_show_status(const json_t *document, bool colours, FILE *f)
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
	put_verdicts(document, colours, f);
	ctl_show_down(ctl_show_member(document, "podPortsDown"), f);
	put_findings(document, f);
}
