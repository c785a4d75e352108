/* routes.c - one small function per document. */
#include "routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "api.h"
#include "api_attachments.h"
#include "api_diagnosis.h"
#include "api_resources.h"
#include "capabilities.h"
#include "cause.h"
#include "cleanup.h"
#include "device_name.h"
#include "doctor.h"
#include "event_watch.h"
#include "explain.h"
#include "inventory.h"
#include "json_text.h"
#include "pool_config.h"
#include "proposal.h"
#include "query.h"
#include "reply.h"
#include "routes_orders.h"
#include "routes_ports.h"
#include "routes_qps.h"
#include "sample_watch.h"
#include "web_page.h"

#define NAME_BYTES_MAX 512

static const char *not_ready_because(const struct routes *r)
{
	if (!r->inventory || r->inventory->generation == 0)
		return "not ready: the host's devices have not been read yet\n";
	return r->page ? NULL : "not ready: the first sample has not been taken yet\n";
}

/* Documents for browsers come compressed; for the few who do not take that they are unpacked. */
static void reply_web(const struct web_page *page, const struct http_request *request,
		      struct http_reply *reply)
{
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

static void answer_runbook(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	(void)r;
	reply_web(&web_runbook, request, reply);
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

/* Ready all the same: there is one in use that works. NULL: out of memory. */
static char *ready_text(const struct routes *r, uint64_t now_ms, size_t *ret_len)
{
	const struct config_state *c = r->config;
	char *text = NULL, refusal[POOL_REFUSAL_TEXT];
	FILE *f = open_memstream(&text, ret_len);

	if (!f)
		return NULL;
	fputs("ok\n", f);
	if (c && c->error.code)
		fprintf(f, "the configuration file is refused: %s\n", c->error.msg);
	if (r->port_error && r->port_error->code)
		fprintf(f, "nothing is served over TCP: %s\n", r->port_error->msg);
	if (r->guard_error && r->guard_error->code)
		fprintf(f, "what guards TCP is not as its files are: %s\n", r->guard_error->msg);
	if (has_tls_expired(r, now_ms))
		fputs("the certificate that is shown over TCP has expired\n", f);
	for (size_t i = 0; c && i < c->refusals.n; i++) {
		pool_refusal_text(&c->refusals.list[i], refusal);
		fprintf(f, "%s\n", refusal);
	}
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* What is attached to pods cannot be looked after, or nothing can be attached. */
static bool is_blind(const struct routes *r, char ret[512])
{
	struct attach_counters counters = {.view_error = "", .journal_error = ""};
	const char *why = "";

	if (r->orders.counters)
		r->orders.counters(&counters, r->orders.arg);
	if (counters.view_error[0])
		why = counters.view_error;
	else if (counters.journal_error[0])
		why = counters.journal_error;
	else if (counters.runtime_lacks_all)
		why = counters.runtime_error;
	snprintf(ret, 512, "not ready: %s\n", why);
	return why[0];
}

/* What is asked of the daemon cannot be done at all. */
static bool is_powerless(const struct routes *r, char ret[512])
{
	for (size_t i = 0; i < r->n_lacks; i++) {
		if (!r->lacks[i].fatal)
			continue;
		snprintf(ret, 512, "not ready: %s is missing: %.400s\n", r->lacks[i].name,
			 r->lacks[i].stops);
		return true;
	}
	return false;
}

/* Who waits until a rollout is ready shall not get past a file that nothing works with. */
static bool offers_nothing(const struct routes *r, char ret[512])
{
	const struct config_state *c = r->config;

	if (!c || !c->offers_nothing)
		return false;
	snprintf(ret, 512, "not ready: the configuration file is refused: %s\n", c->error.msg);
	return true;
}

/* Who asks for a rocelet by its pod asks for no other one: in an upgrade two of a node have the
 * same socket and port, one after the other. */
static bool routes_is_another(const struct routes *r, const struct http_request *request,
			      char ret[512])
{
	const char *pod = http_param(request, "pod"), *own = r->own_pod ? r->own_pod : "";

	snprintf(ret, 512, "not ready: this is the rocelet of %s%s\n", *own ? "pod " : "no pod",
		 own);
	return pod && strcmp(pod, own) != 0;
}

static void answer_readyz(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	const char *because = not_ready_because(r);
	size_t len = 0;
	char *text, sentence[512];

	if (!because && (routes_is_another(r, request, sentence) || offers_nothing(r, sentence) ||
			 is_blind(r, sentence) || is_powerless(r, sentence)))
		because = sentence;
	if (because) {
		reply_string(reply, 503, REPLY_TEXT, because);
		return;
	}
	text = ready_text(r, request->now_ms, &len);
	reply_copy(reply, 200, REPLY_TEXT, text ? text : "ok\n", text ? len : strlen("ok\n"));
	free(text);
}

static void answer_metrics(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	enum metrics_format format = accept_metrics(request->accept);

	if (!r->page) {
		reply_string(reply, 503, REPLY_TEXT, "the first sample has not been taken yet\n");
		return;
	}
	reply->status = 200;
	reply->content_type = accept_content_type(format);
	reply->page = page_ref(r->page);
	reply->page_format = (int)format;
}

/* Renders the document anew when the inventory changed; false: out of memory. */
static bool refresh_devices(struct routes *r)
{
	uint64_t generation = r->inventory->generation;
	uint64_t resources = r->resources ? r->resources->generation : 0;
	const struct api_scene scene = {&r->inventory->host, generation,  r->resources,
					r->attachments,	     r->epoch_ms, r->settings};
	size_t len;
	char *text;

	if (r->devices && r->devices_generation == generation &&
	    r->devices_resources == resources &&
	    r->devices_attachments == r->attachments_generation &&
	    r->devices_settings == r->settings_generation)
		return true;
	text = api_devices(&scene, &len);
	if (!text)
		return false;
	free(r->devices);
	r->devices = text;
	r->devices_len = len;
	r->devices_generation = generation;
	r->devices_resources = resources;
	r->devices_attachments = r->attachments_generation;
	r->devices_settings = r->settings_generation;
	return true;
}

/* False, and answered: nothing is known of the host's devices. */
static bool knows_devices(const struct routes *r, struct http_reply *reply)
{
	if (r->inventory && r->inventory->generation > 0)
		return true;
	reply_string(reply, 503, REPLY_TEXT, "the host's devices have not been read yet\n");
	return false;
}

static void answer_devices(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	(void)request;
	if (!knows_devices(r, reply))
		return;
	if (refresh_devices(r))
		reply_copy(reply, 200, REPLY_JSON, r->devices, r->devices_len);
	else
		reply_string(reply, 500, REPLY_TEXT, "out of memory\n");
}

static void answer_pods(struct routes *r, const struct http_request *request,
			struct http_reply *reply)
{
	size_t len = 0;

	(void)request;
	if (r->resources)
		reply_document(reply, api_pods(r->resources, r->attachments, r->epoch_ms, &len));
	else
		reply_string(reply, 503, REPLY_TEXT, "the kubelet has not been asked yet\n");
}

static void answer_resources(struct routes *r, const struct http_request *request,
			     struct http_reply *reply)
{
	size_t len = 0;

	(void)request;
	reply_document(reply, api_resources_document(r->resources, &len));
}

static void answer_attachments(struct routes *r, const struct http_request *request,
			       struct http_reply *reply)
{
	size_t len = 0;

	(void)request;
	reply_document(reply, api_attachments(r->attachments, r->epoch_ms, &len));
}

/* The function of the parameter "device", whatever name it is called by. */
static const char *wanted_device(const struct routes *r, const struct http_request *request,
				 struct err *e)
{
	const char *name = http_param(request, "device");

	if (!name || !r->inventory)
		return name;
	return device_behind_name(&r->inventory->host, r->attachments, name, e);
}

/* Where there are none yet and somebody wants to wait for them; false: to be answered now. */
static bool wait_for_events(const struct routes *r, const struct http_request *request,
			    const struct event_filter *filter, uint64_t wait_s, struct err *e)
{
	uint64_t wait_ms = wait_s < EVENT_WAIT_MAX_MS / 1000 ? wait_s * 1000 : EVENT_WAIT_MAX_MS;

	if (wait_s == 0 || !r->event_watch || api_events_any(r->events, filter))
		return false;
	if (request->later && event_watch_wait(r->event_watch, request->later, filter,
					       request->now_ms + wait_ms) == 0)
		return true;
	err_set(e, -EAGAIN, "too many wait for events, ask again later");
	return false;
}

/* They are kept for who waits. A pod may be NAMESPACE/NAME. */
static bool is_long(const char *name)
{
	return name && strlen(name) > NAME_BYTES_MAX;
}

static void answer_events(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	struct event_filter filter = {.pod = http_param(request, "pod")};
	uint64_t limit = 0, wait_s = 0;
	struct err e = {0};
	size_t len = 0;

	if (is_long(filter.pod) || is_long(http_param(request, "device"))) {
		err_set(&e, -EINVAL, "pod and device have at most %d bytes", NAME_BYTES_MAX);
		reply_error(reply, &e);
		return;
	}
	filter.device = wanted_device(r, request, &e);
	if (e.code == -ENODEV) { /* it may have left the bus since */
		filter.device = http_param(request, "device");
		e = (struct err){0};
	}
	if (e.code == 0 && query_number(request, "limit", &limit, &e) == 0 &&
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

static void answer_diagnosis(struct routes *r, const struct http_request *request,
			     struct http_reply *reply)
{
	struct diagnosis_question question = {.pod = http_param(request, "pod"),
					      .resources = r->resources};
	struct err e = {0};
	size_t len = 0;

	if (!knows_devices(r, reply))
		return;
	if (!r->diagnosis) {
		reply_string(reply, 503, REPLY_TEXT, "no sample has been judged yet\n");
		return;
	}
	question.host = &r->inventory->host;
	question.function = wanted_device(r, request, &e);
	if (e.code < 0)
		reply_error(reply, &e);
	else
		reply_document(reply, api_diagnosis(r->diagnosis, &question, &len));
}

/* With the next sample: the last one may have been told already. */
static void answer_sample(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	struct err e = {0};

	if (r->sample_watch && request->later &&
	    sample_watch_wait(r->sample_watch, request->later, request->now_ms) == 0)
		return;
	err_set(&e, -EAGAIN, "too many wait for samples, ask again later");
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
				  .tls_expired = has_tls_expired(r, request->now_ms),
				  .lacks = r->lacks,
				  .n_lacks = r->n_lacks,
				  .now_ms = request->now_ms};
	struct attach_counters counters = {0};
	struct job_status jobs[32];
	struct doctor doctor;
	size_t len = 0;

	if (!knows_devices(r, reply))
		return;
	in.host = &r->inventory->host;
	in.jobs = jobs;
	in.n_jobs = r->jobs ? r->jobs(jobs, ARRAY_SIZE(jobs), JOB_SLOW_MS) : 0;
	if (r->orders.counters) {
		r->orders.counters(&counters, r->orders.arg);
		in.counters = &counters;
	}
	if (doctor_build(&doctor, &in) < 0) {
		reply_document(reply, NULL);
		return;
	}
	reply_document(reply, api_doctor(&doctor, &len));
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
				   .epoch_ms = r->epoch_ms};
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
	function = wanted_device(r, request, &e);
	if (!function && e.code == 0)
		err_set(&e, -EINVAL, "device is missing");
	if (e.code < 0)
		reply_error(reply, &e);
	else
		reply_explanation(r, function, reply);
}

static void answer_config(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	struct api_bpf bpf = {.on = false};
	size_t len;

	(void)request;
	if (r->tell_bpf)
		r->tell_bpf(&bpf, r->tell_bpf_arg);
	if (r->config_json)
		reply_document(reply, api_config(r->config_json, &bpf, &len));
	else
		reply_string(reply, 503, REPLY_TEXT, "the configuration has not been read yet\n");
}

static void answer_suggest(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	(void)request;
	if (knows_devices(r, reply))
		reply_document(reply, proposal_of(&r->inventory->host));
}

static const struct route {
	const char *path;
	void (*answer)(struct routes *, const struct http_request *, struct http_reply *);
} table[] = {
	{"/metrics", answer_metrics},
	{"/healthz", answer_healthz},
	{"/readyz", answer_readyz},
	{"/api/v1/devices", answer_devices},
	{"/api/v1/pods", answer_pods},
	{"/api/v1/resources", answer_resources},
	{"/api/v1/attachments", answer_attachments},
	{"/api/v1/events", answer_events},
	{"/api/v1/qps", routes_qps},
	{"/api/v1/diagnosis", answer_diagnosis},
	{"/api/v1/diagnosis/sample", answer_sample},
	{"/api/v1/explain", answer_explain},
	{"/api/v1/doctor", answer_doctor},
	{"/api/v1/config", answer_config},
	{"/api/v1/suggest", answer_suggest},
	{"/api/v1/ports", routes_ports},
	{"/api/v1/history", routes_history},
	{"/api/v1/live", routes_live},
	{"/" CAUSE_RUNBOOK, answer_runbook},
};

/* A proxy may leave its own path before ours. */
static bool routes_ends_with(const char *asked, const char *path)
{
	size_t n = strlen(asked), len = strlen(path);

	return n >= len && strcmp(asked + n - len, path) == 0;
}

static const struct route *find_route(const char *path)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (routes_ends_with(path, table[i].path))
			return &table[i];
	return NULL;
}

/* The page is at the root of wherever we are: at any path that ends with '/', but what looks like a
 * document of ours that was misspelt is none. */
static bool is_page(const char *path)
{
	char stem[HTTP_TARGET_MAX + 1];
	size_t n = strlen(path);

	if (path[0] != '/' || path[n - 1] != '/' || n >= sizeof(stem) || strstr(path, "//") ||
	    strstr(path, "/api/"))
		return false;
	memcpy(stem, path, n - 1);
	stem[n - 1] = '\0';
	return !find_route(stem);
}

void routes_answer(const struct http_request *request, struct http_reply *reply, void *routes)
{
	const struct route *route;

	if (request->deferred) {
		routes_order(routes, request, reply);
		return;
	}
	route = find_route(request->path);
	if (route)
		route->answer(routes, request, reply);
	else if (is_page(request->path))
		reply_web(&web_page, request, reply);
}

void routes_done(struct routes *r)
{
	free(r->devices);
	*r = (struct routes){0};
}
