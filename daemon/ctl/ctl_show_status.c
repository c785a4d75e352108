// SPDX-License-Identifier: Apache-2.0
#include "ctl_show_status.h"

#include "ctl_age.h"
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

static void put_table(struct table *t, bool colours, FILE *f)
{
	const struct table_style style = {.colours = colours};

	if (t->n_rows > 0)
		fputc('\n', f);
	table_print(t, &style, f);
	table_done(t);
}

static void put_resources(const json_t *document, bool colours, FILE *f)
{
	static const char *const keys[] = {"name", "devices", "healthy", "allocated",
					   "registration"};
	struct table t = {.heads = {"RESOURCE", "TOTAL", "HEALTHY", "ALLOCATED", "REGISTERED"},
			  .n_columns = 5};
	json_t *resource;
	size_t i;

	json_array_foreach (ctl_show_member(document, "resources"), i, resource)
		for (size_t k = 0; k < t.n_columns; k++)
			add_path(&t, resource, keys[k]);
	put_table(&t, colours, f);
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
	add_path(t, verdict, "pods.name");
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
	put_table(&t, colours, f);
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

static void ctl_show_put_state(const json_t *document, bool colours, FILE *f)
{
	bool ready = json_is_true(ctl_show_member(document, "ready"));
	bool well = json_is_true(ctl_show_member(document, "well"));
	const char *colour = well ? "\033[32m" : "\033[31m";

	ctl_show_put_identity(document, f);
	fprintf(f, "rocelet     %s%s%s\n", colours ? colour : "",
		well	? "all is well"
		: ready ? "ready, but not all is well"
			: "not ready",
		colours ? "\033[m" : "");
}

void ctl_show_status(const json_t *document, bool colours, FILE *f)
{
	ctl_show_put_state(document, colours, f);
	put_remarks(document, f);
	fputs("devices     ", f);
	put_counts(ctl_show_member(document, "devices"), "none", f);
	fputs("pods        ", f);
	ctl_show_put_pods(document, f);
	fputs("ports       ", f);
	put_counts(ctl_show_member(document, "ports"), "none is watched", f);
	put_resources(document, colours, f);
	put_verdicts(document, colours, f);
	put_findings(document, f);
}
