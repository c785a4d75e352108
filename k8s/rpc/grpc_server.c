// SPDX-License-Identifier: Apache-2.0
/* grpc_server.c - rejects the calls of a server, passes them to its owner, and answers them. Pure.
 */
#include <string.h>

#include "grpc_internal.h"

#define MAX_FIELDS  8
#define NUMBER_SIZE 12 /* of any int, as text */

/* Makes the fields of a response's first header list; with_status: including the gRPC status,
 * because nothing else follows. */
static size_t response_fields(const struct grpc_call *call, unsigned http_status, bool with_status,
			      nghttp2_nv nv[MAX_FIELDS], char http[NUMBER_SIZE],
			      char grpc[NUMBER_SIZE])
{
	size_t n = 0;

	snprintf(http, NUMBER_SIZE, "%u", http_status);
	nv[n++] = grpc_nv(":status", http);
	nv[n++] = grpc_nv("content-type", "application/grpc");
	if (http_status == 405)
		nv[n++] = grpc_nv("allow", "POST");
	if (!with_status)
		return n;
	snprintf(grpc, NUMBER_SIZE, "%d", (int)call->status);
	nv[n++] = grpc_nv("grpc-status", grpc);
	if (call->text)
		nv[n++] = grpc_nv("grpc-message", call->text);
	/* The encodings we accept, for a client that compresses. */
	if (call->status == GRPC_UNIMPLEMENTED)
		nv[n++] = grpc_nv("grpc-accept-encoding", "identity");
	return n;
}

/* Sends headers and status as one list, because nothing else was or will be sent. */
static void submit_status_alone(struct grpc_call *call, unsigned http_status)
{
	struct grpc_conn *c = call->conn;
	char http[NUMBER_SIZE], grpc[NUMBER_SIZE];
	nghttp2_nv nv[MAX_FIELDS];
	size_t n = response_fields(call, http_status, true, nv, http, grpc);

	call->is_answered = true;
	grpc_conn_check(c, nghttp2_submit_response(c->session, call->stream, nv, n, NULL));
}

static int submit_trailers(struct grpc_call *call)
{
	char grpc[NUMBER_SIZE];
	nghttp2_nv nv[2];
	size_t n = 0;

	snprintf(grpc, sizeof(grpc), "%d", (int)call->status);
	nv[n++] = grpc_nv("grpc-status", grpc);
	if (call->text)
		nv[n++] = grpc_nv("grpc-message", call->text);
	return nghttp2_submit_trailer(call->conn->session, call->stream, nv, n);
}

/* nghttp2_data_source_read_callback: returns queued messages, then the status. */
static ssize_t grpc_server_on_read(nghttp2_session *session, int32_t stream, uint8_t *buf,
				   size_t length, uint32_t *data_flags, nghttp2_data_source *source,
				   void *arg)
{
	struct grpc_call *call = source->ptr;
	size_t n = grpc_resumed_read(call, buf, length);

	(void)session, (void)stream, (void)arg;
	if (n > 0)
		return (ssize_t)n;
	n = grpc_queue_give(&call->out, buf, length);
	if (call->out.size > 0)
		return (ssize_t)n;
	if (n == 0)
		return NGHTTP2_ERR_DEFERRED;
	if (!call->is_finished)
		return (ssize_t)n;
	*data_flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
	return submit_trailers(call) < 0 ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : (ssize_t)n;
}

static int submit_headers(struct grpc_call *call)
{
	struct grpc_conn *c = call->conn;
	nghttp2_data_provider source = {.source.ptr = call, .read_callback = grpc_server_on_read};
	char http[NUMBER_SIZE], grpc[NUMBER_SIZE];
	nghttp2_nv nv[MAX_FIELDS];
	size_t n = response_fields(call, 200, false, nv, http, grpc);
	int r = nghttp2_submit_response(c->session, call->stream, nv, n, &source);

	if (grpc_conn_check(c, r) < 0)
		return -ENOMEM;
	call->is_answered = true;
	return 0;
}

static void set_status(struct grpc_call *call, enum grpc_status status, const char *text)
{
	call->is_finished = true;
	call->status = status;
	call->text = text && *text ? grpc_percent_encode(text) : NULL;
}

/* --- requests ------------------------------------------------------------------------------- */

/* Ends a call with an error before the owner's request hook is called. */
static void grpc_call_reject(struct grpc_call *call, unsigned http_status, enum grpc_status status,
			     const char *text)
{
	grpc_assembler_reset(&call->in, &call->conn->held);
	set_status(call, status, text);
	call->is_notified = true;
	submit_status_alone(call, http_status);
}

static void start_deadline(struct grpc_call *call)
{
	if (call->head.timeout_ms != GRPC_NEVER)
		call->deadline_ms = call->conn->now_ms + call->head.timeout_ms;
}

int grpc_server_headers(struct grpc_call *call, bool is_trailer)
{
	enum grpc_status status;
	const char *text;
	unsigned http;

	if (call->is_finished)
		return 0;
	if (call->head.is_malformed || (is_trailer && !call->is_remote_done)) {
		call->is_finished = call->is_notified = true;
		grpc_call_reset(call, NGHTTP2_PROTOCOL_ERROR);
		return 0;
	}
	if (is_trailer && !call->head.is_too_large)
		return 0;
	http = grpc_head_rejection(&call->head, &status, &text);
	if (http)
		grpc_call_reject(call, http, status, text);
	else
		start_deadline(call);
	return 0;
}

static void grpc_server_reject_message(struct grpc_call *call, int code)
{
	char text[128];

	switch (code) {
	case -EMSGSIZE:
		snprintf(text, sizeof(text), "the request is larger than %zu bytes",
			 call->conn->limits.max_message);
		grpc_call_reject(call, 200, GRPC_RESOURCE_EXHAUSTED, text);
		break;
	case -EOPNOTSUPP:
		grpc_call_reject(call, 200, GRPC_UNIMPLEMENTED,
				 "the request is compressed, which is not supported");
		break;
	case -EBADMSG:
		grpc_call_reject(call, 200, GRPC_INTERNAL, "the request is not a gRPC message");
		break;
	default:
		grpc_call_reject(call, 200, GRPC_RESOURCE_EXHAUSTED,
				 "out of memory for the request");
	}
}

int grpc_server_data(struct grpc_call *call, const uint8_t *bytes, size_t len)
{
	struct grpc_conn *c = call->conn;
	int r;

	if (call->is_finished || len == 0)
		return 0;
	if (call->has_message) {
		grpc_call_reject(call, 200, GRPC_UNIMPLEMENTED,
				 "more than one message in the request");
		return 0;
	}
	r = grpc_assemble(&call->in, &bytes, &len, c->limits.max_message, &c->held);
	if (r < 0)
		grpc_server_reject_message(call, r);
	call->has_message = r > 0;
	return r > 0 && len > 0 ? grpc_server_data(call, bytes, len) : 0;
}

void grpc_server_request_end(struct grpc_call *call)
{
	struct grpc_conn *c = call->conn;

	if (call->is_finished)
		return;
	if (!call->has_message) {
		if (grpc_assembler_is_empty(&call->in))
			grpc_call_reject(call, 200, GRPC_UNIMPLEMENTED,
					 "no message in the request");
		else
			grpc_call_reject(call, 200, GRPC_INTERNAL,
					 "the request ends within its message");
		return;
	}
	call->is_requested = true;
	c->service.request(call, call->head.path,
			   call->in.body ? call->in.body : (const uint8_t *)"", call->in.len,
			   c->service.arg);
	if (!call->is_kept)
		grpc_assembler_reset(&call->in, &c->held);
}

void grpc_keep_request(struct grpc_call *call)
{
	call->is_kept = true;
}

/* --- answers -------------------------------------------------------------------------------- */

/* Resumes a stream that was waiting for data. */
static void resume(struct grpc_call *call)
{
	struct grpc_conn *c = call->conn;
	int r = nghttp2_session_resume_data(c->session, call->stream);

	/* INVALID_ARGUMENT: the stream was not deferred, which is no error. */
	if (r != NGHTTP2_ERR_INVALID_ARGUMENT)
		grpc_conn_check(c, r);
}

static bool is_dead(const struct grpc_call *call)
{
	return call->is_closed || call->conn->is_broken || call->conn->is_freed;
}

int grpc_send(struct grpc_call *call, const uint8_t *message, size_t len)
{
	int r;

	if (is_dead(call))
		return 0;
	r = grpc_queue_add(&call->out, message, len);
	if (r < 0)
		return r;
	if (!call->is_answered)
		return submit_headers(call);
	resume(call);
	return 0;
}

size_t grpc_backlog(const struct grpc_call *call)
{
	return call->out.size;
}

void grpc_finish(struct grpc_call *call, enum grpc_status status, const char *text)
{
	set_status(call, status, text);
	call->is_notified = true;
	if (is_dead(call)) {
		call->conn->needs_reap = true;
		return;
	}
	if (!call->is_answered)
		submit_status_alone(call, 200);
	else if (call->out.size > 0)
		resume(call);
	else /* submit the status now: nghttp2 does not request DATA while the window is closed */
		grpc_conn_check(call->conn, submit_trailers(call));
}

void grpc_server_expire(struct grpc_call *call)
{
	bool was_finished = call->is_finished;

	call->deadline_ms = GRPC_NEVER;
	grpc_call_notify(call);
	if (is_dead(call) || was_finished != call->is_finished) /* the hook has ended the call */
		return;
	/* Reset the stream if a message was sent partly, because it cannot be withdrawn; or if the
	 * answer was finished but waits for the window: it is too late. */
	if (call->is_finished || grpc_queue_is_partly_taken(&call->out)) {
		call->is_finished = true;
		grpc_call_reset(call, NGHTTP2_CANCEL);
		return;
	}
	grpc_queue_drop(&call->out);
	grpc_finish(call, GRPC_DEADLINE_EXCEEDED, "the deadline passed");
}
