// SPDX-License-Identifier: Apache-2.0
/* ctl.c - runs a command: parses the command line, sends the requests to the daemon, and prints the
 * replies. */
#include "ctl.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <time.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_bundle.h"
#include "ctl_capture.h"
#include "ctl_complete.h"
#include "ctl_config_map.h"
#include "ctl_diagnose.h"
#include "ctl_diagnosis.h"
#include "ctl_document.h"
#include "ctl_explain.h"
#include "ctl_help.h"
#include "ctl_lists.h"
#include "ctl_merge.h"
#include "ctl_record.h"
#include "ctl_resolve.h"
#include "ctl_show.h"
#include "ctl_suggest.h"
#include "ctl_table.h"
#include "ctl_top.h"
#include "json_text.h"
#include "listings.h"
#include "node_problem.h"
#include "question.h"
#include "version.h"

/* doctor --fix: maximum wait for the repairs, and interval of the checks. */
#define FIX_MS	     10000
#define FIX_POLL_MS  200
/* watch: how long the daemon may defer its reply until there is an event. */
#define WATCH_WAIT_S 20
/* Timeout of the request of completion, which must not delay the shell. */
#define COMPLETE_MS  1000

/* Prints the document in the format of -o, or as text with `show`. */
static enum ctl_exit document_show(const struct ctl *c, const json_t *document,
				   void (*show)(const json_t *, FILE *))
{
	int r = 0;

	if (ctl_args_want_document(c->args))
		r = ctl_document_put(document, c->args->format, c->out);
	else
		show(document, c->out);
	return r < 0 ? question_no_memory(c) : CTL_OK;
}

static enum ctl_exit request_and_show(const struct ctl *c, const char *path, const char *body,
				      void (*show)(const json_t *, FILE *))
{
	json_auto_t *document = NULL;
	enum ctl_exit r = question_ask(c, path, body, &document);

	if (document)
		r = document_show(c, document, show);
	return r;
}

/* --- doctor, suggest -------------------------------------------------------------------------- */

static bool has_fixable(const json_t *findings)
{
	json_t *finding;
	size_t i;

	json_array_foreach ((json_t *)findings, i, finding) {
		if (json_is_true(json_object_get(finding, "fixable")))
			return true;
	}
	return false;
}

static bool has_returning(const json_t *attachments)
{
	json_t *a;
	size_t i;

	json_array_foreach ((json_t *)attachments, i, a) {
		const char *state = json_string_value(json_object_get(a, "state"));

		if (state && strcmp(state, "returning") == 0)
			return true;
	}
	return false;
}

/* Sets *ret to true if a fixable finding remains, or a device is still being returned. */
static enum ctl_exit fix_is_running(const struct ctl *c, bool *ret)
{
	json_auto_t *findings = NULL, *attachments = NULL;
	enum ctl_exit r = question_ask(c, "/api/v1/doctor", NULL, &findings);

	if (r == CTL_OK)
		r = question_ask(c, "/api/v1/attachments", NULL, &attachments);
	*ret = r == CTL_OK && (has_fixable(json_object_get(findings, "findings")) ||
			       has_returning(json_object_get(attachments, "attachments")));
	return r;
}

/* The daemon answers the request at once and repairs in the background, so wait until nothing
 * fixable is left and no device is being returned. */
static enum ctl_exit doctor_fix(const struct ctl *c)
{
	static const struct timespec pause = {.tv_nsec = FIX_POLL_MS * 1000000L};
	bool busy = true;
	json_t *document;
	enum ctl_exit r = question_ask(c, "/api/v1/doctor/fix", "{}", &document);

	json_decref(document);
	for (int left = FIX_MS / FIX_POLL_MS; r == CTL_OK && busy && left > 0; left--) {
		nanosleep(&pause, NULL);
		r = fix_is_running(c, &busy);
	}
	return r;
}

static enum ctl_exit doctor_run(const struct ctl *c)
{
	enum ctl_exit r = c->args->fix ? doctor_fix(c) : CTL_OK;

	return r == CTL_OK ? ctl_diagnosis_doctor(c) : r;
}

/* JSON is printed as the daemon sent it, to keep its line breaks. */
static void suggest_show(const struct ctl *c, const struct client_answer *a, const json_t *document)
{
	if (c->args->configmap)
		config_map_print(c->args->configmap, a->body, c->out);
	else if (c->args->format && strcmp(c->args->format, "yaml") == 0)
		ctl_document_put(document, "yaml", c->out);
	else
		fputs(a->body, c->out);
}

static enum ctl_exit suggest_run(const struct ctl *c)
{
	struct client_answer a = {0};
	struct err e = {0};
	json_auto_t *document = NULL;
	bool ok;

	if (client_ask(&a, c->args->socket, "/api/v1/suggest", NULL, ctl_args_wait_ms(c->args),
		       &e) < 0)
		return question_no_answer(c, &e);
	document = json_text_load(a.body, a.len, 0, NULL);
	ok = a.status == 200 && document;
	if (ok)
		suggest_show(c, &a, document);
	else
		question_complain(c, &a, document);
	free(a.body);
	return ok ? CTL_OK : CTL_NO;
}

/* --- ready ------------------------------------------------------------------------------------ */

/* Prints the answer of /readyz: "ready" or the reason, and the remarks. */
static enum ctl_exit ready_show(const struct ctl *c, const struct client_answer *a)
{
	const struct ctl_answers answers = {.ready = a->status == 200, .readiness = a->body};
	json_t *document;
	int r;

	if (!ctl_args_want_document(c->args)) {
		fputs(a->body, c->out);
		return answers.ready ? CTL_OK : CTL_NO;
	}
	document = ctl_readiness(&answers);
	r = document ? ctl_document_put(document, c->args->format, c->out) : -ENOMEM;
	json_decref(document);
	if (r < 0)
		return question_no_memory(c);
	return answers.ready ? CTL_OK : CTL_NO;
}

/* In a pod (POD_NAMESPACE and POD_NAME, from the downward API), only the daemon of this pod may
 * answer. */
static enum ctl_exit ready_run(const struct ctl *c)
{
	const char *namespace = getenv("POD_NAMESPACE"), *pod = getenv("POD_NAME");
	struct ctl_args args = *c->args;
	AUTO_FREE char *path = NULL;
	struct client_answer a = {0};
	struct err e = {0};
	enum ctl_exit r;
	char own[320];

	snprintf(own, sizeof(own), "%s/%s", namespace ? namespace : "default", pod ? pod : "");
	args.pod = pod && *pod ? own : NULL;
	path = question_path(&args, "/readyz");
	if (!path)
		return question_no_memory(c);
	if (client_ask(&a, args.socket, path, NULL, ctl_args_wait_ms(&args), &e) < 0)
		return question_no_answer(c, &e);
	r = ready_show(c, &a);
	free(a.body);
	return r;
}

static enum ctl_exit version_run(const struct ctl *c)
{
	json_auto_t *document = NULL;
	int r;

	if (!ctl_args_want_document(c->args)) {
		fputs("rocectl " ROCELET_VERSION "\n", c->out);
		return CTL_OK;
	}
	document = json_pack("{ss}", "version", ROCELET_VERSION);
	r = document ? ctl_document_put(document, c->args->format, c->out) : -ENOMEM;
	return r < 0 ? question_no_memory(c) : CTL_OK;
}

/* --- alive ------------------------------------------------------------------------------------ */

/* Timeout of `alive` without --timeout; shorter than the liveness probe's in the manifests. */
#define ALIVE_WAIT_MS 20000

/* Fails only on a timeout: a daemon that waits for the node lock or cannot open its socket is
 * alive. */
static enum ctl_exit alive_run(const struct ctl *c)
{
	struct client_answer a = {0};
	struct err e = {0};
	uint64_t wait_ms = c->args->timeout > 0 ? ctl_args_wait_ms(c->args) : ALIVE_WAIT_MS;
	int r = client_ask(&a, c->args->socket, "/healthz", NULL, wait_ms, &e);

	if (r < 0)
		fprintf(c->err, "rocectl: %s%s\n", e.msg,
			r == -ETIMEDOUT ? "" : " (no daemon answers; that is not a hang)");
	else
		fputs("ok\n", c->out);
	free(a.body);
	return r == -ETIMEDOUT ? CTL_NO : CTL_OK;
}

/* --- node-problem ----------------------------------------------------------------------------- */

/* Returns the exit statuses of Node Problem Detector, which equal CTL_OK, CTL_NO, and CTL_USAGE for
 * "unknown". */
static enum ctl_exit node_problem_run(const struct ctl *c)
{
	const struct ctl_args *a = c->args;
	uint64_t wait_ms = a->timeout > 0 ? ctl_args_wait_ms(a) : NODE_PROBLEM_WAIT_MS;
	bool warnings = a->severity && strcmp(a->severity, "warning") == 0;

	return (enum ctl_exit)(strcmp(a->choice, "rdma") == 0
				       ? node_problem_rdma(a->socket, wait_ms, warnings, c->out)
				       : node_problem_rocelet(a->socket, wait_ms, c->out));
}

/* --- watch ------------------------------------------------------------------------------------ */

static void show_events(const struct ctl *c, const json_t *document)
{
	json_t *event;
	size_t i;

	json_array_foreach (json_object_get(document, "events"), i, event) {
		if (c->args->namespace &&
		    !listing_has(event, "namespace|pods.namespace", c->args->namespace))
			continue;
		if (ctl_args_want_document(c->args))
			ctl_document_line(event, c->out);
		else
			listing_show_event(event, c->out);
	}
	fflush(c->out);
}

/* Requests events after *generation, prints them if `show`, and updates *generation. */
static enum ctl_exit watch_once(const struct ctl *c, const char *path, bool show,
				json_int_t *generation)
{
	json_auto_t *document = NULL;
	/* The daemon defers its reply until there is an event. */
	uint64_t wait_ms = WATCH_WAIT_S * 1000 + ctl_args_wait_ms(c->args);
	enum ctl_exit r = question_ask_within(c, path, NULL, wait_ms, &document);

	if (!document)
		return r;
	*generation = json_integer_value(json_object_get(document, "generation"));
	if (show)
		show_events(c, document);
	return r;
}

/* Prints new events until the daemon does not answer or the output is closed. */
static enum ctl_exit events_watch(const struct ctl *c)
{
	json_int_t generation = 0;
	enum ctl_exit r = watch_once(c, "/api/v1/events?limit=1", false, &generation);

	while (r == CTL_OK && !ferror(c->out)) {
		char question[96];

		snprintf(question, sizeof(question),
			 "/api/v1/events?wait=%d&after=%" JSON_INTEGER_FORMAT, WATCH_WAIT_S,
			 generation);

		AUTO_FREE char *path = question_path(c->args, question);

		r = path ? watch_once(c, path, true, &generation) : question_no_memory(c);
	}
	return r;
}

/* --- attach, detach --------------------------------------------------------------------------- */

/* Sets a key of the request, and takes ownership of the value. NULL: the key is omitted. */
static void ctl_request_set(json_t *request, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(request, key, value);
}

static json_t *ctl_request_text(const char *s)
{
	return s ? json_string(s) : NULL;
}

static json_t *ctl_request_number(long n)
{
	return n >= 0 ? json_integer(n) : NULL;
}

static json_t *ctl_request_addresses(const struct ctl_args *a)
{
	json_t *list = a->n_ips ? json_array() : NULL;

	for (size_t i = 0; list && i < a->n_ips; i++)
		json_array_append_new(list, json_string(a->ips[i]));
	return list;
}

/* The request as JSON, on the heap; NULL: out of memory. */
static char *ctl_request_of(const struct ctl_args *a)
{
	json_auto_t *request = json_object();

	ctl_request_set(request, "device", ctl_request_text(a->device));
	ctl_request_set(request, "netns", ctl_request_text(a->netns));
	ctl_request_set(request, "pod", ctl_request_text(a->pod));
	ctl_request_set(request, "interface", ctl_request_text(a->interface));
	ctl_request_set(request, "ips", ctl_request_addresses(a));
	ctl_request_set(request, "mac", ctl_request_text(a->mac));
	ctl_request_set(request, "vlan", ctl_request_number(a->vlan));
	ctl_request_set(request, "mtu", ctl_request_number(a->mtu));
	ctl_request_set(request, "softRoce", a->soft_roce ? json_true() : NULL);
	ctl_request_set(request, "force", a->force ? json_true() : NULL);
	return request ? json_dumps(request, JSON_COMPACT) : NULL;
}

static enum ctl_exit ctl_send_request(const struct ctl *c, const char *path,
				      void (*show)(const json_t *, FILE *))
{
	AUTO_FREE char *body = ctl_request_of(c->args);

	return body ? request_and_show(c, path, body, show) : question_no_memory(c);
}

/* --- completion ------------------------------------------------------------------------------- */

/* Prints the candidates from the daemon's document; nothing if the daemon does not answer. */
static void complete_live(const struct ctl_completion *want, FILE *out)
{
	const char *path = ctl_complete_source(want);
	struct client_answer a = {0};
	json_t *document;

	if (!path || client_ask(&a, want->socket, path, NULL, COMPLETE_MS, NULL) < 0)
		return;
	document = json_text_load(a.body, a.len, 0, NULL);
	ctl_complete_put_live(want, document, out);
	json_decref(document);
	free(a.body);
}

static void complete_run(int n, char *const words[], FILE *out)
{
	struct ctl_completion want;

	ctl_complete(&want, n, words);
	ctl_complete_put(&want, out);
	complete_live(&want, out);
}

/* --- commands --------------------------------------------------------------------------------- */

static enum ctl_exit command_run(const struct ctl *c)
{
	const struct listing *listing = ctl_command_row(c->args->command)->listing;

	if (listing)
		return ctl_list(c, listing);
	switch (c->args->command) {
	case CTL_HELP:
		ctl_help(c->args->topic, c->out);
		break;
	case CTL_VERSION:
		return version_run(c);
	case CTL_COMPLETION:
		ctl_completion_script(c->args->choice, c->out);
		break;
	case CTL_STATUS:
		return ctl_status_run(c);
	case CTL_TOP:
		return ctl_top(c);
	case CTL_EXPLAIN:
		return ctl_explain(c);
	case CTL_WATCH:
		return events_watch(c);
	case CTL_DOCTOR:
		return doctor_run(c);
	case CTL_READY:
		return ready_run(c);
	case CTL_ALIVE:
		return alive_run(c);
	case CTL_NODE_PROBLEM:
		return node_problem_run(c);
	case CTL_SUGGEST:
		return c->args->merge ? ctl_suggest_merge(c->args, c->out, c->err) : suggest_run(c);
	case CTL_SUPPORT_BUNDLE:
		return ctl_bundle(c->args, c->out, c->err);
	case CTL_ATTACH:
		return ctl_send_request(c, "/api/v1/attach", ctl_show_attached);
	case CTL_DETACH:
		return ctl_send_request(c, "/api/v1/detach", ctl_show_detached);
	case CTL_PCAP:
		return ctl_pcap(c->args, c->out, c->err);
	case CTL_SNIFF:
		return ctl_sniff(c->args, c->out, c->err);
	case CTL_DIAGNOSE:
		if (c->args->replay)
			return ctl_replay(c->args, c->out, c->err);
		return c->args->record ? ctl_record(c->args, c->out, c->err) : ctl_diagnosis_run(c);
	case CTL_PODS:
	case CTL_RESOURCES:
	case CTL_DEVICES:
	case CTL_PORTS:
	case CTL_EVENTS:
	case CTL_QPS:
	case N_CTL_COMMANDS:
		break;
	}
	return CTL_OK;
}

/* Runs a command that only shells and make use. False: it is another command. */
static bool is_hidden_command(int argc, char *argv[], FILE *out)
{
	if (argc > 1 && strcmp(argv[1], "__complete") == 0)
		complete_run(argc - 2, argv + 2, out);
	else if (argc == 2 && strcmp(argv[1], "__man") == 0)
		ctl_man(out);
	else
		return false;
	return true;
}

enum ctl_exit ctl_run(int argc, char *argv[], FILE *out, FILE *err)
{
	struct ctl_args args;
	struct ctl c = {.args = &args, .out = out, .err = err};
	struct err e = {0};
	enum ctl_exit r;

	if (is_hidden_command(argc, argv, out))
		return CTL_OK;
	if (ctl_args_parse(&args, argc, argv, &e) < 0) {
		fputs("rocectl: ", err);
		table_put(e.msg, err);
		fputc('\n', err);
		return CTL_USAGE;
	}
	r = ctl_resolve(&c, &args);
	return r == CTL_OK ? command_run(&c) : r;
}
