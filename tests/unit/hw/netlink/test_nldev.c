// SPDX-License-Identifier: Apache-2.0
/* RDMA netlink messages built by the test, as this machine may have no RDMA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <netlink/attr.h>

#include "err.h"
#include "nldev.h"
#include "nlsock.h"
#include "test_group.h"

static struct nl_msg *message(int cmd)
{
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd), 0);

	assert_non_null(m);
	return m;
}

static struct nl_msg *dev_message(int cmd, uint32_t index, const char *name)
{
	struct nl_msg *m = message(cmd);

	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	if (name)
		nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, name);
	return m;
}

static void test_a_device(void **state)
{
	struct nl_msg *m = dev_message(RDMA_NLDEV_CMD_GET, 0, "mlx5_0");
	struct nldev_dev d;
	(void)state;

	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 2);
	nla_put_u64(m, RDMA_NLDEV_ATTR_NODE_GUID, 0xa088c20300000001);
	nla_put_u64(m, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, 0xa088c20300000000);
	nla_put_string(m, RDMA_NLDEV_ATTR_FW_VERSION, "28.39.3004");
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	nla_put_u8(m, RDMA_NLDEV_ATTR_DEV_DIM, 1);
	assert_int_equal(nldev_decode_dev(nlmsg_hdr(m), &d), 0);
	nlmsg_free(m);
	assert_int_equal(d.index, 0);
	assert_string_equal(d.name, "mlx5_0");
	assert_int_equal(d.n_ports, 2);
	assert_true(d.node_guid == 0xa088c20300000001);
	assert_true(d.sys_image_guid == 0xa088c20300000000);
	assert_string_equal(d.fw, "28.39.3004");
	assert_string_equal(d.protocol, "roce");
	assert_int_equal(d.dim, 1);
}

static void test_an_old_kernels_device(void **state)
{
	struct nl_msg *m = dev_message(RDMA_NLDEV_CMD_GET, 3, "rxe0");
	struct nldev_dev d;
	(void)state;

	assert_int_equal(nldev_decode_dev(nlmsg_hdr(m), &d), 0);
	nlmsg_free(m);
	assert_int_equal(d.index, 3);
	assert_int_equal(d.n_ports, 0);
	assert_string_equal(d.fw, "");
	assert_int_equal(d.dim, -1);
}

static void refuse_dev(struct nl_msg *m, int code)
{
	struct nldev_dev d = {.index = 77};

	assert_int_equal(nldev_decode_dev(nlmsg_hdr(m), &d), code);
	assert_int_equal(d.index, 77);
	nlmsg_free(m);
}

static void test_bad_devices(void **state)
{
	static const uint8_t bytes[8];
	char longer[RDMA_NAME_SIZE + 2];
	struct nl_msg *m;
	(void)state;

	refuse_dev(dev_message(RDMA_NLDEV_CMD_PORT_GET, 1, "mlx5_0"), -EPROTO);
	refuse_dev(dev_message(RDMA_NLDEV_CMD_GET, 1, NULL), -EBADMSG);
	refuse_dev(dev_message(RDMA_NLDEV_CMD_GET, 1, ""), -EBADMSG);
	refuse_dev(dev_message(RDMA_NLDEV_CMD_GET, 1, "../x"), -EBADMSG);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	refuse_dev(dev_message(RDMA_NLDEV_CMD_GET, 1, longer), -EBADMSG);
	m = message(RDMA_NLDEV_CMD_GET);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	refuse_dev(m, -EBADMSG);
	m = dev_message(RDMA_NLDEV_CMD_GET, 1, "mlx5_0");
	nla_put(m, RDMA_NLDEV_ATTR_NODE_GUID, 4, bytes);
	refuse_dev(m, -EBADMSG);
	m = message(RDMA_NLDEV_CMD_GET);
	nla_put(m, RDMA_NLDEV_ATTR_DEV_INDEX, 2, bytes);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	refuse_dev(m, -EBADMSG);
	m = message(RDMA_NLDEV_CMD_GET);
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 1);
	nla_put(m, RDMA_NLDEV_ATTR_DEV_NAME, 4, "mlx5"); /* no terminating NUL */
	refuse_dev(m, -EBADMSG);
}

static void test_a_port(void **state)
{
	struct nl_msg *m = dev_message(RDMA_NLDEV_CMD_PORT_GET, 4, "mlx5_4");
	struct nldev_port p;
	(void)state;

	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nla_put_u8(m, RDMA_NLDEV_ATTR_PORT_STATE, 4);
	nla_put_u8(m, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5);
	nla_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, 12);
	nla_put_string(m, RDMA_NLDEV_ATTR_NDEV_NAME, "ens1np0");
	assert_int_equal(nldev_decode_port(nlmsg_hdr(m), &p), 0);
	nlmsg_free(m);
	assert_int_equal(p.dev_index, 4);
	assert_int_equal(p.port, 1);
	assert_int_equal(p.state, PORT_ACTIVE);
	assert_int_equal(p.phys_state, PHYS_LINK_UP);
	assert_int_equal(p.netdev_ifindex, 12);
	assert_string_equal(p.netdev, "ens1np0");
	assert_false(p.has_lid);
}

/* The answer to a request for one port (nldev_port_get_doit()) has the device's command; a dump has
 * the port's. */
static void test_a_port_by_the_devices_command(void **state)
{
	struct nl_msg *m = dev_message(RDMA_NLDEV_CMD_GET, 4, "mlx5_4");
	struct nldev_port p = {.port = 77};
	(void)state;

	assert_int_equal(nldev_decode_port(nlmsg_hdr(m), &p), -EBADMSG);
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	assert_int_equal(nldev_decode_port(nlmsg_hdr(m), &p), 0);
	assert_int_equal(p.port, 1);
	nlmsg_free(m);
	m = dev_message(RDMA_NLDEV_CMD_SYS_GET, 4, "mlx5_4");
	assert_int_equal(nldev_decode_port(nlmsg_hdr(m), &p), -EPROTO);
	nlmsg_free(m);
}

static void test_ports_without_a_netdev_and_bad_ones(void **state)
{
	struct nl_msg *m = dev_message(RDMA_NLDEV_CMD_PORT_GET, 4, "mlx5_4");
	struct nldev_port p = {.port = 77};
	(void)state;

	assert_int_equal(nldev_decode_port(nlmsg_hdr(m), &p), -EBADMSG); /* no port number */
	assert_int_equal(p.port, 77);
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nla_put_u32(m, RDMA_NLDEV_ATTR_LID, 0);
	nla_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, 0x80000000u);
	nla_put_string(m, RDMA_NLDEV_ATTR_NDEV_NAME, "x");
	assert_int_equal(nldev_decode_port(nlmsg_hdr(m), &p), 0);
	assert_int_equal(p.netdev_ifindex, 0);
	assert_string_equal(p.netdev, "");
	assert_true(p.has_lid);
	nlmsg_free(m);
}

static void test_the_netns_mode(void **state)
{
	enum rdma_netns_mode mode = RDMA_NETNS_UNKNOWN;
	struct nl_msg *m = message(RDMA_NLDEV_CMD_SYS_GET);
	bool monitor = true;
	(void)state;

	assert_int_equal(nldev_decode_sys(nlmsg_hdr(m), &mode, &monitor), -EBADMSG);
	nla_put_u8(m, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
	assert_int_equal(nldev_decode_sys(nlmsg_hdr(m), &mode, &monitor), 0);
	assert_int_equal(mode, RDMA_NETNS_SHARED);
	assert_false(monitor);
	nlmsg_free(m);
	m = message(RDMA_NLDEV_CMD_SYS_GET);
	nla_put_u8(m, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 0);
	nla_put_u8(m, NLDEV_ATTR_MONITOR_MODE, 1);
	assert_int_equal(nldev_decode_sys(nlmsg_hdr(m), &mode, &monitor), 0);
	assert_int_equal(mode, RDMA_NETNS_EXCLUSIVE);
	assert_true(monitor);
	assert_int_equal(nldev_decode_sys(nlmsg_hdr(m), &mode, NULL), 0);
	nlmsg_free(m);
}

static void test_character_devices(void **state)
{
	struct nl_msg *m = message(RDMA_NLDEV_CMD_GET_CHARDEV);
	struct nldev_chardev c = {.dev = 77};
	(void)state;

	assert_int_equal(nldev_decode_chardev(nlmsg_hdr(m), &c), -EBADMSG);
	assert_int_equal(c.dev, 77);
	nla_put_string(m, RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs3");
	nla_put_u64(m, RDMA_NLDEV_ATTR_CHARDEV, 0xe703);
	nla_put_u32(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 14);
	assert_int_equal(nldev_decode_chardev(nlmsg_hdr(m), &c), 0);
	assert_string_equal(c.name, "uverbs3");
	assert_int_equal(c.dev, 0xe703);
	assert_string_equal(nldev_driver_name(c.driver_id), "rxe");
	nlmsg_free(m);
	assert_string_equal(nldev_driver_name(0), "");
	assert_string_equal(nldev_driver_name(1), "mlx5");
	assert_string_equal(nldev_driver_name(18), "siw");
	assert_string_equal(nldev_driver_name(UINT32_MAX), "");
}

static void test_events(void **state)
{
	struct nl_msg *m = dev_message(NLDEV_CMD_MONITOR, 2, "rxe0");
	struct nldev_event e;
	(void)state;

	assert_int_equal(nldev_decode_event(nlmsg_hdr(m), &e), -EBADMSG);
	nla_put_u8(m, NLDEV_ATTR_EVENT_TYPE, 2);
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nla_put_u32(m, RDMA_NLDEV_ATTR_NDEV_INDEX, 9);
	nla_put_string(m, RDMA_NLDEV_ATTR_NDEV_NAME, "veth0");
	assert_int_equal(nldev_decode_event(nlmsg_hdr(m), &e), 0);
	nlmsg_free(m);
	assert_int_equal(e.type, NLDEV_NETDEV_ATTACH);
	assert_int_equal(e.dev_index, 2);
	assert_string_equal(e.name, "rxe0");
	assert_int_equal(e.port, 1);
	assert_int_equal(e.netdev_ifindex, 9);
	assert_string_equal(e.netdev, "veth0");
	m = message(NLDEV_CMD_MONITOR);
	nla_put_u8(m, NLDEV_ATTR_EVENT_TYPE, 200);
	assert_int_equal(nldev_decode_event(nlmsg_hdr(m), &e), 0);
	nlmsg_free(m);
	assert_int_equal(e.type, NLDEV_EVENT_OTHER);
	assert_true(e.dev_index == NLDEV_ANY);
}

static int count(const struct nlmsghdr *h, void *arg)
{
	size_t *n = arg;

	assert_int_equal(h->nlmsg_type, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET));
	assert_true(h->nlmsg_flags & NLM_F_REQUEST);
	++*n;
	return 0;
}

static void test_requests_are_batched_in_order(void **state)
{
	struct nldev_batch b = {0};
	size_t n = 0;
	(void)state;

	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(
			nldev_batch_add(&b, nldev_request(RDMA_NLDEV_CMD_PORT_GET, 0, i, 1)), 0);
	assert_int_equal(b.n, 500);
	assert_int_equal(nlsock_walk(b.buf, b.len, count, &n), 500);
	assert_int_equal(n, 500);
	assert_int_equal(nldev_batch_add(&b, NULL), -ENOMEM);
	assert_int_equal(b.n, 500);
	nldev_batch_done(&b);
	nldev_batch_done(&b);
}

TEST_GROUP(nldev)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_device),
		cmocka_unit_test(test_an_old_kernels_device),
		cmocka_unit_test(test_bad_devices),
		cmocka_unit_test(test_a_port),
		cmocka_unit_test(test_a_port_by_the_devices_command),
		cmocka_unit_test(test_ports_without_a_netdev_and_bad_ones),
		cmocka_unit_test(test_the_netns_mode),
		cmocka_unit_test(test_character_devices),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_requests_are_batched_in_order),
	};

	return test_group_run(tests, NULL, NULL);
}
