// SPDX-License-Identifier: Apache-2.0
/* uds_client.c - sends each call on the current connection.
 *
 * If there is no listener at the path, the call fails at once; if the listener's queue is full,
 * connecting is retried until the call's timeout. A call that was sent is never repeated.
 *
 * If a connection (channel) becomes unusable, because the peer hung up, sent GOAWAY, or sent
 * nothing before a call timed out, it keeps its calls, and the next call gets a new one. So a
 * server can be replaced between two calls without an effect on its clients. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "timer.h"
#include "uds.h"
#include "uds_link.h"
#include "uds_socket.h"

/* Retry interval for a listener with a full queue, and the limit for a call without a timeout. */
#define CONNECT_RETRY_MS 10
#define CONNECT_MAX_MS	 10000

struct uds_channel {
	struct uds_link link; /* first, so that the pointers can be converted */
	struct uds_client *client;
	struct uds_channel *next, **at;
	unsigned n_calls;
	bool is_retired;
};

enum uds_call_state {
	CALL_WAITING,  /* waits for a connection */
	CALL_RUNNING,  /* runs on its channel */
	CALL_ENDED,    /* its end will be reported from the loop */
	CALL_REPORTED, /* its end was reported at uds_client_close(); its channel still has it */
};

/* Oldest first. */
struct uds_call_list {
	struct uds_call *first, **end;
};

struct uds_call {
	struct uds_client *client;
	struct uds_call_list *list;
	struct uds_call *next, **at;
	uint64_t id;
	enum uds_call_state state;
	struct grpc_reply reply;
	/* Waiting */
	char *path;
	uint8_t *message;
	size_t len;
	uint64_t deadline_ms; /* UINT64_MAX = none */
	uint64_t give_up_ms;
	/* Running */
	struct uds_channel *channel;
	struct grpc_call *grpc;
	uint64_t n_reads; /* the link's n_reads when the call started */
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
	struct timer timer;
	struct uds_channel *channels;
	struct uds_call_list calls, ended;
	uint64_t last_id;
	unsigned n_users; /* its timer and links, which point here */
	bool is_closed;
};

/* Called when the timer or a channel no longer points here. */
static void client_unuse(void *arg)
{
	struct uds_client *c = arg;

	if (--c->n_users == 0)
		free(c);
}

/* --- calls and their lists -------------------------------------------------------------------- */

static void call_put(struct uds_call_list *list, struct uds_call *call)
{
	call->list = list;
	call->next = NULL;
	call->at = list->end;
	*list->end = call;
	list->end = &call->next;
}

static void call_take_out(struct uds_call *call)
{
	*call->at = call->next;
	if (call->next)
		call->next->at = call->at;
	else
		call->list->end = call->at;
}

/* Removes and returns the first call of the list; NULL = none. */
static struct uds_call *call_pop(struct uds_call_list *list)
{
	struct uds_call *call = list->first;

	if (!call)
		return NULL;
	list->first = call->next; /* as in call_take_out(), for the static analyser */
	call_take_out(call);
	return call;
}

static void call_free(struct uds_call *call)
{
	free(call->path);
	free(call->message);
	free(call);
}

/* Ends a call; its end is reported later, from the loop. */
static void call_end(struct uds_call *call, enum grpc_status status, const char *text)
{
	call->state = CALL_ENDED;
	call->grpc = NULL; /* it is freed by then */
	call->status = status;
	snprintf(call->text, sizeof(call->text), "%s", text);
	call_take_out(call);
	call_put(&call->client->ended, call);
	timer_in(&call->client->timer, 0);
}

/* Reports the end now, and frees the call, which is in no list any more. */
static void call_finish(struct uds_call *call, enum grpc_status status, const char *text)
{
	if (call->reply.end)
		call->reply.end(call->grpc, status, text, call->reply.arg);
	call_free(call);
}

/* --- connections ------------------------------------------------------------------------------ */

static void uds_client_on_lost(struct uds_link *l)
{
	struct uds_channel *ch = (struct uds_channel *)l;

	*ch->at = ch->next;
	if (ch->next)
		ch->next->at = ch->at;
}

static void uds_client_on_release(struct uds_link *l)
{
	struct uds_channel *ch = (struct uds_channel *)l;

	client_unuse(ch->client);
	free(ch);
}

static void add_channel(struct uds_client *c, struct uds_channel *ch)
{
	ch->client = c;
	ch->next = c->channels;
	ch->at = &c->channels;
	if (ch->next)
		ch->next->at = &ch->next;
	c->channels = ch;
	c->n_users++;
}

static bool uds_client_is_usable(const struct uds_channel *ch)
{
	return !ch->is_retired && !ch->link.is_ending && ch->link.conn &&
	       !grpc_is_closing(ch->link.conn) && !uds_is_hung_up(ch->link.fd);
}

static int connect_channel(struct uds_client *c, struct uds_channel **ret)
{
	int fd = uds_connect(&c->address), r;
	struct uds_channel *ch;
	struct grpc_conn *conn;

	if (fd < 0)
		return fd;
	ch = calloc(1, sizeof(*ch));
	if (!ch || grpc_client_new(&conn, c->limits_or_null, uv_now(c->loop)) < 0) {
		free(ch);
		close(fd);
		return -ENOMEM;
	}
	ch->link.lost = uds_client_on_lost;
	ch->link.release = uds_client_on_release;
	r = uds_link_start(&ch->link, c->loop, fd, conn);
	if (r < 0) {
		free(ch);
		return r;
	}
	add_channel(c, ch);
	*ret = ch;
	return 0;
}

/* Finds the usable channel, or connects a new one. -EAGAIN: the listener's queue is full. */
static int channel_find(struct uds_client *c, struct uds_channel **ret)
{
	for (struct uds_channel *ch = c->channels; ch; ch = ch->next)
		if (uds_client_is_usable(ch)) {
			*ret = ch;
			return 0;
		}
	return connect_channel(c, ret);
}

/* Called when a call has ended on its channel. If the server sent nothing within a call's timeout,
 * the channel is not used again. */
static void channel_leave(struct uds_call *call, enum grpc_status status)
{
	struct uds_channel *ch = call->channel;

	ch->n_calls--;
	if (status == GRPC_DEADLINE_EXCEEDED && ch->link.n_reads == call->n_reads)
		ch->is_retired = true;
	if (ch->is_retired && ch->n_calls == 0)
		uds_link_end_soon(&ch->link);
	call->channel = NULL;
}

/* --- a call on its connection ----------------------------------------------------------------- */

/* Returns why a call ended with its link. The socket's error is more precise than the connection's.
 */
static const char *loss_reason(const struct uds_channel *ch, const char *text)
{
	return ch->link.why.code ? ch->link.why.msg : text;
}

static void uds_client_on_end(struct grpc_call *grpc, enum grpc_status status, const char *text,
			      void *arg)
{
	struct uds_call *call = arg;
	struct uds_channel *ch = call->channel;
	char lost[sizeof(call->text)];

	(void)grpc;
	channel_leave(call, status);
	if (call->state == CALL_REPORTED) {
		call_free(call);
		return;
	}
	if (status == GRPC_UNAVAILABLE && !ch->link.conn) {
		snprintf(lost, sizeof(lost), "%.110s: %.140s", call->client->address.sun_path,
			 loss_reason(ch, text));
		text = lost;
	}
	if (call->is_cancelled) {
		call_end(call, status, text);
		return;
	}
	call_take_out(call);
	call_finish(call, status, text);
}

static void on_message(struct grpc_call *grpc, const uint8_t *message, size_t len, void *arg)
{
	struct uds_call *call = arg;

	if (call->state == CALL_RUNNING && call->reply.message)
		call->reply.message(grpc, message, len, call->reply.arg);
}

static void uds_client_on_part(struct grpc_call *grpc, const uint8_t *bytes, size_t len,
			       size_t left, void *arg)
{
	struct uds_call *call = arg;

	if (call->state == CALL_RUNNING)
		call->reply.part(grpc, bytes, len, left, call->reply.arg);
}

/* Returns the remaining timeout in ms for grpc_start(); 0 = none. */
static uint32_t time_left(const struct uds_call *call)
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

/* Starts the call on a channel. -ENOMEM, -EBUSY. */
static int channel_start(struct uds_channel *ch, struct uds_call *call, const char *path,
			 const uint8_t *message, size_t len)
{
	struct grpc_reply reply = {.message = on_message,
				   .part = call->reply.part ? uds_client_on_part : NULL,
				   .end = uds_client_on_end,
				   .arg = call};

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

/* --- starting --------------------------------------------------------------------------------- */

static int start_call(struct uds_call *call, const char *path, const uint8_t *message, size_t len)
{
	struct uds_channel *ch = NULL;
	int r = channel_find(call->client, &ch);

	return r < 0 ? r : channel_start(ch, call, path, message, len);
}

static void refuse_call(struct uds_call *call, int code)
{
	char text[256];

	snprintf(text, sizeof(text), "cannot connect to %s: %s", call->client->address.sun_path,
		 strerror(-code));
	call_end(call, GRPC_UNAVAILABLE, text);
}

/* Keeps the call for a retry, because the listener's queue is full. */
static int keep_for_later(struct uds_call *call, const char *path, const uint8_t *message,
			  size_t len)
{
	call->path = strdup(path);
	call->message = malloc(len ? len : 1);
	if (!call->path || !call->message)
		return -ENOMEM;
	if (len)
		memcpy(call->message, message, len);
	call->len = len;
	call->state = CALL_WAITING;
	call->give_up_ms = call->deadline_ms == UINT64_MAX
				   ? uv_now(call->client->loop) + CONNECT_MAX_MS
				   : call->deadline_ms;
	timer_within(&call->client->timer, CONNECT_RETRY_MS);
	return 0;
}

static struct uds_call *new_call(struct uds_client *c, uint32_t timeout_ms,
				 const struct grpc_reply *reply)
{
	struct uds_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->client = c;
	call->id = ++c->last_id;
	call->reply = *reply;
	call->deadline_ms = timeout_ms ? uv_now(c->loop) + timeout_ms : UINT64_MAX;
	call_put(&c->calls, call);
	return call;
}

int uds_client_call(struct uds_client *c, const char *path, const uint8_t *message, size_t len,
		    uint32_t timeout_ms, const struct grpc_reply *reply, uint64_t *ret_id)
{
	struct uds_call *call;
	int r;

	if (c->is_closed)
		return -ECANCELED;
	uv_update_time(
		c->loop); /* the duration of the current callback must not reduce the timeout */
	call = new_call(c, timeout_ms, reply);
	if (!call)
		return -ENOMEM;
	r = start_call(call, path, message, len);
	if (r == -EAGAIN)
		r = keep_for_later(call, path, message, len);
	if (r == -ENOMEM || r == -EBUSY) {
		call_take_out(call);
		call_free(call);
		return r;
	}
	if (r < 0)
		refuse_call(call, r);
	if (ret_id)
		*ret_id = call->id;
	return 0;
}

/* --- timer ------------------------------------------------------------------------------------ */

static void retry_call(struct uds_call *call)
{
	uint64_t now_ms = uv_now(call->client->loop);
	int r;

	if (now_ms >= call->deadline_ms) {
		call_end(call, GRPC_DEADLINE_EXCEEDED,
			 "deadline exceeded before a connection was established");
		return;
	}
	r = start_call(call, call->path, call->message, call->len);
	if (r < 0 && (r != -EAGAIN || now_ms >= call->give_up_ms))
		refuse_call(call, r);
}

/* Retries waiting calls. Returns whether calls are still waiting. */
static bool retry_waiting(struct uds_client *c)
{
	struct uds_call *call, *next;
	bool is_waiting = false;

	for (call = c->calls.first; call; call = next) {
		next = call->next;
		if (call->state == CALL_WAITING)
			retry_call(call);
		is_waiting |= call->state == CALL_WAITING;
	}
	return is_waiting;
}

static void uds_client_on_timer(void *arg)
{
	struct uds_client *c = arg;
	struct uds_call *call;

	if (retry_waiting(c))
		timer_in(&c->timer, CONNECT_RETRY_MS);
	/* The hooks of these calls may start, cancel and end other calls, and close the client. */
	while (!c->is_closed && (call = call_pop(&c->ended)))
		call_finish(call, call->status, call->text);
}

/* --- open, cancel and close ------------------------------------------------------------------- */

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
	c->calls.end = &c->calls.first;
	c->ended.end = &c->ended.first;
	timer_init(&c->timer, loop, uds_client_on_timer, c);
	c->n_users = 1;
	*ret = c;
	return 0;
}

void uds_client_cancel(struct uds_client *c, uint64_t id)
{
	struct uds_call *call = c->calls.first;

	while (call && call->id != id)
		call = call->next;
	if (!call)
		return;
	if (call->state == CALL_WAITING) {
		call_end(call, GRPC_CANCELLED, "cancelled");
		return;
	}
	call->is_cancelled = true;
	uds_link_kick(&call->channel->link);
	grpc_cancel(call->grpc);
}

/* Reports the end now; later events of the connection are ignored. */
static void abandon(struct uds_call *call)
{
	if (call->state != CALL_RUNNING) {
		call_finish(call, GRPC_CANCELLED, "the client was closed");
		return;
	}
	call->state = CALL_REPORTED;
	if (call->reply.end)
		call->reply.end(call->grpc, GRPC_CANCELLED, "the client was closed",
				call->reply.arg);
}

void uds_client_close(struct uds_client *c)
{
	struct uds_channel *ch, *next;
	struct uds_call *call;

	if (!c || c->is_closed)
		return;
	c->is_closed = true;
	timer_close(&c->timer, client_unuse);
	while ((call = call_pop(&c->calls)) || (call = call_pop(&c->ended)))
		abandon(call);
	for (ch = c->channels; ch; ch = next) {
		next = ch->next;
		uds_link_end(&ch->link);
	}
}
