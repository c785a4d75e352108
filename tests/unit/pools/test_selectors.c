// SPDX-License-Identifier: Apache-2.0
/* Each selector: which functions of one host it matches, and its reason for the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "host_builder.h"
#include "selectors.h"
#include "test_group.h"

#define WORDS(...)                                                                                 \
	{                                                                                          \
		(char **)(const char *[]){__VA_ARGS__},                                            \
			ARRAY_SIZE(((const char *[]){__VA_ARGS__}))                                \
	}
#define RANGES(...) (struct pf_range[]){__VA_ARGS__}, ARRAY_SIZE(((struct pf_range[]){__VA_ARGS__}))
#define PF(pf)                                                                                     \
	{                                                                                          \
		.name = (char *)(uintptr_t)(pf)                                                    \
	}
#define PF_VFS(pf, ...)                                                                            \
	{                                                                                          \
		(char *)(uintptr_t)(pf), RANGES(__VA_ARGS__)                                       \
	}
#define PFS(...)                                                                                   \
	{                                                                                          \
		(struct pf_selector[]){__VA_ARGS__},                                               \
			ARRAY_SIZE(((struct pf_selector[]){__VA_ARGS__}))                          \
	}

/* --- the host --------------------------------------------------------------------------------- */

/* Short names of the functions. */
static const struct {
	const char *id, *name;
} names[] = {
	{"0000:03:00.0", "pf"},	  {"0000:03:00.1", "vf0"},   {"0000:03:00.2", "vf3"},
	{"0000:04:00.0", "ib"},	  {"0000:05:00.0", "accel"}, {"10000:e1:00.1", "orphan"},
	{"mlx5_core.sf.4", "sf"}, {"rxe0", "rxe"},
};

static void set(char *dst, size_t size, const char *src)
{
	snprintf(dst, size, "%s", src);
}

#define SET(dst, src) set((dst), sizeof(dst), (src))

static void build_ethernet(struct host *h)
{
	struct function *f = build_function(h, FN_PF, "0000:03:00.0", "", 0);
	struct netdev *nd;

	f->vendor = 0x15b3;
	f->device = 0x1021;
	f->acpi_index = 101;
	f->vfs = 2;
	SET(f->driver, "mlx5_core");
	nd = build_netdev(h, "eth0", f->id);
	memcpy(nd->altnames, "enp3s0f0np0\0rail0", sizeof("enp3s0f0np0\0rail0"));
	SET(nd->port_name, "p0");
	SET(build_netdev(h, "eth0_3", f->id)->port_name, "pf0vf3");
	SET(build_netdev(h, "eth0_9", f->id)->port_name, "c1pf0sf9");
	build_rdma(h, "mlx5_0", f->id);
}

static void build_virtual_functions(struct host *h)
{
	struct function *f = build_function(h, FN_VF, "0000:03:00.1", "0000:03:00.0", 0);

	f->vendor = 0x15b3;
	f->device = 0x101e;
	SET(f->driver, "mlx5_core");
	SET(f->vdpa_driver, "virtio_vdpa");
	build_netdev(h, "eth1", f->id);
	build_rdma(h, "mlx5_1", f->id);
	f = build_function(h, FN_VF, "0000:03:00.2", "0000:03:00.0", 3);
	f->vendor = 0x15b3;
	f->device = 0x101e;
	SET(f->driver, "vfio-pci");
	SET(f->vdpa_driver, "vhost_vdpa");
	/* Its PF is not in the inventory. */
	f = build_function(h, FN_VF, "10000:e1:00.1", "10000:e1:00.0", 3);
	f->vendor = 0x8086;
	SET(f->driver, "iavf");
	build_netdev(h, "eth0", f->id)->nsid = 4;
}

static void build_infiniband(struct host *h)
{
	struct function *f = build_function(h, FN_PF, "0000:04:00.0", "", 0);
	struct netdev *nd;
	struct rdma_dev *rd;

	f->vendor = 0x15b3;
	f->device = 0x1021;
	SET(f->driver, "mlx5_core");
	nd = build_netdev(h, "ib0", f->id);
	nd->type = ARPHRD_INFINIBAND;
	nd = build_netdev(h, "ib0.8001", f->id);
	nd->lower = nd->ifindex - 1;
	rd = build_rdma(h, "mlx5_3", f->id);
	rd->ports[0].link_layer = LINK_INFINIBAND;
	rd->ports[0].pkey = 0x8001;
}

static void build_others(struct host *h)
{
	struct function *f = build_function(h, FN_PF, "0000:05:00.0", "", 0);
	struct rdma_dev *rd;
	struct netdev *nd;

	f->vendor = 0x10ee;
	f->class = 0x120000;
	f = build_function(h, FN_SF, "mlx5_core.sf.4", "0000:03:00.0", 88);
	SET(f->driver, "mlx5_core.sf");
	build_netdev(h, "en3f0s88", f->id);
	build_rdma(h, "mlx5_2", f->id);
	nd = build_netdev(h, "br0", "");
	SET(nd->altnames, "bridge-zero");
	build_function(h, FN_VIRTUAL, "rxe0", "", 0);
	rd = build_rdma(h, "rxe0", "rxe0");
	rd->ports[0].netdev_nsid = NSID_HOST;
	rd->ports[0].netdev_ifindex = find_netdev(h, "br0")->ifindex;
	SET(rd->ports[0].netdev, "br0");
}

static int setup(void **state)
{
	static struct host h;

	build_ethernet(&h);
	build_virtual_functions(&h);
	build_infiniband(&h);
	build_others(&h);
	host_sort(&h);
	*state = &h;
	return 0;
}

static int teardown(void **state)
{
	host_done(*state);
	return 0;
}

/* --- expectations ----------------------------------------------------------------------------- */

static const char *short_name(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].id, id) == 0)
			return names[i].name;
	return id;
}

struct expectation {
	struct pool pool;
	struct selector selector;
	const char *matching; /* short names in the host's order */
	enum why_not why;     /* for all others of the right type */
};

static void check(const struct host *h, const struct expectation *e, size_t number)
{
	char matching[256] = "";
	struct host_index ix;

	assert_int_equal(host_index_init(&ix, h), 0);
	for (size_t i = 0; i < h->n_functions; i++) {
		struct candidate c = candidate_of(&ix, &h->functions[i]);
		enum why_not why = selector_match(&e->selector, &e->pool, &c);
		size_t n = strlen(matching);

		if (why == WHY_NOT_NONE)
			snprintf(matching + n, sizeof(matching) - n, "%s%s", n ? " " : "",
				 short_name(h->functions[i].id));
		else if (why != WHY_NOT_TYPE && why != e->why)
			fail_msg("case %zu: %s: \"%s\"", number, short_name(h->functions[i].id),
				 why_not_name(why));
	}
	host_index_done(&ix);
	if (strcmp(matching, e->matching) != 0)
		fail_msg("case %zu: got \"%s\", expected \"%s\"", number, matching, e->matching);
}

static void check_all(void **state, const struct expectation *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(*state, &list[i], i);
}

#define SHARED                                                                                     \
	{                                                                                          \
		.kind = POOL_SHARED_ALL                                                            \
	}
#define AUX                                                                                        \
	{                                                                                          \
		.type = DEVICE_AUX_NET                                                             \
	}
#define ACCEL                                                                                      \
	{                                                                                          \
		.type = DEVICE_ACCELERATOR                                                         \
	}
#define ANYTHING                                                                                   \
	{                                                                                          \
		.is_rdma = false                                                                   \
	}

/* --- the lists -------------------------------------------------------------------------------- */

static void test_type(void **state)
{
	const struct expectation list[] = {
		{{0}, ANYTHING, "pf vf0 vf3 ib orphan", WHY_NOT_TYPE},
		{AUX, ANYTHING, "sf", WHY_NOT_TYPE},
		{ACCEL, ANYTHING, "accel", WHY_NOT_TYPE},
		{SHARED, ANYTHING, "pf vf0 vf3 ib orphan sf rxe", WHY_NOT_TYPE},
		/* Exclusive pools match these only by name. */
		{{0}, {.rdma_names = WORDS("rxe0", "mlx5_2")}, "sf rxe", WHY_NOT_RDMA_NAME},
		{{0}, {.if_names = WORDS("br0", "en3f0s88")}, "sf rxe", WHY_NOT_IF_NAME},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_ids_and_drivers(void **state)
{
	const struct expectation list[] = {
		{{0}, {.vendors = WORDS("15b3")}, "pf vf0 vf3 ib", WHY_NOT_VENDOR},
		{{0}, {.vendors = WORDS("0x15B3")}, "pf vf0 vf3 ib", WHY_NOT_VENDOR},
		{{0}, {.vendors = WORDS("8086", "0X15b3")}, "pf vf0 vf3 ib orphan", WHY_NOT_VENDOR},
		{{0}, {.vendors = WORDS("15b")}, "", WHY_NOT_VENDOR},
		{{0}, {.vendors = WORDS("", "0", "15b3x")}, "", WHY_NOT_VENDOR},
		/* A sub-function has the vendor of its PCI function. */
		{AUX, {.vendors = WORDS("15b3")}, "sf", WHY_NOT_VENDOR},
		{AUX, {.vendors = WORDS("8086")}, "", WHY_NOT_VENDOR},
		{AUX, {.devices = WORDS("1021")}, "sf", WHY_NOT_DEVICE},
		{{0}, {.devices = WORDS("101E")}, "vf0 vf3", WHY_NOT_DEVICE},
		/* 0 is not a device id. */
		{{0}, {.devices = WORDS("0000")}, "", WHY_NOT_DEVICE},
		{{0}, {.drivers = WORDS("mlx5_core")}, "pf vf0 ib", WHY_NOT_DRIVER},
		{{0}, {.drivers = WORDS("mlx5")}, "", WHY_NOT_DRIVER},
		{{0}, {.drivers = WORDS("MLX5_CORE")}, "", WHY_NOT_DRIVER},
		{AUX, {.drivers = WORDS("mlx5_core.sf")}, "sf", WHY_NOT_DRIVER},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_addresses(void **state)
{
	const struct expectation list[] = {
		{{0}, {.pci_addresses = WORDS("0000:03:00.2")}, "vf3", WHY_NOT_PCI_ADDRESS},
		{{0}, {.pci_addresses = WORDS("10000:E1:00.1")}, "orphan", WHY_NOT_PCI_ADDRESS},
		{{0}, {.pci_addresses = WORDS("03:00.2")}, "", WHY_NOT_PCI_ADDRESS},
		{AUX, {.pci_addresses = WORDS("mlx5_core.sf.4")}, "sf", WHY_NOT_PCI_ADDRESS},
		{{0}, {.acpi_indexes = WORDS("101")}, "pf", WHY_NOT_ACPI_INDEX},
		{{0}, {.acpi_indexes = WORDS("0", "10", "0x65")}, "", WHY_NOT_ACPI_INDEX},
		{AUX, {.aux_types = WORDS("sf")}, "sf", WHY_NOT_AUX_TYPE},
		{AUX, {.aux_types = WORDS("eth", "s", "sf.4")}, "", WHY_NOT_AUX_TYPE},
		{{0}, {.aux_types = WORDS("sf")}, "", WHY_NOT_AUX_TYPE},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_pf_names(void **state)
{
	const struct expectation list[] = {
		{{0}, {.pf_names = PFS(PF("eth0"))}, "pf vf0 vf3", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF("ETH0"))}, "pf vf0 vf3", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF("rail0"))}, "pf vf0 vf3", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF("MLX5_0"))}, "pf vf0 vf3", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF("0000:03:00.0"))}, "pf vf0 vf3", WHY_NOT_PF_NAME},
		{AUX, {.pf_names = PFS(PF("eth0"))}, "sf", WHY_NOT_PF_NAME},
		/* A VF's own name or a representor's is not the PF's name. */
		{{0}, {.pf_names = PFS(PF("eth1"))}, "", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF("eth0_3"), PF("eth0_9"))}, "", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF("ib0.8001"))}, "", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF("ib0"), PF("eth9"))}, "ib", WHY_NOT_PF_NAME},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_ranges(void **state)
{
	const struct expectation list[] = {
		{{0}, {.pf_names = PFS(PF_VFS("eth0", {0, 0}))}, "vf0", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF_VFS("eth0", {1, 2}))}, "", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF_VFS("eth0", {1, 3}))}, "vf3", WHY_NOT_PF_NAME},
		{{0}, {.pf_names = PFS(PF_VFS("eth0", {3, 7}))}, "vf3", WHY_NOT_PF_NAME},
		{{0},
		 {.pf_names = PFS(PF_VFS("eth0", {9, 9}, {0, 3}))},
		 "vf0 vf3",
		 WHY_NOT_PF_NAME},
		{{0},
		 {.pf_names = PFS(PF_VFS("eth0", {0, 0}), PF_VFS("eth0", {3, 3}))},
		 "vf0 vf3",
		 WHY_NOT_PF_NAME},
		/* A PF is not one of its VFs. */
		{{0},
		 {.pf_names = PFS(PF_VFS("eth0", {0, UINT32_MAX}))},
		 "vf0 vf3",
		 WHY_NOT_PF_NAME},
		/* For a sub-function, ranges select its sub-function number. */
		{AUX, {.pf_names = PFS(PF_VFS("eth0", {88, 90}))}, "sf", WHY_NOT_PF_NAME},
		{AUX, {.pf_names = PFS(PF_VFS("eth0", {0, 87}))}, "", WHY_NOT_PF_NAME},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_root_devices(void **state)
{
	const struct expectation list[] = {
		{{0}, {.root_devices = PFS(PF("0000:03:00.0"))}, "pf vf0 vf3", WHY_NOT_ROOT_DEVICE},
		{{0},
		 {.root_devices = PFS(PF_VFS("0000:03:00.0", {3, 3}))},
		 "vf3",
		 WHY_NOT_ROOT_DEVICE},
		/* Also if the PF is not in the inventory. */
		{{0}, {.root_devices = PFS(PF("10000:E1:00.0"))}, "orphan", WHY_NOT_ROOT_DEVICE},
		{{0}, {.root_devices = PFS(PF("0000:03:00.1"))}, "", WHY_NOT_ROOT_DEVICE},
		{{0}, {.root_devices = PFS(PF("eth0"), PF("mlx5_0"))}, "", WHY_NOT_ROOT_DEVICE},
		{AUX, {.root_devices = PFS(PF("0000:03:00.0"))}, "sf", WHY_NOT_ROOT_DEVICE},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_names(void **state)
{
	const struct expectation list[] = {
		/* "eth0" is also the orphan's name, in another namespace. */
		{{0}, {.if_names = WORDS("eth0")}, "pf", WHY_NOT_IF_NAME},
		{{0}, {.if_names = WORDS("enp3s0f0np0")}, "pf", WHY_NOT_IF_NAME},
		{{0}, {.if_names = WORDS("ETH0", "eth0_3", "ib0.8001")}, "", WHY_NOT_IF_NAME},
		{{0}, {.if_names = WORDS("eth1", "ib0")}, "vf0 ib", WHY_NOT_IF_NAME},
		/* A software device has the netdev of its RDMA port. */
		{SHARED, {.if_names = WORDS("br0")}, "rxe", WHY_NOT_IF_NAME},
		{SHARED, {.if_names = WORDS("bridge-zero")}, "rxe", WHY_NOT_IF_NAME},
		{{0}, {.rdma_names = WORDS("mlx5_1", "mlx5_3")}, "vf0 ib", WHY_NOT_RDMA_NAME},
		{{0}, {.rdma_names = WORDS("MLX5_1", "mlx5_")}, "", WHY_NOT_RDMA_NAME},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_a_port_in_another_namespace_has_no_name(void **state)
{
	struct host *h = *state;
	struct rdma_port *p = find_rdma(h, "rxe0")->ports;
	const struct expectation e = {
		SHARED, {.if_names = WORDS("br0", "bridge-zero")}, "", WHY_NOT_IF_NAME};

	p->netdev_nsid = 4;
	check(h, &e, 0);
	p->netdev_nsid = NSID_HOST;
}

/* sysfs has no index. */
static void test_a_port_that_names_its_netdev_without_an_index(void **state)
{
	struct host *h = *state;
	struct rdma_port *p = find_rdma(h, "rxe0")->ports;
	int ifindex = p->netdev_ifindex;
	const struct expectation e = {SHARED, {.if_names = WORDS("br0")}, "rxe", WHY_NOT_IF_NAME};

	p->netdev_ifindex = 0;
	check(h, &e, 0);
	p->netdev_ifindex = ifindex;
}

static void test_links(void **state)
{
	const struct expectation list[] = {
		{{0}, {.link_types = WORDS("ether")}, "pf vf0 orphan", WHY_NOT_LINK_TYPE},
		{{0}, {.link_types = WORDS("Infiniband")}, "ib", WHY_NOT_LINK_TYPE},
		{{0},
		 {.link_types = WORDS("ether", "infiniband")},
		 "pf vf0 ib orphan",
		 WHY_NOT_LINK_TYPE},
		{{0}, {.link_types = WORDS("loopback")}, "", WHY_NOT_LINK_TYPE},
		{{0}, {.pkeys = WORDS("0x8001")}, "ib", WHY_NOT_PKEY},
		{{0}, {.pkeys = WORDS("8001")}, "ib", WHY_NOT_PKEY},
		{{0}, {.pkeys = WORDS("0x7fff", "0", "32769")}, "", WHY_NOT_PKEY},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_the_link_type_of_a_port_without_a_netdev(void **state)
{
	struct host *h = *state;
	struct netdev *nd = find_netdev(h, "ib0");
	const struct expectation e = {
		{0}, {.link_types = WORDS("infiniband")}, "ib", WHY_NOT_LINK_TYPE};

	nd->type = 0;
	check(h, &e, 0);
	nd->type = ARPHRD_INFINIBAND;
	find_rdma(h, "mlx5_3")->ports[0].link_layer = LINK_UNKNOWN;
	check(h, &e, 1);
	find_rdma(h, "mlx5_3")->ports[0].link_layer = LINK_INFINIBAND;
}

static void test_flags(void **state)
{
	const struct expectation list[] = {
		{{0}, {.is_rdma = true}, "pf vf0 ib", WHY_NOT_RDMA},
		{{0}, {.vdpa = VDPA_VHOST}, "vf3", WHY_NOT_VDPA},
		{{0}, {.vdpa = VDPA_VIRTIO}, "vf0", WHY_NOT_VDPA},
		{{0}, {.need_vhost_net = true}, "pf vf0 vf3 ib orphan", WHY_NOT_NONE},
	};

	check_all(state, list, ARRAY_SIZE(list));
}

static void test_all_lists_must_match(void **state)
{
	const struct expectation list[] = {
		{{0},
		 {.vendors = WORDS("15b3"), .devices = WORDS("101e"), .is_rdma = true},
		 "vf0",
		 WHY_NOT_NONE},
	};
	const struct host *h = *state;
	static const enum why_not why[] = {WHY_NOT_DEVICE, WHY_NOT_NONE, WHY_NOT_RDMA,
					   WHY_NOT_DEVICE, WHY_NOT_TYPE, WHY_NOT_VENDOR,
					   WHY_NOT_TYPE,   WHY_NOT_TYPE};
	struct host_index ix;

	/* The reason is the first selector that fails. */
	assert_int_equal(host_index_init(&ix, h), 0);
	assert_int_equal(h->n_functions, ARRAY_SIZE(why));
	for (size_t i = 0; i < h->n_functions; i++) {
		struct candidate c = candidate_of(&ix, &h->functions[i]);

		assert_int_equal(selector_match(&list[0].selector, &list[0].pool, &c), why[i]);
	}
	host_index_done(&ix);
}

/* A virtual machine sees VFs without their PF. */
static void test_a_vf_without_pf_is_its_own_pf(void **state)
{
	struct host h = {0};
	const struct expectation list[] = {
		{{0}, {.pf_names = PFS(PF("ens5"))}, "0000:00:05.0", WHY_NOT_PF_NAME},
		{{0},
		 {.root_devices = PFS(PF("0000:00:05.0"))},
		 "0000:00:05.0",
		 WHY_NOT_ROOT_DEVICE},
		{{0}, {.pf_names = PFS(PF("eth9"))}, "", WHY_NOT_PF_NAME},
	};
	(void)state;

	build_function(&h, FN_PF, "0000:00:05.0", "", 0);
	build_netdev(&h, "ens5", "0000:00:05.0");
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		check(&h, &list[i], i);
	host_done(&h);
}

static void test_every_reason_has_a_text(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_WHY_NOT; i++) {
		assert_non_null(why_not_name(i));
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(why_not_name(i), why_not_name(j));
	}
	assert_non_null(why_not_name(N_WHY_NOT));
}

/* --- the index -------------------------------------------------------------------------------- */

static void test_the_index_finds_the_same_as_the_host(void **state)
{
	const struct host *h = *state;
	struct host_index ix;
	struct fn_parts p;

	assert_int_equal(host_index_init(&ix, h), 0);
	for (size_t i = 0; i < h->n_functions; i++)
		assert_ptr_equal(host_index_function(&ix, h->functions[i].id), &h->functions[i]);
	for (size_t i = 0; i < h->n_netdevs; i++)
		assert_ptr_equal(host_index_netdev(&ix, h->netdevs[i].nsid, h->netdevs[i].ifindex),
				 &h->netdevs[i]);
	assert_null(host_index_function(&ix, "0000:03:00.9"));
	assert_null(host_index_netdev(&ix, NSID_HOST, 99));
	p = host_index_parts(&ix, "0000:03:00.0");
	assert_int_equal(p.n_netdevs, 3);
	assert_int_equal(p.n_rdma, 1);
	assert_string_equal(part_netdev(&p, 0)->name, "eth0");
	assert_string_equal(part_netdev(&p, 1)->name, "eth0_3");
	assert_string_equal(part_rdma(&p, 0)->name, "mlx5_0");
	p = host_index_parts(&ix, ""); /* br0 belongs to no function */
	assert_null(p.fn);
	assert_int_equal(p.n_netdevs, 0);
	host_index_done(&ix);
}

static void test_index_of_a_host_in_any_order(void **state)
{
	struct host h = {0};
	struct host_index ix;
	struct fn_parts p;
	(void)state;

	build_function(&h, FN_VIRTUAL, "siw0", "", 0);
	build_netdev(&h, "c", "siw0")->ifindex = 9;
	build_netdev(&h, "b", "siw0")->nsid = 7;
	build_netdev(&h, "a", "siw0");
	build_rdma(&h, "siw0", ""); /* without a function below: it is one itself */
	assert_int_equal(host_index_init(&ix, &h), 0);
	assert_string_equal(host_index_netdev(&ix, NSID_HOST, 9)->name, "c");
	assert_string_equal(host_index_netdev(&ix, 7, 2)->name, "b");
	assert_string_equal(host_index_netdev(&ix, NSID_HOST, 3)->name, "a");
	p = host_index_parts(&ix, "siw0");
	assert_int_equal(p.n_rdma, 1);
	assert_int_equal(p.n_netdevs, 3);
	assert_string_equal(part_netdev(&p, 0)->name, "c");
	host_index_done(&ix);
	host_done(&h);
}

/* A hash table that is half full has many displaced rows. */
static void test_index_of_a_full_node(void **state)
{
	struct host h = {0};
	struct host_index ix;
	struct fn_parts p;
	char id[DEV_ID_SIZE];
	(void)state;

	for (unsigned i = 0; i < 2000; i++) {
		snprintf(id, sizeof(id), "0000:%02x:%02x.%u", i >> 8, i >> 3 & 31, i & 7);
		build_function(&h, FN_VF, id, "", 0);
		build_netdev(&h, "a", id);
		build_netdev(&h, "b", id);
	}
	build_rdma(&h, "mlx5_0", "0000:99:00.0"); /* its function is not in the inventory */
	assert_int_equal(host_index_init(&ix, &h), 0);
	for (unsigned i = 0; i < 2000; i++) {
		p = host_index_parts(&ix, h.functions[i].id);
		assert_ptr_equal(p.fn, &h.functions[i]);
		assert_int_equal(p.n_netdevs, 2);
		assert_ptr_equal(part_netdev(&p, 1), &h.netdevs[2 * i + 1]);
		assert_int_equal(p.n_rdma, 0);
	}
	p = host_index_parts(&ix, "0000:99:00.0");
	assert_null(p.fn);
	assert_ptr_equal(part_rdma(&p, 0), &h.rdma[0]);
	assert_null(host_index_function(&ix, "0000:99:00.0"));
	assert_int_equal(host_index_parts(&ix, "0000:99:00.1").n_rdma, 0);
	host_index_done(&ix);
	host_done(&h);
}

TEST_GROUP(selectors)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type),
		cmocka_unit_test(test_ids_and_drivers),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_pf_names),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_root_devices),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_port_in_another_namespace_has_no_name),
		cmocka_unit_test(test_a_port_that_names_its_netdev_without_an_index),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_the_link_type_of_a_port_without_a_netdev),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_all_lists_must_match),
		cmocka_unit_test(test_a_vf_without_pf_is_its_own_pf),
		cmocka_unit_test(test_every_reason_has_a_text),
		cmocka_unit_test(test_the_index_finds_the_same_as_the_host),
		cmocka_unit_test(test_index_of_a_host_in_any_order),
		cmocka_unit_test(test_index_of_a_full_node),
	};

	return test_group_run(tests, setup, teardown);
}
