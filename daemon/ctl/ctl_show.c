// SPDX-License-Identifier: Apache-2.0
#include "ctl_show.h"

#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "ctl_age.h"
#include "ctl_show_diagnosis.h"
#include "ctl_table.h"
#include "explain_document.h"
#include "listing.h"
#include "listings.h"
#include "search.h"

/* How long before a verdict's onset a change may have caused it, as on the page. */
#define BEFORE_S 120

static const char *ctl_show_text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void ctl_show_put_text(const json_t *object, const char *key, FILE *f)
{
	const char *text = ctl_show_text_of(object, key);

	table_put(text ? text : "-", f);
}

/* --- explain ---------------------------------------------------------------------------------- */

static const json_t *ctl_show_device_of(const json_t *devices, const json_t *id)
{
	json_t *device;
	size_t i;

	json_array_foreach (json_object_get(devices, "devices"), i, device) {
		if (id && json_equal(json_object_get(device, "id"), id))
			return device;
	}
	return NULL;
}

/* Prints " (mlx5_4, ens1f0v1)", the values at these paths; nothing if there are none. */
static void ctl_show_put_names(const json_t *device, const char *const *paths, size_t n, FILE *f)
{
	const char *before = " (";

	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *name = listing_text(device, paths[i]);

		if (!name)
			continue;
		fputs(before, f);
		table_put(name, f);
		before = ", ";
	}
	fputs(before[0] == ',' ? ")" : "", f);
}

/* Prints "; VF 0 of 0000:03:00.0 (ens1np0)". */
static void ctl_show_put_parent(const json_t *device, const json_t *devices, FILE *f)
{
	static const char *const netdev[] = {"netdevs.name"};
	const json_t *parent = json_object_get(device, "parent"),
		     *vf = json_object_get(device, "vf");

	if (!json_is_string(parent))
		return;
	fputs("; ", f);
	if (json_is_integer(vf))
		fprintf(f, "VF %" JSON_INTEGER_FORMAT, json_integer_value(vf));
	else
		ctl_show_put_text(device, "kind", f);
	fputs(" of ", f);
	table_put(json_string_value(parent), f);
	ctl_show_put_names(ctl_show_device_of(devices, parent), netdev, 1, f);
}

/* Prints "; critical: packet_loss of its PF, since 2026-01-02T03:04:05Z (31s)" for a verdict, or
 * for a link that is down. The document's "why" contains the other troubles. */
static void ctl_show_put_trouble(const json_t *trouble, const json_t *ports,
				 const json_t *diagnosis, FILE *f)
{
	const char *kind = ctl_show_text_of(trouble, "kind");

	if (!kind || (strcmp(kind, "verdict") != 0 && strcmp(kind, "link") != 0))
		return;
	fputs("; ", f);
	ctl_show_put_text(trouble, "severity", f);
	fputs(": ", f);
	ctl_show_put_text(trouble, "word", f);
	if (json_is_true(json_object_get(trouble, "ofPf")))
		fputs(" of its PF", f);
	ctl_show_trouble_since(trouble, ports, f);
	ctl_show_better(diagnosis, ctl_show_text_of(trouble, "word"),
			ctl_show_text_of(trouble, "since"), f);
}

static void ctl_show_put_ports(const json_t *ports, const json_t *diagnosis, FILE *f)
{
	json_t *port, *trouble;
	size_t i, k;

	json_array_foreach (json_object_get(ports, "ports"), i, port) {
		json_array_foreach (json_object_get(port, "troubles"), k, trouble) {
			ctl_show_put_trouble(trouble, ports, diagnosis, f);
		}
	}
}

void ctl_show_explain(const json_t *document, const json_t *devices, const json_t *ports,
		      const json_t *diagnosis, FILE *f)
{
	static const char *const names[] = {"rdma.name|attachment.rdma",
					    "attachment.name|netdevs.name"};
	const json_t *device = ctl_show_device_of(devices, json_object_get(document, "device"));

	ctl_show_put_text(document, "device", f);
	ctl_show_put_names(device, names, ARRAY_SIZE(names), f);
	fputs(": ", f);
	ctl_show_put_text(document, "why", f);
	ctl_show_put_parent(device, devices, f);
	ctl_show_put_ports(ports, diagnosis, f);
	fputc('\n', f);
}

/* True if the event happened shortly before the moment. Verdicts are no changes. */
static bool is_shortly_before(const json_t *event, int64_t onset)
{
	const char *reason = ctl_show_text_of(event, "reason");
	int64_t last = ctl_age_parse(ctl_show_text_of(event, "last"));

	return reason && strncmp(reason, "Diagnosis", strlen("Diagnosis")) != 0 && last >= 0 &&
	       last <= onset + 1 && last >= onset - BEFORE_S;
}

void ctl_show_first_step(const json_t *document, const json_t *events, FILE *f)
{
	const json_t *worst = explain_worst(document);
	const char *since = ctl_show_text_of(worst, "onset") ?: ctl_show_text_of(worst, "since");
	int64_t onset = ctl_age_parse(since);
	json_t *event;
	size_t i;

	ctl_show_node_action(explain_strictest(document),
			     json_is_array(json_object_get(document, "pods")), f);
	if (ctl_show_text_of(document, "advice")) {
		fputs("    advice: ", f);
		ctl_show_put_text(document, "advice", f);
		fputc('\n', f);
	}
	json_array_foreach (json_object_get(events, "events"), i, event) {
		if (onset < 0 || !is_shortly_before(event, onset))
			continue;
		fputs("    shortly before: ", f);
		listing_show_event(event, f);
	}
}

void ctl_show_network(const json_t *pod, FILE *f)
{
	const json_t *network = json_object_get(pod, "network");

	if (!ctl_show_text_of(network, "why"))
		return;
	fputs("is it the network? ", f);
	ctl_show_put_text(network, "why", f);
	fputc('\n', f);
}

/* --- doctor ----------------------------------------------------------------------------------- */

static bool is_of_host(const json_t *finding)
{
	const char *about = ctl_show_text_of(finding, "about");

	return about && strcmp(about, "host") == 0;
}

size_t ctl_show_own_findings(const json_t *findings)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(findings); i++)
		n += !is_of_host(json_array_get(findings, i));
	return n;
}

/* Findings with the same kind and help are shown as one problem with several objects. */
static bool is_same_problem(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "kind"), json_object_get(b, "kind")) &&
	       json_equal(json_object_get(a, "help"), json_object_get(b, "help"));
}

static bool is_shown_before(const json_t *findings, size_t i)
{
	return any_of(i, k,
		      is_same_problem(json_array_get(findings, k), json_array_get(findings, i)));
}

static size_t count_same(const json_t *findings, size_t i)
{
	size_t n = 0;

	for (size_t k = i; k < json_array_size(findings); k++)
		n += is_same_problem(json_array_get(findings, i), json_array_get(findings, k));
	return n;
}

/* Prints "0000:03:00.4 (pod train/a-0): is being returned". */
static void show_object(const json_t *finding, FILE *f)
{
	const char *pod = ctl_show_text_of(finding, "pod");

	if (ctl_show_text_of(finding, "object")) {
		ctl_show_put_text(finding, "object", f);
		if (pod) {
			fputs(" (pod ", f);
			ctl_show_put_text(finding, "namespace", f);
			fputc('/', f);
			table_put(pod, f);
			fputc(')', f);
		}
		fputs(": ", f);
	}
	ctl_show_put_text(finding, "what", f);
	fputc('\n', f);
}

/* Prints a problem with all its objects. */
static void show_problem(const json_t *findings, size_t i, FILE *f)
{
	const json_t *first = json_array_get(findings, i);
	size_t n = count_same(findings, i);

	ctl_show_put_text(first, "kind", f);
	if (n > 1)
		fprintf(f, " (%zu)", n);
	fputs(n > 1 ? ":\n" : ": ", f);
	for (size_t k = i; k < json_array_size(findings); k++) {
		const json_t *finding = json_array_get(findings, k);

		if (!is_same_problem(first, finding))
			continue;
		fputs(n > 1 ? "  " : "", f);
		show_object(finding, f);
	}
	fputs("    ", f);
	ctl_show_put_text(first, "help", f);
	fputs(json_is_true(json_object_get(first, "fixable"))
		      ? "\n    `rocectl doctor --fix` retries or repairs this.\n"
		      : "\n",
	      f);
}

static void show_problems(const json_t *findings, bool of_host, FILE *f)
{
	for (size_t i = 0; i < json_array_size(findings); i++)
		if (is_of_host(json_array_get(findings, i)) == of_host &&
		    !is_shown_before(findings, i))
			show_problem(findings, i, f);
}

void ctl_show_doctor(const json_t *document, const json_t *diagnosis, FILE *f)
{
	const json_t *findings = json_object_get(document, "findings");
	size_t own = ctl_show_own_findings(findings);
	bool some = json_array_size(json_object_get(document, "unchecked")) > 0;
	json_t *what;
	size_t k;

	if (own == 0) {
		fprintf(f, "no problems found in rocelet itself%s",
			some ? ", but some checks did not run" : "");
		if (ctl_diagnosis_level(diagnosis) >= CTL_LEVEL_WARNING) {
			fputs("; network: ", f);
			ctl_show_worst(diagnosis, f);
			fputs(": rocectl diagnose", f);
		}
		fputc('\n', f);
	}
	show_problems(findings, false, f);
	json_array_foreach (json_object_get(document, "unchecked"), k, what) {
		fputs("not checked: ", f);
		table_put(json_string_value(what), f);
		fputc('\n', f);
	}
	if (own < json_array_size(findings))
		fputs("\nthis host:\n", f);
	show_problems(findings, true, f);
}

/* --- attach and detach ------------------------------------------------------------------------ */

void ctl_show_attached(const json_t *document, FILE *f)
{
	const json_t *a = json_object_get(document, "attachment");

	ctl_show_put_text(document, "device", f);
	fputs(" is attached", f);
	if (ctl_show_text_of(a, "interface")) {
		fputs(" as ", f);
		ctl_show_put_text(a, "interface", f);
	}
	fputc('\n', f);
}

void ctl_show_detached(const json_t *document, FILE *f)
{
	ctl_show_put_text(document, "device", f);
	fputs(" was returned to the host namespace and verified clean\n", f);
}
