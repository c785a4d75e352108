// SPDX-License-Identifier: Apache-2.0
/* GIDs that reappear at another index of the table. */
#include "gid_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "model.h"
#include "test_group.h"

static struct gid_places places;

/* An IPv4 address as RoCE v1 and v2, at consecutive indices. */
static void see(uint32_t index, uint64_t now_ms)
{
	struct gid gids[] = {{.index = index, .raw = {[15] = 1}, .type = GID_ROCE_V1},
			     {.index = index + 1, .raw = {[15] = 1}, .type = GID_ROCE_V2}};
	const struct rdma_port port = {.n_gids = 2, .gids = gids};

	gid_places_see(&places, &port, now_ms);
}

static void see_none(uint64_t now_ms)
{
	const struct rdma_port port = {.n_gids = 0};

	gid_places_see(&places, &port, now_ms);
}

static int teardown(void **state)
{
	(void)state;
	gid_places_done(&places);
	return 0;
}

static void a_gid_at_the_same_index_has_not_moved(void **state)
{
	(void)state;
	see(2, 1000);
	see(2, 2000);
	see_none(3000);
	see(2, 4000);
	assert_false(gid_places_moved(&places, 4000));
}

/* Detected even if the GID was absent meanwhile, and reported for a minute. */
static void a_gid_at_another_index_has_moved(void **state)
{
	(void)state;
	see(2, 1000);
	see_none(2000);
	see(3, 3000);
	assert_true(gid_places_moved(&places, 3000));
	see(3, 4000);
	assert_true(gid_places_moved(&places, 62999));
	assert_false(gid_places_moved(&places, 63000));
}

/* A node that keeps adding and removing addresses must not need ever more memory. */
static void memory_is_bounded(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		struct gid gid = {.index = 1, .raw = {(uint8_t)i, (uint8_t)(i >> 8)}};
		const struct rdma_port port = {.n_gids = 1, .gids = &gid};

		gid_places_see(&places, &port, 1000 + i);
	}
	assert_in_range(places.n, 1, 256);
	assert_false(gid_places_moved(&places, 20000));
}

TEST_GROUP(gid_places)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_gid_at_the_same_index_has_not_moved, teardown),
		cmocka_unit_test_teardown(a_gid_at_another_index_has_moved, teardown),
		cmocka_unit_test_teardown(memory_is_bounded, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
