// SPDX-License-Identifier: Apache-2.0
/* http.c - runs libmicrohttpd on the libuv loop. A new connection is subject to the rate limit and
 * then goes to libmicrohttpd; if the table is then nearly full, the slowest connection is closed.
 *
 * Success: a listener is readable -> accept(2) -> the socket goes to libmicrohttpd -> its epoll
 * descriptor is readable -> MHD_run() -> the handler is called -> MHD_run() sends -> the connection
 * is idle, or closed.
 *
 * We accept connections ourselves, and one libmicrohttpd daemon without a listening socket serves
 * all listeners: so the rate limit is applied first, and we can wait when out of descriptors
 * (libmicrohttpd would retry without a pause).
 *
 * Limits: connections that exceed the rate of their address are closed at once. A connection that
 * misses its deadline, and the slowest one if the table is nearly full, is shut down, and
 * libmicrohttpd then closes it. If accept(2) is out of descriptors, all listeners pause for
 * PAUSE_MS.
 *
 * One timer is used for work left in libmicrohttpd, the next deadline and the end of a pause. It is
 * stopped while there is no connection and no pause. */
#include "http.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cleanup.h"
#include "gzip.h"
#include "listen.h"
#include "log.h"
#include "self_counters.h"
#include "server.h"
#include "tls.h"

#define MAX_CONNECTIONS_DEFAULT 64
/* Three quarters of the admin connections may wait for a deferred answer: one for each of 1,024
 * functions and a few hundred more. */
#define MAX_ADMIN_DEFAULT	2048
#define REQUEST_MS_DEFAULT	10000
#define KEPT_MS_DEFAULT		30000
#define IDLE_S_DEFAULT		60
/* Limits for new connections from one address, and for readers over unix sockets. The limit of all
 * addresses together is twice as high, so an address that uses its full rate leaves as much to the
 * others. */
#define CONNECTS_PER_SECOND	200
#define CONNECTS_BURST		400
/* Connections accepted per wake-up. */
#define ACCEPT_BATCH		8
#define PAUSE_MS		100
#define TLS_PAUSE_MAX_MS	64

union peer {
	struct sockaddr_storage all;
	struct sockaddr any;
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;
};

struct listener {
	uv_poll_t poll;
	struct http *http;
	struct listener *next;
	int fd;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "" = TCP */
	struct stat file; /* the socket file at that path */
	bool admin;
};

/* --- end of a connection ---------------------------------------------------------------------- */

/* An answer that the client does not read is discarded (SO_LINGER); otherwise the kernel would keep
 * it for minutes. */
void http_cut(struct http *h, struct connection *connection)
{
	struct linger at_once = {1, 0};

	if (connection->phase == CONNECTION_ANSWER)
		setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	connections_enter(&h->connections, connection, CONNECTION_CUT, uv_now(h->loop));
	shutdown(connection->fd, SHUT_RDWR);
}

void http_evict(struct http *h, struct connection *connection)
{
	h->self->http_evictions++;
	http_cut(h, connection);
}

static void end_expired(struct http *h, uint64_t now_ms)
{
	struct connection *connection;
	uint64_t deadline;

	while ((connection = connections_next(&h->connections, &deadline)) != NULL &&
	       deadline <= now_ms) {
		if (connection->phase == CONNECTION_WAITING)
			requests_expire(connection);
		else
			http_evict(h, connection);
	}
}

/* --- the loop --------------------------------------------------------------------------------- */

static void on_listener(uv_poll_t *poll, int status, int events);

static void resume_listeners(struct http *h)
{
	h->resume_ms = 0;
	for (struct listener *l = h->listeners; l; l = l->next)
		uv_poll_start(&l->poll, UV_READABLE, on_listener);
}

/* Returns the time at which MHD_run() must be called even without an event. */
static uint64_t next_run(struct MHD_Daemon *mhd, uint64_t now_ms)
{
	MHD_UNSIGNED_LONG_LONG left_ms;

	return mhd && MHD_get_timeout(mhd, &left_ms) == MHD_YES ? now_ms + left_ms
								: CONNECTIONS_NEVER;
}

static bool is_answering_tls(const struct http *h)
{
	const struct connection *it;

	TAILQ_FOREACH(it, &h->connections.list, entry)
	if (it->is_tcp && it->phase == CONNECTION_ANSWER)
		return true;
	return false;
}

/* Returns the time of the next run for TLS. During a handshake, libmicrohttpd (0.9.75) always
 * requests to run immediately. While no answer is being sent, its epoll descriptor reports all work
 * except bytes that are buffered but not processed. The longer no event arrives, the less likely
 * such bytes are. So the pause between runs doubles. */
static uint64_t next_tls_run(struct http *h, uint64_t now_ms)
{
	uint64_t next = next_run(h->tls_mhd, now_ms);

	if (next > now_ms)
		return next;
	h->tls_pause_ms = is_answering_tls(h) || !h->tls_pause_ms ? 1 : h->tls_pause_ms * 2;
	h->tls_pause_ms = MIN(h->tls_pause_ms, TLS_PAUSE_MAX_MS);
	return now_ms + h->tls_pause_ms;
}

static void arm_timer(struct http *h, uint64_t now_ms)
{
	const uint64_t plain = next_run(h->mhd, now_ms), tls = next_tls_run(h, now_ms);
	uint64_t next;

	connections_next(&h->connections, &next);
	if (h->resume_ms)
		next = MIN(next, h->resume_ms);
	next = MIN(next, MIN(plain, tls));
	timer_at(&h->timer, next == CONNECTIONS_NEVER ? TIMER_NEVER : next);
}

static void run_mhd(struct http *h)
{
	MHD_run(h->mhd);
	if (h->tls_mhd)
		MHD_run(h->tls_mhd);
}

/* Handles deadlines and libmicrohttpd's work, and sets the timer. Called at the end of every
 * callback on the loop. */
static void run_server(struct http *h)
{
	uint64_t now_ms = uv_now(h->loop);

	end_expired(h, now_ms);
	run_mhd(h);
	if (h->resume_ms && h->resume_ms <= now_ms)
		resume_listeners(h);
	arm_timer(h, now_ms);
}

static void http_on_timer(void *arg)
{
	run_server(arg);
}

static void on_mhd_ready(uv_poll_t *poll, int status, int events)
{
	struct http *h = poll->data;

	(void)status, (void)events;
	if (poll == &h->tls_poll)
		h->tls_pause_ms = 0;
	run_server(h);
}

void http_wake(struct http *h)
{
	timer_in(&h->timer, 0);
}

void http_hold(struct http *h)
{
	h->open_handles++;
}

/* --- new connections -------------------------------------------------------------------------- */

/* Returns the key of an address for rate limits. One host may own a whole IPv6 /64, so only the
 * upper 64 bits are used. */
static uint64_t peer_number(const union peer *peer)
{
	uint64_t address = 0;

	if (peer->any.sa_family == AF_INET)
		address = peer->ip4.sin_addr.s_addr;
	else if (IN6_IS_ADDR_V4MAPPED(&peer->ip6.sin6_addr))
		memcpy(&address, &peer->ip6.sin6_addr.s6_addr[12], 4);
	else
		memcpy(&address, &peer->ip6.sin6_addr, sizeof(address));
	return address;
}

/* Returns whether the peer may send admin requests. The file's mode ensures that, unless it was
 * changed. */
static enum connection_admin peer_admin(const struct listener *l, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (!l->admin)
		return ADMIN_NOT_HERE;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return ADMIN_FORBIDDEN;
	return peer.uid == 0 || peer.uid == geteuid() ? ADMIN_ALLOWED : ADMIN_FORBIDDEN;
}

/* Passes a new connection to libmicrohttpd, which reports that it took over the socket at once or,
 * since 1.0, in MHD_run(). On failure it closes the socket without a report. */
static void hand_over(const struct listener *l, int fd, const union peer *peer, socklen_t len,
		      enum connection_admin admin)
{
	struct http *h = l->http;
	enum connection_places places;
	struct connection *slowest;

	h->arriving = calloc(1, sizeof(*h->arriving));
	if (!h->arriving) {
		close(fd);
		return;
	}
	h->arriving->fd = fd;
	h->arriving->admin = admin;
	h->arriving->is_tcp = !l->path[0];
	h->arriving->peer = h->arriving->is_tcp ? peer_number(peer) : 0;
	places = connection_places(h->arriving);
	MHD_add_connection(h->arriving->is_tcp && h->tls_mhd ? h->tls_mhd : h->mhd, fd, &peer->any,
			   len);
	run_mhd(h);
	free(take_ptr(h->arriving));
	slowest = connections_to_evict(&h->connections, places);
	if (!slowest)
		return;
	http_evict(h, slowest);
	run_mhd(h);
}

struct bucket *http_peer_rate(struct http *h, uint64_t peer)
{
	/* Fibonacci hashing. */
	return &h->address_rates[(peer * 0x9e3779b97f4a7c15) >> 56];
}

static bool may_enter(const struct listener *l, const union peer *peer, enum connection_admin admin)
{
	struct http *h = l->http;
	uint64_t now = uv_now(h->loop);

	if (admin == ADMIN_ALLOWED)
		return true;
	if (l->path[0])
		return bucket_take(&h->unix_rate, now);
	return bucket_take(http_peer_rate(h, peer_number(peer)), now) &&
	       bucket_take(&h->tcp_rate, now);
}

/* True if the peer disconnected before accept(2), which has several error codes for that. */
static bool is_peer_disconnect(int code)
{
	return code == ECONNABORTED || code == EINTR || code == EPROTO || code == EPERM ||
	       code == ENETDOWN || code == EHOSTUNREACH || code == ENETUNREACH;
}

/* Accepts one connection from the backlog. Returns 0 or a negative errno. */
static int http_accept_one(const struct listener *l)
{
	struct http *h = l->http;
	union peer peer = {.all = {0}};
	socklen_t len = sizeof(peer);
	int fd = accept4(l->fd, &peer.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	enum connection_admin admin;

	if (fd < 0)
		return is_peer_disconnect(errno) ? 0 : -errno;
	h->self->http_connections++;
	admin = peer_admin(l, fd);
	if (may_enter(l, &peer, admin)) {
		hand_over(l, fd, &peer, len, admin);
	} else {
		h->self->http_evictions++;
		close(fd);
	}
	return 0;
}

/* Pauses after accept(2) failed, usually for lack of descriptors. The connection stays in the
 * backlog and the listener readable, so polling stops for PAUSE_MS. The slowest connection is
 * closed to free its descriptor. */
static void accept_failed(struct http *h, int code)
{
	struct connection *slowest = connections_slowest(&h->connections);

	log_warn("http", code, "cannot accept connections, trying again in %d ms", PAUSE_MS);
	if (slowest)
		http_evict(h, slowest);
	h->resume_ms = uv_now(h->loop) + PAUSE_MS;
	for (struct listener *l = h->listeners; l; l = l->next)
		uv_poll_stop(&l->poll);
}

/* Accepts connections. Without descriptors, accept(2) fails before it checks the backlog, so only
 * the failure of the first call means that a connection is waiting. */
static void on_listener(uv_poll_t *poll, int status, int events)
{
	struct listener *l = poll->data;
	int i, r = 0;

	(void)status, (void)events;
	for (i = 0; r == 0 && i < ACCEPT_BATCH; i++)
		r = http_accept_one(l);
	if (r < 0 && r != -EAGAIN && i == 1)
		accept_failed(l->http, r);
	run_server(l->http);
}

/* --- listeners -------------------------------------------------------------------------------- */

static void handle_closed(void *arg);

static void on_listener_closed(uv_handle_t *handle)
{
	struct listener *l = handle->data;

	handle_closed(l->http);
	free(l);
}

static void close_listener(struct listener *l)
{
	uv_close((uv_handle_t *)&l->poll, on_listener_closed);
	if (l->path[0])
		listen_unlink(l->path, &l->file);
	close(l->fd);
}

/* Adds a listener. Takes ownership of the descriptor; fd < 0: returns that error. file: NULL = TCP.
 */
static int add_listener(struct http *h, int fd, const char *address, const struct stat *file,
			bool admin, struct err *e)
{
	struct listener *l;
	int r;

	if (fd < 0)
		return fd;
	l = calloc(1, sizeof(*l));
	r = l ? uv_poll_init(h->loop, &l->poll, fd) : -ENOMEM;
	if (r < 0) {
		close(fd);
		free(l);
		return err_set(e, r, "cannot listen on %s: %s", address, strerror(-r));
	}
	if (file) {
		l->file = *file;
		snprintf(l->path, sizeof(l->path), "%s", address);
	}
	l->poll.data = l;
	l->http = h;
	l->fd = fd;
	l->admin = admin;
	l->next = h->listeners;
	h->listeners = l;
	http_hold(h);
	uv_poll_start(&l->poll, UV_READABLE, on_listener);
	return 0;
}

int http_listen_tcp(struct http *h, const char *address, unsigned *ret_port, struct err *e)
{
	return add_listener(h, listen_tcp(address, ret_port, e), address, NULL, false, e);
}

/* True if a listener on this path still has its own file. If the file was removed or replaced,
 * closes the listener. */
static bool http_is_served(struct http *h, const char *path)
{
	struct listener **at = &h->listeners, *l;

	while ((l = *at) && strcmp(l->path, path) != 0)
		at = &l->next;
	if (!l || listen_is_own(path, &l->file))
		return l != NULL;
	*at = l->next;
	close_listener(l);
	return false;
}

static int serve_unix(struct http *h, const char *path, unsigned mode, bool admin, struct err *e)
{
	struct stat file;

	if (http_is_served(h, path))
		return 1;
	return add_listener(h, listen_unix(path, mode, &file, e), path, &file, admin, e);
}

int http_listen_unix(struct http *h, const char *path, unsigned mode, struct err *e)
{
	return serve_unix(h, path, mode, false, e);
}

int http_listen_admin(struct http *h, const char *path, unsigned mode, struct err *e)
{
	return serve_unix(h, path, mode, true, e);
}

/* --- the whole server ------------------------------------------------------------------------- */

static void stop_mhd(struct http *h)
{
	h->closing = true;
	if (!h->mhd)
		return;
	run_mhd(h); /* send the last answers */
	requests_release(h);
	MHD_stop_daemon(take_ptr(h->mhd));
	if (!h->tls_mhd)
		return;
	MHD_stop_daemon(take_ptr(h->tls_mhd));
	tls_done();
}

static void free_http(struct http *h)
{
	stop_mhd(h);
	access_free(h->access);
	gzip_free(h->gzip);
	free(h);
}

static void init_rates(struct http *h)
{
	uint64_t now = uv_now(h->loop);

	bucket_init(&h->tcp_rate, 2 * CONNECTS_PER_SECOND, 2 * CONNECTS_BURST, now);
	bucket_init(&h->unix_rate, CONNECTS_PER_SECOND, CONNECTS_BURST, now);
	for (size_t i = 0; i < ADDRESS_BUCKETS; i++)
		bucket_init(&h->address_rates[i], CONNECTS_PER_SECOND, CONNECTS_BURST, now);
}

/* Polls libmicrohttpd's epoll descriptor on our loop. */
static int watch_mhd(struct http *h, struct MHD_Daemon *mhd, uv_poll_t *poll)
{
	const union MHD_DaemonInfo *info = mhd ? MHD_get_daemon_info(mhd, MHD_DAEMON_INFO_EPOLL_FD)
					       : NULL;
	int r = info && info->epoll_fd >= 0 ? uv_poll_init(h->loop, poll, info->epoll_fd) : -ENOMEM;

	if (r < 0)
		return r;
	poll->data = h;
	uv_poll_start(poll, UV_READABLE, on_mhd_ready);
	http_hold(h);
	return 0;
}

static int start_mhd(struct http *h)
{
	int r;

	h->gzip = gzip_new();
	h->mhd = h->gzip ? requests_start(h, false) : NULL;
	r = watch_mhd(h, h->mhd, &h->mhd_poll);
	if (r < 0)
		return r;
	/* No step after this may fail: an initialised handle can only be freed by closing it. */
	timer_init(&h->timer, h->loop, http_on_timer, h);
	http_hold(h);
	return 0;
}

int http_use_tls(struct http *h, const struct tls_pem *certificate, const struct tls_pem *key,
		 struct err *e)
{
	struct MHD_Daemon *mhd;
	int r = tls_use(certificate, key, e);

	if (r < 0 || h->tls_mhd)
		return r;
	mhd = requests_start(h, true);
	r = watch_mhd(h, mhd, &h->tls_poll);
	if (r == 0) {
		h->tls_mhd = mhd;
		return 0;
	}
	if (mhd)
		MHD_stop_daemon(mhd);
	tls_done();
	return err_set(e, r, "TLS: %s", strerror(-r));
}

void http_use_access(struct http *h, struct access *access, const char *const *open_paths)
{
	if (access && h->access)
		access_carry(access, h->access);
	access_free(h->access);
	h->access = access;
	h->open_paths = open_paths;
}

void http_close_paths(struct http *h, const char *why, const char *const *open_paths)
{
	h->closed_message = why;
	h->open_paths = open_paths;
}

int http_open(struct http **ret, struct uv_loop_s *loop, const struct http_opts *opts,
	      struct self_counters *self, http_handler_fn *handler, void *arg, struct err *e)
{
	struct http *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return err_set(e, -ENOMEM, "cannot start the HTTP server: out of memory");
	h->loop = loop;
	h->self = self;
	h->handler = handler;
	h->handler_arg = arg;
	h->large_path = opts->large_path;
	h->idle_s = opts->idle_s ? opts->idle_s : IDLE_S_DEFAULT;
	connections_init(&h->connections,
			 opts->max_connections ? opts->max_connections : MAX_CONNECTIONS_DEFAULT,
			 opts->max_admin ? opts->max_admin : MAX_ADMIN_DEFAULT,
			 opts->request_ms ? opts->request_ms : REQUEST_MS_DEFAULT,
			 opts->kept_ms ? opts->kept_ms : KEPT_MS_DEFAULT);
	init_rates(h);
	r = start_mhd(h);
	if (r < 0) {
		free_http(h);
		return err_set(e, r, "cannot start the HTTP server: %s", strerror(-r));
	}
	*ret = h;
	return 0;
}

static void handle_closed(void *arg)
{
	struct http *h = arg;
	void (*on_closed)(void *) = h->on_closed;
	void *closed_arg = h->closed_arg;

	if (--h->open_handles > 0)
		return;
	free_http(h);
	if (on_closed)
		on_closed(closed_arg);
}

void http_release(struct http *h)
{
	handle_closed(h);
}

static void on_handle_closed(uv_handle_t *handle)
{
	handle_closed(handle->data);
}

/* The handles are closed first, because they watch descriptors that libmicrohttpd closes. */
void http_close(struct http *h, void (*on_closed)(void *), void *arg)
{
	struct listener *l;

	h->on_closed = on_closed;
	h->closed_arg = arg;
	timer_close(&h->timer, handle_closed);
	uv_close((uv_handle_t *)&h->mhd_poll, on_handle_closed);
	if (h->tls_mhd)
		uv_close((uv_handle_t *)&h->tls_poll, on_handle_closed);
	while ((l = h->listeners) != NULL) {
		h->listeners = l->next;
		close_listener(l);
	}
	stop_mhd(h);
}
