// SPDX-License-Identifier: Apache-2.0
#include "sockets.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http.h"
#include "log.h"

/* Only the daemon's own user can connect. */
#define SOCKET_MODE 0600

int sockets_serve(struct http *http, const char *run_dir, struct err *e)
{
	char path[PATH_MAX];

	if (mkdir(run_dir, 0755) < 0 && errno != EEXIST)
		return err_set(e, -errno, "%s: %s", run_dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/rocelet.sock", run_dir);
	return http_listen_admin(http, path, SOCKET_MODE, e);
}

void sockets_serve_metrics(struct http *http, const char *kubelet_dir)
{
	char plugins[PATH_MAX], path[PATH_MAX + 32];
	struct err e = {0};
	int r;

	snprintf(plugins, sizeof(plugins), "%s/device-plugins", kubelet_dir);
	if (access(plugins, F_OK) < 0)
		return;
	snprintf(path, sizeof(path), "%s/rocelet-metrics.sock", plugins);
	r = http_listen_unix(http, path, SOCKET_MODE, &e);
	if (r < 0)
		log_warn("http", 0, "%s, serving without this socket", e.msg);
	else if (r == 0)
		log_info("http", 0, "serving on %s", path);
}
