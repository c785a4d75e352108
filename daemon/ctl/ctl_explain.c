// SPDX-License-Identifier: Apache-2.0
#include "ctl_explain.h"

#include <string.h>

#include "cause.h"
#include "cleanup.h"
#include "ctl_document.h"
#include "ctl_known.h"
#include "ctl_show.h"
#include "ctl_show_diagnosis.h"
#include "explain_document.h"
#include "runbook_text.h"
#include "search.h"
#include "trouble_word.h"

/* --- a device --------------------------------------------------------------------------------- */

static void explain_show(const struct ctl *c, const struct explain_answers *a,
			 const json_t *document)
{
	bool no_daemon = false;
	json_auto_t *devices = question_ask_quietly(c, "/api/v1/devices", &no_daemon);
	json_auto_t *events = explain_worst(document)
				      ? question_ask_quietly(c, "/api/v1/events", &no_daemon)
				      : NULL;

	ctl_show_explain(a->explain, devices, a->ports, a->diagnosis, c->out);
	ctl_show_first_step(document, events, c->out);
}

/* Requests everything about the device that the arguments name, and prints it as text. *ret: its
 * document, to be freed; NULL on failure. */
static enum ctl_exit ctl_explain_device(const struct ctl *c, const json_t *pods, json_t **ret)
{
	AUTO_FREE char *path = question_path(c->args, "/api/v1/explain");
	AUTO_FREE char *of_ports = question_path(c->args, "/api/v1/ports");
	AUTO_FREE char *of_diagnosis = question_path(c->args, "/api/v1/diagnosis");
	json_auto_t *explain = NULL, *ports = NULL, *diagnosis = NULL;
	struct explain_answers answers = {.pods = pods};
	bool no_daemon = false;
	enum ctl_exit r;

	*ret = NULL;
	if (!path || !of_ports || !of_diagnosis)
		return question_no_memory(c);
	r = question_ask(c, path, NULL, &explain);
	if (!explain)
		return r;
	answers.explain = explain;
	ports = question_ask_quietly(c, of_ports, &no_daemon);
	diagnosis = question_ask_quietly(c, of_diagnosis, &no_daemon);
	answers.ports = ports;
	answers.diagnosis = diagnosis;
	*ret = explain_of_device(&answers);
	if (!*ret)
		return question_no_memory(c);
	if (!ctl_args_want_document(c->args))
		explain_show(c, &answers, *ret);
	return CTL_OK;
}

static enum ctl_exit explain_put(const struct ctl *c, const json_t *document)
{
	if (!ctl_args_want_document(c->args))
		return CTL_OK;
	return ctl_document_put(document, c->args->format, c->out) < 0 ? question_no_memory(c)
								       : CTL_OK;
}

static enum ctl_exit explain_one(const struct ctl *c)
{
	bool no_daemon = false;
	json_auto_t *pods = question_ask_quietly(c, "/api/v1/pods", &no_daemon);
	json_auto_t *document = NULL;
	enum ctl_exit r = no_daemon ? CTL_NO_DAEMON : ctl_explain_device(c, pods, &document);

	return r == CTL_OK ? explain_put(c, document) : r;
}

/* --- a pod ------------------------------------------------------------------------------------ */

static bool is_explained(const json_t *devices, const char *id)
{
	return any_of(
		json_array_size(devices), i,
		strcmp(json_string_value(json_object_get(json_array_get(devices, i), "device"))
			       ?: "",
		       id) == 0);
}

/* Explains the device with this ID, and adds its document to the list. */
static enum ctl_exit explain_add(const struct ctl *c, const json_t *pods, const char *id,
				 json_t *devices)
{
	struct ctl_args args = *c->args;
	const struct ctl one = {.args = &args, .out = c->out, .err = c->err};
	json_t *document;
	enum ctl_exit r;

	args.pod = NULL;
	args.device = id;
	r = ctl_explain_device(&one, pods, &document);
	if (document)
		json_array_append_new(devices, document);
	return r;
}

/* Explains each device of the pod's containers once. */
static enum ctl_exit explain_pod_devices(const struct ctl *c, const json_t *pods, const json_t *pod,
					 json_t *devices)
{
	enum ctl_exit r = CTL_OK;
	json_t *container, *device;
	size_t i, k;

	json_array_foreach (json_object_get(pod, "containers"), i, container) {
		json_array_foreach (json_object_get(container, "devices"), k, device) {
			const char *id = json_string_value(json_object_get(device, "id"));

			if (r == CTL_OK && id && !is_explained(devices, id))
				r = explain_add(c, pods, id, devices);
		}
	}
	return r;
}

static enum ctl_exit explain_pod(const struct ctl *c, const json_t *pods, const json_t *pod)
{
	json_t *devices = json_array();
	json_auto_t *document = NULL;
	enum ctl_exit r;

	if (!ctl_args_want_document(c->args))
		ctl_show_network(pod, c->out);
	r = explain_pod_devices(c, pods, pod, devices);
	document = explain_of_pod(pod, devices);
	if (!document)
		return question_no_memory(c);
	return r == CTL_OK ? explain_put(c, document) : r;
}

static enum ctl_exit ctl_explain_pods(const struct ctl *c)
{
	AUTO_FREE char *path = question_path(c->args, "/api/v1/pods");
	json_auto_t *document = NULL;
	json_t *pod;
	enum ctl_exit r;
	size_t i;

	if (!path)
		return question_no_memory(c);
	r = question_ask(c, path, NULL, &document);
	if (!document)
		return r;
	json_array_foreach (json_object_get(document, "pods"), i, pod) {
		if (r == CTL_OK)
			r = explain_pod(c, document, pod);
	}
	if (json_array_size(json_object_get(document, "pods")) == 0)
		r = ctl_known(c);
	return r;
}

/* --- a word ----------------------------------------------------------------------------------- */

static json_t *reads_json(const struct cause_row *row)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < row->n_reads; i++)
		json_array_append_new(list, json_string(series_name(row->reads[i])));
	return list;
}

static json_t *cause_json(const struct cause_row *row)
{
	const struct runbook_text *text = runbook_text(row->name);

	return json_pack("{ss ss ss ss? ss? ss ss ss ss so so}", "cause", row->name, "severity",
			 severity_name(row->severity), "sentence", row->sentence, "impact",
			 text ? text->impact : NULL, "confirm", text ? text->confirm : NULL,
			 "advice", row->advice, "disproof", row->disproof, "source", row->source,
			 "nodeAction", node_action_name(cause_node_action(row, row->severity)),
			 "reads", reads_json(row), "runbook",
			 json_sprintf(CAUSE_FOLDER "%s", row->name));
}

static json_t *explain_word_json(const struct trouble_row *w)
{
	return json_pack("{ss ss ss ss ss}", "word", w->word, "kind", w->kind, "severity",
			 w->severity, "sentence", w->sentence, "advice", w->advice);
}

static enum ctl_exit explain_word(const struct ctl *c)
{
	const int cause = cause_by_name(c->args->cause);
	const struct trouble_row *word = trouble_row_find(c->args->cause);
	json_auto_t *document = NULL;

	if (!ctl_args_want_document(c->args)) {
		if (cause >= 0)
			ctl_show_cause(cause_row((enum cause)cause), c->out);
		else
			ctl_show_word(word, c->out);
		return CTL_OK;
	}
	document = cause >= 0 ? cause_json(cause_row((enum cause)cause)) : explain_word_json(word);
	return document ? explain_put(c, document) : question_no_memory(c);
}

enum ctl_exit ctl_explain(const struct ctl *c)
{
	return c->args->cause ? explain_word(c)
	       : c->args->pod ? ctl_explain_pods(c)
			      : explain_one(c);
}
