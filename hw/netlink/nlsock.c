// SPDX-License-Identifier: Apache-2.0
/* nlsock.c - sends a netlink request to the kernel and reads the answer.
 *
 * Success: number the request, send, receive datagrams, deliver the messages with our number, stop
 * at the ack (NLMSG_ERROR with 0), or at NLMSG_DONE for a dump. Errors: the kernel rejects it
 * (negative errno and its extack text); -ETIMEDOUT: no datagram for two seconds; -ENOBUFS: the
 * receive buffer overflowed and answers are lost; -EAGAIN: the kernel's tables changed during a
 * dump; -EBADMSG: invalid framing. An aborted call leaves answers in the socket; they have an old
 * number and are dropped by the next call.
 *
 * Wire facts: linux/include/uapi/linux/netlink.h, Documentation/userspace-api/netlink/intro.rst. */
#include "nlsock.h"

#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cleanup.h"
#include "genl.h"

/* The kernel usually fills up to 32 kB per datagram of a dump; one answer's attributes have up to
 * 64 kB each. Unused pages cost nothing. */
#define BUF_SIZE   (256u << 10)
#define RCVBUF	   (4 << 20) /* holds the answers to a batch of some hundred requests */
#define MAX_STRAYS 4096	     /* consecutive datagrams from other senders before we give up */

static const struct timeval answer_time = {.tv_sec = 2};

static void set_options(int fd)
{
	int on = 1, size = RCVBUF;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &answer_time, sizeof(answer_time));
	/* Optional improvements; an older kernel may reject them. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
}

int nlsock_adopt(struct nlsock *s, int fd)
{
	*s = (struct nlsock){.fd = fd, .buf = malloc(BUF_SIZE)};
	if (!s->buf) {
		close(fd);
		*s = NLSOCK_CLOSED;
		return -ENOMEM;
	}
	set_options(fd);
	return 0;
}

int nlsock_open(struct nlsock *s, int protocol, struct err *e)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	int r = fd < 0 ? -errno : 0;

	*s = NLSOCK_CLOSED;
	if (!r)
		r = nlsock_adopt(s, fd);
	return r < 0 ? err_set(e, r, "netlink: opening a socket for protocol %d: %s", protocol,
			       strerror(-r))
		     : 0;
}

void nlsock_close(struct nlsock *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->buf);
	*s = NLSOCK_CLOSED;
}

/* --- pure: framing ------------------------------------------------------------------------ */

int nlsock_walk(const void *buf, size_t n, nlsock_fn *fn, void *arg)
{
	const uint8_t *p = buf;
	int count = 0;

	while (n) {
		const struct nlmsghdr *h = (const void *)p;
		size_t step;
		int r;

		if (n < sizeof(*h) || h->nlmsg_len < sizeof(*h) || h->nlmsg_len > n)
			return -EBADMSG;
		r = fn(h, arg);
		if (r < 0)
			return r;
		count++;
		step = NLMSG_ALIGN((size_t)h->nlmsg_len);
		if (step >= n) /* the last message may lack its padding */
			break;
		p += step;
		n -= step;
	}
	return count;
}

static bool is_dump(const struct nlmsghdr *h)
{
	return (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

/* Returns the errno at the start of NLMSG_ERROR and NLMSG_DONE; a message that is too short is
 * malformed. */
static int nlsock_end_code(const struct nlmsghdr *h)
{
	int code = 0;

	if (h->nlmsg_len < NLMSG_HDRLEN + sizeof(code))
		return h->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
	memcpy(&code, NLMSG_DATA(h), sizeof(code));
	return code > 0 ? -EBADMSG : code;
}

/* Bytes before the attributes of an NLMSG_ERROR or NLMSG_DONE (netlink.h, NLM_F_ACK_TLVS). */
static size_t extack_offset(const struct nlmsghdr *h)
{
	const struct nlmsgerr *err = NLMSG_DATA(h);

	if (h->nlmsg_type == NLMSG_DONE)
		return NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(int));
	if (h->nlmsg_len < NLMSG_HDRLEN + sizeof(*err))
		return SIZE_MAX;
	if (h->nlmsg_flags & NLM_F_CAPPED)
		return NLMSG_HDRLEN + sizeof(*err);
	return NLMSG_HDRLEN + sizeof(err->error) + NLMSG_ALIGN((size_t)err->msg.nlmsg_len);
}

/* Sets e to the kernel's extack text, if any, and the errno's text. */
static int kernel_error(const struct nlmsghdr *h, int code, struct err *e)
{
	size_t at = extack_offset(h);
	const struct nlattr *msg = NULL;

	if ((h->nlmsg_flags & NLM_F_ACK_TLVS) && at < h->nlmsg_len)
		msg = nla_find((const struct nlattr *)((const uint8_t *)h + at),
			       (int)(h->nlmsg_len - at), NLMSGERR_ATTR_MSG);
	if (!msg || nla_len(msg) == 0)
		return err_set(e, code, "%s", strerror(-code));
	return err_set(e, code, "%.*s: %s", nla_len(msg), (const char *)nla_data(msg),
		       strerror(-code));
}

/* --- sending and receiving -------------------------------------------------------------------- */

static int nlsock_send(const struct nlsock *s, const void *buf, size_t n)
{
	ssize_t r;

	/* Without an address the destination is the kernel (netlink_sendmsg() in af_netlink.c). */
	do
		r = send(s->fd, buf, n, 0);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return (size_t)r == n ? 0 : -EIO;
}

static ssize_t datagram_receive(const struct nlsock *s, int flags, struct sockaddr_nl *from)
{
	struct iovec iov = {.iov_base = s->buf, .iov_len = BUF_SIZE};
	struct msghdr m = {
		.msg_name = from, .msg_namelen = sizeof(*from), .msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	do
		n = recvmsg(s->fd, &m, flags | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Receives one datagram from the kernel into s->buf; returns its size. flags: 0 or MSG_DONTWAIT.
 * -ETIMEDOUT: none arrived (with MSG_DONTWAIT: none is queued); -ENOBUFS: datagrams were lost,
 * which the kernel reports once, before it returns the queued ones. */
static ssize_t nlsock_receive(struct nlsock *s, int flags)
{
	for (int i = 0; i < MAX_STRAYS; i++) {
		struct sockaddr_nl from = {0};
		ssize_t n = datagram_receive(s, flags, &from);

		if (n < 0)
			return n == -EAGAIN ? -ETIMEDOUT : n;
		/* Any local process may write to our socket; only the kernel has port 0. */
		if (from.nl_pid == 0)
			return (size_t)n <= BUF_SIZE ? n : -EMSGSIZE;
	}
	return -ETIMEDOUT;
}

/* --- one request -------------------------------------------------------------------------- */

struct call {
	uint32_t seq;
	nlsock_fn *fn;
	void *arg;
	struct err *e;
	int result;
	bool done, interrupted;
};

static int nlsock_on_answer(const struct nlmsghdr *h, void *arg)
{
	struct call *c = arg;

	if (h->nlmsg_seq != c->seq || c->done)
		return 0;
	c->interrupted |= !!(h->nlmsg_flags & NLM_F_DUMP_INTR);
	if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE) {
		int code = nlsock_end_code(h);

		c->done = true;
		if (code < 0 && c->result == 0)
			c->result = kernel_error(h, code, c->e);
	} else if (h->nlmsg_type >= NLMSG_MIN_TYPE && c->result == 0) {
		int r = c->fn ? c->fn(h, c->arg) : 0;

		c->result = r < 0 ? err_set(c->e, r, "%s", strerror(-r)) : 0;
	}
	return 0;
}

int nlsock_call(struct nlsock *s, struct nl_msg *req, nlsock_fn *fn, void *arg, struct err *e)
{
	struct nlmsghdr *h = nlmsg_hdr(req);
	struct call c = {.seq = ++s->seq, .fn = fn, .arg = arg, .e = e};
	ssize_t n;
	int r;

	h->nlmsg_seq = c.seq;
	h->nlmsg_flags |= NLM_F_REQUEST | (is_dump(h) ? 0 : NLM_F_ACK);
	r = nlsock_send(s, h, h->nlmsg_len);
	if (r < 0)
		return err_set(e, r, "netlink: sending: %s", strerror(-r));
	while (!c.done && c.result != -ECANCELED) {
		n = nlsock_receive(s, 0);
		if (n < 0)
			return err_set(e, (int)n, "netlink: no answer: %s", strerror((int)-n));
		r = nlsock_walk(s->buf, (size_t)n, nlsock_on_answer, &c);
		if (r < 0)
			return err_set(e, r, "netlink: malformed answer");
	}
	if (c.interrupted && c.result == 0)
		return err_set(e, -EAGAIN, "netlink: tables changed during the dump");
	return c.result;
}

int nlsock_query(struct nlsock *s, struct nl_msg *req, nlsock_fn *fn, void *arg, struct err *e)
{
	int r = req ? nlsock_call(s, req, fn, arg, e) : err_set(e, -ENOMEM, "out of memory");

	nlmsg_free(req);
	return r;
}

static int nlsock_on_family(const struct nlmsghdr *h, void *arg)
{
	return genl_decode_family(h, arg);
}

uint16_t nlsock_family(struct nlsock *s, const char *name)
{
	uint16_t family = 0;

	return nlsock_query(s, genl_family_request(name), nlsock_on_family, &family, NULL) < 0
		       ? 0
		       : family;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Success: number the requests, send them together, match the answers by number. Errors: the kernel
 * rejects a request (its own error, the others continue); more answers than the receive buffer
 * holds (-ENOBUFS; the missing ones are requested again, only as many at a time as the buffer
 * held); no datagram for two seconds (-ETIMEDOUT). */

struct batch {
	uint32_t first_seq;
	size_t n, n_left;
	size_t sent_from, sent_to; /* requests of the current datagram */
	size_t sent_left;	   /* how many of them have no answer yet */
	uint8_t *answered;
	nlsock_batch_fn *fn;
	void *arg;
};

static int on_batch_answer(const struct nlmsghdr *h, void *arg)
{
	struct batch *b = arg;
	size_t i = h->nlmsg_seq - b->first_seq;
	bool end = h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE;

	/* Ignores the ack that follows a message, as the request is answered already. */
	if (h->nlmsg_seq < b->first_seq || i >= b->n || b->answered[i] ||
	    (!end && h->nlmsg_type < NLMSG_MIN_TYPE))
		return 0;
	b->answered[i] = 1;
	b->n_left--;
	b->sent_left -= i >= b->sent_from && i < b->sent_to;
	b->fn(i, end ? NULL : h, end ? nlsock_end_code(h) : 0, b->arg);
	return 0;
}

/* Reads answers until all have arrived, the timeout expires, or some were lost (-ENOBUFS). */
static int batch_collect(struct nlsock *s, struct batch *b)
{
	bool lost = false;

	while (b->sent_left) {
		ssize_t n = nlsock_receive(s, lost ? MSG_DONTWAIT : 0);

		if (n == -ENOBUFS) /* the queued answers follow this error */
			lost = true;
		else if (n < 0)
			return lost ? -ENOBUFS : (int)n;
		else
			nlsock_walk(s->buf, (size_t)n, on_batch_answer, b);
	}
	return 0;
}

/* Numbers the requests; -EINVAL if buf does not hold exactly n of them. */
static int number_requests(struct nlsock *s, uint8_t *buf, size_t len, size_t n,
			   uint32_t *ret_first)
{
	/* The numbers of one batch must not wrap past 0, as they are compared by order. */
	if (s->seq > UINT32_MAX - n - 1)
		s->seq = 0;
	*ret_first = s->seq + 1;
	for (size_t i = 0; i < n; i++) {
		struct nlmsghdr *h = (struct nlmsghdr *)buf;
		size_t step;

		if (len < sizeof(*h) || h->nlmsg_len < sizeof(*h) || h->nlmsg_len > len)
			return -EINVAL;
		h->nlmsg_seq = ++s->seq;
		step = NLMSG_ALIGN((size_t)h->nlmsg_len);
		if (step > len)
			step = len;
		buf += step;
		len -= step;
	}
	return len ? -EINVAL : 0;
}

static size_t step_over(const uint8_t *buf, size_t at)
{
	return at + NLMSG_ALIGN((size_t)((const struct nlmsghdr *)(buf + at))->nlmsg_len);
}

/* Sends up to `max` requests starting at the first unanswered one. The kernel answers in order, so
 * that after an overflow the missing ones are the last. */
static int nlsock_send_some(struct nlsock *s, struct batch *b, const uint8_t *buf, size_t len,
			    size_t max)
{
	size_t from = 0, to, i = 0;

	for (; i < b->n && b->answered[i]; i++)
		from = step_over(buf, from);
	b->sent_from = i;
	b->sent_left = 0;
	for (to = from; i < b->n && i - b->sent_from < max; i++) {
		to = step_over(buf, to);
		b->sent_left += !b->answered[i];
	}
	b->sent_to = i;
	return nlsock_send(s, buf + from, (to < len ? to : len) - from);
}

/* Sends all requests at once; after an overflow of the receive buffer, only as many at a time as it
 * held answers. */
static int nlsock_run_batch(struct nlsock *s, struct batch *b, const uint8_t *buf, size_t len)
{
	size_t max = b->n;

	while (b->n_left) {
		size_t before = b->n_left;
		int r = nlsock_send_some(s, b, buf, len, max);

		if (r == 0)
			r = batch_collect(s, b);
		if (r < 0 && (r != -ENOBUFS || b->n_left == before))
			return r;
		if (r < 0)
			max = before - b->n_left;
	}
	return 0;
}

int nlsock_batch(struct nlsock *s, void *buf, size_t len, size_t n, nlsock_batch_fn *fn, void *arg)
{
	uint8_t *answered = calloc(n ? n : 1, 1);
	struct batch b = {.n = n, .n_left = n, .answered = answered, .fn = fn, .arg = arg};
	int r;

	if (!answered)
		return -ENOMEM;
	r = number_requests(s, buf, len, n, &b.first_seq);
	if (r == 0) {
		r = nlsock_run_batch(s, &b, buf, len);
		for (size_t i = 0; i < n && r < 0; i++)
			if (!answered[i])
				fn(i, NULL, r, arg);
	}
	free(answered);
	return r;
}
