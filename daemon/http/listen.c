/* listen.c - makes the listening sockets of listen.h. */
#include "listen.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cleanup.h"

#define BACKLOG 128

static bool parse_port(const char *s, unsigned *ret)
{
	unsigned port = 0;
	size_t n;

	for (n = 0; s[n] >= '0' && s[n] <= '9' && n < 5; n++)
		port = port * 10 + (unsigned)(s[n] - '0');
	if (n == 0 || s[n] != '\0' || port > 65535)
		return false;
	*ret = port;
	return true;
}

bool listen_address_parse(const char *s, struct listen_address *ret)
{
	const char *colon = strrchr(s, ':'), *host = s;
	struct listen_address a = {0};
	size_t len;

	if (!colon || !parse_port(colon + 1, &a.port))
		return false;
	len = (size_t)(colon - s);
	if (len > 0 && s[0] == '[') {
		if (len < 3 || colon[-1] != ']')
			return false;
		host++;
		len -= 2;
	} else if (memchr(s, ':', len)) {
		return false; /* an IPv6 address needs its brackets */
	}
	if (len >= sizeof(a.host))
		return false;
	memcpy(a.host, host, len);
	*ret = a;
	return true;
}

static int bind_and_listen(int fd, const struct sockaddr *sa, socklen_t len)
{
	if (bind(fd, sa, len) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return 0;
}

/* The listening socket or a negative errno. */
static int open_tcp(const struct sockaddr *sa, socklen_t len, bool dual_stack)
{
	AUTO_FD fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, v6only = !dual_stack, r;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (sa->sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only)) < 0)
		return -errno;
	r = bind_and_listen(fd, sa, len);
	return r < 0 ? r : take_fd(&fd);
}

/* No IPv6 in the kernel, or none allowed in this network namespace. */
static bool is_ipv6_missing(int code)
{
	return code == -EAFNOSUPPORT || code == -EADDRNOTAVAIL;
}

static int open_tcp_any(unsigned port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = open_tcp((struct sockaddr *)&six, sizeof(six), true);

	if (is_ipv6_missing(fd))
		fd = open_tcp((struct sockaddr *)&four, sizeof(four), false);
	return fd;
}

/* NULL: it is no address. */
static struct addrinfo *resolve(const struct listen_address *a)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				 .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char port[8];

	snprintf(port, sizeof(port), "%u", a->port);
	return getaddrinfo(a->host, port, &hints, &found) == 0 ? found : NULL;
}

static int open_tcp_address(const struct listen_address *a)
{
	struct addrinfo *found = resolve(a);
	int fd;

	if (!found)
		return -EINVAL;
	fd = open_tcp(found->ai_addr, found->ai_addrlen, false);
	freeaddrinfo(found);
	return fd;
}

static unsigned port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} at;
	socklen_t len = sizeof(at);

	memset(&at, 0, sizeof(at));
	if (getsockname(fd, &at.any, &len) < 0)
		return 0;
	return ntohs(at.any.sa_family == AF_INET6 ? at.six.sin6_port : at.four.sin_port);
}

static int read_address(const char *address, struct listen_address *ret, struct err *e)
{
	struct addrinfo *found;

	if (!listen_address_parse(address, ret))
		return err_set(e, -EINVAL,
			       "cannot listen on \"%s\": want ADDR:PORT, [V6]:PORT or :PORT",
			       address);
	found = ret->host[0] ? resolve(ret) : NULL;
	if (ret->host[0] && !found)
		return err_set(e, -EINVAL, "cannot listen on \"%s\": \"%s\" is not an IP address",
			       address, ret->host);
	if (found)
		freeaddrinfo(found);
	return 0;
}

int listen_check(const char *address, struct err *e)
{
	struct listen_address a;

	return read_address(address, &a, e);
}

int listen_tcp(const char *address, unsigned *ret_port, struct err *e)
{
	struct listen_address a = {0};
	int fd = read_address(address, &a, e);

	if (fd < 0)
		return fd;
	fd = a.host[0] == '\0' ? open_tcp_any(a.port) : open_tcp_address(&a);
	if (fd < 0)
		return err_set(e, fd, "cannot listen on %s: %s", address, strerror(-fd));
	if (ret_port)
		*ret_port = port_of(fd);
	return fd;
}

/* Whether somebody accepts connections there: -ECONNREFUSED = nobody does. A full backlog
 * (-EAGAIN) has an owner as well. */
static int probe(const struct sockaddr_un *sa)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	return connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) < 0 ? -errno : 0;
}

/* Makes the path free, or says why it cannot be. */
static int clear_stale(const struct sockaddr_un *sa, struct err *e)
{
	struct stat st;
	int r;

	if (lstat(sa->sun_path, &st) < 0)
		return 0; /* bind() tells what is wrong, if anything */
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, -EEXIST,
			       "cannot listen on %s: the file exists and is not a socket",
			       sa->sun_path);
	r = probe(sa);
	if (r == 0 || r == -EAGAIN)
		return err_set(e, -EADDRINUSE,
			       "cannot listen on %s: another process serves this socket",
			       sa->sun_path);
	if (r == -ECONNREFUSED && unlink(sa->sun_path) < 0)
		r = -errno;
	if (r != -ECONNREFUSED && r != -ENOENT)
		return err_set(e, r, "cannot replace the old socket %s: %s", sa->sun_path,
			       strerror(-r));
	return 0;
}

/* The mode of the socket's inode is what bind() gives the file, less the umask
 * (linux/net/unix/af_unix.c, unix_bind_bsd): set before, the file is never open wider than asked.
 */
static int open_unix(const struct sockaddr_un *sa, unsigned mode)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0 || fchmod(fd, mode) < 0)
		return -errno;
	r = bind_and_listen(fd, (const struct sockaddr *)sa, sizeof(*sa));
	if (r < 0)
		return r;
	return chmod(sa->sun_path, mode) < 0 ? -errno : take_fd(&fd);
}

int listen_unix(const char *path, unsigned mode, struct err *e)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd, r;

	if (path[0] == '\0' || strlen(path) >= sizeof(sa.sun_path))
		return err_set(e, -ENAMETOOLONG,
			       "cannot listen on \"%s\": a socket's path has 1 to %zu bytes", path,
			       sizeof(sa.sun_path) - 1);
	strcpy(sa.sun_path, path);
	r = clear_stale(&sa, e);
	if (r < 0)
		return r;
	fd = open_unix(&sa, mode);
	return fd < 0 ? err_set(e, fd, "cannot listen on %s: %s", path, strerror(-fd)) : fd;
}

void listen_unlink(const char *path, const struct stat *own)
{
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == own->st_dev && st.st_ino == own->st_ino)
		unlink(path);
}
