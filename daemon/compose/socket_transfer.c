// SPDX-License-Identifier: Apache-2.0
#include "socket_transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "uds_socket.h"

/* Version of the structs below, which must be the same on both sides. */
#define VERSION	     1
#define SEND_S	     1
#define REQUESTS_MAX 65536

enum kind { KIND_SOCKET, KIND_PEER, KIND_END };

struct note {
	uint32_t version, size;
	enum kind kind;
	struct kubelet_socket socket; /* KIND_SOCKET: its pointers are not valid */
	struct grpc_kept peer; /* KIND_PEER: a connection of the last socket; its requests follow */
};

/* --- both ------------------------------------------------------------------------------------- */

static int socket_transfer_address(struct sockaddr_un *ret, const char *run_dir, struct err *e)
{
	char path[UDS_PATH_SIZE];
	int n = snprintf(path, sizeof(path), "%s/successor.sock", run_dir);

	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(e, -ENAMETOOLONG, "%s is too long for a socket", run_dir);
	return uds_address(ret, path, e);
}

static bool is_own_user(int fd)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

/* --- the predecessor -------------------------------------------------------------------------- */

static int send_note(int to, const struct note *note, const uint8_t *more, size_t len, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec io[] = {{(void *)note, sizeof(*note)}, {(void *)more, len}};
	struct msghdr m = {.msg_iov = io, .msg_iovlen = len ? 2 : 1};
	struct cmsghdr *c;

	if (fd >= 0) {
		m.msg_control = control.buf;
		m.msg_controllen = sizeof(control.buf);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(to, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static struct note new_note(enum kind kind)
{
	return (struct note){.version = VERSION, .size = sizeof(struct note), .kind = kind};
}

static int send_socket(int to, const struct kubelet_socket *b)
{
	struct note note = new_note(KIND_SOCKET);
	int r;

	note.socket = *b;
	r = send_note(to, &note, NULL, 0, b->sockets.fd);
	for (size_t i = 0; r == 0 && i < b->sockets.n_peers; i++) {
		const struct uds_kept *p = &b->sockets.peers[i];

		note = new_note(KIND_PEER);
		note.peer = p->grpc;
		if (p->grpc.len <= REQUESTS_MAX)
			r = send_note(to, &note, p->grpc.requests, p->grpc.len, p->fd);
	}
	return r;
}

int socket_transfer_send(const char *run_dir, const struct kubelet_sockets *sockets, struct err *e)
{
	const struct timeval wait = {.tv_sec = SEND_S};
	AUTO_FD to = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const struct note end = new_note(KIND_END);
	struct sockaddr_un sa;
	int r;

	if (to < 0)
		return err_set(e, -errno, "socket: %s", strerror(errno));
	r = socket_transfer_address(&sa, run_dir, e);
	if (r < 0)
		return r;
	setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (connect(to, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return err_set(e, -errno, "%s: %s", sa.sun_path, strerror(errno));
	r = is_own_user(to) ? 0 : -EPERM;
	for (size_t i = 0; r == 0 && i < sockets->n; i++)
		r = send_socket(to, &sockets->items[i]);
	if (r == 0)
		r = send_note(to, &end, NULL, 0, -1);
	return r < 0 ? err_set(e, r, "%s: %s", sa.sun_path, strerror(-r)) : 0;
}

/* --- the successor ---------------------------------------------------------------------------- */

int socket_transfer_listen(const char *run_dir, struct err *e)
{
	struct sockaddr_un sa;
	int r = socket_transfer_address(&sa, run_dir, e);
	AUTO_FD fd = -1;

	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	unlink(sa.sun_path);
	if (fd < 0 || fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(fd, 1) < 0)
		return err_set(e, -errno, "%s: %s", sa.sun_path, strerror(errno));
	return take_fd(&fd);
}

/* Returns the descriptor of a message, or -1 if it has none. */
static int fd_of(struct msghdr *m)
{
	int fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* True if the strings of the note are terminated, and its fields are consistent. */
static bool is_valid_note(const struct note *note, size_t len)
{
	return len >= sizeof(*note) && note->version == VERSION && note->size == sizeof(*note) &&
	       memchr(note->socket.resource, 0, sizeof(note->socket.resource)) &&
	       memchr(note->socket.path, 0, sizeof(note->socket.path)) &&
	       (note->kind != KIND_PEER || note->peer.len == len - sizeof(*note));
}

static void take_socket(struct kubelet_sockets *sockets, const struct note *note, int *fd)
{
	struct kubelet_socket *b = *fd < 0 ? NULL : array_push(sockets->items, sockets->n);

	if (!b)
		return;
	*b = note->socket;
	b->sockets.peers = NULL;
	b->sockets.n_peers = 0;
	b->sockets.fd = take_fd(fd);
}

static void take_peer(struct kubelet_sockets *sockets, const struct note *note,
		      const uint8_t *requests, int *fd)
{
	struct uds_sockets *s = sockets->n > 0 ? &sockets->items[sockets->n - 1].sockets : NULL;
	uint8_t *copy = s && *fd >= 0 && note->peer.len > 0 ? malloc(note->peer.len) : NULL;
	struct uds_kept *p = copy ? array_push(s->peers, s->n_peers) : NULL;

	if (!p) {
		free(copy);
		return;
	}
	memcpy(copy, requests, note->peer.len);
	p->grpc = note->peer;
	p->grpc.requests = copy;
	p->fd = take_fd(fd);
}

/* Receives one note. 1: there may be more; 0: this was the last one. */
static int receive_note(int from, struct kubelet_sockets *ret, struct note *note)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	static uint8_t requests[REQUESTS_MAX];
	struct iovec io[] = {{note, sizeof(*note)}, {requests, sizeof(requests)}};
	struct msghdr m = {.msg_iov = io,
			   .msg_iovlen = 2,
			   .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	AUTO_FD fd = -1;
	ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);

	if (n <= 0)
		return 0;
	fd = fd_of(&m);
	if (!is_valid_note(note, (size_t)n))
		return 0;
	switch (note->kind) {
	case KIND_SOCKET:
		take_socket(ret, note, &fd);
		return 1;
	case KIND_PEER:
		take_peer(ret, note, requests, &fd);
		return 1;
	case KIND_END:
		return 0;
	}
	return 0;
}

void socket_transfer_receive(int fd, struct kubelet_sockets *ret)
{
	const struct timeval wait = {.tv_sec = SEND_S};
	AUTO_FD from = fd < 0 ? -1 : accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	struct note *note;

	if (from < 0 || !is_own_user(from))
		return;
	/* The predecessor sends everything at once. */
	setsockopt(from, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	note = calloc(1, sizeof(*note));
	while (note && receive_note(from, ret, note) > 0)
		continue;
	free(note);
}

void socket_transfer_close(int fd, const char *run_dir)
{
	struct sockaddr_un sa;
	struct err ignored;

	if (fd < 0)
		return;
	close(fd);
	if (socket_transfer_address(&sa, run_dir, &ignored) == 0)
		unlink(sa.sun_path);
}
