// SPDX-License-Identifier: Apache-2.0
#include "ctl_diagnosis.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cleanup.h"
#include "ctl_age.h"
#include "ctl_document.h"
#include "ctl_known.h"
#include "ctl_merge.h"
#include "ctl_show.h"
#include "ctl_show_diagnosis.h"
#include "ctl_table.h"
#include "listings.h"
#include "search.h"
#include "top_view.h"

enum ctl_exit ctl_diagnosis_exit(int level)
{
	return level >= 3 ? CTL_CRITICAL : level == CTL_LEVEL_WARNING ? CTL_WARNING : CTL_OK;
}

/* Number of a pod's events that are printed. */
#define POD_EVENTS 5
/* On a terminal with fewer columns, leave wrapping to the terminal. */
#define NARROWEST  40

/* Width of the terminal; 0: do not wrap. */
static size_t wrap_width(FILE *f)
{
	struct winsize size;
	int fd = fileno(f);

	if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < NARROWEST)
		return 0;
	return size.ws_col;
}

/* Prints the diagnosis, with the pod of each port; the document has no pods of ports. */
static void show_with_pods(const struct ctl *c, json_t *document)
{
	AUTO_FREE char *text = NULL;
	size_t len, width = wrap_width(c->out);
	bool no_daemon = false;
	json_auto_t *ports = question_ask_quietly(c, "/api/v1/ports", &no_daemon);
	json_auto_t *pods = question_ask_quietly(c, "/api/v1/pods", &no_daemon);
	FILE *f = open_memstream(&text, &len);

	ctl_name_pods(document, ports, pods);
	/* With --undecided the text contains a table, which is not wrapped. */
	if (width == 0 || !f || c->args->undecided) {
		ctl_show_diagnosis(document, c->args->undecided, c->out);
	} else {
		ctl_show_diagnosis(document, c->args->undecided, f);
		fflush(f);
		top_wrap(text, width, c->out);
	}
	if (f)
		fclose(f);
}

/* True if the troubles of the diagnosis do not include this finding of doctor. */
static bool is_other_finding(const json_t *finding)
{
	static const char *const repeated[] = {"unhealthy", "dirty", "drift"};
	const char *kind = json_string_value(json_object_get(finding, "kind"));

	return !kind || !any_of(ARRAY_SIZE(repeated), i, strcmp(kind, repeated[i]) == 0);
}

static void show_findings(const json_t *findings, FILE *f)
{
	json_t *finding;
	size_t i;

	json_array_foreach ((json_t *)findings, i, finding) {
		const char *kind = json_string_value(json_object_get(finding, "kind"));
		const char *what = json_string_value(json_object_get(finding, "what"));

		if (!is_other_finding(finding))
			continue;
		fputs("doctor: ", f);
		table_put(kind ? kind : "-", f);
		fputs(": ", f);
		table_put(what ? what : "-", f);
		fputc('\n', f);
	}
}

/* Prints the newest events of the pod, the oldest of them first. */
static void show_pod_events(const json_t *events, FILE *f)
{
	json_t *event;
	size_t i;

	if (json_array_size(events) > 0)
		fputs("last events:\n", f);
	json_array_foreach ((json_t *)events, i, event) {
		fputs("    ", f);
		listing_show_event(event, f);
	}
}

/* Prints the pod's events, even if the pod has no device: its attach may have failed. */
static void show_events_of_pod(const struct ctl *c)
{
	const struct ctl_args args = {.pod = c->args->pod, .limit = POD_EVENTS};
	AUTO_FREE char *path = question_path(&args, "/api/v1/events");
	bool no_daemon = false;
	json_auto_t *events = path ? question_ask_quietly(c, path, &no_daemon) : NULL;

	show_pod_events(json_object_get(events, "events"), c->out);
}

static void show_findings_of_pod(const struct ctl *c)
{
	const struct ctl_args args = {.pod = c->args->pod, .limit = -1};
	AUTO_FREE char *path = question_path(&args, "/api/v1/doctor");
	bool no_daemon = false;
	json_auto_t *findings = path ? question_ask_quietly(c, path, &no_daemon) : NULL;

	show_findings(json_object_get(findings, "findings"), c->out);
}

/* Prints the findings and events of the pod, and the number of findings about rocelet itself. The
 * findings of the host are among the troubles. */
static void show_rest(const struct ctl *c)
{
	bool no_daemon = false;
	json_auto_t *doctor = question_ask_quietly(c, "/api/v1/doctor", &no_daemon);
	size_t n = ctl_show_own_findings(json_object_get(doctor, "findings"));

	if (c->args->pod) {
		show_findings_of_pod(c);
		show_events_of_pod(c);
	}
	if (n > 0)
		fprintf(c->out, "rocelet itself: %zu finding%s: rocectl doctor\n", n,
			n == 1 ? "" : "s");
}

static bool is_of_a_time(const struct ctl_args *a)
{
	return a->since || a->until;
}

/* Reports that part of the requested time is not remembered; false: all of it is. */
static bool complain_unknown(const struct ctl *c, const json_t *document)
{
	int64_t since = ctl_age_parse(json_string_value(json_object_get(document, "since")));
	const char *known = json_string_value(json_object_get(document, "knownSince"));
	bool no_daemon = false;
	json_auto_t *index = NULL;
	const char *started;

	if (ctl_diagnosis_remembers(document))
		return false;
	index = question_ask_quietly(c, "/api/v1", &no_daemon);
	started = json_string_value(json_object_get(index, "started"));
	if (started && since < ctl_age_parse(started))
		fprintf(c->err,
			"rocectl: rocelet has run since %.19sZ: what was before is not known\n",
			started);
	else
		fprintf(c->err,
			"rocectl: rocelet keeps ended verdicts of the last hour: what ended before "
			"%.19sZ is not known\n",
			known);
	return true;
}

/* Of a time, what has ended counts as what is still open. */
static enum ctl_exit exit_of_a_time(const struct ctl *c, const json_t *document)
{
	int level = ctl_diagnosis_level_with_ended(document);
	bool unknown = complain_unknown(c, document);

	return unknown && level < CTL_LEVEL_WARNING ? CTL_NO : ctl_diagnosis_exit(level);
}

static enum ctl_exit diagnosis_show(const struct ctl *c, json_t *document)
{
	const bool past = c->args->ended || is_of_a_time(c->args);

	if (!ctl_args_want_document(c->args) && past)
		ctl_show_ended(document, is_of_a_time(c->args), c->out);
	else if (!ctl_args_want_document(c->args)) {
		show_with_pods(c, document);
		show_rest(c);
	} else if (ctl_document_put(document, c->args->format, c->out) < 0)
		return question_no_memory(c);
	if (is_of_a_time(c->args))
		return exit_of_a_time(c, document);
	/* A list of what is over says nothing about what is wrong now. */
	return c->args->ended ? CTL_OK : ctl_diagnosis_exit(ctl_diagnosis_level(document));
}

static bool has_no_rows(const json_t *document)
{
	return json_array_size(json_object_get(document, "verdicts")) == 0 &&
	       json_array_size(json_object_get(document, "troubles")) == 0 &&
	       json_array_size(json_object_get(document, "ports")) == 0;
}

enum ctl_exit ctl_diagnosis_run(const struct ctl *c)
{
	/* The text output includes the number of ended verdicts. */
	bool ended = c->args->ended || is_of_a_time(c->args) || !ctl_args_want_document(c->args);
	AUTO_FREE char *path = question_path(c->args, ended ? "/api/v1/diagnosis?ended=1"
							    : "/api/v1/diagnosis");
	json_auto_t *document = NULL;
	enum ctl_exit r;

	if (!path)
		return question_no_memory(c);
	r = question_ask(c, path, NULL, &document);
	if (!document)
		return r;
	if (has_no_rows(document))
		r = ctl_known(c);
	if (r == CTL_NO && c->args->pod && !ctl_args_want_document(c->args))
		show_events_of_pod(c);
	if (r == CTL_OK)
		r = diagnosis_show(c, document);
	return r;
}

enum ctl_exit ctl_diagnosis_doctor(const struct ctl *c)
{
	json_auto_t *document = NULL, *diagnosis = NULL;
	bool no_daemon = false;
	enum ctl_exit r = question_ask(c, "/api/v1/doctor", NULL, &document);

	if (!document)
		return r;
	if (ctl_show_own_findings(json_object_get(document, "findings")) > 0)
		r = CTL_NO;
	else if (!ctl_args_want_document(c->args))
		diagnosis = question_ask_quietly(c, "/api/v1/diagnosis", &no_daemon);
	if (!ctl_args_want_document(c->args))
		ctl_show_doctor(document, diagnosis, c->out);
	else if (ctl_document_put(document, c->args->format, c->out) < 0)
		r = question_no_memory(c);
	return r;
}
