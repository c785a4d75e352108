// SPDX-License-Identifier: Apache-2.0
/* routes_ports.c - parses the query and replies with the document: /api/v1/ports at once, the
 * others at once or later. */
#include "routes_ports.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_ports.h"
#include "cleanup.h"
#include "counters_watch.h"
#include "diagnosis_report.h"
#include "inventory.h"
#include "live_watch.h"
#include "query.h"
#include "reply.h"
#include "report_reader.h"
#include "resource_table.h"

#define HISTORY_LEAST_STEP_S 10
#define HISTORY_STEP_S	     15

/* False if no sample has been judged yet; the reply is complete then. */
static bool knows_ports(const struct routes *r, struct http_reply *reply)
{
	if (r->diagnosis && r->inventory)
		return true;
	reply_not_yet(reply, "no sample has been judged yet");
	return false;
}

void routes_ports(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	struct api_filter filter = {.pod = http_param(request, "pod"),
				    .namespace = http_param(request, "namespace")};
	struct condition_sources sources = {.resources = NULL};
	struct err e = {0};
	size_t len = 0;

	if (!knows_ports(r, reply))
		return;
	filter.device = routes_wanted_device(r, request, &e);
	if (e.code < 0)
		reply_error(reply, &e);
	else
		reply_document(reply, routes_conditions(r, request->now_ms, &sources) < 0
					      ? NULL
					      : api_ports(&sources, &filter, &len));
	routes_conditions_done(&sources);
}

/* Reads the signals in a list, "nak,timeouts"; all signals if list is NULL. */
static int read_signals(const char *list, uint32_t *ret, struct err *e)
{
	uint32_t found = list ? 0 : (1u << N_SIGNALS) - 1;

	while (list && *list) {
		size_t len = strcspn(list, ",");
		int s = 0;

		while (s < N_SIGNALS && (strlen(signal_word((enum signal)s)) != len ||
					 strncmp(signal_word((enum signal)s), list, len) != 0))
			s++;
		if (s == N_SIGNALS)
			return err_set(e, -EINVAL, "signals: unknown signal %.*s", (int)len, list);
		found |= 1u << s;
		list += len + (list[len] == ',');
	}
	*ret = found;
	return 0;
}

/* --- history ---------------------------------------------------------------------------------- */

/* A request for history. Rendering all ports of a large node takes up to 0.1 s, so a worker does
 * it. */
struct history_request {
	struct report_reader reader;
	struct http_deferred *deferred;
	char *port; /* owned; NULL: all ports */
	uint64_t since_ms;
	struct history_query of_all;
	char *text; /* the answer */
	struct err error;
};

static void history_request_free(struct history_request *a)
{
	free(a->port);
	free(a->text);
	free(a);
}

static int read_history_query(struct history_request *a, const struct http_request *request,
			      uint64_t epoch_ms, struct err *e)
{
	const char *port = http_param(request, "port");
	uint64_t every_s = 0;

	if (port) {
		a->port = strdup(port);
		return a->port ? query_sample(request, "since", epoch_ms, &a->since_ms, e)
			       : err_set(e, -ENOMEM, "out of memory");
	}
	if (query_number(request, "every", &every_s, e) == 0 &&
	    read_signals(http_param(request, "signals"), &a->of_all.signals, e) == 0 &&
	    http_param(request, "every") &&
	    (every_s < HISTORY_LEAST_STEP_S || every_s > WINDOW_ROWS))
		err_set(e, -EINVAL, "every: %d to %d seconds", HISTORY_LEAST_STEP_S, WINDOW_ROWS);
	a->of_all.every_ms = (every_s ? every_s : HISTORY_STEP_S) * 1000;
	return e->code;
}

static void make_history(struct report_reader *reader, const struct diagnosis_report *report)
{
	struct history_request *a = (struct history_request *)reader; /* its first member */
	size_t port, len = 0;

	if (!report) {
		err_set(&a->error, -EAGAIN, "the daemon is stopping");
		return;
	}
	if (!a->port) {
		a->text = api_histories(report, &a->of_all, &len);
		return;
	}
	port = api_port_find(report, a->port);
	if (port == SIZE_MAX)
		err_set(&a->error, -ENODEV, "no such port is watched");
	else
		a->text = api_history(report, port, a->since_ms, &len);
}

static void reply_history(struct history_request *a, struct http_reply *reply)
{
	if (a->error.code < 0)
		reply_error(reply, &a->error);
	else
		reply_document(reply, take_ptr(a->text));
}

static void on_history_made(struct report_reader *reader)
{
	struct history_request *a = (struct history_request *)reader; /* its first member */
	struct http_reply reply = {0};

	reply_history(a, &reply);
	http_answer(a->deferred, &reply);
	history_request_free(a);
}

void routes_history(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	struct history_request *a;

	if (!knows_ports(r, reply))
		return;
	a = calloc(1, sizeof(*a));
	if (!a) {
		reply_document(reply, NULL);
		return;
	}
	a->reader = (struct report_reader){.read = make_history, .done = on_history_made};
	a->deferred = request->soon;
	if (read_history_query(a, request, r->epoch_ms, &a->error) == 0) {
		if (r->read_report && request->soon) {
			http_keep(request->soon);
			r->read_report(&a->reader, r->read_report_arg);
			return;
		}
		make_history(&a->reader, r->diagnosis);
	}
	reply_history(a, reply);
	history_request_free(a);
}

/* --- counters --------------------------------------------------------------------------------- */

/* Reads the port that the query names. -ENODEV: it is not watched. */
static int read_port_name(const struct routes *r, const struct http_request *request,
			  struct port_name *ret, struct err *e)
{
	const char *port = http_param(request, "port");
	size_t at;

	if (!port)
		return err_set(e, -EINVAL, "port is missing");
	at = api_port_find(r->diagnosis, port);
	if (at == SIZE_MAX)
		return err_set(e, -ENODEV, "no such port is watched");
	snprintf(ret->device, sizeof(ret->device), "%s", r->diagnosis->ports[at].device);
	ret->port = r->diagnosis->ports[at].port;
	return 0;
}

void routes_counters(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	struct port_name name = {0};
	struct err e = {0};

	if (!knows_ports(r, reply))
		return;
	if (read_port_name(r, request, &name, &e) == 0) {
		if (r->counters_watch && request->later &&
		    counters_watch_wait(r->counters_watch, request->later, &name,
					request->now_ms) == 0)
			return;
		err_set(&e, -EAGAIN, "too many requests wait for counters; retry later");
	}
	reply_error(reply, &e);
}

/* --- live ------------------------------------------------------------------------------------- */

void routes_live_input(struct live_input *ret, uint64_t now_ms, void *routes)
{
	const struct routes *r = routes;

	*ret = (struct live_input){
		.report = r->diagnosis,
		.events = r->events,
		.node = r->node,
		.now_ms = now_ms,
		.started_unix_ms = r->started_unix_ms,
		.every_ms = r->every_ms,
		.devices = r->inventory ? r->inventory->generation : 0,
		.resources = r->resources ? r->resources->generation : 0,
		.attachments = r->attachments_generation,
		.settings = r->settings_generation,
		.config = r->config_generation,
	};
}

static bool wait_for_changes(const struct routes *r, const struct http_request *request,
			     const struct live_query *q, const struct live_input *input,
			     uint64_t wait_s)
{
	uint64_t wait_ms = wait_s < LIVE_WAIT_MAX_MS / 1000 ? wait_s * 1000 : LIVE_WAIT_MAX_MS;

	return wait_s > 0 && r->live_watch && request->later && !api_live_any(input, q) &&
	       live_watch_wait(r->live_watch, request->later, q, request->now_ms + wait_ms) == 0;
}

/* If the request cannot be deferred, it gets the current document, and the client retries later. */
void routes_live(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	struct live_query q = {0};
	struct live_cache none = {0};
	struct live_input input;
	struct err e = {0};
	uint64_t wait_s = 0;
	size_t len = 0;

	if (query_sample(request, "since", r->epoch_ms, &q.since_ms, &e) < 0 ||
	    query_number(request, "events", &q.events_after, &e) < 0 ||
	    query_number(request, "wait", &wait_s, &e) < 0) {
		reply_error(reply, &e);
		return;
	}
	routes_live_input(&input, request->now_ms, r);
	if (wait_for_changes(r, request, &q, &input, wait_s))
		return;
	reply_document(reply,
		       api_live(r->live_watch ? &r->live_watch->cache : &none, &input, &q, &len));
	live_cache_done(&none);
}
