/* sockets.h - the unix sockets that everything on this node may find us at. */
#pragma once

struct http;

/* Serves RUN_DIR/rocelet.sock, and KUBELET_DIR/device-plugins/rocelet-metrics.sock where the
 * kubelet has made that folder. One that cannot be served is told in the log and done without:
 * Prometheus may still scrape the others. */
void sockets_serve(struct http *, const char *run_dir, const char *kubelet_dir);
