/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - opens listening sockets: TCP (IPv4, IPv6 or both) and unix. Synchronous; all
 * descriptors are non-blocking and close-on-exec. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "err.h"

/* Listens on an address as defined in listen_address.h. Returns the socket; *ret_port (may be NULL)
 * is the port in use. All addresses means one socket for IPv6 and IPv4, or IPv4 alone if the host
 * has no IPv6. */
int listen_tcp(const char *address, unsigned *ret_port, struct err *);

/* Listens on a unix socket, whose file has exactly this mode from the start. Returns the socket.
 * Replaces a stale socket file; -EADDRINUSE if it is in use; any other file is not changed. */
int listen_unix(const char *path, unsigned mode, struct stat *ret_file, struct err *);
/* True if the file still exists and is ours. */
bool listen_is_own(const char *path, const struct stat *file);
/* Removes the file if it still exists and is ours. */
void listen_unlink(const char *path, const struct stat *file);

/* --- unix sockets at fixed paths on the node ------------------------------------------------- */

struct http;

/* Serves RUN_DIR/rocelet.sock, which accepts admin requests, and creates RUN_DIR; call again to
 * restore them if deleted. 1: it is served already. */
int sockets_serve(struct http *, const char *run_dir, struct err *);
/* Serves KUBELET_DIR/device-plugins/rocelet-metrics.sock, if the kubelet has created that folder.
 * Call again after every change in it, because a starting kubelet deletes every socket there. Does
 * not replace a socket that is still served. A failure is not fatal, because Prometheus can still
 * scrape the other sockets; it is logged unless it equals *last, and stored there. */
void sockets_serve_metrics(struct http *, const char *kubelet_dir, struct err *last);
