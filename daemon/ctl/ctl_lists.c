// SPDX-License-Identifier: Apache-2.0
/* ctl_lists.c - requests the daemon's documents, merges them if needed, and prints a listing or the
 * status. */
#include "ctl_lists.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_document.h"
#include "ctl_known.h"
#include "ctl_merge.h"
#include "ctl_show_status.h"
#include "ctl_table.h"
#include "output.h"

/* Number of rows to request if rocectl selects among them itself: the daemon's API_QPS_MAX. */
#define CHOOSE_FROM  "10000"
/* A list with fewer events than this is short: the reader may wonder what is missing. */
#define FEW_EVENTS   10
/* Interval at which --watch requests the list. */
#define LIST_POLL_MS 999

/* --- listings --------------------------------------------------------------------------------- */

/* The path of the listing's document, on the heap. If rocectl selects rows itself, the path
 * requests all of them. */
static char *listing_path(const struct listing *l, const struct ctl_args *a)
{
	const struct ctl_args nothing = {.limit = -1};
	bool chosen_here = l->pod || l->other;
	char path[64];

	snprintf(path, sizeof(path), "/api/v1/%s", l->source);
	if (chosen_here || (!a->namespace && !a->selector))
		return question_path(chosen_here ? &nothing : a, path);
	return question_path_with(a, path, CHOOSE_FROM);
}

bool ctl_wants_colours(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(fileno(out)) && (!no || !*no) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Requests the ports with their devices and pods. *ret is the merged document; NULL on failure. */
static enum ctl_exit request_ports(const struct ctl *c, json_t **ret)
{
	bool no_daemon = false;
	json_t *devices, *ports = NULL, *pods = NULL;
	enum ctl_exit r = question_ask(c, "/api/v1/devices", NULL, &devices);

	*ret = NULL;
	if (devices) { /* /api/v1/ports is not available before the first sample */
		ports = question_ask_quietly(c, "/api/v1/ports", &no_daemon);
		pods = question_ask_quietly(c, "/api/v1/pods", &no_daemon);
	}
	if (devices && !no_daemon)
		*ret = ctl_ports(
			&(struct ctl_answers){.devices = devices, .ports = ports, .pods = pods});
	json_decref(devices);
	json_decref(ports);
	json_decref(pods);
	return no_daemon ? CTL_NO_DAEMON : r;
}

static enum ctl_exit request_listing(const struct ctl *c, const struct listing *l, json_t **ret)
{
	AUTO_FREE char *path = l->source ? listing_path(l, c->args) : NULL;

	*ret = NULL;
	if (!l->source)
		return request_ports(c, ret);
	if (!path)
		return question_no_memory(c);
	return question_ask(c, path, NULL, ret);
}

/* If there are no resources, prints why: the file may be rejected, or --observe ignores the pools.
 */
static void why_no_resources(const struct ctl *c, const json_t *document)
{
	struct client_answer a = {0};

	if (json_array_size(json_object_get(document, "resources")) > 0 ||
	    client_ask(&a, c->args->socket, "/readyz", NULL, ctl_args_wait_ms(c->args), NULL) < 0)
		return;
	for (char *line = strtok(a.body, "\n"); line; line = strtok(NULL, "\n")) {
		bool observes = strncmp(line, "observes only", 13) == 0;

		if (!observes && strncmp(line, "not ready: ", 11) != 0)
			continue;
		fputs(observes ? "rocelet " : "rocelet is ", c->err);
		table_put(line, c->err);
		fputc('\n', c->err);
	}
	free(a.body);
}

/* Prints since when rocelet remembers events, if there are few. */
static void since_when(const struct ctl *c, const json_t *document)
{
	const size_t n = json_array_size(json_object_get(document, "events"));
	bool no_daemon = false;
	json_auto_t *index = NULL;
	const char *started;

	if (n >= FEW_EVENTS || (c->args->limit >= 0 && n >= (size_t)c->args->limit))
		return;
	index = question_ask_quietly(c, "/api/v1", &no_daemon);
	started = json_string_value(json_object_get(index, "started"));
	if (started)
		fprintf(c->err, "rocelet remembers events since its start at %.19sZ\n", started);
}

/* True if the daemon cannot have the list: its emptiness has no meaning. */
static bool is_unknown(const struct listing *l, const json_t *document)
{
	AUTO_FREE char *unknown = l->unknown ? l->unknown(document) : NULL;

	return unknown && json_array_size(json_object_get(document, l->list)) == 0;
}

static bool is_of_source(const struct listing *l, const char *source)
{
	return l->source && strcmp(l->source, source) == 0;
}

static enum ctl_exit listing_once(const struct ctl *c, const struct listing *l,
				  struct listing_seen *seen)
{
	const struct ctl_args *a = c->args;
	bool empty = false;
	const struct listing_choice choice = {.format = a->format,
					      .namespace = a->namespace,
					      .pod = a->pod,
					      .device = a->device,
					      .sort_by = a->sort_by,
					      .selector = a->selector,
					      .columns = a->columns,
					      .now_s = time(NULL),
					      .limit = a->limit,
					      .no_headers = a->no_headers,
					      .colours = ctl_wants_colours(c->out),
					      .ret_empty = &empty,
					      .seen = seen};
	json_auto_t *document = NULL;
	enum ctl_exit r = request_listing(c, l, &document);

	if (document && listing_show(l, &choice, document, c->out, c->err) < 0)
		r = question_no_memory(c);
	if (document && !seen && is_of_source(l, "devices"))
		why_no_resources(c, document);
	if (document && !seen && is_of_source(l, "events") && !ctl_args_want_document(a))
		since_when(c, document);
	if (r == CTL_OK && empty && !seen)
		r = ctl_known(c);
	return r == CTL_OK && document && !seen && is_unknown(l, document) ? CTL_NO : r;
}

/* Prints the list repeatedly, until the daemon does not answer or the output is closed. */
static enum ctl_exit listing_watch(const struct ctl *c, const struct listing *l)
{
	static const struct timespec pause = {.tv_nsec = LIST_POLL_MS * 1000000L};
	struct listing_seen *seen = listing_seen_new();
	enum ctl_exit r = seen ? listing_once(c, l, seen) : question_no_memory(c);

	while (r == CTL_OK && fflush(c->out) == 0 && !output_has_no_reader(c->out)) {
		nanosleep(&pause, NULL);
		r = listing_once(c, l, seen);
	}
	listing_seen_free(seen);
	return r;
}

enum ctl_exit ctl_list(const struct ctl *c, const struct listing *l)
{
	return c->args->watch ? listing_watch(c, l) : listing_once(c, l, NULL);
}

/* --- status ----------------------------------------------------------------------------------- */

static void request_readiness(const struct ctl *c, struct ctl_answers *ret, char **ret_text,
			      bool *ret_no_daemon)
{
	struct client_answer a = {0};
	struct err e = {0};

	if (client_ask(&a, c->args->socket, "/readyz", NULL, ctl_args_wait_ms(c->args), &e) < 0) {
		question_no_answer(c, &e);
		*ret_no_daemon = true;
	}
	ret->ready = a.status == 200;
	ret->readiness = *ret_text = a.body;
}

static enum ctl_exit status_show(const struct ctl *c, const struct ctl_answers *a)
{
	json_auto_t *status = ctl_status(a);
	enum ctl_exit r = json_is_true(json_object_get(status, "well")) ? CTL_OK : CTL_NO;

	if (!status)
		return question_no_memory(c);
	if (!ctl_args_want_document(c->args))
		ctl_show_status(status, c->args->format && strcmp(c->args->format, "wide") == 0,
				ctl_wants_colours(c->out), c->out);
	else if (ctl_document_put(status, c->args->format, c->out) < 0)
		r = question_no_memory(c);
	return r;
}

enum ctl_exit ctl_status_run(const struct ctl *c)
{
	static const char *const paths[] = {"/api/v1/devices",	   "/api/v1/pods",
					    "/api/v1/attachments", "/api/v1/diagnosis?ended=1",
					    "/api/v1/doctor",	   "/api/v1",
					    "/api/v1/ports"};
	json_t *documents[ARRAY_SIZE(paths)] = {NULL};
	struct ctl_answers answers = {0};
	AUTO_FREE char *text = NULL;
	bool no_daemon = false;
	enum ctl_exit r = CTL_NO_DAEMON;

	request_readiness(c, &answers, &text, &no_daemon);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		documents[i] = question_ask_quietly(c, paths[i], &no_daemon);
	answers.devices = documents[0];
	answers.pods = documents[1];
	answers.attachments = documents[2];
	answers.diagnosis = documents[3];
	answers.doctor = documents[4];
	answers.index = documents[5];
	answers.ports = documents[6];
	if (!no_daemon)
		r = status_show(c, &answers);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		json_decref(documents[i]);
	return r;
}
