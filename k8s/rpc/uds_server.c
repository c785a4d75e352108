// SPDX-License-Identifier: Apache-2.0
/* uds_server.c - accepts connections; each is a link with a gRPC connection that calls the owner's
 * hooks.
 *
 * With too many connections, one without a request is closed. If no descriptor is free, accepting
 * is paused, and clients wait in the backlog. The owner must check whether the file at the path was
 * removed or replaced (uds_server_owns_path()). */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "timer.h"
#include "uds.h"
#include "uds_link.h"
#include "uds_socket.h"

/* Connections accepted per wake-up of the loop. */
#define ACCEPTS_MAX 64
#define PAUSE_MS    100

struct peer {
	struct uds_link link; /* first, so that the pointers can be converted */
	struct uds_server *server;
	struct peer *next, **at;
	bool has_asked;
};

struct uds_server {
	struct sockaddr_un address;
	struct stat file;
	struct uds_server_opts opts;
	struct grpc_service service;
	int fd;
	uv_poll_t poll;
	struct timer pause;
	struct peer *peers, **peers_end; /* oldest first */
	unsigned n_peers;
	unsigned n_users; /* handles and links that point here */
	bool is_closed;
};

static void unuse(void *arg)
{
	struct uds_server *s = arg;

	if (--s->n_users == 0)
		free(s);
}

/* --- connections ------------------------------------------------------------------------------ */

static void uds_on_request(struct grpc_call *call, const char *path, const uint8_t *message,
			   size_t len, void *arg)
{
	struct peer *p = arg;

	p->has_asked = true;
	p->server->service.request(call, path, message, len, p->server->service.arg);
}

static void uds_on_cancel(struct grpc_call *call, void *arg)
{
	struct peer *p = arg;

	if (p->server->service.cancel)
		p->server->service.cancel(call, p->server->service.arg);
}

/* Removes the peer from the list; leaves p->next intact, because a caller may be iterating over the
 * list. */
static void uds_on_lost(struct uds_link *l)
{
	struct peer *p = (struct peer *)l;

	*p->at = p->next;
	if (p->next)
		p->next->at = p->at;
	else
		p->server->peers_end = p->at;
	p->server->n_peers--;
}

static void uds_on_release(struct uds_link *l)
{
	struct peer *p = (struct peer *)l;

	unuse(p->server);
	free(p);
}

static void add_peer(struct uds_server *s, struct peer *p)
{
	p->server = s;
	p->at = s->peers_end;
	*s->peers_end = p;
	s->peers_end = &p->next;
	s->n_peers++;
	s->n_users++;
}

/* Adds a connection; takes ownership of fd. NULL: out of memory; the connection is closed. */
static struct peer *new_peer(struct uds_server *s, int fd)
{
	struct peer *p = calloc(1, sizeof(*p));
	struct grpc_service service = {
		.request = uds_on_request, .cancel = uds_on_cancel, .arg = p};
	struct grpc_conn *conn;

	if (!p || grpc_server_new(&conn, &s->opts.limits, &service, uv_now(s->poll.loop)) < 0) {
		free(p);
		close(fd);
		return NULL;
	}
	p->link.lost = uds_on_lost;
	p->link.release = uds_on_release;
	if (uds_link_start(&p->link, s->poll.loop, fd, conn) < 0) {
		free(p);
		return NULL;
	}
	add_peer(s, p);
	return p;
}

/* --- accepting -------------------------------------------------------------------------------- */

/* Closes the oldest connection without a request, so that idle clients cannot lock out others. */
static void uds_make_room(struct uds_server *s)
{
	for (struct peer *p = s->peers; p; p = p->next)
		if (!p->has_asked) {
			uds_link_end(&p->link);
			return;
		}
}

static bool uds_accept_one(struct uds_server *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
		return true;
	if (fd < 0 && errno != EAGAIN) { /* EMFILE, ENFILE, ENOBUFS, ENOMEM: would recur */
		uv_poll_stop(&s->poll);
		timer_in(&s->pause, PAUSE_MS);
	}
	if (fd < 0)
		return false;
	if (s->n_peers >= s->opts.max_connections)
		uds_make_room(s);
	if (s->n_peers >= s->opts.max_connections)
		close(fd);
	else
		new_peer(s, fd);
	return true;
}

static void on_connections(uv_poll_t *poll, int status, int events)
{
	struct uds_server *s = poll->data;

	(void)status, (void)events;
	for (int i = 0; i < ACCEPTS_MAX && !s->is_closed && uds_accept_one(s); i++)
		continue;
}

static void on_pause_over(void *arg)
{
	struct uds_server *s = arg;

	uv_poll_start(&s->poll, UV_READABLE, on_connections);
}

/* --- life ------------------------------------------------------------------------------------- */

static void uds_on_closed(uv_handle_t *h)
{
	unuse(h->data);
}

/* Accepts connections on fd, which listens at the path; takes ownership of it. */
static int listen_on(struct uds_server *s, struct uv_loop_s *loop, int fd, struct err *e)
{
	int r;

	s->fd = fd;
	r = uv_poll_init(loop, &s->poll, s->fd);
	if (r < 0) {
		unlink(s->address.sun_path);
		close(s->fd);
		return err_set(e, r, "%s: %s", s->address.sun_path, strerror(-r));
	}
	timer_init(&s->pause, loop, on_pause_over, s);
	s->n_users = 2;
	s->poll.data = s;
	uv_poll_start(&s->poll, UV_READABLE, on_connections);
	return 0;
}

static int server_new(struct uds_server **ret, const char *path, const struct uds_server_opts *opts,
		      const struct grpc_service *service, struct err *e)
{
	struct uds_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		err_set(e, -ENOMEM, "out of memory");
		return -ENOMEM;
	}
	s->opts = *opts;
	s->service = *service;
	s->peers_end = &s->peers;
	r = uds_address(&s->address, path, e);
	if (r < 0)
		free(s);
	else
		*ret = s;
	return r;
}

int uds_server_open(struct uds_server **ret, struct uv_loop_s *loop, const char *path,
		    const struct uds_server_opts *opts, const struct grpc_service *service,
		    struct err *e)
{
	struct uds_server *s;
	int r = server_new(&s, path, opts, service, e);

	if (r < 0)
		return r;
	r = uds_listen(&s->address, s->opts.mode, &s->file, e);
	if (r >= 0)
		r = listen_on(s, loop, r, e);
	if (r < 0)
		free(s);
	else
		*ret = s;
	return r;
}

bool uds_server_owns_path(const struct uds_server *s)
{
	return uds_is_ours(&s->address, &s->file);
}

void uds_server_flush(struct uds_server *s)
{
	for (struct peer *p = s->peers; p; p = p->next)
		uds_link_kick(&p->link);
}

static void stop_listening(struct uds_server *s)
{
	s->is_closed = true;
	uv_close((uv_handle_t *)&s->poll, uds_on_closed);
	timer_close(&s->pause, unuse);
	close(s->fd);
}

void uds_server_close(struct uds_server *s)
{
	struct peer *p, *next;

	if (!s || s->is_closed)
		return;
	if (uds_server_owns_path(s))
		unlink(s->address.sun_path);
	stop_listening(s);
	for (p = s->peers; p; p = next) {
		next = p->next;
		if (p->link.conn)
			grpc_shutdown(p->link.conn);
		uds_link_end(&p->link);
	}
}

/* --- moving to another process ---------------------------------------------------------------- */

void uds_sockets_done(struct uds_sockets *e)
{
	for (size_t i = 0; i < e->n_peers; i++) {
		if (e->peers[i].fd >= 0)
			close(e->peers[i].fd);
		free(e->peers[i].grpc.requests);
	}
	free(e->peers);
	if (e->fd >= 0)
		close(e->fd);
	*e = (struct uds_sockets){.fd = -1};
}

static struct stat file_of(const struct uds_sockets *e)
{
	return (struct stat){.st_dev = (dev_t)e->dev, .st_ino = (ino_t)e->ino};
}

void uds_sockets_close(struct uds_sockets *e, const char *path)
{
	struct stat file = file_of(e);
	struct sockaddr_un sa;
	struct err ignored;

	if (uds_address(&sa, path, &ignored) == 0 && uds_is_ours(&sa, &file))
		unlink(path);
	uds_sockets_done(e);
}

/* Exports a connection. The duplicated descriptor keeps it open when the original is closed. */
static void hand_peer_over(struct peer *p, struct uds_sockets *ret)
{
	struct grpc_kept kept;
	struct uds_kept *to;
	int fd;

	if (uds_link_export(&p->link, &kept) < 0)
		return;
	fd = fcntl(p->link.fd, F_DUPFD_CLOEXEC, 0);
	to = fd < 0 ? NULL : array_push(ret->peers, ret->n_peers);
	if (to)
		*to = (struct uds_kept){fd, kept};
	else
		free(kept.requests);
	if (!to && fd >= 0)
		close(fd);
}

int uds_server_hand_over(struct uds_server *s, struct uds_sockets *ret)
{
	struct peer *p, *next;

	*ret = (struct uds_sockets){.fd = -1};
	if (!s || s->is_closed)
		return -ENOENT;
	ret->fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	if (ret->fd < 0) {
		int r = -errno;

		uds_server_close(s);
		return r;
	}
	ret->dev = s->file.st_dev;
	ret->ino = s->file.st_ino;
	stop_listening(s);
	for (p = s->peers; p; p = next) {
		next = p->next;
		hand_peer_over(p, ret);
		uds_link_end(&p->link);
	}
	return 0;
}

/* Continues a connection from its exported state. Takes ownership of the descriptor and the
 * requests of `kept`. */
static void resume_peer(struct uds_server *s, struct uds_kept *kept)
{
	struct peer *p = new_peer(s, take_fd(&kept->fd));

	if (!p)
		return;
	p->has_asked = true;
	p->link.n_busy++;
	if (grpc_resume(p->link.conn, &kept->grpc, uv_now(s->poll.loop)) < 0)
		p->link.is_ending = true;
	p->link.n_busy--;
	uds_link_kick(&p->link);
}

int uds_server_adopt(struct uds_server **ret, struct uv_loop_s *loop, const char *path,
		     const struct uds_server_opts *opts, const struct grpc_service *service,
		     struct uds_sockets *take, struct err *e)
{
	struct uds_server *s = NULL;
	int r = server_new(&s, path, opts, service, e);

	if (r == 0) {
		s->file = file_of(take);
		r = uds_is_ours(&s->address, &s->file)
			    ? listen_on(s, loop, take_fd(&take->fd), e)
			    : err_set(e, -ENOENT, "%s was replaced by another file", path);
	}
	if (r < 0) {
		uds_sockets_done(take);
		free(s);
		return r;
	}
	*ret = s;
	for (size_t i = 0; i < take->n_peers; i++)
		resume_peer(s, &take->peers[i]);
	uds_sockets_done(take);
	return 0;
}
