// SPDX-License-Identifier: Apache-2.0
#include "fake_netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct fake_netlink {
	int fd;
	fake_netlink_fn *fn;
	void *arg;
	const char *sentence;
	pthread_t thread;
};

/* Ignores that the client may have closed its socket. */
static void send_message(struct fake_netlink *k, const struct nlmsghdr *req, struct nl_msg *m)
{
	struct nlmsghdr *h = nlmsg_hdr(m);
	struct iovec iov = {h, h->nlmsg_len};
	struct msghdr out = {.msg_iov = &iov, .msg_iovlen = 1};

	h->nlmsg_seq = req->nlmsg_seq;
	if (sendmsg(k->fd, &out, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		abort();
	nlmsg_free(m);
}

void fake_netlink_send(struct fake_netlink *k, const struct nlmsghdr *req, struct nl_msg *m)
{
	send_message(k, req, m);
}

void fake_netlink_say(struct fake_netlink *k, const char *sentence)
{
	k->sentence = sentence;
}

static void end_answer(struct fake_netlink *k, const struct nlmsghdr *req, int code)
{
	bool is_dump = (req->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	struct nlmsgerr error = {.error = code, .msg = *req};
	bool explains = !is_dump && code < 0 && k->sentence;
	struct nl_msg *m = nlmsg_alloc_simple(is_dump ? NLMSG_DONE : NLMSG_ERROR,
					      explains ? NLM_F_CAPPED | NLM_F_ACK_TLVS
						       : NLM_F_CAPPED);

	if (is_dump)
		nlmsg_append(m, &code, sizeof(code), NLMSG_ALIGNTO);
	else
		nlmsg_append(m, &error, sizeof(error), NLMSG_ALIGNTO);
	if (explains)
		nla_put_string(m, NLMSGERR_ATTR_MSG, k->sentence);
	send_message(k, req, m);
}

static void *serve(void *arg)
{
	struct fake_netlink *k = arg;
	char request[8192] __attribute__((aligned(8)));
	ssize_t n;

	while ((n = read(k->fd, request, sizeof(request))) > 0) {
		const struct nlmsghdr *h = (const void *)request;

		for (int left = (int)n; nlmsg_ok(h, left);
		     h = nlmsg_next((struct nlmsghdr *)h, &left))
			end_answer(k, h, k->fn(k, h, k->arg));
	}
	return NULL;
}

struct fake_netlink *fake_netlink_start(struct nlsock *s, fake_netlink_fn *fn, void *arg)
{
	struct fake_netlink *k = calloc(1, sizeof(*k));
	int fds[2];

	assert_non_null(k);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(nlsock_adopt(s, fds[0]), 0);
	k->fd = fds[1];
	k->fn = fn;
	k->arg = arg;
	assert_int_equal(pthread_create(&k->thread, NULL, serve, k), 0);
	return k;
}

static void join_and_free(struct fake_netlink *k)
{
	pthread_join(k->thread, NULL);
	close(k->fd);
	free(k);
}

void fake_netlink_stop(struct fake_netlink *k, struct nlsock *s)
{
	nlsock_close(s);
	join_and_free(k);
}

/* --- behind sockets that are opened elsewhere ------------------------------------------------- */

static struct {
	fake_netlink_fn *fn;
	void *arg;
	struct fake_netlink *kernels[16];
	size_t n;
} behind;

void fake_netlink_behind_sockets(fake_netlink_fn *fn, void *arg)
{
	while (behind.n > 0)
		join_and_free(behind.kernels[--behind.n]);
	behind.fn = fn;
	behind.arg = arg;
}

bool fake_netlink_open(struct nlsock *s)
{
	if (!behind.fn)
		return false;
	assert_true(behind.n < sizeof(behind.kernels) / sizeof(behind.kernels[0]));
	behind.kernels[behind.n++] = fake_netlink_start(s, behind.fn, behind.arg);
	return true;
}
