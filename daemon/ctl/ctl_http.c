#include "ctl_http.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "cleanup.h"

#define READ_SIZE 65536

/* --- the answer, pure ------------------------------------------------------------------------- */

struct bytes {
	const char *s;
	size_t len;
};

/* Cuts a line off the front, without its CR LF; false: it is not whole. */
static bool ctl_next_line(struct bytes *b, struct bytes *ret)
{
	const char *end = memmem(b->s, b->len, "\r\n", 2);

	if (!end)
		return false;
	*ret = (struct bytes){b->s, (size_t)(end - b->s)};
	b->s = end + 2;
	b->len -= ret->len + 2;
	return true;
}

/* Digits of the base at the start of a line; -EBADMSG: none, or too large a number. */
static int read_size(struct bytes line, int base, size_t *ret)
{
	char digits[20];
	char *end;

	snprintf(digits, sizeof(digits), "%.*s", (int)(line.len < 19 ? line.len : 19), line.s);
	if (strchr("+- ", digits[0])) /* also the empty line */
		return -EBADMSG;
	*ret = strtoul(digits, &end, base);
	return end == digits || *ret > CTL_ANSWER_MAX ? -EBADMSG : 0;
}

struct head {
	unsigned status;
	bool chunked, has_length;
	size_t length;
};

static bool header_is(struct bytes line, const char *name, struct bytes *value)
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

static int read_header(struct head *h, struct bytes line)
{
	struct bytes value;

	if (header_is(line, "Transfer-Encoding", &value))
		h->chunked = value.len == 7 && strncasecmp(value.s, "chunked", 7) == 0;
	if (!header_is(line, "Content-Length", &value))
		return 0;
	h->has_length = true;
	return read_size(value, 10, &h->length);
}

/* 1 = whole, *b is what follows; 0 = not yet. */
static int read_head(struct head *h, struct bytes *b)
{
	struct bytes line;
	size_t status;
	int r = 0;

	if (!ctl_next_line(b, &line))
		return 0;
	if (line.len < 12 || memcmp(line.s, "HTTP/1.", 7) != 0 || line.s[8] != ' ' ||
	    read_size((struct bytes){line.s + 9, 3}, 10, &status) < 0)
		return -EBADMSG;
	h->status = (unsigned)status;
	while (r == 0 && ctl_next_line(b, &line)) {
		if (line.len == 0)
			return 1;
		r = read_header(h, line);
	}
	return r;
}

/* One chunk is appended; 1 = it was the last, 0 = not there yet, 2 = one more follows. RFC 9112
 * section 7.1. */
static int read_chunk(struct ctl_answer *a, struct bytes *b)
{
	struct bytes line;
	size_t size;

	if (!ctl_next_line(b, &line))
		return 0;
	if (read_size(line, 16, &size) < 0 || size > CTL_ANSWER_MAX - a->len)
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

static int read_chunks(struct ctl_answer *a, struct bytes b)
{
	int r;

	do
		r = read_chunk(a, &b);
	while (r == 2);
	return r;
}

static int read_body(struct ctl_answer *a, const struct head *h, struct bytes b, bool ended)
{
	if (h->chunked)
		return read_chunks(a, b);
	if (h->has_length ? b.len < h->length : !ended)
		return 0;
	a->len = h->has_length ? h->length : b.len;
	memcpy(a->body, b.s, a->len);
	return 1;
}

int ctl_answer_decode(struct ctl_answer *ret, const char *bytes, size_t len, bool ended)
{
	struct bytes b = {bytes, len};
	struct ctl_answer a = {0};
	struct head h = {0};
	int r = read_head(&h, &b);

	if (r == 1) {
		a.status = h.status;
		a.body = malloc(b.len + 1);
		r = a.body ? read_body(&a, &h, b, ended) : -ENOMEM;
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

static uint64_t ctl_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The next thing that blocks on the socket ends by then. -ETIMEDOUT: it is too late already. */
static int wait_until(int fd, int option, uint64_t deadline)
{
	uint64_t now = ctl_now_ms(), left = deadline > now ? deadline - now : 0;
	const struct timeval wait = {.tv_sec = (time_t)(left / 1000),
				     .tv_usec = (suseconds_t)(left % 1000 * 1000)};

	if (left == 0)
		return -ETIMEDOUT;
	return setsockopt(fd, SOL_SOCKET, option, &wait, sizeof(wait)) < 0 ? -errno : 0;
}

static int connect_to(const char *path, uint64_t deadline, struct err *e)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_set(e, -errno, "no socket: %s", strerror(errno));
	if (strlen(path) >= sizeof(sa.sun_path))
		return err_set(e, -ENAMETOOLONG, "%.100s...: too long for a socket", path);
	strcpy(sa.sun_path, path);
	if (wait_until(fd, SO_SNDTIMEO, deadline) < 0)
		return err_set(e, -ETIMEDOUT, "%s: there was no time to ask", path);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return err_set(e, -errno, "%s: %s%s", path, strerror(errno),
			       errno == EACCES ? " (it is root's)" : ": does rocelet run?");
	return take_fd(&fd);
}

static int ctl_send_all(int fd, const char *s, size_t n, uint64_t deadline)
{
	while (n > 0) {
		int r = wait_until(fd, SO_SNDTIMEO, deadline);
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

static int send_request(int fd, const char *path, const char *body, uint64_t deadline)
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
	return ctl_send_all(fd, text, (size_t)n, deadline);
}

struct buffer {
	char *data;
	size_t len, cap;
};

/* Bytes that came, 0 = the end. */
static ssize_t answer_receive(int fd, struct buffer *b, uint64_t deadline)
{
	ssize_t n = wait_until(fd, SO_RCVTIMEO, deadline);

	if (n < 0)
		return n;

	if (b->cap - b->len < READ_SIZE) {
		size_t cap = b->cap ? b->cap * 2 : (size_t)READ_SIZE * 2;
		char *data = cap > CTL_ANSWER_MAX * 2 ? NULL : realloc(b->data, cap);

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

static int receive_answer(int fd, struct ctl_answer *ret, uint64_t deadline)
{
	struct buffer b = {0};
	ssize_t n;
	int r;

	do {
		n = answer_receive(fd, &b, deadline);
		r = n < 0 ? (int)n : ctl_answer_decode(ret, b.data, b.len, n == 0);
	} while (r == 0);
	free(b.data);
	return r < 0 ? r : 0;
}

int ctl_ask(struct ctl_answer *ret, const char *socket_path, const char *path, const char *body,
	    uint64_t wait_ms, struct err *e)
{
	const uint64_t deadline = ctl_now_ms() + wait_ms;
	AUTO_FD fd = connect_to(socket_path, deadline, e);
	int r;

	if (fd < 0)
		return fd;
	/* An answer may come before the whole question was taken in: too large. */
	r = send_request(fd, path, body, deadline);
	if (r == 0 || r == -EPIPE)
		r = receive_answer(fd, ret, deadline);
	if (r == -ETIMEDOUT)
		return err_set(e, r, "%s: no answer within %llu s", socket_path,
			       (unsigned long long)(wait_ms + 999) / 1000);
	if (r < 0)
		return err_set(e, r, "%s: no answer: %s", socket_path,
			       r == -EBADMSG ? "what serves it is not rocelet" : strerror(-r));
	return 0;
}
