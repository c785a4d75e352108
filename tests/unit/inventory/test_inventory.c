// SPDX-License-Identifier: Apache-2.0
/* Scans update the inventory: what a scan does not contain is removed, except for netdevs and RDMA
 * devices of a bound function, which are in another namespace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>

#include "array.h"
#include "inventory.h"
#include "test_group.h"

#define PF "0000:18:00.0"
#define VF "0000:18:00.1"

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct inventory));
	assert_non_null(*state);
	return 0;
}

static int teardown(void **state)
{
	inventory_done(*state);
	free(*state);
	return 0;
}

/* --- scans made by hand ------------------------------------------------------------------- */

static void *check_alloc(void *p)
{
	if (!p)
		abort();
	return p;
}

static void see_function(struct scan *s, const char *id, const char *driver)
{
	struct function *f = check_alloc(array_push(s->host.functions, s->host.n_functions));

	strcpy(f->id, id);
	strcpy(f->driver, driver);
	f->kind = strcmp(id, VF) == 0 ? FN_VF : FN_PF;
	s->parts |= SCAN_FUNCTIONS;
}

static struct netdev *see_netdev(struct scan *s, int nsid, int ifindex, const char *name,
				 const char *function)
{
	struct netdev *d = check_alloc(array_push(s->host.netdevs, s->host.n_netdevs));

	d->nsid = nsid;
	d->ifindex = ifindex;
	strcpy(d->name, name);
	strcpy(d->function, function);
	s->parts |= SCAN_NETDEVS;
	return d;
}

static struct rdma_dev *see_rdma(struct scan *s, const char *name, const char *function)
{
	struct rdma_dev *d = check_alloc(array_push(s->host.rdma, s->host.n_rdma));

	d->nsid = NSID_HOST;
	strcpy(d->name, name);
	strcpy(d->function, function);
	d->ports = calloc(1, sizeof(*d->ports));
	assert_non_null(d->ports);
	d->ports[0].num = 1;
	d->n_ports = 1;
	d->ports[0].gids = calloc(1, sizeof(struct gid));
	assert_non_null(d->ports[0].gids);
	d->ports[0].n_gids = 1;
	s->parts |= SCAN_RDMA;
	return d;
}

static bool apply(struct inventory *inv, struct scan *s)
{
	bool changed = inventory_apply(inv, s, 1);

	scan_done(s);
	return changed;
}

/* A PF and a VF, each with a netdev and an RDMA device. */
static struct scan whole_host(void)
{
	struct scan s = {0};

	see_function(&s, PF, "mlx5_core");
	see_function(&s, VF, "mlx5_core");
	see_netdev(&s, NSID_HOST, 2, "pf", PF);
	see_netdev(&s, NSID_HOST, 3, "vf", VF);
	see_rdma(&s, "mlx5_0", PF);
	see_rdma(&s, "mlx5_1", VF);
	s.host.rdma_mode = RDMA_NETNS_EXCLUSIVE;
	return s;
}

static const struct netdev *netdev_of(const struct inventory *inv, const char *function)
{
	for (size_t i = 0; i < inv->host.n_netdevs; i++)
		if (strcmp(inv->host.netdevs[i].function, function) == 0)
			return &inv->host.netdevs[i];
	return NULL;
}

/* --- what changes and what does not ------------------------------------------------------- */

static void test_an_equal_scan_changes_nothing(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	assert_true(apply(inv, &s));
	assert_int_equal(inv->generation, 1);
	assert_int_equal(inv->host.n_rdma, 2);
	s = whole_host();
	assert_false(apply(inv, &s));
	/* The order in the scan does not matter. */
	see_function(&s, VF, "mlx5_core");
	see_function(&s, PF, "mlx5_core");
	assert_false(apply(inv, &s));
	assert_int_equal(inv->generation, 1);
}

static void test_padding_changes_nothing(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	assert_true(apply(inv, &s));
	s = whole_host();
	memset(s.host.netdevs[0].name + strlen(s.host.netdevs[0].name) + 1, 'x', 3);
	memset(s.host.netdevs[0].altnames + 1, 'x', sizeof(s.host.netdevs[0].altnames) - 1);
	memset(s.host.netdevs[0].addr, 'x', sizeof(s.host.netdevs[0].addr));
	assert_false(apply(inv, &s));
}

static void expect_change(struct inventory *inv, struct scan *s)
{
	uint64_t before = inv->generation;
	struct scan same = whole_host();

	assert_true(apply(inv, s));
	assert_int_equal(inv->generation, before + 1);
	assert_true(apply(inv, &same)); /* and changed back */
}

static void test_every_visible_value_is_a_change(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	assert_true(apply(inv, &s));
#define EXPECT_CHANGE(statement)                                                                   \
	do {                                                                                       \
		s = whole_host();                                                                  \
		statement;                                                                         \
		expect_change(inv, &s);                                                            \
	} while (0)
	EXPECT_CHANGE(s.host.functions[1].vf = 5);
	EXPECT_CHANGE(s.host.functions[0].numa = 1);
	EXPECT_CHANGE(strcpy(s.host.functions[0].driver, "vfio-pci"));
	EXPECT_CHANGE(s.host.functions[0].vfs = 3);
	EXPECT_CHANGE(strcpy(s.host.netdevs[0].name, "new"));
	EXPECT_CHANGE(s.host.netdevs[0].mtu = 1500);
	EXPECT_CHANGE(s.host.netdevs[0].carrier = CARRIER_OFF);
	EXPECT_CHANGE(s.host.netdevs[0].carrier_changes++);
	EXPECT_CHANGE(strcpy(s.host.netdevs[0].operstate, "down"));
	EXPECT_CHANGE(s.host.netdevs[0].flags = IFF_UP);
	EXPECT_CHANGE(strcpy(s.host.netdevs[0].altnames, "alt"));
	EXPECT_CHANGE((s.host.netdevs[0].addr_len = 6, s.host.netdevs[0].addr[5] = 1));
	EXPECT_CHANGE(strcpy(s.host.rdma[0].fw, "2"));
	EXPECT_CHANGE(strcpy(s.host.rdma[0].uverbs, "uverbs0"));
	EXPECT_CHANGE(s.host.rdma[0].ports[0].state = PORT_DOWN);
	EXPECT_CHANGE(s.host.rdma[0].ports[0].netdev_ifindex = 2);
	EXPECT_CHANGE(s.host.rdma[0].ports[0].gids[0].raw[15] = 1);
	EXPECT_CHANGE(s.host.functions[0].acpi_index = 1);
	EXPECT_CHANGE(strcpy(s.host.functions[0].path, "pci0000:00"));
	EXPECT_CHANGE(strcpy(s.host.functions[0].vfio, "vfio/1"));
	EXPECT_CHANGE(strcpy(s.host.functions[0].uio, "uio1"));
	EXPECT_CHANGE(strcpy(s.host.functions[0].vdpa_node, "vhost-vdpa-1"));
	EXPECT_CHANGE(strcpy(s.host.functions[0].vdpa_driver, "virtio_vdpa"));
	EXPECT_CHANGE(s.host.netdevs[0].lower = 3);
	EXPECT_CHANGE(s.host.netdevs[0].type = 32);
	EXPECT_CHANGE(s.host.netdevs[0].default_route = true);
	EXPECT_CHANGE(strcpy(s.host.netdevs[0].port_name, "p0"));
	EXPECT_CHANGE(strcpy(s.host.netdevs[0].origin, "ens1f0v3"));
	EXPECT_CHANGE(s.host.rdma[0].ports[0].pkey = 0x8001);
	EXPECT_CHANGE(s.host.rdma_mode = RDMA_NETNS_SHARED);
#undef EXPECT_CHANGE
}

static void test_an_empty_host_is_a_first_generation(void **state)
{
	struct inventory *inv = *state;
	struct scan s = {.parts = SCAN_ALL};

	assert_true(apply(inv, &s));
	assert_int_equal(inv->generation, 1);
	s.parts = SCAN_ALL;
	assert_false(apply(inv, &s));
}

/* --- parts -------------------------------------------------------------------------------- */

static void test_a_partial_scan_leaves_the_rest(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_netdev(&s, NSID_HOST, 2, "renamed", PF);
	see_netdev(&s, NSID_HOST, 3, "vf", VF);
	assert_true(apply(inv, &s));
	assert_string_equal(netdev_of(inv, PF)->name, "renamed");
	assert_int_equal(inv->host.n_functions, 2);
	assert_int_equal(inv->host.n_rdma, 2);
}

static void test_a_part_that_failed_changes_nothing(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_netdev(&s, NSID_HOST, 9, "half", "");
	see_rdma(&s, "half", "");
	s.parts = 0;
	assert_false(apply(inv, &s));
	assert_int_equal(inv->host.n_netdevs, 2);
	assert_non_null(host_rdma(&inv->host, "mlx5_0"));
}

static void test_objects_missing_in_a_scan_are_removed(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_function(&s, PF, "mlx5_core");
	see_netdev(&s, NSID_HOST, 2, "pf", PF);
	see_rdma(&s, "mlx5_0", PF);
	assert_true(apply(inv, &s));
	assert_int_equal(inv->host.n_functions, 1);
	assert_int_equal(inv->host.n_netdevs, 1);
	assert_int_equal(inv->host.n_rdma, 1);
}

static void test_a_vf_that_looks_like_a_pf_for_a_moment(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();
	struct function *vf = &s.host.functions[1];

	vf->vf = 3;
	strcpy(vf->parent, PF);
	apply(inv, &s);
	s = whole_host();
	s.host.functions[1].kind = FN_PF;
	s.host.functions[1].vf = -1;
	assert_false(apply(inv, &s));
	assert_int_equal(host_function(&inv->host, VF)->kind, FN_VF);
	assert_int_equal(host_function(&inv->host, VF)->vf, 3);
	/* A function that can have VFs is no VF. */
	s = whole_host();
	s.host.functions[1].kind = FN_PF;
	s.host.functions[1].sriov = true;
	assert_true(apply(inv, &s));
	assert_int_equal(host_function(&inv->host, VF)->kind, FN_PF);
}

static struct report *see_report(struct scan *s, const char *function, int vf)
{
	struct report *r = check_alloc(array_push(s->host.reports, s->host.n_reports));

	strcpy(r->function, function);
	r->vf = vf;
	s->parts |= SCAN_REPORTS;
	return r;
}

static void test_reports_are_assigned_to_functions(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();
	const struct function *vf;

	s.host.functions[1].vf = 3;
	strcpy(s.host.functions[1].parent, PF);
	apply(inv, &s);
	see_report(&s, PF, 3)->vf_link = VF_LINK_DISABLE;
	s.host.reports[s.host.n_reports - 1].vf_settings = 5;
	see_report(&s, PF, 2)->vf_link = VF_LINK_ENABLE;
	strcpy(see_report(&s, VF, -1)->devlink_error, "fw");
	see_report(&s, "0000:17:00.0", -1)->unreachable = true;
	assert_true(apply(inv, &s));
	vf = host_function(&inv->host, VF);
	assert_int_equal(vf->vf_link, VF_LINK_DISABLE);
	assert_int_equal(vf->vf_settings, 5);
	assert_string_equal(vf->devlink_error, "fw");
	assert_false(vf->unreachable);
	assert_string_equal(host_function(&inv->host, PF)->devlink_error, "");
	/* A scan of the functions alone keeps the reports. */
	see_function(&s, PF, "mlx5_core");
	see_function(&s, VF, "mlx5_core");
	s.host.functions[1].vf = 3;
	strcpy(s.host.functions[1].parent, PF);
	assert_false(apply(inv, &s));
	/* A PF that does not answer makes its VFs unreachable; values no longer reported are
	 * unknown. */
	see_report(&s, PF, -1)->unreachable = true;
	assert_true(apply(inv, &s));
	vf = host_function(&inv->host, VF);
	assert_int_equal(vf->vf_link, VF_LINK_UNKNOWN);
	assert_int_equal(vf->vf_settings, 0);
	assert_string_equal(vf->devlink_error, "");
	assert_true(vf->unreachable);
	assert_true(host_function(&inv->host, PF)->unreachable);
	s.parts = SCAN_REPORTS;
	assert_true(apply(inv, &s));
	assert_false(host_function(&inv->host, VF)->unreachable);
}

/* --- moved into a pod ---------------------------------------------------------------------- */

static void test_a_vf_leaves_the_host_and_returns(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_netdev(&s, NSID_HOST, 2, "pf", PF);
	assert_true(apply(inv, &s));
	assert_int_equal(netdev_of(inv, VF)->nsid, NSID_ELSEWHERE);
	assert_string_equal(netdev_of(inv, VF)->name, "vf");
	see_netdev(&s, NSID_HOST, 2, "pf", PF);
	assert_false(apply(inv, &s)); /* still in another namespace */
	see_netdev(&s, NSID_HOST, 2, "pf", PF);
	see_netdev(&s, NSID_HOST, 3, "net1", VF);
	assert_true(apply(inv, &s));
	assert_int_equal(inv->host.n_netdevs, 2);
	assert_int_equal(netdev_of(inv, VF)->nsid, NSID_HOST);
	assert_string_equal(netdev_of(inv, VF)->name, "net1");
}

static void test_a_vf_in_a_readable_namespace(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_netdev(&s, NSID_HOST, 2, "pf", PF);
	see_netdev(&s, 4, 2, "net1", VF);
	assert_true(apply(inv, &s));
	assert_int_equal(inv->host.n_netdevs, 2);
	assert_int_equal(netdev_of(inv, VF)->nsid, 4);
}

static void test_a_netdev_in_a_pod_is_removed_with_its_function(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_netdev(&s, NSID_HOST, 2, "pf", PF);
	apply(inv, &s);
	assert_int_equal(inv->host.n_netdevs, 2);
	see_function(&s, PF, "mlx5_core");
	see_function(&s, VF, ""); /* unbound */
	assert_true(apply(inv, &s));
	assert_null(netdev_of(inv, VF));
	s = whole_host();
	apply(inv, &s);
	see_netdev(&s, NSID_HOST, 2, "pf", PF);
	apply(inv, &s);
	see_function(&s, PF, "mlx5_core"); /* the VF is destroyed */
	assert_true(apply(inv, &s));
	assert_null(netdev_of(inv, VF));
	assert_int_equal(inv->host.n_netdevs, 1);
}

static void test_a_missing_representor_is_removed(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	see_netdev(&s, NSID_HOST, 9, "pf_vf0_rep", PF);
	apply(inv, &s);
	assert_int_equal(inv->host.n_netdevs, 3);
	s = whole_host(); /* the PF's own netdev is still there */
	assert_true(apply(inv, &s));
	assert_int_equal(inv->host.n_netdevs, 2);
}

static void test_a_missing_software_netdev_is_removed(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	see_netdev(&s, NSID_HOST, 9, "veth0", "");
	apply(inv, &s);
	s = whole_host();
	assert_true(apply(inv, &s));
	assert_int_equal(inv->host.n_netdevs, 2);
}

static void see_rdma_without_the_vfs(struct scan *s, enum rdma_netns_mode mode)
{
	see_rdma(s, "mlx5_0", PF);
	s->host.rdma_mode = mode;
}

static void test_a_missing_rdma_device_is_kept_in_exclusive_mode_only(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_rdma_without_the_vfs(&s, RDMA_NETNS_EXCLUSIVE);
	assert_true(apply(inv, &s));
	assert_int_equal(host_rdma(&inv->host, "mlx5_1")->nsid, NSID_ELSEWHERE);
	assert_int_equal(host_rdma(&inv->host, "mlx5_1")->ports[0].n_gids, 1);
	see_rdma_without_the_vfs(&s, RDMA_NETNS_EXCLUSIVE);
	assert_false(apply(inv, &s));
	see_rdma_without_the_vfs(&s, RDMA_NETNS_SHARED);
	assert_true(apply(inv, &s));
	assert_null(host_rdma(&inv->host, "mlx5_1"));
}

static void test_a_missing_software_rdma_device_is_removed(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	strcpy(s.host.rdma[1].driver, "rxe");
	apply(inv, &s);
	see_rdma_without_the_vfs(&s, RDMA_NETNS_EXCLUSIVE);
	assert_true(apply(inv, &s));
	assert_null(host_rdma(&inv->host, "mlx5_1"));
}

static void test_an_rdma_device_in_a_pod_is_removed_with_its_function(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_rdma_without_the_vfs(&s, RDMA_NETNS_EXCLUSIVE);
	apply(inv, &s);
	see_function(&s, PF, "mlx5_core");
	assert_true(apply(inv, &s));
	assert_null(host_rdma(&inv->host, "mlx5_1"));
}

static void test_virtual_functions_exist_with_their_devices(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();

	apply(inv, &s);
	see_rdma(&s, "mlx5_0", PF);
	see_rdma(&s, "mlx5_1", VF);
	see_rdma(&s, "rxe0", "rxe0");
	s.host.rdma_mode = RDMA_NETNS_EXCLUSIVE;
	assert_true(apply(inv, &s));
	assert_int_equal(host_function(&inv->host, "rxe0")->kind, FN_VIRTUAL);
	see_function(&s, PF, "mlx5_core");
	see_function(&s, VF, "mlx5_core");
	assert_false(apply(inv, &s)); /* it is not on the bus */
	s = whole_host();
	assert_true(apply(inv, &s));
	assert_null(host_function(&inv->host, "rxe0"));
}

/* --- details ------------------------------------------------------------------------------ */

/* Like a live scan, which leaves out the details of RDMA devices. */
static struct scan bare_host(void)
{
	struct scan s = whole_host();

	for (size_t i = 0; i < s.host.n_rdma; i++) {
		free(s.host.rdma[i].ports[0].gids);
		s.host.rdma[i].ports[0].gids = NULL;
		s.host.rdma[i].ports[0].n_gids = 0;
		s.host.rdma[i].stale = true;
	}
	return s;
}

/* Acts like hw_read_details() on the stale devices. */
static int read_details(struct inventory *inv, uint8_t last_byte, bool *ret_changed)
{
	struct host details = {0};
	int n = inventory_take_stale(inv, &details);

	for (size_t i = 0; i < details.n_rdma; i++) {
		struct rdma_port *p = &details.rdma[i].ports[0];

		assert_int_equal(p->n_gids, 0);
		p->gids = check_alloc(calloc(1, sizeof(struct gid)));
		p->gids[0].raw[15] = last_byte;
		p->n_gids = 1;
		p->active_mtu = 4096;
		details.rdma[i].stale = false;
	}
	*ret_changed = inventory_apply_details(inv, &details);
	host_done(&details);
	return n;
}

static const struct rdma_port *port_of(const struct inventory *inv, const char *name)
{
	return &host_rdma(&inv->host, name)->ports[0];
}

static void test_details_are_read_once(void **state)
{
	struct inventory *inv = *state;
	struct scan s = bare_host();
	bool changed;

	apply(inv, &s);
	assert_int_equal(read_details(inv, 1, &changed), 2);
	assert_true(changed);
	assert_int_equal(port_of(inv, "mlx5_1")->active_mtu, 4096);
	s = bare_host();
	assert_false(apply(inv, &s));
	assert_int_equal(port_of(inv, "mlx5_1")->n_gids, 1);
	assert_int_equal(read_details(inv, 9, &changed), 0); /* nothing is stale */
	assert_false(changed);
}

static void test_a_changed_port_is_read_again_and_keeps_its_details(void **state)
{
	struct inventory *inv = *state;
	struct scan s = bare_host();
	bool changed;

	apply(inv, &s);
	read_details(inv, 1, &changed);
	s = bare_host();
	s.host.rdma[1].ports[0].state = PORT_DOWN;
	assert_true(apply(inv, &s));
	assert_int_equal(port_of(inv, "mlx5_1")->n_gids, 1);
	assert_int_equal(read_details(inv, 2, &changed), 1);
	assert_true(changed);
	assert_int_equal(port_of(inv, "mlx5_0")->gids[0].raw[15], 1);
	assert_int_equal(port_of(inv, "mlx5_1")->gids[0].raw[15], 2);
}

static void test_an_address_makes_its_ports_stale(void **state)
{
	struct inventory *inv = *state;
	struct scan s = bare_host();
	bool changed;

	s.host.rdma[1].ports[0].netdev_nsid = NSID_HOST;
	s.host.rdma[1].ports[0].netdev_ifindex = 3;
	apply(inv, &s);
	read_details(inv, 1, &changed);
	assert_false(inventory_mark_stale(inv, NSID_HOST, 99));
	assert_false(inventory_mark_stale(inv, 4, 3)); /* in another namespace */
	assert_true(inventory_mark_stale(inv, NSID_HOST, 3));
	assert_int_equal(read_details(inv, 1, &changed), 1);
	assert_false(changed); /* read again, and equal */
	assert_true(inventory_mark_stale(inv, NSID_HOST, 0));
	assert_int_equal(read_details(inv, 1, &changed), 2);
}

/* udev may not have created the node yet, or no descriptor was free. */
static void test_reading_details_is_retried(void **state)
{
	struct inventory *inv = *state;
	struct host details = {0};
	struct scan s = bare_host();
	bool changed;

	apply(inv, &s);
	assert_int_equal(inventory_take_stale(inv, &details), 2);
	details.rdma[0].stale = false; /* like a device that hw_read_details() has read */
	inventory_apply_details(inv, &details);
	host_done(&details);
	s = bare_host();
	apply(inv, &s);
	assert_int_equal(read_details(inv, 1, &changed), 1);
	assert_int_equal(port_of(inv, "mlx5_1")->n_gids, 1);
}

static void test_a_device_with_a_new_node_is_read_again(void **state)
{
	struct inventory *inv = *state;
	struct scan s = bare_host();
	bool changed;

	s.host.rdma[1].uverbs[0] = '\0';
	apply(inv, &s);
	read_details(inv, 1, &changed);
	s = bare_host();
	strcpy(s.host.rdma[1].uverbs, "uverbs1");
	apply(inv, &s);
	assert_int_equal(read_details(inv, 1, &changed), 1);
}

static void test_a_device_in_a_pod_keeps_its_details_when_events_are_lost(void **state)
{
	struct inventory *inv = *state;
	struct scan s = bare_host();
	struct host details = {0};
	bool changed;

	apply(inv, &s);
	read_details(inv, 1, &changed);
	see_rdma_without_the_vfs(&s, RDMA_NETNS_EXCLUSIVE);
	apply(inv, &s);
	inventory_mark_stale(inv, NSID_HOST, 0);
	inventory_take_stale(inv, &details); /* a device in another namespace cannot be read */
	inventory_apply_details(inv, &details);
	host_done(&details);
	assert_int_equal(host_rdma(&inv->host, "mlx5_1")->nsid, NSID_ELSEWHERE);
	assert_int_equal(port_of(inv, "mlx5_1")->active_mtu, 4096);
	assert_int_equal(port_of(inv, "mlx5_1")->n_gids, 1);
}

static void test_details_of_a_removed_device_are_dropped(void **state)
{
	struct inventory *inv = *state;
	struct host details = {0};
	struct scan s = bare_host();

	apply(inv, &s);
	assert_int_equal(inventory_take_stale(inv, &details), 2);
	see_rdma_without_the_vfs(&s, RDMA_NETNS_SHARED);
	apply(inv, &s);
	assert_null(host_rdma(&inv->host, "mlx5_1"));
	inventory_apply_details(inv, &details);
	assert_null(host_rdma(&inv->host, "mlx5_1"));
	host_done(&details);
}

/* --- memory ------------------------------------------------------------------------------- */

static void test_a_thousand_changes_leak_nothing(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();
	size_t used = 0;

	apply(inv, &s);
	for (int i = 0; i < 1000; i++) {
		s = whole_host();
		see_function(&s, "0000:19:00.0", "mlx5_core");
		see_netdev(&s, NSID_HOST, 50, "more", "0000:19:00.0");
		see_rdma(&s, "mlx5_2", "0000:19:00.0");
		assert_true(apply(inv, &s));
		see_netdev(&s, NSID_HOST, 2, "pf", PF); /* two devices are in another namespace */
		apply(inv, &s);
		s = whole_host();
		assert_true(apply(inv, &s));
		if (i == 10)
			used = mallinfo2().uordblks;
	}
	assert_int_equal(inv->host.n_functions, 2);
	assert_int_equal(inv->host.n_netdevs, 2);
	assert_int_equal(inv->host.n_rdma, 2);
	assert_int_equal(inv->generation, 3001);
	assert_true(mallinfo2().uordblks <= used);
}

/* --- borrowing ---------------------------------------------------------------------------- */

static void test_a_borrowed_host_does_not_change(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();
	struct host_ref *host_ref;

	apply(inv, &s);
	host_ref = check_alloc(inventory_borrow(inv));
	assert_ptr_equal(host_ref->host.netdevs, inv->host.netdevs); /* no copy */
	s = whole_host();
	strcpy(s.host.netdevs[0].name, "renamed");
	assert_true(apply(inv, &s));
	assert_string_equal(netdev_of(inv, PF)->name, "renamed");
	assert_string_equal(host_ref->host.netdevs[0].name, "pf");
	assert_int_equal(host_ref->host.rdma[1].ports[0].n_gids, 1);
	host_ref_put(host_ref);
	assert_string_equal(netdev_of(inv, PF)->name, "renamed");
}

static void test_a_returned_host_is_changed_in_place(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();
	const struct function *functions;

	apply(inv, &s);
	functions = inv->host.functions;
	host_ref_put(check_alloc(inventory_borrow(inv)));
	s = (struct scan){0};
	see_netdev(&s, NSID_HOST, 9, "new", "");
	assert_true(apply(inv, &s));
	assert_ptr_equal(inv->host.functions, functions);
}

static void test_several_borrowers(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();
	struct host_ref *first, *second, *third;

	apply(inv, &s);
	first = check_alloc(inventory_borrow(inv));
	second = check_alloc(inventory_borrow(inv));
	s = whole_host();
	strcpy(s.host.netdevs[0].name, "renamed");
	assert_true(apply(inv, &s));
	third = check_alloc(inventory_borrow(inv));
	host_ref_put(first);
	assert_string_equal(second->host.netdevs[0].name, "pf");
	assert_string_equal(third->host.netdevs[0].name, "renamed");
	host_ref_put(third);
	host_ref_put(second);
	/* All are returned: changes are made in place again. */
	host_ref_put(check_alloc(inventory_borrow(inv)));
	assert_null(inv->host_ref);
}

static void test_a_borrowed_host_outlives_the_inventory(void **state)
{
	struct inventory *inv = *state;
	struct scan s = whole_host();
	struct host_ref *host_ref;

	apply(inv, &s);
	host_ref = check_alloc(inventory_borrow(inv));
	inventory_done(inv);
	assert_int_equal(host_ref->host.n_rdma, 2);
	assert_string_equal(host_ref->host.rdma[1].name, "mlx5_1");
	host_ref_put(host_ref);
	host_ref_put(NULL);
}

static void test_a_scan_without_netdevs_does_not_set_the_scan_time(void **state)
{
	struct inventory inv = {0};
	struct scan s = whole_host();

	(void)state;
	inventory_apply(&inv, &s, 5);
	scan_done(&s);
	assert_int_equal(inv.devices_ms, 5);
	s = whole_host();
	s.parts = SCAN_FUNCTIONS | SCAN_RDMA;
	inventory_apply(&inv, &s, 7);
	scan_done(&s);
	assert_int_equal(inv.devices_ms, 5);
	inventory_done(&inv);
}

TEST_GROUP(inventory)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_scan_without_netdevs_does_not_set_the_scan_time),
		T(test_an_equal_scan_changes_nothing),
		T(test_padding_changes_nothing),
		T(test_every_visible_value_is_a_change),
		T(test_an_empty_host_is_a_first_generation),
		T(test_a_partial_scan_leaves_the_rest),
		T(test_a_part_that_failed_changes_nothing),
		T(test_objects_missing_in_a_scan_are_removed),
		T(test_a_vf_that_looks_like_a_pf_for_a_moment),
		T(test_reports_are_assigned_to_functions),
		T(test_a_vf_leaves_the_host_and_returns),
		T(test_a_vf_in_a_readable_namespace),
		T(test_a_netdev_in_a_pod_is_removed_with_its_function),
		T(test_a_missing_representor_is_removed),
		T(test_a_missing_software_netdev_is_removed),
		T(test_a_missing_rdma_device_is_kept_in_exclusive_mode_only),
		T(test_a_missing_software_rdma_device_is_removed),
		T(test_an_rdma_device_in_a_pod_is_removed_with_its_function),
		T(test_virtual_functions_exist_with_their_devices),
		T(test_details_are_read_once),
		T(test_a_changed_port_is_read_again_and_keeps_its_details),
		T(test_an_address_makes_its_ports_stale),
		T(test_reading_details_is_retried),
		T(test_a_device_with_a_new_node_is_read_again),
		T(test_a_device_in_a_pod_keeps_its_details_when_events_are_lost),
		T(test_details_of_a_removed_device_are_dropped),
		T(test_a_thousand_changes_leak_nothing),
		T(test_a_borrowed_host_does_not_change),
		T(test_a_returned_host_is_changed_in_place),
		T(test_several_borrowers),
		T(test_a_borrowed_host_outlives_the_inventory),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
