// SPDX-License-Identifier: Apache-2.0
#include "allocation_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"

/* --- the host --------------------------------------------------------------------------------- */

/* A PF with five VFs (one on vfio, two on vDPA) and two sub-functions, a PF whose device names have
 * one digit more, one without an IOMMU, one on uio, a soft-RoCE device. */
static struct function functions[] = {
	{.id = "0000:03:00.0", .kind = FN_PF, .vf = -1, .numa = 0, .driver = "mlx5_core"},
	{.id = "0000:03:02.1",
	 .kind = FN_VF,
	 .parent = "0000:03:00.0",
	 .vf = 7,
	 .driver = "mlx5_core"},
	{.id = "0000:03:02.2",
	 .kind = FN_VF,
	 .parent = "0000:03:00.0",
	 .vf = 8,
	 .driver = "vfio-pci",
	 .vfio = "vfio/12"},
	{.id = "0000:03:02.3",
	 .kind = FN_VF,
	 .parent = "0000:03:00.0",
	 .vf = 9,
	 .driver = "mlx5_core",
	 .vdpa_driver = "vhost_vdpa",
	 .vdpa_node = "vhost-vdpa-0"},
	{.id = "0000:03:02.4",
	 .kind = FN_VF,
	 .parent = "0000:03:00.0",
	 .vf = 10,
	 .driver = "mlx5_core",
	 .vdpa_driver = "virtio_vdpa"},
	{.id = "0000:03:04.3",
	 .kind = FN_VF,
	 .parent = "0000:03:00.0",
	 .vf = 11,
	 .driver = "mlx5_core"},
	{.id = "0000:04:00.0", .kind = FN_PF, .vf = -1, .driver = "mlx5_core"},
	{.id = "0000:05:00.0", .kind = FN_PF, .vf = -1, .vfio = "vfio/noiommu-3"},
	{.id = "0000:06:00.0", .kind = FN_PF, .vf = -1, .uio = "uio0"},
	{.id = "mlx5_core.sf.4", .kind = FN_SF, .parent = "0000:03:00.0", .vf = -1, .sfnum = 88},
	{.id = "mlx5_core.sf.40", .kind = FN_SF, .parent = "0000:03:00.0", .vf = -1, .sfnum = 89},
	{.id = "rxe0", .kind = FN_VIRTUAL, .vf = -1},
};
static struct netdev netdevs[] = {
	{.name = "ens3f0_1", .function = "0000:03:00.0", .port_name = "pf0vf1"},
	{.name = "ens3f0_7", .function = "0000:03:00.0", .port_name = "pf0vf7"},
	{.name = "ens3f0", .function = "0000:03:00.0", .port_name = "p0"},
};
static const struct rdma_dev rdma_devices[] = {
	{.name = "mlx5_0",
	 .function = "0000:03:00.0",
	 .uverbs = "uverbs0",
	 .umad = "umad0",
	 .issm = "issm0"},
	{.name = "mlx5_1",
	 .function = "0000:03:02.1",
	 .uverbs = "uverbs1",
	 .umad = "umad1",
	 .issm = "issm1",
	 .ucm = "ucm1"},
	{.name = "mlx5_3", .function = "0000:03:04.3", .uverbs = "uverbs3"},
	{.name = "mlx5_4", .function = "mlx5_core.sf.4", .uverbs = "uverbs4", .umad = "umad4"},
	{.name = "mlx5_5", .function = "mlx5_core.sf.40", .uverbs = "uverbs5", .umad = "umad5"},
	{.name = "mlx5_10", .function = "0000:04:00.0", .uverbs = "uverbs10", .umad = "umad10"},
	{.name = "rxe0", .uverbs = "uverbs11"},
};
static struct rdma_dev rdma[ARRAY_SIZE(rdma_devices)];

struct allocation_fixture given;

static bool exists(const char *name, void *arg)
{
	(void)arg;
	assert_true(name[0] != '/');
	return !given.absent || strcmp(name, given.absent) != 0;
}

/* --- the pool --------------------------------------------------------------------------------- */

void add_member(const char *id)
{
	assert_true(given.view.n_members < ARRAY_SIZE(given.members));
	snprintf(given.members[given.view.n_members++], DEV_ID_SIZE, "%s", id);
}

struct offer *add_offer(const char *id, size_t first, size_t n)
{
	struct offer *o = &given.offers[given.view.n_offers++];

	*o = (struct offer){.first_member = first, .n_members = n, .numa = -1};
	snprintf(o->id, sizeof(o->id), "%s", id);
	return o;
}

int allocation_set_up(void **state)
{
	(void)state;
	memcpy(rdma, rdma_devices, sizeof(rdma));
	given = (struct allocation_fixture){
		.host = {.functions = functions,
			 .n_functions = ARRAY_SIZE(functions),
			 .netdevs = netdevs,
			 .n_netdevs = ARRAY_SIZE(netdevs),
			 .rdma = rdma,
			 .n_rdma = ARRAY_SIZE(rdma)},
		.rdma = {.is_rdma = true},
		.pool = {.name = strdup("sriov"),
			 .prefix = strdup("intel.com"),
			 .selectors = &given.rdma,
			 .n_selectors = 1,
			 .permissions = "rw"},
		.view = {.pool = &given.pool, .members = given.members, .offers = given.offers},
		.in = {.view = &given.view, .host = &given.host, .exists = exists},
	};
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		add_member(functions[i].id);
		add_offer(functions[i].id, i, 1);
	}
	return 0;
}

int allocation_tear_down(void **state)
{
	(void)state;
	free(given.pool.name);
	free(given.pool.prefix);
	return 0;
}

void rename_pool(const char *prefix, const char *name)
{
	free(given.pool.name);
	free(given.pool.prefix);
	given.pool.name = strdup(name);
	given.pool.prefix = strdup(prefix);
}

void share_pool(enum pool_kind kind, enum id_style ids)
{
	given.pool.kind = kind;
	given.pool.ids = ids;
	given.view.n_members = given.view.n_offers = 0;
	add_member("0000:03:00.0");
	add_member("0000:04:00.0");
	for (unsigned i = 0; i < 3; i++) {
		char id[16];

		snprintf(id, sizeof(id), ids == ID_NUMBER ? "%u" : "slot-%u", i);
		if (kind == POOL_SHARED_ALL)
			add_offer(id, 0, 2);
		else
			add_offer(id, i % 2, 1);
	}
}

/* --- calls ------------------------------------------------------------------------------------ */

int try_grant(struct container_grant *g, const char *a, const char *b)
{
	const char *ids[] = {a, b};

	given.err = (struct err){0};
	return allocation_grant(g, &given.in, (struct id_list){ids, b ? 2 : 1}, &given.err);
}

void must_grant(struct container_grant *g, const char *a, const char *b)
{
	int r = try_grant(g, a, b);

	if (r < 0)
		fail_msg("%d %s", r, given.err.msg);
}

void assert_refused(const char *a, const char *b, int code, const char *sentence)
{
	struct container_grant g = {.n_nodes = 77};

	assert_int_equal(try_grant(&g, a, b), code);
	assert_string_equal(given.err.msg, sentence);
	assert_int_equal(given.err.code, code);
	assert_true(g.n_nodes == 0 && g.n_envs == 0 && g.n_cdi_devices == 0 && !g.nodes &&
		    !g.envs && !g.cdi_devices);
	/* The code must not depend on whether the caller requests the message. */
	assert_int_equal(allocation_check(&given.in,
					  (struct id_list){(const char *[]){a, b}, b ? 2 : 1},
					  NULL),
			 code);
}
