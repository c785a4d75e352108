// SPDX-License-Identifier: Apache-2.0
#include "h2_raw.h"

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void h2_open(struct h2_raw *h, struct grpc_conn *conn)
{
	memset(h, 0, sizeof(*h));
	h->conn = conn;
	h->now_ms = 1000;
	assert_int_equal(nghttp2_hd_inflate_new(&h->inflater), 0);
}

void h2_done(struct h2_raw *h)
{
	nghttp2_hd_inflate_del(h->inflater);
	grpc_conn_free(h->conn);
}

/* --- written -------------------------------------------------------------------------------- */

void h2_bytes(struct h2_raw *h, const void *bytes, size_t len)
{
	assert_true(h->n_out + len <= sizeof(h->out));
	if (len > 0)
		memcpy(h->out + h->n_out, bytes, len);
	h->n_out += len;
}

void h2_frame(struct h2_raw *h, uint8_t type, uint8_t flags, int32_t stream, const void *payload,
	      size_t len)
{
	uint8_t head[9] = {(uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len, type, flags};
	uint32_t id = htobe32((uint32_t)stream);

	memcpy(head + 5, &id, sizeof(id));
	h2_bytes(h, head, sizeof(head));
	h2_bytes(h, payload, len);
}

static void hello(struct h2_raw *h, uint32_t window)
{
	uint8_t setting[6] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE};
	uint32_t value = htobe32(window);

	memcpy(setting + 2, &value, sizeof(value));
	h2_frame(h, NGHTTP2_SETTINGS, 0, 0, setting, window ? sizeof(setting) : 0);
}

void h2_hello_client(struct h2_raw *h, uint32_t window)
{
	h2_bytes(h, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
	hello(h, window);
}

void h2_hello_server(struct h2_raw *h, uint32_t window)
{
	hello(h, window);
}

/* HPACK's string without Huffman code, RFC 7541 sections 5.1 and 5.2. */
static size_t put_string(uint8_t *to, const char *s)
{
	size_t len = strlen(s), n = 0;

	if (len < 127) {
		to[n++] = (uint8_t)len;
	} else {
		size_t rest = len - 127;

		to[n++] = 127;
		for (; rest >= 128; rest >>= 7)
			to[n++] = (uint8_t)(0x80 | (rest & 0x7f));
		to[n++] = (uint8_t)rest;
	}
	memcpy(to + n, s, len);
	return n + len;
}

static size_t put_field(uint8_t *to, const char *name, const char *value)
{
	size_t n = 1;

	to[0] = 0; /* literal, not indexed, new name */
	n += put_string(to + n, name);
	return n + put_string(to + n, value);
}

/* In as many frames as are needed. */
static void put_headers(struct h2_raw *h, int32_t stream, uint8_t flags, const uint8_t *block,
			size_t n)
{
	size_t part = n < 16384 ? n : 16384;
	uint8_t type = NGHTTP2_HEADERS;

	for (;; part = n < 16384 ? n : 16384) {
		bool is_last = part == n;

		h2_frame(h, type, flags | (is_last ? NGHTTP2_FLAG_END_HEADERS : 0), stream, block,
			 part);
		if (is_last)
			return;
		block += part;
		n -= part;
		flags = 0;
		type = NGHTTP2_CONTINUATION;
	}
}

void h2_headers(struct h2_raw *h, int32_t stream, int flags, ...)
{
	static uint8_t block[200000];
	const char *name;
	size_t n = 0;
	va_list ap;

	va_start(ap, flags);
	while ((name = va_arg(ap, const char *)) != NULL) {
		const char *value = va_arg(ap, const char *);

		assert_true(n + strlen(name) + strlen(value) + 16 < sizeof(block));
		n += put_field(block + n, name, value);
	}
	va_end(ap);
	put_headers(h, stream, (uint8_t)flags, block, n);
}

void h2_request(struct h2_raw *h, int32_t stream, const char *path)
{
	h2_headers(h, stream, 0, ":method", "POST", ":scheme", "http", ":path", path, ":authority",
		   "localhost", "content-type", "application/grpc", "te", "trailers", NULL);
}

void h2_message(struct h2_raw *h, int32_t stream, uint8_t flags, const void *message, size_t n,
		uint32_t len)
{
	uint8_t data[16384] = {0};
	uint32_t be = htobe32(len);

	assert_true(n + 5 <= sizeof(data));
	memcpy(data + 1, &be, sizeof(be));
	if (n > 0)
		memcpy(data + 5, message, n);
	h2_frame(h, NGHTTP2_DATA, flags, stream, data, n + 5);
}

void h2_u32(struct h2_raw *h, uint8_t type, int32_t stream, uint32_t value)
{
	uint32_t be = htobe32(value);

	h2_frame(h, type, 0, stream, &be, sizeof(be));
}

/* --- read ----------------------------------------------------------------------------------- */

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t be;

	memcpy(&be, p, sizeof(be));
	return be32toh(be);
}

static void take_field(struct h2_answer *a, const nghttp2_nv *nv)
{
	const struct {
		const char *name;
		char *to;
		size_t size;
	} fields[] = {
		{":status", a->http, sizeof(a->http)},
		{"grpc-status", a->grpc, sizeof(a->grpc)},
		{"grpc-message", a->message, sizeof(a->message)},
		{"allow", a->allow, sizeof(a->allow)},
		{":path", a->path, sizeof(a->path)},
		{"grpc-timeout", a->timeout, sizeof(a->timeout)},
		{":authority", a->authority, sizeof(a->authority)},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (nv->namelen == strlen(fields[i].name) &&
		    memcmp(nv->name, fields[i].name, nv->namelen) == 0)
			snprintf(fields[i].to, fields[i].size, "%.*s", (int)nv->valuelen,
				 (const char *)nv->value);
}

static void take_headers(struct h2_raw *h, struct h2_answer *a, uint8_t *block, size_t len)
{
	int flags = 0;
	nghttp2_nv nv;

	a->has_headers = true;
	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		ssize_t n = nghttp2_hd_inflate_hd2(h->inflater, &nv, &flags, block, len, 1);

		assert_true(n >= 0);
		block += n;
		len -= (size_t)n;
		if (flags & NGHTTP2_HD_INFLATE_EMIT)
			take_field(a, &nv);
	}
	nghttp2_hd_inflate_end_headers(h->inflater);
}

static void take_control(struct h2_raw *h, uint8_t type, uint8_t flags, const uint8_t *payload)
{
	bool is_ack = flags & NGHTTP2_FLAG_ACK;

	h->n_pings += type == NGHTTP2_PING && !is_ack;
	h->n_ping_acks += type == NGHTTP2_PING && is_ack;
	h->n_settings += type == NGHTTP2_SETTINGS && !is_ack;
	h->n_settings_acks += type == NGHTTP2_SETTINGS && is_ack;
	h->n_window_updates += type == NGHTTP2_WINDOW_UPDATE;
	if (type == NGHTTP2_GOAWAY) {
		h->has_goaway = true;
		h->goaway_code = u32_at(payload + 4);
	}
}

static void take_frame(struct h2_raw *h, uint8_t *frame, size_t len)
{
	uint8_t type = frame[3], flags = frame[4];
	uint32_t stream = u32_at(frame + 5);
	static struct h2_answer others;
	struct h2_answer *a = stream < H2_STREAMS ? &h->answers[stream] : &others;

	take_control(h, type, flags, frame + 9);
	if (type == NGHTTP2_HEADERS)
		take_headers(h, a, frame + 9, len - 9);
	if (type == NGHTTP2_DATA)
		a->n_data += len - 9;
	if (type == NGHTTP2_RST_STREAM) {
		a->is_reset = true;
		a->reset_code = u32_at(frame + 9);
	}
	if ((type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) && (flags & NGHTTP2_FLAG_END_STREAM))
		a->is_ended = true;
}

static void take_frames(struct h2_raw *h)
{
	size_t at = 0, len;

	/* A client's begin with the magic. */
	if (h->n_pending >= NGHTTP2_CLIENT_MAGIC_LEN &&
	    memcmp(h->pending, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN) == 0)
		at = NGHTTP2_CLIENT_MAGIC_LEN;
	for (; h->n_pending - at >= 9; at += len) {
		const uint8_t *p = h->pending + at;

		len = 9 + ((size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2]);
		if (h->n_pending - at < len)
			break;
		take_frame(h, h->pending + at, len);
	}
	memmove(h->pending, h->pending + at, h->n_pending - at);
	h->n_pending -= at;
}

static void read_answers(struct h2_raw *h)
{
	const uint8_t *bytes;
	ssize_t n;

	while ((n = grpc_take(h->conn, &bytes)) > 0) {
		assert_true(h->n_pending + (size_t)n <= sizeof(h->pending));
		memcpy(h->pending + h->n_pending, bytes, (size_t)n);
		h->n_pending += (size_t)n;
		if (memcmp(h->pending, "HTTP/1.", 7) != 0)
			take_frames(h);
	}
}

int h2_flush(struct h2_raw *h)
{
	size_t n = h->n_out;

	h->n_out = 0;
	h->r = grpc_feed(h->conn, h->out, n, h->now_ms, &h->err);
	read_answers(h);
	return h->r;
}

int h2_tick(struct h2_raw *h, uint64_t ms)
{
	h->now_ms += ms;
	h->r = grpc_tick(h->conn, h->now_ms, &h->err);
	read_answers(h);
	return h->r;
}
