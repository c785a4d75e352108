// SPDX-License-Identifier: Apache-2.0
/* grpc_resume.c - moves a server's connection to another process. Pure.
 *
 * HTTP/2's state cannot be copied out of nghttp2, but it can be rebuilt: a new session is fed the
 * bytes that a client would send for the open calls. The bytes that the session then sends on a
 * partly answered stream, up to the number that the client has received already, are accounted for
 * in the windows and discarded. */
#include <stdlib.h>
#include <string.h>

#include "grpc_internal.h"

#define FRAME_MAX    16384 /* the size that every peer accepts, RFC 9113 section 4.2 */
#define FIRST_WINDOW 65535 /* initial window of a connection, section 6.9.2 */
#define FIELD_MAX    126   /* a string whose length fits into one byte, RFC 7541 section 5.1 */
/* "Literal Header Field without Indexing -- New Name", section 6.2.2 */
#define LITERAL	     0x00
/* "Dynamic Table Size Update" to 0, section 6.3 */
#define NO_TABLE     0x20

/* --- bytes ------------------------------------------------------------------------------------ */

struct bytes {
	uint8_t *at;
	size_t len, room;
	int error;
};

static void grpc_add(struct bytes *b, const void *what, size_t n)
{
	size_t room = b->room ? b->room : 512;
	uint8_t *grown;

	while (room < b->len + n)
		room *= 2;
	grown = b->error || room == b->room ? b->at : realloc(b->at, room);
	if (b->error || !grown) {
		b->error = -ENOMEM;
		return;
	}
	b->at = grown;
	b->room = room;
	if (n > 0)
		memcpy(b->at + b->len, what, n);
	b->len += n;
}

static void add_byte(struct bytes *b, uint8_t byte)
{
	grpc_add(b, &byte, 1);
}

static void add_u32(struct bytes *b, uint32_t n)
{
	const uint8_t bytes[] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
				 (uint8_t)n};

	grpc_add(b, bytes, sizeof(bytes));
}

static void grpc_add_frame(struct bytes *b, size_t len, uint8_t type, uint8_t flags, int32_t stream)
{
	add_byte(b, (uint8_t)(len >> 16));
	add_byte(b, (uint8_t)(len >> 8));
	add_byte(b, (uint8_t)len);
	add_byte(b, type);
	add_byte(b, flags);
	add_u32(b, (uint32_t)stream);
}

static void add_credit(struct bytes *b, int32_t stream, uint32_t n)
{
	if (n == 0)
		return;
	grpc_add_frame(b, 4, NGHTTP2_WINDOW_UPDATE, 0, stream);
	add_u32(b, n);
}

static void add_string(struct bytes *b, const char *s)
{
	size_t len = strlen(s);

	if (len > FIELD_MAX)
		b->error = b->error ? b->error : -EBUSY;
	add_byte(b, (uint8_t)len);
	grpc_add(b, s, len);
}

static void add_field(struct bytes *b, const char *name, const char *value)
{
	add_byte(b, LITERAL);
	add_string(b, name);
	add_string(b, value);
}

/* --- exporting -------------------------------------------------------------------------------- */

static void add_headers(struct bytes *b, const struct grpc_call *call, uint64_t now_ms)
{
	struct bytes fields = {0};
	char timeout[16];

	add_byte(&fields, NO_TABLE);
	add_field(&fields, ":method", "POST");
	add_field(&fields, ":scheme", "http");
	add_field(&fields, ":path", call->head.path);
	add_field(&fields, ":authority", "localhost");
	add_field(&fields, "content-type", "application/grpc");
	add_field(&fields, "te", "trailers");
	if (call->deadline_ms != GRPC_NEVER) {
		uint64_t left_ms = call->deadline_ms > now_ms ? call->deadline_ms - now_ms : 1;

		grpc_format_timeout((uint32_t)(left_ms < UINT32_MAX ? left_ms : UINT32_MAX),
				    timeout, sizeof(timeout));
		add_field(&fields, "grpc-timeout", timeout);
	}
	if (fields.error)
		b->error = fields.error;
	else
		grpc_add_frame(b, fields.len, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS,
			       call->stream);
	grpc_add(b, fields.at, fields.error ? 0 : fields.len);
	free(fields.at);
}

static void add_message(struct bytes *b, const struct grpc_call *call)
{
	const uint8_t *body = call->in.body;
	size_t left = call->in.len,
	       n = left < FRAME_MAX - GRPC_PREFIX ? left : FRAME_MAX - GRPC_PREFIX;
	bool is_first = true;

	do {
		size_t prefix = is_first ? GRPC_PREFIX : 0;

		grpc_add_frame(b, prefix + n, NGHTTP2_DATA, n == left ? NGHTTP2_FLAG_END_STREAM : 0,
			       call->stream);
		if (is_first) {
			add_byte(b, 0);
			add_u32(b, (uint32_t)call->in.len);
		}
		grpc_add(b, body, n);
		body += n;
		left -= n;
		n = left < FRAME_MAX ? left : FRAME_MAX;
		is_first = false;
	} while (left > 0);
}

/* Returns 1 if the call is partly answered, 0 if it is not answered; -EBUSY: it cannot be exported.
 */
static int progress(const struct grpc_call *call)
{
	if (!call->is_requested || !call->is_kept || call->is_finished || call->is_closed ||
	    call->out.size > 0)
		return -EBUSY;
	return call->is_answered;
}

static int find_stream(const struct grpc_conn *c, const struct grpc_call **ret)
{
	*ret = NULL;
	for (const struct grpc_call *call = c->calls; call; call = call->next) {
		int r = progress(call);

		if (r < 0 || (r > 0 && *ret))
			return -EBUSY;
		if (r > 0)
			*ret = call;
	}
	return *ret ? 0 : -ENOENT;
}

/* True if the connection has no state that cannot be exported: bytes to send, or tables of header
 * fields. */
static bool is_at_rest(const struct grpc_conn *c)
{
	return c->is_server && c->is_heard && !c->sent_goaway && !c->got_goaway && !c->is_broken &&
	       c->err.code == 0 && (c->stage.len == 0 || c->stage.is_taken) &&
	       !nghttp2_session_want_write(c->session) &&
	       nghttp2_session_get_local_settings(c->session, NGHTTP2_SETTINGS_HEADER_TABLE_SIZE) ==
		       0;
}

static uint32_t grpc_setting(const struct grpc_conn *c, nghttp2_settings_id id)
{
	return nghttp2_session_get_remote_settings(c->session, id);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int grpc_export(const struct grpc_conn *c, uint64_t now_ms, struct grpc_kept *ret)
{
	const struct grpc_call *stream;
	struct bytes b = {0};
	int64_t window, stream_window, first;
	int r = is_at_rest(c) ? find_stream(c, &stream) : -EBUSY;

	if (r < 0)
		return r;
	*ret = (struct grpc_kept){
		.initial_window = grpc_setting(c, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE),
		.max_frame = grpc_setting(c, NGHTTP2_SETTINGS_MAX_FRAME_SIZE),
		.stream = stream->stream,
	};
	window = nghttp2_session_get_remote_window_size(c->session);
	stream_window = nghttp2_session_get_stream_remote_window_size(c->session, stream->stream);
	first = ret->initial_window;
	ret->stream_sent = (uint32_t)larger(0,
					    larger(first - stream_window, FIRST_WINDOW - window));
	ret->connection_credit = (uint32_t)(window - FIRST_WINDOW + ret->stream_sent);
	for (const struct grpc_call *call = c->calls; call; call = call->next) {
		add_headers(&b, call, now_ms);
		if (call == stream)
			add_credit(&b, call->stream,
				   (uint32_t)(stream_window - first + ret->stream_sent));
		add_message(&b, call);
	}
	if (b.error) {
		free(b.at);
		return b.error;
	}
	ret->requests = b.at;
	ret->len = b.len;
	return 0;
}

/* --- resuming -------------------------------------------------------------------------------- */

static int feed(struct grpc_conn *c, const uint8_t *bytes, size_t len, uint64_t now_ms)
{
	struct err ignored;

	return grpc_feed(c, bytes, len, now_ms, &ignored) < 0 ? -EPROTO : 0;
}

/* Feeds a client's first bytes and its acknowledgement of our settings, and discards our answers,
 * which the client has already. */
static int grpc_greet(struct grpc_conn *c, const struct grpc_kept *k, uint64_t now_ms)
{
	struct bytes b = {0};
	const uint8_t *bytes;
	int r;

	grpc_add(&b, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
	grpc_add_frame(&b, 12, NGHTTP2_SETTINGS, 0, 0);
	grpc_add(&b, (const uint8_t[]){0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE}, 2);
	add_u32(&b, k->initial_window);
	grpc_add(&b, (const uint8_t[]){0, NGHTTP2_SETTINGS_MAX_FRAME_SIZE}, 2);
	add_u32(&b, k->max_frame);
	grpc_add_frame(&b, 0, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0);
	add_credit(&b, 0, k->connection_credit);
	r = b.error ? b.error : feed(c, b.at, b.len, now_ms);
	free(b.at);
	while (r == 0 && grpc_take(c, &bytes) > 0)
		continue;
	return r;
}

int grpc_resume(struct grpc_conn *c, const struct grpc_kept *k, uint64_t now_ms)
{
	const struct grpc_call *call;
	int r = grpc_greet(c, k, now_ms);

	if (r < 0)
		return r;
	c->resumed.stream = k->stream;
	c->resumed.sent = k->stream_sent;
	r = feed(c, k->requests, k->len, now_ms);
	call = c->calls;
	while (call && call->stream != k->stream)
		call = call->next;
	return r < 0 ? r : call && call->is_answered && !call->is_finished ? 0 : -EPROTO;
}
