/* sockets.h - the unix sockets that everything on this node may find us at. */
#pragma once

#include "err.h"

struct http;

/* Serves RUN_DIR/rocelet.sock, which takes orders, and makes RUN_DIR; again if somebody has deleted
 * either. 1: it is served already. */
int sockets_serve(struct http *, const char *run_dir, struct err *);
/* Serves KUBELET_DIR/device-plugins/rocelet-metrics.sock, where the kubelet has made that folder;
 * to be called again whenever something happened there, because a starting kubelet deletes every
 * socket in it. Leaves alone what is served already. A socket that cannot be served is told in the
 * log and done without: Prometheus may still scrape the others. */
void sockets_serve_metrics(struct http *, const char *kubelet_dir);
