// SPDX-License-Identifier: Apache-2.0
/* Changes of RDMA devices: the requests, and the handling of a fake kernel's answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <netlink/attr.h>

#include "cleanup.h"
#include "fake_netlink.h"
#include "faults.h"
#include "nldev.h"
#include "rdma_ops.h"
#include "test_group.h"

/* --- requests ------------------------------------------------------------------------------- */

static struct nlattr *attr_of(struct nl_msg *m, int cmd, int type)
{
	struct nlattr *a;

	assert_non_null(m);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd));
	a = nlmsg_find_attr(nlmsg_hdr(m), 0, type);
	assert_non_null(a);
	return a;
}

static void test_the_bytes_of_a_move(void **state)
{
	struct nl_msg *m = nldev_move(3, 17);
	(void)state;

	assert_int_equal(nla_get_u32(attr_of(m, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_ATTR_DEV_INDEX)), 3);
	assert_int_equal(nla_get_u32(attr_of(m, RDMA_NLDEV_CMD_SET, 68)), 17);
	assert_null(nlmsg_find_attr(nlmsg_hdr(m), 0, RDMA_NLDEV_ATTR_DEV_NAME));
	nlmsg_free(m);
}

static void test_the_bytes_of_a_new_name(void **state)
{
	struct nl_msg *m = nldev_rename(0, "mlx5_7");
	(void)state;

	assert_int_equal(nla_get_u32(attr_of(m, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_ATTR_DEV_INDEX)), 0);
	assert_string_equal(
		nla_get_string(attr_of(m, RDMA_NLDEV_CMD_SET, RDMA_NLDEV_ATTR_DEV_NAME)), "mlx5_7");
	assert_null(nlmsg_find_attr(nlmsg_hdr(m), 0, 68));
	nlmsg_free(m);
}

static void test_the_bytes_of_soft_roce(void **state)
{
	struct nl_msg *m = nldev_new_link("rxe-net1", "rxe", "net1");
	int cmd = RDMA_NLDEV_CMD_NEWLINK;
	(void)state;

	assert_string_equal(nla_get_string(attr_of(m, cmd, RDMA_NLDEV_ATTR_DEV_NAME)), "rxe-net1");
	assert_string_equal(nla_get_string(attr_of(m, cmd, RDMA_NLDEV_ATTR_LINK_TYPE)), "rxe");
	assert_string_equal(nla_get_string(attr_of(m, cmd, RDMA_NLDEV_ATTR_NDEV_NAME)), "net1");
	nlmsg_free(m);
	m = nldev_delete_link(3);
	assert_int_equal(nla_get_u32(attr_of(m, RDMA_NLDEV_CMD_DELLINK, RDMA_NLDEV_ATTR_DEV_INDEX)),
			 3);
	nlmsg_free(m);
}

static void test_the_bytes_of_a_request_for_uverbs(void **state)
{
	struct nl_msg *m = nldev_get_chardev(3, "uverbs");
	(void)state;

	assert_string_equal(nla_get_string(attr_of(m, RDMA_NLDEV_CMD_GET_CHARDEV,
						   RDMA_NLDEV_ATTR_CHARDEV_TYPE)),
			    "uverbs");
	nlmsg_free(m);
}

/* --- answers -------------------------------------------------------------------------------- */

struct fixture {
	struct nlsock s;
	struct fake_netlink *kernel;
	int code;
	unsigned interrupted; /* so many dumps are interrupted */
	bool silent;	      /* answers with a code and no message */
	int netdev_of[4];     /* netdev index by device index */
};

static struct nl_msg *device(uint32_t index, const char *name, int flags)
{
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
					      flags);

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, name);
	return m;
}

static void send_devices(struct fixture *f, struct fake_netlink *k, const struct nlmsghdr *req)
{
	int flags = NLM_F_MULTI;

	if (f->interrupted) {
		f->interrupted--;
		flags |= NLM_F_DUMP_INTR;
	}
	fake_netlink_send(k, req, device(0, "mlx5_1", flags));
	fake_netlink_send(k, req, device(3, "mlx5_10", flags));
}

static uint32_t index_in(const struct nlmsghdr *req)
{
	const struct nlattr *a = nlmsg_find_attr((struct nlmsghdr *)req, 0,
						 RDMA_NLDEV_ATTR_DEV_INDEX);

	return a ? nla_get_u32(a) : 77;
}

static void send_chardev(struct fake_netlink *k, const struct nlmsghdr *req)
{
	struct nl_msg *m = nlmsg_alloc_simple(req->nlmsg_type, 0);

	nla_put_string(m, RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs3");
	nla_put_u64(m, RDMA_NLDEV_ATTR_CHARDEV, UINT64_C(0xe7c3));
	/* Driver 1 is mlx5, 14 is soft-RoCE (enum rdma_driver_id). */
	nla_put_u32(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, index_in(req) == 3 ? 14 : 1);
	fake_netlink_send(k, req, m);
}

/* As nldev_get_doit() and nldev_port_get_doit() answer. */
static int send_one(const struct fixture *f, struct fake_netlink *k, const struct nlmsghdr *req)
{
	const uint32_t index = index_in(req);
	struct nl_msg *m;

	if (index != 0 && index != 3)
		return -EINVAL;
	m = device(index, index ? "mlx5_10" : "mlx5_1", 0);
	if (req->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET)) {
		nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
		if (f->netdev_of[index])
			nla_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, (uint32_t)f->netdev_of[index]);
	}
	fake_netlink_send(k, req, m);
	return 0;
}

static int answer(struct fake_netlink *k, const struct nlmsghdr *req, void *arg)
{
	struct fixture *f = arg;

	if (f->silent)
		return f->code;
	if (req->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET) ||
	    (req->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET) &&
	     !(req->nlmsg_flags & NLM_F_DUMP)))
		return send_one(f, k, req);
	if (req->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET))
		send_devices(f, k, req);
	else if (req->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV))
		send_chardev(k, req);
	return f->code;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->kernel = fake_netlink_start(&f->s, answer, f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fake_netlink_stop(f->kernel, &f->s);
	free(f);
	return 0;
}

static void test_found_by_its_name(void **state)
{
	struct fixture *f = *state;
	struct nldev_dev d = {.index = 77};
	struct err e = {0};

	assert_int_equal(rdma_by_name(&f->s, "mlx5_10", &d, &e), 0);
	assert_int_equal(d.index, 3);
	assert_int_equal(rdma_by_name(&f->s, "mlx5_1", &d, &e), 0);
	assert_int_equal(d.index, 0);
	d.index = 77;
	assert_int_equal(rdma_by_name(&f->s, "mlx5_", &d, &e), -ENODEV);
	assert_int_equal(rdma_by_name(&f->s, "", &d, &e), -ENODEV);
	assert_int_equal(rdma_by_name(&f->s, "mlx5_2", &d, &e), -ENODEV);
	assert_string_equal(e.msg, "mlx5_2: no RDMA device of that name in this namespace");
	assert_int_equal(d.index, 77);
}

static void test_found_by_its_index(void **state)
{
	struct fixture *f = *state;
	struct nldev_dev d = {0};
	struct err e = {0};

	assert_int_equal(rdma_by_index(&f->s, 3, &d, &e), 0);
	assert_string_equal(d.name, "mlx5_10");
	assert_int_equal(rdma_by_index(&f->s, 5, &d, &e), -ENODEV);
	assert_string_equal(e.msg, "no RDMA device with index 5 in this namespace");
	assert_int_equal(d.index, 3);
}

/* Whatever name is tried first, a NIC's own device is never taken for soft-RoCE, nor a device of
 * another netdev for this one's. */
static void test_found_by_its_netdev(void **state)
{
	struct fixture *f = *state;
	struct nldev_dev d = {.index = 77};
	struct err e = {0};

	assert_int_equal(rdma_soft_on(&f->s, 9, "mlx5_10", &d, &e), -ENODEV);
	f->netdev_of[0] = f->netdev_of[3] = 9;
	assert_int_equal(rdma_soft_on(&f->s, 9, "mlx5_1", &d, &e), 0);
	assert_int_equal(d.index, 3);
	f->netdev_of[3] = 8;
	assert_int_equal(rdma_soft_on(&f->s, 9, "mlx5_10", &d, &e), -ENODEV);
	assert_int_equal(rdma_soft_on(&f->s, 8, "", &d, &e), 0);
}

static void test_an_interrupted_dump_is_repeated(void **state)
{
	struct fixture *f = *state;
	struct nldev_dev d;
	struct err e = {0};

	f->interrupted = 4;
	assert_int_equal(rdma_by_name(&f->s, "mlx5_10", &d, &e), 0);
	f->interrupted = 5;
	assert_int_equal(rdma_by_name(&f->s, "mlx5_10", &d, &e), -EAGAIN);
}

static void test_changes_are_made(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(rdma_move(&f->s, 3, 17, &e), 0);
	assert_int_equal(rdma_rename(&f->s, 3, "mlx5_7", &e), 0);
	assert_int_equal(rdma_make_rxe(&f->s, "rxe0", "net1", &e), 0);
	assert_int_equal(rdma_delete(&f->s, 3, &e), 0);
}

static void test_errors_name_the_rejected_change(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	f->code = -EOPNOTSUPP;
	assert_int_equal(rdma_move(&f->s, 3, 17, &e), -EOPNOTSUPP);
	assert_string_equal(e.msg, "moving the RDMA device: Operation not supported");
	fake_netlink_say(f->kernel, "no such link type");
	assert_int_equal(rdma_make_rxe(&f->s, "rxe0", "net1", &e), -EOPNOTSUPP);
	assert_string_equal(e.msg, "creating a soft-RoCE device: no such link type: "
				   "Operation not supported");
	f->code = -EEXIST;
	assert_int_equal(rdma_rename(&f->s, 3, "mlx5_7", &e), -EEXIST);
	f->code = -EINVAL;
	assert_int_equal(rdma_delete(&f->s, 3, &e), -EINVAL);
	assert_int_equal(rdma_delete(&f->s, 3, NULL), -EINVAL);
}

static void test_its_uverbs_device(void **state)
{
	struct nldev_chardev c = {.dev = 77};
	struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(rdma_uverbs(&f->s, 3, &c, &e), 0);
	assert_string_equal(c.name, "uverbs3");
	assert_int_equal(c.dev, 0xe7c3);
	f->silent = true;
	assert_int_equal(rdma_uverbs(&f->s, 3, &c, &e), -ENOENT);
	assert_string_equal(e.msg, "RDMA device 3: its uverbs device: it has none");
	f->code = -ENODEV;
	assert_int_equal(rdma_uverbs(&f->s, 3, &c, &e), -ENODEV);
	assert_string_equal(c.name, "uverbs3");
}

static void test_a_send_may_fail(void **state)
{
	struct fixture *f = *state;
	struct nldev_chardev c;
	struct nldev_dev d;
	struct err e = {0};

	faults_send(0, ENOBUFS);
	assert_int_equal(rdma_move(&f->s, 3, 17, &e), -ENOBUFS);
	faults_send(0, ENOBUFS);
	assert_int_equal(rdma_by_name(&f->s, "mlx5_1", &d, &e), -ENOBUFS);
	faults_send(0, ENOBUFS);
	assert_int_equal(rdma_uverbs(&f->s, 3, &c, &e), -ENOBUFS);
	faults_end();
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

TEST_GROUP(rdma_ops)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_bytes_of_a_move),
		cmocka_unit_test(test_the_bytes_of_a_new_name),
		cmocka_unit_test(test_the_bytes_of_soft_roce),
		cmocka_unit_test(test_the_bytes_of_a_request_for_uverbs),
		TEST(test_found_by_its_name),
		TEST(test_found_by_its_index),
		TEST(test_found_by_its_netdev),
		TEST(test_an_interrupted_dump_is_repeated),
		TEST(test_changes_are_made),
		TEST(test_errors_name_the_rejected_change),
		TEST(test_its_uverbs_device),
		TEST(test_a_send_may_fail),
	};

	return test_group_run(tests, NULL, NULL);
}
