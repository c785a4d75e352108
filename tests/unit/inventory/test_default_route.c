// SPDX-License-Identifier: Apache-2.0
/* A device that carries the node's default route, at any depth, is in no exclusive pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <string.h>

#include "pool_fixture.h"
#include "test_group.h"

static struct netdev *add_virtual(struct host *h, const char *kind, const char *name)
{
	struct netdev *nd = build_netdev(h, name, "");

	SET_TEXT(nd->kind, kind);
	return nd;
}

static struct netdev *add_vlan(struct host *h, const char *name, const char *lower)
{
	int ifindex = find_netdev(h, lower)->ifindex;
	struct netdev *nd = add_virtual(h, "vlan", name);

	nd->lower = ifindex;
	return nd;
}

static void expect_route(struct pool_fixture *f, const char *route, const char *expected)
{
	find_netdev(&f->host, route)->default_route = true;
	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), expected);
}

static void test_default_route_itself(void **state)
{
	struct pool_fixture *f = *state;

	expect_route(f, "eth4", FIXTURE_VFS);
	assert_int_equal(verdict_on(f, "0000:81:00.0")->kind, VERDICT_DEFAULT_ROUTE);
	assert_string_equal(verdict_text_of(f, "0000:81:00.0"),
			    "not offered: carries the default route (eth4)");
	/* A shared pool takes no device from the host. */
	f->config.pools[0].kind = POOL_SHARED_ONE;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_members, 6);
	/* Also if an exclusive pool follows or precedes it. */
	add_pool(&f->config, "a.b", "late", POOL_EXCLUSIVE);
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_members, 6);
	assert_int_equal(verdict_on(f, "0000:81:00.0")->kind, VERDICT_OFFERED);
	f->config.pools[0].kind = POOL_EXCLUSIVE;
	f->config.pools[1].kind = POOL_SHARED_ONE;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[1].n_members, 2);
	assert_int_equal(verdict_on(f, "0000:81:00.0")->kind, VERDICT_OFFERED);
	assert_string_equal(verdict_on(f, "0000:81:00.0")->detail, "");
}

static void test_default_route_of_a_pf_does_not_exclude_its_vfs(void **state)
{
	struct pool_fixture *f = *state;

	find_function(&f->host, "0000:03:00.0")->vfs = 0;
	expect_route(f, "eth0", FIXTURE_VFS " 0000:81:00.0");
}

static void test_default_route_over_a_bond(void **state)
{
	struct pool_fixture *f = *state;

	add_virtual(&f->host, "bond", "bond0");
	build_master(&f->host, "bond0", "v1");
	build_master(&f->host, "bond0", "eth4");
	expect_route(f, "bond0", "0000:03:00.1 0000:03:00.3 0000:03:00.4");
	assert_string_equal(verdict_text_of(f, "0000:03:00.2"),
			    "not offered: carries the default route (bond0)");
	/* Being a member of a bond alone is no reason. */
	find_netdev(&f->host, "bond0")->default_route = false;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), FIXTURE_VFS " 0000:81:00.0");
}

static void test_default_route_over_vlan_bridge_and_bond(void **state)
{
	struct pool_fixture *f = *state;

	add_virtual(&f->host, "bond", "bond0");
	add_virtual(&f->host, "bridge", "br0");
	add_virtual(&f->host, "bridge", "br1");
	build_master(&f->host, "bond0", "v0");
	build_master(&f->host, "bond0", "v1");
	build_master(&f->host, "br1", "v2");
	add_vlan(&f->host, "bond0.100", "bond0");
	build_master(&f->host, "br0", "bond0.100");
	add_vlan(&f->host, "br0.7", "br0");
	expect_route(f, "br0.7", "0000:03:00.3 0000:03:00.4 0000:81:00.0");
	assert_string_equal(verdict_on(f, "0000:03:00.1")->detail, "br0.7");
}

static void test_default_route_through_open_vswitch(void **state)
{
	struct pool_fixture *f = *state;

	add_virtual(&f->host, "openvswitch", "ovs-system");
	add_virtual(&f->host, "openvswitch", "br-ex");
	add_virtual(&f->host, "bridge", "br0");
	build_master(&f->host, "ovs-system", "eth4");
	build_master(&f->host, "br0", "v0");
	expect_route(f, "br-ex", FIXTURE_VFS);
	/* v0's bridge has the route now, not eth4's. */
	find_netdev(&f->host, "br-ex")->default_route = false;
	find_netdev(&f->host, "br0")->default_route = true;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0),
			    "0000:03:00.2 0000:03:00.3 0000:03:00.4 0000:81:00.0");
}

/* The lower index of a veth or netkit is its peer's, which may be in another namespace. */
static void test_default_route_does_not_follow_a_pair(void **state)
{
	struct pool_fixture *f = *state;
	int ifindex = find_netdev(&f->host, "v0")->ifindex;

	add_virtual(&f->host, "veth", "veth0")->lower = ifindex;
	expect_route(f, "veth0", FIXTURE_VFS " 0000:81:00.0");
	SET_TEXT(find_netdev(&f->host, "veth0")->kind, "netkit");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), FIXTURE_VFS " 0000:81:00.0");
}

static void test_default_route_in_the_host_only(void **state)
{
	struct pool_fixture *f = *state;
	struct netdev *nd = find_netdev(&f->host, "v1");

	/* A netdev in another namespace, where its master has the same index as a bond in the
	 * host. */
	add_virtual(&f->host, "bond", "bond0");
	nd->nsid = 3;
	nd->master = find_netdev(&f->host, "bond0")->ifindex;
	nd->default_route = true;
	f->held.source = POD_SOURCE_NONE;
	expect_route(f, "bond0", FIXTURE_VFS " 0000:81:00.0");
}

static void test_default_route_under_soft_roce(void **state)
{
	struct pool_fixture *f = *state;
	struct rdma_dev *rd;

	add_virtual(&f->host, "bridge", "br0");
	build_function(&f->host, FN_VIRTUAL, "rxe0", "", 0);
	rd = build_rdma(&f->host, "rxe0", "rxe0");
	rd->ports[0].netdev_nsid = NSID_HOST;
	rd->ports[0].netdev_ifindex = find_netdev(&f->host, "br0")->ifindex;
	add_word(&add_selector(add_pool(&f->config, "a.b", "rxe", POOL_EXCLUSIVE))->rdma_names,
		 "rxe0");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "rxe0");
	find_netdev(&f->host, "br0")->default_route = true;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "");
}

static void test_a_loop_of_masters_ends(void **state)
{
	struct pool_fixture *f = *state;

	add_virtual(&f->host, "bridge", "br0");
	add_virtual(&f->host, "bridge", "br1");
	build_master(&f->host, "br0", "br1");
	build_master(&f->host, "br1", "br0");
	build_master(&f->host, "br1", "eth4");
	expect_route(f, "br0", FIXTURE_VFS);
}

TEST_GROUP(default_route)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pool_fixture_setup, pool_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_default_route_itself),
		TEST(test_default_route_of_a_pf_does_not_exclude_its_vfs),
		TEST(test_default_route_over_a_bond),
		TEST(test_default_route_over_vlan_bridge_and_bond),
		TEST(test_default_route_through_open_vswitch),
		TEST(test_default_route_does_not_follow_a_pair),
		TEST(test_default_route_in_the_host_only),
		TEST(test_default_route_under_soft_roce),
		TEST(test_a_loop_of_masters_ends),
	};

	return test_group_run(tests, NULL, NULL);
}
