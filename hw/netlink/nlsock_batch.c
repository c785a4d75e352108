/* nlsock_batch.c - ask the kernel many things in one datagram.
 *
 * Happy path: number the requests, send them together, match the answers by number.
 * Can fail by: a request that the kernel refuses (its own error, the others go on); more answers
 * than the receive buffer holds (-ENOBUFS; the missing ones are asked for again, as many at a time
 * as did fit); no datagram for two seconds (-ETIMEDOUT). */
#include <stdlib.h>
#include <sys/socket.h>

#include "nlsock_io.h"

struct batch {
	uint32_t first_seq;
	size_t n, n_left;
	size_t sent_from, sent_to; /* requests of the datagram that is being answered */
	size_t sent_left;	   /* how many of those have no answer yet */
	uint8_t *answered;
	nlsock_batch_fn *fn;
	void *arg;
};

static int on_batch_answer(const struct nlmsghdr *h, void *arg)
{
	struct batch *b = arg;
	size_t i = h->nlmsg_seq - b->first_seq;
	bool end = h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE;

	/* The ack after a message that was asked for says nothing new. */
	if (h->nlmsg_seq < b->first_seq || i >= b->n || b->answered[i] ||
	    (!end && h->nlmsg_type < NLMSG_MIN_TYPE))
		return 0;
	b->answered[i] = 1;
	b->n_left--;
	b->sent_left -= i >= b->sent_from && i < b->sent_to;
	b->fn(i, end ? NULL : h, end ? nlsock_end_code(h) : 0, b->arg);
	return 0;
}

/* Reads answers until all are there, none comes any more, or some were lost (-ENOBUFS). */
static int collect(struct nlsock *s, struct batch *b)
{
	bool lost = false;

	while (b->sent_left) {
		ssize_t n = nlsock_receive(s, lost ? MSG_DONTWAIT : 0);

		if (n == -ENOBUFS) /* what did fit is still queued behind this error */
			lost = true;
		else if (n < 0)
			return lost ? -ENOBUFS : (int)n;
		else
			nlsock_walk(s->buf, (size_t)n, on_batch_answer, b);
	}
	return 0;
}

/* Numbers the requests; -EINVAL when buf does not hold exactly n of them. */
static int number_requests(struct nlsock *s, uint8_t *buf, size_t len, size_t n,
			   uint32_t *ret_first)
{
	/* Numbers of one batch must not wrap past 0, or a compare of them lies. */
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

/* Sends up to `max` requests from the first that has no answer. The kernel works in order, so that
 * after an overflow the missing ones are the tail. */
static int send_some(struct nlsock *s, struct batch *b, const uint8_t *buf, size_t len, size_t max)
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

/* All at once; when that overflows the receive buffer, then as many at a time as did fit. */
static int run_batch(struct nlsock *s, struct batch *b, const uint8_t *buf, size_t len)
{
	size_t max = b->n;

	while (b->n_left) {
		size_t before = b->n_left;
		int r = send_some(s, b, buf, len, max);

		if (r == 0)
			r = collect(s, b);
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
		r = run_batch(s, &b, buf, len);
		for (size_t i = 0; i < n && r < 0; i++)
			if (!answered[i])
				fn(i, NULL, r, arg);
	}
	free(answered);
	return r;
}
