/* listeners.c - takes new connections in: rate, table, libmicrohttpd, in this order. The story is
 * http.c's. */
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"
#include "log.h"
#include "self_counters.h"
#include "server.h"

/* Accepted in one go: fewer than the table holds, so that libmicrohttpd gets to read what the
 * earlier ones asked before they have to make room. */
#define ACCEPT_BATCH 8
#define PAUSE_MS     100

static void on_listener(uv_poll_t *poll, int status, int events);

void listeners_pause(struct http *h)
{
	struct listener *l;

	h->resume_ms = uv_now(h->loop) + PAUSE_MS;
	for (l = h->listeners; l; l = l->next)
		uv_poll_stop(&l->poll);
}

void listeners_resume(struct http *h)
{
	struct listener *l;

	h->resume_ms = 0;
	for (l = h->listeners; l; l = l->next)
		uv_poll_start(&l->poll, UV_READABLE, on_listener);
}

/* Whether who has connected may give orders; the file's mode alone would do, unless somebody
 * changes it. */
static enum connection_orders peers_orders(const struct listener *l, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (!l->orders)
		return ORDERS_NOT_HERE;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return ORDERS_FORBIDDEN;
	return peer.uid == 0 || peer.uid == geteuid() ? ORDERS_TAKEN : ORDERS_FORBIDDEN;
}

/* A slot for the connection, and libmicrohttpd's care. */
static void admit(const struct listener *l, int fd, const struct sockaddr *peer, socklen_t len)
{
	struct http *h = l->http;
	struct connection *slot = connections_add(&h->connections, fd, uv_now(h->loop));

	if (!slot) {
		close(fd);
		return;
	}
	slot->orders = peers_orders(l, fd);
	if (MHD_add_connection(h->mhd, fd, peer, len) != MHD_YES) { /* and has closed it */
		if (slot->phase != CONNECTION_FREE)
			connections_remove(&h->connections, slot);
		return;
	}
	slot = connections_crowding(&h->connections);
	if (slot)
		http_evict(h, slot);
}

/* One user of an IPv6 network may have all of its lower half. */
static struct bucket *address_rate(struct http *h, const struct sockaddr *peer)
{
	const struct sockaddr_in6 *ip6 = (const void *)peer;
	const struct sockaddr_in *ip4 = (const void *)peer;
	uint64_t address = 0;

	if (peer->sa_family == AF_INET)
		address = ip4->sin_addr.s_addr;
	else if (IN6_IS_ADDR_V4MAPPED(&ip6->sin6_addr))
		memcpy(&address, &ip6->sin6_addr.s6_addr[12], 4);
	else
		memcpy(&address, &ip6->sin6_addr, sizeof(address));
	/* Fibonacci hashing. */
	return &h->address_rates[(address * 0x9e3779b97f4a7c15) >> 56];
}

static bool may_enter(const struct listener *l, const struct sockaddr *peer)
{
	struct http *h = l->http;
	uint64_t now = uv_now(h->loop);

	if (l->path)
		return bucket_take(&h->unix_rate, now);
	return bucket_take(address_rate(h, peer), now) && bucket_take(&h->tcp_rate, now);
}

static void take_in(const struct listener *l, int fd, const struct sockaddr *peer, socklen_t len)
{
	struct http *h = l->http;

	h->self->http_connections++;
	if (may_enter(l, peer)) {
		admit(l, fd, peer, len);
	} else {
		h->self->http_evictions++;
		close(fd);
	}
}

/* The peer was gone before we came; accept(2) reports that in several ways. */
static bool is_peers_fault(int code)
{
	return code == ECONNABORTED || code == EINTR || code == EPROTO || code == EPERM ||
	       code == ENETDOWN || code == EHOSTUNREACH || code == ENETUNREACH;
}

/* Mostly out of descriptors. The connection stays in the backlog, so the listener would be readable
 * for ever: look away for a moment, and make the slowest give its descriptor back. */
static void accept_failed(struct http *h, int code)
{
	struct connection *slot = connections_slowest(&h->connections);

	log_warn("http", code, "cannot accept connections, trying again in %d ms", PAUSE_MS);
	if (slot)
		http_evict(h, slot);
	listeners_pause(h);
}

/* Takes one connection from the backlog. Returns 0 or a negative errno. */
static int accept_one(const struct listener *l)
{
	struct sockaddr_storage peer = {0};
	socklen_t len = sizeof(peer);
	int fd = accept4(l->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return is_peers_fault(errno) ? 0 : -errno;
	take_in(l, fd, (struct sockaddr *)&peer, len);
	return 0;
}

/* Without descriptors accept(2) fails before it looks at the backlog, so only the first call says
 * that somebody waits. */
static void accept_batch(const struct listener *l)
{
	struct http *h = l->http;
	int i, r = 0;

	for (i = 0; r == 0 && i < ACCEPT_BATCH && !connections_full(&h->connections); i++)
		r = accept_one(l);
	if (r < 0 && r != -EAGAIN && i == 1)
		accept_failed(h, r);
}

static struct listener *listener_of(uv_poll_t *poll)
{
	return (struct listener *)(void *)((char *)poll - offsetof(struct listener, poll));
}

static void on_listener(uv_poll_t *poll, int status, int events)
{
	struct listener *l = listener_of(poll);
	struct http *h = l->http;

	(void)status, (void)events;
	accept_batch(l);
	if (connections_full(&h->connections))
		listeners_pause(h);
	http_run(h);
}

int listeners_add(struct http *h, int fd, char *path, bool orders)
{
	struct listener *l = calloc(1, sizeof(*l));
	int r = l ? uv_poll_init(h->loop, &l->poll, fd) : -ENOMEM;

	if (path && r == 0 && lstat(path, &l->file) < 0)
		l->file.st_ino = 0; /* gone already: nothing to remove later */
	if (r < 0) {
		close(fd);
		free(path);
		free(l);
		return r;
	}
	l->http = h;
	l->fd = fd;
	l->path = path;
	l->orders = orders;
	l->next = h->listeners;
	h->listeners = l;
	h->open_handles++;
	uv_poll_start(&l->poll, UV_READABLE, on_listener);
	return 0;
}

static void on_listener_closed(uv_handle_t *handle)
{
	struct listener *l = listener_of((uv_poll_t *)handle);

	handle->data = l->http;
	http_handle_closed(handle);
	free(l->path);
	free(l);
}

static void close_listener(struct listener *l)
{
	uv_close((uv_handle_t *)&l->poll, on_listener_closed);
	if (l->path)
		listen_unlink(l->path, &l->file);
	close(l->fd);
}

static bool file_is_there(const struct listener *l)
{
	struct stat now;

	return lstat(l->path, &now) == 0 && now.st_dev == l->file.st_dev &&
	       now.st_ino == l->file.st_ino;
}

bool listeners_has(struct http *h, const char *path)
{
	struct listener **at = &h->listeners, *l;

	while ((l = *at) && !(l->path && strcmp(l->path, path) == 0))
		at = &l->next;
	if (!l || file_is_there(l))
		return l != NULL;
	*at = l->next;
	close_listener(l);
	return false;
}

void listeners_close(struct http *h)
{
	struct listener *l, *next;

	for (l = h->listeners; l; l = next) {
		next = l->next;
		close_listener(l);
	}
	h->listeners = NULL;
}
