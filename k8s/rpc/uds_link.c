// SPDX-License-Identifier: Apache-2.0
/* uds_link.c - readable socket -> grpc_feed() -> hooks -> grpc_take() -> send; the timer follows
 * grpc_deadline().
 *
 * The link ends on close or reset by the peer, data that is not gRPC, or lack of memory. */
#include "uds_link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (32u << 10)
/* Reads per wake-up of the loop, so that a busy peer cannot block the others. */
#define READS_MAX 8

static void settle_link(struct uds_link *);

/* --- the end ---------------------------------------------------------------------------------- */

static void uds_link_on_timer_closed(void *arg)
{
	struct uds_link *l = arg;

	if (--l->n_handles == 0)
		l->release(l);
}

static void uds_link_on_poll_closed(uv_handle_t *poll)
{
	uds_link_on_timer_closed(poll->data);
}

/* Sends bytes. Returns the number that the socket accepted, 0 = it is full, or a negative errno. */
static ssize_t uds_link_send_some(const struct uds_link *l, const uint8_t *bytes, size_t len)
{
	ssize_t n;

	do
		n = send(l->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return n;
	return errno == EAGAIN ? 0 : -errno;
}

static int keep_rest(struct uds_link *l, const uint8_t *bytes, size_t len)
{
	l->rest = malloc(len);
	if (!l->rest)
		return -ENOMEM;
	memcpy(l->rest, bytes, len);
	l->rest_at = 0;
	l->rest_len = len;
	return 0;
}

/* Writes the buffered bytes. Returns 1 if all were written, 0 if the socket is full. */
static int write_rest(struct uds_link *l)
{
	ssize_t n = uds_link_send_some(l, l->rest + l->rest_at, l->rest_len - l->rest_at);

	if (n < 0)
		return (int)n;
	l->rest_at += (size_t)n;
	if (l->rest_at < l->rest_len)
		return 0;
	free(l->rest);
	l->rest = NULL;
	return 1;
}

static int write_next(struct uds_link *l)
{
	const uint8_t *bytes;
	ssize_t len = grpc_take(l->conn, &bytes), n;

	if (len <= 0)
		return (int)len;
	n = uds_link_send_some(l, bytes, (size_t)len);
	if (n < 0)
		return (int)n;
	return n == len ? 1 : keep_rest(l, bytes + n, (size_t)(len - n));
}

/* Writes as much as the socket accepts. */
static int write_out(struct uds_link *l)
{
	int r;

	do
		r = l->rest ? write_rest(l) : write_next(l);
	while (r > 0);
	return r;
}

static void finish_link(struct uds_link *l)
{
	struct grpc_conn *conn = l->conn;

	l->is_over = l->is_ending = true;
	write_out(l);
	l->n_busy++;
	l->conn = NULL;
	grpc_conn_free(conn);
	l->n_busy--;
	uv_close((uv_handle_t *)&l->poll, uds_link_on_poll_closed);
	timer_close(&l->timer, uds_link_on_timer_closed);
	close(l->fd);
	free(l->rest);
	l->rest = NULL;
	l->lost(l);
}

void uds_link_end(struct uds_link *l)
{
	l->is_ending = true;
	if (!l->is_over && l->n_busy == 0)
		finish_link(l);
}

static void fail_link(struct uds_link *l, int code, const char *doing)
{
	err_set(&l->why, code, "%s: %s", doing, strerror(-code));
	uds_link_end(l);
}

/* --- bytes and time --------------------------------------------------------------------------- */

/* Reads once. Returns whether there may be more to read. */
static bool uds_link_read_once(struct uds_link *l)
{
	uint8_t buf[READ_SIZE];
	ssize_t n = recv(l->fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0)
		err_set(&l->why, -errno, "reading: %s", strerror(errno));
	if (n <= 0) {
		l->is_ending = true;
		return false;
	}
	l->n_reads++;
	if (grpc_feed(l->conn, buf, (size_t)n, uv_now(l->poll.loop), &l->why) < 0)
		l->is_ending = true;
	return (size_t)n == sizeof(buf) && !l->is_ending;
}

static void uds_link_on_poll(uv_poll_t *poll, int status, int events)
{
	struct uds_link *l = poll->data;

	/* libuv stops polling when the peer has reset the connection; there may still be an answer
	 * to read, followed by the error. */
	if (status < 0)
		l->polled = 0;
	l->n_busy++;
	if (status < 0 || events & UV_READABLE)
		for (int i = 0; i < READS_MAX && uds_link_read_once(l); i++)
			continue;
	l->n_busy--;
	settle_link(l);
}

static void uds_link_on_timer(void *arg)
{
	struct uds_link *l = arg;

	l->n_busy++;
	if (grpc_tick(l->conn, uv_now(l->poll.loop), &l->why) < 0)
		l->is_ending = true;
	l->n_busy--;
	settle_link(l);
}

static int wait_for_socket(struct uds_link *l)
{
	int want = UV_READABLE | (l->rest ? UV_WRITABLE : 0);

	if (want == l->polled)
		return 0;
	l->polled = want;
	return uv_poll_start(&l->poll, want, uds_link_on_poll);
}

/* Called at the end of every callback: writes, and updates polling and timer, or ends the link. */
static void settle_link(struct uds_link *l)
{
	int r = 0;

	if (!l->is_ending)
		r = write_out(l);
	if (r < 0)
		fail_link(l, r, "writing");
	else if (l->is_ending || (!l->rest && grpc_is_done(l->conn)))
		uds_link_end(l);
	else if ((r = wait_for_socket(l)) < 0)
		fail_link(l, r, "waiting");
	else
		timer_at(&l->timer, grpc_deadline(l->conn));
}

int uds_link_export(struct uds_link *l, struct grpc_kept *ret)
{
	int r = l->is_ending ? -ENOENT : write_out(l);

	if (r < 0 || l->rest)
		return r < 0 ? r : -EBUSY;
	return grpc_export(l->conn, uv_now(l->poll.loop), ret);
}

void uds_link_kick(struct uds_link *l)
{
	if (!l->is_over)
		timer_in(&l->timer, 0);
}

void uds_link_end_soon(struct uds_link *l)
{
	l->is_ending = true;
	uds_link_kick(l);
}

int uds_link_start(struct uds_link *l, struct uv_loop_s *loop, int fd, struct grpc_conn *conn)
{
	int r = uv_poll_init(loop, &l->poll, fd);

	if (r < 0) {
		grpc_conn_free(conn);
		close(fd);
		return r;
	}
	timer_init(&l->timer, loop, uds_link_on_timer, l);
	l->n_handles = 2;
	l->fd = fd;
	l->conn = conn;
	l->poll.data = l;
	timer_in(&l->timer, 0);
	return 0;
}
