// SPDX-License-Identifier: Apache-2.0

#include "listen.h"

#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "http.h"
#include "listen_address.h"
#include "log.h"
#include "uds_socket.h"

/* Only root and the daemon's own user can connect. */
#define SOCKET_MODE 0600

int sockets_serve(struct http *http, const char *run_dir, struct err *e)
{
	char path[PATH_MAX];

	if (mkdir(run_dir, 0755) < 0 && errno != EEXIST)
		return err_set(e, -errno, "%s: %s", run_dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/rocelet.sock", run_dir);
	return http_listen_admin(http, path, SOCKET_MODE, e);
}

void sockets_serve_metrics(struct http *http, const char *kubelet_dir, struct err *last)
{
	char plugins[PATH_MAX], path[PATH_MAX + 32];
	struct err e = {0};
	int r;

	snprintf(plugins, sizeof(plugins), "%s/device-plugins", kubelet_dir);
	if (access(plugins, F_OK) < 0)
		return;
	snprintf(path, sizeof(path), "%s/rocelet-metrics.sock", plugins);
	r = http_listen_unix(http, path, SOCKET_MODE, &e);
	if (r < 0 && strcmp(e.msg, last->msg) != 0)
		log_warn("http", 0, "%s, serving without this socket", e.msg);
	else if (r == 0)
		log_info("http", 0, "serving on %s", path);
	*last = r < 0 ? e : (struct err){0};
}

#define BACKLOG 128

static void cleanup_addrinfo(struct addrinfo **a)
{
	if (*a)
		freeaddrinfo(*a);
}

#define AUTO_ADDRINFO __attribute__((cleanup(cleanup_addrinfo))) struct addrinfo *

/* Returns the address; NULL: it is not numeric. */
static struct addrinfo *resolve_address(const char *host, unsigned port)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				 .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	return getaddrinfo(host, service, &hints, &found) == 0 ? found : NULL;
}

/* Returns the listening socket or a negative errno. */
static int open_tcp(const char *host, unsigned port, bool dual_stack)
{
	AUTO_ADDRINFO at = resolve_address(host, port);
	int on = 1, v6only = !dual_stack;
	AUTO_FD fd = -1;

	if (!at)
		return -EINVAL;
	fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (at->ai_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only)) < 0)
		return -errno;
	if (bind(fd, at->ai_addr, at->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return take_fd(&fd);
}

static int open_tcp_any(unsigned port)
{
	int fd = open_tcp("::", port, true);

	/* The kernel has no IPv6, or it is disabled in this network namespace. */
	return fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL ? open_tcp("0.0.0.0", port, false) : fd;
}

static unsigned listen_port_of(int fd)
{
	struct sockaddr_in6 at = {0}; /* the port has the same offset as in sockaddr_in */
	socklen_t len = sizeof(at);

	return getsockname(fd, (struct sockaddr *)&at, &len) < 0 ? 0 : ntohs(at.sin6_port);
}

int listen_tcp(const char *address, unsigned *ret_port, struct err *e)
{
	struct listen_address a = {0};
	int fd = listen_address_read(address, &a, e);

	if (fd < 0)
		return err_wrap(e, "cannot listen");
	fd = a.host[0] ? open_tcp(a.host, a.port, false) : open_tcp_any(a.port);
	if (fd < 0)
		return err_set(e, fd, "cannot listen on %s: %s", address, strerror(-fd));
	if (ret_port)
		*ret_port = listen_port_of(fd);
	return fd;
}

int listen_unix(const char *path, unsigned mode, struct stat *ret_file, struct err *e)
{
	struct sockaddr_un sa;
	AUTO_FD live = -1;
	int r = uds_address(&sa, path, e);

	if (r < 0)
		return err_wrap(e, "cannot listen");
	live = uds_connect(&sa);
	if (live >= 0 || live == -EAGAIN) /* with a full backlog, the socket is in use, too */
		return err_set(e, -EADDRINUSE,
			       "cannot listen on %s: another process serves this socket", path);
	if (live != -ECONNREFUSED && live != -ENOENT)
		return err_set(e, live, "cannot listen on %s: %s", path, strerror(-live));
	return uds_listen(&sa, mode, ret_file, e);
}

bool listen_is_own(const char *path, const struct stat *own)
{
	struct sockaddr_un sa;
	struct err e;

	return uds_address(&sa, path, &e) == 0 && uds_is_ours(&sa, own);
}

void listen_unlink(const char *path, const struct stat *own)
{
	if (listen_is_own(path, own))
		unlink(path);
}
