// SPDX-License-Identifier: Apache-2.0
/* grpc_client.c - starts and cancels a client's calls, and handles their answers. Pure. */
#include <string.h>

#include "grpc_internal.h"
#include "version.h"

#define N_FIELDS 8

/* Makes the header fields of a request; timeout: NULL = none. */
static size_t request_fields(nghttp2_nv nv[N_FIELDS], const char *path, const char *timeout)
{
	size_t n = 0;

	nv[n++] = grpc_nv(":method", "POST");
	nv[n++] = grpc_nv(":scheme", "http");
	nv[n++] = grpc_nv(":path", path);
	nv[n++] = grpc_nv(":authority", "localhost");
	nv[n++] = grpc_nv("content-type", "application/grpc");
	nv[n++] = grpc_nv("te", "trailers");
	nv[n++] = grpc_nv("user-agent", "rocelet/" ROCELET_VERSION);
	if (timeout)
		nv[n++] = grpc_nv("grpc-timeout", timeout);
	return n;
}

/* nghttp2_data_source_read_callback: returns the request, then its end. */
static ssize_t grpc_on_read(nghttp2_session *session, int32_t stream, uint8_t *buf, size_t length,
			    uint32_t *data_flags, nghttp2_data_source *source, void *arg)
{
	struct grpc_call *call = source->ptr;
	size_t n = grpc_queue_give(&call->out, buf, length);

	(void)session, (void)stream, (void)arg;
	if (call->out.size == 0)
		*data_flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static int submit_request(struct grpc_call *call, const char *path, uint32_t timeout_ms)
{
	struct grpc_conn *c = call->conn;
	nghttp2_data_provider source = {.source.ptr = call, .read_callback = grpc_on_read};
	nghttp2_nv nv[N_FIELDS];
	char timeout[16];
	size_t n;

	grpc_format_timeout(timeout_ms, timeout, sizeof(timeout));
	n = request_fields(nv, path, timeout_ms ? timeout : NULL);
	call->stream = nghttp2_submit_request(c->session, NULL, nv, n, &source, call);
	if (call->stream == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE)
		c->got_goaway = true; /* no ids left after 2^30 calls */
	return call->stream < 0 ? call->stream : 0;
}

struct grpc_call *grpc_start(struct grpc_conn *c, const char *path, const uint8_t *message,
			     size_t len, uint32_t timeout_ms, const struct grpc_reply *reply,
			     uint64_t now_ms)
{
	struct grpc_call *call;

	if (c->is_server || grpc_is_closing(c) || c->n_calls >= c->limits.max_calls)
		return NULL;
	c->now_ms = now_ms;
	call = grpc_call_new(c);
	if (!call)
		return NULL;
	call->reply = *reply;
	if (timeout_ms)
		call->deadline_ms = now_ms + timeout_ms;
	if (grpc_queue_add(&call->out, message, len) < 0 ||
	    submit_request(call, path, timeout_ms) < 0) {
		grpc_call_free(call);
		return NULL;
	}
	return call;
}

void grpc_cancel(struct grpc_call *call)
{
	if (call->is_notified)
		return;
	call->is_over = false; /* an end that is still to be reported is replaced */
	grpc_call_end(call, GRPC_CANCELLED, "cancelled");
	grpc_call_notify(call);
	grpc_call_reset(call, NGHTTP2_CANCEL);
}

void grpc_client_expire(struct grpc_call *call)
{
	call->deadline_ms = GRPC_NEVER;
	grpc_call_end(call, GRPC_DEADLINE_EXCEEDED, "the deadline passed");
	grpc_call_reset(call, NGHTTP2_CANCEL);
}

/* Ends a call whose answer is unusable, regardless of what follows. */
static void grpc_abort(struct grpc_call *call, enum grpc_status status, const char *text)
{
	grpc_assembler_reset(&call->in, &call->conn->held);
	grpc_call_end(call, status, text);
	grpc_call_reset(call, NGHTTP2_CANCEL);
}

static void reject_head(struct grpc_call *call)
{
	const struct grpc_head *h = &call->head;
	char text[80];

	if (h->grpc_status > 0) { /* grpc-status OK with an HTTP error is ignored */
		grpc_abort(call, (enum grpc_status)h->grpc_status, h->message);
		return;
	}
	if (h->http_status == 200)
		snprintf(text, sizeof(text), "the answer's content-type is not application/grpc");
	else
		snprintf(text, sizeof(text), "HTTP status %u instead of a gRPC answer",
			 h->http_status);
	grpc_abort(call, grpc_status_of_http(h->http_status), text);
}

void grpc_client_headers(struct grpc_call *call)
{
	struct grpc_head *h = &call->head;

	if (call->is_over || h->http_status / 100 == 1)
		return;
	if (h->is_too_large)
		grpc_abort(call, GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers");
	else if (!call->is_answered && (h->http_status != 200 || !h->is_grpc))
		reject_head(call);
	call->is_answered = true;
}

static void grpc_reject_message(struct grpc_call *call, int code)
{
	char text[128];

	switch (code) {
	case -EMSGSIZE:
		snprintf(text, sizeof(text),
			 "a message of the answer is larger than %zu bytes: it has %zu",
			 call->conn->limits.max_message, call->in.len);
		grpc_abort(call, GRPC_RESOURCE_EXHAUSTED, text);
		break;
	case -EOPNOTSUPP:
		grpc_abort(call, GRPC_UNIMPLEMENTED,
			   "the answer is compressed, which is not supported");
		break;
	case -EBADMSG:
		grpc_abort(call, GRPC_INTERNAL, "the answer is not made of gRPC messages");
		break;
	default:
		grpc_abort(call, GRPC_RESOURCE_EXHAUSTED, "out of memory for the answer");
	}
}

static void hand_message(struct grpc_call *call)
{
	const struct grpc_assembler *a = &call->in;

	if (call->reply.message)
		call->reply.message(call, a->body ? a->body : (const uint8_t *)"", a->len,
				    call->reply.arg);
	grpc_assembler_reset(&call->in, &call->conn->held);
}

static int take_part(struct grpc_call *call, const uint8_t **bytes, size_t *len)
{
	struct grpc_assembler *a = &call->in;
	struct grpc_conn *c = call->conn;
	const uint8_t *part;
	size_t n;
	int r = grpc_assemble_part(a, bytes, len, c->limits.max_message, &part, &n);

	if (r <= 0)
		return r;
	call->reply.part(call, part, n, a->len - a->have, call->reply.arg);
	if (a->have == a->len)
		grpc_assembler_reset(a, &c->held);
	return 0;
}

void grpc_client_data(struct grpc_call *call, const uint8_t *bytes, size_t len)
{
	struct grpc_conn *c = call->conn;

	while (len > 0 && !call->is_over) {
		int r = call->reply.part ? take_part(call, &bytes, &len)
					 : grpc_assemble(&call->in, &bytes, &len,
							 c->limits.max_message, &c->held);

		if (r < 0)
			grpc_reject_message(call, r);
		else if (r > 0)
			hand_message(call);
	}
}

/* Stops sending the request: the server may answer before it has read all of it. */
static void stop_sending(struct grpc_call *call)
{
	if (nghttp2_session_get_stream_local_close(call->conn->session, call->stream) == 0)
		grpc_call_reset(call, NGHTTP2_CANCEL);
}

void grpc_client_reply_end(struct grpc_call *call)
{
	const struct grpc_head *h = &call->head;

	if (call->is_over)
		return;
	if (h->grpc_status < 0)
		grpc_call_end(call, GRPC_UNKNOWN, "the answer ends without grpc-status");
	else if (h->grpc_status == GRPC_OK && !grpc_assembler_is_empty(&call->in))
		grpc_call_end(call, GRPC_INTERNAL, "the answer ends within a message");
	else
		grpc_call_end(call, (enum grpc_status)h->grpc_status, h->message);
	stop_sending(call);
}
