/* ctl.c - command line -> question -> answer -> what people see, and the exit code. */
#include "ctl.h"

#include <jansson.h>
#include <stdlib.h>
#include <time.h>

#include "cleanup.h"
#include "ctl_bundle.h"
#include "ctl_capture.h"
#include "ctl_complete.h"
#include "ctl_config_map.h"
#include "ctl_diagnose.h"
#include "ctl_document.h"
#include "ctl_help.h"
#include "ctl_http.h"
#include "ctl_lists.h"
#include "ctl_record.h"
#include "ctl_show.h"
#include "ctl_show_diagnosis.h"
#include "ctl_table.h"
#include "ctl_top.h"
#include "json_text.h"
#include "listings.h"
#include "question.h"
#include "version.h"

/* How long doctor waits for what it has ordered, and how often it looks. */
#define FIX_MS	     10000
#define FIX_LOOK_MS  200
/* How long the daemon is asked to wait for events before it says that there are none. */
#define WATCH_WAIT_S 20
/* Who completes a word does not wait. */
#define COMPLETE_MS  1000

/* The document itself, or what `show` makes of it. */
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

static enum ctl_exit ask_and_show(const struct ctl *c, const char *path, const char *body,
				  void (*show)(const json_t *, FILE *))
{
	json_t *document;
	enum ctl_exit r = question_ask(c, path, body, &document);

	if (document)
		r = document_show(c, document, show);
	json_decref(document);
	return r;
}

/* --- questions -------------------------------------------------------------------------------- */

static enum ctl_exit ask_with_params(const struct ctl *c, const char *path,
				     void (*show)(const json_t *, FILE *))
{
	AUTO_FREE char *whole = question_path(c->args, path);

	return whole ? ask_and_show(c, whole, NULL, show) : question_no_memory(c);
}

/* --- doctor, diagnose, suggest ---------------------------------------------------------------- */

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

/* *ret: what is to be set right is not yet, or just on its way. */
static enum ctl_exit ask_whether_busy(const struct ctl *c, bool *ret)
{
	json_t *findings, *attachments = NULL;
	enum ctl_exit r = question_ask(c, "/api/v1/doctor", NULL, &findings);

	if (r == CTL_OK)
		r = question_ask(c, "/api/v1/attachments", NULL, &attachments);
	*ret = r == CTL_OK && (has_fixable(json_object_get(findings, "findings")) ||
			       has_returning(json_object_get(attachments, "attachments")));
	json_decref(findings);
	json_decref(attachments);
	return r;
}

/* The order is answered at once, and done by and by: what it has come to is what doctor says next.
 */
static enum ctl_exit doctor_fix(const struct ctl *c)
{
	static const struct timespec pause = {.tv_nsec = FIX_LOOK_MS * 1000000L};
	bool busy = true;
	json_t *document;
	enum ctl_exit r = question_ask(c, "/api/v1/doctor/fix", "{}", &document);

	json_decref(document);
	for (int left = FIX_MS / FIX_LOOK_MS; r == CTL_OK && busy && left > 0; left--) {
		nanosleep(&pause, NULL);
		r = ask_whether_busy(c, &busy);
	}
	return r;
}

static enum ctl_exit doctor_run(const struct ctl *c)
{
	enum ctl_exit r = c->args->fix ? doctor_fix(c) : CTL_OK;
	json_t *document;

	if (r != CTL_OK)
		return r;
	r = question_ask(c, "/api/v1/doctor", NULL, &document);
	if (!document)
		return r;
	r = document_show(c, document, ctl_show_doctor);
	if (json_array_size(json_object_get(document, "findings")) > 0)
		r = CTL_NO;
	json_decref(document);
	return r;
}

/* What is only information is no reason to alarm anybody. */
static enum ctl_exit exit_by_level(int level)
{
	return level >= 3 ? CTL_CRITICAL : level == 2 ? CTL_WARNING : CTL_OK;
}

static enum ctl_exit diagnose_run(const struct ctl *c)
{
	AUTO_FREE char *path = question_path(c->args, "/api/v1/diagnosis");
	json_t *document;
	enum ctl_exit r;

	if (!path)
		return question_no_memory(c);
	r = question_ask(c, path, NULL, &document);
	if (!document)
		return r;
	r = document_show(c, document, ctl_show_diagnosis);
	if (r == CTL_OK)
		r = exit_by_level(ctl_diagnosis_level(document));
	json_decref(document);
	return r;
}

/* As the daemon has written it: made anew of what it means, it would have lost its lines. */
static enum ctl_exit suggest_run(const struct ctl *c)
{
	const char *configmap = c->args->configmap;
	struct ctl_answer a = {0};
	struct err e = {0};
	json_t *document;

	if (ctl_ask(&a, c->args->socket, "/api/v1/suggest", NULL, CTL_WAIT_MS, &e) < 0) {
		fprintf(c->err, "rocectl: %s\n", e.msg);
		return CTL_NO_DAEMON;
	}
	document = json_text_load(a.body, a.len, 0, NULL);
	if (a.status != 200 || !document)
		question_complain(c, &a, document);
	else if (configmap)
		config_map_print(configmap, a.body, c->out);
	else
		fputs(a.body, c->out);
	free(a.body);
	json_decref(document);
	return a.status == 200 && document ? CTL_OK : CTL_NO;
}

/* --- ready ------------------------------------------------------------------------------------ */

/* In a pod (POD_NAMESPACE and POD_NAME, by the downward API) only its own daemon's word counts. */
static enum ctl_exit ready_run(const struct ctl *c)
{
	const char *namespace = getenv("POD_NAMESPACE"), *pod = getenv("POD_NAME");
	struct ctl_args args = *c->args;
	AUTO_FREE char *path = NULL;
	struct ctl_answer a = {0};
	struct err e = {0};
	enum ctl_exit r;
	char own[320];

	snprintf(own, sizeof(own), "%s/%s", namespace ? namespace : "default", pod ? pod : "");
	args.pod = pod && *pod ? own : NULL;
	path = question_path(&args, "/readyz");
	if (!path)
		return question_no_memory(c);
	if (ctl_ask(&a, args.socket, path, NULL, CTL_WAIT_MS, &e) < 0) {
		fprintf(c->err, "rocectl: %s\n", e.msg);
		return CTL_NO_DAEMON;
	}
	fputs(a.body, c->out);
	r = a.status == 200 ? CTL_OK : CTL_NO;
	free(a.body);
	return r;
}

/* --- watch ------------------------------------------------------------------------------------ */

static void show_events(const struct ctl *c, const json_t *document)
{
	json_t *event;
	size_t i;

	json_array_foreach (json_object_get(document, "events"), i, event) {
		if (c->args->namespace && !listing_has(event, "namespace", c->args->namespace))
			continue;
		if (c->args->json)
			ctl_document_line(event, c->out);
		else
			listing_show_event(event, c->out);
	}
	fflush(c->out);
}

/* Shows what is answered, if it is to be shown; *generation: of what has been seen. */
static enum ctl_exit watch_once(const struct ctl *c, const char *path, bool show,
				json_int_t *generation)
{
	json_t *document;
	enum ctl_exit r = question_ask(c, path, NULL, &document);

	if (!document)
		return r;
	*generation = json_integer_value(json_object_get(document, "generation"));
	if (show)
		show_events(c, document);
	json_decref(document);
	return r;
}

/* From now on, until the daemon or whoever reads us ends. */
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

/* --- orders ----------------------------------------------------------------------------------- */

/* Takes the value; a key without one is left out. */
static void order_set(json_t *order, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(order, key, value);
}

static json_t *order_text(const char *s)
{
	return s ? json_string(s) : NULL;
}

static json_t *order_number(long n)
{
	return n >= 0 ? json_integer(n) : NULL;
}

static json_t *order_addresses(const struct ctl_args *a)
{
	json_t *list = a->n_ips ? json_array() : NULL;

	for (size_t i = 0; list && i < a->n_ips; i++)
		json_array_append_new(list, json_string(a->ips[i]));
	return list;
}

/* Heap. */
static char *ctl_order_of(const struct ctl_args *a)
{
	json_t *order = json_object();
	char *body;

	order_set(order, "device", order_text(a->device));
	order_set(order, "netns", order_text(a->netns));
	order_set(order, "pod", order_text(a->pod));
	order_set(order, "interface", order_text(a->interface));
	order_set(order, "ips", order_addresses(a));
	order_set(order, "mac", order_text(a->mac));
	order_set(order, "vlan", order_number(a->vlan));
	order_set(order, "mtu", order_number(a->mtu));
	order_set(order, "softRoce", a->soft_roce ? json_true() : NULL);
	order_set(order, "force", a->force ? json_true() : NULL);
	body = order ? json_dumps(order, JSON_COMPACT) : NULL;
	json_decref(order);
	return body;
}

static enum ctl_exit ctl_give_order(const struct ctl *c, const char *path,
				    void (*show)(const json_t *, FILE *))
{
	AUTO_FREE char *body = ctl_order_of(c->args);

	return body ? ask_and_show(c, path, body, show) : question_no_memory(c);
}

/* --- completion ------------------------------------------------------------------------------- */

/* Without a daemon there is nothing to tell of it, and no reason to say so. */
static void complete_live(const struct ctl_completion *want, FILE *out)
{
	const char *path = ctl_complete_source(want);
	struct ctl_answer a = {0};
	json_t *document;

	if (!path || ctl_ask(&a, want->socket, path, NULL, COMPLETE_MS, NULL) < 0)
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
		fputs("rocectl " ROCELET_VERSION "\n", c->out);
		break;
	case CTL_COMPLETION:
		ctl_completion_script(c->args->shell, c->out);
		break;
	case CTL_STATUS:
		return ctl_status_run(c);
	case CTL_TOP:
		return ctl_top(c);
	case CTL_EXPLAIN:
		return ask_with_params(c, "/api/v1/explain", ctl_show_explain);
	case CTL_WATCH:
		return events_watch(c);
	case CTL_DOCTOR:
		return doctor_run(c);
	case CTL_READY:
		return ready_run(c);
	case CTL_SUGGEST:
		return suggest_run(c);
	case CTL_SUPPORT_BUNDLE:
		return ctl_bundle(c->args, c->out, c->err);
	case CTL_ATTACH:
		return ctl_give_order(c, "/api/v1/attach", ctl_show_attached);
	case CTL_DETACH:
		return ctl_give_order(c, "/api/v1/detach", ctl_show_detached);
	case CTL_PCAP:
		return ctl_pcap(c->args, c->out, c->err);
	case CTL_SNIFF:
		return ctl_sniff(c->args, c->out, c->err);
	case CTL_DIAGNOSE:
		if (c->args->replay)
			return ctl_replay(c->args, c->out, c->err);
		return c->args->record ? ctl_record(c->args, c->out, c->err) : diagnose_run(c);
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

/* For shells and for make, not for people. */
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

	if (is_hidden_command(argc, argv, out))
		return CTL_OK;
	if (ctl_args_parse(&args, argc, argv, &e) < 0) {
		fputs("rocectl: ", err);
		table_put(e.msg, err);
		fputc('\n', err);
		return CTL_USAGE;
	}
	return command_run(&c);
}
