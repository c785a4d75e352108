// SPDX-License-Identifier: Apache-2.0
#include "ctl_show.h"

#include <stdbool.h>

#include "cleanup.h"
#include "ctl_show_diagnosis.h"
#include "ctl_table.h"
#include "listing.h"

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

/* " (mlx5_4,ens1f0v1)": values at these paths; nothing if there are none. */
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

/* "; VF 0 of 0000:03:00.0 (ens1np0)" */
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

/* "; critical: packet_loss, since 2026-01-02T03:04:05Z (31s)" */
static void ctl_show_put_verdicts(const json_t *diagnosis, FILE *f)
{
	json_t *verdict, *port;
	size_t i;

	json_array_foreach (json_object_get(diagnosis, "verdicts"), i, verdict) {
		fputs("; ", f);
		ctl_show_put_text(verdict, "severity", f);
		fputs(": ", f);
		ctl_show_put_text(verdict, "cause", f);
		ctl_show_since(verdict, diagnosis, f);
	}
	json_array_foreach (json_object_get(diagnosis, "ports"), i, port) {
		if (ctl_diagnosis_is_lost(port))
			fputs("; the link is down", f);
	}
}

void ctl_show_explain(const json_t *document, const json_t *devices, const json_t *diagnosis,
		      FILE *f)
{
	static const char *const names[] = {"rdma.name|attachment.rdma",
					    "attachment.name|netdevs.name"};
	const json_t *device = ctl_show_device_of(devices, json_object_get(document, "device"));

	ctl_show_put_text(document, "device", f);
	ctl_show_put_names(device, names, ARRAY_SIZE(names), f);
	fputs(": ", f);
	ctl_show_put_text(document, "why", f);
	ctl_show_put_parent(device, devices, f);
	ctl_show_put_verdicts(diagnosis, f);
	fputc('\n', f);
}

/* --- doctor ----------------------------------------------------------------------------------- */

/* Findings with the same kind and help are shown as one problem with several objects. */
static bool is_same_problem(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "kind"), json_object_get(b, "kind")) &&
	       json_equal(json_object_get(a, "help"), json_object_get(b, "help"));
}

static bool is_shown_before(const json_t *findings, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_same_problem(json_array_get(findings, k), json_array_get(findings, i)))
			return true;
	return false;
}

static size_t count_same(const json_t *findings, size_t i)
{
	size_t n = 0;

	for (size_t k = i; k < json_array_size(findings); k++)
		n += is_same_problem(json_array_get(findings, i), json_array_get(findings, k));
	return n;
}

/* "0000:03:00.4 (pod train/a-0): is being returned" */
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

/* A problem with all its objects. */
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
		      ? "\n    `rocectl doctor --fix` works on it.\n"
		      : "\n",
	      f);
}

void ctl_show_doctor(const json_t *document, const json_t *diagnosis, FILE *f)
{
	const json_t *findings = json_object_get(document, "findings");

	if (json_array_size(findings) == 0) {
		fputs("nothing is wrong with rocelet itself", f);
		if (ctl_diagnosis_level(diagnosis) >= CTL_LEVEL_WARNING) {
			fputs("; network: ", f);
			ctl_show_worst(diagnosis, f);
			fputs(": rocectl diagnose", f);
		}
		fputc('\n', f);
	}
	for (size_t i = 0; i < json_array_size(findings); i++)
		if (!is_shown_before(findings, i))
			show_problem(findings, i, f);
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
	fputs(" is back in the host, and clean\n", f);
}
