/* uds_call.c - a call of a client, from grpc_start() to its last word. */
#include <stdlib.h>
#include <string.h>

#include "uds_client.h"

void uds_call_put(struct uds_call_list *list, struct uds_call *call)
{
	call->list = list;
	call->next = NULL;
	call->at = list->end;
	*list->end = call;
	list->end = &call->next;
}

void uds_call_take_out(struct uds_call *call)
{
	*call->at = call->next;
	if (call->next)
		call->next->at = call->at;
	else
		call->list->end = call->at;
}

struct uds_call *uds_call_pop(struct uds_call_list *list)
{
	struct uds_call *call = list->first;

	if (!call)
		return NULL;
	list->first = call->next;
	if (call->next)
		call->next->at = &list->first;
	else
		list->end = &list->first;
	return call;
}

void uds_call_free(struct uds_call *call)
{
	free(call->path);
	free(call->message);
	free(call);
}

void uds_call_end(struct uds_call *call, enum grpc_status status, const char *text)
{
	call->state = CALL_ENDED;
	call->grpc = NULL; /* gone by then */
	call->status = status;
	snprintf(call->text, sizeof(call->text), "%s", text);
	uds_call_take_out(call);
	uds_call_put(&call->client->ended, call);
	uds_client_wake(call->client);
}

void uds_call_tell(struct uds_call *call, enum grpc_status status, const char *text)
{
	if (call->reply.end)
		call->reply.end(call->grpc, status, text, call->reply.arg);
	uds_call_free(call);
}

/* Why a call ended with its link; the socket knows better than the connection. */
static const char *reason(const struct uds_channel *ch, const char *text)
{
	return ch->link.why.code ? ch->link.why.msg : text;
}

static void on_end(struct grpc_call *grpc, enum grpc_status status, const char *text, void *arg)
{
	struct uds_call *call = arg;
	struct uds_channel *ch = call->channel;
	char lost[sizeof(call->text)];

	(void)grpc;
	uds_channel_leave(call, status);
	if (call->state == CALL_TOLD) {
		uds_call_free(call);
		return;
	}
	if (status == GRPC_UNAVAILABLE && !ch->link.conn) {
		snprintf(lost, sizeof(lost), "%.110s: %.140s", call->client->address.sun_path,
			 reason(ch, text));
		text = lost;
	}
	if (call->is_cancelled) {
		uds_call_end(call, status, text);
		return;
	}
	uds_call_take_out(call);
	uds_call_tell(call, status, text);
}

static void on_message(struct grpc_call *grpc, const uint8_t *message, size_t len, void *arg)
{
	struct uds_call *call = arg;

	if (call->state == CALL_RUNNING && call->reply.message)
		call->reply.message(grpc, message, len, call->reply.arg);
}

/* Milliseconds for grpc_start(): what is left of the timeout, 0 = none was asked for. */
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

int uds_call_start(struct uds_channel *ch, struct uds_call *call, const char *path,
		   const uint8_t *message, size_t len)
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
