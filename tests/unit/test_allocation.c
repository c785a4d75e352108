/* What a container gets: nodes by exact match, variables as sriov-network-device-plugin writes
 * them, CDI names; device-info and CDI texts; and what is said when something is not there. */
#include "allocation.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "failing_malloc.h"
#include "golden.h"

/* --- a host ----------------------------------------------------------------------------------- */

/* A PF with three VFs (the second on vfio, the third on vDPA), a PF whose names are longer by a
 * digit, one without an IOMMU, one on uio, a sub-function, a soft-RoCE device. */
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
static struct rdma_dev rdma[] = {
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
static const struct host host = {
	.functions = functions,
	.n_functions = ARRAY_SIZE(functions),
	.netdevs = netdevs,
	.n_netdevs = ARRAY_SIZE(netdevs),
	.rdma = rdma,
	.n_rdma = ARRAY_SIZE(rdma),
};

/* Every node exists but this one. */
static const char *absent;

static bool exists(const char *name, void *arg)
{
	(void)arg;
	assert_true(name[0] != '/');
	return !absent || strcmp(name, absent) != 0;
}

/* --- pools ------------------------------------------------------------------------------------ */

static struct selector rdma_selector = {.is_rdma = true}, plain_selector;
static struct pool pool;
static char members[70][DEV_ID_SIZE];
static struct offer offers[70];
static struct pool_view view;
static struct allocation_input in;

static void member(const char *id)
{
	assert_true(view.n_members < ARRAY_SIZE(members));
	snprintf(members[view.n_members++], DEV_ID_SIZE, "%s", id);
}

static struct offer *offer(const char *id, size_t first, size_t n)
{
	struct offer *o = &offers[view.n_offers++];

	*o = (struct offer){.first_member = first, .n_members = n, .numa = -1};
	snprintf(o->id, sizeof(o->id), "%s", id);
	return o;
}

/* intel.com/sriov with all functions, each its own ID. */
static int set_up(void **state)
{
	(void)state;
	absent = NULL;
	rdma_selector = (struct selector){.is_rdma = true};
	plain_selector = (struct selector){0};
	pool = (struct pool){.name = strdup("sriov"),
			     .prefix = strdup("intel.com"),
			     .selectors = &rdma_selector,
			     .n_selectors = 1,
			     .permissions = "rw"};
	view = (struct pool_view){.pool = &pool, .members = members, .offers = offers};
	in = (struct allocation_input){.view = &view, .host = &host, .exists = exists};
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		member(functions[i].id);
		offer(functions[i].id, i, 1);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(pool.name);
	free(pool.prefix);
	return 0;
}

static void rename_pool(const char *prefix, const char *name)
{
	free(pool.name);
	free(pool.prefix);
	pool.name = strdup(name);
	pool.prefix = strdup(prefix);
}

/* A shared pool of the two PFs with three slots. */
static void share(enum pool_kind kind, enum id_style ids)
{
	pool.kind = kind;
	pool.ids = ids;
	view.n_members = view.n_offers = 0;
	member("0000:03:00.0");
	member("0000:04:00.0");
	for (unsigned i = 0; i < 3; i++) {
		char id[16];

		snprintf(id, sizeof(id), ids == ID_NUMBER ? "%u" : "slot-%u", i);
		if (kind == POOL_SHARED_ALL)
			offer(id, 0, 2);
		else
			offer(id, i % 2, 1);
	}
}

/* --- asking ----------------------------------------------------------------------------------- */

static struct err err;

static int ask(struct container_grant *g, const char *a, const char *b)
{
	const char *ids[] = {a, b};

	err = (struct err){0};
	return allocation_grant(g, &in, (struct id_list){ids, b ? 2 : 1}, &err);
}

static void grant(struct container_grant *g, const char *a, const char *b)
{
	int r = ask(g, a, b);

	if (r < 0)
		fail_msg("%d %s", r, err.msg);
}

static const char *env(const struct container_grant *g, const char *key)
{
	for (size_t i = 0; i < g->n_envs; i++)
		if (strcmp(g->envs[i].key, key) == 0)
			return g->envs[i].value;
	return NULL;
}

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

	grant(&g, id, NULL);
	assert_string_equal(nodes_text(&g), expected);
	container_grant_done(&g);
}

static void assert_refused(const char *a, const char *b, int code, const char *sentence)
{
	struct container_grant g = {.n_nodes = 77};

	assert_int_equal(ask(&g, a, b), code);
	assert_string_equal(err.msg, sentence);
	assert_int_equal(err.code, code);
	assert_true(g.n_nodes == 0 && g.n_envs == 0 && g.n_cdi_devices == 0 && !g.nodes &&
		    !g.envs && !g.cdi_devices);
	/* Who reads no sentence gets the same code. */
	assert_int_equal(
		allocation_check(&in, (struct id_list){(const char *[]){a, b}, b ? 2 : 1}, NULL),
		code);
}

/* --- variables -------------------------------------------------------------------------------- */

static void test_the_variables_are_those_of_the_peer(void **state)
{
	struct container_grant g;
	(void)state;

	grant(&g, "0000:03:02.1", "0000:03:04.3");
	assert_int_equal(g.n_envs, 2);
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:03:02.1,0000:03:04.3");
	assert_non_null(env(&g, "PCIDEVICE_INTEL_COM_SRIOV_INFO"));
	assert_int_equal(g.n_annotations, 0);
	assert_int_equal(g.n_mounts, 0);
	assert_int_equal(g.n_cdi_devices, 0);
	container_grant_done(&g);

	grant(&g, "0000:03:04.3", "0000:03:02.1"); /* the order of the request */
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:03:04.3,0000:03:02.1");
	container_grant_done(&g);

	rename_pool("mellanox.com", "sriov-rdma"); /* '-' is kept */
	grant(&g, "0000:03:02.1", NULL);
	assert_string_equal(env(&g, "PCIDEVICE_MELLANOX_COM_SRIOV-RDMA"), "0000:03:02.1");
	container_grant_done(&g);
}

static void put_info(FILE *out, const char *id)
{
	struct container_grant g;
	const char *info;

	grant(&g, id, NULL);
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
	pool.umad = pool.issm = true;
	put_info(out, "0000:03:02.1");
	put_info(out, "mlx5_core.sf.4");
	pool.extra = extra;
	pool.n_extra = ARRAY_SIZE(extra);
	put_info(out, "0000:03:04.3");
	put_info(out, "rxe0");
	pool.n_extra = 0;
	pool.selectors = &plain_selector;
	put_info(out, "0000:03:02.1");
	put_info(out, "0000:03:02.2");
	put_info(out, "0000:05:00.0");
	put_info(out, "0000:06:00.0");
	pool.selectors = &vdpa;
	put_info(out, "0000:03:02.3");
	vdpa.vdpa = VDPA_VIRTIO;
	put_info(out, "0000:03:02.4");
}

static void test_the_details_are_those_of_the_peer(void **state)
{
	(void)state;
	assert_golden("tests/golden/allocation_info.json", print_infos);
}

/* Names from the kernel may have any bytes; the API carries only characters. */
static void test_odd_bytes_become_characters(void **state)
{
	struct container_grant g;
	(void)state;

	snprintf(rdma[1].name, sizeof(rdma[1].name), "a\"b\xff");
	grant(&g, "0000:03:02.1", NULL);
	assert_non_null(strstr(env(&g, "PCIDEVICE_INTEL_COM_SRIOV_INFO"),
			       "\"rdma_dev\":\"a\\\"b\xef\xbf\xbd\""));
	container_grant_done(&g);
	snprintf(rdma[1].name, sizeof(rdma[1].name), "mlx5_1");
}

static void test_sixty_four_ids(void **state)
{
	struct function many[64] = {0};
	const struct host big = {.functions = many, .n_functions = 64};
	const char *ids[64];
	struct container_grant g;
	json_t *info;
	(void)state;

	pool.selectors = &plain_selector;
	view.n_members = view.n_offers = 0;
	for (unsigned i = 0; i < 64; i++) {
		snprintf(many[i].id, sizeof(many[i].id), "0000:%02x:%02x.%u", 3 + i / 32, i % 32,
			 i % 8);
		member(many[i].id);
		ids[i] = offer(many[i].id, i, 1)->id;
	}
	in.host = &big;
	assert_int_equal(allocation_grant(&g, &in, (struct id_list){ids, 64}, NULL), 0);
	assert_int_equal(strlen(env(&g, "PCIDEVICE_INTEL_COM_SRIOV")), 64 * 13 - 1);
	info = json_loads(env(&g, "PCIDEVICE_INTEL_COM_SRIOV_INFO"), 0, NULL);
	assert_int_equal(json_object_size(info), 64);
	json_decref(info);
	container_grant_done(&g);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void test_rdma_nodes_are_the_devices_own(void **state)
{
	struct container_grant g;
	(void)state;

	/* Neither umad nor issm unless asked for; and nothing of mlx5_10. */
	assert_nodes("0000:03:02.1",
		     "/dev/infiniband/uverbs1 /dev/infiniband/ucm1 /dev/infiniband/rdma_cm");
	pool.umad = true;
	assert_nodes("0000:03:02.1", "/dev/infiniband/umad1 /dev/infiniband/uverbs1 "
				     "/dev/infiniband/ucm1 /dev/infiniband/rdma_cm");
	pool.issm = true;
	assert_nodes("0000:03:02.1",
		     "/dev/infiniband/issm1 /dev/infiniband/umad1 /dev/infiniband/uverbs1 "
		     "/dev/infiniband/ucm1 /dev/infiniband/rdma_cm");
	assert_nodes("mlx5_core.sf.4", "/dev/infiniband/umad4 /dev/infiniband/uverbs4 "
				       "/dev/infiniband/rdma_cm");
	/* A RoCE port has no issm, an iWARP one no umad: fine. */
	assert_nodes("0000:03:04.3", "/dev/infiniband/uverbs3 /dev/infiniband/rdma_cm");
	assert_nodes("rxe0", "/dev/infiniband/uverbs11 /dev/infiniband/rdma_cm");

	absent = "infiniband/rdma_cm";
	assert_nodes("0000:03:04.3", "/dev/infiniband/uverbs3");
	absent = NULL;
	grant(&g, "0000:03:04.3", "0000:04:00.0"); /* one rdma_cm for both */
	assert_string_equal(nodes_text(&g), "/dev/infiniband/uverbs3 /dev/infiniband/rdma_cm "
					    "/dev/infiniband/umad10 /dev/infiniband/uverbs10");
	for (size_t i = 0; i < g.n_nodes; i++)
		assert_string_equal(g.nodes[i].permissions, "rw");
	container_grant_done(&g);
}

static void test_permissions_are_the_pools(void **state)
{
	struct container_grant g;
	(void)state;

	snprintf(pool.permissions, sizeof(pool.permissions), "rwm");
	grant(&g, "0000:03:04.3", NULL);
	assert_string_equal(g.nodes[0].permissions, "rwm");
	container_grant_done(&g);
}

static void test_user_space_drivers(void **state)
{
	struct selector vdpa = {.vdpa = VDPA_VHOST}, vhost = {.need_vhost_net = true};
	(void)state;

	pool.selectors = &plain_selector;
	assert_nodes("0000:03:02.1", ""); /* RDMA was not asked for */
	assert_nodes("0000:03:02.2", "/dev/vfio/vfio /dev/vfio/12");
	assert_nodes("0000:05:00.0", "/dev/vfio/vfio /dev/vfio/noiommu-3>/dev/vfio/3");
	assert_nodes("0000:06:00.0", "/dev/uio0");
	pool.selectors = &vhost;
	assert_nodes("0000:03:02.2", "/dev/vfio/vfio /dev/vfio/12 /dev/vhost-net /dev/net/tun");
	pool.selectors = &vdpa;
	assert_nodes("0000:03:02.3", "/dev/vhost-vdpa-0");
	assert_nodes("0000:03:02.4", ""); /* virtio: a netdev */
	assert_refused("0000:03:02.1", NULL, -ENODEV, "0000:03:02.1 has no vDPA device");
}

/* What only some selectors ask for is given to those that have it. */
static void test_selectors_that_differ(void **state)
{
	struct selector some[] = {{.is_rdma = true}, {.need_vhost_net = true}};
	(void)state;

	pool.selectors = some;
	pool.n_selectors = 2;
	assert_nodes("0000:06:00.0", "/dev/uio0 /dev/vhost-net /dev/net/tun");
	absent = "vhost-net";
	assert_nodes("0000:03:04.3", "/dev/infiniband/uverbs3 /dev/infiniband/rdma_cm");
	pool.selectors = some + 1;
	pool.n_selectors = 1;
	assert_refused("0000:06:00.0", NULL, -ENODEV,
		       "/dev/vhost-net of 0000:06:00.0 is not there");
}

static void test_the_whole_folder(void **state)
{
	struct container_grant g;
	(void)state;

	pool.whole_directory = pool.cdi = true;
	grant(&g, "0000:03:02.1", NULL);
	assert_string_equal(nodes_text(&g), "/dev/infiniband");
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:03:02.1");
	assert_int_equal(g.n_cdi_devices, 0);
	container_grant_done(&g);

	share(POOL_SHARED_ALL, ID_NUMBER);
	offer("900", 0, 0)->numa = -1; /* fixed slots, while there is no HCA */
	assert_nodes("900", "/dev/infiniband");
	absent = "infiniband";
	assert_refused("900", NULL, -ENODEV, "/dev/infiniband is not there");
}

/* --- shared pools ----------------------------------------------------------------------------- */

static void test_slots_on_all_hcas(void **state)
{
	struct container_grant g;
	(void)state;

	share(POOL_SHARED_ALL, ID_NUMBER);
	pool.n_selectors = 0; /* shared pools are RDMA by themselves */
	pool.umad = pool.require_umad = true;
	grant(&g, "0", "2");
	assert_string_equal(nodes_text(&g),
			    "/dev/infiniband/umad0 /dev/infiniband/uverbs0 /dev/infiniband/rdma_cm "
			    "/dev/infiniband/umad10 /dev/infiniband/uverbs10");
	assert_int_equal(g.n_envs, 0); /* as k8s-rdma-shared-dev-plugin */
	container_grant_done(&g);

	rdma[5].umad[0] = '\0';
	assert_refused("1", NULL, -ENODEV,
		       "1: RDMA device mlx5_10 of 0000:04:00.0 has no umad node");
	snprintf(rdma[5].umad, sizeof(rdma[5].umad), "umad10");
	offer("9", 0, 0);
	assert_refused("9", NULL, -ENODEV, "intel.com/sriov has no RDMA device now");
}

static void test_slots_on_one_hca_tell_which(void **state)
{
	struct container_grant g;
	(void)state;

	share(POOL_SHARED_ONE, ID_DEVICE_SLOT);
	grant(&g, "slot-1", NULL);
	assert_string_equal(nodes_text(&g), "/dev/infiniband/uverbs10 /dev/infiniband/rdma_cm");
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:04:00.0");
	container_grant_done(&g);
	grant(&g, "slot-0", "slot-2"); /* both on the first */
	assert_string_equal(env(&g, "PCIDEVICE_INTEL_COM_SRIOV"), "0000:03:00.0");
	assert_int_equal(g.n_nodes, 2);
	container_grant_done(&g);
}

/* --- what is not there ------------------------------------------------------------------------ */

static void test_sentences_name_the_id(void **state)
{
	struct pool other = {.name = pool.name, .prefix = (char[]){"example.org"}};
	struct offer theirs[] = {{.id = "0000:99:00.1"}};
	struct pool_view views[] = {
		view, {.pool = &other, .offers = theirs, .n_offers = ARRAY_SIZE(theirs)}};
	struct pools pools = {.views = views, .n_views = 2};
	(void)state;

	assert_refused("0000:99:00.1", NULL, -ENOENT,
		       "intel.com/sriov has no device \"0000:99:00.1\"");
	in.pools = &pools;
	assert_refused("0000:99:00.1", NULL, -ENOENT,
		       "0000:99:00.1 belongs to example.org/sriov, not to intel.com/sriov");
	assert_refused("", NULL, -ENOENT, "intel.com/sriov has no device \"\"");
	assert_refused("\x01%s\xff\n\"", NULL, -ENOENT,
		       "intel.com/sriov has no device \"?%s??\"\"");
	assert_refused("0000:03:02.1", "0000:03:02.1", -EINVAL, "0000:03:02.1 is asked for twice");

	absent = "infiniband/uverbs3";
	assert_refused("0000:03:02.1", "0000:03:04.3", -ENODEV,
		       "/dev/infiniband/uverbs3 of 0000:03:04.3 is not there");
	absent = "vfio/12";
	assert_refused("0000:03:02.2", NULL, -ENODEV, "/dev/vfio/12 of 0000:03:02.2 is not there");
	absent = NULL;
	assert_refused("0000:06:00.0", NULL, -ENODEV, "0000:06:00.0 has no RDMA device");
	offers[1].gone = true;
	assert_refused("0000:03:02.1", NULL, -ENODEV, "0000:03:02.1 is not there any more");
	member("0000:77:00.0");
	offer("0000:77:00.0", view.n_members - 1, 1);
	assert_refused("0000:77:00.0", NULL, -ENODEV, "0000:77:00.0 is not there any more");
}

static void test_a_list_of_nothing_or_of_far_too_much(void **state)
{
	static char long_id[100001];
	static const char *ids[200000];
	struct container_grant g;
	(void)state;

	assert_int_equal(allocation_grant(&g, &in, (struct id_list){NULL, 0}, &err), -EINVAL);
	assert_string_equal(err.msg, "no device is asked for");
	memset(long_id, 'x', sizeof(long_id) - 1);
	assert_int_equal(ask(&g, long_id, NULL), -ENOENT);
	assert_true(strlen(err.msg) < 128);
	/* The same few over and over: the first one too many ends it. */
	pool.selectors = &plain_selector;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = functions[i % 4].id;
	assert_int_equal(allocation_check(&in, (struct id_list){ids, ARRAY_SIZE(ids)}, &err),
			 -EINVAL);
}

static void test_a_missing_uverbs_node_of_the_device(void **state)
{
	(void)state;
	rdma[2].uverbs[0] = '\0';
	assert_refused("0000:03:04.3", NULL, -ENODEV,
		       "RDMA device mlx5_3 of 0000:03:04.3 has no uverbs node");
	snprintf(rdma[2].uverbs, sizeof(rdma[2].uverbs), "uverbs3");
}

/* --- CDI -------------------------------------------------------------------------------------- */

static void assert_cdi(const char *id, const char *expected)
{
	struct container_grant g;

	grant(&g, id, NULL);
	assert_int_equal(g.n_cdi_devices, expected ? 1 : 0);
	if (expected)
		assert_string_equal(g.cdi_devices[0], expected);
	assert_true(g.n_nodes > 0); /* nodes travel in any case */
	assert_int_equal(g.n_annotations, 0);
	container_grant_done(&g);
}

static void test_cdi_names(void **state)
{
	(void)state;
	pool.cdi = true;
	assert_cdi("0000:03:02.1", "intel.com/net-pci=0000:03:02.1");
	pool.type = DEVICE_AUX_NET;
	assert_cdi("mlx5_core.sf.4", "intel.com/net-sf=mlx5_core.sf.4");
	pool.type = DEVICE_ACCELERATOR;
	assert_cdi("0000:03:02.1", "intel.com/net-accel=0000:03:02.1");
	rename_pool("3com.com", "sriov"); /* a resource's prefix, but no CDI vendor */
	assert_cdi("0000:03:02.1", NULL);
	rename_pool("intel.com", "sriov");
	share(POOL_SHARED_ONE, ID_DEVICE_SLOT);
	assert_cdi("slot-1", "intel.com/net-rdma=sriov-0000:04:00.0");
}

/* A device of CDI must change something. */
static void test_no_nodes_no_cdi(void **state)
{
	struct container_grant g;
	(void)state;

	pool.cdi = true;
	pool.selectors = &plain_selector;
	grant(&g, "0000:03:02.1", NULL);
	assert_int_equal(g.n_cdi_devices, 0);
	container_grant_done(&g);
}

static void assert_keys(const json_t *o, const char *allowed)
{
	const char *key;
	json_t *value;

	assert_true(json_is_object(o));
	json_object_foreach ((json_t *)o, key, value) {
		char word[32];

		snprintf(word, sizeof(word), " %s ", key);
		assert_non_null(strstr(allowed, word));
	}
}

/* The published schema's rules, as far as we use it: what is required, and nothing else. */
static void assert_valid_spec(const char *text)
{
	json_t *spec = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *device, *node, *edits;
	size_t i, j;

	assert_keys(spec, " cdiVersion kind devices ");
	assert_string_equal(json_string_value(json_object_get(spec, "cdiVersion")), "0.5.0");
	assert_non_null(json_string_value(json_object_get(spec, "kind")));
	assert_true(json_array_size(json_object_get(spec, "devices")) > 0);
	json_array_foreach (json_object_get(spec, "devices"), i, device) {
		assert_keys(device, " name containerEdits ");
		assert_non_null(json_string_value(json_object_get(device, "name")));
		edits = json_object_get(device, "containerEdits");
		assert_keys(edits, " deviceNodes ");
		assert_true(json_array_size(json_object_get(edits, "deviceNodes")) > 0);
		json_array_foreach (json_object_get(edits, "deviceNodes"), j, node) {
			const char *rights = json_string_value(
				json_object_get(node, "permissions"));

			assert_keys(node, " path hostPath permissions ");
			assert_int_equal(json_string_value(json_object_get(node, "path"))[0], '/');
			assert_int_equal(json_string_value(json_object_get(node, "hostPath"))[0],
					 '/');
			assert_int_equal(strspn(rights, "rwm"), strlen(rights));
		}
	}
	json_decref(spec);
}

static void put_spec(FILE *out)
{
	char *json = NULL, *name = NULL;

	assert_int_equal(allocation_cdi_spec(&json, &name, &in), 0);
	assert_non_null(json);
	assert_valid_spec(json);
	fprintf(out, "%s\n%s\n", name, json);
	assert_true(allocation_cdi_spec_is_ours(name));
	free(json);
	free(name);
}

static void print_specs(FILE *out)
{
	pool.cdi = true;
	put_spec(out); /* without the functions that have no RDMA */
	pool.selectors = &plain_selector;
	put_spec(out);
	share(POOL_SHARED_ALL, ID_NUMBER);
	snprintf(pool.permissions, sizeof(pool.permissions), "rwm");
	put_spec(out);
}

static void test_cdi_specifications(void **state)
{
	(void)state;
	assert_golden("tests/golden/allocation_cdi.txt", print_specs);
}

static void test_no_devices_no_specification(void **state)
{
	char *json = (char *)"", *name = NULL;
	(void)state;

	view.n_members = 0;
	pool.cdi = true;
	assert_int_equal(allocation_cdi_spec(&json, &name, &in), 0);
	assert_null(json);
	assert_string_equal(name, "rocelet-intel.com_sriov.json");
	free(name);
	pool.cdi = false;
	view.n_members = 2;
	assert_int_equal(allocation_cdi_spec(&json, &name, &in), 0);
	assert_null(json);
	free(name);
	pool.cdi = pool.whole_directory = true; /* a folder is no device */
	assert_int_equal(allocation_cdi_spec(&json, &name, &in), 0);
	assert_null(json);
	free(name);
	assert_false(allocation_cdi_spec_is_ours("sriov-dp-intel.com-net-pci.json"));
	assert_false(allocation_cdi_spec_is_ours("rocelet-"));
	assert_false(allocation_cdi_spec_is_ours("rocelet-x.yaml"));
}

/* --- device-info ------------------------------------------------------------------------------ */

static void put_device_info(FILE *out, const char *id)
{
	char *json = NULL, *name = NULL;

	assert_int_equal(allocation_device_info(&json, &name, &in, id), 0);
	fprintf(out, "%s\n%s\n", name, json ? json : "(none)");
	free(json);
	free(name);
}

static void print_device_infos(FILE *out)
{
	struct selector vdpa = {.vdpa = VDPA_VHOST, .need_vhost_net = true};

	put_device_info(out, "0000:03:02.1");
	put_device_info(out, "0000:04:00.0");
	put_device_info(out, "mlx5_core.sf.4");
	put_device_info(out, "rxe0");
	pool.selectors = &plain_selector;
	put_device_info(out, "0000:03:02.1"); /* RDMA is not asked for */
	put_device_info(out, "0000:03:02.2");
	plain_selector.need_vhost_net = true;
	put_device_info(out, "0000:03:02.2");
	pool.selectors = &vdpa;
	put_device_info(out, "0000:03:02.3");
	put_device_info(out, "0000:03:02.4");
	share(POOL_SHARED_ONE, ID_DEVICE_SLOT);
	put_device_info(out, "slot-1");
}

static void test_device_info(void **state)
{
	char *json, *name;
	(void)state;

	assert_golden("tests/golden/allocation_device_info.txt", print_device_infos);
	assert_int_equal(allocation_device_info(&json, &name, &in, "nobody"), -ENOENT);
}

static void test_which_device_info_is_stale(void **state)
{
	(void)state;
	assert_true(
		allocation_device_info_is_stale(&view, "intel.com-sriov-0000:99:00.1-device.json"));
	assert_false(
		allocation_device_info_is_stale(&view, "intel.com-sriov-0000:03:02.1-device.json"));
	/* Of intel.com/sriov-x, of somebody else, of nobody. */
	assert_false(allocation_device_info_is_stale(&view,
						     "intel.com-sriov-x-0000:99:00.1-device.json"));
	assert_false(
		allocation_device_info_is_stale(&view, "intel.org-sriov-0000:99:00.1-device.json"));
	assert_false(
		allocation_device_info_is_stale(&view, "intel.com-sriov-0000:99:00.1-device.jso"));
	assert_false(allocation_device_info_is_stale(&view, "intel.com-sriov--device.json"));
	assert_false(allocation_device_info_is_stale(&view, "intel.com-sriov-device.json"));
	assert_false(allocation_device_info_is_stale(&view, ""));
}

/* --- out of memory ---------------------------------------------------------------------------- */

#ifdef CAN_FAIL
static int attempt_grant(void)
{
	struct container_grant g;
	int r = ask(&g, "0000:03:02.1", "0000:03:04.3");

	if (r < 0)
		assert_true(!g.nodes && !g.envs && !g.cdi_devices);
	container_grant_done(&g);
	return r;
}

static int attempt_device_info(void)
{
	char *json = NULL, *name = NULL;
	int r = allocation_device_info(&json, &name, &in, "0000:03:02.1");

	assert_true((r == 0) == (json && name));
	free(json);
	free(name);
	return r;
}

static int attempt_cdi_spec(void)
{
	char *json = NULL, *name = NULL;
	int r = allocation_cdi_spec(&json, &name, &in);

	assert_true((r == 0) == (json && name));
	free(json);
	free(name);
	return r;
}

static void test_every_allocation_may_fail(void **state)
{
	struct extra_info extra[] = {{(char[]){"*"}, (char[]){"k"}, (char[]){"v"}}};
	(void)state;

	pool.cdi = pool.umad = pool.issm = true;
	pool.extra = extra;
	pool.n_extra = 1;
	assert_true(fail_each_allocation(attempt_grant) > 50);
	assert_true(fail_each_allocation(attempt_device_info) > 30);
	assert_true(fail_each_allocation(attempt_cdi_spec) > 50);
}
#endif

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_variables_are_those_of_the_peer),
		TEST(test_the_details_are_those_of_the_peer),
		TEST(test_odd_bytes_become_characters),
		TEST(test_sixty_four_ids),
		TEST(test_rdma_nodes_are_the_devices_own),
		TEST(test_permissions_are_the_pools),
		TEST(test_user_space_drivers),
		TEST(test_selectors_that_differ),
		TEST(test_the_whole_folder),
		TEST(test_slots_on_all_hcas),
		TEST(test_slots_on_one_hca_tell_which),
		TEST(test_sentences_name_the_id),
		TEST(test_a_list_of_nothing_or_of_far_too_much),
		TEST(test_a_missing_uverbs_node_of_the_device),
		TEST(test_cdi_names),
		TEST(test_no_nodes_no_cdi),
		TEST(test_cdi_specifications),
		TEST(test_no_devices_no_specification),
		TEST(test_device_info),
		TEST(test_which_device_info_is_stale),
#ifdef CAN_FAIL
		TEST(test_every_allocation_may_fail),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
