/* requests.c - what libmicrohttpd calls: connections that come and go, requests that want an answer
 * at once or later. All of it runs inside MHD_run() or MHD_add_connection(), on the loop's thread.
 *
 * While somebody works on an answer its connection is suspended: libmicrohttpd does not look at it,
 * so a client that goes away is noticed when it is to get its answer, or when its place is wanted,
 * and one that waits too long is told so by our own deadline. */
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "accept.h"
#include "cleanup.h"
#include "log.h"
#include "page.h"
#include "self_counters.h"
#include "server.h"
#include "tls.h"

/* Of libmicrohttpd, for one request's line and headers and the headers of its answer. */
#define CONNECTION_MEMORY ((size_t)16384)
/* What libmicrohttpd keeps of a header beside its text, and a bit. */
#define HEADER_RECORD	  ((size_t)80)
/* For the head of an answer. */
#define ANSWER_MEMORY	  ((size_t)2048)

/* What a wrong password costs its peer, in connections. */
#define FAILURE_TOKENS 20

#define TEXT_OF_(n) #n
#define TEXT_OF(n)  TEXT_OF_(n)

/* One request from its headers on. It goes when the request has ended and nobody is to answer it
 * any more. */
struct http_deferred {
	struct http *http;
	struct connection *connection; /* NULL: the request has ended */
	bool reads;		       /* a GET or HEAD; otherwise a POST */
	char *body;		       /* of a POST, terminated */
	size_t body_len;
	bool too_large;
	bool to_try;   /* its password */
	bool refused;  /* which was wrong */
	bool kept;     /* http_answer() is to come */
	bool answered; /* reply is what to send */
	struct http_reply reply;
};

static struct connection *connection_of(struct MHD_Connection *c)
{
	return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void enter_phase(struct http *h, struct connection *connection, enum connection_phase phase)
{
	connections_enter(&h->connections, connection, phase, uv_now(h->loop));
}

static const char *header_value(struct MHD_Connection *c, const char *name)
{
	const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);

	return value ? value : "";
}

/* --- requests that are larger than what we take in ----------------------------------------------
 * A connection has a fixed memory in libmicrohttpd, shared by its request (each parameter and
 * header costs it a record) and the head of the answer. What fills it up gets no answer at all from
 * libmicrohttpd (0.9.75 even waits for more of it), so it is refused before, in words of our own
 * that need none of that memory: straight to the socket, since libmicrohttpd has sent all of what
 * it was given, and nothing of this request's. The connection ends with it. */

static gnutls_session_t session_of(const struct connection *connection)
{
	return MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION)
		->tls_session;
}

static void refuse_and_cut(struct http *h, struct connection *connection, unsigned status,
			   const char *sentence)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "HTTP/1.1 %u %s\r\nConnection: close\r\n"
			 "Content-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n\r\n%s",
			 status, MHD_get_reason_phrase_for(status), strlen(sentence), sentence);

	h->self->http_requests++;
	h->self->http_errors++;
	if (h->tls_mhd && connection->guarded)
		gnutls_record_send(session_of(connection), text, (size_t)n);
	else
		(void)!send(connection->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	http_cut(h, connection);
}

/* As libmicrohttpd will count them. */
static size_t count_params(const char *target)
{
	const char *query = strchr(target, '?');
	size_t n = query && query[1];

	for (const char *at = query; at && (at = strchr(at, '&')) != NULL; at++)
		n += at[1] != '\0';
	return n;
}

/* A request's first line is complete, and not taken apart yet. */
static void *on_request_line(void *http, const char *target, struct MHD_Connection *c)
{
	struct connection *connection = connection_of(c);

	if (connection->phase == CONNECTION_IDLE)
		enter_phase(http, connection, CONNECTION_REQUEST);
	if (strlen(target) > HTTP_TARGET_MAX)
		refuse_and_cut(
			http, connection, MHD_HTTP_URI_TOO_LONG,
			"a path and its query have at most " TEXT_OF(HTTP_TARGET_MAX) " bytes\n");
	else if (count_params(target) > HTTP_PARAMS_MAX)
		refuse_and_cut(http, connection, MHD_HTTP_BAD_REQUEST,
			       "a query has at most " TEXT_OF(HTTP_PARAMS_MAX) " parameters\n");
	return NULL; /* the first requests_on_request() has nothing in *request */
}

/* Once all are there. */
static bool are_headers_too_large(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		c, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	int n = MHD_get_connection_values(c, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND, NULL, NULL);
	size_t size = (info ? info->header_size : 0) + (n > 0 ? (size_t)n : 0) * HEADER_RECORD;

	return size > CONNECTION_MEMORY - ANSWER_MEMORY;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void reply_sentence(struct http_reply *reply, unsigned status, const char *type,
			   const char *sentence)
{
	reply->status = status;
	reply->content_type = type;
	reply->body = strdup(sentence);
	reply->body_len = reply->body ? strlen(sentence) : 0;
}

static void drop_reply(struct http_reply *reply)
{
	free(take_ptr(reply->body));
	page_unref(take_ptr(reply->page));
}

/* A browser takes the first that it knows. */
static void add_challenges(struct MHD_Response *response)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				"Basic realm=\"rocelet\", charset=\"UTF-8\"");
	MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				"Bearer realm=\"rocelet\"");
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
	if (reply->challenges)
		add_challenges(response);
	r = MHD_queue_response(c, reply->status, response);
	MHD_destroy_response(response);
	enter_phase(h, connection_of(c), CONNECTION_ANSWER);
	return r;
}

static enum MHD_Result refuse_request(struct http *h, struct MHD_Connection *c, unsigned status,
				      const char *sentence)
{
	struct http_reply reply = {0};

	reply_sentence(&reply, status, "text/plain; charset=utf-8", sentence);
	return send_reply(h, c, &reply, false);
}

/* --- answers that come later ------------------------------------------------------------------ */

static bool is_waiting(const struct http_deferred *d)
{
	return d->connection && d->connection->phase == CONNECTION_WAITING;
}

static void wait_for_answer(struct http_deferred *d)
{
	d->connection->deferred = d;
	enter_phase(d->http, d->connection, CONNECTION_WAITING);
	MHD_suspend_connection(d->connection->mhd);
}

/* libmicrohttpd comes back to the request in the loop's next turn. */
static void resume_request(struct http_deferred *d)
{
	MHD_resume_connection(d->connection->mhd);
	http_wake(d->http); /* its epoll descriptor says nothing of it */
}

/* Takes the reply. */
static void requests_answer_waiting(struct http_deferred *d, struct http_reply *reply)
{
	d->reply = *reply;
	d->answered = true;
	enter_phase(d->http, d->connection, CONNECTION_ANSWER);
	resume_request(d);
}

static void deferred_free(struct http_deferred *d)
{
	drop_reply(&d->reply);
	free(d->body);
	free(d);
}

void http_keep(struct http_deferred *d)
{
	d->kept = true;
}

void http_answer(struct http_deferred *d, struct http_reply *reply)
{
	d->kept = false;
	if (is_waiting(d))
		requests_answer_waiting(d, reply);
	else
		drop_reply(reply);
	if (!d->connection)
		deferred_free(d);
}

static bool has_gone(const struct connection *connection)
{
	struct pollfd p = {.fd = connection->fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

bool http_has_left(const struct http_deferred *d)
{
	return !d->connection || has_gone(d->connection);
}

void requests_expire(struct connection *connection)
{
	struct http_reply reply = {0};

	reply_sentence(&reply, MHD_HTTP_GATEWAY_TIMEOUT, "application/json",
		       "{\"error\":\"it takes long and is still being worked on; "
		       "ask again later\"}");
	requests_answer_waiting(connection->deferred, &reply);
}

void requests_release(struct http *h)
{
	struct connection *it;

	for (it = TAILQ_FIRST(&h->connections.list); it; it = TAILQ_NEXT(it, entry))
		if (it->phase == CONNECTION_WAITING)
			MHD_resume_connection(it->mhd);
}

/* Makes room: whoever was to answer a GET finds nobody there. */
static void drop_gone(struct http *h)
{
	struct connection *it, *next;

	for (it = TAILQ_FIRST(&h->connections.list); it; it = next) {
		next = TAILQ_NEXT(it, entry);
		if (it->phase != CONNECTION_WAITING || !it->deferred->reads || !has_gone(it))
			continue;
		http_evict(h, it);
		resume_request(it->deferred);
	}
}

/* Connections that wait for an answer, of one kind of places. */
struct waiting {
	unsigned orders;
	unsigned readers[2]; /* of this node, of the network */
};

static struct waiting count_waiting(const struct http *h, enum connection_places places)
{
	struct waiting w = {0};
	const struct connection *it;

	for (it = TAILQ_FIRST(&h->connections.list); it; it = TAILQ_NEXT(it, entry)) {
		if (it->phase != CONNECTION_WAITING || connection_places(it) != places)
			continue;
		if (it->deferred->reads)
			w.readers[it->guarded]++;
		else
			w.orders++;
	}
	return w;
}

/* For one more: connections that do not wait keep a quarter of the places. */
static bool has_room(const struct waiting *w, unsigned max)
{
	return w->orders + w->readers[false] + w->readers[true] < max - max / 4;
}

static bool may_order(const struct http *h)
{
	const struct waiting w = count_waiting(h, PLACES_ADMIN);

	return has_room(&w, h->connections.max[PLACES_ADMIN]);
}

/* A quarter of their places is for readers of the network, and another for those of this node:
 * neither takes the other's. On root's socket as many may wait. */
static bool may_read(const struct http *h, const struct connection *reader)
{
	enum connection_places places = connection_places(reader);
	const struct waiting w = count_waiting(h, places);
	unsigned max_waiting = h->connections.max[PLACES_READERS] / 4;

	return w.readers[reader->guarded] < max_waiting && has_room(&w, h->connections.max[places]);
}

static bool may_read_later(struct http *h, const struct connection *reader)
{
	if (may_read(h, reader))
		return true;
	drop_gone(h);
	return may_read(h, reader);
}

/* --- what is asked ---------------------------------------------------------------------------- */

static void add_to_body(struct http_deferred *d, const char *piece, size_t n)
{
	char *body;

	if (d->too_large || n > HTTP_BODY_MAX - d->body_len) {
		d->too_large = true;
		return;
	}
	body = realloc(d->body, d->body_len + n + 1);
	if (!body) {
		d->too_large = true; /* for what memory there is */
		return;
	}
	memcpy(body + d->body_len, piece, n);
	d->body = body;
	d->body_len += n;
	body[d->body_len] = '\0';
}

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

const char *http_param(const struct http_request *request, const char *name)
{
	for (size_t i = 0; i < request->n_params; i++)
		if (strcmp(request->params[i].name, name) == 0)
			return request->params[i].value;
	return NULL;
}

/* Asks the handler: the whole request is there. */
static enum MHD_Result ask_handler(struct http_deferred *d, struct MHD_Connection *c,
				   const char *path, const char *method)
{
	struct http *h = d->http;
	struct http_request request = {
		.method = method,
		.path = path,
		.accept = header_value(c, MHD_HTTP_HEADER_ACCEPT),
		.accepts_gzip = accept_gzip(header_value(c, MHD_HTTP_HEADER_ACCEPT_ENCODING)),
		.now_ms = uv_now(h->loop),
		.body = d->body,
		.body_len = d->body_len,
		.deferred = d->reads ? NULL : d,
		.later = d->reads && may_read_later(h, connection_of(c)) ? d : NULL,
	};
	struct http_reply reply = {0};

	if (h->closing)
		return MHD_NO;
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, add_param, &request);
	h->handler(&request, &reply, h->handler_arg);
	if (d->kept) {
		wait_for_answer(d);
		return MHD_YES;
	}
	if (reply.status == 0)
		return refuse_request(h, c, MHD_HTTP_NOT_FOUND,
				      "nothing is served under this path\n");
	return send_reply(h, c, &reply, request.accepts_gzip);
}

/* --- who asks --------------------------------------------------------------------------------- */

static enum MHD_Result refuse_stranger(struct http *h, struct MHD_Connection *c)
{
	struct http_reply reply = {.challenges = true};

	reply_sentence(&reply, MHD_HTTP_UNAUTHORIZED, "text/plain; charset=utf-8",
		       "a token, or a name and its password, are asked for here\n");
	return send_reply(h, c, &reply, false);
}

static bool is_open(const struct http *h, const char *path)
{
	for (const char *const *open = h->open_paths; open && *open; open++)
		if (strcmp(path, *open) == 0)
			return true;
	return false;
}

static enum access_verdict requests_judge(const struct http *h, struct MHD_Connection *c,
					  const char *path, struct access_claim *ret)
{
	if (!h->access || !connection_of(c)->guarded || is_open(h, path))
		return ACCESS_GRANTED;
	return access_judge(h->access, header_value(c, MHD_HTTP_HEADER_AUTHORIZATION), ret);
}

/* Passwords are tried one after the other, as that is made to be slow and others want to be served;
 * of each peer one at a time, so that who guesses is one of those who wait, and no more. */
struct trial {
	struct trial *next;
	struct http *http;
	uint64_t peer;
	struct access_claim claim;
	bool right;
	struct http_deferred *asks;
};

static void trial_run(void *arg)
{
	struct trial *t = arg;

	t->right = access_try(&t->claim);
}

/* The first one, which is over. */
static void trial_free(struct trial *t)
{
	t->http->trials = t->next;
	explicit_bzero(t, sizeof(*t));
	free(t);
}

static void trial_done(void *arg);

/* Who has gone does not want to know any more. */
static void begin_trial(struct http *h)
{
	struct trial *t = h->trials;

	while (t && !t->asks->connection) {
		struct trial *next = t->next;

		deferred_free(t->asks);
		trial_free(t);
		t = next;
	}
	if (!t)
		return;
	http_hold(h);
	job_begin(&h->trial_job, h->loop, "the trial of a password", trial_run, trial_done, t);
}

static void tell_trial(struct http_deferred *d, bool right)
{
	d->kept = false;
	d->refused = !right;
	if (!d->connection) {
		deferred_free(d);
	} else if (is_waiting(d)) {
		enter_phase(d->http, d->connection, CONNECTION_ANSWER);
		resume_request(d);
	}
}

/* The files may have changed meanwhile: what was right then is right for this request. */
static void trial_done(void *arg)
{
	struct trial *t = arg;
	struct http *h = t->http;

	if (!t->right)
		bucket_charge(http_peer_rate(h, t->peer), FAILURE_TOKENS);
	else if (h->access)
		access_remember(h->access, &t->claim);
	tell_trial(t->asks, t->right);
	trial_free(t);
	begin_trial(h);
	http_release(h);
}

static bool may_try(struct http *h, uint64_t peer)
{
	unsigned n = 0;

	for (const struct trial *t = h->trials; t; t = t->next, n++)
		if (t->peer == peer)
			return false;
	return n < h->connections.max[PLACES_READERS] / 4 &&
	       bucket_take(http_peer_rate(h, peer), uv_now(h->loop));
}

static enum MHD_Result try_password(struct http_deferred *d, struct MHD_Connection *c,
				    const struct access_claim *claim)
{
	struct http *h = d->http;
	uint64_t peer = d->connection->peer;
	struct trial *t, **last = &h->trials;

	if (!may_try(h, peer))
		return refuse_request(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				      "other passwords are being tried, ask again\n");
	t = calloc(1, sizeof(*t));
	if (!t)
		return MHD_NO;
	*t = (struct trial){.http = h, .peer = peer, .claim = *claim, .asks = d};
	while (*last)
		last = &(*last)->next;
	*last = t;
	d->kept = true;
	wait_for_answer(d);
	if (!h->trial_job.running)
		begin_trial(h);
	return MHD_YES;
}

/* --- libmicrohttpd's side --------------------------------------------------------------------- */

/* What is refused is refused at once, the rest of the request unread. */
static enum MHD_Result begin_request(struct http *h, struct MHD_Connection *c, const char *path,
				     const char *method, void **request)
{
	bool reads = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		     strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	struct connection *connection = connection_of(c);
	enum access_verdict verdict;
	struct access_claim claim;
	struct http_deferred *d;

	if (are_headers_too_large(c)) {
		refuse_and_cut(h, connection, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE,
			       "the headers of a request are too many or too long\n");
		return MHD_NO;
	}
	if (!reads &&
	    (strcmp(method, MHD_HTTP_METHOD_POST) != 0 || connection->orders == ORDERS_NOT_HERE))
		return refuse_request(h, c, MHD_HTTP_METHOD_NOT_ALLOWED,
				      "only GET and HEAD are served here\n");
	if (!reads && connection->orders == ORDERS_FORBIDDEN)
		return refuse_request(h, c, MHD_HTTP_FORBIDDEN, "only root may give orders\n");
	if (!reads &&
	    strtoull(header_value(c, MHD_HTTP_HEADER_CONTENT_LENGTH), NULL, 10) > HTTP_BODY_MAX)
		return refuse_request(h, c, MHD_HTTP_CONTENT_TOO_LARGE,
				      "an order has at most 65536 bytes\n");
	if (h->closed_because && connection->guarded && !is_open(h, path))
		return refuse_request(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, h->closed_because);
	verdict = requests_judge(h, c, path, &claim);
	if (verdict == ACCESS_REFUSED)
		return refuse_stranger(h, c);
	*request = d = calloc(1, sizeof(*d));
	if (!d)
		return MHD_NO;
	*d = (struct http_deferred){.http = h, .connection = connection, .reads = reads};
	d->to_try = verdict == ACCESS_TO_TRY;
	return MHD_YES;
}

/* The whole request is there, or its answer. */
static enum MHD_Result answer_request(struct http_deferred *d, struct MHD_Connection *c,
				      const char *path, const char *method)
{
	struct http *h = d->http;
	struct access_claim claim;

	if (d->answered)
		return send_reply(h, c, &d->reply, false);
	if (d->kept)
		return MHD_NO; /* it goes on without an answer: the server ends */
	if (d->refused)
		return refuse_stranger(h, c);
	if (d->to_try) {
		d->to_try = false;
		/* Somebody else may have been right with it by now. */
		if (requests_judge(h, c, path, &claim) == ACCESS_TO_TRY)
			return try_password(d, c, &claim);
	}
	if (d->too_large)
		return refuse_request(h, c, MHD_HTTP_CONTENT_TOO_LARGE,
				      "an order has at most 65536 bytes\n");
	if (!d->reads && !may_order(h))
		return refuse_request(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				      "too many admin requests are in progress; retry later\n");
	return ask_handler(d, c, path, method);
}

/* Called once when the headers are there, once per piece of a body, once at the end, and again when
 * a connection that was set aside goes on. A body that comes with a GET is dropped piece by piece.
 */
static enum MHD_Result requests_on_request(void *http, struct MHD_Connection *c, const char *path,
					   const char *method, const char *version,
					   const char *body, size_t *body_len, void **request)
{
	struct http_deferred *d = *request;

	(void)version;
	if (connection_of(c)->phase == CONNECTION_CUT)
		return MHD_NO;
	if (!d)
		return begin_request(http, c, path, method, request);
	if (*body_len == 0)
		return answer_request(d, c, path, method);
	if (!d->reads)
		add_to_body(d, body, *body_len);
	*body_len = 0;
	return MHD_YES;
}

static void on_request_end(void *http, struct MHD_Connection *c, void **request,
			   enum MHD_RequestTerminationCode why)
{
	struct http_deferred *d = take_ptr(*request);

	(void)why;
	enter_phase(http, connection_of(c), CONNECTION_IDLE);
	if (d)
		d->connection = NULL;
	if (d && !d->kept)
		deferred_free(d);
}

static void on_connection(void *http, struct MHD_Connection *c, void **connection,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http *h = http;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		h->arriving->mhd = c;
		connections_add(&h->connections, h->arriving, uv_now(h->loop));
		*connection = take_ptr(h->arriving);
	} else {
		connections_remove(&h->connections, *connection);
		free(take_ptr(*connection));
	}
}

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *fmt, va_list ap)
{
	static struct log_site site;

	(void)cls;
	log_v(&site, LOG_LVL_DEBUG, "http", 0, fmt, ap);
}

struct MHD_Daemon *requests_start(struct http *h, bool tls)
{
	/* Not to be met before the time that a request may take. */
	unsigned request_s = (unsigned)(h->connections.request_ms / 1000) + 1;
	unsigned idle_s = h->idle_s > request_s ? h->idle_s : request_s;

	const struct MHD_OptionItem options[] = {
		{tls ? MHD_OPTION_HTTPS_CERT_CALLBACK : MHD_OPTION_END, 0, tls_callback()},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_PRIORITIES},
		{MHD_OPTION_END, 0, NULL},
	};

	return MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
			MHD_USE_ERROR_LOG | (tls ? MHD_USE_TLS : 0),
		0, NULL, NULL, requests_on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED,
		on_request_end, h, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, h,
		MHD_OPTION_CONNECTION_LIMIT,
		h->connections.max[PLACES_READERS] + (tls ? 0 : h->connections.max[PLACES_ADMIN]),
		MHD_OPTION_CONNECTION_TIMEOUT, idle_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		CONNECTION_MEMORY, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}
