#include "sockets.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http.h"
#include "log.h"

/* Only the daemon's own user gets at them. */
#define SOCKET_MODE 0600

static int make_dir(const char *dir, struct err *e)
{
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return err_set(e, -errno, "%s: %s", dir, strerror(errno));
	return 0;
}

static void serve(struct http *http, const char *dir, const char *name, bool orders)
{
	char path[PATH_MAX];
	struct err e = {0};
	int r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	r = orders ? http_listen_orders(http, path, SOCKET_MODE, &e)
		   : http_listen_unix(http, path, SOCKET_MODE, &e);
	if (r < 0)
		log_warn("http", 0, "%s, serving without this socket", e.msg);
	else if (r == 0)
		log_info("http", 0, "serving on %s", path);
}

void sockets_serve(struct http *http, const char *run_dir)
{
	struct err e = {0};

	if (make_dir(run_dir, &e) < 0)
		log_warn("http", 0, "%s, serving without rocelet.sock", e.msg);
	else
		serve(http, run_dir, "rocelet.sock", true);
}

void sockets_serve_metrics(struct http *http, const char *kubelet_dir)
{
	char plugins[PATH_MAX];

	snprintf(plugins, sizeof(plugins), "%s/device-plugins", kubelet_dir);
	if (access(plugins, F_OK) == 0)
		serve(http, plugins, "rocelet-metrics.sock", false);
}
