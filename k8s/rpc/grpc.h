/* grpc.h - gRPC over HTTP/2, either side of one connection. Pure: bytes in, bytes out; no socket,
 * no loop, no clock, no log.
 *
 * Serves and makes unary and server-streaming calls; requests are one message. Wire format: gRPC's
 * PROTOCOL-HTTP2 document (request: HEADERS with :path /package.Service/Method and content-type
 * application/grpc, one length-prefixed message; response: HEADERS, messages, trailers with
 * grpc-status and a percent-encoded grpc-message, or trailers alone). HTTP/2 itself, RFC 9113, is
 * libnghttp2's.
 * `:authority` may hold anything: kubelets before 1.26 send a socket path.
 *
 * Lives: a connection owns its calls. A call is valid until its `end` hook has returned or, for a
 * call we serve, until grpc_finish() or its `cancel` hook. Hooks are only called from within
 * grpc_feed(), grpc_tick(), grpc_cancel() and grpc_conn_free(); they may start, send, finish and
 * cancel calls and shut the connection down, but not feed, take from, tick or free it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* google.golang.org/grpc/codes and every other implementation: the canonical codes. */
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
/* Nearest errno (negative), 0 for GRPC_OK; and back. */
int grpc_status_errno(enum grpc_status);
enum grpc_status grpc_status_of_errno(int code);

struct grpc_conn;
struct grpc_call;

struct grpc_limits {
	/* Bytes of one received message; larger ones end in RESOURCE_EXHAUSTED. What has arrived
	 * of unfinished ones is kept below four of this size per connection. 0 = 4 MiB. */
	size_t max_message;
	uint32_t max_calls; /* open at a time on one connection, on either side; 0 = 100 */
	/* Keep-alive while calls are open: after a silence of this length the peer is asked (PING),
	 * after another one it is dead. 0 = none. grpc-go and grpc-core end connections of clients
	 * that ask more often than every 5 minutes. */
	uint32_t ping_ms;
};

/* A server's hooks. */
struct grpc_service {
	/* The request of a call is complete. Answered by any number of grpc_send() and one
	 * grpc_finish(), now or later. path and bytes are borrowed until it returns. */
	void (*request)(struct grpc_call *, const char *path, const uint8_t *message, size_t len,
			void *arg);
	/* The call is over before grpc_finish(): cancelled by the client, its grpc-timeout passed
	 * (answered for us), or the connection ended. It may not be touched after this returns. */
	void (*cancel)(struct grpc_call *, void *arg);
	void *arg;
};

/* A client call's hooks. */
struct grpc_reply {
	/* One message of the answer; NULL: the caller does not care. */
	void (*message)(struct grpc_call *, const uint8_t *message, size_t len, void *arg);
	/* Exactly once per started call, its last word: the peer's status and text, or UNAVAILABLE
	 * when the connection ended, DEADLINE_EXCEEDED, CANCELLED. */
	void (*end)(struct grpc_call *, enum grpc_status, const char *text, void *arg);
	void *arg;
	/* Instead of `message`, unless NULL: what has arrived of a message, in order. left: bytes
	 * of it that are to come, 0 = this was the last part. Nothing is kept; max_message is a
	 * limit as for whole ones. */
	void (*part)(struct grpc_call *, const uint8_t *bytes, size_t len, size_t left, void *arg);
};

/* NULL limits: all 0. -ENOMEM. now_ms: any monotonic clock, the same for all
 * calls. */
int grpc_server_new(struct grpc_conn **ret, const struct grpc_limits *, const struct grpc_service *,
		    uint64_t now_ms);
int grpc_client_new(struct grpc_conn **ret, const struct grpc_limits *, uint64_t now_ms);
/* NULL is fine. Ends every call: `end` with UNAVAILABLE, `cancel`. */
void grpc_conn_free(struct grpc_conn *);

/* Bytes from the peer. < 0: the connection is lost for what `err` says (not HTTP/2, protocol error,
 * out of memory), now and whenever asked again: send what is pending, then close. */
int grpc_feed(struct grpc_conn *, const uint8_t *bytes, size_t len, uint64_t now_ms, struct err *);
/* The next bytes for the peer, valid until the next call on this connection; each byte is given
 * once. 0: none now. A server has none before its client has begun. Take only what can be written:
 * what is not taken keeps a fast producer waiting, and bounds what a flooding peer costs. What goes
 * wrong here is told by grpc_tick(), for which grpc_deadline() then asks. */
ssize_t grpc_take(struct grpc_conn *, const uint8_t **ret);
/* Neither side has anything left to say: close. After a GOAWAY from either side and the last call.
 */
bool grpc_is_done(const struct grpc_conn *);
/* No new call can be started: either side said GOAWAY, or the connection failed. */
bool grpc_is_closing(const struct grpc_conn *);
/* Says GOAWAY: calls in progress go on, new ones are refused. */
void grpc_shutdown(struct grpc_conn *);

/* When grpc_tick() is wanted next, 0 = at once, UINT64_MAX = not at all. Changes with every call
 * on the connection. */
uint64_t grpc_deadline(const struct grpc_conn *);
/* Ends calls whose deadline has passed, and says what grpc_take() could not. < 0: as for
 * grpc_feed(), or the peer is dead (no answer to PING). */
int grpc_tick(struct grpc_conn *, uint64_t now_ms, struct err *);

/* Client: starts a call with its one request message (copied). timeout_ms 0 = none. NULL: out of
 * memory, the connection is closing, or max_calls are open. `end` is not called from within. */
struct grpc_call *grpc_start(struct grpc_conn *, const char *path, const uint8_t *message,
			     size_t len, uint32_t timeout_ms, const struct grpc_reply *,
			     uint64_t now_ms);
/* Client: gives a call up; `end` (CANCELLED) comes from within. */
void grpc_cancel(struct grpc_call *);

/* Server: queues one message (copied). -ENOMEM, or -EMSGSIZE above 4 GiB. 0 and dropped when the
 * call is lost and `cancel` is about to say so. */
int grpc_send(struct grpc_call *, const uint8_t *message, size_t len);
/* Server: bytes queued by grpc_send() that the peer's window has not let through yet. */
size_t grpc_backlog(const struct grpc_call *);
/* Server: the last word; the call may not be touched any more. text may be NULL. */
void grpc_finish(struct grpc_call *, enum grpc_status, const char *text);
/* Server: keeps the request of an open call until the call ends, for grpc_export(). */
void grpc_keep_request(struct grpc_call *);

/* --- a server's connection that another process goes on with ---------------------------------- */

/* What the successor has to know: the requests of the open calls, as the client would send them to
 * a new server, and how far the client's windows are used up. One call is answered in part (a
 * stream of messages); what the others have been asked is asked again. Header fields have no state:
 * both sides are told to use no dynamic table (RFC 7541 section 4.2). */
struct grpc_kept {
	uint8_t *requests; /* frames; heap */
	size_t len;
	uint32_t initial_window, max_frame; /* the client's settings */
	uint32_t connection_credit;	    /* added to its connection's window */
	uint32_t stream_sent;		    /* then taken off both by the stream */
	int32_t stream;
};

/* Server, with nothing left to be taken. The connection goes on; it is to be given up without
 * another byte. -ENOENT: no call is answered in part; -EBUSY: more than one is, or something is
 * under way; -ENOMEM. */
int grpc_export(const struct grpc_conn *, uint64_t now_ms, struct grpc_kept *ret);
/* A new server's connection goes on with that one: its service is asked again what is open, and
 * what it says first to the stream follows what the client has got. -EPROTO: the service does not
 * answer the stream at once; -ENOMEM. Free the connection then. */
int grpc_resume(struct grpc_conn *, const struct grpc_kept *, uint64_t now_ms);
/* Any pointer of the owner's. */
void grpc_call_set_data(struct grpc_call *, void *);
void *grpc_call_data(const struct grpc_call *);
