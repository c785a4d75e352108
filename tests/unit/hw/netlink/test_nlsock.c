// SPDX-License-Identifier: Apache-2.0
/* Requests for links to the real kernel, which any user may make, and invalid framing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nlsock.h"
#include "test_group.h"

static int setup(void **state)
{
	struct nlsock *s = calloc(1, sizeof(*s));
	struct err e = {0};

	assert_non_null(s);
	assert_int_equal(nlsock_open(s, NETLINK_ROUTE, &e), 0);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	nlsock_close(*state);
	free(*state);
	return 0;
}

static struct nl_msg *get_link(int ifindex, int flags)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, flags);
	struct ifinfomsg ifi = {.ifi_index = ifindex};

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO), 0);
	return m;
}

struct seen {
	int n, loopback, stop_with;
};

static int on_link(const struct nlmsghdr *h, void *arg)
{
	const struct ifinfomsg *ifi = NLMSG_DATA(h);
	struct seen *seen = arg;

	assert_int_equal(h->nlmsg_type, RTM_NEWLINK);
	seen->n++;
	seen->loopback |= ifi->ifi_index == 1;
	return seen->stop_with;
}

static int call(struct nlsock *s, struct nl_msg *m, struct seen *seen, struct err *e)
{
	int r = nlsock_call(s, m, on_link, seen, e);

	nlmsg_free(m);
	return r;
}

static void test_a_dump_and_a_single_answer(void **state)
{
	struct seen all = {0}, one = {0};
	struct err e = {0};

	assert_int_equal(call(*state, get_link(0, NLM_F_DUMP), &all, &e), 0);
	assert_true(all.loopback);
	assert_int_equal(call(*state, get_link(1, 0), &one, &e), 0);
	assert_int_equal(one.n, 1);
	assert_true(one.loopback);
}

static void test_the_kernels_error_is_reported(void **state)
{
	struct seen seen = {0};
	struct err e = {0};

	assert_int_equal(call(*state, get_link(0x7ffffff0, 0), &seen, &e), -ENODEV);
	assert_int_equal(e.code, -ENODEV);
	assert_non_null(strstr(e.msg, strerror(ENODEV)));
	assert_int_equal(seen.n, 0);
	/* Without a struct err only the code is returned. */
	assert_int_equal(call(*state, get_link(0x7ffffff0, 0), &seen, NULL), -ENODEV);
}

static void test_the_kernels_message_is_kept(void **state)
{
	struct nl_msg *m = get_link(1, 0);
	struct err e = {0};
	uint8_t byte = 1;

	nla_put(m, IFLA_EXT_MASK, 1, &byte); /* too short: the kernel adds an error message */
	assert_int_equal(nlsock_call(*state, m, NULL, NULL, &e), -ERANGE);
	assert_non_null(strstr(e.msg, strerror(ERANGE)));
	assert_true(strlen(e.msg) > strlen(strerror(ERANGE)) + 2);
	nlmsg_free(m);
}

static void test_a_callbacks_error_is_returned_and_the_rest_drained(void **state)
{
	struct seen stop = {.stop_with = -ECANCELED}, after = {0};
	struct err e = {0};

	assert_int_equal(call(*state, get_link(0, NLM_F_DUMP), &stop, &e), -ECANCELED);
	assert_int_equal(stop.n, 1);
	assert_int_equal(call(*state, get_link(1, 0), &after, &e), 0);
	assert_int_equal(after.n, 1);
}

/* --- batches ------------------------------------------------------------------------------ */

#define BATCH_MAX 4000

struct batch {
	_Alignas(4) uint8_t buf[BATCH_MAX * 32];
	size_t len, n;
	int messages[BATCH_MAX], errors[BATCH_MAX], answers[BATCH_MAX];
};

static void add(struct batch *b, int ifindex, int flags)
{
	struct nl_msg *m = get_link(ifindex, NLM_F_REQUEST | flags);
	size_t n = NLMSG_ALIGN(nlmsg_hdr(m)->nlmsg_len);

	assert_true(b->len + n <= sizeof(b->buf));
	memcpy(b->buf + b->len, nlmsg_hdr(m), n);
	b->len += n;
	b->n++;
	nlmsg_free(m);
}

static void on_batch(size_t i, const struct nlmsghdr *h, int error, void *arg)
{
	struct batch *b = arg;

	assert_in_range(i, 0, b->n - 1);
	b->answers[i]++;
	b->messages[i] += h != NULL;
	b->errors[i] = error;
}

static struct batch *batch_new(void)
{
	struct batch *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	return b;
}

static void test_a_batch_answers_each_request_once(void **state)
{
	struct batch *b = batch_new();

	add(b, 1, 0);
	add(b, 0x7ffffff0, 0);
	add(b, 1, NLM_F_ACK); /* acknowledged, but that does not count as a second answer */
	assert_int_equal(nlsock_batch(*state, b->buf, b->len, b->n, on_batch, b), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(b->answers[i], 1);
	assert_int_equal(b->messages[0], 1);
	assert_int_equal(b->messages[1], 0);
	assert_int_equal(b->errors[1], -ENODEV);
	assert_int_equal(b->messages[2], 1);
	/* A second batch in the same buffer gets new sequence numbers. */
	assert_int_equal(nlsock_batch(*state, b->buf, b->len, b->n, on_batch, b), 0);
	assert_int_equal(b->answers[2], 2);
	free(b);
}

static void test_a_batch_larger_than_the_receive_buffer(void **state)
{
	struct nlsock *s = *state;
	struct batch *b = batch_new();
	int size = 16384;

	/* Twice, because SO_RCVBUFFORCE may have been allowed before. */
	assert_int_equal(setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	for (int i = 0; i < BATCH_MAX; i++)
		add(b, 1, 0);
	assert_int_equal(nlsock_batch(s, b->buf, b->len, b->n, on_batch, b), 0);
	for (int i = 0; i < BATCH_MAX; i++) {
		assert_int_equal(b->answers[i], 1);
		assert_int_equal(b->messages[i], 1);
	}
	free(b);
}

static void test_an_invalid_batch(void **state)
{
	struct batch *b = batch_new();

	add(b, 1, 0);
	assert_int_equal(nlsock_batch(*state, b->buf, b->len, 2, on_batch, b), -EINVAL);
	assert_int_equal(nlsock_batch(*state, b->buf, b->len - 1, 1, on_batch, b), -EINVAL);
	add(b, 1, 0);
	assert_int_equal(nlsock_batch(*state, b->buf, b->len, 1, on_batch, b), -EINVAL);
	assert_int_equal(nlsock_batch(*state, b->buf, 0, 0, on_batch, b), 0);
	assert_int_equal(b->answers[0], 0);
	free(b);
}

/* --- messages of other processes ---------------------------------------------------------- */

static void test_messages_of_other_processes_are_ignored(void **state)
{
	struct nlsock *s = *state;
	struct sockaddr_nl own;
	socklen_t n = sizeof(own);
	int forger = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct seen seen = {0};
	struct err e = {0};
	struct {
		struct nlmsghdr h;
		int code;
	} done = {.h = {.nlmsg_len = sizeof(done), .nlmsg_type = NLMSG_DONE}};

	done.h.nlmsg_seq = s->seq + 1;
	assert_int_equal(bind(s->fd, (struct sockaddr *)&(struct sockaddr_nl){AF_NETLINK, 0, 0, 0},
			      sizeof(own)),
			 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&own, &n), 0);
	if (sendto(forger, &done, sizeof(done), 0, (struct sockaddr *)&own, sizeof(own)) < 0) {
		close(forger);
		print_message(
			"skipped: only root may send to the rtnetlink socket of another process\n");
		skip();
	}
	assert_int_equal(call(s, get_link(0, NLM_F_DUMP), &seen, &e), 0);
	assert_true(seen.loopback);
	close(forger);
}

/* --- framing ------------------------------------------------------------------------------ */

static int count(const struct nlmsghdr *h, void *arg)
{
	(void)h;
	return ++*(int *)arg == 3 ? -ECANCELED : 0;
}

static void test_framing(void **state)
{
	_Alignas(4) struct nlmsghdr m[4] = {0};
	int seen = 0;
	(void)state;

	for (int i = 0; i < 4; i++)
		m[i].nlmsg_len = sizeof(m[i]);
	assert_int_equal(nlsock_walk(m, 2 * sizeof(m[0]), count, &seen), 2);
	assert_int_equal(nlsock_walk(m, 0, count, &seen), 0);
	assert_int_equal(seen, 2);
	assert_int_equal(nlsock_walk(m, sizeof(m), count, &seen), -ECANCELED);
	assert_int_equal(seen, 3);
	m[1].nlmsg_len = sizeof(m[1]) - 1;
	assert_int_equal(nlsock_walk(m, sizeof(m), count, &seen), -EBADMSG);
	assert_int_equal(seen, 4);
	m[1].nlmsg_len = UINT32_MAX;
	assert_int_equal(nlsock_walk(m, sizeof(m), count, &seen), -EBADMSG);
	m[1].nlmsg_len = 3 * sizeof(m[1]) + 1;
	assert_int_equal(nlsock_walk(m, sizeof(m), count, &seen), -EBADMSG);
	assert_int_equal(nlsock_walk(m, sizeof(m[0]) - 1, count, &seen), -EBADMSG);
	assert_int_equal(nlsock_walk(m, sizeof(m[0]) + 4, count, &seen), -EBADMSG);
}

static void test_closing_twice(void **state)
{
	struct nlsock s = NLSOCK_CLOSED;
	struct err e = {0};
	(void)state;

	nlsock_close(&s);
	assert_int_equal(nlsock_open(&s, 4711, &e), -EPROTONOSUPPORT);
	assert_int_equal(e.code, -EPROTONOSUPPORT);
	assert_int_equal(s.fd, -1);
	nlsock_close(&s);
}

TEST_GROUP(nlsock)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_dump_and_a_single_answer),
		T(test_the_kernels_error_is_reported),
		T(test_the_kernels_message_is_kept),
		T(test_a_callbacks_error_is_returned_and_the_rest_drained),
		T(test_a_batch_answers_each_request_once),
		T(test_a_batch_larger_than_the_receive_buffer),
		T(test_an_invalid_batch),
		T(test_messages_of_other_processes_are_ignored),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_closing_twice),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
