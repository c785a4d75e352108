// SPDX-License-Identifier: Apache-2.0
/* Which functions each pool offers, why others are not offered, and what happens to held
 * devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "golden.h"
#include "pool_fixture.h"
#include "test_group.h"

/* --- matching --------------------------------------------------------------------------------- */

static void test_no_pools(void **state)
{
	struct pool_fixture *f = *state;

	pool_fixture_build(f);
	assert_string_equal(verdict_text_of(f, "0000:81:00.0"), "no pool");
	assert_null(verdict_on(f, "0000:81:00.0")->pool);
	pools_done(&f->pools);
	assert_int_equal(pools_build(&f->pools, &f->config, &(struct host){0}, NULL), 0);
}

static void test_an_exclusive_pool_offers_functions(void **state)
{
	struct pool_fixture *f = *state;
	const struct pool_view *v;

	add_word(&add_selector(add_pool(&f->config, "a.b", "roce", POOL_EXCLUSIVE))->vendors,
		 "15b3");
	pool_fixture_build(f);
	/* Without the PF that has VFs, with the other one. */
	assert_string_equal(offered_ids(f, 0), FIXTURE_VFS " 0000:81:00.0");
	v = pools_find(&f->pools, "a.b/roce");
	assert_ptr_equal(v, &f->pools.views[0]);
	assert_null(pools_find(&f->pools, "a.b/roc"));
	for (size_t i = 0; i < v->n_offers; i++) {
		assert_int_equal(v->offers[i].n_members, 1);
		assert_string_equal(v->members[v->offers[i].first_member], v->offers[i].id);
		assert_int_equal(v->offers[i].numa, i == 4);
	}
	assert_ptr_equal(pool_view_offer(v, "0000:81:00.0"), &v->offers[4]);
	assert_null(pool_view_offer(v, "0000:03:00.0"));
	assert_int_equal(v->hits[0], 6);
	assert_int_equal(verdict_on(f, "0000:03:00.0")->kind, VERDICT_HAS_VFS);
	assert_ptr_equal(verdict_on(f, "0000:03:00.0")->pool, v->pool);
	assert_int_equal(verdict_on(f, "0000:03:00.1")->kind, VERDICT_OFFERED);
	assert_string_equal(verdict_text_of(f, "0000:03:00.1"), "a.b/roce");
}

static void test_topology_can_be_left_out(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_pool(&f->config, "a.b", "roce", POOL_EXCLUSIVE);

	p->exclude_topology = true;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].offers[4].numa, -1);
}

static void test_a_sub_function_has_the_numa_node_of_its_pf(void **state)
{
	struct pool_fixture *f = *state;

	add_pool(&f->config, "a.b", "sf", POOL_EXCLUSIVE)->type = DEVICE_AUX_NET;
	build_function(&f->host, FN_SF, "mlx5_core.sf.2", "0000:81:00.0", 1);
	build_function(&f->host, FN_SF, "mlx5_core.sf.3", "0000:99:00.0", 1);
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "mlx5_core.sf.2 mlx5_core.sf.3");
	assert_int_equal(f->pools.views[0].offers[0].numa, 1);
	assert_int_equal(f->pools.views[0].offers[1].numa, -1);
}

static void test_the_first_matching_pool_gets_a_device(void **state)
{
	struct pool_fixture *f = *state;
	struct pool *p = add_pool(&f->config, "a.b", "two", POOL_EXCLUSIVE);

	add_word(&add_selector(p)->pci_addresses, "0000:03:00.2");
	add_word(&add_selector(p)->pci_addresses, "0000:03:00.3");
	add_pf(add_selector(add_pool(&f->config, "a.b", "rest", POOL_EXCLUSIVE)), "eth0");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0000:03:00.2 0000:03:00.3");
	assert_string_equal(offered_ids(f, 1), "0000:03:00.1 0000:03:00.4");
	assert_int_equal(f->pools.views[0].n_taken, 0);
	assert_int_equal(f->pools.views[1].n_taken, 2);
	assert_int_equal(f->pools.views[0].hits[0], 1);
	assert_int_equal(f->pools.views[0].hits[1], 1);
	assert_string_equal(verdict_text_of(f, "0000:03:00.2"), "a.b/two");
	assert_string_equal(verdict_text_of(f, "0000:03:00.1"), "a.b/rest");
	assert_int_equal(verdict_on(f, "0000:03:00.1")->why, WHY_NOT_NONE);
}

/* A second matching pool and one that does not match do not change the reason. */
static void test_the_reason_names_the_first_matching_pool(void **state)
{
	struct pool_fixture *f = *state;

	add_pf(add_selector(add_pool(&f->config, "a.b", "first", POOL_EXCLUSIVE)), "eth0");
	add_pf(add_selector(add_pool(&f->config, "a.b", "second", POOL_EXCLUSIVE)), "eth0");
	add_word(&add_selector(add_pool(&f->config, "a.b", "third", POOL_EXCLUSIVE))->if_names,
		 "eth4");
	pool_fixture_build(f);
	assert_int_equal(verdict_on(f, "0000:03:00.0")->why, WHY_NOT_NONE);
	assert_string_equal(verdict_text_of(f, "0000:03:00.0"),
			    "not offered: it has VFs (matches a.b/first)");
}

static void test_a_device_of_an_exclusive_pool_is_not_shared(void **state)
{
	struct pool_fixture *f = *state;

	add_pf(add_selector(add_pool(&f->config, "a.b", "vfs", POOL_EXCLUSIVE)), "eth0");
	add_pool(&f->config, "rdma", "all", POOL_SHARED_ALL)->slots = 1;
	add_pool(&f->config, "rdma", "more", POOL_SHARED_ALL)->slots = 1;
	add_pool(&f->config, "a.b", "late", POOL_EXCLUSIVE);
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), FIXTURE_VFS);
	/* Both shared pools may have the PF with VFs, neither may have the VFs. */
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(f->pools.views[i].n_members, 2);
		assert_string_equal(f->pools.views[i].members[0], "0000:03:00.0");
		assert_string_equal(f->pools.views[i].members[1], "0000:81:00.0");
		assert_int_equal(f->pools.views[i].n_taken, 4);
	}
	assert_string_equal(offered_ids(f, 3), "");
	assert_string_equal(verdict_text_of(f, "0000:81:00.0"), "rdma/all");
}

static void test_the_verdict_names_the_nearest_pool(void **state)
{
	struct pool_fixture *f = *state;
	struct selector *s;

	add_word(&add_selector(add_pool(&f->config, "a.b", "far", POOL_EXCLUSIVE))->vendors,
		 "8086");
	s = add_selector(add_pool(&f->config, "a.b", "near", POOL_EXCLUSIVE));
	add_word(&s->vendors, "15b3");
	add_word(&s->drivers, "vfio-pci");
	add_word(&add_selector(&f->config.pools[1])->vendors, "8086");
	add_word(&add_selector(add_pool(&f->config, "a.b", "far2", POOL_EXCLUSIVE))->vendors,
		 "8086");
	pool_fixture_build(f);
	assert_int_equal(verdict_on(f, "0000:03:00.1")->kind, VERDICT_NO_MATCH);
	assert_int_equal(verdict_on(f, "0000:03:00.1")->why, WHY_NOT_DRIVER);
	assert_string_equal(verdict_text_of(f, "0000:03:00.1"),
			    "no pool: a.b/near requires other drivers");
}

static void test_soft_roce_goes_to_shared_pools_or_by_name(void **state)
{
	struct pool_fixture *f = *state;

	build_function(&f->host, FN_VIRTUAL, "rxe0", "", 0);
	build_rdma(&f->host, "rxe0", "rxe0");
	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), FIXTURE_VFS " 0000:81:00.0");
	add_word(&add_selector(&f->config.pools[0])->rdma_names, "rxe0");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "rxe0");
	f->config.pools[0].kind = POOL_SHARED_ALL;
	f->config.pools[0].slots = 1;
	pool_fixture_build(f);
	assert_int_equal(f->pools.views[0].n_members, 1);
	assert_string_equal(f->pools.views[0].members[0], "rxe0");
}

/* --- held devices ----------------------------------------------------------------------------- */

static void test_held_devices_stay_in_their_pool(void **state)
{
	struct pool_fixture *f = *state;
	struct netdev *nd = find_netdev(&f->host, "v1");

	nd->nsid = 7;
	SET_TEXT(nd->name, "net1");
	add_word(&add_selector(add_pool(&f->config, "a.b", "first", POOL_EXCLUSIVE))->if_names,
		 "net1");
	add_word(&add_selector(add_pool(&f->config, "a.b", "v1", POOL_EXCLUSIVE))->if_names, "v1");
	hold(&f->held, "a.b/v1", "0000:03:00.2");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 1), "0000:03:00.2");
	assert_int_equal(verdict_on(f, "0000:03:00.2")->kind, VERDICT_KEPT);
	assert_string_equal(verdict_text_of(f, "0000:03:00.2"),
			    "a.b/v1, as long as a container holds it");
	/* Returned and free: now the device must match. */
	nd = find_netdev(&f->host, "net1");
	nd->nsid = NSID_HOST;
	SET_TEXT(nd->name, "v1");
	pool_fixture_build(f);
	assert_int_equal(verdict_on(f, "0000:03:00.2")->kind, VERDICT_OFFERED);
	pod_list_done(&f->held);
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 1), "0000:03:00.2");
}

static void test_held_devices_are_not_offered_by_another_pool(void **state)
{
	struct pool_fixture *f = *state;

	/* In the new configuration, an earlier pool matches the device. */
	add_pool(&f->config, "a.b", "new", POOL_EXCLUSIVE);
	add_pool(&f->config, "a.b", "old", POOL_EXCLUSIVE);
	add_pool(&f->config, "rdma", "all", POOL_SHARED_ALL)->slots = 1;
	hold(&f->held, "a.b/old", "0000:03:00.2");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0),
			    "0000:03:00.1 0000:03:00.3 0000:03:00.4 0000:81:00.0");
	assert_string_equal(offered_ids(f, 1), "0000:03:00.2");
	assert_int_equal(verdict_on(f, "0000:03:00.2")->kind, VERDICT_KEPT);
	assert_int_equal(f->pools.views[2].n_members, 1); /* the PF */
}

static void test_a_held_pf_with_new_vfs_or_a_route_stays_in_its_pool(void **state)
{
	struct pool_fixture *f = *state;

	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	hold(&f->held, "a.b/any", "0000:03:00.0");
	hold(&f->held, "a.b/any", "0000:81:00.0");
	find_netdev(&f->host, "eth4")->default_route = true;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0000:03:00.0 " FIXTURE_VFS " 0000:81:00.0");
	assert_int_equal(verdict_on(f, "0000:03:00.0")->kind, VERDICT_KEPT);
	assert_int_equal(verdict_on(f, "0000:81:00.0")->kind, VERDICT_KEPT);
}

/* Containers hold slots of a pool that was shared: the device is not offered as a whole
 * meanwhile. */
static void test_a_device_with_held_slots_is_not_offered(void **state)
{
	struct pool_fixture *f = *state;

	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	hold(&f->held, "a.b/shared", "mlx5_1-7");
	hold(&f->held, "a.b/shared", "mlx5_3-");   /* not a slot's ID */
	hold(&f->held, "a.b/shared", "mlx5_40-1"); /* a slot of another device */
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0),
			    "0000:03:00.2 0000:03:00.3 0000:03:00.4 0000:81:00.0");
	assert_string_equal(verdict_text_of(f, "0000:03:00.1"),
			    "not offered: a container holds it as a.b/shared");
}

static void test_a_device_held_as_an_unknown_resource_is_not_offered(void **state)
{
	struct pool_fixture *f = *state;

	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	add_pool(&f->config, "rdma", "all", POOL_SHARED_ALL)->slots = 1;
	hold(&f->held, "a.b/any", "0000:03:00.1");
	hold(&f->held, "intel.com/sriov", "0000:03:00.2");
	hold(&f->held, "nvidia.com/gpu", "GPU-1");
	/* The pool was exclusive before. */
	hold(&f->held, "rdma/all", "0000:03:00.3");
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0000:03:00.1 0000:03:00.4 0000:81:00.0");
	assert_string_equal(verdict_text_of(f, "0000:03:00.2"),
			    "not offered: a container holds it as intel.com/sriov");
	assert_int_equal(verdict_on(f, "0000:03:00.3")->kind, VERDICT_FOREIGN);
	assert_int_equal(f->pools.views[1].n_members, 1);
}

static void test_a_long_foreign_name_is_truncated(void **state)
{
	struct pool_fixture *f = *state;
	char name[RESOURCE_NAME_SIZE];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	hold(&f->held, name, "0000:03:00.2");
	pool_fixture_build(f);
	assert_int_equal(strlen(verdict_on(f, "0000:03:00.2")->detail),
			 sizeof(((struct verdict *)0)->detail) - 1);
}

static void test_held_devices_removed_from_the_bus(void **state)
{
	struct pool_fixture *f = *state;
	const struct pool_view *v;

	add_pf(add_selector(add_pool(&f->config, "a.b", "vfs", POOL_EXCLUSIVE)), "eth0");
	hold(&f->held, "a.b/vfs", "0000:03:00.7");
	hold(&f->held, "a.b/vfs", "0000:03:00.7"); /* by two containers of a pod */
	hold(&f->held, "a.b/vfs", "0000:03:00.3");
	hold(&f->held, "a.b/other", "0000:03:01.0");
	pool_fixture_build(f);
	v = &f->pools.views[0];
	assert_string_equal(offered_ids(f, 0), FIXTURE_VFS " !0000:03:00.7");
	assert_int_equal(v->offers[4].numa, -1);
	assert_string_equal(v->members[v->offers[4].first_member], "0000:03:00.7");
	assert_false(v->offers[2].gone);
}

static void test_free_devices_in_another_namespace_are_not_offered(void **state)
{
	struct pool_fixture *f = *state;

	f->host.namespaces = calloc(1, sizeof(*f->host.namespaces));
	assert_non_null(f->host.namespaces);
	f->host.n_namespaces = 1;
	f->host.namespaces[0] = (struct netns){5, "by-hand"};
	find_netdev(&f->host, "v1")->nsid = 5;
	find_netdev(&f->host, "v2")->nsid = NSID_ELSEWHERE;
	find_rdma(&f->host, "mlx5_4")->nsid = 5;
	/* A representor in another namespace does not hide the PF. */
	build_netdev(&f->host, "rep", "0000:81:00.0")->nsid = 5;
	SET_TEXT(find_netdev(&f->host, "rep")->port_name, "pf0vf1");
	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	/* The allocations are unknown, so any device may be held. */
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), FIXTURE_VFS " 0000:81:00.0");
	f->held.source = POD_SOURCE_API;
	pool_fixture_build(f);
	assert_string_equal(offered_ids(f, 0), "0000:03:00.1 0000:81:00.0");
	assert_string_equal(
		verdict_text_of(f, "0000:03:00.2"),
		"not offered: it is in network namespace by-hand, and no container holds it");
	assert_string_equal(
		verdict_text_of(f, "0000:03:00.3"),
		"not offered: it is in another network namespace, and no container holds it");
	assert_int_equal(verdict_on(f, "0000:03:00.4")->kind, VERDICT_ELSEWHERE);
	/* A device that rocelet has moved will return. */
	SET_TEXT(find_netdev(&f->host, "v2")->origin, "v2");
	pool_fixture_build(f);
	assert_int_equal(verdict_on(f, "0000:03:00.3")->kind, VERDICT_OFFERED);
	find_netdev(&f->host, "v2")->origin[0] = '\0';
	/* A held device may be in another namespace. */
	hold(&f->held, "a.b/any", "0000:03:00.2");
	pool_fixture_build(f);
	assert_int_equal(verdict_on(f, "0000:03:00.2")->kind, VERDICT_OFFERED);
}

/* --- all results ------------------------------------------------------------------------------ */

static void fill_explained(struct pool_fixture *f)
{
	struct pool *p = add_pool(&f->config, "rocelet.dev", "roce", POOL_EXCLUSIVE);

	add_pf(add_selector(p), "eth0");
	add_pf(add_selector(p), "eth77");
	p = add_pool(&f->config, "rdma", "hca", POOL_SHARED_ALL);
	p->slots = 1000;
	add_word(&add_selector(p)->if_names, "eth0");
	add_word(&p->selectors[0].if_names, "eth4");
	p = add_pool(&f->config, "rdma", "one", POOL_SHARED_ONE);
	p->slots = 70000;
	add_word(&add_selector(p)->if_names, "eth4");
	add_pool(&f->config, "rocelet.dev", "late", POOL_EXCLUSIVE)->slots = 0;
	add_word(&add_selector(&f->config.pools[3])->drivers, "mlx5_core");
	p = add_pool(&f->config, "rocelet.dev", "none", POOL_EXCLUSIVE);
	add_word(&add_selector(p)->vendors, "8086");
	p = add_pool(&f->config, "rdma", "few", POOL_SHARED_ONE);
	p->slots = 5;
	add_word(&add_selector(p)->if_names, "eth4");
	p = add_pool(&f->config, "rocelet.dev", "nothing", POOL_EXCLUSIVE);
	add_word(&add_selector(p)->vendors, "ffff");
	find_netdev(&f->host, "v0")->default_route = true;
	find_netdev(&f->host, "v2")->nsid = 5;
	build_function(&f->host, FN_PF, "10000:e1:00.0", "", 0)->vendor = 0x8086;
	find_function(&f->host, "10000:e1:00.0")->vfs = 8;
	build_function(&f->host, FN_PF, "0000:b1:00.0", "", 0)->vendor = 0x1af4;
	build_function(&f->host, FN_VF, "0000:03:00.5", "0000:03:00.0", 4);
	hold(&f->held, "rocelet.dev/none", "0000:03:00.2");
	hold(&f->held, "intel.com/x", "0000:03:00.4");
}

static void test_explanation(void **state)
{
	struct pool_fixture *f = *state;
	char *text;

	fill_explained(f);
	pool_fixture_build(f);
	text = pools_explain(&f->pools);
	assert_non_null(text);
	assert_golden_text("tests/golden/pools.txt", text, strlen(text));
	free(text);
}

static void test_same_in_same_out(void **state)
{
	struct pool_fixture *f = *state;
	char *first, *second;

	fill_explained(f);
	pool_fixture_build(f);
	first = pools_explain(&f->pools);
	pool_fixture_build(f);
	second = pools_explain(&f->pools);
	assert_non_null(first);
	assert_non_null(second);
	assert_string_equal(first, second);
	free(first);
	free(second);
}

static void test_any_allocation_may_fail(void **state)
{
	struct pool_fixture *f = *state;
	bool failed = true;
	unsigned n;

	fill_explained(f);
	f->config.pools[1].slots = 5;
	f->config.pools[2].slots = 5;
	hold(&f->held, "rocelet.dev/roce", "0000:03:00.7");
	hold(&f->held, "rdma/hca", "9");
	host_sort(&f->host);
	for (n = 0; failed; n++) {
		struct pools p;
		char *text;
		int r;

		faults_alloc(n);
		r = pools_build(&p, &f->config, &f->host, &f->held);
		text = r == 0 ? pools_explain(&p) : NULL;
		failed = faults_end();
		assert_true(r == 0 || r == -ENOMEM);
		assert_int_equal(failed, text == NULL);
		if (r < 0)
			assert_true(!p.views && !p.verdicts && p.n_views == 0 && p.n_verdicts == 0);
		pools_done(&p);
		free(text);
	}
	assert_in_range(n, 20, 200);
}

/* 8 PFs with 128 VFs each, as ten pools. */
static void build_large_node(struct pool_fixture *f)
{
	static char pfs[8][16];

	host_done(&f->host);
	for (int pf = 0; pf < 8; pf++) {
		char pf_id[32], id[32], name[32];
		struct function *fn;

		snprintf(pf_id, sizeof(pf_id), "0000:%02x:00.0", 0x10 * (pf + 1));
		snprintf(pfs[pf], sizeof(pfs[pf]), "eth%d", pf);
		build_function(&f->host, FN_PF, pf_id, "", 0)->vfs = 128;
		build_netdev(&f->host, pfs[pf], pf_id);
		for (int vf = 0; vf < 128; vf++) {
			snprintf(id, sizeof(id), "0000:%02x:%02x.%d", 0x10 * (pf + 1), (vf + 8) / 8,
				 vf % 8);
			fn = build_function(&f->host, FN_VF, id, pf_id, vf);
			fn->numa = pf / 4;
			fn->vendor = 0x15b3;
			snprintf(name, sizeof(name), "e%dv%d", pf, vf);
			build_netdev(&f->host, name, id);
			snprintf(name, sizeof(name), "mlx5_%d", pf * 128 + vf);
			build_rdma(&f->host, name, id);
		}
		add_pf(add_selector(add_pool(&f->config, "a.b", pfs[pf], POOL_EXCLUSIVE)), pfs[pf]);
	}
	add_word(&add_selector(add_pool(&f->config, "a.b", "late", POOL_EXCLUSIVE))->vendors,
		 "15b3");
	add_pool(&f->config, "rdma", "hca", POOL_SHARED_ALL)->slots = 1000;
}

static void test_a_thousand_functions(void **state)
{
	struct pool_fixture *f = *state;

	build_large_node(f);
	for (size_t i = 0; i < f->host.n_functions; i += 2)
		if (f->host.functions[i].kind == FN_VF)
			hold(&f->held, "a.b/eth3", f->host.functions[i].id);
	pool_fixture_build(f);
	assert_int_equal(f->pools.n_verdicts, 1032);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(f->pools.views[i].n_offers, i == 3 ? 128 / 2 * 9 : 64);
	assert_int_equal(f->pools.views[8].n_offers, 0);
	assert_int_equal(f->pools.views[8].n_taken, 1024);
	assert_int_equal(f->pools.views[9].n_offers, 0); /* PFs without an RDMA device */
}

/* --- a pool without devices ------------------------------------------------------------------- */

static void ignore_warning(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

/* Builds the one pool of the configuration `text` and compares the number of its members and the
 * beginning of its hint. */
static void assert_members(const struct pool_fixture *f, const char *text, size_t n,
			   const char *hint)
{
	struct pool_config config;
	struct pools pools;
	struct err e = {0};

	if (pool_config_parse(&config, text, strlen(text), "c.json", ignore_warning, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(pools_build(&pools, &config, &f->host, NULL), 0);
	assert_int_equal(pools.views[0].n_members, n);
	if (!*hint || strncmp(pools.views[0].hint, hint, strlen(hint)) != 0)
		assert_string_equal(pools.views[0].hint, hint);
	pools_done(&pools);
	pool_config_done(&config);
}

static void test_hints_list_what_exists(void **state)
{
	static const struct {
		const char *selectors, *hint;
	} cases[] = {
		{"\"pfNames\":[\"eth9\"]", "there is no PF eth9; there is eth0, eth4"},
		{"\"pfNames\":[\"eth0#8-9\"]", "no VF of eth0 has a number that is selected"},
		{"\"drivers\":[\"mlx5_ib\"]",
		 "there is no device with driver mlx5_ib; there is mlx5_core"},
		{"\"vendors\":[\"15b3\"],\"devices\":[\"ffff\"]", "there is no device id ffff"},
		{"\"ifNames\":[\"eth\"]", "there is no interface eth; there is eth0, v0"},
		{"\"rdmaNames\":[\"mlx5_9\",\"x\"]",
		 "there is no RDMA device mlx5_9, x; there is "},
		{"\"pfNames\":[\"eth4\"],\"ifNames\":[\"v0\"]",
		 "0000:03:00.1 matches interface v0, but the pool requires other PFs or VF numbers"},
		{"\"rootDevices\":[\"0000:99:00.0\"]",
		 "there is no PF 0000:99:00.0; there is 0000:03:00.0, 0000:81:00.0"},
		{"\"linkTypes\":[\"infiniband\"]",
		 "there is no link of type infiniband; there is ether"},
		{"\"vdpaType\":\"vhost\"",
		 "the pool requires another vDPA type, and there is none"},
		{"\"ifNames\":[\"eth0\"]",
		 "0000:03:00.0 is not offered: it has VFs (matches rocelet.dev/a)"},
	};
	struct pool_fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 "{\"pools\":[{\"resourceName\":\"a\",\"selectors\":{%s}}]}",
			 cases[i].selectors);
		assert_members(f, text, 0, cases[i].hint);
	}
	assert_members(f, "{\"pools\":[{\"resourceName\":\"a\",\"selectors\":{}}]}", 5, "");
	/* A sub-function is of another type and does not match any list. */
	build_function(&f->host, FN_SF, "mlx5_core.sf.2", "0000:81:00.0", 1);
	assert_members(
		f, "{\"pools\":[{\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"8086\"]}}]}",
		0, "there is no vendor 8086; there is 15b3");
}

/* A hint "there is no vendor 1ded" would be wrong: it names the filter that excludes these
 * devices. */
static void test_hints_name_the_filter_that_excludes_devices(void **state)
{
	static const struct {
		uint32_t class;
		const char *text, *hint;
	} cases[] = {
		{0x088000,
		 "{\"configList\":[{\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"1ded\"]}}]}",
		 "0000:c1:00.0, 0000:c1:00.1 match vendor 1ded, but the pool accepts only network controllers "
		 "(PCI class 02) unless \"subFunctions\" is true"},
		{0x120000,
		 "{\"resourceList\":[{\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"1ded\"]}}]}",
		 "0000:c1:00.0, 0000:c1:00.1 match vendor 1ded, but the pool accepts no accelerators (PCI "
		 "class 12), because its deviceType is netDevice"},
		{0x120000,
		 "{\"pools\":[{\"resourceName\":\"a\",\"selectors\":{\"drivers\":[\"erdma\"]}}]}",
		 "0000:c1:00.0, 0000:c1:00.1 match device with driver erdma, but the pool accepts no "
		 "accelerators"},
		{0x020000,
		 "{\"resourceList\":[{\"resourceName\":\"a\",\"deviceType\":\"accelerator\","
		 "\"selectors\":{\"vendors\":[\"1ded\"]}}]}",
		 "the pool accepts PCI class 12 only, because its deviceType is accelerator, and there is none"},
		{0x020000,
		 "{\"pools\":[{\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"15b3\"],"
		 "\"devices\":[\"107f\"]}}]}",
		 "0000:c1:00.0, 0000:c1:00.1 match device id 107f, but the pool requires other vendors"},
		{0x020000,
		 "{\"resourceList\":[{\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"15b3\"],"
		 "\"drivers\":[\"erdma\"]}}]}",
		 "0000:c1:00.0, 0000:c1:00.1 match device with driver erdma, but the pool requires other "
		 "vendors"},
		{0x020000,
		 "{\"configList\":[{\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"15b3\"],"
		 "\"drivers\":[\"erdma\"]}}]}",
		 "0000:c1:00.0, 0000:c1:00.1 match device with driver erdma, but the pool requires other "
		 "vendors"},
	};
	struct pool_fixture *f = *state;
	size_t n = f->host.n_functions;

	for (size_t i = 0; i < n; i++)
		f->host.functions[i].class = 0x020000;
	for (int k = 0; k < 2; k++) {
		struct function *fn = build_function(&f->host, FN_PF,
						     k ? "0000:c1:00.1" : "0000:c1:00.0", "", -1);

		fn->vendor = 0x1ded;
		fn->device = 0x107f;
		snprintf(fn->driver, sizeof(fn->driver), "erdma");
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t k = n; k < f->host.n_functions; k++)
			f->host.functions[k].class = cases[i].class;
		assert_members(f, cases[i].text, 0, cases[i].hint);
	}
}

/* Functions match, but a shared pool also needs their RDMA devices with all nodes. */
static void test_hints_name_missing_rdma_devices(void **state)
{
	struct pool_fixture *f = *state;
	const size_t n_rdma = f->host.n_rdma;

	for (size_t i = 0; i < f->host.n_functions; i++)
		f->host.functions[i].class = 0x020000;
	for (size_t i = 0; i < f->host.n_rdma; i++)
		f->host.rdma[i].umad[0] = '\0';
	assert_members(
		f,
		"{\"configList\":[{\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"15b3\"]}}]}",
		0,
		"the pool requires an RDMA device with its character devices, and there is none");
	f->host.n_rdma = 0;
	assert_members(
		f, "{\"pools\":[{\"resourceName\":\"a\",\"kind\":\"shared\",\"selectors\":{}}]}", 0,
		"the pool requires an RDMA device, and there is none");
	f->host.n_rdma = n_rdma; /* for the teardown */
}

/* k8s-rdma-shared-dev-plugin reads only PCI functions of class 02. */
static void test_a_config_list_has_no_sub_functions(void **state)
{
	static const char *const texts[] = {
		"{\"configList\":[{\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"15b3\"]}}]}",
		"{\"configList\":[{\"resourceName\":\"a\",\"subFunctions\":true,"
		"\"selectors\":{\"vendors\":[\"15b3\"]}}]}",
		"{\"pools\":[{\"resourceName\":\"a\",\"kind\":\"shared\",\"hcaPerSlot\":\"all\","
		"\"selectors\":{\"vendors\":[\"15b3\"]}}]}",
		"{\"pools\":[{\"resourceName\":\"a\",\"kind\":\"shared\",\"hcaPerSlot\":\"all\","
		"\"subFunctions\":false,\"selectors\":{\"vendors\":[\"15b3\"]}}]}",
	};
	struct pool_fixture *f = *state;

	for (size_t i = 0; i < f->host.n_functions; i++)
		f->host.functions[i].class = 0x020000;
	build_function(&f->host, FN_SF, "mlx5_core.sf.2", "0000:81:00.0", 1);
	build_rdma(&f->host, "mlx5_9", "mlx5_core.sf.2");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_members(f, texts[i], i == 0 || i == 3 ? 6 : 7, "");
	}
	f->host.functions[1].class = 0x120000;
	assert_members(f, texts[0], 5, "");
}

TEST_GROUP(pools)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pool_fixture_setup, pool_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_no_pools),
		TEST(test_an_exclusive_pool_offers_functions),
		TEST(test_topology_can_be_left_out),
		TEST(test_a_sub_function_has_the_numa_node_of_its_pf),
		TEST(test_the_first_matching_pool_gets_a_device),
		TEST(test_the_reason_names_the_first_matching_pool),
		TEST(test_a_device_of_an_exclusive_pool_is_not_shared),
		TEST(test_the_verdict_names_the_nearest_pool),
		TEST(test_soft_roce_goes_to_shared_pools_or_by_name),
		TEST(test_held_devices_stay_in_their_pool),
		TEST(test_held_devices_are_not_offered_by_another_pool),
		TEST(test_a_held_pf_with_new_vfs_or_a_route_stays_in_its_pool),
		TEST(test_a_device_held_as_an_unknown_resource_is_not_offered),
		TEST(test_a_device_with_held_slots_is_not_offered),
		TEST(test_a_long_foreign_name_is_truncated),
		TEST(test_held_devices_removed_from_the_bus),
		TEST(test_hints_list_what_exists),
		TEST(test_hints_name_the_filter_that_excludes_devices),
		TEST(test_hints_name_missing_rdma_devices),
		TEST(test_a_config_list_has_no_sub_functions),
		TEST(test_free_devices_in_another_namespace_are_not_offered),
		TEST(test_explanation),
		TEST(test_same_in_same_out),
		TEST(test_any_allocation_may_fail),
		TEST(test_a_thousand_functions),
	};

	return test_group_run(tests, NULL, NULL);
}
