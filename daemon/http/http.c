/* http.c - libmicrohttpd as a guest of the libuv loop.
 *
 * Happy path: a listener is readable -> accept(2) -> a slot in the table, the socket goes to
 * libmicrohttpd -> its epoll descriptor is readable -> MHD_run() -> the handler is asked ->
 * MHD_run() sends -> the connection is idle, or closed.
 *
 * libmicrohttpd takes a socket over at once or, from 1.0 on, in the next MHD_run(); one that it
 * could not take it closes without a word, so a slot that is still an orphan after MHD_run() is
 * free again.
 *
 * We accept ourselves and one libmicrohttpd daemon without a listening socket serves them all: so
 * the rate limit and the table come first, and running out of descriptors is ours to sit out.
 *
 * Ways to fail: too many connections a second from one address are closed at once; a nearly full
 * table or a missed deadline shuts the slowest one down (libmicrohttpd then finds it ended and
 * closes it); accept(2) without descriptors, or a table that stays full, pauses all listeners for a
 * moment.
 *
 * One timer serves work left in libmicrohttpd, the next deadline and the end of a pause. With no
 * connection and no pause it is stopped. */
#include "http.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "gzip.h"
#include "listen.h"
#include "self_counters.h"
#include "server.h"

#define MAX_CONNECTIONS_DEFAULT 64
#define REQUEST_MS_DEFAULT	10000
#define ORDER_MS_DEFAULT	30000
#define IDLE_MS			60000
/* New connections from one address, and over unix sockets. All addresses together have twice as
 * much: one that takes all it can get leaves as much to the others. */
#define CONNECTS_PER_SECOND	200
#define CONNECTS_BURST		400

/* An answer that nobody takes is thrown away with the socket (SO_LINGER), or the kernel would keep
 * it for minutes. */
void http_cut(struct http *h, struct connection *slot)
{
	struct linger at_once = {1, 0};

	if (slot->phase == CONNECTION_ANSWER)
		setsockopt(slot->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	connections_enter(&h->connections, slot, CONNECTION_CUT, uv_now(h->loop));
	shutdown(slot->fd, SHUT_RDWR);
}

void http_evict(struct http *h, struct connection *slot)
{
	h->self->http_evictions++;
	http_cut(h, slot);
}

static void cut_expired(struct http *h, uint64_t now_ms)
{
	struct connection *slot;

	while ((slot = connections_expired(&h->connections, now_ms)) != NULL) {
		if (slot->phase == CONNECTION_IDLE)
			http_cut(h, slot); /* the ordinary end of a kept connection */
		else if (slot->phase != CONNECTION_WAITING || !deferred_expire(h, slot))
			http_evict(h, slot);
	}
}

/* When the timer has to run next; CONNECTIONS_NEVER = not at all. */
static uint64_t next_wake(struct http *h, uint64_t now_ms)
{
	uint64_t next = connections_deadline(&h->connections);
	MHD_UNSIGNED_LONG_LONG left_ms;

	if (h->resume_ms && h->resume_ms < next)
		next = h->resume_ms;
	if (MHD_get_timeout(h->mhd, &left_ms) == MHD_YES && now_ms + left_ms < next)
		next = now_ms + left_ms;
	return next;
}

static void on_timer(uv_timer_t *timer)
{
	http_run(timer->data);
}

static void arm_timer(struct http *h, uint64_t now_ms)
{
	uint64_t next = next_wake(h, now_ms);

	if (next == CONNECTIONS_NEVER)
		uv_timer_stop(&h->timer);
	else
		uv_timer_start(&h->timer, on_timer, next > now_ms ? next - now_ms : 0, 0);
}

void http_wake(struct http *h)
{
	uv_timer_start(&h->timer, on_timer, 0, 0);
}

void http_run(struct http *h)
{
	uint64_t now_ms = uv_now(h->loop);

	cut_expired(h, now_ms);
	MHD_run(h->mhd);
	connections_drop_orphans(&h->connections);
	if (h->resume_ms && h->resume_ms <= now_ms)
		listeners_resume(h);
	arm_timer(h, now_ms);
}

static void on_mhd_ready(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events;
	http_run(poll->data);
}

static int start(struct http *h)
{
	const union MHD_DaemonInfo *info;
	int r;

	h->gzip = gzip_new();
	if (!h->gzip)
		return -ENOMEM;
	h->mhd = requests_start(h);
	info = h->mhd ? MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info || info->epoll_fd < 0)
		return -ENOMEM;
	r = uv_poll_init(h->loop, &h->mhd_poll, info->epoll_fd);
	if (r < 0)
		return r;
	/* From here on nothing fails: a handle can only be given back by closing it. */
	h->mhd_poll.data = h;
	uv_poll_start(&h->mhd_poll, UV_READABLE, on_mhd_ready);
	uv_timer_init(h->loop, &h->timer);
	h->timer.data = h;
	h->open_handles = 2;
	return 0;
}

static void stop_mhd(struct http *h)
{
	h->closing = true;
	if (h->mhd)
		MHD_run(h->mhd); /* who was answered a moment ago still gets it */
	deferred_release(h);
	if (h->mhd)
		MHD_stop_daemon(h->mhd);
	h->mhd = NULL;
}

static void free_http(struct http *h)
{
	stop_mhd(h);
	connections_done(&h->connections);
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

int http_open(struct http **ret, struct uv_loop_s *loop, const struct http_opts *opts,
	      struct self_counters *self, http_handler_fn *handler, void *arg, struct err *e)
{
	unsigned size = opts->max_connections ? opts->max_connections : MAX_CONNECTIONS_DEFAULT;
	unsigned request_ms = opts->request_ms ? opts->request_ms : REQUEST_MS_DEFAULT;
	unsigned order_ms = opts->order_ms ? opts->order_ms : ORDER_MS_DEFAULT;
	struct http *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return err_set(e, -ENOMEM, "cannot start the HTTP server: out of memory");
	h->loop = loop;
	h->self = self;
	h->handler = handler;
	h->handler_arg = arg;
	init_rates(h);
	r = connections_init(&h->connections, size, request_ms, IDLE_MS, order_ms);
	if (r == 0)
		r = start(h);
	if (r < 0) {
		free_http(h);
		return err_set(e, r, "cannot start the HTTP server: %s", strerror(-r));
	}
	*ret = h;
	return 0;
}

/* Takes what listen_tcp() or listen_unix() returned. */
static int serve(struct http *h, int fd, const char *what, char *path, bool orders, struct err *e)
{
	int r;

	if (fd < 0) {
		free(path);
		return fd;
	}
	r = listeners_add(h, fd, path, orders);
	return r < 0 ? err_set(e, r, "cannot listen on %s: %s", what, strerror(-r)) : 0;
}

int http_listen_tcp(struct http *h, const char *address, unsigned *ret_port, struct err *e)
{
	return serve(h, listen_tcp(address, ret_port, e), address, NULL, false, e);
}

static int serve_unix(struct http *h, const char *path, unsigned mode, bool orders, struct err *e)
{
	struct stat file;
	char *copy;

	if (listeners_has(h, path))
		return 1;
	copy = strdup(path);
	if (!copy)
		return err_set(e, -ENOMEM, "cannot listen on %s: out of memory", path);
	return serve(h, listen_unix(path, mode, &file, e), path, copy, orders, e);
}

int http_listen_unix(struct http *h, const char *path, unsigned mode, struct err *e)
{
	return serve_unix(h, path, mode, false, e);
}

int http_listen_orders(struct http *h, const char *path, unsigned mode, struct err *e)
{
	return serve_unix(h, path, mode, true, e);
}

void http_handle_closed(uv_handle_t *handle)
{
	struct http *h = handle->data;
	void (*on_closed)(void *) = h->on_closed;
	void *arg = h->closed_arg;

	if (--h->open_handles > 0)
		return;
	free_http(h);
	if (on_closed)
		on_closed(arg);
}

/* The handles go first: they watch descriptors that libmicrohttpd is about to close. */
void http_close(struct http *h, void (*on_closed)(void *), void *arg)
{
	h->on_closed = on_closed;
	h->closed_arg = arg;
	uv_close((uv_handle_t *)&h->timer, http_handle_closed);
	uv_close((uv_handle_t *)&h->mhd_poll, http_handle_closed);
	listeners_close(h);
	stop_mhd(h);
}
