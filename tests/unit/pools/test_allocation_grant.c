// SPDX-License-Identifier: Apache-2.0
/* What a container is granted: nodes by exact match, variables as sriov-network-device-plugin
 * writes them, slots of shared pools. */
#include "allocation.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "allocation_fixture.h"
#include "cleanup.h"
#include "golden.h"
#include "test_group.h"

static const char *env(const struct container_grant *g, const char *key)
{
	for (size_t i = 0; i < g->n_envs; i++)
		if (strcmp(g->envs[i].key, key) == 0)
			return g->envs[i].value;
	return NULL;
}

/* --- variables ------------------------------------------------------------------------------- */

static void test_variables_are_those_of_sriov_network_device_plugin(void **state)
{
	struct container_grant g;
	(void)state;

	must_grant(&g, "0000:03:02.1", "0000:03:04.3");
	assert_int_equal(g.n_envs, 2);
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:03:02.1,0000:03:04.3");
	assert_non_null(env(&g, "PCIDEVICE_INTEL_COM_SRIOV_INFO"));
	/* Recorded in the kubelet's checkpoint, in case the pool's "network" changes later. */
	assert_int_equal(g.n_annotations, 1);
	assert_string_equal(g.annotations[0].key, "rocelet.dev/network");
	assert_string_equal(g.annotations[0].value, "none");
	assert_int_equal(g.n_mounts, 0);
	assert_int_equal(g.n_cdi_devices, 0);
	container_grant_done(&g);

	must_grant(&g, "0000:03:04.3", "0000:03:02.1"); /* in the order of the request */
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:03:04.3,0000:03:02.1");
	container_grant_done(&g);

	rename_pool("mellanox.com", "sriov-rdma"); /* '-' is kept */
	must_grant(&g, "0000:03:02.1", NULL);
	assert_string_equal(env(&g, "PCIDEVICE_MELLANOX_COM_SRIOV-RDMA"), "0000:03:02.1");
	container_grant_done(&g);
}

static void test_a_native_pool_has_no_network_annotation(void **state)
{
	static struct pool_network network;
	struct container_grant g;
	(void)state;

	given.pool.network = &network;
	must_grant(&g, "0000:03:02.1", NULL);
	assert_int_equal(g.n_annotations, 0);
	container_grant_done(&g);
}

static void put_info(FILE *out, const char *id)
{
	struct container_grant g;
	const char *info;

	must_grant(&g, id, NULL);
	info = env(&g, "PCIDEVICE_INTEL_COM_SRIOV_INFO");
	assert_non_null(info);
	fprintf(out, "%s\n", info);
	container_grant_done(&g);
}

static void print_infos(FILE *out)
{
	struct extra_info extra[] = {
		{(char[]){"*"}, (char[]){"token"}, (char[]){"everyone's"}},
		{(char[]){"0000:03:04.3"}, (char[]){"token"}, (char[]){"\"quoted\\\" \xc3\xa9\n"}},
		{(char[]){"*"}, (char[]){"empty"}, (char[]){""}},
	};
	struct selector vdpa = {.vdpa = VDPA_VHOST, .need_vhost_net = true};

	put_info(out, "0000:03:02.1");
	given.pool.umad = given.pool.issm = true;
	put_info(out, "0000:03:02.1");
	put_info(out, "mlx5_core.sf.4");
	given.pool.extra = extra;
	given.pool.n_extra = ARRAY_SIZE(extra);
	put_info(out, "0000:03:04.3");
	put_info(out, "rxe0");
	given.pool.n_extra = 0;
	given.pool.selectors = &given.plain;
	put_info(out, "0000:03:02.1");
	put_info(out, "0000:03:02.2");
	put_info(out, "0000:05:00.0");
	put_info(out, "0000:06:00.0");
	given.pool.selectors = &vdpa;
	put_info(out, "0000:03:02.3");
	vdpa.vdpa = VDPA_VIRTIO;
	put_info(out, "0000:03:02.4");
}

static void test_details_are_those_of_sriov_network_device_plugin(void **state)
{
	(void)state;
	assert_golden("tests/golden/allocation_info.json", print_infos);
}

/* Names from the kernel may have any bytes; the API allows only UTF-8. */
static void test_invalid_utf8_is_replaced(void **state)
{
	struct container_grant g;
	(void)state;

	snprintf(given.host.rdma[1].name, sizeof(given.host.rdma[1].name), "a\"b\xff");
	must_grant(&g, "0000:03:02.1", NULL);
	assert_non_null(strstr(env(&g, "PCIDEVICE_INTEL_COM_SRIOV_INFO"),
			       "\"rdma_dev\":\"a\\\"b\xef\xbf\xbd\""));
	container_grant_done(&g);
}

static void test_sixty_four_ids(void **state)
{
	struct function many[64] = {0};
	const struct host big = {.functions = many, .n_functions = 64};
	const char *ids[64];
	struct container_grant g;
	json_t *info;
	(void)state;

	given.pool.selectors = &given.plain;
	given.view.n_members = given.view.n_offers = 0;
	for (unsigned i = 0; i < 64; i++) {
		snprintf(many[i].id, sizeof(many[i].id), "0000:%02x:%02x.%u", 3 + i / 32, i % 32,
			 i % 8);
		add_member(many[i].id);
		ids[i] = add_offer(many[i].id, i, 1)->id;
	}
	given.in.host = &big;
	assert_int_equal(allocation_grant(&g, &given.in, (struct id_list){ids, 64}, NULL), 0);
	assert_int_equal(strlen(env(&g, "PCIDEVICE_INTEL_COM_SRIOV")), 64 * 13 - 1);
	info = json_loads(env(&g, "PCIDEVICE_INTEL_COM_SRIOV_INFO"), 0, NULL);
	assert_int_equal(json_object_size(info), 64);
	json_decref(info);
	container_grant_done(&g);
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* "host>container" for each node, with blanks between; the container's only where it differs. */
static const char *nodes_text(const struct container_grant *g)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct plugin_node *d = &g->nodes[i];
		bool same = strcmp(d->host_path, d->container_path) == 0;

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s%s", i ? " " : "",
				      d->host_path, same ? "" : ">", same ? "" : d->container_path);
	}
	return text;
}

static void assert_nodes(const char *id, const char *expected)
{
	struct container_grant g;

	must_grant(&g, id, NULL);
	assert_string_equal(nodes_text(&g), expected);
	container_grant_done(&g);
}

static void test_rdma_nodes_belong_to_the_device(void **state)
{
	struct container_grant g;
	(void)state;

	/* umad and issm only if the pool requests them; no node of mlx5_10. */
	assert_nodes("0000:03:02.1",
		     "/dev/infiniband/uverbs1 /dev/infiniband/ucm1 /dev/infiniband/rdma_cm");
	given.pool.umad = true;
	assert_nodes("0000:03:02.1", "/dev/infiniband/umad1 /dev/infiniband/uverbs1 "
				     "/dev/infiniband/ucm1 /dev/infiniband/rdma_cm");
	given.pool.issm = true;
	assert_nodes("0000:03:02.1",
		     "/dev/infiniband/issm1 /dev/infiniband/umad1 /dev/infiniband/uverbs1 "
		     "/dev/infiniband/ucm1 /dev/infiniband/rdma_cm");
	assert_nodes("mlx5_core.sf.4", "/dev/infiniband/umad4 /dev/infiniband/uverbs4 "
				       "/dev/infiniband/rdma_cm");
	/* A RoCE port has no issm node and an iWARP port no umad node: no error. */
	assert_nodes("0000:03:04.3", "/dev/infiniband/uverbs3 /dev/infiniband/rdma_cm");
	assert_nodes("rxe0", "/dev/infiniband/uverbs11 /dev/infiniband/rdma_cm");

	given.absent = "infiniband/rdma_cm";
	assert_nodes("0000:03:04.3", "/dev/infiniband/uverbs3");
	given.absent = NULL;
	must_grant(&g, "0000:03:04.3", "0000:04:00.0"); /* one rdma_cm for both */
	assert_string_equal(nodes_text(&g), "/dev/infiniband/uverbs3 /dev/infiniband/rdma_cm "
					    "/dev/infiniband/umad10 /dev/infiniband/uverbs10");
	for (size_t i = 0; i < g.n_nodes; i++)
		assert_string_equal(g.nodes[i].permissions, "rw");
	container_grant_done(&g);
}

static void test_permissions_are_set_by_the_pool(void **state)
{
	struct container_grant g;
	(void)state;

	snprintf(given.pool.permissions, sizeof(given.pool.permissions), "rwm");
	must_grant(&g, "0000:03:04.3", NULL);
	assert_string_equal(g.nodes[0].permissions, "rwm");
	container_grant_done(&g);
}

static void test_user_space_drivers(void **state)
{
	struct selector vdpa = {.vdpa = VDPA_VHOST}, vhost = {.need_vhost_net = true};
	(void)state;

	given.pool.selectors = &given.plain;
	assert_nodes("0000:03:02.1", ""); /* without isRdma */
	assert_nodes("0000:03:02.2", "/dev/vfio/vfio /dev/vfio/12");
	assert_nodes("0000:05:00.0", "/dev/vfio/vfio /dev/vfio/noiommu-3>/dev/vfio/3");
	assert_nodes("0000:06:00.0", "/dev/uio0");
	given.pool.selectors = &vhost;
	assert_nodes("0000:03:02.2", "/dev/vfio/vfio /dev/vfio/12 /dev/vhost-net /dev/net/tun");
	given.pool.selectors = &vdpa;
	assert_nodes("0000:03:02.3", "/dev/vhost-vdpa-0");
	assert_nodes("0000:03:02.4", ""); /* virtio: it has a netdev */
	assert_refused("0000:03:02.1", NULL, -ENODEV, "0000:03:02.1 has no vDPA device");
}

/* Nodes that only one selector requests are granted only for the devices that it selects. */
static void test_selectors_that_differ(void **state)
{
	struct selector some[] = {{.is_rdma = true}, {.need_vhost_net = true}};
	(void)state;

	given.pool.selectors = some;
	given.pool.n_selectors = 2;
	assert_nodes("0000:06:00.0", "/dev/uio0 /dev/vhost-net /dev/net/tun");
	given.absent = "vhost-net";
	assert_nodes("0000:03:04.3", "/dev/infiniband/uverbs3 /dev/infiniband/rdma_cm");
	given.pool.selectors = some + 1;
	given.pool.n_selectors = 1;
	assert_refused("0000:06:00.0", NULL, -ENODEV,
		       "/dev/vhost-net of 0000:06:00.0 does not exist");
}

static void test_the_whole_folder(void **state)
{
	struct container_grant g;
	(void)state;

	given.pool.whole_directory = given.pool.cdi = true;
	must_grant(&g, "0000:03:02.1", NULL);
	assert_string_equal(nodes_text(&g), "/dev/infiniband");
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:03:02.1");
	assert_int_equal(g.n_cdi_devices, 0);
	container_grant_done(&g);

	share_pool(POOL_SHARED_ALL, ID_NUMBER);
	add_offer("900", 0, 0)->numa = -1; /* fixed slots exist without an HCA */
	assert_nodes("900", "/dev/infiniband");
	given.absent = "infiniband";
	assert_refused("900", NULL, -ENODEV, "/dev/infiniband does not exist");
}

/* --- shared pools ---------------------------------------------------------------------------- */

static void test_slots_on_all_hcas(void **state)
{
	struct container_grant g;
	(void)state;

	share_pool(POOL_SHARED_ALL, ID_NUMBER);
	given.pool.n_selectors = 0; /* shared pools need no isRdma */
	given.pool.umad = given.pool.require_umad = true;
	must_grant(&g, "0", "2");
	assert_string_equal(nodes_text(&g),
			    "/dev/infiniband/umad0 /dev/infiniband/uverbs0 /dev/infiniband/rdma_cm "
			    "/dev/infiniband/umad10 /dev/infiniband/uverbs10");
	assert_int_equal(g.n_envs, 0); /* as k8s-rdma-shared-dev-plugin */
	container_grant_done(&g);

	given.host.rdma[5].umad[0] = '\0';
	assert_refused("1", NULL, -ENODEV,
		       "1: RDMA device mlx5_10 of 0000:04:00.0 has no umad node");
	snprintf(given.host.rdma[5].umad, sizeof(given.host.rdma[5].umad), "umad10");
	add_offer("9", 0, 0);
	assert_refused("9", NULL, -ENODEV, "intel.com/sriov has no RDMA device now");
}

static void test_variables_name_the_hca_of_a_slot(void **state)
{
	struct container_grant g;
	(void)state;

	share_pool(POOL_SHARED_ONE, ID_DEVICE_SLOT);
	must_grant(&g, "slot-1", NULL);
	assert_string_equal(nodes_text(&g), "/dev/infiniband/uverbs10 /dev/infiniband/rdma_cm");
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:04:00.0");
	container_grant_done(&g);
	must_grant(&g, "slot-0", "slot-2"); /* both on the first */
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:03:00.0");
	assert_int_equal(g.n_nodes, 2);
	container_grant_done(&g);
}

TEST_GROUP(allocation_grant)
{
	const struct CMUnitTest tests[] = {
		ALLOCATION_TEST(test_variables_are_those_of_sriov_network_device_plugin),
		ALLOCATION_TEST(test_a_native_pool_has_no_network_annotation),
		ALLOCATION_TEST(test_details_are_those_of_sriov_network_device_plugin),
		ALLOCATION_TEST(test_invalid_utf8_is_replaced),
		ALLOCATION_TEST(test_sixty_four_ids),
		ALLOCATION_TEST(test_rdma_nodes_belong_to_the_device),
		ALLOCATION_TEST(test_permissions_are_set_by_the_pool),
		ALLOCATION_TEST(test_user_space_drivers),
		ALLOCATION_TEST(test_selectors_that_differ),
		ALLOCATION_TEST(test_the_whole_folder),
		ALLOCATION_TEST(test_slots_on_all_hcas),
		ALLOCATION_TEST(test_variables_name_the_hca_of_a_slot),
	};

	return test_group_run(tests, NULL, NULL);
}
