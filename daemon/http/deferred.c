/* deferred.c - requests that are answered later. While somebody works on an order its connection is
 * suspended: libmicrohttpd does not look at it, so a client that goes away is noticed when it is to
 * get its answer, or when its place is wanted, and one that waits too long is told so by our own
 * deadline. */
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>

#include "cleanup.h"
#include "page.h"
#include "server.h"

/* That are worked on at once. */
#define ORDERS_MAX 8

struct http_deferred *deferred_new(struct http *h, struct MHD_Connection *c)
{
	struct http_deferred *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->http = h;
	t->connection = c;
	return t;
}

static void drop_reply(struct http_reply *reply)
{
	free(take_ptr(reply->body));
	page_unref(take_ptr(reply->page));
}

static void deferred_free(struct http_deferred *t)
{
	drop_reply(&t->reply);
	free(t->body);
	free(t);
}

void deferred_add(struct http_deferred *t, const char *piece, size_t n)
{
	char *body;

	if (t->too_large || n > HTTP_BODY_MAX - t->body_len) {
		t->too_large = true;
		return;
	}
	body = realloc(t->body, t->body_len + n + 1);
	if (!body) {
		t->too_large = true; /* for what memory there is */
		return;
	}
	memcpy(body + t->body_len, piece, n);
	t->body = body;
	t->body_len += n;
	body[t->body_len] = '\0';
}

/* --- waiting ---------------------------------------------------------------------------------- */

void deferred_wait(struct http_deferred *t)
{
	struct http *h = t->http;
	struct connection *slot = request_slot(t->connection);

	connections_enter(&h->connections, slot, CONNECTION_WAITING, uv_now(h->loop));
	t->next = h->deferred;
	h->deferred = t;
	h->reads_waiting += t->reads;
	MHD_suspend_connection(t->connection);
}

/* False: it does not wait. */
static bool unlink_deferred(struct http_deferred *t)
{
	struct http_deferred **at = &t->http->deferred;

	while (*at && *at != t)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = t->next;
	t->http->reads_waiting -= t->reads;
	return true;
}

bool deferred_may_order(const struct http *h)
{
	return h->connections.waiting - h->reads_waiting < ORDERS_MAX &&
	       connections_may_wait(&h->connections);
}

/* --- reads ------------------------------------------------------------------------------------ */

/* Of the places, so that orders and ordinary questions find theirs. */
static unsigned reads_max(const struct http *h)
{
	return h->connections.size / 4;
}

static bool has_gone(const struct connection *slot)
{
	struct pollfd p = {.fd = slot->fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* Whoever was to answer finds nobody there. */
static void drop_gone(struct http *h)
{
	struct http_deferred *next;

	for (struct http_deferred *t = h->deferred; t; t = next) {
		struct connection *slot = request_slot(t->connection);

		next = t->next;
		if (!t->reads || !has_gone(slot))
			continue;
		unlink_deferred(t);
		http_evict(h, slot);
		MHD_resume_connection(t->connection);
		http_wake(h);
	}
}

bool deferred_may_read(struct http *h)
{
	if (h->reads_waiting >= reads_max(h))
		drop_gone(h);
	return h->reads_waiting < reads_max(h) && connections_may_wait(&h->connections);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Takes the reply; libmicrohttpd comes back for it in the loop's next turn. */
static void go_on(struct http_deferred *t, struct http_reply *reply)
{
	struct http *h = t->http;

	t->reply = *reply;
	t->answered = true;
	connections_enter(&h->connections, request_slot(t->connection), CONNECTION_ANSWER,
			  uv_now(h->loop));
	MHD_resume_connection(t->connection);
	http_wake(h); /* its epoll descriptor says nothing of it */
}

void http_keep(struct http_deferred *t)
{
	t->kept = true;
}

void http_answer(struct http_deferred *t, struct http_reply *reply)
{
	t->kept = false;
	if (t->connection && unlink_deferred(t))
		go_on(t, reply);
	else
		drop_reply(reply);
	if (!t->connection)
		deferred_free(t);
}

bool http_has_left(const struct http_deferred *t)
{
	return !t->connection || has_gone(request_slot(t->connection));
}

void deferred_end(struct http_deferred *t)
{
	t->connection = NULL;
	if (!t->kept)
		deferred_free(t);
}

bool deferred_expire(struct http *h, const struct connection *slot)
{
	static const char sentence[] =
		"{\"error\":\"it takes long and is still being worked on; ask again later\"}";
	struct http_reply reply = {.status = MHD_HTTP_GATEWAY_TIMEOUT,
				   .content_type = "application/json"};
	struct http_deferred *t = h->deferred;

	while (t && request_slot(t->connection) != slot)
		t = t->next;
	if (!t)
		return false;
	reply.body = strdup(sentence);
	reply.body_len = reply.body ? strlen(sentence) : 0;
	unlink_deferred(t);
	go_on(t, &reply);
	return true;
}

void deferred_release(struct http *h)
{
	for (struct http_deferred *t = h->deferred; t; t = t->next)
		MHD_resume_connection(t->connection);
	h->deferred = NULL;
	h->reads_waiting = 0;
}
