/* requests.c - what libmicrohttpd calls: connections that come and go, requests that want an
 * answer. All of it runs inside MHD_run() or MHD_add_connection(), on the loop's thread. */
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "accept.h"
#include "cleanup.h"
#include "log.h"
#include "response.h"
#include "self_counters.h"
#include "server.h"

/* What a request has in *request instead of a deferred answer: it is a GET or a HEAD that is not
 * answered yet, or its refusal is sent. */
static char plain_request, refused_request;

static bool is_deferred(const void *request)
{
	return request && request != &plain_request && request != &refused_request;
}

struct connection *request_slot(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void enter(struct http *h, struct MHD_Connection *c, enum connection_phase phase)
{
	struct connection *slot = request_slot(c);

	if (slot)
		connections_enter(&h->connections, slot, phase, uv_now(h->loop));
}

static struct connection *adopt(struct http *h, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *slot = connections_adopt(&h->connections, info->connect_fd);

	if (!slot) /* without a slot it would have no deadline */
		shutdown(info->connect_fd, SHUT_RDWR);
	return slot;
}

static void on_connection(void *cls, struct MHD_Connection *c, void **slot,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http *h = cls;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*slot = adopt(h, c);
		return;
	}
	if (*slot)
		connections_remove(&h->connections, take_ptr(*slot));
	if (h->resume_ms)
		h->resume_ms = 1; /* a slot and a descriptor: what the pause waited for */
}

/* A request's first line is complete; what this returns is *request in on_request(). */
static void *on_request_line(void *cls, const char *uri, struct MHD_Connection *c)
{
	struct connection *slot = request_slot(c);

	if (slot && slot->phase == CONNECTION_IDLE)
		enter(cls, c, CONNECTION_REQUEST);
	return refusal_of_target(cls, c, uri) ? &refused_request : NULL;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);

	return value ? value : "";
}

static void reply_sentence(struct http_reply *reply, unsigned status, const char *sentence)
{
	reply->status = status;
	reply->content_type = "text/plain; charset=utf-8";
	reply->body = strdup(sentence);
	reply->body_len = reply->body ? strlen(sentence) : 0;
}

/* MHD_NO makes libmicrohttpd end the connection. */
static enum MHD_Result send_reply(struct http *h, struct MHD_Connection *c,
				  struct http_reply *reply, bool accepts_gzip)
{
	struct MHD_Response *response = response_new(reply, accepts_gzip ? h->gzip : NULL);
	enum MHD_Result r;

	h->self->http_requests++;
	if (reply->status >= 400)
		h->self->http_errors++;
	if (!response)
		return MHD_NO;
	r = MHD_queue_response(c, reply->status, response);
	MHD_destroy_response(response);
	enter(h, c, CONNECTION_ANSWER);
	return r;
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *c, unsigned status,
			      const char *sentence)
{
	struct http_reply reply = {0};

	reply_sentence(&reply, status, sentence);
	return send_reply(h, c, &reply, false);
}

/* --- what is asked ---------------------------------------------------------------------------- */

/* MHD_KeyValueIterator. */
static enum MHD_Result add_param(void *cls, enum MHD_ValueKind kind, const char *name,
				 const char *value)
{
	struct http_request *request = cls;

	(void)kind;
	if (request->n_params == HTTP_PARAMS_MAX)
		return MHD_NO; /* was refused */
	request->params[request->n_params++] = (struct http_param){name, value ? value : ""};
	return MHD_YES;
}

static struct http_request describe(struct http *h, struct MHD_Connection *c, const char *path,
				    const char *method)
{
	struct http_request request = {
		.method = method,
		.path = path,
		.accept = header(c, MHD_HTTP_HEADER_ACCEPT),
		.accepts_gzip = accept_gzip(header(c, MHD_HTTP_HEADER_ACCEPT_ENCODING)),
		.now_ms = uv_now(h->loop),
	};

	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, add_param, &request);
	return request;
}

const char *http_param(const struct http_request *request, const char *name)
{
	for (size_t i = 0; i < request->n_params; i++)
		if (strcmp(request->params[i].name, name) == 0)
			return request->params[i].value;
	return NULL;
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *c,
			      const struct http_request *request)
{
	struct http_deferred *t = request->deferred ? request->deferred : request->later;
	struct http_reply reply = {0};

	if (h->closing)
		return MHD_NO;
	h->handler(request, &reply, h->handler_arg);
	if (t && t->kept) {
		deferred_wait(t);
		return MHD_YES;
	}
	if (reply.status == 0)
		reply_sentence(&reply, MHD_HTTP_NOT_FOUND, "nothing is served under this path\n");
	return send_reply(h, c, &reply, request->accepts_gzip);
}

static bool is_read(const char *method)
{
	return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
	       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

/* What it is answered with, should it wait. */
static enum MHD_Result resume(struct http_deferred *t)
{
	return t->answered ? send_reply(t->http, t->connection, &t->reply, false)
			   : MHD_NO; /* it goes on without an answer: the server ends */
}

/* The whole of it is there. */
static enum MHD_Result answer_read(struct http *h, struct MHD_Connection *c, const char *path,
				   const char *method, void **deferred)
{
	struct http_request request = describe(h, c, path, method);
	struct http_deferred *t = deferred_new(h, c);

	if (!t)
		return MHD_NO;
	t->reads = true;
	*deferred = t;
	request.later = deferred_may_read(h) ? t : NULL;
	return answer(h, c, &request);
}

/* --- orders ----------------------------------------------------------------------------------- */

/* The headers of a POST are there. */
static enum MHD_Result begin_order(struct http *h, struct MHD_Connection *c, void **request)
{
	const struct connection *slot = request_slot(c);

	if (!slot || slot->orders == ORDERS_NOT_HERE)
		return refuse(h, c, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "only GET and HEAD are served here\n");
	if (slot->orders == ORDERS_FORBIDDEN)
		return refuse(h, c, MHD_HTTP_FORBIDDEN, "only root may give orders\n");
	if (strtoull(header(c, MHD_HTTP_HEADER_CONTENT_LENGTH), NULL, 10) > HTTP_BODY_MAX)
		return refuse(h, c, MHD_HTTP_CONTENT_TOO_LARGE,
			      "an order has at most 65536 bytes\n");
	*request = deferred_new(h, c);
	return *request ? MHD_YES : MHD_NO;
}

/* The whole of it is there, or its answer. */
static enum MHD_Result answer_order(struct http_deferred *t, const char *path, const char *method)
{
	struct http *h = t->http;
	struct http_request request;

	if (t->too_large)
		return refuse(h, t->connection, MHD_HTTP_CONTENT_TOO_LARGE,
			      "an order has at most 65536 bytes\n");
	if (!deferred_may_order(h))
		return refuse(h, t->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "too many orders are being carried out, try again later\n");
	request = describe(h, t->connection, path, method);
	request.body = t->body;
	request.body_len = t->body_len;
	request.deferred = t;
	return answer(h, t->connection, &request);
}

/* --- libmicrohttpd's side --------------------------------------------------------------------- */

static enum MHD_Result begin(struct http *h, struct MHD_Connection *c, const char *method,
			     void **request)
{
	*request = &plain_request;
	if (refusal_of_headers(h, c))
		return MHD_NO;
	if (is_read(method))
		return MHD_YES;
	if (strcmp(method, MHD_HTTP_METHOD_POST) == 0)
		return begin_order(h, c, request);
	return refuse(h, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are served here\n");
}

/* Called once when the headers are there, once per piece of a body, once at the end, and again when
 * a connection that was set aside goes on. What is refused is refused at once, the rest of the
 * request unread; a body that comes with a GET is dropped piece by piece. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *path,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **request)
{
	struct http_deferred *t = is_deferred(*request) ? *request : NULL;

	(void)version;
	if (*request == &refused_request)
		return MHD_NO;
	if (!*request)
		return begin(cls, c, method, request);
	if (*body_len > 0) {
		if (t)
			deferred_add(t, body, *body_len);
		*body_len = 0;
		return MHD_YES;
	}
	if (t && (t->answered || t->kept || t->reads))
		return resume(t);
	return t ? answer_order(t, path, method) : answer_read(cls, c, path, method, request);
}

static void on_completed(void *cls, struct MHD_Connection *c, void **request,
			 enum MHD_RequestTerminationCode why)
{
	(void)why;
	enter(cls, c, CONNECTION_IDLE);
	if (is_deferred(*request))
		deferred_end(*request);
	*request = NULL;
}

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *fmt, va_list ap)
{
	static struct log_site site;

	(void)cls;
	log_v(&site, LOG_LVL_DEBUG, "http", 0, fmt, ap);
}

struct MHD_Daemon *requests_start(struct http *h)
{
	/* Connections are ours to limit: libmicrohttpd's own limit must not be met first. */
	return MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
			MHD_USE_ERROR_LOG,
		0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, h, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, h,
		MHD_OPTION_CONNECTION_LIMIT, h->connections.size + 8,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_END);
}
