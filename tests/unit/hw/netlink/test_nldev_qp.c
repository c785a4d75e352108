// SPDX-License-Identifier: Apache-2.0
/* Queue pairs over RDMA netlink: messages as the kernel builds them, and damaged ones. */
#include "nldev.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>

#include "fixture.h"
#include "nlsock.h"
#include "test_group.h"

#define QP_GET RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET)

struct heard {
	struct nldev_qp qps[8];
	size_t n;
	int answer; /* result of each callback */
};

static int on_qp(const struct nldev_qp *qp, void *arg)
{
	struct heard *h = arg;

	assert_true(h->n < 8);
	h->qps[h->n++] = *qp;
	return h->answer;
}

/* nla_nest_start() without the flag, as nldev.c does it. */
static struct nlattr *nest(struct nl_msg *m, int type)
{
	return nla_nest_start(m, type & ~NLA_F_NESTED);
}

static struct nl_msg *message(const char *device)
{
	struct nl_msg *m = nlmsg_alloc_simple(QP_GET, NLM_F_MULTI);

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	if (device)
		nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, device);
	return m;
}

/* fill_res_qp_entry() of a connected queue pair of a process. */
static void put_user(struct nl_msg *m, uint32_t qpn)
{
	struct nlattr *e = nest(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_RQPN, qpn + 1);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_RQ_PSN, 7);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_SQ_PSN, 8);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, 2);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE, 3);
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, 4711);
	nla_nest_end(m, e);
}

static void put_kernel(struct nl_msg *m, const char *owner)
{
	struct nlattr *e = nest(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, 1);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, 1);
	nla_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE, 3);
	nla_put_string(m, RDMA_NLDEV_ATTR_RES_KERN_NAME, owner);
	nla_nest_end(m, e);
}

static void test_a_valid_message(void **state)
{
	struct nl_msg *m = message("rxe_a");
	struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_RES_QP);
	struct heard h = {0};

	(void)state;
	put_user(m, 17);
	put_kernel(m, "a kernel user with a name that is too long");
	nla_nest_end(m, t);
	assert_int_equal(nldev_decode_qps(nlmsg_hdr(m), on_qp, &h), 2);
	assert_string_equal(h.qps[0].device, "rxe_a");
	assert_int_equal(h.qps[0].qpn, 17);
	assert_int_equal(h.qps[0].peer_qpn, 18);
	assert_int_equal(h.qps[0].port, 1);
	assert_int_equal(h.qps[0].type, 2);
	assert_int_equal(h.qps[0].state, 3);
	assert_int_equal(h.qps[0].pid, 4711);
	assert_string_equal(h.qps[0].owner, "");
	assert_string_equal(h.qps[1].device, "rxe_a");
	assert_int_equal(h.qps[1].peer_qpn, NLDEV_QP_UNKNOWN);
	assert_int_equal(h.qps[1].port, 0);
	assert_int_equal(h.qps[1].pid, 0);
	assert_string_equal(h.qps[1].owner, "a kernel user with a name that ");
	nlmsg_free(m);
}

static void test_the_request(void **state)
{
	struct nl_msg *m = nldev_qp_dump(3);
	struct nlattr *index = nlmsg_find_attr(nlmsg_hdr(m), 0, RDMA_NLDEV_ATTR_DEV_INDEX);

	(void)state;
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, QP_GET);
	assert_true(nlmsg_hdr(m)->nlmsg_flags & NLM_F_DUMP);
	assert_int_equal(nla_get_u32(index), 3);
	nlmsg_free(m);
}

static void test_the_walk_can_be_ended(void **state)
{
	struct nl_msg *m = message("rxe_a");
	struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_RES_QP);
	struct heard h = {.answer = -ENOMEM};

	(void)state;
	put_user(m, 17);
	put_user(m, 19);
	nla_nest_end(m, t);
	assert_int_equal(nldev_decode_qps(nlmsg_hdr(m), on_qp, &h), -ENOMEM);
	assert_int_equal(h.n, 1);
	nlmsg_free(m);
}

static void put_bent(struct nl_msg *m, int how)
{
	struct nlattr *e = nest(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	if (how == 0)
		nla_put_u8(m, RDMA_NLDEV_ATTR_RES_LQPN, 1);
	else if (how != 1)
		nla_put_u32(m, RDMA_NLDEV_ATTR_RES_LQPN, 1);
	if (how != 2)
		nla_put_u8(m, RDMA_NLDEV_ATTR_RES_TYPE, 2);
	if (how != 3)
		nla_put_u8(m, RDMA_NLDEV_ATTR_RES_STATE, 3);
	if (how == 4)
		nla_put_u16(m, RDMA_NLDEV_ATTR_RES_PID, 3);
	nla_nest_end(m, e);
}

static void test_malformed_entries(void **state)
{
	(void)state;
	for (int how = 0; how < 5; how++) {
		struct nl_msg *m = message("rxe_a");
		struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_RES_QP);
		struct heard h = {0};

		put_user(m, 17);
		put_bent(m, how);
		nla_nest_end(m, t);
		assert_int_equal(nldev_decode_qps(nlmsg_hdr(m), on_qp, &h), -EBADMSG);
		assert_int_equal(h.n, 1);
		nlmsg_free(m);
	}
}

static void test_other_messages(void **state)
{
	struct nl_msg *m = message(NULL);
	struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_RES_QP);
	struct heard h = {0};

	(void)state;
	put_user(m, 17);
	nla_nest_end(m, t);
	assert_int_equal(nldev_decode_qps(nlmsg_hdr(m), on_qp, &h), -EBADMSG); /* no device name */
	nlmsg_hdr(m)->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET);
	assert_int_equal(nldev_decode_qps(nlmsg_hdr(m), on_qp, &h), -EPROTO);
	nlmsg_free(m);
	m = message("rxe_a");
	assert_int_equal(nldev_decode_qps(nlmsg_hdr(m), on_qp, &h), -EBADMSG); /* no table */
	assert_int_equal(h.n, 0);
	nlmsg_free(m);
}

static void test_cut_anywhere(void **state)
{
	struct nl_msg *m = message("rxe_a");
	struct nlattr *t = nest(m, RDMA_NLDEV_ATTR_RES_QP);

	(void)state;
	put_user(m, 17);
	nla_nest_end(m, t);
	for (uint32_t n = NLMSG_HDRLEN; n < nlmsg_hdr(m)->nlmsg_len; n++) {
		struct nlmsghdr *cut = malloc(n);
		struct heard h = {0};

		memcpy(cut, nlmsg_hdr(m), n);
		cut->nlmsg_len = n;
		assert_true(nldev_decode_qps(cut, on_qp, &h) <= 0);
		free(cut);
	}
	nlmsg_free(m);
}

static int on_message(const struct nlmsghdr *h, void *arg)
{
	return nldev_decode_qps(h, on_qp, arg) < 0 ? -1 : 0;
}

/* The fuzzer's seed is a valid message. */
static void test_the_fixture(void **state)
{
	struct heard h = {0};
	size_t n;
	uint8_t *bytes = fixture_read("qps/dump.bin", &n);

	(void)state;
	assert_true(nlsock_walk(bytes, n, on_message, &h) > 0);
	assert_int_equal(h.n, 2);
	free(bytes);
}

TEST_GROUP(nldev_qp)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_valid_message),
		cmocka_unit_test(test_the_request),
		cmocka_unit_test(test_the_walk_can_be_ended),
		cmocka_unit_test(test_malformed_entries),
		cmocka_unit_test(test_other_messages),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_the_fixture),
	};

	return test_group_run(tests, NULL, NULL);
}
