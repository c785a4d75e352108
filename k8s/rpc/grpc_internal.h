/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_internal.h - shared by the files behind grpc.h. Pure. */
#pragma once

#include <nghttp2/nghttp2.h>

#include "grpc.h"

/* Limits of memory per peer, besides messages. */
enum {
	GRPC_HEADERS_MAX = 16 << 10, /* a header list, counted as in RFC 9113 section 6.5.2 */
	GRPC_FRAMES_MAX = 1000,	   /* answers to PING, SETTINGS and rejected calls not taken yet */
	GRPC_STAGE_MAX = 64 << 10, /* bytes prepared for grpc_take() at a time */
	GRPC_TEXT_MAX = 2000,	   /* bytes of a status text that we send */
	GRPC_PREFIX = 5,	   /* bytes before a message: compressed flag, u32 length */
};

#define GRPC_NEVER UINT64_MAX

/* --- grpc_status.c: text formats -------------------------------------------------------------- */

/* Percent-encodes a text for a header field, on the heap; a text longer than GRPC_TEXT_MAX is
 * truncated at the start of a character. NULL = out of memory. */
char *grpc_percent_encode(const char *text);
/* Decodes such a field, on the heap. Invalid UTF-8 and NUL become U+FFFD, a broken escape is
 * unchanged. */
char *grpc_percent_decode(const char *bytes, size_t len);
/* Converts "20S" to milliseconds, rounded up. False: not a timeout. */
bool grpc_parse_timeout(const char *s, size_t len, uint64_t *ret_ms);
/* Formats a timeout; if eight digits are not enough, rounds it up to a larger unit. */
void grpc_format_timeout(uint32_t ms, char *ret, size_t size);
/* Parses grpc-status; -1: not a number. Numbers that are not a status become GRPC_UNKNOWN. */
int grpc_parse_status(const char *s, size_t len);
/* Return the status for the HTTP status of an answer without grpc-status, and for the error code of
 * a stream or connection. */
enum grpc_status grpc_status_of_http(unsigned status);
enum grpc_status grpc_status_of_h2(uint32_t error_code);

/* --- grpc_frame.c: messages in the stream of bytes -------------------------------------------- */

/* Collects one message at a time. Memory grows with the bytes received, not with the announced
 * length. */
struct grpc_assembler {
	uint8_t prefix[GRPC_PREFIX];
	unsigned n_prefix;
	uint8_t *body;
	size_t len, have, room;
};

/* Consumes bytes up to the end of a message. 1: complete, 0: needs more, -EMSGSIZE: larger than
 * max, -EOPNOTSUPP: compressed, -EBADMSG: not a message, -ENOMEM. `held` counts the bytes held by
 * all assemblers of a connection; it is limited to four messages. */
int grpc_assemble(struct grpc_assembler *, const uint8_t **bytes, size_t *len, size_t max,
		  size_t *held);
/* As grpc_assemble(), but stores nothing: consumes the bytes of one message, and sets *ret and
 * *ret_n to them. 1: there is such a part; if have == len, it is the last one of the message, and
 * the caller resets the assembler. */
int grpc_assemble_part(struct grpc_assembler *, const uint8_t **bytes, size_t *len, size_t max,
		       const uint8_t **ret, size_t *ret_n);
void grpc_assembler_reset(struct grpc_assembler *, size_t *held);
static inline bool grpc_assembler_is_empty(const struct grpc_assembler *a)
{
	return a->n_prefix == 0;
}

/* Messages with their prefixes, waiting for the peer's window. */
struct grpc_queue {
	struct grpc_chunk *first, **end;
	size_t size; /* bytes not taken yet */
};

void grpc_queue_init(struct grpc_queue *);
int grpc_queue_add(struct grpc_queue *, const uint8_t *message, size_t len);
size_t grpc_queue_give(struct grpc_queue *, uint8_t *buf, size_t size);
/* True if the first message was taken partly. */
bool grpc_queue_is_partly_taken(const struct grpc_queue *);
void grpc_queue_drop(struct grpc_queue *);

/* --- grpc_head.c: header lists ---------------------------------------------------------------- */

struct grpc_head {
	size_t size;
	unsigned seen; /* pseudo-header fields, a bit each */
	bool has_regular, is_malformed, is_too_large, is_out_of_memory;
	bool is_post, is_grpc, has_bad_timeout;
	uint64_t timeout_ms; /* GRPC_NEVER = none */
	char *path;
	unsigned http_status; /* 0 = none */
	int grpc_status;      /* -1 = none */
	char *message;
};

void grpc_head_init(struct grpc_head *);
void grpc_head_done(struct grpc_head *);
/* Starts the next list of the same stream (trailers). */
void grpc_head_next(struct grpc_head *);
/* Adds one field of a request or a response. */
void grpc_head_take_request(struct grpc_head *, const char *name, size_t name_len,
			    const char *value, size_t len);
void grpc_head_take_response(struct grpc_head *, const char *name, size_t name_len,
			     const char *value, size_t len);
/* Returns 0 if the request can be served; else the HTTP status to send, with the gRPC status and
 * text. */
unsigned grpc_head_rejection(const struct grpc_head *, enum grpc_status *ret,
			     const char **ret_text);
nghttp2_nv grpc_nv(const char *name, const char *value);

/* --- calls ------------------------------------------------------------------------------------ */

struct grpc_call {
	struct grpc_conn *conn;
	struct grpc_call *next, **link;
	void *data;
	int32_t stream;
	uint64_t deadline_ms;
	struct grpc_head head;
	struct grpc_assembler in;
	struct grpc_queue out;
	struct grpc_reply reply; /* client */
	enum grpc_status status; /* final status: sent by a server, reported to a client's owner */
	char *text;		 /* server: percent-encoded; NULL = none */
	bool has_message;	 /* server: the assembler holds the request */
	bool is_requested;	 /* server: the owner's request hook was called */
	bool is_kept;		 /* server: its request is kept in the assembler */
	bool is_answered;	 /* server: the response's headers are submitted */
	bool is_finished;	 /* server: nothing is added to `out` any more */
	bool is_over;		 /* the owner must be notified */
	bool is_notified;	 /* the owner was notified, or its request hook was never called */
	bool is_closed;		 /* HTTP/2 has closed its stream */
	bool is_remote_done;	 /* the peer sent END_STREAM */
};

struct grpc_conn {
	nghttp2_session *session;
	struct grpc_limits limits;
	struct grpc_service service;
	bool is_server;
	struct grpc_call *calls, **calls_end; /* oldest first */
	size_t n_calls;
	uint64_t now_ms;   /* time of the current call into this connection */
	uint64_t alive_ms; /* when the peer last sent anything */
	bool is_ping_out;
	bool is_heard;	  /* the peer's first bytes were HTTP/2 */
	bool sent_goaway; /* we sent GOAWAY */
	bool got_goaway;  /* the peer sent GOAWAY */
	bool needs_reap;  /* grpc_reap() has a call to report or to free */
	bool is_broken;	  /* nghttp2 cannot be used any more */
	bool is_freed;
	struct err err; /* why the connection failed; code 0 = it has not */
	bool is_err_reported;
	char goaway_text[160]; /* text of the peer's GOAWAY, if it was an error */
	char first[16];	       /* the peer's first bytes, to recognise HTTP/1 */
	size_t n_first;
	size_t held; /* bytes held by assemblers */
	struct {
		uint8_t *bytes;
		size_t len, room;
		bool is_taken;
	} stage;
	struct {
		int32_t stream; /* partly answered by another process; 0 = none */
		uint32_t sent;	/* bytes sent on it, but not in our windows yet */
		bool has_headers;
		bool is_padding; /* the frame that nghttp2 is making consists of such bytes */
	} resumed;
};

/* grpc_call.c */
struct grpc_call *grpc_call_new(struct grpc_conn *);
void grpc_call_free(struct grpc_call *);
/* Handles that HTTP/2 has closed the stream: frees the call at once if no notification is pending.
 */
void grpc_call_close(struct grpc_call *, uint32_t error_code);
/* Notifies the owner of the end, once. */
void grpc_call_notify(struct grpc_call *);
/* Client: sets the final status; only the first one counts. text may be NULL. */
void grpc_call_end(struct grpc_call *, enum grpc_status, const char *text);
void grpc_call_reset(struct grpc_call *, uint32_t error_code);
/* Returns bytes in place of data that another process has sent already: nghttp2 accounts for them,
 * but they are not sent. Returns their number, 0 = none left. */
size_t grpc_resumed_read(struct grpc_call *, uint8_t *buf, size_t size);
bool grpc_resumed_is_sent(struct grpc_conn *, const uint8_t *frame, size_t len);
/* Sends pending notifications, and frees ended calls. */
void grpc_reap(struct grpc_conn *);

/* grpc_server.c */
int grpc_server_headers(struct grpc_call *, bool is_trailer);
int grpc_server_data(struct grpc_call *, const uint8_t *bytes, size_t len);
void grpc_server_request_end(struct grpc_call *);
/* Ends a call whose deadline has passed. */
void grpc_server_expire(struct grpc_call *);

/* grpc_client.c */
void grpc_client_headers(struct grpc_call *);
void grpc_client_data(struct grpc_call *, const uint8_t *bytes, size_t len);
void grpc_client_reply_end(struct grpc_call *);
/* Ends a call whose deadline has passed. */
void grpc_client_expire(struct grpc_call *);

/* grpc_status.c: the first failure is kept. */
int grpc_conn_fail(struct grpc_conn *, int code, const char *text);
/* Checks nghttp2's return value: fatal errors break the connection. */
int grpc_conn_check(struct grpc_conn *, int nghttp2_code);
/* Returns 0, or the failure, which counts as reported now. */
int grpc_conn_failure(struct grpc_conn *, struct err *);

/* grpc_session.c */
int grpc_session_open(struct grpc_conn *);
