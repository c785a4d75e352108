/* SPDX-License-Identifier: Apache-2.0 */
/* uds.h - gRPC on unix sockets in the libuv loop: a server on one path, a client of one path.
 *
 * The file at the path may be deleted or replaced at any time; a dir_watch reports that. */
#pragma once

#include "err.h"
#include "grpc.h"

struct uv_loop_s;

/* --- server --------------------------------------------------------------------------------- */

struct uds_server;

struct uds_server_opts {
	struct grpc_limits limits;
	/* If exceeded, the oldest connection without a request is closed, or else the new one. */
	unsigned max_connections;
	uint32_t mode; /* mode of the socket file: 0600 */
};

/* Listens at `path`, replacing an existing socket (-EEXIST for any other file): created under
 * another name and renamed, so that a client that sees the path can connect. -ENAMETOOLONG above
 * sun_path. */
int uds_server_open(struct uds_server **ret, struct uv_loop_s *, const char *path,
		    const struct uds_server_opts *, const struct grpc_service *, struct err *);
/* True if the file at the path is still the one that we listen on (device and inode). */
bool uds_server_owns_path(const struct uds_server *);
/* Call after grpc_send() or grpc_finish() outside of a hook: sends the queued bytes from the
 * loop. */
void uds_server_flush(struct uds_server *);
/* Closes the server; NULL: no-op. Calls `cancel` for the open calls before it returns; queued bytes
 * are sent if the socket accepts them at once. Removes the file if it is still ours. The memory is
 * freed when the loop has no handles left. If a hook of the service closes the server, `cancel` for
 * the calls of that connection is called after the hook has returned, so the service must live that
 * long. */
void uds_server_close(struct uds_server *);
/* Size of sun_path in struct sockaddr_un. */
#define UDS_PATH_SIZE 108

/* A server being moved to another process: its listening socket, whose file stays, and connections
 * that are neither read nor written meanwhile. Clients that connect or send a request wait. */
struct uds_sockets {
	int fd;
	uint64_t dev, ino; /* identity of the socket file */
	struct uds_kept {
		int fd;
		struct grpc_kept grpc;
	} * peers;
	size_t n_peers;
};
/* Like uds_server_close(), but moves everything to *ret without notifying clients. Connections
 * without a stream, and those that cannot be exported (grpc_export()), are closed. Not from a hook.
 * -ENOMEM, or out of descriptors: closed. */
int uds_server_hand_over(struct uds_server *, struct uds_sockets *ret);
/* Like uds_server_open(), but resumes an exported server. The service must be the same. Its hooks
 * are called with the open requests before it returns. Takes ownership of the content of *take,
 * also on failure. -ENOENT: the file at the path was replaced. */
int uds_server_adopt(struct uds_server **ret, struct uv_loop_s *, const char *path,
		     const struct uds_server_opts *, const struct grpc_service *,
		     struct uds_sockets *take, struct err *);
/* Closes all descriptors, and removes the file if it still exists. */
void uds_sockets_close(struct uds_sockets *, const char *path);
/* Frees the sockets but keeps the file: another process uses it. */
void uds_sockets_done(struct uds_sockets *);

/* --- client --------------------------------------------------------------------------------- */

struct uds_client;

/* Connects on demand. Checks before each call whether the connection was lost, and reconnects, so
 * replacing the server between two calls has no effect. Requests are never repeated: a call that is
 * running when the connection is lost ends in UNAVAILABLE. If a call times out without any data
 * from the server, the next call uses a new connection. */
int uds_client_open(struct uds_client **ret, struct uv_loop_s *, const char *path,
		    const struct grpc_limits *, struct err *);
/* Like grpc_start(); connects first if needed. `end` is called exactly once for each call for which
 * this returned 0, and never before it returns. If no process listens at the path: UNAVAILABLE with
 * the reason, at once and not at the timeout. The timeout includes connecting (a listener with a
 * full queue is retried; for 10 s if there is no timeout). ret_id (may be NULL) is for
 * uds_client_cancel(). `end` gets a NULL call if there was no connection, and after
 * uds_client_cancel(). -ENOMEM, -EBUSY (as many calls as the limits allow), -ECANCELED (the client
 * is closed). */
int uds_client_call(struct uds_client *, const char *grpc_path, const uint8_t *message, size_t len,
		    uint32_t timeout_ms, const struct grpc_reply *, uint64_t *ret_id);
/* Ends a call with CANCELLED, later from the loop; unknown ids are ignored. */
void uds_client_cancel(struct uds_client *, uint64_t id);
/* Closes the client; NULL is allowed. Ends its calls with CANCELLED before it returns. */
void uds_client_close(struct uds_client *);
