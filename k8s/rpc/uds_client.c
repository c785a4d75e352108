/* uds_client.c - happy path: a call goes out on the connection that is up, its answer comes from
 * there.
 *
 * Can fail by: nobody at the path (told at once), a listener whose queue is full (tried again until
 * the call's time is up), a connection that is lost. Whatever was started is never started again.
 */
#include <stdlib.h>
#include <string.h>

#include "uds_client.h"

/* A listener whose queue is full is tried again this often, this long if the call has no timeout of
 * its own. */
#define CONNECT_RETRY_MS 10
#define CONNECT_MAX_MS	 10000

static void on_timer(uv_timer_t *);

void uds_client_unuse(struct uds_client *c)
{
	if (--c->n_users == 0)
		free(c);
}

void uds_client_wake(struct uds_client *c)
{
	uv_timer_start(&c->timer, on_timer, 0, 0);
}

/* --- starting --------------------------------------------------------------------------------- */

static int start_call(struct uds_call *call, const char *path, const uint8_t *message, size_t len)
{
	struct uds_channel *ch;
	int r = uds_channel_find(call->client, &ch);

	return r < 0 ? r : uds_call_start(ch, call, path, message, len);
}

static void refuse(struct uds_call *call, int code)
{
	char text[256];

	snprintf(text, sizeof(text), "cannot connect to %s: %s", call->client->address.sun_path,
		 strerror(-code));
	uds_call_end(call, GRPC_UNAVAILABLE, text);
}

/* The listener's queue is full: later. */
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
	call->give_up_ms = uv_now(call->client->loop) + CONNECT_MAX_MS;
	if (!uv_is_active((uv_handle_t *)&call->client->timer))
		uv_timer_start(&call->client->timer, on_timer, CONNECT_RETRY_MS, 0);
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
	uds_call_put(&c->calls, call);
	return call;
}

int uds_client_call(struct uds_client *c, const char *path, const uint8_t *message, size_t len,
		    uint32_t timeout_ms, const struct grpc_reply *reply, uint64_t *ret_id)
{
	struct uds_call *call;
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
		uds_call_take_out(call);
		uds_call_free(call);
		return r;
	}
	if (r < 0)
		refuse(call, r);
	if (ret_id)
		*ret_id = call->id;
	return 0;
}

/* --- what the loop does ----------------------------------------------------------------------- */

static void retry(struct uds_call *call)
{
	uint64_t now_ms = uv_now(call->client->loop);
	int r;

	if (now_ms >= call->deadline_ms) {
		uds_call_end(call, GRPC_DEADLINE_EXCEEDED,
			     "the deadline passed before a connection");
		return;
	}
	r = start_call(call, call->path, call->message, call->len);
	if (r < 0 && (r != -EAGAIN || now_ms >= call->give_up_ms))
		refuse(call, r);
}

/* Whether there are others that wait. */
static bool retry_waiting(struct uds_client *c)
{
	struct uds_call *call, *next;
	bool is_waiting = false;

	for (call = c->calls.first; call; call = next) {
		next = call->next;
		if (call->state == CALL_WAITING)
			retry(call);
		is_waiting |= call->state == CALL_WAITING;
	}
	return is_waiting;
}

static void on_timer(uv_timer_t *timer)
{
	struct uds_client *c = timer->data;
	struct uds_call *call;

	if (retry_waiting(c))
		uv_timer_start(timer, on_timer, CONNECT_RETRY_MS, 0);
	/* Their hooks may make, cancel and end any others, and close the client. */
	while (!c->is_closed && (call = uds_call_pop(&c->ended)))
		uds_call_tell(call, call->status, call->text);
}

/* --- life ------------------------------------------------------------------------------------- */

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
	uv_timer_init(loop, &c->timer);
	c->timer.data = c;
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
		uds_call_end(call, GRPC_CANCELLED, "cancelled");
		return;
	}
	call->is_cancelled = true;
	uds_link_kick(&call->channel->link);
	grpc_cancel(call->grpc);
}

/* The last word now; what the connection says of it later is nobody's any more. */
static void abandon(struct uds_call *call)
{
	if (call->state != CALL_RUNNING) {
		uds_call_tell(call, GRPC_CANCELLED, "the client was closed");
		return;
	}
	call->state = CALL_TOLD;
	if (call->reply.end)
		call->reply.end(call->grpc, GRPC_CANCELLED, "the client was closed",
				call->reply.arg);
}

static void on_timer_closed(uv_handle_t *h)
{
	uds_client_unuse(h->data);
}

void uds_client_close(struct uds_client *c)
{
	struct uds_channel *ch, *next;
	struct uds_call *call;

	if (!c || c->is_closed)
		return;
	c->is_closed = true;
	uv_close((uv_handle_t *)&c->timer, on_timer_closed);
	while ((call = uds_call_pop(&c->calls)) || (call = uds_call_pop(&c->ended)))
		abandon(call);
	for (ch = c->channels; ch; ch = next) {
		next = ch->next;
		uds_link_end(&ch->link);
	}
}
