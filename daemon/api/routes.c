// SPDX-License-Identifier: Apache-2.0
/* routes.c - answers each path with a small function of its own. */
#include "routes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "api.h"
#include "api_attachments.h"
#include "api_diagnosis.h"
#include "api_resources.h"
#include "cause.h"
#include "cleanup.h"
#include "device_name.h"
#include "doctor.h"
#include "event_watch.h"
#include "explain.h"
#include "inventory.h"
#include "json_text.h"
#include "openapi.h"
#include "pool_config.h"
#include "proposal.h"
#include "query.h"
#include "readiness.h"
#include "reply.h"
#include "route.h"
#include "routes_admin.h"
#include "routes_agent.h"
#include "routes_metrics.h"
#include "routes_ports.h"
#include "routes_qps.h"
#include "sample_watch.h"
#include "search.h"
#include "web_page.h"

#define NAME_BYTES_MAX 512

/* The page is stored compressed, and unpacked for the few clients that do not accept gzip. */
static void routes_reply_page(const struct http_request *request, struct http_reply *reply)
{
	const struct web_page *page = &web_page;

	reply->content_type = REPLY_HTML;
	reply->headers = request->accepts_gzip ? page->packed_headers : page->headers;
	if (request->accepts_gzip) {
		reply->fixed = page->packed;
		reply->body_len = page->packed_len;
	} else {
		reply->body = web_page_unpack(page);
		reply->body_len = page->len;
	}
	reply->status = request->accepts_gzip || reply->body ? 200 : 500;
}

/* A document of the runbook, with the node's name in its bar. */
static void reply_runbook(const struct routes *r, const struct web_page *page, unsigned status,
			  struct http_reply *reply)
{
	reply->content_type = REPLY_HTML;
	reply->headers = page->headers;
	reply->body = web_page_of_node(page, r->node ? r->node : "This node", &reply->body_len);
	reply->status = reply->body ? status : 500;
}

static void answer_runbook(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	(void)request;
	reply_runbook(r, &web_runbook, 200, reply);
}

static void answer_healthz(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	(void)r, (void)request;
	reply_string(reply, 200, REPLY_TEXT, "ok\n");
}

static bool has_tls_expired(const struct routes *r, uint64_t now_ms)
{
	uint64_t expires_s = r->tls_expires_s ? r->tls_expires_s() : 0;

	return expires_s > 0 && expires_s * 1000 <= r->epoch_ms + now_ms;
}

/* Prints the problems that do not affect readiness. */
static void ready_remarks(const struct routes *r, uint64_t now_ms, FILE *f)
{
	const struct config_state *c = r->config;
	char refusal[POOL_REFUSAL_TEXT];

	if (c && c->n_ignored > 0)
		fprintf(f, POOLS_IGNORED "\n", c->n_ignored);
	if (c && c->error.code && !c->offers_nothing && !c->last_good_of[0])
		fprintf(f, "the configuration file is %s: %s\n", c->held ? "held" : "rejected",
			c->error.msg);
	if (r->guard_error && r->guard_error->code && (!r->serves_tcp || *r->serves_tcp))
		fprintf(f, "the TCP listener's new certificates or passwords are not in use: %s\n",
			r->guard_error->msg);
	if (has_tls_expired(r, now_ms))
		fputs("the certificate in use over TCP has expired\n", f);
	for (size_t i = 0; c && i < c->refusals.n; i++) {
		pool_refusal_text(&c->refusals.list[i], refusal);
		fprintf(f, "%s\n", refusal);
	}
	for (size_t i = 0; c && i < c->n_lacks; i++)
		fprintf(f, "%s: %s\n", c->lacks[i].resource, c->lacks[i].what);
}

/* "ok" or the reasons, followed by the remarks. NULL: out of memory. */
static char *ready_text(const struct routes *r, const struct readiness *reasons, uint64_t now_ms,
			size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	if (!f)
		return NULL;
	fputs(reasons->n ? reasons->text : "ok\n", f);
	ready_remarks(r, now_ms, f);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* True if the request names the pod of another rocelet: during an upgrade two of them use the
 * node's socket and port, one after the other. */
static bool routes_is_another(const struct routes *r, const struct http_request *request, char *ret,
			      size_t size)
{
	const char *pod = http_param(request, "pod"), *own = r->own_pod ? r->own_pod : "";

	snprintf(ret, size, READINESS_MARK "this is the rocelet of %s%s\n",
		 *own ? "pod " : "no pod", own);
	return pod && strcmp(pod, own) != 0;
}

static void answer_readyz(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	struct readiness reasons;
	char another[512], *text;
	size_t len = 0;

	if (routes_is_another(r, request, another, sizeof(another))) {
		reply_string(reply, 503, REPLY_TEXT, another);
		return;
	}
	readiness_read(&reasons, r);
	text = ready_text(r, &reasons, request->now_ms, &len);
	if (text)
		reply_copy(reply, reasons.n ? 503 : 200, REPLY_TEXT, text, len);
	else
		reply_string(reply, reasons.n ? 503 : 200, REPLY_TEXT,
			     reasons.n ? reasons.text : "ok\n");
	free(text);
}

/* The configuration file is rejected, and nothing is offered. */
static bool is_config_refused(const struct routes *r)
{
	return r->config && r->config->offers_nothing;
}

/* Renders the document again if its inputs have changed; false: out of memory. */
static bool refresh_devices(struct routes *r)
{
	uint64_t generation = r->inventory->generation;
	uint64_t resources = r->resources ? r->resources->generation : 0;
	bool refused = is_config_refused(r);
	const struct api_input input = {
		&r->inventory->host, generation,  r->resources, r->attachments,
		r->epoch_ms,	     r->settings, NULL,		refused};
	size_t len;
	char *text;

	if (r->devices && r->devices_generation == generation &&
	    r->devices_resources == resources &&
	    r->devices_attachments == r->attachments_generation &&
	    r->devices_settings == r->settings_generation && r->devices_refused == refused)
		return true;
	text = api_devices(&input, &len);
	if (!text)
		return false;
	free(r->devices);
	r->devices = text;
	r->devices_len = len;
	r->devices_generation = generation;
	r->devices_resources = resources;
	r->devices_attachments = r->attachments_generation;
	r->devices_settings = r->settings_generation;
	r->devices_refused = refused;
	return true;
}

/* False if the host's devices have not been read yet; the reply is complete then. */
static bool knows_devices(const struct routes *r, struct http_reply *reply)
{
	if (r->inventory && r->inventory->generation > 0)
		return true;
	reply_not_yet(reply, "the host's devices have not been read yet");
	return false;
}

/* False if the device does not exist; the reply is complete then. */
static bool read_filter(const struct routes *r, const struct http_request *request,
			struct api_filter *ret, struct http_reply *reply)
{
	struct err e = {0};

	*ret = (struct api_filter){.namespace = http_param(request, "namespace"),
				   .pod = http_param(request, "pod"),
				   .kind = http_param(request, "kind"),
				   .name = http_param(request, "name")};
	ret->device = routes_wanted_device(r, request, &e);
	if (e.code == 0)
		return true;
	reply_error(reply, &e);
	return false;
}

/* Renders a selection; only the full document is cached. */
static void reply_chosen_devices(const struct routes *r, const struct http_request *request,
				 struct http_reply *reply)
{
	struct api_filter filter;
	struct api_input input = {&r->inventory->host,
				  r->inventory->generation,
				  r->resources,
				  r->attachments,
				  r->epoch_ms,
				  r->settings,
				  &filter,
				  is_config_refused(r)};
	size_t len;

	if (read_filter(r, request, &filter, reply))
		reply_document(reply, api_devices(&input, &len));
}

static void answer_devices(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	if (!knows_devices(r, reply))
		return;
	if (request->n_params > 0)
		reply_chosen_devices(r, request, reply);
	else if (refresh_devices(r))
		reply_copy(reply, 200, REPLY_JSON, r->devices, r->devices_len);
	else
		reply_document(reply, NULL);
}

static void answer_pods(struct routes *r, const struct http_request *request,
			struct http_reply *reply)
{
	struct condition_sources sources = {.resources = NULL};
	struct api_filter filter;
	size_t len = 0;

	if (!r->resources || !r->inventory)
		reply_not_yet(reply, "the allocations of pods have not been read yet");
	else if (read_filter(r, request, &filter, reply))
		reply_document(reply, routes_conditions(r, request->now_ms, &sources) < 0
					      ? NULL
					      : api_pods(&sources, &filter, &len));
	routes_conditions_done(&sources);
}

static void answer_resources(struct routes *r, const struct http_request *request,
			     struct http_reply *reply)
{
	struct api_filter filter;
	size_t len = 0;

	if (read_filter(r, request, &filter, reply))
		reply_document(reply, api_resources_document(r->resources, &filter, &len));
}

static void answer_attachments(struct routes *r, const struct http_request *request,
			       struct http_reply *reply)
{
	struct api_filter filter;
	size_t len = 0;

	if (read_filter(r, request, &filter, reply))
		reply_document(reply, api_attachments(r->attachments, r->epoch_ms, &filter, &len));
}

/* Defers the reply if no event matches and the client wants to wait; false: reply now. */
static bool wait_for_events(const struct routes *r, const struct http_request *request,
			    const struct event_filter *filter, uint64_t wait_s, struct err *e)
{
	uint64_t wait_ms = wait_s < EVENT_WAIT_MAX_MS / 1000 ? wait_s * 1000 : EVENT_WAIT_MAX_MS;

	if (wait_s == 0 || !r->event_watch || api_events_any(r->events, filter))
		return false;
	if (request->later && event_watch_wait(r->event_watch, request->later, filter,
					       request->now_ms + wait_ms) == 0)
		return true;
	err_set(e, -EAGAIN, "too many requests wait for events; retry later");
	return false;
}

/* True if the name is too long to be stored while a client waits. A pod may be NAMESPACE/NAME. */
static bool is_long(const char *name)
{
	return name && strlen(name) > NAME_BYTES_MAX;
}

/* Reads the parameters `since` and `until`; 0: not given. -EINVAL with a message: one of them is
 * malformed. */
static int read_range(const struct routes *r, const struct http_request *request,
		      uint64_t *ret_since, uint64_t *ret_until, struct err *e)
{
	uint64_t now_ms = request->now_ms + r->epoch_ms;
	int failed = query_moment(request, "since", now_ms, 0, ret_since, e);

	return failed ? failed : query_moment(request, "until", now_ms, *ret_since, ret_until, e);
}

/* -EINVAL with a message: a parameter is malformed. */
static int read_event_choice(const struct routes *r, const struct http_request *request,
			     struct event_filter *filter, struct err *e)
{
	const char *type = http_param(request, "type");

	if (read_range(r, request, &filter->since_ms, &filter->until_ms, e) < 0)
		return e->code;
	for (enum event_type t = EVENT_NORMAL; type && t <= EVENT_WARNING; t++)
		if (strcmp(type, event_type_name(t)) == 0) {
			filter->has_type = true;
			filter->type = t;
		}
	return type && !filter->has_type ? err_set(e, -EINVAL, "type is not Normal or Warning") : 0;
}

static void answer_events(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	struct event_filter filter = {.pod = http_param(request, "pod"),
				      .reason = http_param(request, "reason")};
	uint64_t limit = 0, wait_s = 0;
	struct err e = {0};
	size_t len = 0;

	if (is_long(filter.pod) || is_long(filter.reason) ||
	    is_long(http_param(request, "device"))) {
		err_set(&e, -EINVAL, "pod, device and reason have at most %d bytes",
			NAME_BYTES_MAX);
		reply_error(reply, &e);
		return;
	}
	filter.device = routes_wanted_device(r, request, &e);
	if (e.code == -ENODEV) { /* it may have been removed since its last event */
		filter.device = http_param(request, "device");
		e = (struct err){0};
	}
	if (e.code == 0 && read_event_choice(r, request, &filter, &e) == 0 &&
	    query_number(request, "limit", &limit, &e) == 0 &&
	    query_number(request, "after", &filter.after, &e) == 0 &&
	    query_number(request, "wait", &wait_s, &e) == 0) {
		filter.limit = limit;
		if (wait_for_events(r, request, &filter, wait_s, &e))
			return;
	}
	if (e.code < 0)
		reply_error(reply, &e);
	else
		reply_document(reply, api_events(r->events, &filter, &len));
}

/* Returns the number of a port, 2 for "mlx5_0/2"; 0: it is not the name of a port. */
static uint32_t routes_port_number(const char *name)
{
	char device[DEVICE_NAME_SIZE];

	return device_name_of_numbered(name, '/', device)
		       ? (uint32_t)strtoul(strrchr(name, '/') + 1, NULL, 10)
		       : 0;
}

static void answer_diagnosis(struct routes *r, const struct http_request *request,
			     struct http_reply *reply)
{
	struct diagnosis_query query = {.pod = http_param(request, "pod")};
	struct condition_sources sources = {.resources = NULL};
	struct err e = {0};
	size_t len = 0;

	if (!knows_devices(r, reply))
		return;
	if (!r->diagnosis) {
		reply_not_yet(reply, "no sample has been judged yet");
		return;
	}
	query.sources = &sources;
	query.started_unix_ms = r->started_unix_ms;
	if (read_range(r, request, &query.since_ms, &query.until_ms, &e) < 0) {
		reply_error(reply, &e);
		return;
	}
	query.ended = http_param(request, "ended") || query.since_ms || query.until_ms;
	query.function = routes_wanted_device(r, request, &e);
	query.port = query.function ? routes_port_number(http_param(request, "device")) : 0;
	if (e.code < 0)
		reply_error(reply, &e);
	else
		reply_document(reply, routes_conditions(r, request->now_ms, &sources) < 0
					      ? NULL
					      : api_diagnosis(&query, &len));
	routes_conditions_done(&sources);
}

/* Defers the reply until the next sample, because the client may have the last one already. */
static void answer_sample(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	struct err e = {0};

	if (r->sample_watch && request->later &&
	    sample_watch_wait(r->sample_watch, request->later, request->now_ms) == 0)
		return;
	err_set(&e, -EAGAIN, "too many requests wait for samples; retry later");
	reply_error(reply, &e);
}

static void answer_doctor(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	struct doctor_input in = {.resources = r->resources,
				  .attachments = r->attachments,
				  .config = r->config,
				  .guard_error = r->guard_error,
				  .port_error = r->port_error,
				  .features_error = r->features_error,
				  .tls_expired = has_tls_expired(r, request->now_ms),
				  .missing = r->missing,
				  .confinement = r->confinement,
				  .n_missing = r->n_missing,
				  .now_ms = request->now_ms};
	struct attach_counters counters = {0};
	struct job_status jobs[32];
	struct api_filter filter;
	struct doctor doctor;
	size_t len = 0;

	if (!knows_devices(r, reply))
		return;
	if (!read_filter(r, request, &filter, reply))
		return;
	in.host = &r->inventory->host;
	in.jobs = jobs;
	in.n_jobs = r->jobs ? r->jobs(jobs, ARRAY_SIZE(jobs), JOB_SLOW_MS) : 0;
	if (r->admin.counters) {
		r->admin.counters(&counters, r->admin.arg);
		in.counters = &counters;
	}
	if (doctor_build(&doctor, &in) < 0) {
		reply_document(reply, NULL);
		return;
	}
	reply_document(reply, api_doctor(&doctor, &filter, &len));
	doctor_done(&doctor);
}

/* {"device":"0000:03:00.2","why":"...","attachment":...} */
static char *explanation(const struct explain_input *in, size_t *ret_len)
{
	char text[EXPLAIN_SIZE];

	explain_device(in, text);
	return api_print(json_pack("{so so so}", "device", json_text(in->function), "why",
				   json_text(text), "attachment",
				   api_attachment(in->attachment, in->epoch_ms)),
			 ret_len);
}

static void reply_explanation(const struct routes *r, const char *function,
			      struct http_reply *reply)
{
	static const struct resource_table none;
	const struct host *host = &r->inventory->host;
	struct resource_index *index = resource_index_new(r->resources ? r->resources : &none);
	struct explain_input in = {.function = function,
				   .rdma = "",
				   .resources = index,
				   .attachment = attach_list_function(r->attachments, function),
				   .epoch_ms = r->epoch_ms,
				   .refused = is_config_refused(r)};
	size_t len = 0;

	for (size_t i = 0; i < host->n_rdma; i++)
		if (strcmp(host->rdma[i].function, function) == 0)
			in.rdma = host->rdma[i].name;
	reply_document(reply, index ? explanation(&in, &len) : NULL);
	resource_index_free(index);
}

static void answer_explain(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	struct err e = {0};
	const char *function;

	if (!knows_devices(r, reply))
		return;
	function = routes_wanted_device(r, request, &e);
	if (!function && e.code == 0)
		err_set(&e, -EINVAL, "device is missing");
	if (function)
		reply_explanation(r, function, reply);
	else
		reply_error(reply, &e);
}

static void answer_config(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	struct api_bpf bpf = {.on = false};
	size_t len;

	(void)request;
	if (r->report_bpf)
		r->report_bpf(&bpf, r->report_bpf_arg);
	if (r->config_json)
		reply_document(reply, api_config(r->config_json, &bpf, &len));
	else
		reply_not_yet(reply, "the configuration has not been read yet");
}

static void answer_suggest(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	(void)request;
	if (knows_devices(r, reply))
		reply_document(reply, proposal_of(&r->inventory->host, !r->unprivileged));
}

static void answer_index(struct routes *r, const struct http_request *request,
			 struct http_reply *reply)
{
	size_t len = 0;

	reply_document(reply, route_index(r, request->now_ms, &len));
}

static void answer_openapi(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	size_t len = 0;

	(void)r, (void)request;
	reply_document(reply, openapi_text(&len));
}

#define KEY_DEVICE                                                                                 \
	{                                                                                          \
		"device", "string", "any name of a device", .example = "mlx5_0"                    \
	}
#define KEY_POD                                                                                    \
	{                                                                                          \
		"pod", "string", "NAME or NAMESPACE/NAME of a pod", .example = "train/job-7"       \
	}

#define KEY_NAMESPACE                                                                              \
	{                                                                                          \
		"namespace", "string", "the Kubernetes namespace of the pod", .example = "train"   \
	}

static const struct route table[] = {
	{"/metrics", routes_metrics, NULL, "metrics in the format of the Accept header", {{0}}},
	{"/healthz", answer_healthz, NULL, "whether the daemon's event loop runs", {{0}}},
	{"/readyz",
	 answer_readyz,
	 NULL,
	 "whether the daemon is ready, and what it cannot do",
	 {{"pod", "string", "ready only if this is the daemon of that pod, NAMESPACE/NAME",
	   .example = "rocelet/rocelet-x7k2p"}}},
	{"/api/v1", answer_index, "Index", "this list", {{0}}},
	{"/api/v1/openapi.json",
	 answer_openapi,
	 "{*}",
	 "the API as an OpenAPI 3.1 document",
	 {{0}}},
	{"/api/v1/devices",
	 answer_devices,
	 "Devices",
	 "every device of the node and the resources offered",
	 {KEY_DEVICE,
	  KEY_POD,
	  KEY_NAMESPACE,
	  {"kind", "string", "kind of function", .words = "pf|vf|sf|virtual"}}},
	{"/api/v1/pods", answer_pods, "Pods", "pods and their devices", {KEY_POD, KEY_NAMESPACE}},
	{"/api/v1/resources",
	 answer_resources,
	 "Resources",
	 "the resources offered to the kubelet",
	 {{"name", "string", "a resource", .example = "rocelet.dev/roce"}}},
	{"/api/v1/attachments",
	 answer_attachments,
	 "Attachments",
	 "interfaces in pods, and devices in transit",
	 {KEY_DEVICE, KEY_POD, KEY_NAMESPACE}},
	{"/api/v1/events",
	 answer_events,
	 "Events",
	 "events, the oldest first",
	 {KEY_DEVICE,
	  KEY_POD,
	  {"since", "string",
	   "only events since then: 90s, 10m, 2h30m, 1d ago; 02:10 (UTC), the last one; or a date of RFC 3339",
	   .example = "10m"},
	  {"until", "string",
	   "only events that began until then; a time of day is the first one after `since`",
	   .example = "2100-01-02T03:04:05Z"},
	  {"reason", "string", "only events with this reason", .example = "AttachFailed"},
	  {"type", "string", "only events of this type", .words = "Normal|Warning"},
	  {"limit", "integer", "at most this number of events, the newest", .example = "20"},
	  {"after", "integer", "only events after this generation", .example = "17"},
	  {"wait", "integer", "seconds to wait for the first event, at most 25", .example = "25"}}},
	{"/api/v1/qps",
	 routes_qps,
	 "QueuePairs",
	 "queue pairs and their flows",
	 {KEY_DEVICE,
	  KEY_POD,
	  {"limit", "integer", "at most this number of queue pairs, the first", .example = "20"},
	  {"top", "string", "sort by this value, largest first",
	   .words = "ce|cnp|naks|retransmissions|rtt|packets"}}},
	{"/api/v1/diagnosis",
	 answer_diagnosis,
	 "Diagnosis",
	 "verdicts, and what cannot be decided",
	 {KEY_DEVICE,
	  KEY_POD,
	  {"ended", "string", "also list the verdicts that ended in the last hour", .example = "1",
	   .words = "1"},
	  {"since", "string",
	   "only what was open at some time since then, as for events; also what has ended",
	   .example = "10m"},
	  {"until", "string", "only what began until then, as for events; also what has ended",
	   .example = "2100-01-02T03:04:05Z"}}},
	{"/api/v1/diagnosis/sample",
	 answer_sample,
	 "{*}?",
	 "the next sample, as input of the diagnosis",
	 {{0}}},
	{"/api/v1/explain",
	 answer_explain,
	 "Explanation",
	 "one sentence about a device: its owner, or why it has none",
	 {{"device", "string", "any name of a device", .example = "mlx5_0", .is_required = true}}},
	{"/api/v1/doctor",
	 answer_doctor,
	 "Doctor",
	 "problems of rocelet itself",
	 {KEY_DEVICE,
	  KEY_POD,
	  KEY_NAMESPACE,
	  {"kind", "string", "only findings of this kind", .example = "dirty"}}},
	{"/api/v1/agent",
	 routes_agent,
	 "Agent",
	 "the parts of rocelet, and whether each works",
	 {{0}}},
	{"/api/v1/config", answer_config, "{*}", "the configuration in use", {{0}}},
	{"/api/v1/suggest",
	 answer_suggest,
	 "{*}",
	 "a suggested configuration for this node",
	 {{0}}},
	{"/api/v1/ports",
	 routes_ports,
	 "Ports",
	 "ports of the newest sample",
	 {KEY_DEVICE, KEY_POD, KEY_NAMESPACE}},
	{"/api/v1/history",
	 routes_history,
	 "History|Histories",
	 "the last samples of one port, or fewer samples of all ports",
	 {{"port", "string", "all samples of this port, DEVICE/PORT", .example = "mlx5_0/1"},
	  {"since", "string",
	   "with port: only those after this timeMs, or after a time as for events",
	   .example = "1200000"},
	  {"every", "integer", "without port: seconds between two samples", .example = "10"},
	  {"signals", "string", "without port: names of signals, separated by commas",
	   .example = "bytes_received,bytes_sent"}}},
	{"/api/v1/counters",
	 routes_counters,
	 "Counters",
	 "every counter of one port, with its rate",
	 {{"port", "string", "the port, DEVICE/PORT", .example = "mlx5_0/1", .is_required = true}}},
	{"/api/v1/live",
	 routes_live,
	 "Live",
	 "changes since a sample",
	 {{"since", "string",
	   "timeMs of the newest sample that the client has, or a time as for events",
	   .example = "1200000"},
	  {"events", "integer", "generation of the newest event that the client has",
	   .example = "17"},
	  {"wait", "integer", "seconds to wait for a change, at most 25", .example = "25"}}},
	{"/" CAUSE_RUNBOOK, answer_runbook, NULL, "the runbook", {{0}}},
	{CAUSE_FOLDER, answer_runbook, NULL, "the runbook; one page per cause below it", {{0}}},
};

const struct route *routes_table(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(table);
	return table;
}

/* True if the requested path ends with this one: a proxy may prefix our paths with its own. */
static bool routes_ends_with(const char *requested, const char *path)
{
	size_t n = strlen(requested), len = strlen(path);

	return n >= len && strcmp(requested + n - len, path) == 0;
}

static const struct route *find_route(const char *path)
{
	return find_first(table, ARRAY_SIZE(table), i, routes_ends_with(path, table[i].path));
}

/* The name of a cause in a path below the runbook's folder; NULL: another path. */
static const char *cause_in_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t folder = strlen(CAUSE_FOLDER), len = slash ? (size_t)(slash - path) + 1 : 0;

	if (len < folder || memcmp(path + len - folder, CAUSE_FOLDER, folder) != 0)
		return NULL;
	return slash + 1;
}

/* Answers with the cause's page. A browser that asks for an unknown cause gets links to all causes.
 */
static void answer_cause(const struct routes *r, const char *name,
			 const struct http_request *request, struct http_reply *reply)
{
	const struct web_page *page = web_cause(name);

	if (page)
		reply_runbook(r, page, 200, reply);
	else if (accept_html(request->accept))
		reply_runbook(r, &web_no_cause, 404, reply);
}

/* Redirects from the runbook's folder without its slash. A relative address, because a proxy may
 * prefix our paths. */
static void redirect_to_runbook(struct http_reply *reply)
{
	static const char *const headers[] = {"Location", &CAUSE_FOLDER[1], NULL};

	reply->status = 308;
	reply->headers = headers;
}

/* True for a path below /api, of any version, with any prefix of a proxy. */
static bool routes_is_under_api(const char *path)
{
	return strstr(path, "/api/") != NULL;
}

static void reply_no_such_path(struct http_reply *reply)
{
	struct err e = {0};

	err_set(&e, -ENOENT, "no such path; /api/v1 lists them");
	reply_error(reply, &e);
}

/* True for the path of the web page: every path that ends with '/', because a proxy may add a
 * prefix; but not for a misspelt path of a document. */
static bool is_page(const char *path)
{
	char stem[HTTP_TARGET_MAX + 1];
	size_t n = strlen(path);

	if (path[0] != '/' || path[n - 1] != '/' || n >= sizeof(stem) || strstr(path, "//") ||
	    strstr(path, "/api/"))
		return false;
	memcpy(stem, path, n - 1);
	stem[n - 1] = '\0';
	return !find_route(stem) && !cause_in_path(stem);
}

void routes_answer(const struct http_request *request, struct http_reply *reply, void *routes)
{
	const struct route *route;
	const char *cause;
	struct err e = {0};

	if (request->deferred) {
		routes_admin(routes, request, reply);
		return;
	}
	route = find_route(request->path);
	if (route && route_is_api(route) &&
	    (route_check_query(route, request, &e) < 0 ||
	     routes_check_pod(routes, request, &e) < 0))
		reply_error(reply, &e);
	else if (route)
		route->answer(routes, request, reply);
	else if ((cause = cause_in_path(request->path)))
		answer_cause(routes, cause, request, reply);
	else if (routes_ends_with(request->path, "/runbook"))
		redirect_to_runbook(reply);
	else if (routes_is_under_api(request->path))
		reply_no_such_path(reply);
	else if (is_page(request->path))
		routes_reply_page(request, reply);
	reply->is_tagged = route && route_is_api(route);
}

void routes_done(struct routes *r)
{
	free(r->devices);
	*r = (struct routes){0};
}
