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

/* For one request's line and headers and the headers of its answer. */
#define CONNECTION_MEMORY ((size_t)16384)

static struct connection *slot_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void enter(struct http *h, struct MHD_Connection *c, enum connection_phase phase)
{
	struct connection *slot = slot_of(c);

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
	struct connection *slot = slot_of(c);

	(void)uri;
	if (slot && slot->phase == CONNECTION_IDLE)
		enter(cls, c, CONNECTION_REQUEST);
	return NULL;
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
	struct MHD_Response *response = response_new(reply, accepts_gzip);
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

static enum MHD_Result refuse_method(struct http *h, struct MHD_Connection *c)
{
	struct http_reply reply = {0};

	reply_sentence(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are served here\n");
	return send_reply(h, c, &reply, false);
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *c, const char *path,
			      const char *method)
{
	struct http_request request = {
		.method = method,
		.path = path,
		.accept = header(c, MHD_HTTP_HEADER_ACCEPT),
		.accepts_gzip = accept_gzip(header(c, MHD_HTTP_HEADER_ACCEPT_ENCODING)),
	};
	struct http_reply reply = {0};

	h->handler(&request, &reply, h->handler_arg);
	if (reply.status == 0)
		reply_sentence(&reply, MHD_HTTP_NOT_FOUND, "nothing is served under this path\n");
	return send_reply(h, c, &reply, request.accepts_gzip);
}

static bool is_served_method(const char *method)
{
	return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
	       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

/* Called once when the headers are there, once per piece of a body, and once at the end. Other
 * methods are refused at once, the rest of the request unread; a body that comes with a GET is
 * dropped piece by piece. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *path,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **request)
{
	(void)version, (void)body;
	if (!*request) {
		*request = cls;
		return is_served_method(method) ? MHD_YES : refuse_method(cls, c);
	}
	if (*body_len > 0) {
		*body_len = 0;
		return MHD_YES;
	}
	return answer(cls, c, path, method);
}

static void on_completed(void *cls, struct MHD_Connection *c, void **request,
			 enum MHD_RequestTerminationCode why)
{
	(void)request, (void)why;
	enter(cls, c, CONNECTION_IDLE);
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
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, h, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, h,
		MHD_OPTION_CONNECTION_LIMIT, h->connections.size + 8,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_END);
}
