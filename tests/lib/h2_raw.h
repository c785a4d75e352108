/* SPDX-License-Identifier: Apache-2.0 */
/* h2_raw.h - sends hand-made HTTP/2 frames to one of our connections, and parses its replies. */
#pragma once

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grpc.h"

enum { H2_STREAMS = 64 };

struct h2_answer {
	bool has_headers, is_ended, is_reset;
	uint32_t reset_code;
	char http[8], grpc[8], message[256], allow[16];
	char path[128], timeout[16], authority[64]; /* of a request */
	size_t n_data;
};

struct h2_raw {
	struct grpc_conn *conn;
	uint64_t now_ms;
	uint8_t out[1 << 20];
	size_t n_out;
	nghttp2_hd_inflater *inflater;
	struct h2_answer answers[H2_STREAMS]; /* by stream id; larger ids are not recorded */
	unsigned n_ping_acks, n_pings, n_settings, n_settings_acks, n_window_updates;
	bool has_goaway;
	uint32_t goaway_code;
	uint8_t pending[65536 * 4]; /* bytes of an incomplete frame */
	size_t n_pending;
	struct err err;
	int r; /* of the last feed or tick */
};

void h2_open(struct h2_raw *, struct grpc_conn *);
void h2_done(struct h2_raw *);

/* These write to a buffer until h2_flush() feeds it. */
void h2_bytes(struct h2_raw *, const void *, size_t);
void h2_frame(struct h2_raw *, uint8_t type, uint8_t flags, int32_t stream, const void *payload,
	      size_t len);
/* The preface of a client or a server; window 0 = the default. */
void h2_hello_client(struct h2_raw *, uint32_t window);
void h2_hello_server(struct h2_raw *, uint32_t window);
/* name, value, ..., NULL */
void h2_headers(struct h2_raw *, int32_t stream, int flags, ...);
/* The header list of a normal gRPC request. */
void h2_request(struct h2_raw *, int32_t stream, const char *path);
/* A DATA frame with a prefix that announces `len` bytes, and one message or its beginning. */
void h2_message(struct h2_raw *, int32_t stream, uint8_t flags, const void *message, size_t n,
		uint32_t len);
void h2_u32(struct h2_raw *, uint8_t type, int32_t stream, uint32_t value);
/* Feeds the buffer, then parses the reply. */
int h2_flush(struct h2_raw *);
int h2_tick(struct h2_raw *, uint64_t ms);
