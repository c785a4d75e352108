/* uds.h - gRPC on unix sockets in the libuv loop: a server on one path, a client of one path.
 *
 * Neither trusts the path to stay: files there are deleted and replaced by others at any time,
 * which a dir_watch tells. */
#pragma once

#include "err.h"
#include "grpc.h"

struct uv_loop_s;

/* --- server --------------------------------------------------------------------------------- */

struct uds_server;

struct uds_server_opts {
	struct grpc_limits limits;
	/* One more is closed at once, or the oldest that has not asked anything yet for its sake.
	 */
	unsigned max_connections;
	uint32_t mode; /* of the socket file: 0600 */
};

/* Listens at `path`, replacing a socket that is there already (nothing but a socket: -EEXIST
 * otherwise): made under another name and renamed, so that whoever sees the path can connect.
 * -ENAMETOOLONG above sun_path. */
int uds_server_open(struct uds_server **ret, struct uv_loop_s *, const char *path,
		    const struct uds_server_opts *, const struct grpc_service *, struct err *);
/* The file at the path is still the one that we listen on (device and inode). */
bool uds_server_is_there(const struct uds_server *);
/* Calls have been given something to send outside of a hook: it is written from the loop. */
void uds_server_flush(struct uds_server *);
/* NULL is fine. Calls end by `cancel` before it returns; what is queued is still sent as far as the
 * socket takes it at once. Removes the file if it is still ours. Gone when the loop has run out of
 * handles. Called from one of the service's own hooks, `cancel` of that connection's calls comes
 * when the hook has returned: the service has to live so long. */
void uds_server_close(struct uds_server *);
/* Of struct sockaddr_un. */
#define UDS_PATH_SIZE 108

/* A server on its way to another process: its listening socket, whose file stays, and connections
 * of which nothing is read or written meanwhile. Who connects or asks waits. */
struct uds_estate {
	int fd;
	uint64_t dev, ino; /* of the file */
	struct uds_kept {
		int fd;
		struct grpc_kept grpc;
	} * peers;
	size_t n_peers;
};
/* As uds_server_close(), but for what is given to *ret: nobody is told. Connections without a
 * stream, and those that cannot be given away (grpc_export()), end. Not from a hook. -ENOMEM, or
 * out of descriptors: closed. */
int uds_server_hand_over(struct uds_server *, struct uds_estate *ret);
/* Goes on with it, as uds_server_open() with the same service; the service is asked from within.
 * *take is used up, also on failure. -ENOENT: the path is another file's by now. */
int uds_server_adopt(struct uds_server **ret, struct uv_loop_s *, const char *path,
		     const struct uds_server_opts *, const struct grpc_service *,
		     struct uds_estate *take, struct err *);
/* Closes all of it; the file, if it is still there, too. */
void uds_estate_close(struct uds_estate *, const char *path);
/* Frees it without a word about the file: another process has it. */
void uds_estate_done(struct uds_estate *);

/* --- client --------------------------------------------------------------------------------- */

struct uds_client;

/* Connects on demand and again after a loss, which it looks for before each call: a server that was
 * replaced between two calls is not noticed. Nothing is sent twice: a call that was under way when
 * the connection was lost ends in UNAVAILABLE. A server that has not said a word when a call times
 * out is connected to anew for the next one. */
int uds_client_open(struct uds_client **ret, struct uv_loop_s *, const char *path,
		    const struct grpc_limits *, struct err *);
/* As grpc_start(); connects first if need be. `end` comes exactly once for each call for which this
 * returned 0, never from within. A path with nobody behind it: UNAVAILABLE with the reason, at once
 * and not at the timeout, which covers connecting too (a listener whose queue is full is tried
 * again; without a timeout for 10 s). ret_id (may be NULL) is for uds_client_cancel(). `end` gets a
 * NULL call when there was no connection, and after uds_client_cancel(). -ENOMEM, -EBUSY (as many
 * calls as the limits allow), -ECANCELED (the client is closed). */
int uds_client_call(struct uds_client *, const char *grpc_path, const uint8_t *message, size_t len,
		    uint32_t timeout_ms, const struct grpc_reply *, uint64_t *ret_id);
/* Ends with CANCELLED, from the loop; unknown ids are ignored. */
void uds_client_cancel(struct uds_client *, uint64_t id);
/* NULL is fine. Calls end with CANCELLED before it returns. */
void uds_client_close(struct uds_client *);
