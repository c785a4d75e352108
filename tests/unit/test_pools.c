/* Which functions each pool offers, why others are not offered, and what containers hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "faults.h"
#include "golden.h"
#include "host_builder.h"
#include "pools.h"

#define SET(dst, src) snprintf((dst), sizeof(dst), "%s", (src))
#define TEXT(s)	      ((char *)(uintptr_t)(s))

/* --- configurations and hosts ------------------------------------------------------------------
 */

static struct pool *add_pool(struct pool_config *c, const char *prefix, const char *name,
			     enum pool_kind kind)
{
	struct pool *p = array_push(c->pools, c->n_pools);

	assert_non_null(p);
	*p = (struct pool){.name = TEXT(name),
			   .prefix = TEXT(prefix),
			   .kind = kind,
			   .ids = kind == POOL_EXCLUSIVE ? ID_FUNCTION : ID_NUMBER};
	return p;
}

static struct selector *add_selector(struct pool *p)
{
	struct selector *s = array_push(p->selectors, p->n_selectors);

	assert_non_null(s);
	return s;
}

static void add_word(struct word_list *l, const char *word)
{
	char **w = array_push(l->words, l->n);

	assert_non_null(w);
	*w = TEXT(word);
}

static void add_pf(struct selector *s, const char *name)
{
	struct pf_selector *pf = array_push(s->pf_names.list, s->pf_names.n);

	assert_non_null(pf);
	pf->name = TEXT(name);
}

static void free_selector(struct selector *s)
{
	free(s->vendors.words);
	free(s->drivers.words);
	free(s->pci_addresses.words);
	free(s->if_names.words);
	free(s->rdma_names.words);
	free(s->pf_names.list);
}

static void free_config(struct pool_config *c)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		for (size_t j = 0; j < c->pools[i].n_selectors; j++)
			free_selector(&c->pools[i].selectors[j]);
		free(c->pools[i].selectors);
	}
	free(c->pools);
	*c = (struct pool_config){0};
}

static void hold(struct pod_list *l, const char *resource, const char *id)
{
	struct pod_device *d = array_push(l->devices, l->n);

	assert_non_null(d);
	SET(d->resource, resource);
	SET(d->id, id);
	SET(d->pod, "p");
	l->source = POD_SOURCE_API;
	pod_list_sort(l);
}

/* Two PFs. eth0 has VFs v0 .. v3 (netdevs and RDMA devices of their own), eth4 has none. */
static void build_node(struct host *h)
{
	struct function *f = build_function(h, FN_PF, "0000:03:00.0", "", 0);
	char id[32], name[32];

	f->vfs = 4;
	f->vendor = 0x15b3;
	f->numa = 0;
	build_netdev(h, "eth0", f->id);
	build_rdma(h, "mlx5_0", f->id);
	for (int i = 0; i < 4; i++) {
		snprintf(id, sizeof(id), "0000:03:00.%d", i + 1);
		f = build_function(h, FN_VF, id, "0000:03:00.0", i);
		f->vendor = 0x15b3;
		f->numa = 0;
		SET(f->driver, "mlx5_core");
		snprintf(name, sizeof(name), "v%d", i);
		build_netdev(h, name, id);
		snprintf(name, sizeof(name), "mlx5_%d", i + 1);
		build_rdma(h, name, id);
	}
	f = build_function(h, FN_PF, "0000:81:00.0", "", 0);
	f->vendor = 0x15b3;
	f->numa = 1;
	build_netdev(h, "eth4", f->id);
	build_rdma(h, "mlx5_5", f->id);
}

struct fixture {
	struct host host;
	struct pool_config config;
	struct pod_list held;
	struct pools pools;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	build_node(&f->host);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	pools_done(&f->pools);
	free_config(&f->config);
	pod_list_done(&f->held);
	host_done(&f->host);
	free(f);
	return 0;
}

static void build(struct fixture *f)
{
	pools_done(&f->pools);
	host_sort(&f->host);
	assert_int_equal(pools_build(&f->pools, &f->config, &f->host, &f->held), 0);
	assert_int_equal(f->pools.n_views, f->config.n_pools);
	assert_int_equal(f->pools.n_verdicts, f->host.n_functions);
}

/* The IDs of a pool, "!" before one that is gone. */
static const char *ids(const struct fixture *f, size_t pool)
{
	static char text[2048];
	const struct pool_view *v = &f->pools.views[pool];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < v->n_offers; i++) {
		const struct offer *o = &v->offers[i];

		assert_true(o->first_member + o->n_members <= v->n_members);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", n ? " " : "",
				      o->gone ? "!" : "", o->id);
		assert_true(n < sizeof(text));
	}
	return text;
}

static const struct verdict *verdict(const struct fixture *f, const char *function)
{
	for (size_t i = 0; i < f->pools.n_verdicts; i++)
		if (strcmp(f->pools.verdicts[i].function, function) == 0)
			return &f->pools.verdicts[i];
	fail_msg("no verdict about %s", function);
	return NULL;
}

static const char *said(const struct fixture *f, const char *function)
{
	static char text[512];

	verdict_text(verdict(f, function), text, sizeof(text));
	return text;
}

#define VFS "0000:03:00.1 0000:03:00.2 0000:03:00.3 0000:03:00.4"

/* --- who gets what -----------------------------------------------------------------------------
 */

static void test_no_pools(void **state)
{
	struct fixture *f = *state;

	build(f);
	assert_string_equal(said(f, "0000:81:00.0"), "no pool");
	assert_null(verdict(f, "0000:81:00.0")->pool);
	assert_int_equal(pools_build(&f->pools, &f->config, &(struct host){0}, NULL), 0);
}

static void test_an_exclusive_pool_offers_functions(void **state)
{
	struct fixture *f = *state;
	const struct pool_view *v;

	add_word(&add_selector(add_pool(&f->config, "a.b", "roce", POOL_EXCLUSIVE))->vendors,
		 "15b3");
	build(f);
	/* The PF with VFs is not among them, the one without is. */
	assert_string_equal(ids(f, 0), VFS " 0000:81:00.0");
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
	assert_int_equal(verdict(f, "0000:03:00.0")->kind, VERDICT_HAS_VFS);
	assert_ptr_equal(verdict(f, "0000:03:00.0")->pool, v->pool);
	assert_int_equal(verdict(f, "0000:03:00.1")->kind, VERDICT_OFFERED);
	assert_string_equal(said(f, "0000:03:00.1"), "a.b/roce");
}

static void test_topology_can_be_left_out(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_pool(&f->config, "a.b", "roce", POOL_EXCLUSIVE);

	p->exclude_topology = true;
	build(f);
	assert_int_equal(f->pools.views[0].offers[4].numa, -1);
}

static void test_a_sub_function_has_the_numa_node_of_its_pf(void **state)
{
	struct fixture *f = *state;

	add_pool(&f->config, "a.b", "sf", POOL_EXCLUSIVE)->type = DEVICE_AUX_NET;
	build_function(&f->host, FN_SF, "mlx5_core.sf.2", "0000:81:00.0", 1);
	build_function(&f->host, FN_SF, "mlx5_core.sf.3", "0000:99:00.0", 1);
	build(f);
	assert_string_equal(ids(f, 0), "mlx5_core.sf.2 mlx5_core.sf.3");
	assert_int_equal(f->pools.views[0].offers[0].numa, 1);
	assert_int_equal(f->pools.views[0].offers[1].numa, -1);
}

static void test_the_first_pool_that_matches_takes_it(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_pool(&f->config, "a.b", "two", POOL_EXCLUSIVE);

	add_word(&add_selector(p)->pci_addresses, "0000:03:00.2");
	add_word(&add_selector(p)->pci_addresses, "0000:03:00.3");
	add_pf(add_selector(add_pool(&f->config, "a.b", "rest", POOL_EXCLUSIVE)), "eth0");
	build(f);
	assert_string_equal(ids(f, 0), "0000:03:00.2 0000:03:00.3");
	assert_string_equal(ids(f, 1), "0000:03:00.1 0000:03:00.4");
	assert_int_equal(f->pools.views[0].n_taken, 0);
	assert_int_equal(f->pools.views[1].n_taken, 2);
	assert_int_equal(f->pools.views[0].hits[0], 1);
	assert_int_equal(f->pools.views[0].hits[1], 1);
	assert_string_equal(said(f, "0000:03:00.2"), "a.b/two");
}

static void test_a_shared_pool_and_an_exclusive_one_do_not_share(void **state)
{
	struct fixture *f = *state;

	add_pf(add_selector(add_pool(&f->config, "a.b", "vfs", POOL_EXCLUSIVE)), "eth0");
	add_pool(&f->config, "rdma", "all", POOL_SHARED_ALL)->slots = 1;
	add_pool(&f->config, "rdma", "more", POOL_SHARED_ALL)->slots = 1;
	add_pool(&f->config, "a.b", "late", POOL_EXCLUSIVE);
	build(f);
	assert_string_equal(ids(f, 0), VFS);
	/* The PF with VFs may be shared, and by both; the VFs not. */
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(f->pools.views[i].n_members, 2);
		assert_string_equal(f->pools.views[i].members[0], "0000:03:00.0");
		assert_string_equal(f->pools.views[i].members[1], "0000:81:00.0");
		assert_int_equal(f->pools.views[i].n_taken, 4);
	}
	assert_string_equal(ids(f, 3), "");
	assert_string_equal(said(f, "0000:81:00.0"), "rdma/all");
}

static void test_the_verdict_names_the_nearest_pool(void **state)
{
	struct fixture *f = *state;
	struct selector *s;

	add_word(&add_selector(add_pool(&f->config, "a.b", "far", POOL_EXCLUSIVE))->vendors,
		 "8086");
	s = add_selector(add_pool(&f->config, "a.b", "near", POOL_EXCLUSIVE));
	add_word(&s->vendors, "15b3");
	add_word(&s->drivers, "vfio-pci");
	add_word(&add_selector(&f->config.pools[1])->vendors, "8086");
	add_word(&add_selector(add_pool(&f->config, "a.b", "far2", POOL_EXCLUSIVE))->vendors,
		 "8086");
	build(f);
	assert_int_equal(verdict(f, "0000:03:00.1")->kind, VERDICT_NO_MATCH);
	assert_int_equal(verdict(f, "0000:03:00.1")->why, WHY_NOT_DRIVER);
	assert_string_equal(said(f, "0000:03:00.1"), "no pool: a.b/near wants other drivers");
}

static void test_soft_roce_goes_to_shared_pools_or_by_name(void **state)
{
	struct fixture *f = *state;

	build_function(&f->host, FN_VIRTUAL, "rxe0", "", 0);
	build_rdma(&f->host, "rxe0", "rxe0");
	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	build(f);
	assert_string_equal(ids(f, 0), VFS " 0000:81:00.0");
	add_word(&add_selector(&f->config.pools[0])->rdma_names, "rxe0");
	build(f);
	assert_string_equal(ids(f, 0), "rxe0");
	f->config.pools[0].kind = POOL_SHARED_ALL;
	f->config.pools[0].slots = 1;
	build(f);
	assert_int_equal(f->pools.views[0].n_members, 1);
	assert_string_equal(f->pools.views[0].members[0], "rxe0");
}

/* --- default routes ----------------------------------------------------------------------------
 */

static struct netdev *add_virtual(struct host *h, const char *kind, const char *name)
{
	struct netdev *nd = build_netdev(h, name, "");

	SET(nd->kind, kind);
	return nd;
}

static struct netdev *add_vlan(struct host *h, const char *name, const char *lower)
{
	int ifindex = find_netdev(h, lower)->ifindex;
	struct netdev *nd = add_virtual(h, "vlan", name);

	nd->lower = ifindex;
	return nd;
}

static void expect_route(struct fixture *f, const char *route, const char *want)
{
	find_netdev(&f->host, route)->default_route = true;
	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	build(f);
	assert_string_equal(ids(f, 0), want);
}

static void test_default_route_itself(void **state)
{
	struct fixture *f = *state;

	expect_route(f, "eth4", VFS);
	assert_int_equal(verdict(f, "0000:81:00.0")->kind, VERDICT_DEFAULT_ROUTE);
	assert_string_equal(said(f, "0000:81:00.0"),
			    "not offered: carries the default route (eth4)");
	/* A shared pool takes nothing from the host. */
	f->config.pools[0].kind = POOL_SHARED_ONE;
	build(f);
	assert_int_equal(f->pools.views[0].n_members, 6);
}

static void test_default_route_of_a_pf_does_not_bar_its_vfs(void **state)
{
	struct fixture *f = *state;

	find_function(&f->host, "0000:03:00.0")->vfs = 0;
	expect_route(f, "eth0", VFS " 0000:81:00.0");
}

static void test_default_route_over_a_bond(void **state)
{
	struct fixture *f = *state;

	add_virtual(&f->host, "bond", "bond0");
	build_master(&f->host, "bond0", "v1");
	build_master(&f->host, "bond0", "eth4");
	expect_route(f, "bond0", "0000:03:00.1 0000:03:00.3 0000:03:00.4");
	assert_string_equal(said(f, "0000:03:00.2"),
			    "not offered: carries the default route (bond0)");
	/* A member alone is none. */
	find_netdev(&f->host, "bond0")->default_route = false;
	build(f);
	assert_string_equal(ids(f, 0), VFS " 0000:81:00.0");
}

static void test_default_route_over_vlan_bridge_and_bond(void **state)
{
	struct fixture *f = *state;

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
	assert_string_equal(verdict(f, "0000:03:00.1")->detail, "br0.7");
}

static void test_default_route_through_open_vswitch(void **state)
{
	struct fixture *f = *state;

	add_virtual(&f->host, "openvswitch", "ovs-system");
	add_virtual(&f->host, "openvswitch", "br-ex");
	add_virtual(&f->host, "bridge", "br0");
	build_master(&f->host, "ovs-system", "eth4");
	build_master(&f->host, "br0", "v0");
	expect_route(f, "br-ex", VFS);
}

/* The peer of a pair may have the index of something else, in another namespace. */
static void test_default_route_does_not_follow_a_pair(void **state)
{
	struct fixture *f = *state;
	int ifindex = find_netdev(&f->host, "v0")->ifindex;

	add_virtual(&f->host, "veth", "veth0")->lower = ifindex;
	expect_route(f, "veth0", VFS " 0000:81:00.0");
}

static void test_default_route_in_the_host_only(void **state)
{
	struct fixture *f = *state;
	struct netdev *nd = find_netdev(&f->host, "v1");

	/* A netdev elsewhere, its master's index there, and the same index here. */
	add_virtual(&f->host, "bond", "bond0");
	nd->nsid = 3;
	nd->master = find_netdev(&f->host, "bond0")->ifindex;
	nd->default_route = true;
	f->held.source = POD_SOURCE_NONE;
	expect_route(f, "bond0", VFS " 0000:81:00.0");
}

static void test_default_route_under_soft_roce(void **state)
{
	struct fixture *f = *state;
	struct rdma_dev *rd;

	add_virtual(&f->host, "bridge", "br0");
	build_function(&f->host, FN_VIRTUAL, "rxe0", "", 0);
	rd = build_rdma(&f->host, "rxe0", "rxe0");
	rd->ports[0].netdev_nsid = NSID_HOST;
	rd->ports[0].netdev_ifindex = find_netdev(&f->host, "br0")->ifindex;
	add_word(&add_selector(add_pool(&f->config, "a.b", "rxe", POOL_EXCLUSIVE))->rdma_names,
		 "rxe0");
	build(f);
	assert_string_equal(ids(f, 0), "rxe0");
	find_netdev(&f->host, "br0")->default_route = true;
	build(f);
	assert_string_equal(ids(f, 0), "");
}

static void test_a_loop_of_masters_ends(void **state)
{
	struct fixture *f = *state;

	add_virtual(&f->host, "bridge", "br0");
	add_virtual(&f->host, "bridge", "br1");
	build_master(&f->host, "br0", "br1");
	build_master(&f->host, "br1", "br0");
	build_master(&f->host, "br1", "eth4");
	expect_route(f, "br0", VFS);
}

/* --- what containers hold ----------------------------------------------------------------------
 */

static void test_what_is_held_stays(void **state)
{
	struct fixture *f = *state;
	struct netdev *nd = find_netdev(&f->host, "v1");

	nd->nsid = 7;
	SET(nd->name, "net1");
	add_word(&add_selector(add_pool(&f->config, "a.b", "first", POOL_EXCLUSIVE))->if_names,
		 "net1");
	add_word(&add_selector(add_pool(&f->config, "a.b", "v1", POOL_EXCLUSIVE))->if_names, "v1");
	hold(&f->held, "a.b/v1", "0000:03:00.2");
	build(f);
	assert_string_equal(ids(f, 1), "0000:03:00.2");
	assert_int_equal(verdict(f, "0000:03:00.2")->kind, VERDICT_KEPT);
	assert_string_equal(said(f, "0000:03:00.2"), "a.b/v1, as long as a container holds it");
	/* Back and free: it matches by itself. */
	nd = find_netdev(&f->host, "net1");
	nd->nsid = NSID_HOST;
	SET(nd->name, "v1");
	build(f);
	assert_int_equal(verdict(f, "0000:03:00.2")->kind, VERDICT_OFFERED);
	pod_list_done(&f->held);
	build(f);
	assert_string_equal(ids(f, 1), "0000:03:00.2");
}

static void test_what_is_held_is_not_given_twice(void **state)
{
	struct fixture *f = *state;

	/* The configuration has changed: an earlier pool would take it now. */
	add_pool(&f->config, "a.b", "new", POOL_EXCLUSIVE);
	add_pool(&f->config, "a.b", "old", POOL_EXCLUSIVE);
	add_pool(&f->config, "rdma", "all", POOL_SHARED_ALL)->slots = 1;
	hold(&f->held, "a.b/old", "0000:03:00.2");
	build(f);
	assert_string_equal(ids(f, 0), "0000:03:00.1 0000:03:00.3 0000:03:00.4 0000:81:00.0");
	assert_string_equal(ids(f, 1), "0000:03:00.2");
	assert_int_equal(verdict(f, "0000:03:00.2")->kind, VERDICT_KEPT);
	assert_int_equal(f->pools.views[2].n_members, 1); /* the PF */
}

static void test_a_held_pf_that_got_vfs_or_a_route_stays(void **state)
{
	struct fixture *f = *state;

	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	hold(&f->held, "a.b/any", "0000:03:00.0");
	hold(&f->held, "a.b/any", "0000:81:00.0");
	find_netdev(&f->host, "eth4")->default_route = true;
	build(f);
	assert_string_equal(ids(f, 0), "0000:03:00.0 " VFS " 0000:81:00.0");
	assert_int_equal(verdict(f, "0000:03:00.0")->kind, VERDICT_KEPT);
	assert_int_equal(verdict(f, "0000:81:00.0")->kind, VERDICT_KEPT);
}

static void test_a_resource_of_nobody_here_keeps_its_device(void **state)
{
	struct fixture *f = *state;

	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	add_pool(&f->config, "rdma", "all", POOL_SHARED_ALL)->slots = 1;
	hold(&f->held, "intel.com/sriov", "0000:03:00.2");
	hold(&f->held, "nvidia.com/gpu", "GPU-1");
	/* The pool used to be exclusive. */
	hold(&f->held, "rdma/all", "0000:03:00.3");
	build(f);
	assert_string_equal(ids(f, 0), "0000:03:00.1 0000:03:00.4 0000:81:00.0");
	assert_string_equal(said(f, "0000:03:00.2"),
			    "not offered: a container holds it as intel.com/sriov");
	assert_int_equal(verdict(f, "0000:03:00.3")->kind, VERDICT_FOREIGN);
	assert_int_equal(f->pools.views[1].n_members, 1);
}

static void test_a_long_foreign_name_is_cut(void **state)
{
	struct fixture *f = *state;
	char name[RESOURCE_NAME_SIZE];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	hold(&f->held, name, "0000:03:00.2");
	build(f);
	assert_int_equal(strlen(verdict(f, "0000:03:00.2")->detail),
			 sizeof(((struct verdict *)0)->detail) - 1);
}

static void test_what_left_the_bus_is_gone(void **state)
{
	struct fixture *f = *state;
	const struct pool_view *v;

	add_pf(add_selector(add_pool(&f->config, "a.b", "vfs", POOL_EXCLUSIVE)), "eth0");
	hold(&f->held, "a.b/vfs", "0000:03:00.7");
	hold(&f->held, "a.b/vfs", "0000:03:00.7"); /* two containers of a pod */
	hold(&f->held, "a.b/vfs", "0000:03:00.3");
	hold(&f->held, "a.b/other", "0000:03:01.0");
	build(f);
	v = &f->pools.views[0];
	assert_string_equal(ids(f, 0), VFS " !0000:03:00.7");
	assert_int_equal(v->offers[4].numa, -1);
	assert_string_equal(v->members[v->offers[4].first_member], "0000:03:00.7");
	assert_false(v->offers[2].gone);
}

static void test_in_another_namespace_and_nobody_s(void **state)
{
	struct fixture *f = *state;

	f->host.namespaces = calloc(1, sizeof(*f->host.namespaces));
	assert_non_null(f->host.namespaces);
	f->host.n_namespaces = 1;
	f->host.namespaces[0] = (struct netns){5, "by-hand"};
	find_netdev(&f->host, "v1")->nsid = 5;
	find_netdev(&f->host, "v2")->nsid = NSID_ELSEWHERE;
	find_rdma(&f->host, "mlx5_4")->nsid = 5;
	/* A port of the NIC's switch there is not the PF. */
	build_netdev(&f->host, "rep", "0000:81:00.0")->nsid = 5;
	SET(find_netdev(&f->host, "rep")->port_name, "pf0vf1");
	add_pool(&f->config, "a.b", "any", POOL_EXCLUSIVE);
	/* What containers hold is not known: all may be theirs. */
	build(f);
	assert_string_equal(ids(f, 0), VFS " 0000:81:00.0");
	f->held.source = POD_SOURCE_API;
	build(f);
	assert_string_equal(ids(f, 0), "0000:03:00.1 0000:81:00.0");
	assert_string_equal(
		said(f, "0000:03:00.2"),
		"not offered: it is in network namespace by-hand, and no container holds it");
	assert_string_equal(
		said(f, "0000:03:00.3"),
		"not offered: it is in another network namespace, and no container holds it");
	assert_int_equal(verdict(f, "0000:03:00.4")->kind, VERDICT_ELSEWHERE);
	/* Held, it is where it should be. */
	hold(&f->held, "a.b/any", "0000:03:00.2");
	build(f);
	assert_int_equal(verdict(f, "0000:03:00.2")->kind, VERDICT_OFFERED);
}

/* --- shared pools ------------------------------------------------------------------------------
 */

static struct pool *add_shared(struct fixture *f, enum pool_kind kind, uint32_t slots)
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
	struct fixture *f = *state;

	add_shared(f, POOL_SHARED_ALL, 3);
	build(f);
	assert_string_equal(ids(f, 0), "0 1 2");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(f->pools.views[0].offers[i].first_member, 0);
		assert_int_equal(f->pools.views[0].offers[i].n_members, 2);
		assert_int_equal(f->pools.views[0].offers[i].numa, -1); /* 0 and 1 */
	}
	find_function(&f->host, "0000:03:00.0")->numa = 1;
	build(f);
	assert_int_equal(f->pools.views[0].offers[2].numa, 1);
	find_function(&f->host, "0000:81:00.0")->numa = -1;
	build(f);
	assert_int_equal(f->pools.views[0].offers[2].numa, -1);
}

static void test_a_slot_on_one_hca(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ONE, 2);

	build(f);
	assert_string_equal(ids(f, 0), "0 1 2 3");
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(f->pools.views[0].offers[i].first_member, i / 2);
		assert_int_equal(f->pools.views[0].offers[i].n_members, 1);
		assert_int_equal(f->pools.views[0].offers[i].numa, (int)i / 2);
	}
	p->ids = ID_DEVICE_SLOT;
	build(f);
	assert_string_equal(ids(f, 0), "mlx5_0-0 mlx5_0-1 mlx5_5-0 mlx5_5-1");
	p->kind = POOL_SHARED_ALL; /* a slot is no HCA's then */
	build(f);
	assert_string_equal(ids(f, 0), "0 1");
}

/* Behind the others, with a table of its own. */
static void test_a_new_hca_renumbers_nothing(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ONE, 0);
	struct pool_view *v;

	find_rdma(&f->host, "mlx5_0")->ports[0].gid_table_len = 6; /* 2 slots */
	find_rdma(&f->host, "mlx5_5")->ports[0].gid_table_len = 8;
	build(f);
	assert_string_equal(ids(f, 0), "0 1 2 3 4");
	add_word(&p->selectors[0].if_names, "eth9");
	build_function(&f->host, FN_PF, "0000:a1:00.0", "", 0);
	build_netdev(&f->host, "eth9", "0000:a1:00.0");
	build_rdma(&f->host, "mlx5_9", "0000:a1:00.0")->ports[0].gid_table_len = 4;
	build(f);
	assert_string_equal(ids(f, 0), "0 1 2 3 4 5");
	v = &f->pools.views[0];
	assert_string_equal(v->members[v->offers[1].first_member], "0000:03:00.0");
	assert_string_equal(v->members[v->offers[4].first_member], "0000:81:00.0");
	assert_string_equal(v->members[v->offers[5].first_member], "0000:a1:00.0");
	assert_int_equal(v->gid_capacity, 6);
}

static void test_slots_from_the_gid_tables(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ALL, 0);

	build(f);
	assert_int_equal(f->pools.views[0].n_offers, 63);
	assert_int_equal(f->pools.views[0].gid_capacity, 63);
	find_rdma(&f->host, "mlx5_5")->ports[0].gid_table_len = 32;
	build(f);
	assert_int_equal(f->pools.views[0].n_offers, 15); /* the smallest */
	find_rdma(&f->host, "mlx5_0")->ports[0].gid_table_len = 0;
	build(f);
	assert_int_equal(f->pools.views[0].n_offers, 15); /* of those known */
	find_rdma(&f->host, "mlx5_5")->ports[0].link_layer = LINK_INFINIBAND;
	build(f);
	assert_int_equal(f->pools.views[0].n_offers, POOL_SLOTS_DEFAULT);
	assert_int_equal(f->pools.views[0].gid_capacity, 0);
	p->kind = POOL_SHARED_ONE;
	build(f);
	assert_int_equal(f->pools.views[0].n_offers, 2 * POOL_SLOTS_DEFAULT);
	find_rdma(&f->host, "mlx5_0")->ports[0].gid_table_len = 32;
	build(f);
	assert_int_equal(f->pools.views[0].gid_capacity, 0); /* not that of both */
	assert_int_equal(f->pools.views[0].n_offers, 15 + POOL_SLOTS_DEFAULT);
	p->slots_given = true; /* "rdmaHcaMax": 0 */
	build(f);
	assert_int_equal(f->pools.views[0].n_offers, 0);
}

static void test_an_hca_needs_its_rdma_device(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ALL, 2);
	struct rdma_dev *rd = find_rdma(&f->host, "mlx5_0");

	find_rdma(&f->host, "mlx5_5")->uverbs[0] = '\0';
	build(f);
	assert_int_equal(f->pools.views[0].n_members, 1);
	assert_int_equal(verdict(f, "0000:81:00.0")->why, WHY_NOT_CHARDEV);
	assert_int_equal(f->pools.views[0].hits[0], 1);
	rd->umad[0] = '\0';
	build(f);
	assert_int_equal(f->pools.views[0].n_members, 1);
	p->require_umad = true;
	build(f);
	assert_string_equal(ids(f, 0), "");
	p->require_umad = false;
	rd->nsid = 4;
	build(f);
	assert_string_equal(ids(f, 0), "");
	assert_int_equal(verdict(f, "0000:03:00.0")->why, WHY_NOT_RDMA);
	p->fixed_slots = true; /* all the same */
	build(f);
	assert_string_equal(ids(f, 0), "0 1");
	assert_false(f->pools.views[0].offers[0].gone);
}

static void test_a_name_too_long_for_an_id(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ONE, 1);
	struct rdma_dev *rd = find_rdma(&f->host, "mlx5_0");

	p->ids = ID_DEVICE_SLOT;
	memset(rd->name, 'n', 57);
	rd->name[57] = '\0';
	build(f);
	assert_int_equal(f->pools.views[0].n_offers, 2);
	rd = NULL;
	for (size_t i = 0; i < f->host.n_rdma; i++)
		if (f->host.rdma[i].name[0] == 'n')
			rd = &f->host.rdma[i];
	assert_non_null(rd);
	strcat(rd->name, "n");
	build(f);
	assert_string_equal(ids(f, 0), "mlx5_5-0");
	assert_int_equal(verdict(f, "0000:03:00.0")->why, WHY_NOT_LONG_NAME);
	p->ids = ID_NUMBER;
	build(f);
	assert_string_equal(ids(f, 0), "0 1");
}

static void test_no_more_slots_than_a_message_can_hold(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ONE, 4000000000u);
	const struct pool_view *v;

	p->ids = ID_DEVICE_SLOT;
	build(f);
	v = &f->pools.views[0];
	assert_int_equal(v->n_offers, POOL_SLOTS_MAX);
	assert_int_equal(v->n_wanted, 8000000000);
	assert_string_equal(v->offers[POOL_SLOTS_MAX - 1].id, "mlx5_0-65535");
}

static void test_held_slots_stay(void **state)
{
	struct fixture *f = *state;
	struct pool *p = add_shared(f, POOL_SHARED_ALL, 2);

	hold(&f->held, "rdma/hca", "1");
	hold(&f->held, "rdma/hca", "7");
	build(f);
	/* There used to be more. */
	assert_string_equal(ids(f, 0), "0 1 7");
	assert_int_equal(f->pools.views[0].offers[2].n_members, 2);
	p->kind = POOL_SHARED_ONE;
	p->ids = ID_DEVICE_SLOT;
	pod_list_done(&f->held);
	hold(&f->held, "rdma/hca", "mlx5_5-7");
	hold(&f->held, "rdma/hca", "mlx5_55-1");
	hold(&f->held, "rdma/hca", "mlx5_0-1-1");
	build(f);
	assert_string_equal(ids(f, 0), "mlx5_0-0 mlx5_0-1 mlx5_5-0 mlx5_5-1 !mlx5_0-1-1 mlx5_5-7 "
				       "!mlx5_55-1");
	assert_int_equal(f->pools.views[0].offers[5].first_member, 1);
	assert_int_equal(f->pools.views[0].offers[5].numa, 1);
	/* No HCA is left. */
	add_word(&p->selectors[0].vendors, "8086");
	build(f);
	assert_string_equal(ids(f, 0), "!mlx5_0-1-1 !mlx5_5-7 !mlx5_55-1");
}

/* --- the whole ---------------------------------------------------------------------------------
 */

static void fill_explained(struct fixture *f)
{
	struct pool *p = add_pool(&f->config, "rocelet.dev", "roce", POOL_EXCLUSIVE);

	add_pf(add_selector(p), "eth0");
	add_pf(add_selector(p), "eth77");
	p = add_shared(f, POOL_SHARED_ALL, 1000);
	p = add_pool(&f->config, "rdma", "one", POOL_SHARED_ONE);
	p->slots = 70000;
	add_word(&add_selector(p)->if_names, "eth4");
	add_pool(&f->config, "rocelet.dev", "late", POOL_EXCLUSIVE)->slots = 0;
	add_word(&add_selector(&f->config.pools[3])->drivers, "mlx5_core");
	p = add_pool(&f->config, "rocelet.dev", "none", POOL_EXCLUSIVE);
	add_word(&add_selector(p)->vendors, "8086");
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
	struct fixture *f = *state;
	char *text;

	fill_explained(f);
	build(f);
	text = pools_explain(&f->pools);
	assert_non_null(text);
	assert_golden_text("tests/golden/pools.txt", text, strlen(text));
	free(text);
}

static void test_same_in_same_out(void **state)
{
	struct fixture *f = *state;
	char *first, *second;

	fill_explained(f);
	build(f);
	first = pools_explain(&f->pools);
	build(f);
	second = pools_explain(&f->pools);
	assert_non_null(first);
	assert_non_null(second);
	assert_string_equal(first, second);
	free(first);
	free(second);
}

static void test_any_allocation_may_fail(void **state)
{
	struct fixture *f = *state;
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
static void build_large_node(struct fixture *f)
{
	static char pfs[8][16];

	host_done(&f->host);
	for (int pf = 0; pf < 8; pf++) {
		char pf_id[32], id[32], name[16];
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
	struct fixture *f = *state;

	build_large_node(f);
	for (size_t i = 0; i < f->host.n_functions; i += 2)
		if (f->host.functions[i].kind == FN_VF)
			hold(&f->held, "a.b/eth3", f->host.functions[i].id);
	build(f);
	assert_int_equal(f->pools.n_verdicts, 1032);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(f->pools.views[i].n_offers, i == 3 ? 128 / 2 * 9 : 64);
	assert_int_equal(f->pools.views[8].n_offers, 0);
	assert_int_equal(f->pools.views[8].n_taken, 1024);
	assert_int_equal(f->pools.views[9].n_offers, 0); /* PFs without an RDMA device */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_no_pools),
		TEST(test_an_exclusive_pool_offers_functions),
		TEST(test_topology_can_be_left_out),
		TEST(test_a_sub_function_has_the_numa_node_of_its_pf),
		TEST(test_the_first_pool_that_matches_takes_it),
		TEST(test_a_shared_pool_and_an_exclusive_one_do_not_share),
		TEST(test_the_verdict_names_the_nearest_pool),
		TEST(test_soft_roce_goes_to_shared_pools_or_by_name),
		TEST(test_default_route_itself),
		TEST(test_default_route_of_a_pf_does_not_bar_its_vfs),
		TEST(test_default_route_over_a_bond),
		TEST(test_default_route_over_vlan_bridge_and_bond),
		TEST(test_default_route_through_open_vswitch),
		TEST(test_default_route_does_not_follow_a_pair),
		TEST(test_default_route_in_the_host_only),
		TEST(test_default_route_under_soft_roce),
		TEST(test_a_loop_of_masters_ends),
		TEST(test_what_is_held_stays),
		TEST(test_what_is_held_is_not_given_twice),
		TEST(test_a_held_pf_that_got_vfs_or_a_route_stays),
		TEST(test_a_resource_of_nobody_here_keeps_its_device),
		TEST(test_a_long_foreign_name_is_cut),
		TEST(test_what_left_the_bus_is_gone),
		TEST(test_in_another_namespace_and_nobody_s),
		TEST(test_a_slot_on_all_hcas),
		TEST(test_a_slot_on_one_hca),
		TEST(test_a_new_hca_renumbers_nothing),
		TEST(test_slots_from_the_gid_tables),
		TEST(test_an_hca_needs_its_rdma_device),
		TEST(test_a_name_too_long_for_an_id),
		TEST(test_no_more_slots_than_a_message_can_hold),
		TEST(test_held_slots_stay),
		TEST(test_explanation),
		TEST(test_same_in_same_out),
		TEST(test_any_allocation_may_fail),
		TEST(test_a_thousand_functions),
	};

	return cmocka_run_group_tests_name("pools", tests, NULL, NULL);
}

__attribute__((weak)) void pool_resource(const struct pool *p, char ret[RESOURCE_NAME_SIZE])
{
	snprintf(ret, RESOURCE_NAME_SIZE, "%s/%s", p->prefix, p->name);
}
