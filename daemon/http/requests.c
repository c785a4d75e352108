// SPDX-License-Identifier: Apache-2.0
/* requests.c - libmicrohttpd's callbacks for connections and requests, which are answered at once
 * or later. Everything runs in MHD_run() or MHD_add_connection(), on the loop's thread.
 *
 * While an answer is being prepared, the connection is suspended, and libmicrohttpd does not read
 * it. So a disconnect is detected only when the answer is sent, or when the connection's place is
 * needed. A request that waits too long is answered at our own deadline. */
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "accept.h"
#include "cleanup.h"
#include "fnv.h"
#include "log.h"
#include "page.h"
#include "self_counters.h"
#include "server.h"
#include "tls.h"

/* libmicrohttpd's memory for one request's line and headers and the headers of its answer. */
#define CONNECTION_MEMORY ((size_t)16384)
/* libmicrohttpd's overhead per header in addition to the text, rounded up. */
#define HEADER_RECORD	  ((size_t)80)
/* Reserved for the head of an answer. */
#define ANSWER_MEMORY	  ((size_t)2048)

/* Cost of a wrong password in the peer's rate limit, in connections. */
#define FAILURE_TOKENS 20

#define TEXT_OF_(n) #n
#define TEXT_OF(n)  TEXT_OF_(n)

/* A request whose headers have been received. Freed when the request has ended and no answer is
 * pending. */
struct http_deferred {
	struct http *http;
	struct connection *connection; /* NULL: the request has ended */
	bool reads;		       /* GET or HEAD; otherwise POST */
	char *body;		       /* of a POST, NUL-terminated */
	size_t body_len, body_max;
	bool too_large;
	bool to_check; /* its password has to be checked */
	bool refused;  /* the password was wrong */
	bool kept;     /* http_answer() will be called */
	bool answered; /* reply is ready to be sent */
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

/* --- oversized requests -------------------------------------------------------------------------
 * A connection has a fixed amount of memory in libmicrohttpd, shared by its request (each parameter
 * and header takes a record) and the head of the answer. A request that fills it gets no answer
 * from libmicrohttpd (0.9.75 even waits for more of it). So we reject it first with an answer that
 * needs none of that memory: it is written to the socket directly, because libmicrohttpd has sent
 * all previous answers completely, and nothing for this request. Then the connection is closed. */

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
	if (h->tls_mhd && connection->is_tcp)
		gnutls_record_send(session_of(connection), text, (size_t)n);
	else
		(void)!send(connection->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	http_cut(h, connection);
}

/* Counts the parameters like libmicrohttpd. */
static size_t count_params(const char *target)
{
	const char *query = strchr(target, '?');
	size_t n = query && query[1];

	for (const char *at = query; at && (at = strchr(at, '&')) != NULL; at++)
		n += at[1] != '\0';
	return n;
}

/* Called when a request's first line is complete, before it is parsed. */
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
	return NULL; /* *request is NULL in the first call of requests_on_request() */
}

/* True if the headers are too large. Call when all have been received. */
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

/* Requests authentication. A browser uses the first scheme that it supports. */
static void add_challenges(struct MHD_Response *response)
{
	MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				"Basic realm=\"rocelet\", charset=\"UTF-8\"");
	MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				"Bearer realm=\"rocelet\"");
}

/* Sends the reply. MHD_NO: libmicrohttpd closes the connection. */
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

/* Clients of the API expect errors as JSON. */
static enum MHD_Result refuse_method(struct http *h, struct MHD_Connection *c)
{
	struct http_reply reply = {0};

	reply_sentence(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "application/json",
		       "{\"error\":\"only GET and HEAD are served here\"}");
	return send_reply(h, c, &reply, false);
}

/* --- kept answers ----------------------------------------------------------------------------- */

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

/* Resumes a request; libmicrohttpd continues it in the loop's next turn. */
static void resume_request(struct http_deferred *d)
{
	MHD_resume_connection(d->connection->mhd);
	http_wake(d->http); /* its epoll descriptor does not report it */
}

/* Answers a waiting request. Takes ownership of the reply. */
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

static bool is_disconnected(const struct connection *connection)
{
	struct pollfd p = {.fd = connection->fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

bool http_client_disconnected(const struct http_deferred *d)
{
	return !d->connection || is_disconnected(d->connection);
}

void requests_expire(struct connection *connection)
{
	struct http_reply reply = {0};

	reply_sentence(&reply, MHD_HTTP_GATEWAY_TIMEOUT, "application/json",
		       "{\"error\":\"still in progress; retry later\"}");
	requests_answer_waiting(connection->deferred, &reply);
}

void requests_release(struct http *h)
{
	struct connection *it;

	for (it = TAILQ_FIRST(&h->connections.list); it; it = TAILQ_NEXT(it, entry))
		if (it->phase == CONNECTION_WAITING)
			MHD_resume_connection(it->mhd);
}

/* Frees the places of GETs whose client has disconnected. */
static void drop_disconnected(struct http *h)
{
	struct connection *it, *next;

	for (it = TAILQ_FIRST(&h->connections.list); it; it = next) {
		next = TAILQ_NEXT(it, entry);
		if (it->phase != CONNECTION_WAITING || !it->deferred->reads || !is_disconnected(it))
			continue;
		http_evict(h, it);
		resume_request(it->deferred);
	}
}

/* Numbers of connections that wait for an answer, of one kind of places. */
struct waiting {
	unsigned admin;
	unsigned readers[2]; /* from this node, from the network */
};

static struct waiting count_waiting(const struct http *h, enum connection_places places)
{
	struct waiting w = {0};
	const struct connection *it;

	for (it = TAILQ_FIRST(&h->connections.list); it; it = TAILQ_NEXT(it, entry)) {
		if (it->phase != CONNECTION_WAITING || connection_places(it) != places)
			continue;
		if (it->deferred->reads)
			w.readers[it->is_tcp]++;
		else
			w.admin++;
	}
	return w;
}

/* True if another connection may wait. A quarter of the places is kept for connections that do not
 * wait. */
static bool has_room(const struct waiting *w, unsigned max)
{
	return w->admin + w->readers[false] + w->readers[true] < max - max / 4;
}

static bool may_administer(const struct http *h)
{
	const struct waiting w = count_waiting(h, PLACES_ADMIN);

	return has_room(&w, h->connections.max[PLACES_ADMIN]);
}

/* True if the reader may wait. A quarter of the places is for waiting readers from the network, and
 * another quarter for those of this node, so that neither group uses the other's places. Of the
 * admin connections, the same number may wait for a GET. */
static bool may_read(const struct http *h, const struct connection *reader)
{
	enum connection_places places = connection_places(reader);
	const struct waiting w = count_waiting(h, places);
	unsigned max_waiting = h->connections.max[PLACES_READERS] / 4;

	return w.readers[reader->is_tcp] < max_waiting && has_room(&w, h->connections.max[places]);
}

static bool may_read_later(struct http *h, const struct connection *reader)
{
	if (may_read(h, reader))
		return true;
	drop_disconnected(h);
	return may_read(h, reader);
}

/* --- receiving a request ---------------------------------------------------------------------- */

static void add_to_body(struct http_deferred *d, const char *piece, size_t n)
{
	char *body;

	if (d->too_large || n > d->body_max - d->body_len) {
		d->too_large = true;
		return;
	}
	body = realloc(d->body, d->body_len + n + 1);
	if (!body) {
		d->too_large = true; /* for the available memory */
		return;
	}
	memcpy(body + d->body_len, piece, n);
	d->body = body;
	d->body_len += n;
	body[d->body_len] = '\0';
}

/* Adds a parameter; an MHD_KeyValueIterator. */
static enum MHD_Result add_param(void *cls, enum MHD_ValueKind kind, const char *name,
				 const char *value)
{
	struct http_request *request = cls;

	(void)kind;
	if (request->n_params == HTTP_PARAMS_MAX)
		return MHD_NO; /* not reached: was rejected before */
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

/* Adds the body's tag (RFC 9110 section 8.8.3). Omits the body if the client sent that tag, because
 * it has the body already. wanted: "" if absent. */
static void tag_reply(struct http_reply *reply, const char *wanted)
{
	uint64_t hash = fnv1a(FNV1A_START, reply->body, reply->body_len);

	snprintf(reply->etag, sizeof(reply->etag), "\"%016" PRIx64 "\"", hash);
	if (strcmp(wanted, "*") != 0 && !strstr(wanted, reply->etag))
		return;
	free(reply->body);
	reply->body = NULL;
	reply->body_len = 0;
	reply->status = MHD_HTTP_NOT_MODIFIED;
}

/* Calls the handler for a complete request. */
static enum MHD_Result call_handler(struct http_deferred *d, struct MHD_Connection *c,
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
		.soon = d->reads ? d : NULL,
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
	if (reply.is_tagged && reply.status == MHD_HTTP_OK && reply.body)
		tag_reply(&reply, header_value(c, MHD_HTTP_HEADER_IF_NONE_MATCH));
	return send_reply(h, c, &reply, request.accepts_gzip);
}

/* --- authentication --------------------------------------------------------------------------- */

static enum MHD_Result refuse_unauthenticated(struct http *h, struct MHD_Connection *c)
{
	struct http_reply reply = {.challenges = true};

	reply_sentence(&reply, MHD_HTTP_UNAUTHORIZED, "text/plain; charset=utf-8",
		       "authentication required: a token, or a name and its password\n");
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
	if (!h->access || !connection_of(c)->is_tcp || is_open(h, path))
		return ACCESS_GRANTED;
	return access_judge(h->access, header_value(c, MHD_HTTP_HEADER_AUTHORIZATION), ret);
}

/* A password to check. They are checked one at a time, because a check is slow by design and other
 * requests have to be served. Only one per peer is queued, so that guessing takes a single place in
 * the queue. */
struct password_check {
	struct password_check *next;
	struct http *http;
	uint64_t peer;
	struct access_claim claim;
	bool correct;
	struct http_deferred *deferred;
};

static void password_check_run(void *arg)
{
	struct password_check *t = arg;

	t->correct = access_check(&t->claim);
}

/* Frees the first check, which has ended. */
static void password_check_free(struct password_check *t)
{
	t->http->checks = t->next;
	explicit_bzero(t, sizeof(*t));
	free(t);
}

static void password_check_done(void *arg);

/* Starts the next check. Drops those whose client has disconnected. */
static void begin_password_check(struct http *h)
{
	struct password_check *t = h->checks;

	while (t && !t->deferred->connection) {
		struct password_check *next = t->next;

		deferred_free(t->deferred);
		password_check_free(t);
		t = next;
	}
	if (!t)
		return;
	http_hold(h);
	job_begin(&h->check_job, h->loop, "the check of a password", password_check_run,
		  password_check_done, t);
}

/* Resumes the request whose password was checked. */
static void end_password_check(struct http_deferred *d, bool correct)
{
	d->kept = false;
	d->refused = !correct;
	if (!d->connection) {
		deferred_free(d);
	} else if (is_waiting(d)) {
		enter_phase(d->http, d->connection, CONNECTION_ANSWER);
		resume_request(d);
	}
}

/* Ends a check and starts the next one. The user file may have changed in the meantime; the result
 * is still valid for this request. */
static void password_check_done(void *arg)
{
	struct password_check *t = arg;
	struct http *h = t->http;

	if (!t->correct)
		bucket_charge(http_peer_rate(h, t->peer), FAILURE_TOKENS);
	else if (h->access)
		access_remember(h->access, &t->claim);
	end_password_check(t->deferred, t->correct);
	password_check_free(t);
	begin_password_check(h);
	http_release(h);
}

static bool may_check_password(struct http *h, uint64_t peer)
{
	unsigned n = 0;

	for (const struct password_check *t = h->checks; t; t = t->next, n++)
		if (t->peer == peer)
			return false;
	return n < h->connections.max[PLACES_READERS] / 4 &&
	       bucket_take(http_peer_rate(h, peer), uv_now(h->loop));
}

static enum MHD_Result check_password(struct http_deferred *d, struct MHD_Connection *c,
				      const struct access_claim *claim)
{
	struct http *h = d->http;
	uint64_t peer = d->connection->peer;
	struct password_check *t, **last = &h->checks;

	if (!may_check_password(h, peer))
		return refuse_request(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				      "other passwords are being checked; retry\n");
	t = calloc(1, sizeof(*t));
	if (!t)
		return MHD_NO;
	*t = (struct password_check){.http = h, .peer = peer, .claim = *claim, .deferred = d};
	while (*last)
		last = &(*last)->next;
	*last = t;
	d->kept = true;
	wait_for_answer(d);
	if (!h->check_job.running)
		begin_password_check(h);
	return MHD_YES;
}

/* --- libmicrohttpd's callbacks
 * --------------------------------------------------------------------- */

static size_t requests_body_max(const struct http *h, const char *path)
{
	return h->large_path && strcmp(path, h->large_path) == 0 ? HTTP_LARGE_MAX : HTTP_BODY_MAX;
}

static enum MHD_Result refuse_body(struct http *h, struct MHD_Connection *c, size_t max)
{
	char text[64];

	snprintf(text, sizeof(text), "a request body has at most %zu bytes\n", max);
	return refuse_request(h, c, MHD_HTTP_CONTENT_TOO_LARGE, text);
}

/* Handles the headers: a request is rejected without reading the rest of it. */
static enum MHD_Result begin_request(struct http *h, struct MHD_Connection *c, const char *path,
				     const char *method, void **request)
{
	bool reads = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		     strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	const size_t max = requests_body_max(h, path);
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
	    (strcmp(method, MHD_HTTP_METHOD_POST) != 0 || connection->admin == ADMIN_NOT_HERE))
		return refuse_method(h, c);
	if (!reads && connection->admin == ADMIN_FORBIDDEN)
		return refuse_request(h, c, MHD_HTTP_FORBIDDEN,
				      "admin requests are accepted from root only\n");
	if (!reads && strtoull(header_value(c, MHD_HTTP_HEADER_CONTENT_LENGTH), NULL, 10) > max)
		return refuse_body(h, c, max);
	if (h->closed_message && connection->is_tcp && !is_open(h, path))
		return refuse_request(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, h->closed_message);
	verdict = requests_judge(h, c, path, &claim);
	if (verdict == ACCESS_REFUSED)
		return refuse_unauthenticated(h, c);
	*request = d = calloc(1, sizeof(*d));
	if (!d)
		return MHD_NO;
	*d = (struct http_deferred){
		.http = h, .connection = connection, .reads = reads, .body_max = max};
	d->to_check = verdict == ACCESS_TO_CHECK;
	return MHD_YES;
}

/* Answers a request that is complete, or whose answer is ready. */
static enum MHD_Result answer_request(struct http_deferred *d, struct MHD_Connection *c,
				      const char *path, const char *method)
{
	struct http *h = d->http;
	struct access_claim claim;

	if (d->answered)
		return send_reply(h, c, &d->reply, false);
	if (d->kept)
		return MHD_NO; /* resumed without an answer: the server is closing */
	if (d->refused)
		return refuse_unauthenticated(h, c);
	if (d->to_check) {
		d->to_check = false;
		/* Another request may have verified the same password in the meantime. */
		if (requests_judge(h, c, path, &claim) == ACCESS_TO_CHECK)
			return check_password(d, c, &claim);
	}
	if (d->too_large)
		return refuse_body(h, c, d->body_max);
	if (!d->reads && !may_administer(h))
		return refuse_request(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
				      "too many admin requests are in progress; retry later\n");
	return call_handler(d, c, path, method);
}

/* Called once when the headers are complete, once per piece of a body, once at the end, and again
 * when a suspended connection is resumed. The body of a GET is discarded. */
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
	/* libmicrohttpd's timeout must be longer than our own time limit. */
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
