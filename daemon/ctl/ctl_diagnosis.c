// SPDX-License-Identifier: Apache-2.0
#include "ctl_diagnosis.h"

#include <errno.h>

#include "cleanup.h"
#include "ctl_document.h"
#include "ctl_known.h"
#include "ctl_merge.h"
#include "ctl_show.h"
#include "ctl_show_diagnosis.h"

/* Verdicts of severity info exit with 0. */
static enum ctl_exit exit_by_level(int level)
{
	return level >= 3 ? CTL_CRITICAL : level == CTL_LEVEL_WARNING ? CTL_WARNING : CTL_OK;
}

/* Adds the pods of ports, which the diagnosis does not name. */
static void show_with_pods(const struct ctl *c, json_t *document)
{
	bool no_daemon = false;
	json_t *ports = question_ask_quietly(c, "/api/v1/ports", &no_daemon);

	ctl_name_pods(document, ports);
	ctl_show_diagnosis(document, c->args->undecided, c->out);
	json_decref(ports);
}

static enum ctl_exit diagnosis_show(const struct ctl *c, json_t *document)
{
	if (!ctl_args_want_document(c->args))
		show_with_pods(c, document);
	else if (ctl_document_put(document, c->args->format, c->out) < 0)
		return question_no_memory(c);
	return exit_by_level(ctl_diagnosis_level(document));
}

static bool is_of_nothing(const json_t *document)
{
	return json_array_size(json_object_get(document, "verdicts")) == 0 &&
	       json_array_size(json_object_get(document, "ports")) == 0;
}

enum ctl_exit ctl_diagnosis_run(const struct ctl *c)
{
	AUTO_FREE char *path = question_path(c->args, "/api/v1/diagnosis");
	json_t *document;
	enum ctl_exit r;

	if (!path)
		return question_no_memory(c);
	r = question_ask(c, path, NULL, &document);
	if (!document)
		return r;
	if (is_of_nothing(document))
		r = ctl_known(c);
	if (r == CTL_OK)
		r = diagnosis_show(c, document);
	json_decref(document);
	return r;
}

enum ctl_exit ctl_diagnosis_doctor(const struct ctl *c)
{
	json_t *document, *diagnosis = NULL;
	bool no_daemon = false;
	enum ctl_exit r = question_ask(c, "/api/v1/doctor", NULL, &document);

	if (!document)
		return r;
	if (json_array_size(json_object_get(document, "findings")) > 0)
		r = CTL_NO;
	else if (!ctl_args_want_document(c->args))
		diagnosis = question_ask_quietly(c, "/api/v1/diagnosis", &no_daemon);
	if (!ctl_args_want_document(c->args))
		ctl_show_doctor(document, diagnosis, c->out);
	else if (ctl_document_put(document, c->args->format, c->out) < 0)
		r = question_no_memory(c);
	json_decref(document);
	json_decref(diagnosis);
	return r;
}

enum ctl_exit ctl_diagnosis_explain(const struct ctl *c)
{
	AUTO_FREE char *path = question_path(c->args, "/api/v1/explain");
	AUTO_FREE char *verdicts = question_path(c->args, "/api/v1/diagnosis");
	json_t *document = NULL, *devices = NULL, *diagnosis = NULL;
	bool no_daemon = false;
	enum ctl_exit r;

	if (!path || !verdicts)
		return question_no_memory(c);
	r = question_ask(c, path, NULL, &document);
	if (document && !ctl_args_want_document(c->args)) {
		devices = question_ask_quietly(c, "/api/v1/devices", &no_daemon);
		diagnosis = question_ask_quietly(c, verdicts, &no_daemon);
		ctl_show_explain(document, devices, diagnosis, c->out);
	} else if (document && ctl_document_put(document, c->args->format, c->out) < 0) {
		r = question_no_memory(c);
	}
	json_decref(document);
	json_decref(devices);
	json_decref(diagnosis);
	return r;
}
