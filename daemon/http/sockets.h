/* sockets.h - the unix sockets that everything on this node may find us at. */
#pragma once

struct http;

/* Serves RUN_DIR/rocelet.sock, which takes orders. A socket that cannot be served is told in the
 * log and done without: Prometheus may still scrape the others. */
void sockets_serve(struct http *, const char *run_dir);
/* Serves KUBELET_DIR/device-plugins/rocelet-metrics.sock, where the kubelet has made that folder;
 * to be called again whenever something happened there, because a starting kubelet deletes every
 * socket in it. Leaves alone what is served already. */
void sockets_serve_metrics(struct http *, const char *kubelet_dir);
