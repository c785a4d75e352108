/* routes.c - one small function per document. */
#include "routes.h"

#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "api.h"
#include "api_resources.h"
#include "inventory.h"

#define TEXT "text/plain; charset=utf-8"
#define HTML "text/html; charset=utf-8"
#define JSON "application/json"

static const char index_html[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>rocelet</title></head>\n"
	"<body><h1>rocelet " ROCELET_VERSION "</h1>\n"
	"<ul>\n"
	"<li><a href=\"/metrics\">/metrics</a>: counters for Prometheus</li>\n"
	"<li><a href=\"/api/v1/devices\">/api/v1/devices</a>: the RDMA and network devices of this "
	"host</li>\n"
	"<li><a href=\"/api/v1/pods\">/api/v1/pods</a>: which container holds which device</li>\n"
	"<li><a href=\"/api/v1/config\">/api/v1/config</a>: the configuration in use</li>\n"
	"<li><a href=\"/healthz\">/healthz</a>, <a href=\"/readyz\">/readyz</a>: probes</li>\n"
	"</ul></body></html>\n";

static void reply_copy(struct http_reply *reply, unsigned status, const char *type,
		       const char *body, size_t len)
{
	char *copy = malloc(len ? len : 1);

	reply->status = copy ? status : 500;
	reply->content_type = type;
	if (!copy)
		return;
	memcpy(copy, body, len);
	reply->body = copy;
	reply->body_len = len;
}

static void reply_string(struct http_reply *reply, unsigned status, const char *type,
			 const char *body)
{
	reply_copy(reply, status, type, body, strlen(body));
}

static const char *not_ready_because(const struct routes *r)
{
	if (!r->inventory || r->inventory->generation == 0)
		return "not ready: the host's devices have not been read yet\n";
	return r->page ? NULL : "not ready: the first sample has not been taken yet\n";
}

static void answer_index(struct routes *r, const struct http_request *request,
			 struct http_reply *reply)
{
	(void)r, (void)request;
	reply_string(reply, 200, HTML, index_html);
}

static void answer_healthz(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	(void)r, (void)request;
	reply_string(reply, 200, TEXT, "ok\n");
}

static void answer_readyz(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	const char *because = not_ready_because(r);

	(void)request;
	reply_string(reply, because ? 503 : 200, TEXT, because ? because : "ok\n");
}

static void answer_metrics(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	enum metrics_format format = accept_metrics(request->accept);

	if (!r->page) {
		reply_string(reply, 503, TEXT, "the first sample has not been taken yet\n");
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
	size_t len;
	char *text;

	if (r->devices && r->devices_generation == generation && r->devices_resources == resources)
		return true;
	text = api_devices(&r->inventory->host, r->resources, generation, &len);
	if (!text)
		return false;
	free(r->devices);
	r->devices = text;
	r->devices_len = len;
	r->devices_generation = generation;
	r->devices_resources = resources;
	return true;
}

static void answer_devices(struct routes *r, const struct http_request *request,
			   struct http_reply *reply)
{
	(void)request;
	if (!r->inventory || r->inventory->generation == 0)
		reply_string(reply, 503, TEXT, "the host's devices have not been read yet\n");
	else if (!refresh_devices(r))
		reply_string(reply, 500, TEXT, "out of memory\n");
	else
		reply_copy(reply, 200, JSON, r->devices, r->devices_len);
}

static void answer_pods(struct routes *r, const struct http_request *request,
			struct http_reply *reply)
{
	size_t len = 0;
	char *text = r->resources ? api_pods(r->resources, &len) : NULL;

	(void)request;
	if (text)
		reply_copy(reply, 200, JSON, text, len);
	else if (r->resources)
		reply_string(reply, 500, TEXT, "out of memory\n");
	else
		reply_string(reply, 503, TEXT, "the kubelet has not been asked yet\n");
	free(text);
}

static void answer_config(struct routes *r, const struct http_request *request,
			  struct http_reply *reply)
{
	(void)request;
	if (r->config_json)
		reply_string(reply, 200, JSON, r->config_json);
	else
		reply_string(reply, 503, TEXT, "the configuration has not been read yet\n");
}

static const struct route {
	const char *path;
	void (*answer)(struct routes *, const struct http_request *, struct http_reply *);
} table[] = {
	{"/metrics", answer_metrics},  {"/healthz", answer_healthz},
	{"/readyz", answer_readyz},    {"/api/v1/devices", answer_devices},
	{"/api/v1/pods", answer_pods}, {"/api/v1/config", answer_config},
	{"/", answer_index},
};

void routes_answer(const struct http_request *request, struct http_reply *reply, void *routes)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(request->path, table[i].path) == 0) {
			table[i].answer(routes, request, reply);
			return;
		}
	}
}

void routes_done(struct routes *r)
{
	free(r->devices);
	*r = (struct routes){0};
}
