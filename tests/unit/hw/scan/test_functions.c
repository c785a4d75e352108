// SPDX-License-Identifier: Apache-2.0
/* Functions with network or RDMA devices, in trees with and without bus/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "functions.h"
#include "sysfs_fixture.h"
#include "sysfs_tree.h"
#include "test_group.h"
#include "tmptree.h"

static void read_all(struct sysfs_fixture *f)
{
	struct err e = {0};

	host_done(&f->scan.host);
	assert_int_equal(functions_read(&f->hw, &f->scan.host, &e), 0);
	host_sort(&f->scan.host);
}

/* A PCI device as the kernel presents it: below devices/, linked from bus/. */
static void add_pci(struct sysfs_fixture *f, const char *id, const char *class)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "devices/pci0000:00/%s/class", id);
	tmptree_write(f->dir, path, "%s\n", class);
	snprintf(path, sizeof(path), "bus/pci/devices/%s", id);
	snprintf(target, sizeof(target), "../../../devices/pci0000:00/%s", id);
	tmptree_link(f->dir, path, target);
}

static void put(struct sysfs_fixture *f, const char *id, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "devices/pci0000:00/%s/%s", id, file);
	tmptree_write(f->dir, path, "%s\n", text);
}

static void link_to(struct sysfs_fixture *f, const char *id, const char *name, const char *target)
{
	char path[256];

	snprintf(path, sizeof(path), "devices/pci0000:00/%s/%s", id, name);
	tmptree_link(f->dir, path, target);
}

static void test_network_functions_are_found_by_class(void **state)
{
	struct sysfs_fixture *f = *state;

	add_pci(f, "0000:00:1f.0", "0x060100"); /* a bridge */
	add_pci(f, "0000:18:00.0", "0x020000");
	add_pci(f, "10000:19:00.0", "0x020700"); /* InfiniBand, behind VMD */
	add_pci(f, "0000:1a:00.0", "0x0c0600");
	add_pci(f, "0000:1b:00.0", "0x0c0300"); /* USB */
	put(f, "0000:18:00.0", "vendor", "0x15b3");
	put(f, "0000:18:00.0", "device", "0x1021");
	put(f, "0000:18:00.0", "numa_node", "1");
	put(f, "10000:19:00.0", "numa_node", "-1");
	link_to(f, "0000:18:00.0", "driver", "../../../bus/pci/drivers/mlx5_core");
	read_all(f);
	assert_int_equal(f->scan.host.n_functions, 3);
	assert_string_equal(f->scan.host.functions[0].id, "0000:18:00.0");
	assert_int_equal(f->scan.host.functions[0].kind, FN_PF);
	assert_int_equal(f->scan.host.functions[0].vendor, 0x15b3);
	assert_int_equal(f->scan.host.functions[0].device, 0x1021);
	assert_int_equal(f->scan.host.functions[0].class, 0x020000);
	assert_int_equal(f->scan.host.functions[0].numa, 1);
	assert_int_equal(f->scan.host.functions[0].vf, -1);
	assert_string_equal(f->scan.host.functions[0].driver, "mlx5_core");
	assert_string_equal(f->scan.host.functions[0].parent, "");
	assert_false(f->scan.host.functions[0].sriov);
	assert_string_equal(f->scan.host.functions[1].id, "0000:1a:00.0");
	assert_string_equal(f->scan.host.functions[2].id, "10000:19:00.0");
	assert_int_equal(f->scan.host.functions[2].numa, -1);
	assert_string_equal(f->scan.host.functions[2].driver, "");
}

static void test_other_classes_are_found_by_their_devices(void **state)
{
	struct sysfs_fixture *f = *state;

	add_pci(f, "0000:18:00.0", "0xff0000");
	add_pci(f, "0000:19:00.0", "0x120000");
	put(f, "0000:18:00.0", "net/eth0/ifindex", "2");
	put(f, "0000:19:00.0", "infiniband/efa_0/fw_ver", "1");
	read_all(f);
	assert_int_equal(f->scan.host.n_functions, 2);
}

static void test_accelerators_are_functions(void **state)
{
	struct sysfs_fixture *f = *state;

	add_pci(f, "0000:18:00.0", "0x120000");
	add_pci(f, "0000:19:00.0", "0x030000"); /* a display */
	put(f, "0000:18:00.0", "acpi_index", "7");
	read_all(f);
	assert_int_equal(f->scan.host.n_functions, 1);
	assert_int_equal(f->scan.host.functions[0].acpi_index, 7);
	assert_string_equal(f->scan.host.functions[0].path, "pci0000:00");
}

/* An empty name would mean that no driver is bound. */
static void test_a_long_driver_name_is_cut(void **state)
{
	struct sysfs_fixture *f = *state;

	add_pci(f, "0000:18:00.0", "0x020000");
	link_to(f, "0000:18:00.0", "driver",
		"../../../bus/pci/drivers/a_driver_whose_name_has_40_characters___");
	read_all(f);
	assert_string_equal(f->scan.host.functions[0].driver, "a_driver_whose_name_has_40_char");
}

static void test_nodes_of_user_space_drivers(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct function *fn;

	add_pci(f, "0000:18:00.0", "0x020000");
	link_to(f, "0000:18:00.0", "driver", "../../../bus/pci/drivers/vfio-pci");
	link_to(f, "0000:18:00.0", "iommu_group", "../../../kernel/iommu_groups/12");
	add_pci(f, "0000:18:00.1", "0x020000");
	link_to(f, "0000:18:00.1", "driver", "../../../bus/pci/drivers/mlx5_vfio_pci");
	link_to(f, "0000:18:00.1", "iommu_group", "../../../kernel/iommu_groups/3");
	tmptree_write(f->dir, "kernel/iommu_groups/3/name", "vfio-noiommu\n");
	add_pci(f, "0000:18:00.2", "0x020000");
	link_to(f, "0000:18:00.2", "driver", "../../../bus/pci/drivers/uio_pci_generic");
	put(f, "0000:18:00.2", "uio/uio4/name", "uio_pci_generic");
	add_pci(f, "0000:18:00.3", "0x020000"); /* has an IOMMU group, but a kernel driver */
	link_to(f, "0000:18:00.3", "driver", "../../../bus/pci/drivers/mlx5_core");
	link_to(f, "0000:18:00.3", "iommu_group", "../../../kernel/iommu_groups/4");
	read_all(f);
	assert_string_equal(f->scan.host.functions[0].vfio, "vfio/12");
	assert_string_equal(f->scan.host.functions[1].vfio, "vfio/noiommu-3");
	fn = &f->scan.host.functions[2];
	assert_string_equal(fn->vfio, "");
	assert_string_equal(fn->uio, "uio4");
	assert_string_equal(f->scan.host.functions[3].vfio, "");
}

static void add_vdpa(struct sysfs_fixture *f, const char *id, const char *name, const char *driver)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "devices/pci0000:00/%s/%s/driver", id, name);
	snprintf(target, sizeof(target), "../../../../bus/vdpa/drivers/%s", driver);
	tmptree_link(f->dir, path, target);
	snprintf(path, sizeof(path), "bus/vdpa/devices/%s", name);
	snprintf(target, sizeof(target), "../../../devices/pci0000:00/%s/%s", id, name);
	tmptree_link(f->dir, path, target);
}

static void test_vdpa_devices(void **state)
{
	struct sysfs_fixture *f = *state;

	add_pci(f, "0000:18:00.0", "0x020000");
	add_pci(f, "0000:18:00.1", "0x020000");
	add_pci(f, "0000:18:00.2", "0x020000");
	add_vdpa(f, "0000:18:00.0", "vdpa0", "vhost_vdpa");
	put(f, "0000:18:00.0", "vdpa0/vhost-vdpa-2/dev", "511:2");
	add_vdpa(f, "0000:18:00.1", "mine", "virtio_vdpa"); /* any name is allowed */
	tmptree_link(f->dir, "bus/vdpa/devices/sim", "../../../devices/vdpasim/sim");
	read_all(f);
	assert_string_equal(f->scan.host.functions[0].vdpa_driver, "vhost_vdpa");
	assert_string_equal(f->scan.host.functions[0].vdpa_node, "vhost-vdpa-2");
	assert_string_equal(f->scan.host.functions[1].vdpa_driver, "virtio_vdpa");
	assert_string_equal(f->scan.host.functions[1].vdpa_node, "");
	assert_string_equal(f->scan.host.functions[2].vdpa_driver, "");
}

static void test_pf_and_number_of_virtual_functions(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct function *vf;

	add_pci(f, "0000:18:00.0", "0x020000");
	add_pci(f, "0000:18:00.2", "0x020000");
	add_pci(f, "0000:18:01.1", "0x020000");
	put(f, "0000:18:00.0", "sriov_totalvfs", "16");
	put(f, "0000:18:00.0", "sriov_numvfs", "2");
	link_to(f, "0000:18:00.0", "virtfn0", "../0000:18:00.2");
	link_to(f, "0000:18:00.0", "virtfn11", "../0000:18:01.1");
	link_to(f, "0000:18:00.0", "virtfnX", "../0000:18:00.2");
	link_to(f, "0000:18:00.2", "physfn", "../0000:18:00.0");
	link_to(f, "0000:18:01.1", "physfn", "../0000:18:00.0");
	read_all(f);
	assert_int_equal(f->scan.host.n_functions, 3);
	assert_true(f->scan.host.functions[0].sriov);
	assert_int_equal(f->scan.host.functions[0].vfs, 2);
	assert_int_equal(f->scan.host.functions[0].vfs_total, 16);
	vf = host_function(&f->scan.host, "0000:18:01.1");
	assert_int_equal(vf->kind, FN_VF);
	assert_int_equal(vf->vf, 11);
	assert_string_equal(vf->parent, "0000:18:00.0");
	assert_int_equal(host_function(&f->scan.host, "0000:18:00.2")->vf, 0);
}

static void test_a_vf_that_only_its_pf_lists(void **state)
{
	struct sysfs_fixture *f = *state;

	add_pci(f, "0000:18:00.0", "0x020000");
	add_pci(f, "0000:18:00.2", "0x020000");
	put(f, "0000:18:00.0", "sriov_totalvfs", "16");
	link_to(f, "0000:18:00.0", "virtfn4", "../0000:18:00.2");
	read_all(f);
	assert_int_equal(f->scan.host.functions[1].kind, FN_VF);
	assert_int_equal(f->scan.host.functions[1].vf, 4);
	assert_string_equal(f->scan.host.functions[1].parent, "0000:18:00.0");
}

static void test_bad_files_leave_values_unknown(void **state)
{
	struct sysfs_fixture *f = *state;

	add_pci(f, "0000:18:00.0", "0x020000");
	put(f, "0000:18:00.0", "vendor", "");
	put(f, "0000:18:00.0", "device", "mlx");
	put(f, "0000:18:00.0", "numa_node", "99999999999999999999");
	put(f, "0000:18:00.0", "sriov_totalvfs", "-5");
	put(f, "0000:18:00.0", "driver/file", "a directory, not a link");
	tmptree_link(f->dir, "bus/pci/devices/0000:19:00.0", "../../../gone");
	read_all(f);
	assert_int_equal(f->scan.host.n_functions, 1);
	assert_int_equal(f->scan.host.functions[0].vendor, 0);
	assert_int_equal(f->scan.host.functions[0].numa, -1);
	assert_false(f->scan.host.functions[0].sriov);
	assert_string_equal(f->scan.host.functions[0].driver, "");
}

static void add_aux(struct sysfs_fixture *f, const char *name, const char *file)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "devices/pci0000:00/0000:18:00.0/%s/%s", name, file);
	tmptree_write(f->dir, path, "88\n");
	snprintf(path, sizeof(path), "bus/auxiliary/devices/%s", name);
	snprintf(target, sizeof(target), "../../../devices/pci0000:00/0000:18:00.0/%s", name);
	tmptree_link(f->dir, path, target);
}

static void test_sub_functions(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct function *sf;

	add_pci(f, "0000:18:00.0", "0x020000");
	add_aux(f, "mlx5_core.sf.4", "sfnum");
	add_aux(f, "mlx5_core.eth.0", "uevent"); /* parts of the PF, not functions */
	add_aux(f, "mlx5_core.sf.5", "net/eth5/ifindex");
	read_all(f);
	assert_int_equal(f->scan.host.n_functions, 3);
	sf = host_function(&f->scan.host, "mlx5_core.sf.4");
	assert_int_equal(sf->kind, FN_SF);
	assert_int_equal(sf->sfnum, 88);
	assert_int_equal(sf->vf, -1);
	assert_string_equal(sf->parent, "0000:18:00.0");
	assert_string_equal(sf->path, "pci0000:00/0000:18:00.0");
	assert_int_equal(host_function(&f->scan.host, "mlx5_core.sf.5")->sfnum, -1);
}

static void test_a_tree_without_bus(void **state)
{
	struct sysfs_fixture *f = *state;
	unsigned vfs = 0;

	sysfs_tree_generate(f->dir, 2, 6);
	read_all(f);
	assert_int_equal(f->scan.host.n_functions, 8);
	for (size_t i = 0; i < f->scan.host.n_functions; i++) {
		const struct function *fn = &f->scan.host.functions[i];

		assert_int_equal(fn->vendor, 0x15b3);
		if (fn->kind == FN_VF) {
			vfs++;
			assert_in_range(fn->vf, 0, 2);
			assert_string_equal(fn->path, "pci0000:00");
			assert_int_equal(host_function(&f->scan.host, fn->parent)->vfs, 3);
		}
	}
	assert_int_equal(vfs, 6);
	assert_int_equal(host_function(&f->scan.host, "0000:18:00.3")->vf, 2);
}

static void test_sub_functions_without_bus(void **state)
{
	struct sysfs_fixture *f = *state;

	add_aux(f, "mlx5_core.sf.4", "sfnum");
	tmptree_write(f->dir, "devices/pci0000:00/0000:18:00.0/mlx5_core.sf.4/net/en4/ifindex",
		      "4\n");
	tmptree_link(f->dir, "devices/pci0000:00/0000:18:00.0/mlx5_core.sf.4/net/en4/device",
		     "../../../mlx5_core.sf.4");
	tmptree_link(f->dir, "class/net/en4",
		     "../../devices/pci0000:00/0000:18:00.0/mlx5_core.sf.4/net/en4");
	read_all(f);
	assert_int_equal(f->scan.host.n_functions, 1);
	assert_int_equal(f->scan.host.functions[0].kind, FN_SF);
	assert_string_equal(f->scan.host.functions[0].parent, "0000:18:00.0");
	assert_int_equal(f->scan.host.functions[0].sfnum, 88);
}

static void test_nothing_to_list_is_an_error(void **state)
{
	struct sysfs_fixture *f = *state;
	struct err e = {0};

	assert_int_equal(functions_read(&f->hw, &f->scan.host, &e), -ENOENT);
	assert_int_equal(e.code, -ENOENT);
	assert_int_equal(f->scan.host.n_functions, 0);
}

static void test_functions_from_paths(void **state)
{
	char id[DEV_ID_SIZE] = "before";
	(void)state;

	assert_true(function_id_from_path("../../devices/pci0000:00/0000:18:00.1/net/eth0", id));
	assert_string_equal(id, "0000:18:00.1");
	assert_true(function_id_from_path(
		"../../devices/pci0000:00/0000:00:01.0/0000:18:00.1/mlx5_core.sf.4/net/eth0", id));
	assert_string_equal(id, "mlx5_core.sf.4");
	assert_true(function_id_from_path("../../devices/pci0000:00/0000:00:03.0/virtio0/net/eth0",
					  id));
	assert_string_equal(id, "0000:00:03.0");
	assert_true(function_id_from_path("0000:18:00.1", id));
	assert_false(function_id_from_path("../../devices/virtual/net/lo", id));
	assert_false(function_id_from_path("", id));
	assert_false(function_id_from_path("////", id));
	assert_string_equal(id, "0000:18:00.1");
}

static void test_path_above_a_function(void **state)
{
	char path[PCI_PATH_SIZE] = "before", deep[600] = "/pci0000:00";
	(void)state;

	assert_true(function_path("../../../devices/pci0000:00/0000:00:01.0/0000:18:00.1/net/eth0",
				  "0000:18:00.1", path));
	assert_string_equal(path, "pci0000:00/0000:00:01.0");
	assert_true(function_path("../../devices/platform/4000.pcie/pci0001:80/0001:80:00.0",
				  "0001:80:00.0", path));
	assert_string_equal(path, "pci0001:80");
	assert_true(function_path("/devices/pci0000:00/0000:00:0e.0/pci10000:00/10000:e1:00.0",
				  "10000:e1:00.0", path));
	assert_string_equal(path, "pci0000:00/0000:00:0e.0/pci10000:00");
	/* one id is a suffix of another */
	assert_true(function_path("/pci10000:00/10000:18:00.0/0000:18:00.0", "0000:18:00.0", path));
	assert_string_equal(path, "pci10000:00/10000:18:00.0");
	assert_false(function_path("../../devices/virtual/net/lo", "0000:18:00.1", path));
	assert_false(function_path("/devices/pci-host/0000:18:00.1", "0000:18:00.1", path));
	assert_false(function_path("", "0000:18:00.1", path));
	for (int i = 0; i < 20; i++)
		strcat(deep, "/0000:00:01.0");
	strcat(deep, "/0000:18:00.1");
	assert_false(function_path(deep, "0000:18:00.1", path));
	assert_string_equal(path, "pci10000:00/10000:18:00.0");
}

TEST_GROUP(functions)
{
#define T(name) cmocka_unit_test_setup_teardown(name, sysfs_fixture_setup, sysfs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(test_network_functions_are_found_by_class),
		T(test_other_classes_are_found_by_their_devices),
		T(test_pf_and_number_of_virtual_functions),
		T(test_a_vf_that_only_its_pf_lists),
		T(test_bad_files_leave_values_unknown),
		T(test_sub_functions),
		T(test_a_tree_without_bus),
		T(test_sub_functions_without_bus),
		T(test_nothing_to_list_is_an_error),
		T(test_accelerators_are_functions),
		T(test_a_long_driver_name_is_cut),
		T(test_nodes_of_user_space_drivers),
		T(test_vdpa_devices),
		cmocka_unit_test(test_functions_from_paths),
		cmocka_unit_test(test_path_above_a_function),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
