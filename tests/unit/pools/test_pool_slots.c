// SPDX-License-Identifier: Apache-2.0
/* Slots of shared pools: their number, their IDs, and their HCAs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <string.h>

#include "pool_fixture.h"
#include "test_group.h"

static struct pool *add_shared(struct pool_fixture *f, enum pool_kind kind, uint32_t slots)
{
	struct pool *p = add_pool(&f->config, "rdma", "hca", kind);
	struct selector *s = add_selector(p);

	p->slots = slots;
	add_word(&s->if_names, "eth0");
	add_word(&s->if_names, "eth4");
	return p;
}

static void test_a_slot_on_all_hcas(void **state)
{
	struct pool_fixture *f = *state;

	add_shared(f, POOL_SHARED_ALL, 3);
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0 1 2");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(f->pools.views[0].offers[i].first_member, 0);
		assert_int_equal(f->pools.views[0].offers[i].n_members, 2);
		assert_int_equal(f->pools.views[0].offers[i].numa, -1); /* 0 and 1 */
	}
	find_function(&f->host, "0000:03:00.0")->numa = 1;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].offers[2].numa, 1);
	find_function(&f->host, "0000:81:00.0")->numa = -1;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].offers[2].numa, -1);
}

static void test_a_slot_on_one_hca(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ONE, 2);

	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0 1 2 3");
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(f->pools.views[0].offers[i].first_member, i / 2);
		assert_int_equal(f->pools.views[0].offers[i].n_members, 1);
		assert_int_equal(f->pools.views[0].offers[i].numa, (int)i / 2);
	}
	p->ids = ID_DEVICE_SLOT;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "mlx5_0-0 mlx5_0-1 mlx5_5-0 mlx5_5-1");
	p->kind = POOL_SHARED_ALL; /* a slot is not of one HCA then */
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0 1");
}

/* Its slots follow the others', and their number is that of its own GID table. */
static void test_a_new_hca_renumbers_nothing(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ONE, 0);
	struct pool_view *v;

	find_rdma(&f->host, "mlx5_0")->ports[0].gid_table_len = 6; /* 2 slots */
	find_rdma(&f->host, "mlx5_5")->ports[0].gid_table_len = 8;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0 1 2 3 4");
	add_word(&p->selectors[0].if_names, "eth9");
	build_function(&f->host, FN_PF, "0000:a1:00.0", "", 0);
	build_netdev(&f->host, "eth9", "0000:a1:00.0");
	build_rdma(&f->host, "mlx5_9", "0000:a1:00.0")->ports[0].gid_table_len = 4;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0 1 2 3 4 5");
	v = &f->pools.views[0];
	assert_string_equal(v->members[v->offers[1].first_member], "0000:03:00.0");
	assert_string_equal(v->members[v->offers[4].first_member], "0000:81:00.0");
	assert_string_equal(v->members[v->offers[5].first_member], "0000:a1:00.0");
	assert_int_equal(v->gid_capacity, 6);
}

static void test_slots_from_the_gid_tables(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ALL, 0);

	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_offers, 63);
	assert_int_equal(f->pools.views[0].gid_capacity, 63);
	find_rdma(&f->host, "mlx5_5")->ports[0].gid_table_len = 32;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_offers, 15); /* of the smallest table */
	find_rdma(&f->host, "mlx5_5")->ports[0].gid_table_len = 1;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_offers, 1);
	find_rdma(&f->host, "mlx5_5")->ports[0].gid_table_len = 32;
	find_rdma(&f->host, "mlx5_0")->ports[0].gid_table_len = 0;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_offers, 15); /* of the table that is known */
	find_rdma(&f->host, "mlx5_5")->ports[0].link_layer = LINK_INFINIBAND;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_offers, POOL_SLOTS_DEFAULT);
	assert_int_equal(f->pools.views[0].gid_capacity, 0);
	p->kind = POOL_SHARED_ONE;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_offers, 2 * POOL_SLOTS_DEFAULT);
	find_rdma(&f->host, "mlx5_0")->ports[0].gid_table_len = 32;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].gid_capacity, 0); /* one of the two is unknown */
	assert_int_equal(f->pools.views[0].n_offers, 15 + POOL_SLOTS_DEFAULT);
	p->slots_given = true; /* "rdmaHcaMax": 0 */
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_offers, 0);
}

static void test_an_hca_needs_its_rdma_device(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ALL, 2);
	struct rdma_dev *rd = find_rdma(&f->host, "mlx5_0");

	find_rdma(&f->host, "mlx5_5")->uverbs[0] = '\0';
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_members, 1);
	assert_int_equal(verdict_on(f, "0000:81:00.0")->why, WHY_NOT_CHARDEV);
	assert_int_equal(f->pools.views[0].hits[0], 1);
	rd->umad[0] = '\0';
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_members, 1);
	p->require_umad = true;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "");
	p->require_umad = false;
	rd->nsid = 4;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "");
	assert_int_equal(verdict_on(f, "0000:03:00.0")->why, WHY_NOT_RDMA);
	p->fixed_slots = true; /* slots without an HCA */
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0 1");
	assert_false(f->pools.views[0].offers[0].gone);
	p->kind = POOL_SHARED_ONE;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0 1");
	assert_int_equal(f->pools.views[0].offers[1].n_members, 0);
	p->ids = ID_DEVICE_SLOT; /* IDs of fixed slots cannot name an HCA */
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "");
}

static void test_a_name_too_long_for_an_id(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ONE, 1);
	struct rdma_dev *rd = find_rdma(&f->host, "mlx5_0");

	p->ids = ID_DEVICE_SLOT;
	memset(rd->name, 'n', 57);
	rd->name[57] = '\0';
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_offers, 2);
	rd = NULL;
	for (size_t i = 0; i < f->host.n_rdma; i++)
		if (f->host.rdma[i].name[0] == 'n')
			rd = &f->host.rdma[i];
	assert_non_null(rd);
	strcat(rd->name, "n");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "mlx5_5-0");
	assert_int_equal(verdict_on(f, "0000:03:00.0")->why, WHY_NOT_LONG_NAME);
	p->ids = ID_NUMBER;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0 1");
}

static void test_the_number_of_slots_is_limited_by_the_message_size(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ONE, 4000000000u);
	const struct pool_view *v;

	p->ids = ID_DEVICE_SLOT;
	pool_fixture_build(f);
	v = &f->pools.views[0];
	assert_int_equal(v->n_offers, POOL_SLOTS_MAX);
	assert_int_equal(v->n_wanted, 8000000000);
	assert_string_equal(v->offers[POOL_SLOTS_MAX - 1].id, "mlx5_0-65535");
}

static void test_held_slots_are_kept(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ALL, 2);

	hold(&f->held, "rdma/hca", "1");
	hold(&f->held, "rdma/hca", "7");
	pool_fixture_build(f);
	/* A container still holds a slot of an earlier configuration with more slots. */
	assert_string_equal(offered_ids(f, 0), "0 1 7");
	assert_int_equal(f->pools.views[0].offers[2].n_members, 2);
	p->kind = POOL_SHARED_ONE;
	p->ids = ID_DEVICE_SLOT;
	pod_list_done(&f->held);
	hold(&f->held, "rdma/hca", "mlx5_5-7");
	hold(&f->held, "rdma/hca", "mlx5_55-1");
	hold(&f->held, "rdma/hca", "mlx5_59");
	hold(&f->held, "rdma/hca", "mlx5_0-1-1");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0),
			    "mlx5_0-0 mlx5_0-1 mlx5_5-0 mlx5_5-1 !mlx5_0-1-1 mlx5_5-7 "
			    "!mlx5_55-1 !mlx5_59");
	assert_int_equal(f->pools.views[0].offers[5].first_member, 1);
	assert_int_equal(f->pools.views[0].offers[5].numa, 1);
	/* No HCA matches any more. */
	add_word(&p->selectors[0].vendors, "8086");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "!mlx5_0-1-1 !mlx5_5-7 !mlx5_55-1 !mlx5_59");
}

TEST_GROUP(pool_slots)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pool_fixture_setup, pool_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_a_slot_on_all_hcas),
		TEST(test_a_slot_on_one_hca),
		TEST(test_a_new_hca_renumbers_nothing),
		TEST(test_slots_from_the_gid_tables),
		TEST(test_an_hca_needs_its_rdma_device),
		TEST(test_a_name_too_long_for_an_id),
		TEST(test_the_number_of_slots_is_limited_by_the_message_size),
		TEST(test_held_slots_are_kept),
	};

	return test_group_run(tests, NULL, NULL);
}
