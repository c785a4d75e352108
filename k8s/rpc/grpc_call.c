// SPDX-License-Identifier: Apache-2.0
/* grpc_call.c - the life cycle of a call, on either side: when its owner is notified, and when it
 * is freed. Pure.
 *
 * A call ends in two ways, in any order: HTTP/2 closes its stream (is_closed), and its owner is
 * notified or ends it itself (is_notified). Owners are notified only where grpc.h allows hooks; if
 * a call ends elsewhere, grpc_reap() notifies its owner later. */
#include <stdlib.h>
#include <string.h>

#include "grpc_internal.h"

struct grpc_call *grpc_call_new(struct grpc_conn *c)
{
	struct grpc_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->conn = c;
	call->deadline_ms = GRPC_NEVER;
	grpc_head_init(&call->head);
	grpc_queue_init(&call->out);
	call->link = c->calls_end;
	*c->calls_end = call;
	c->calls_end = &call->next;
	if (c->n_calls++ == 0) /* the time without calls does not count as silence of the peer */
		c->alive_ms = c->now_ms;
	return call;
}

void grpc_call_free(struct grpc_call *call)
{
	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
	else
		call->conn->calls_end = call->link;
	call->conn->n_calls--;
	grpc_assembler_reset(&call->in, &call->conn->held);
	grpc_queue_drop(&call->out);
	grpc_head_done(&call->head);
	free(call->text);
	free(call);
}

static void notify_server(struct grpc_call *call)
{
	const struct grpc_service *s = &call->conn->service;

	if (call->is_requested && !call->is_finished && s->cancel)
		s->cancel(call, s->arg);
}

static void notify_client(struct grpc_call *call)
{
	if (call->reply.end)
		call->reply.end(call, call->status, call->text ? call->text : "", call->reply.arg);
}

void grpc_call_notify(struct grpc_call *call)
{
	if (call->is_notified)
		return;
	call->is_over = true;
	call->is_notified = true;
	if (call->conn->is_server)
		notify_server(call);
	else
		notify_client(call);
}

void grpc_call_end(struct grpc_call *call, enum grpc_status status, const char *text)
{
	if (call->is_over)
		return;
	call->is_over = true;
	call->conn->needs_reap = true;
	call->status = status;
	free(call->text);
	call->text = text ? strdup(text) : NULL;
	grpc_queue_drop(&call->out);
}

void grpc_call_reset(struct grpc_call *call, uint32_t error_code)
{
	struct grpc_conn *c = call->conn;

	grpc_queue_drop(&call->out);
	if (!call->is_closed && !c->is_broken)
		grpc_conn_check(c, nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE,
							     call->stream, error_code));
}

static void end_closed(struct grpc_call *call, uint32_t error_code)
{
	struct grpc_conn *c = call->conn;
	char text[320];

	if (c->got_goaway && c->err.code == 0 && error_code == NGHTTP2_REFUSED_STREAM)
		snprintf(text, sizeof(text), "the peer ended the connection before the call");
	else
		snprintf(text, sizeof(text), "the peer reset the call: %s",
			 nghttp2_http2_strerror(error_code));
	grpc_call_end(call, grpc_status_of_h2(error_code), text);
}

void grpc_call_close(struct grpc_call *call, uint32_t error_code)
{
	struct grpc_conn *c = call->conn;

	call->is_closed = true;
	grpc_queue_drop(&call->out);
	if (!c->is_server)
		end_closed(call, error_code);
	else if (!call->is_requested || call->is_finished)
		call->is_notified = true;
	if (call->is_notified)
		grpc_call_free(call);
	else
		c->needs_reap = call->is_over = true;
}

void grpc_reap(struct grpc_conn *c)
{
	struct grpc_call *call, *next;

	if (!c->needs_reap)
		return;
	c->needs_reap = false;
	for (call = c->calls; call; call = next) {
		if (call->is_over)
			grpc_call_notify(call);
		next = call->next; /* hooks start calls but free none */
		if (call->is_notified && call->is_closed)
			grpc_call_free(call);
	}
}

void grpc_call_set_data(struct grpc_call *call, void *data)
{
	call->data = data;
}

void *grpc_call_data(const struct grpc_call *call)
{
	return call->data;
}

/* --- resumed connections ---------------------------------------------------------------------- */

size_t grpc_resumed_read(struct grpc_call *call, uint8_t *buf, size_t size)
{
	struct grpc_conn *c = call->conn;
	size_t n = size < c->resumed.sent ? size : c->resumed.sent;

	if (call->stream != c->resumed.stream || n == 0)
		return 0;
	memset(buf, 0, n);
	c->resumed.sent -= (uint32_t)n;
	c->resumed.is_padding = true;
	return n;
}

bool grpc_resumed_is_sent(struct grpc_conn *c, const uint8_t *frame, size_t len)
{
	int32_t stream;

	if (c->resumed.stream == 0 || len < 9)
		return false;
	stream = (int32_t)((uint32_t)frame[5] << 24 | (uint32_t)frame[6] << 16 |
			   (uint32_t)frame[7] << 8 | frame[8]);
	if (stream != c->resumed.stream)
		return false;
	if (frame[3] == NGHTTP2_HEADERS && !c->resumed.has_headers)
		return c->resumed.has_headers = true;
	if (frame[3] != NGHTTP2_DATA || !c->resumed.is_padding)
		return false;
	c->resumed.is_padding = false;
	return true;
}
