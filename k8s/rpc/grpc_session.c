// SPDX-License-Identifier: Apache-2.0
/* grpc_session.c - nghttp2's callbacks for the connection's frames, dispatched to calls. Pure. */
#include <string.h>

#include "grpc_internal.h"

enum {
	/* Flow-control windows: large enough for a list of devices, which has megabytes. */
	STREAM_WINDOW = 1 << 20,
	CONNECTION_WINDOW = 4 << 20,
	/* Limit for calls reset by a client: at once, and per second. */
	RESETS_BURST = 1000,
	RESETS_PER_SECOND = 33,
};

static struct grpc_call *call_of(nghttp2_session *session, int32_t stream)
{
	return stream ? nghttp2_session_get_stream_user_data(session, stream) : NULL;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct grpc_conn *c = arg;
	struct grpc_call *call = call_of(session, frame->hd.stream_id);

	if (frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	if (call)
		grpc_head_next(&call->head);
	if (!c->is_server || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	if (c->sent_goaway)
		return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
						 NGHTTP2_REFUSED_STREAM);
	call = grpc_call_new(c);
	if (!call)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	call->stream = frame->hd.stream_id;
	return nghttp2_session_set_stream_user_data(session, call->stream, call);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct grpc_conn *c = arg;
	struct grpc_call *call = call_of(session, frame->hd.stream_id);

	(void)flags;
	if (!call)
		return 0;
	if (c->is_server)
		grpc_head_take_request(&call->head, (const char *)name, name_len,
				       (const char *)value, len);
	else
		grpc_head_take_response(&call->head, (const char *)name, name_len,
					(const char *)value, len);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
		   size_t len, void *arg)
{
	struct grpc_conn *c = arg;
	struct grpc_call *call = call_of(session, stream);

	(void)flags;
	if (!call)
		return 0;
	if (c->is_server)
		grpc_server_data(call, bytes, len);
	else
		grpc_client_data(call, bytes, len);
	return 0;
}

static void on_headers_end(struct grpc_call *call, const nghttp2_frame *frame)
{
	if (call->conn->is_server)
		grpc_server_headers(call, frame->headers.cat != NGHTTP2_HCAT_REQUEST);
	else
		grpc_client_headers(call);
}

static void on_stream_end(struct grpc_call *call)
{
	if (call->conn->is_server)
		grpc_server_request_end(call);
	else
		grpc_client_reply_end(call);
}

static void on_goaway(struct grpc_conn *c, const nghttp2_goaway *g)
{
	size_t len = g->opaque_data_len < 100 ? g->opaque_data_len : 100;
	int n;

	c->got_goaway = true;
	if (g->error_code == NGHTTP2_NO_ERROR)
		return;
	n = snprintf(c->goaway_text, sizeof(c->goaway_text), "the peer ended the connection: %s ",
		     nghttp2_http2_strerror(g->error_code));
	for (size_t i = 0; i < len && n < (int)sizeof(c->goaway_text) - 1; i++) {
		uint8_t byte = g->opaque_data[i];

		c->goaway_text[n++] = byte >= ' ' && byte <= '~' ? (char)byte : '?';
	}
	c->goaway_text[n] = '\0';
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct grpc_conn *c = arg;
	struct grpc_call *call;

	if (frame->hd.type == NGHTTP2_GOAWAY)
		on_goaway(c, &frame->goaway);
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	call = call_of(session, frame->hd.stream_id);
	if (!call)
		return 0;
	if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		call->is_remote_done = true;
	if (frame->hd.type == NGHTTP2_HEADERS)
		on_headers_end(call, frame);
	if (call->is_remote_done)
		on_stream_end(call);
	return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error_code, void *arg)
{
	struct grpc_call *call = call_of(session, stream);

	(void)arg;
	if (call)
		grpc_call_close(call, error_code);
	return 0;
}

/* nghttp2_on_frame_not_send_callback: ends the call of a request that could not be sent, because
 * nghttp2 may have no stream to close. */
static int on_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int code, void *arg)
{
	struct grpc_conn *c = arg;
	struct grpc_call *call = c->calls;

	(void)code;
	if (c->is_server || frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	while (call && call->stream != frame->hd.stream_id)
		call = call->next;
	if (!call)
		return 0;
	/* If there is a stream, nghttp2 closes it next, and must not find the call. */
	nghttp2_session_set_stream_user_data(session, call->stream, NULL);
	grpc_call_close(call, NGHTTP2_REFUSED_STREAM);
	return 0;
}

/* Called when an answer was sent. If the request is not complete yet, resets the stream, because
 * the rest of the request is not needed (RFC 9113 section 8.1). If it were reset earlier, nghttp2
 * would not send the answer. */
static void on_answer_sent(nghttp2_session *session, int32_t stream)
{
	struct grpc_call *call = call_of(session, stream);

	if (call && !call->is_remote_done)
		grpc_call_reset(call, NGHTTP2_NO_ERROR);
}

/* Keeps the reason for which nghttp2 ends a connection: it is only in the GOAWAY that nghttp2
 * sends. */
static void on_goaway_sent(struct grpc_conn *c, const nghttp2_goaway *g)
{
	char text[200];

	if (g->error_code == NGHTTP2_NO_ERROR)
		return;
	snprintf(text, sizeof(text), "HTTP/2 failed: %s%s%.*s",
		 nghttp2_http2_strerror(g->error_code), g->opaque_data_len ? ", " : "",
		 (int)g->opaque_data_len, g->opaque_data ? (const char *)g->opaque_data : "");
	grpc_conn_fail(c, -EPROTO, text);
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct grpc_conn *c = arg;

	if (frame->hd.type == NGHTTP2_GOAWAY)
		on_goaway_sent(c, &frame->goaway);
	if (c->is_server && frame->hd.type == NGHTTP2_HEADERS &&
	    (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		on_answer_sent(session, frame->hd.stream_id);
	return 0;
}

static void set_callbacks(nghttp2_session_callbacks *cb)
{
	nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(cb, on_not_sent);
	nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_sent);
}

static int submit_settings(struct grpc_conn *c)
{
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, GRPC_HEADERS_MAX},
		{c->is_server ? NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS
			      : NGHTTP2_SETTINGS_ENABLE_PUSH,
		 c->is_server ? c->limits.max_calls : 0},
		/* A server's successor cannot restore a dynamic table: see grpc_export(). */
		{NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 0},
	};
	size_t n = sizeof(settings) / sizeof(settings[0]) - !c->is_server;
	int r = nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, n);

	if (r == 0)
		r = nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0,
							  CONNECTION_WINDOW);
	return r;
}

static int open_session(struct grpc_conn *c, nghttp2_session_callbacks *cb, nghttp2_option *opt)
{
	int r;

	set_callbacks(cb);
	nghttp2_option_set_no_http_messaging(opt, c->is_server);
	if (c->is_server)
		nghttp2_option_set_max_deflate_dynamic_table_size(opt, 0);
	nghttp2_option_set_no_closed_streams(opt, 1);
	nghttp2_option_set_max_outbound_ack(opt, GRPC_FRAMES_MAX);
	nghttp2_option_set_stream_reset_rate_limit(opt, RESETS_BURST, RESETS_PER_SECOND);
	r = c->is_server ? nghttp2_session_server_new3(&c->session, cb, c, opt, NULL)
			 : nghttp2_session_client_new3(&c->session, cb, c, opt, NULL);
	return r == 0 ? submit_settings(c) : r;
}

int grpc_session_open(struct grpc_conn *c)
{
	nghttp2_session_callbacks *cb = NULL;
	nghttp2_option *opt = NULL;
	int r = -ENOMEM;

	if (nghttp2_session_callbacks_new(&cb) == 0 && nghttp2_option_new(&opt) == 0)
		r = open_session(c, cb, opt) == 0 ? 0 : -ENOMEM;
	nghttp2_option_del(opt);
	nghttp2_session_callbacks_del(cb);
	return r;
}
