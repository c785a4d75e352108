// SPDX-License-Identifier: Apache-2.0
/* Device nodes that containers were granted, and the devices that have these nodes now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "granted_nodes.h"
#include "health.h"
#include "pool_fixture.h"
#include "test_group.h"

#define ROCE	"a.b/roce"
#define CHANGED HEALTH_BIT(HEALTH_NODE_CHANGED)
#define HELD	HEALTH_BIT(HEALTH_NODE_HELD)

/* One container, to which one node was granted with one ID. */
static char id[DEV_ID_SIZE], node[64];
static char *ids[] = {id}, *nodes[] = {node};
static struct granted given = {(char *)"u1", (char *)ROCE, ids, 1, nodes, 1, false};
static struct granted_list list = {&given, 1, 0};

static void give(const char *resource, const char *device, const char *path)
{
	given.resource = (char *)resource;
	snprintf(id, sizeof(id), "%s", device);
	snprintf(node, sizeof(node), "%s", path);
}

/* Adds a pool of all devices; a container holds the first VF. */
static struct pool *pool_of_all(struct pool_fixture *f, enum pool_kind kind)
{
	struct pool *p = add_pool(&f->config, "a.b", "roce", kind);

	add_word(&add_selector(p)->vendors, "15b3");
	hold(&f->held, ROCE, "0000:03:00.1");
	give(ROCE, "0000:03:00.1", "infiniband/uverbs1");
	return p;
}

static void build(struct pool_fixture *f, struct node_conflicts *ret)
{
	const struct granted_input in = {&list, &f->pools, &f->host, &f->held, {0}};

	pool_fixture_build(f);
	assert_int_equal(node_conflicts_build(ret, &in), 0);
}

static unsigned judge_in(struct pool_fixture *f, const char *resource, const char *device)
{
	struct node_conflicts c;
	const struct pool_view *v;
	unsigned reasons;

	build(f, &c);
	v = pools_find(&f->pools, resource);
	reasons = node_conflicts_judge(&c, v, pool_view_offer(v, device));
	node_conflicts_done(&c);
	return reasons;
}

static unsigned judge(struct pool_fixture *f, const char *device)
{
	return judge_in(f, ROCE, device);
}

static void number(struct pool_fixture *f, const char *rdma, const char *uverbs)
{
	snprintf(find_rdma(&f->host, rdma)->uverbs, CHARDEV_NAME_SIZE, "%s", uverbs);
}

static void test_unchanged_numbers(void **state)
{
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	assert_int_equal(judge(f, "0000:03:00.1"), 0);
	assert_int_equal(judge(f, "0000:03:00.2"), 0);
}

static void test_swapped_numbers(void **state)
{
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	number(f, "mlx5_1", "uverbs2");
	number(f, "mlx5_2", "uverbs1");
	assert_int_equal(judge(f, "0000:03:00.1"), CHANGED);
	assert_int_equal(judge(f, "0000:03:00.2"), HELD);
	assert_int_equal(judge(f, "0000:03:00.3"), 0);
}

static void test_a_number_that_no_device_has(void **state)
{
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	number(f, "mlx5_1", "uverbs77");
	assert_int_equal(judge(f, "0000:03:00.1"), CHANGED);
}

/* The RDMA device is hidden in another namespace, or being reset. */
static void test_a_device_without_a_visible_node(void **state)
{
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	number(f, "mlx5_1", "");
	assert_int_equal(judge(f, "0000:03:00.1"), 0);
	number(f, "mlx5_2", "uverbs1");
	assert_int_equal(judge(f, "0000:03:00.1"), CHANGED);
	assert_int_equal(judge(f, "0000:03:00.2"), HELD);
}

/* In shared mode the host sees every RDMA device, so no device has the node. A pool that requires
 * RDMA reports it as no_rdma or no_chardev. */
static void test_a_node_that_was_removed(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = pool_of_all(f, POOL_EXCLUSIVE);

	number(f, "mlx5_1", "");
	assert_int_equal(judge(f, "0000:03:00.1"), 0);
	f->host.rdma_mode = RDMA_NETNS_SHARED;
	assert_int_equal(judge(f, "0000:03:00.1"), CHANGED);
	assert_int_equal(judge(f, "0000:03:00.2"), 0);
	p->selectors[0].is_rdma = true;
	assert_int_equal(judge(f, "0000:03:00.1"), 0);
	p->selectors[0].is_rdma = false;
	f->host.rdma_mode = RDMA_NETNS_EXCLUSIVE;
	assert_int_equal(judge(f, "0000:03:00.1"), 0);
}

/* The checkpoint still lists a pod that has ended. */
static void test_an_ended_pod_is_ignored(void **state)
{
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	pod_list_done(&f->held);
	hold(&f->held, ROCE, "0000:03:00.4");
	number(f, "mlx5_1", "uverbs2");
	number(f, "mlx5_2", "uverbs1");
	assert_int_equal(judge(f, "0000:03:00.1"), 0);
	assert_int_equal(judge(f, "0000:03:00.2"), 0);
}

/* The device was allocated again after the checkpoint was read. */
static void test_an_outdated_grant_is_ignored(void **state)
{
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	number(f, "mlx5_1", "uverbs2");
	number(f, "mlx5_2", "uverbs1");
	list.read_ms = 100;
	f->held.devices[0].reserved_ms = 101;
	assert_int_equal(judge(f, "0000:03:00.1"), 0);
	assert_int_equal(judge(f, "0000:03:00.2"), 0);
	list.read_ms = 101;
	assert_int_equal(judge(f, "0000:03:00.1"), CHANGED);
	assert_int_equal(judge(f, "0000:03:00.2"), HELD);
}

static void test_shared_nodes_have_no_owner(void **state)
{
	static const char *const all[] = {"infiniband/rdma_cm",
					  "infiniband",
					  "vfio/vfio",
					  "vhost-net",
					  "net/tun",
					  "null",
					  "rocelet/by-name/0000:03:00.1"};
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		give(ROCE, "0000:03:00.1", all[i]);
		assert_int_equal(judge(f, "0000:03:00.1"), 0);
	}
}

/* Without an IOMMU's isolation a group contains several functions. */
static void test_groups_of_user_space_drivers(void **state)
{
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	SET_TEXT(find_function(&f->host, "0000:03:00.1")->vfio, "vfio/12");
	SET_TEXT(find_function(&f->host, "0000:03:00.2")->vfio, "vfio/12");
	give(ROCE, "0000:03:00.1", "vfio/12");
	assert_int_equal(judge(f, "0000:03:00.1"), 0);
	assert_int_equal(judge(f, "0000:03:00.2"), 0);
	SET_TEXT(find_function(&f->host, "0000:03:00.1")->vfio, "vfio/13");
	assert_int_equal(judge(f, "0000:03:00.1"), CHANGED);
	assert_int_equal(judge(f, "0000:03:00.2"), HELD);
	give(ROCE, "0000:03:00.1", "vhost-vdpa-0");
	SET_TEXT(find_function(&f->host, "0000:03:00.3")->vdpa_node, "vhost-vdpa-0");
	assert_int_equal(judge(f, "0000:03:00.3"), HELD);
}

/* Slots share all HCAs of their pool, even if the HCAs' numbers and names change. */
static void test_slots_of_shared_pools(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_pool(&f->config, "a.b", "roce", POOL_SHARED_ALL);

	add_pf(add_selector(p), "eth4");
	add_word(&add_selector(p)->pci_addresses, "0000:03:00.1");
	p->ids = ID_NUMBER;
	p->slots = 2;
	hold(&f->held, ROCE, "1");
	give(ROCE, "1", "infiniband/uverbs5");
	assert_int_equal(judge(f, "1"), 0);
	number(f, "mlx5_5", "uverbs1");
	number(f, "mlx5_1", "uverbs5");
	assert_int_equal(judge(f, "1"), 0);
	/* The node now belongs to a VF outside of the pool. */
	number(f, "mlx5_1", "uverbs3");
	number(f, "mlx5_3", "uverbs5");
	assert_int_equal(judge(f, "1"), CHANGED);
	assert_int_equal(judge(f, "0"), 0);
}

/* Resources of another plugin, or of a pool that was removed from the configuration. */
static void test_resources_without_a_pool(void **state)
{
	struct pool_fixture *f = *state;

	pool_of_all(f, POOL_EXCLUSIVE);
	number(f, "mlx5_1", "uverbs2");
	number(f, "mlx5_2", "uverbs1");
	hold(&f->held, "x.y/z", "0000:03:00.1");
	hold(&f->held, "x.y/z", "GPU-1");
	give("x.y/z", "0000:03:00.1", "infiniband/uverbs1");
	assert_int_equal(judge(f, "0000:03:00.2"), HELD);
	give("x.y/z", "GPU-1", "infiniband/uverbs1");
	assert_int_equal(judge(f, "0000:03:00.2"), 0);
}

static int check(struct pool_fixture *f, const char *device, struct err *e)
{
	const char *all[] = {"0000:03:00.4", device};
	struct node_conflicts c;
	int r;

	*e = (struct err){0};
	build(f, &c);
	r = node_conflicts_check(&c, pools_find(&f->pools, ROCE), (struct id_list){all, 2}, e);
	node_conflicts_done(&c);
	return r;
}

static void test_a_container_that_starts(void **state)
{
	struct pool_fixture *f = *state;
	struct err e;

	pool_of_all(f, POOL_EXCLUSIVE);
	assert_int_equal(check(f, "0000:03:00.1", &e), 0);
	number(f, "mlx5_1", "uverbs77");
	assert_int_equal(check(f, "0000:03:00.1", &e), -ESTALE);
	assert_string_equal(e.msg, "0000:03:00.1: its container was given /dev/infiniband/uverbs1, "
				   "which is now no device's node; delete the pod, so that devices "
				   "are allocated to it again");
	number(f, "mlx5_2", "uverbs1");
	assert_int_equal(check(f, "0000:03:00.1", &e), -ESTALE);
	assert_non_null(strstr(e.msg, "which is now a node of 0000:03:00.2"));
	assert_int_equal(check(f, "0000:03:00.2", &e), -EBUSY);
	assert_string_equal(e.msg, "/dev/infiniband/uverbs1 of 0000:03:00.2 was given to pod "
				   "p for another device, and its containers may open it until "
				   "that pod has ended");
	assert_int_equal(check(f, "0000:03:00.3", &e), 0);
}

/* A pod has deleted the soft-RoCE device that was created for it. */
static void test_numbers_of_soft_roce(void **state)
{
	struct attach_record record = {.state = ATTACH_IN_POD,
				       .uverbs = "uverbs2",
				       .rdma_id = {.known = true, .index = 70},
				       .owner = {.namespace = "ns", .pod = "soft"}};
	const struct attach_status status = {.record = &record};
	struct pool_fixture *f = *state;
	const struct granted_list none = {0};
	const struct granted_input in = {&none, &f->pools, &f->host, &f->held, {&status, 1}};
	const char *two = "0000:03:00.2";
	const struct pool_view *v;
	struct node_conflicts c;
	struct err e = {0};

	pool_of_all(f, POOL_EXCLUSIVE);
	pool_fixture_build(f);
	find_rdma(&f->host, "mlx5_2")->index = 71;
	v = pools_find(&f->pools, ROCE);
	assert_int_equal(node_conflicts_build(&c, &in), 0);
	assert_int_equal(node_conflicts_judge(&c, v, pool_view_offer(v, two)), HELD);
	assert_int_equal(node_conflicts_judge(&c, v, pool_view_offer(v, "0000:03:00.1")), 0);
	assert_int_equal(node_conflicts_check(&c, v, (struct id_list){&two, 1}, &e), -EBUSY);
	assert_string_equal(e.msg, "/dev/infiniband/uverbs2 of 0000:03:00.2 was given to pod "
				   "ns/soft for another device, and its containers may open it "
				   "until that pod has ended");
	node_conflicts_done(&c);
	/* mlx5_2 has the index of the pod's device, so it is that device. */
	find_rdma(&f->host, "mlx5_2")->index = 70;
	assert_int_equal(node_conflicts_build(&c, &in), 0);
	assert_int_equal(c.n, 0);
	/* The pod has ended. */
	find_rdma(&f->host, "mlx5_2")->index = 71;
	record.state = ATTACH_FREE;
	assert_int_equal(node_conflicts_build(&c, &in), 0);
	assert_int_equal(c.n, 0);
}

static void test_out_of_memory(void **state)
{
	struct pool_fixture *f = *state;
	const struct granted_input in = {&list, &f->pools, &f->host, &f->held, {0}};
	struct node_conflicts c;

	pool_of_all(f, POOL_EXCLUSIVE);
	number(f, "mlx5_1", "uverbs77");
	pool_fixture_build(f);
	faults_alloc(0);
	assert_int_equal(node_conflicts_build(&c, &in), -ENOMEM);
	assert_true(faults_end());
	assert_int_equal(c.n, 0);
}

#define POOL_TEST(fn) cmocka_unit_test_setup_teardown(fn, pool_fixture_setup, pool_fixture_teardown)

TEST_GROUP(granted_nodes)
{
	const struct CMUnitTest tests[] = {
		POOL_TEST(test_unchanged_numbers),
		POOL_TEST(test_swapped_numbers),
		POOL_TEST(test_a_number_that_no_device_has),
		POOL_TEST(test_a_device_without_a_visible_node),
		POOL_TEST(test_a_node_that_was_removed),
		POOL_TEST(test_an_ended_pod_is_ignored),
		POOL_TEST(test_an_outdated_grant_is_ignored),
		POOL_TEST(test_shared_nodes_have_no_owner),
		POOL_TEST(test_groups_of_user_space_drivers),
		POOL_TEST(test_slots_of_shared_pools),
		POOL_TEST(test_resources_without_a_pool),
		POOL_TEST(test_a_container_that_starts),
		POOL_TEST(test_numbers_of_soft_roce),
		POOL_TEST(test_out_of_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
