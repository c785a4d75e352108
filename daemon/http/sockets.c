#include "sockets.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http.h"
#include "log.h"

/* Only the daemon's own user gets at them. */
#define SOCKET_MODE 0600

typedef int listen_fn(struct http *, const char *path, unsigned mode, struct err *);

static void serve_socket(struct http *http, listen_fn *listen, const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct err e = {0};
	int r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	r = listen(http, path, SOCKET_MODE, &e);
	if (r < 0)
		log_warn("http", 0, "%s, serving without this socket", e.msg);
	else if (r == 0)
		log_info("http", 0, "serving on %s", path);
}

void sockets_serve(struct http *http, const char *run_dir)
{
	if (mkdir(run_dir, 0755) < 0 && errno != EEXIST)
		log_warn("http", 0, "%s: %s, serving without rocelet.sock", run_dir,
			 strerror(errno));
	else
		serve_socket(http, http_listen_orders, run_dir, "rocelet.sock");
}

void sockets_serve_metrics(struct http *http, const char *kubelet_dir)
{
	char plugins[PATH_MAX];

	snprintf(plugins, sizeof(plugins), "%s/device-plugins", kubelet_dir);
	if (access(plugins, F_OK) == 0)
		serve_socket(http, http_listen_unix, plugins, "rocelet-metrics.sock");
}
