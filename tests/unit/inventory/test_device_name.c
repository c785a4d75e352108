// SPDX-License-Identifier: Apache-2.0
/* Which function a name identifies. */
#include "device_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attachments.h"
#include "host_builder.h"
#include "test_group.h"

static void build(struct host *h)
{
	struct netdev *nd;

	*h = (struct host){0};
	build_function(h, FN_VF, "0000:03:00.2", "0000:03:00.0", 0);
	build_function(h, FN_VF, "0000:03:00.3", "0000:03:00.0", 1);
	nd = build_netdev(h, "net1", "0000:03:00.2");
	nd->nsid = 4;
	nd = build_netdev(h, "ens1f0v2", "0000:03:00.3");
	strcpy(nd->altnames, "enp3s0f0v2");
	build_netdev(h, "br0", "");
	build_rdma(h, "mlx5_5", "0000:03:00.3");
	find_rdma(h, "mlx5_5")->node_guid = 0xb83fd20300aa1234;
}

static void assert_means(const char *name, const char *function)
{
	struct attachments a;
	struct err e = {0};
	struct host h;
	const char *got;

	attachments_small(&a);
	build(&h);
	got = device_by_name(&h, a.list, name, &e);
	if (function)
		assert_string_equal(got, function);
	else
		assert_null(got);
	assert_int_equal(e.code, function ? 0 : -ENODEV);
	host_done(&h);
}

static void test_every_name_of_a_device(void **state)
{
	(void)state;
	assert_means("0000:03:00.3", "0000:03:00.3");
	assert_means("ens1f0v2", "0000:03:00.3");
	assert_means("enp3s0f0v2", "0000:03:00.3");
	assert_means("mlx5_5", "0000:03:00.3");
	/* its port */
	assert_means("mlx5_5/1", "0000:03:00.3");
	/* its node GUID, as it is listed, and without colons */
	assert_means("b83f:d203:00aa:1234", "0000:03:00.3");
	assert_means("B83FD20300AA1234", "0000:03:00.3");
	/* in a pod: the names that it had in the host */
	assert_means("ens1f0v1", "0000:03:00.2");
	assert_means("mlx5_4", "0000:03:00.2");
}

static void test_unknown_names(void **state)
{
	(void)state;
	assert_means("", NULL);
	assert_means("net1", NULL); /* a name inside a pod, which several pods may use */
	assert_means("br0", NULL);
	assert_means("0000:03:00.9", NULL);
	assert_means("mlx5_5/", NULL);
	assert_means("mlx5_5/x", NULL);
	assert_means("mlx5_99/1", NULL);
	assert_means("mlx5_5-7", NULL); /* a slot does not identify a device to attach */
	assert_means("b83f:d203:00aa:1235", NULL);
}

/* A record in state free only keeps the last failure. */
static void test_the_name_of_a_free_attachment_is_not_used(void **state)
{
	struct attachments a;
	struct err e = {0};
	struct host h;

	(void)state;
	attachments_small(&a);
	build(&h);
	a.records[0].state = ATTACH_FREE;
	assert_null(device_by_name(&h, a.list, "ens1f0v1", &e));
	assert_int_equal(e.code, -ENODEV);
	assert_null(attach_list_function(a.list, "0000:03:00.2"));
	host_done(&h);
}

static void test_an_ambiguous_name(void **state)
{
	struct attachments a;
	struct err e = {0};
	struct host h;

	(void)state;
	attachments_small(&a);
	build(&h);
	build_rdma(&h, "ens1f0v2", "0000:03:00.2");
	assert_null(device_by_name(&h, a.list, "ens1f0v2", &e));
	assert_int_equal(e.code, -ENOTUNIQ);
	assert_non_null(strstr(e.msg, "ens1f0v2"));
	host_done(&h);
}

/* For `explain` and `events`; attach accepts only a device's own names, so device_by_name()
 * fails. */
static const char *behind(struct host *h, const char *name, struct err *e)
{
	struct attachments a;

	attachments_small(&a);
	*e = (struct err){0};
	assert_null(device_by_name(h, a.list, name, e));
	*e = (struct err){0};
	return device_behind_name(h, a.list, name, e);
}

static void test_a_slot_of_a_device(void **state)
{
	struct err e;
	struct host h;

	(void)state;
	build(&h);
	assert_string_equal(behind(&h, "mlx5_5-7", &e), "0000:03:00.3");
	assert_int_equal(e.code, 0);
	assert_null(behind(&h, "mlx5_6-7", &e));
	assert_int_equal(e.code, -ENODEV);
	assert_non_null(strstr(e.msg, "mlx5_6-7"));
	host_done(&h);
}

static void test_netdevs_on_a_device(void **state)
{
	struct netdev *nd;
	struct err e;
	struct host h;
	int bond, port;

	(void)state;
	build(&h);
	build_function(&h, FN_PF, "0000:18:00.0", "", -1);
	build_function(&h, FN_PF, "0000:18:00.1", "", -1);
	build_netdev(&h, "ens1f0", "0000:18:00.0");
	build_netdev(&h, "ens1f1", "0000:18:00.1");
	bond = build_netdev(&h, "bond0", "")->ifindex;
	nd = build_netdev(&h, "bond0.100", "");
	nd->lower = bond;
	build_master(&h, "bond0", "ens1f0");
	assert_string_equal(behind(&h, "bond0", &e), "0000:18:00.0");
	build_master(&h, "bond0", "ens1f1");
	assert_null(behind(&h, "bond0", &e));
	assert_int_equal(e.code, -ENOTUNIQ);
	assert_non_null(strstr(e.msg, "0000:18:00.0, 0000:18:00.1"));
	assert_null(behind(&h, "bond0.100", &e));
	assert_int_equal(e.code, -ENOTUNIQ);
	/* RoCE LAG */
	build_rdma(&h, "mlx5_bond_0", "0000:18:00.0");
	find_rdma(&h, "mlx5_bond_0")->ports[0].netdev_nsid = NSID_HOST;
	find_rdma(&h, "mlx5_bond_0")->ports[0].netdev_ifindex = bond;
	assert_string_equal(behind(&h, "bond0", &e), "0000:18:00.0");
	assert_string_equal(behind(&h, "bond0.100", &e), "0000:18:00.0");
	/* IPoIB's child interface, which has no function of its own */
	build_function(&h, FN_PF, "0000:3b:00.0", "", -1);
	port = build_netdev(&h, "ib0", "0000:3b:00.0")->ifindex;
	nd = build_netdev(&h, "ib0.8001", "");
	nd->lower = port;
	strcpy(nd->kind, "ipoib");
	assert_string_equal(behind(&h, "ib0.8001", &e), "0000:3b:00.0");
	/* Interfaces on top of each other in a circle. */
	find_netdev(&h, "bond0")->lower = find_netdev(&h, "br0")->ifindex;
	find_netdev(&h, "br0")->lower = find_netdev(&h, "br0")->ifindex;
	assert_null(behind(&h, "br0", &e));
	assert_int_equal(e.code, -ENODEV);
	host_done(&h);
}

TEST_GROUP(device_name)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_name_of_a_device),
		cmocka_unit_test(test_unknown_names),
		cmocka_unit_test(test_the_name_of_a_free_attachment_is_not_used),
		cmocka_unit_test(test_an_ambiguous_name),
		cmocka_unit_test(test_a_slot_of_a_device),
		cmocka_unit_test(test_netdevs_on_a_device),
	};

	return test_group_run(tests, NULL, NULL);
}
