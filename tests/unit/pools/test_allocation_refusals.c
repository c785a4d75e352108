// SPDX-License-Identifier: Apache-2.0
/* The errors of an allocation that is impossible, and of one without memory. */
#include "allocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocation_fixture.h"
#include "cleanup.h"
#include "failing_malloc.h"
#include "test_group.h"

static void test_errors_name_the_id(void **state)
{
	struct pool other = {.name = given.pool.name, .prefix = (char[]){"example.org"}};
	struct offer theirs[] = {{.id = "0000:99:00.1"}};
	struct pool_view views[] = {
		given.view, {.pool = &other, .offers = theirs, .n_offers = ARRAY_SIZE(theirs)}};
	struct pools pools = {.views = views, .n_views = 2};
	(void)state;

	assert_refused("0000:99:00.1", NULL, -ENOENT,
		       "intel.com/sriov has no device \"0000:99:00.1\"");
	given.in.pools = &pools;
	assert_refused("0000:99:00.1", NULL, -ENOENT,
		       "0000:99:00.1 belongs to example.org/sriov, not to intel.com/sriov");
	assert_refused("", NULL, -ENOENT, "intel.com/sriov has no device \"\"");
	assert_refused("\x01%s\xff\n\"", NULL, -ENOENT,
		       "intel.com/sriov has no device \"?%s??\"\"");
	assert_refused("0000:03:02.1", "0000:03:02.1", -EINVAL, "0000:03:02.1 is requested twice");

	given.absent = "infiniband/uverbs3";
	assert_refused("0000:03:02.1", "0000:03:04.3", -ENODEV,
		       "/dev/infiniband/uverbs3 of 0000:03:04.3 does not exist");
	given.absent = "vfio/12";
	assert_refused("0000:03:02.2", NULL, -ENODEV,
		       "/dev/vfio/12 of 0000:03:02.2 does not exist");
	given.absent = NULL;
	assert_refused("0000:06:00.0", NULL, -ENODEV, "0000:06:00.0 has no RDMA device");
	given.offers[1].gone = true;
	assert_refused("0000:03:02.1", NULL, -ENODEV, "0000:03:02.1 was removed");
	add_member("0000:77:00.0");
	add_offer("0000:77:00.0", given.view.n_members - 1, 1);
	assert_refused("0000:77:00.0", NULL, -ENODEV, "0000:77:00.0 was removed");
}

static void test_an_empty_or_too_long_list(void **state)
{
	static char long_id[100001];
	static const char *ids[200000];
	struct container_grant g;
	(void)state;

	assert_int_equal(allocation_grant(&g, &given.in, (struct id_list){NULL, 0}, &given.err),
			 -EINVAL);
	assert_string_equal(given.err.msg, "no device is requested");
	memset(long_id, 'x', sizeof(long_id) - 1);
	assert_int_equal(try_grant(&g, long_id, NULL), -ENOENT);
	assert_true(strlen(given.err.msg) < 128);
	/* The same IDs repeatedly: the request fails at the first one above the limit. */
	given.pool.selectors = &given.plain;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = given.host.functions[i % 4].id;
	assert_int_equal(
		allocation_check(&given.in, (struct id_list){ids, ARRAY_SIZE(ids)}, &given.err),
		-EINVAL);
}

static void test_a_missing_uverbs_node_of_the_device(void **state)
{
	(void)state;
	given.host.rdma[2].uverbs[0] = '\0';
	assert_refused("0000:03:04.3", NULL, -ENODEV,
		       "RDMA device mlx5_3 of 0000:03:04.3 has no uverbs node");
}

#ifdef CAN_FAIL
static int attempt_grant(void)
{
	struct container_grant g;
	int r = try_grant(&g, "0000:03:02.1", "0000:03:04.3");

	if (r < 0)
		assert_true(!g.nodes && !g.envs && !g.cdi_devices);
	container_grant_done(&g);
	return r;
}

static int attempt_device_info(void)
{
	char *json = NULL, *name = NULL;
	int r = allocation_device_info(&json, &name, &given.in, "0000:03:02.1");

	assert_true((r == 0) == (json && name));
	free(json);
	free(name);
	return r;
}

static int attempt_cdi_spec(void)
{
	char *json = NULL, *name = NULL;
	int r = allocation_cdi_spec(&json, &name, &given.in);

	assert_true((r == 0) == (json && name));
	free(json);
	free(name);
	return r;
}

static void test_every_allocation_may_fail(void **state)
{
	struct extra_info extra[] = {{(char[]){"*"}, (char[]){"k"}, (char[]){"v"}}};
	(void)state;

	given.pool.cdi = given.pool.umad = given.pool.issm = true;
	given.pool.extra = extra;
	given.pool.n_extra = 1;
	assert_true(fail_each_allocation(attempt_grant) > 50);
	assert_true(fail_each_allocation(attempt_device_info) > 30);
	assert_true(fail_each_allocation(attempt_cdi_spec) > 50);
}
#endif

TEST_GROUP(allocation_refusals)
{
	const struct CMUnitTest tests[] = {
		ALLOCATION_TEST(test_errors_name_the_id),
		ALLOCATION_TEST(test_an_empty_or_too_long_list),
		ALLOCATION_TEST(test_a_missing_uverbs_node_of_the_device),
#ifdef CAN_FAIL
		ALLOCATION_TEST(test_every_allocation_may_fail),
#endif
	};

	return test_group_run(tests, NULL, NULL);
}
