/* SPDX-License-Identifier: Apache-2.0 */
/* sockets.h - the unix sockets that we serve at fixed paths on the node. */
#pragma once

#include "err.h"

struct http;

/* Serves RUN_DIR/rocelet.sock, which accepts admin requests, and creates RUN_DIR; call again to
 * restore them if deleted. 1: it is served already. */
int sockets_serve(struct http *, const char *run_dir, struct err *);
/* Serves KUBELET_DIR/device-plugins/rocelet-metrics.sock, if the kubelet has created that folder.
 * Call again after every change in it, because a starting kubelet deletes every socket there.
 * Leaves a socket alone that is still served. A failure is logged and not fatal: Prometheus may
 * still scrape the others. */
void sockets_serve_metrics(struct http *, const char *kubelet_dir);
