/* uds_client.c - happy path: a call goes out on the link that is up, its answer comes from there.
 *
 * A link that is not up any more (the peer hung up or said GOAWAY; it has not said a word to a call
 * that ran out of time) keeps the calls it has, and the next call gets a new one. Hence a server
 * may be replaced between two calls without its clients seeing it. Whatever was started is never
 * started again. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "uds.h"
#include "uds_link.h"
#include "uds_socket.h"

/* A listener whose queue is full is tried again this often, this long if the call has no timeout of
 * its own. */
#define CONNECT_RETRY_MS 10
#define CONNECT_MAX_MS	 10000

struct channel {
	struct uds_link link; /* first: the one is the other */
	struct uds_client *client;
	struct channel *next, **at;
	unsigned n_calls;
	bool is_retired;
};

enum call_state {
	CALL_WAITING, /* for a connection */
	CALL_RUNNING, /* on its channel */
	CALL_ENDED,   /* to be told from the loop */
	CALL_TOLD,    /* by the client's end; the channel's connection has still to let go of it */
};

struct call {
	struct uds_client *client;
	struct call *next, **at;
	uint64_t id;
	enum call_state state;
	struct grpc_reply reply;
	/* Waiting */
	char *path;
	uint8_t *message;
	size_t len;
	uint64_t deadline_ms; /* UINT64_MAX = none */
	uint64_t give_up_ms;
	/* Running */
	struct channel *channel;
	struct grpc_call *grpc;
	uint64_t n_reads; /* of the link when it started */
	bool is_cancelled;
	/* Ended */
	enum grpc_status status;
	char text[256];
};

struct uds_client {
	struct sockaddr_un address;
	struct grpc_limits limits;
	const struct grpc_limits *limits_or_null;
	struct uv_loop_s *loop;
	uv_timer_t timer;
	struct channel *channels;
	struct call *calls, **calls_end; /* oldest first */
	uint64_t last_id;
	unsigned n_users; /* the timer and links that point here */
	bool is_closed;
};

static void on_timer(uv_timer_t *);

static void unuse(struct uds_client *c)
{
	if (--c->n_users == 0)
		free(c);
}

/* --- calls --------------------------------------------------------------------------------------
 */

static void unlink_call(struct call *call)
{
	*call->at = call->next;
	if (call->next)
		call->next->at = call->at;
	else
		call->client->calls_end = call->at;
}

static void free_call(struct call *call)
{
	free(call->path);
	free(call->message);
	free(call);
}

static void end_call(struct call *call, enum grpc_status status, const char *text)
{
	call->state = CALL_ENDED;
	call->status = status;
	snprintf(call->text, sizeof(call->text), "%s", text);
	uv_timer_start(&call->client->timer, on_timer, 0, 0);
}

static void tell(struct call *call)
{
	unlink_call(call);
	if (call->reply.end)
		call->reply.end(call->grpc, call->status, call->text, call->reply.arg);
	free_call(call);
}

/* Why a call ended with its link; the socket knows better than the connection. */
static const char *reason(const struct channel *ch, const char *text)
{
	return ch->link.why.code ? ch->link.why.msg : text;
}

/* A server that does not say a word within a call's time is not tried again. */
static void leave_channel(struct call *call, enum grpc_status status)
{
	struct channel *ch = call->channel;

	ch->n_calls--;
	if (status == GRPC_DEADLINE_EXCEEDED && ch->link.n_reads == call->n_reads)
		ch->is_retired = true;
	if (ch->is_retired && ch->n_calls == 0)
		uds_link_end_soon(&ch->link);
	call->channel = NULL;
}

static void on_end(struct grpc_call *grpc, enum grpc_status status, const char *text, void *arg)
{
	struct call *call = arg;
	struct channel *ch = call->channel;

	(void)grpc;
	leave_channel(call, status);
	if (call->state == CALL_TOLD) {
		free_call(call);
		return;
	}
	if (status == GRPC_UNAVAILABLE && !ch->link.conn)
		snprintf(call->text, sizeof(call->text), "%.110s: %.140s",
			 call->client->address.sun_path, reason(ch, text));
	else
		snprintf(call->text, sizeof(call->text), "%s", text);
	call->status = status;
	if (!call->is_cancelled) {
		tell(call);
		return;
	}
	call->grpc = NULL; /* is gone when it is told */
	call->state = CALL_ENDED;
	uv_timer_start(&call->client->timer, on_timer, 0, 0);
}

static void on_message(struct grpc_call *grpc, const uint8_t *message, size_t len, void *arg)
{
	struct call *call = arg;

	if (call->state == CALL_RUNNING && call->reply.message)
		call->reply.message(grpc, message, len, call->reply.arg);
}

/* --- channels -----------------------------------------------------------------------------------
 */

static void on_lost(struct uds_link *l)
{
	struct channel *ch = (struct channel *)l;

	*ch->at = ch->next;
	if (ch->next)
		ch->next->at = ch->at;
}

static void on_release(struct uds_link *l)
{
	struct channel *ch = (struct channel *)l;

	unuse(ch->client);
	free(ch);
}

static void add_channel(struct uds_client *c, struct channel *ch)
{
	ch->client = c;
	ch->next = c->channels;
	ch->at = &c->channels;
	if (ch->next)
		ch->next->at = &ch->next;
	c->channels = ch;
	c->n_users++;
}

static bool is_usable(const struct channel *ch)
{
	return !ch->is_retired && !ch->link.is_ending && ch->link.conn &&
	       !grpc_is_closing(ch->link.conn) && !uds_is_hung_up(ch->link.fd);
}

static int connect_channel(struct uds_client *c, struct channel **ret)
{
	int fd = uds_connect(&c->address), r;
	struct channel *ch;
	struct grpc_conn *conn;

	if (fd < 0)
		return fd;
	ch = calloc(1, sizeof(*ch));
	if (!ch || grpc_client_new(&conn, c->limits_or_null, uv_now(c->loop)) < 0) {
		free(ch);
		close(fd);
		return -ENOMEM;
	}
	ch->link.lost = on_lost;
	ch->link.release = on_release;
	r = uds_link_start(&ch->link, c->loop, fd, conn);
	if (r < 0) {
		free(ch);
		return r;
	}
	add_channel(c, ch);
	*ret = ch;
	return 0;
}

/* The one that is up, or a new one. */
static int find_channel(struct uds_client *c, struct channel **ret)
{
	for (struct channel *ch = c->channels; ch; ch = ch->next)
		if (is_usable(ch)) {
			*ret = ch;
			return 0;
		}
	return connect_channel(c, ret);
}

/* --- starting -----------------------------------------------------------------------------------
 */

/* Milliseconds for grpc_start(): what is left of the timeout, 0 = none was asked for. */
static uint32_t time_left(const struct call *call)
{
	uint64_t now_ms = uv_now(call->client->loop);

	if (call->deadline_ms == UINT64_MAX)
		return 0;
	return call->deadline_ms > now_ms ? (uint32_t)(call->deadline_ms - now_ms) : 1;
}

static unsigned max_calls(const struct uds_client *c)
{
	return c->limits_or_null ? c->limits.max_calls : 100; /* see grpc.h */
}

static int start_on(struct channel *ch, struct call *call, const char *path, const uint8_t *message,
		    size_t len)
{
	struct grpc_reply reply = {.message = on_message, .end = on_end, .arg = call};

	call->grpc = grpc_start(ch->link.conn, path, message, len, time_left(call), &reply,
				uv_now(call->client->loop));
	if (!call->grpc)
		return ch->n_calls >= max_calls(call->client) ? -EBUSY : -ENOMEM;
	call->state = CALL_RUNNING;
	call->channel = ch;
	call->n_reads = ch->link.n_reads;
	ch->n_calls++;
	uds_link_kick(&ch->link);
	return 0;
}

static int start_call(struct call *call, const char *path, const uint8_t *message, size_t len)
{
	struct channel *ch;
	int r = find_channel(call->client, &ch);

	return r < 0 ? r : start_on(ch, call, path, message, len);
}

static void refuse(struct call *call, int code)
{
	char text[256];

	snprintf(text, sizeof(text), "cannot connect to %s: %s", call->client->address.sun_path,
		 strerror(-code));
	end_call(call, GRPC_UNAVAILABLE, text);
}

/* The listener's queue is full: later. */
static int keep_for_later(struct call *call, const char *path, const uint8_t *message, size_t len)
{
	call->path = strdup(path);
	call->message = malloc(len ? len : 1);
	if (!call->path || !call->message)
		return -ENOMEM;
	if (len)
		memcpy(call->message, message, len);
	call->len = len;
	call->state = CALL_WAITING;
	call->give_up_ms = uv_now(call->client->loop) + CONNECT_MAX_MS;
	if (!uv_is_active((uv_handle_t *)&call->client->timer))
		uv_timer_start(&call->client->timer, on_timer, CONNECT_RETRY_MS, 0);
	return 0;
}

static struct call *new_call(struct uds_client *c, uint32_t timeout_ms,
			     const struct grpc_reply *reply)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->client = c;
	call->id = ++c->last_id;
	call->reply = *reply;
	call->deadline_ms = timeout_ms ? uv_now(c->loop) + timeout_ms : UINT64_MAX;
	call->at = c->calls_end;
	*c->calls_end = call;
	c->calls_end = &call->next;
	return call;
}

int uds_client_call(struct uds_client *c, const char *path, const uint8_t *message, size_t len,
		    uint32_t timeout_ms, const struct grpc_reply *reply, uint64_t *ret_id)
{
	struct call *call;
	int r;

	if (c->is_closed)
		return -ECANCELED;
	uv_update_time(c->loop); /* a callback that took long is not on the call's time */
	call = new_call(c, timeout_ms, reply);
	if (!call)
		return -ENOMEM;
	r = start_call(call, path, message, len);
	if (r == -EAGAIN)
		r = keep_for_later(call, path, message, len);
	if (r == -ENOMEM || r == -EBUSY) {
		unlink_call(call);
		free_call(call);
		return r;
	}
	if (r < 0)
		refuse(call, r);
	if (ret_id)
		*ret_id = call->id;
	return 0;
}

/* --- what the loop does -------------------------------------------------------------------------
 */

static void retry(struct call *call)
{
	uint64_t now_ms = uv_now(call->client->loop);
	int r;

	if (now_ms >= call->deadline_ms) {
		end_call(call, GRPC_DEADLINE_EXCEEDED, "the deadline passed before a connection");
		return;
	}
	r = start_call(call, call->path, call->message, call->len);
	if (r < 0 && (r != -EAGAIN || now_ms >= call->give_up_ms))
		refuse(call, r);
}

static struct call *find_state(struct uds_client *c, enum call_state state)
{
	struct call *call = c->calls;

	while (call && call->state != state)
		call = call->next;
	return call;
}

static void on_timer(uv_timer_t *timer)
{
	struct uds_client *c = timer->data;
	struct call *call;

	for (call = c->calls; call; call = call->next)
		if (call->state == CALL_WAITING)
			retry(call);
	/* Their hooks may make, cancel and end any others. */
	while (!c->is_closed && (call = find_state(c, CALL_ENDED)))
		tell(call);
	if (!c->is_closed && find_state(c, CALL_WAITING))
		uv_timer_start(timer, on_timer, CONNECT_RETRY_MS, 0);
}

/* --- life ---------------------------------------------------------------------------------------
 */

int uds_client_open(struct uds_client **ret, struct uv_loop_s *loop, const char *path,
		    const struct grpc_limits *limits, struct err *e)
{
	struct uds_client *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, -ENOMEM, "out of memory");
	r = uds_address(&c->address, path, e);
	if (r < 0) {
		free(c);
		return r;
	}
	if (limits) {
		c->limits = *limits;
		c->limits_or_null = &c->limits;
	}
	c->loop = loop;
	c->calls_end = &c->calls;
	uv_timer_init(loop, &c->timer);
	c->timer.data = c;
	c->n_users = 1;
	*ret = c;
	return 0;
}

void uds_client_cancel(struct uds_client *c, uint64_t id)
{
	struct call *call = c->calls;

	while (call && call->id != id)
		call = call->next;
	if (!call)
		return;
	if (call->state == CALL_WAITING)
		end_call(call, GRPC_CANCELLED, "cancelled");
	if (call->state != CALL_RUNNING)
		return;
	call->is_cancelled = true;
	uds_link_kick(&call->channel->link);
	grpc_cancel(call->grpc);
}

/* The last word now; what the connection says of it later is nobody's any more. */
static void abandon(struct call *call)
{
	struct grpc_reply reply = call->reply;
	bool is_running = call->state == CALL_RUNNING;

	unlink_call(call);
	call->state = CALL_TOLD;
	if (reply.end)
		reply.end(call->grpc, GRPC_CANCELLED, "the client was closed", reply.arg);
	if (!is_running)
		free_call(call);
}

static void on_timer_closed(uv_handle_t *h)
{
	unuse(h->data);
}

void uds_client_close(struct uds_client *c)
{
	struct channel *ch, *next;

	if (!c || c->is_closed)
		return;
	c->is_closed = true;
	uv_close((uv_handle_t *)&c->timer, on_timer_closed);
	while (c->calls)
		abandon(c->calls);
	for (ch = c->channels; ch; ch = next) {
		next = ch->next;
		uds_link_end(&ch->link);
	}
}
