// SPDX-License-Identifier: Apache-2.0
/* RDMA devices in sysfs, with files as invalid as possible, and their character devices. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "rdma_sysfs.h"
#include "sysfs_fixture.h"
#include "sysfs_tree.h"
#include "test_group.h"
#include "tmptree.h"

static void put(struct sysfs_fixture *f, const char *dev, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "class/infiniband/%s/%s", dev, file);
	tmptree_write(f->dir, path, "%s\n", text);
}

static const struct rdma_dev *scan_for(struct sysfs_fixture *f, const char *name)
{
	scan_done(&f->scan);
	hw_scan(&f->hw, SCAN_RDMA, &f->scan);
	assert_int_equal(f->scan.parts, SCAN_RDMA | SCAN_NETDEVS);
	return host_rdma(&f->scan.host, name);
}

static void test_a_roce_device_of_the_generator(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct rdma_dev *d;
	const struct rdma_port *p;

	sysfs_tree_generate(f->dir, 1, 1);
	d = scan_for(f, "mlx5_1");
	assert_non_null(d);
	assert_int_equal(d->nsid, NSID_HOST);
	assert_int_equal(d->index, RDMA_INDEX_NONE);
	assert_string_equal(d->function, "0000:18:00.1");
	assert_string_equal(d->fw, "28.39.3004");
	assert_string_equal(d->board, "MT_0000000838");
	assert_string_equal(d->hca_type, "MT4129");
	assert_true(d->node_guid == 0xa088c203000003e8);
	assert_int_equal(d->n_ports, 1);
	p = &d->ports[0];
	assert_int_equal(p->num, 1);
	assert_int_equal(p->state, PORT_ACTIVE);
	assert_int_equal(p->phys_state, PHYS_LINK_UP);
	assert_int_equal(p->link_layer, LINK_ETHERNET);
	assert_true(p->rate_bps == 400000000000);
	assert_string_equal(p->netdev, "ens1v0");
	assert_int_equal(p->netdev_ifindex, 11);
	assert_int_equal(p->netdev_nsid, NSID_HOST);
	assert_int_equal(p->n_gids, 2);
	assert_int_equal(p->gids[0].index, 0);
	assert_int_equal(p->gids[0].type, GID_ROCE_V1);
	assert_int_equal(p->gids[1].index, 3);
	assert_int_equal(p->gids[1].type, GID_ROCE_V2);
	assert_string_equal(p->gids[1].netdev, "ens1v0");
	assert_int_equal(p->active_mtu, 0); /* reported only through verbs */
}

static void test_gid_tables_have_holes_and_zeros(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct rdma_dev *d;

	put(f, "mlx5_0", "ports/1/link_layer", "InfiniBand");
	put(f, "mlx5_0", "ports/1/gids/10", "fe80:0000:0000:0000:0000:0000:0000:0001");
	put(f, "mlx5_0", "ports/1/gids/2", "fe80:0000:0000:0000:0000:0000:0000:0002");
	put(f, "mlx5_0", "ports/1/gids/3", "0000:0000:0000:0000:0000:0000:0000:0000");
	put(f, "mlx5_0", "ports/1/gids/4", "fe80::1");
	put(f, "mlx5_0", "ports/1/gids/5/file", "EISDIR, as good as the kernel's EINVAL");
	put(f, "mlx5_0", "ports/1/gids/x", "fe80:0000:0000:0000:0000:0000:0000:0003");
	put(f, "mlx5_0", "ports/1/gid_attrs/types/2", "IB/RoCE v1");
	put(f, "mlx5_0", "ports/1/pkeys/0", "0x8001");
	d = scan_for(f, "mlx5_0");
	assert_int_equal(d->ports[0].pkey, 0x8001);
	assert_int_equal(d->ports[0].n_gids, 2);
	assert_int_equal(d->ports[0].gids[0].index, 2);
	assert_int_equal(d->ports[0].gids[0].type, GID_IB);
	assert_int_equal(d->ports[0].gids[1].index, 10);
	assert_int_equal(d->ports[0].gids[1].type, GID_UNKNOWN);
	assert_string_equal(d->ports[0].gids[1].netdev, "");
}

/* Broadcom's text has 38 characters, Intel's board 72. */
static void test_texts_of_real_cards(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct rdma_dev *d;

	put(f, "bnxt_re0", "hca_type", "Broadcom NetXtreme-C/E RoCE Driver HCA\n");
	put(f, "bnxt_re0", "board_id",
	    "Intel Corporation Omni-Path HFI Adapter 100 Series, 1 Port, PCIe x16 (2)\n");
	put(f, "bnxt_re0", "fw_ver", "231.2.64.0\n");
	put(f, "bnxt_re0", "ports/1/state", "4: ACTIVE");
	d = scan_for(f, "bnxt_re0");
	assert_string_equal(d->hca_type, "Broadcom NetXtreme-C/E RoCE Driver HCA");
	assert_string_equal(
		d->board,
		"Intel Corporation Omni-Path HFI Adapter 100 Series, 1 Port, PCIe x16 (2)");
	assert_string_equal(d->fw, "231.2.64.0");
}

static void test_bad_files_hurt_only_themselves(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct rdma_dev *d;

	put(f, "bad", "fw_ver", "");
	put(f, "bad", "node_guid", "not a guid");
	put(f, "bad", "board_id/file", "a directory");
	put(f, "bad", "hca_type",
	    "this text is far too long to be a type of host channel adapter of any vendor, or of "
	    "two of them, or of all together, now and always");
	put(f, "bad", "ports/1/state", "99: NEW");
	put(f, "bad", "ports/1/phys_state", "LinkUp");
	put(f, "bad", "ports/1/rate", "fast");
	put(f, "bad", "ports/1/link_layer", "Token Ring");
	put(f, "bad", "ports/x/state", "4: ACTIVE");
	put(f, "bad", "ports/2/state", "4: ACTIVE");
	put(f, "good", "ports/1/state", "4: ACTIVE");
	tmptree_write(f->dir, "class/infiniband/a_file", "x");
	tmptree_link(f->dir, "class/infiniband/dangling", "../../devices/gone");
	d = scan_for(f, "bad");
	assert_string_equal(d->fw, "");
	assert_string_equal(d->board, "");
	assert_string_equal(d->hca_type, "");
	assert_true(d->node_guid == 0);
	assert_int_equal(d->n_ports, 2);
	assert_int_equal(d->ports[0].state, PORT_UNKNOWN);
	assert_int_equal(d->ports[0].phys_state, PHYS_UNKNOWN);
	assert_true(d->ports[0].rate_bps == 0);
	assert_int_equal(d->ports[0].link_layer, LINK_UNKNOWN);
	assert_int_equal(d->ports[1].num, 2);
	assert_int_equal(d->ports[1].state, PORT_ACTIVE);
	assert_int_equal(scan_for(f, "good")->ports[0].state, PORT_ACTIVE);
}

static void test_character_devices_are_matched_by_the_whole_name(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct rdma_dev *d;

	put(f, "mlx5_1", "node_type", "1: CA");
	put(f, "mlx5_10", "node_type", "1: CA");
	put(f, "mlx5_2", "node_type", "1: CA");
	tmptree_write(f->dir, "class/infiniband_verbs/uverbs7/ibdev", "mlx5_10\n");
	tmptree_write(f->dir, "class/infiniband_verbs/uverbs12/ibdev", "mlx5_1\n");
	tmptree_write(f->dir, "class/infiniband_verbs/abi_version", "6\n");
	tmptree_write(f->dir, "class/infiniband_mad/umad3/ibdev", "mlx5_1\n");
	tmptree_write(f->dir, "class/infiniband_mad/umad3/port", "2\n");
	tmptree_write(f->dir, "class/infiniband_mad/umad4/ibdev", "mlx5_1\n");
	tmptree_write(f->dir, "class/infiniband_mad/umad4/port", "1\n");
	tmptree_write(f->dir, "class/infiniband_mad/issm4/ibdev", "mlx5_1\n");
	tmptree_write(f->dir, "class/infiniband_mad/issm4/port", "1\n");
	tmptree_write(f->dir, "class/infiniband_cm/ucm0/ibdev", "mlx5_10\n");
	d = scan_for(f, "mlx5_1");
	assert_string_equal(d->uverbs, "uverbs12");
	assert_string_equal(d->umad, "umad4"); /* that of the first port */
	assert_string_equal(d->issm, "issm4");
	assert_string_equal(d->ucm, "");
	d = host_rdma(&f->scan.host, "mlx5_10");
	assert_string_equal(d->uverbs, "uverbs7");
	assert_string_equal(d->umad, "");
	assert_string_equal(d->ucm, "ucm0");
	assert_string_equal(host_rdma(&f->scan.host, "mlx5_2")->uverbs, "");
}

static void test_missing_device_nodes(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct rdma_dev *d;

	put(f, "mlx5_1", "node_type", "1: CA");
	tmptree_write(f->dir, "class/infiniband_verbs/uverbs1/ibdev", "mlx5_1\n");
	tmptree_write(f->dir, "class/infiniband_mad/umad1/ibdev", "mlx5_1\n");
	close(f->hw.dev_fd);
	f->hw.dev_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = scan_for(f, "mlx5_1");
	assert_true(d->no_uverbs_node && d->no_umad_node);
	tmptree_write(f->dir, "infiniband/uverbs1", "\n");
	d = scan_for(f, "mlx5_1");
	assert_true(!d->no_uverbs_node && d->no_umad_node);
	tmptree_write(f->dir, "infiniband/umad1", "\n");
	d = scan_for(f, "mlx5_1");
	assert_true(!d->no_uverbs_node && !d->no_umad_node);
}

static void test_rdma_cm_node_and_module(void **state)
{
	struct sysfs_fixture *f = *state;
	struct host *h = &f->scan.host;

	put(f, "mlx5_1", "node_type", "1: CA");
	close(f->hw.dev_fd);
	f->hw.dev_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scan_for(f, "mlx5_1");
	assert_int_equal(h->rdma_cm, RDMA_CM_UNKNOWN); /* without the class "misc" */
	tmptree_write(f->dir, "class/misc/fuse/dev", "10:229\n");
	scan_for(f, "mlx5_1");
	assert_int_equal(h->rdma_cm, RDMA_CM_NO_MODULE);
	tmptree_write(f->dir, "class/misc/rdma_cm/dev", "10:58\n");
	scan_for(f, "mlx5_1");
	assert_int_equal(h->rdma_cm, RDMA_CM_NO_NODE);
	tmptree_write(f->dir, "infiniband/rdma_cm", "\n");
	scan_for(f, "mlx5_1");
	assert_int_equal(h->rdma_cm, RDMA_CM_THERE);
}

/* A device that cannot be opened for lack of descriptors is not reported as removed. */
static void test_a_scan_without_descriptors_is_incomplete(void **state)
{
	struct sysfs_fixture *f = *state;
	struct rlimit old, none;

	put(f, "mlx5_1", "node_type", "1: CA");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	hw_scan(&f->hw, SCAN_ALL, &f->scan);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(f->scan.parts, 0);
	assert_int_equal(f->scan.problem[SRC_SYSFS].code, -EMFILE);
	scan_done(&f->scan);
	hw_scan(&f->hw, SCAN_ALL, &f->scan);
	assert_int_equal(f->scan.parts & SCAN_RDMA, SCAN_RDMA);
	assert_int_equal(f->scan.problem[SRC_SYSFS].code, 0);
}

static void test_drivers(void **state)
{
	struct sysfs_fixture *f = *state;

	put(f, "mlx5_0", "node_type", "1: CA");
	tmptree_write(f->dir, "devices/pci0000:00/0000:18:00.0/class", "0x020000\n");
	tmptree_link(f->dir, "devices/pci0000:00/0000:18:00.0/driver",
		     "../../../bus/pci/drivers/mlx5_core");
	tmptree_link(f->dir, "class/infiniband/mlx5_0/device",
		     "../../../devices/pci0000:00/0000:18:00.0");
	put(f, "rxe0", "parent", "eth0");
	put(f, "rxe0", "node_type", "1: CA");
	put(f, "siw0", "node_type", "4: RNIC");
	put(f, "odd0", "node_type", "1: CA");
	assert_string_equal(scan_for(f, "mlx5_0")->driver, "mlx5");
	assert_string_equal(host_rdma(&f->scan.host, "mlx5_0")->function, "0000:18:00.0");
	assert_string_equal(host_rdma(&f->scan.host, "rxe0")->driver, "rxe");
	assert_string_equal(host_rdma(&f->scan.host, "rxe0")->function, "rxe0");
	assert_string_equal(host_rdma(&f->scan.host, "siw0")->driver, "siw");
	assert_string_equal(host_rdma(&f->scan.host, "odd0")->driver, "");
	assert_string_equal(rdma_driver_of("mlx5_core.sf"), "mlx5");
	assert_string_equal(rdma_driver_of("mlx5_core2"), "mlx5_core2");
	assert_string_equal(rdma_driver_of("bnxt_en"), "bnxt_re");
	assert_string_equal(rdma_driver_of("efa"), "efa");
}

static void test_a_soft_device_is_on_its_netdevs_function(void **state)
{
	struct sysfs_fixture *f = *state;

	tmptree_write(f->dir, "devices/pci0000:00/0000:18:00.0/net/eth0/ifindex", "5\n");
	tmptree_link(f->dir, "class/net/eth0", "../../devices/pci0000:00/0000:18:00.0/net/eth0");
	put(f, "rxe0", "parent", "eth0");
	put(f, "rxe0", "ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001");
	put(f, "rxe0", "ports/1/gid_attrs/ndevs/0", "eth0");
	assert_string_equal(scan_for(f, "rxe0")->function, "0000:18:00.0");
	assert_int_equal(scan_for(f, "rxe0")->ports[0].netdev_ifindex, 5);
}

static void test_gid_types(void **state)
{
	(void)state;
	assert_int_equal(gid_type_parse("RoCE v2", LINK_ETHERNET), GID_ROCE_V2);
	assert_int_equal(gid_type_parse("IB/RoCE v1", LINK_ETHERNET), GID_ROCE_V1);
	assert_int_equal(gid_type_parse("IB/RoCE v1", LINK_INFINIBAND), GID_IB);
	assert_int_equal(gid_type_parse("IB/RoCE v1", LINK_UNKNOWN), GID_UNKNOWN);
	assert_int_equal(gid_type_parse("RoCE v3", LINK_ETHERNET), GID_UNKNOWN);
	assert_int_equal(gid_type_parse("", LINK_ETHERNET), GID_UNKNOWN);
}

static void test_no_rdma_at_all_is_complete(void **state)
{
	struct sysfs_fixture *f = *state;

	assert_null(scan_for(f, "mlx5_0"));
	assert_int_equal(f->scan.host.n_rdma, 0);
	assert_int_equal(f->scan.problem[SRC_SYSFS].code, 0);
}

TEST_GROUP(rdma)
{
#define T(name) cmocka_unit_test_setup_teardown(name, sysfs_fixture_setup, sysfs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_roce_device_of_the_generator),
		T(test_gid_tables_have_holes_and_zeros),
		T(test_texts_of_real_cards),
		T(test_bad_files_hurt_only_themselves),
		T(test_character_devices_are_matched_by_the_whole_name),
		T(test_missing_device_nodes),
		T(test_rdma_cm_node_and_module),
		T(test_a_scan_without_descriptors_is_incomplete),
		T(test_drivers),
		T(test_a_soft_device_is_on_its_netdevs_function),
		cmocka_unit_test(test_gid_types),
		T(test_no_rdma_at_all_is_complete),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
