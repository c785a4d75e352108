// SPDX-License-Identifier: Apache-2.0
#include "client.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "cleanup.h"

#define READ_SIZE 65536

/* --- the reply, pure -------------------------------------------------------------------------- */

struct bytes {
	const char *s;
	size_t len;
};

/* Removes the first line, without its CR LF; false: it is incomplete. */
static bool client_next_line(struct bytes *b, struct bytes *ret)
{
	const char *end = memmem(b->s, b->len, "\r\n", 2);

	if (!end)
		return false;
	*ret = (struct bytes){b->s, (size_t)(end - b->s)};
	b->s = end + 2;
	b->len -= ret->len + 2;
	return true;
}

/* Parses the number at the start of a line; -EBADMSG if there is none or it exceeds
 * CLIENT_ANSWER_MAX. */
static int client_read_size(struct bytes line, int base, size_t *ret)
{
	char digits[20];
	char *end;

	snprintf(digits, sizeof(digits), "%.*s", (int)(line.len < 19 ? line.len : 19), line.s);
	if (strchr("+- ", digits[0])) /* also an empty line */
		return -EBADMSG;
	*ret = strtoul(digits, &end, base);
	return end == digits || *ret > CLIENT_ANSWER_MAX ? -EBADMSG : 0;
}

struct head {
	unsigned status;
	bool chunked, has_length;
	size_t length;
};

static bool client_header_is(struct bytes line, const char *name, struct bytes *value)
{
	size_t n = strlen(name);

	if (line.len <= n || line.s[n] != ':' || strncasecmp(line.s, name, n) != 0)
		return false;
	*value = (struct bytes){line.s + n + 1, line.len - n - 1};
	while (value->len && *value->s == ' ') {
		value->s++;
		value->len--;
	}
	return true;
}

static int client_read_header(struct head *h, struct bytes line)
{
	struct bytes value;

	if (client_header_is(line, "Transfer-Encoding", &value))
		h->chunked = value.len == 7 && strncasecmp(value.s, "chunked", 7) == 0;
	if (!client_header_is(line, "Content-Length", &value))
		return 0;
	h->has_length = true;
	return client_read_size(value, 10, &h->length);
}

/* Parses the status line and the headers. 1: complete, *b is the rest; 0: incomplete. */
static int client_read_head(struct head *h, struct bytes *b)
{
	struct bytes line;
	size_t status;
	int r = 0;

	if (!client_next_line(b, &line))
		return 0;
	if (line.len < 12 || memcmp(line.s, "HTTP/1.", 7) != 0 || line.s[8] != ' ' ||
	    client_read_size((struct bytes){line.s + 9, 3}, 10, &status) < 0)
		return -EBADMSG;
	h->status = (unsigned)status;
	while (r == 0 && client_next_line(b, &line)) {
		if (line.len == 0)
			return 1;
		r = client_read_header(h, line);
	}
	return r;
}

/* Appends one chunk to the body (RFC 9112 section 7.1). 1: it was the last one; 2: another one
 * follows; 0: incomplete. */
static int client_read_chunk(struct client_answer *a, struct bytes *b)
{
	struct bytes line;
	size_t size;

	if (!client_next_line(b, &line))
		return 0;
	if (client_read_size(line, 16, &size) < 0 || size > CLIENT_ANSWER_MAX - a->len)
		return -EBADMSG;
	if (size == 0)
		return 1;
	if (b->len < size + 2)
		return 0;
	memcpy(a->body + a->len, b->s, size);
	a->len += size;
	b->s += size + 2;
	b->len -= size + 2;
	return 2;
}

static int client_read_chunks(struct client_answer *a, struct bytes b)
{
	int r;

	do
		r = client_read_chunk(a, &b);
	while (r == 2);
	return r;
}

static int client_read_body(struct client_answer *a, const struct head *h, struct bytes b,
			    bool ended)
{
	if (h->chunked)
		return client_read_chunks(a, b);
	if (h->has_length ? b.len < h->length : !ended)
		return 0;
	a->len = h->has_length ? h->length : b.len;
	memcpy(a->body, b.s, a->len);
	return 1;
}

int client_answer_decode(struct client_answer *ret, const char *bytes, size_t len, bool ended)
{
	struct bytes b = {bytes, len};
	struct client_answer a = {0};
	struct head h = {0};
	int r = client_read_head(&h, &b);

	if (r == 1) {
		a.status = h.status;
		a.body = malloc(b.len + 1);
		r = a.body ? client_read_body(&a, &h, b, ended) : -ENOMEM;
	}
	if (r == 1) {
		a.body[a.len] = '\0';
		*ret = a;
		return 1;
	}
	free(a.body);
	return r == 0 && ended ? -EBADMSG : r;
}

/* --- the socket ------------------------------------------------------------------------------- */

uint64_t client_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Limits the next blocking call on the socket to the deadline. -ETIMEDOUT if it has passed. */
static int client_wait_until(int fd, int option, uint64_t deadline)
{
	uint64_t now = client_now_ms(), left = deadline > now ? deadline - now : 0;
	const struct timeval wait = {.tv_sec = (time_t)(left / 1000),
				     .tv_usec = (suseconds_t)(left % 1000 * 1000)};

	if (left == 0)
		return -ETIMEDOUT;
	return setsockopt(fd, SOL_SOCKET, option, &wait, sizeof(wait)) < 0 ? -errno : 0;
}

int client_connect(const char *path, uint64_t deadline, struct err *e)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_set(e, -errno, "no socket: %s", strerror(errno));
	if (strlen(path) >= sizeof(sa.sun_path))
		return err_set(e, -ENAMETOOLONG, "%.100s...: too long for a socket", path);
	strcpy(sa.sun_path, path);
	if (client_wait_until(fd, SO_SNDTIMEO, deadline) < 0)
		return err_set(e, -ETIMEDOUT, "%s: no time left to send the request", path);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		/* connect() blocks on a full backlog and fails with EAGAIN at the socket's
		 * timeout. */
		int code = errno == EAGAIN ? ETIMEDOUT : errno;

		return err_set(e, -code, "%s: %s%s", path, strerror(code),
			       code == EACCES ? " (only root may connect)"
					      : ": is rocelet running?");
	}
	return take_fd(&fd);
}

int client_peer_uid(int fd, uid_t *ret)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	*ret = peer.uid;
	return 0;
}

static int client_send_all(int fd, const char *s, size_t n, uint64_t deadline)
{
	while (n > 0) {
		int r = client_wait_until(fd, SO_SNDTIMEO, deadline);
		ssize_t sent = r < 0 ? 0 : send(fd, s, n, MSG_NOSIGNAL);

		if (r < 0)
			return r;
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		s += sent;
		n -= (size_t)sent;
	}
	return 0;
}

static int client_send_request(int fd, const char *path, const char *body, uint64_t deadline)
{
	AUTO_FREE char *text = NULL;
	int n;

	if (body)
		n = asprintf(&text,
			     "POST %s HTTP/1.1\r\nHost: rocelet\r\nConnection: close\r\n"
			     "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			     path, strlen(body), body);
	else
		n = asprintf(&text, "GET %s HTTP/1.1\r\nHost: rocelet\r\nConnection: close\r\n\r\n",
			     path);
	if (n < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return client_send_all(fd, text, (size_t)n, deadline);
}

struct buffer {
	char *data;
	size_t len, cap;
};

/* Receives bytes. Returns their number; 0: the peer has closed the connection. */
static ssize_t client_receive_bytes(int fd, struct buffer *b, uint64_t deadline)
{
	ssize_t n = client_wait_until(fd, SO_RCVTIMEO, deadline);

	if (n < 0)
		return n;

	if (b->cap - b->len < READ_SIZE) {
		size_t cap = b->cap ? b->cap * 2 : (size_t)READ_SIZE * 2;
		char *data = cap > CLIENT_ANSWER_MAX * 2 ? NULL : realloc(b->data, cap);

		if (!data)
			return -ENOMEM;
		b->data = data;
		b->cap = cap;
	}
	do
		n = recv(fd, b->data + b->len, READ_SIZE, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	b->len += (size_t)n;
	return n;
}

/* True if nothing or only a part of a reply was received. */
static bool client_is_incomplete(const struct buffer *b)
{
	static const char begin[] = "HTTP/";
	struct client_answer a;

	return b->len == 0 || (strncmp(b->data, begin, b->len < 5 ? b->len : 5) == 0 &&
			       client_answer_decode(&a, b->data, b->len, false) == 0);
}

static int client_receive_answer(int fd, struct client_answer *ret, uint64_t deadline)
{
	struct buffer b = {0};
	ssize_t n;
	int r;

	do {
		n = client_receive_bytes(fd, &b, deadline);
		r = n < 0 ? (int)n : client_answer_decode(ret, b.data, b.len, n == 0);
	} while (r == 0);
	if (r == -EBADMSG && n == 0 && client_is_incomplete(&b))
		r = -ECONNRESET;
	free(b.data);
	return r < 0 ? r : 0;
}

int client_exchange(struct client_answer *ret, int fd, const char *path, const char *body,
		    uint64_t deadline)
{
	int r = client_send_request(fd, path, body, deadline);

	/* EPIPE: the daemon may reply to an oversized request before it has read all of it. */
	if (r == 0 || r == -EPIPE)
		r = client_receive_answer(fd, ret, deadline);
	return r;
}

int client_ask(struct client_answer *ret, const char *socket_path, const char *path,
	       const char *body, uint64_t wait_ms, struct err *e)
{
	const uint64_t deadline = client_now_ms() + wait_ms;
	AUTO_FD fd = client_connect(socket_path, deadline, e);
	int r;

	if (fd < 0)
		return fd;
	r = client_exchange(ret, fd, path, body, deadline);
	if (r == -ETIMEDOUT)
		return err_set(e, r, "%s: no answer within %llu s", socket_path,
			       (unsigned long long)(wait_ms + 999) / 1000);
	if (r == -ECONNRESET)
		return err_set(e, r, "%s: the connection was closed before the answer was complete",
			       socket_path);
	if (r < 0)
		return err_set(e, r, "%s: no answer: %s", socket_path,
			       r == -EBADMSG ? "the server is not rocelet" : strerror(-r));
	return 0;
}
