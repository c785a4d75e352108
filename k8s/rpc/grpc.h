/* SPDX-License-Identifier: Apache-2.0 */
/* grpc.h - gRPC over HTTP/2, either side of one connection. Pure: bytes in, bytes out; no socket,
 * no loop, no clock, no log.
 *
 * Serves and makes unary and server-streaming calls; requests are one message. Wire format: gRPC's
 * PROTOCOL-HTTP2 document (request: HEADERS with :path /package.Service/Method and content-type
 * application/grpc, one length-prefixed message; response: HEADERS, messages, trailers with
 * grpc-status and a percent-encoded grpc-message, or trailers alone). libnghttp2 implements HTTP/2,
 * RFC 9113. `:authority` may be anything: kubelets before 1.26 send a socket path.
 *
 * Lifetimes: a connection owns its calls. A client's call is valid until its `end` hook has
 * returned, a server's until grpc_finish() or its `cancel` hook. Hooks are only called from
 * grpc_feed(), grpc_tick(), grpc_cancel() and grpc_conn_free(); they may start, send, finish and
 * cancel calls and shut the connection down, but not feed, take from, tick or free it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* The canonical codes of google.golang.org/grpc/codes and every other implementation. */
enum grpc_status {
	GRPC_OK = 0,
	GRPC_CANCELLED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_ALREADY_EXISTS = 6,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_ABORTED = 10,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14,
	GRPC_DATA_LOSS = 15,
	GRPC_UNAUTHENTICATED = 16,
};

const char *grpc_status_name(enum grpc_status);
/* Converts 0 or a negative errno to the nearest status. */
enum grpc_status grpc_status_of_errno(int code);

struct grpc_conn;
struct grpc_call;

struct grpc_limits {
	/* Maximum bytes of a received message; larger ones end in RESOURCE_EXHAUSTED. Unfinished
	 * messages of a connection may use four times this in total. 0 = 4 MiB. */
	size_t max_message;
	uint32_t max_calls; /* open at the same time on one connection, on either side; 0 = 100 */
	/* Keep-alive while calls are open: a PING is sent after this time without data, and the
	 * peer counts as dead after the same time without an answer. 0 = none. grpc-go and
	 * grpc-core close the connections of clients that send PINGs more often than every 5
	 * minutes. */
	uint32_t ping_ms;
};

/* A server's hooks. */
struct grpc_service {
	/* Called when the request of a call is complete. Answer it with any number of grpc_send()
	 * and one grpc_finish(), within the hook or later. path and bytes are borrowed until it
	 * returns. */
	void (*request)(struct grpc_call *, const char *path, const uint8_t *message, size_t len,
			void *arg);
	/* Called when a call ends before grpc_finish(): the client cancelled it, its grpc-timeout
	 * expired (the answer DEADLINE_EXCEEDED is sent for it), or the connection ended. The call
	 * must not be used after this returns. */
	void (*cancel)(struct grpc_call *, void *arg);
	void *arg;
};

/* A client call's hooks. */
struct grpc_reply {
	/* One message of the answer; NULL: not needed. */
	void (*message)(struct grpc_call *, const uint8_t *message, size_t len, void *arg);
	/* Called exactly once per started call, at its end: the peer's status and text, or
	 * UNAVAILABLE if the connection ended, DEADLINE_EXCEEDED, CANCELLED. */
	void (*end)(struct grpc_call *, enum grpc_status, const char *text, void *arg);
	void *arg;
	/* Unless NULL, called instead of `message` for each part of a message as it arrives, in
	 * order. left: bytes of the message still to come, 0 = last part. Nothing is stored;
	 * max_message applies as for whole messages. */
	void (*part)(struct grpc_call *, const uint8_t *bytes, size_t len, size_t left, void *arg);
};

/* Create one side of a connection. NULL limits: all 0. -ENOMEM. now_ms: any monotonic clock, the
 * same for all functions. */
int grpc_server_new(struct grpc_conn **ret, const struct grpc_limits *, const struct grpc_service *,
		    uint64_t now_ms);
int grpc_client_new(struct grpc_conn **ret, const struct grpc_limits *, uint64_t now_ms);
/* Frees the connection; NULL is allowed. Ends every call: calls the hook `end` with UNAVAILABLE, or
 * `cancel`. */
void grpc_conn_free(struct grpc_conn *);

/* Processes bytes from the peer. < 0: the connection is lost for the reason in `err` (not HTTP/2,
 * protocol error, out of memory); later calls return the same. Send the pending bytes, then close
 * it. */
int grpc_feed(struct grpc_conn *, const uint8_t *bytes, size_t len, uint64_t now_ms, struct err *);
/* Returns the next bytes for the peer, valid until the next call on this connection; each byte is
 * returned once. 0: none now. A server has none before its client has begun. Take only bytes that
 * can be written: this slows down a fast producer, and limits the cost of a flooding peer. If this
 * function fails, grpc_tick() reports the failure, and grpc_deadline() is 0 until then. */
ssize_t grpc_take(struct grpc_conn *, const uint8_t **ret);
/* True after a GOAWAY from either side, when the last call has ended and nothing is left to send:
 * close the connection. */
bool grpc_is_done(const struct grpc_conn *);
/* True if no new call can be started: either side sent GOAWAY, or the connection failed. */
bool grpc_is_closing(const struct grpc_conn *);
/* Sends GOAWAY: running calls continue, new ones are rejected. */
void grpc_shutdown(struct grpc_conn *);

/* Returns when to call grpc_tick() next, 0 = at once, UINT64_MAX = never. Changes with every call
 * on the connection. */
uint64_t grpc_deadline(const struct grpc_conn *);
/* Ends calls whose deadline has passed, and reports failures of grpc_take(). < 0: as for
 * grpc_feed(), or the peer is dead (no answer to PING). */
int grpc_tick(struct grpc_conn *, uint64_t now_ms, struct err *);

/* Client: starts a call with its one request message (copied). timeout_ms 0 = none. NULL: out of
 * memory, the connection is closing, or max_calls are open. `end` is not called before this
 * returns. */
struct grpc_call *grpc_start(struct grpc_conn *, const char *path, const uint8_t *message,
			     size_t len, uint32_t timeout_ms, const struct grpc_reply *,
			     uint64_t now_ms);
/* Client: cancels a call, and calls its `end` with CANCELLED before this returns. */
void grpc_cancel(struct grpc_call *);

/* Server: queues one message (copied). -ENOMEM, or -EMSGSIZE above 4 GiB. Returns 0 and drops the
 * message if the call is lost and `cancel` is about to be called. */
int grpc_send(struct grpc_call *, const uint8_t *message, size_t len);
/* Server: returns the number of bytes queued by grpc_send() and not sent yet, because the peer's
 * window is full. */
size_t grpc_backlog(const struct grpc_call *);
/* Server: ends the call, which must not be used after that. text may be NULL. */
void grpc_finish(struct grpc_call *, enum grpc_status, const char *text);
/* Server: keeps the request of an open call until the call ends, for grpc_export(). */
void grpc_keep_request(struct grpc_call *);

/* --- moving a server's connection to another process ----------------------------------------- */

/* The state of a connection for the successor: the requests of the open calls, as the client would
 * send them to a new server, and how much of the client's windows is used. One call may be partly
 * answered (a stream of messages); the others are processed by the successor from the start. Header
 * fields have no state, because both sides disable the dynamic table (RFC 7541 section 4.2). */
struct grpc_kept {
	uint8_t *requests; /* frames; heap */
	size_t len;
	uint32_t initial_window, max_frame; /* the client's settings */
	uint32_t connection_credit; /* bytes that the client has added to the connection's window */
	uint32_t stream_sent;	    /* bytes of the stream, which use both windows after that */
	int32_t stream;
};

/* Exports the state of a server's connection whose output was taken completely. The connection
 * stays open, but must be freed without sending another byte. -ENOENT: no call is partly answered;
 * -EBUSY: more than one is, or something is in progress; -ENOMEM. */
int grpc_export(const struct grpc_conn *, uint64_t now_ms, struct grpc_kept *ret);
/* Resumes that state on a new server's connection: its service gets the open requests again, and
 * the first messages that it sends on the stream follow those that the client has received.
 * -EPROTO: the service does not answer the stream at once; -ENOMEM. Free the connection then. */
int grpc_resume(struct grpc_conn *, const struct grpc_kept *, uint64_t now_ms);
/* Stores any pointer of the call's owner. */
void grpc_call_set_data(struct grpc_call *, void *);
void *grpc_call_data(const struct grpc_call *);
