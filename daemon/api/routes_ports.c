/* routes_ports.c - the question's words -> what is known of ports -> the document, or, of what is
 * new, later. */
#include "routes_ports.h"

#include <stdint.h>

#include "api_ports.h"
#include "diagnosis_report.h"
#include "inventory.h"
#include "live_watch.h"
#include "query.h"
#include "reply.h"
#include "resource_table.h"

/* False, and answered: no sample has been judged. */
static bool knows_ports(const struct routes *r, struct http_reply *reply)
{
	if (r->diagnosis && r->inventory)
		return true;
	reply_string(reply, 503, REPLY_TEXT, "no sample has been judged yet\n");
	return false;
}

void routes_ports(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	size_t len = 0;

	(void)request;
	if (knows_ports(r, reply))
		reply_document(reply,
			       api_ports(r->diagnosis, &r->inventory->host, r->resources, &len));
}

void routes_history(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	const char *name = http_param(request, "port");
	uint64_t since_ms = 0;
	struct err e = {0};
	size_t port, len = 0;

	if (!knows_ports(r, reply))
		return;
	port = name ? api_port_find(r->diagnosis, name) : SIZE_MAX;
	if (query_number(request, "since", &since_ms, &e) == 0 && port == SIZE_MAX)
		err_set(&e, name ? -ENODEV : -EINVAL, "%s",
			name ? "no such port is watched" : "port is missing, as mlx5_0/1");
	if (e.code < 0)
		reply_error(reply, &e);
	else
		reply_document(reply, api_history(r->diagnosis, port, since_ms, &len));
}

void routes_live_look(struct live_scene *ret, uint64_t now_ms, void *routes)
{
	const struct routes *r = routes;

	*ret = (struct live_scene){
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

static bool wait_for_news(const struct routes *r, const struct http_request *request,
			  const struct live_question *q, const struct live_scene *scene,
			  uint64_t wait_s)
{
	uint64_t wait_ms = wait_s < LIVE_WAIT_MAX_MS / 1000 ? wait_s * 1000 : LIVE_WAIT_MAX_MS;

	return wait_s > 0 && r->live_watch && request->later && !api_live_any(scene, q) &&
	       live_watch_wait(r->live_watch, request->later, q, request->now_ms + wait_ms) == 0;
}

/* Whoever cannot wait gets what there is, and is to ask again after a while of his own. */
void routes_live(struct routes *r, const struct http_request *request, struct http_reply *reply)
{
	struct live_question q = {0};
	struct live_cache none = {0};
	struct live_scene scene;
	struct err e = {0};
	uint64_t wait_s = 0;
	size_t len = 0;

	if (query_number(request, "since", &q.since_ms, &e) < 0 ||
	    query_number(request, "events", &q.events_after, &e) < 0 ||
	    query_number(request, "wait", &wait_s, &e) < 0) {
		reply_error(reply, &e);
		return;
	}
	routes_live_look(&scene, request->now_ms, r);
	if (wait_for_news(r, request, &q, &scene, wait_s))
		return;
	reply_document(reply,
		       api_live(r->live_watch ? &r->live_watch->cache : &none, &scene, &q, &len));
	live_cache_done(&none);
}
