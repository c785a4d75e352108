// SPDX-License-Identifier: Apache-2.0
/* The plain values of the model: addresses, order, copies, enumerator names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "test_group.h"

static void test_pci_addresses_of_any_domain(void **state)
{
	struct pci_addr a = {0};
	(void)state;

	assert_true(pci_addr_parse("0000:18:00.1", &a));
	assert_int_equal(a.domain, 0);
	assert_int_equal(a.bus, 0x18);
	assert_int_equal(a.dev, 0);
	assert_int_equal(a.fn, 1);
	assert_true(pci_addr_parse("10000:e1:1f.7", &a)); /* VMD */
	assert_int_equal(a.domain, 0x10000);
	assert_int_equal(a.dev, 0x1f);
	assert_true(pci_addr_parse("ABCDEF01:0:0.0", &a));
	assert_int_equal(a.domain, 0xabcdef01);
}

static void test_invalid_pci_addresses_leave_the_output(void **state)
{
	static const char *const bad[] = {"",
					  "0000:18:00",
					  "0000:18:00.8",
					  "0000:18:20.0",
					  "0000:118:00.0",
					  "0000:18:00.00",
					  "18:00.0",
					  "0000:18:00.0 ",
					  " 0000:18:00.0",
					  "123456789:0:0.0",
					  "mlx5_core.sf.4",
					  "0000-18:00.0"};
	struct pci_addr a = {.bus = 77};
	(void)state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(pci_addr_parse(bad[i], &a));
		assert_int_equal(a.bus, 77);
	}
}

static void test_numbers_in_names_count_as_numbers(void **state)
{
	(void)state;
	assert_true(natural_cmp("mlx5_2", "mlx5_10") < 0);
	assert_true(natural_cmp("mlx5_10", "mlx5_2") > 0);
	assert_int_equal(natural_cmp("mlx5_10", "mlx5_10"), 0);
	assert_true(natural_cmp("eth1", "eth01") != 0);
	assert_true(natural_cmp("eth1", "eth01") == -natural_cmp("eth01", "eth1") ||
		    natural_cmp("eth1", "eth01") * natural_cmp("eth01", "eth1") < 0);
	assert_true(natural_cmp("a", "b") < 0);
	assert_true(natural_cmp("a", "a1") < 0);
	assert_true(natural_cmp("", "a") < 0);
	assert_true(natural_cmp("x99999999999999999999998", "x99999999999999999999999") < 0);
}

static struct host shuffled(void)
{
	struct host h = {0};
	static const char *const ids[] = {"rxe0",	   "0000:2a:00.0", "mlx5_core.sf.4",
					  "10000:01:00.0", "0000:18:00.1", "0000:18:00.0"};

	h.functions = calloc(6, sizeof(*h.functions));
	h.netdevs = calloc(3, sizeof(*h.netdevs));
	h.rdma = calloc(3, sizeof(*h.rdma));
	assert_non_null(h.functions);
	assert_non_null(h.netdevs);
	assert_non_null(h.rdma);
	for (size_t i = 0; i < 6; i++)
		strcpy(h.functions[i].id, ids[i]);
	h.n_functions = 6;
	h.netdevs[0] = (struct netdev){.nsid = 1, .ifindex = 2, .name = "net1"};
	h.netdevs[1] = (struct netdev){.nsid = NSID_HOST, .ifindex = 7, .name = "b"};
	h.netdevs[2] = (struct netdev){.nsid = NSID_HOST, .ifindex = 3, .name = "c"};
	h.n_netdevs = 3;
	strcpy(h.rdma[0].name, "mlx5_10");
	strcpy(h.rdma[1].name, "mlx5_9");
	strcpy(h.rdma[2].name, "mlx5_9");
	h.rdma[2].nsid = NSID_HOST;
	h.n_rdma = 3;
	return h;
}

static void test_every_list_has_one_order(void **state)
{
	static const char *const want[] = {"0000:18:00.0",  "0000:18:00.1",   "0000:2a:00.0",
					   "10000:01:00.0", "mlx5_core.sf.4", "rxe0"};
	struct host h = shuffled();
	(void)state;

	host_sort(&h);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(h.functions[i].id, want[i]);
	assert_int_equal(h.netdevs[0].ifindex, 3);
	assert_int_equal(h.netdevs[1].ifindex, 7);
	assert_int_equal(h.netdevs[2].nsid, 1);
	assert_string_equal(h.rdma[0].name, "mlx5_9");
	assert_int_equal(h.rdma[0].nsid, NSID_HOST);
	assert_string_equal(h.rdma[2].name, "mlx5_10");
	host_done(&h);
	host_sort(&h); /* the empty host */
}

static void test_a_copy_owns_everything(void **state)
{
	struct host h = shuffled(), copy = {0};
	(void)state;

	h.rdma[1].ports = calloc(2, sizeof(*h.rdma[1].ports));
	h.rdma[1].n_ports = 2;
	h.rdma[1].ports[1].gids = calloc(1, sizeof(struct gid));
	h.rdma[1].ports[1].gids[0].index = 5;
	h.rdma[1].ports[1].n_gids = 1;
	h.rdma_mode = RDMA_NETNS_EXCLUSIVE;
	assert_int_equal(host_copy(&copy, &h), 0);
	host_done(&h);
	assert_int_equal(copy.n_functions, 6);
	assert_int_equal(copy.n_netdevs, 3);
	assert_int_equal(copy.n_namespaces, 0);
	assert_int_equal(copy.rdma_mode, RDMA_NETNS_EXCLUSIVE);
	assert_int_equal(copy.rdma[1].ports[1].gids[0].index, 5);
	assert_null(copy.rdma[1].ports[0].gids);
	host_done(&copy);
}

static void test_lookups(void **state)
{
	struct netns ns[] = {{.nsid = 3, .name = "pod"}, {.nsid = 4}};
	struct host h = shuffled();
	(void)state;

	assert_string_equal(host_function(&h, "rxe0")->id, "rxe0");
	assert_null(host_function(&h, "rxe1"));
	assert_string_equal(host_netdev(&h, 1, 2)->name, "net1");
	assert_null(host_netdev(&h, NSID_HOST, 2));
	assert_string_equal(host_rdma(&h, "mlx5_10")->name, "mlx5_10");
	assert_null(host_rdma(&h, "mlx5_1"));
	h.namespaces = ns;
	h.n_namespaces = 2;
	assert_string_equal(host_netns_name(&h, 3), "pod");
	assert_string_equal(host_netns_name(&h, 4), "");
	assert_string_equal(host_netns_name(&h, 5), "");
	assert_string_equal(host_netns_name(&h, NSID_HOST), "");
	h.namespaces = NULL;
	h.n_namespaces = 0;
	host_done(&h);
}

static void test_a_name_in_two_namespaces(void **state)
{
	struct rdma_dev devs[] = {{.name = "mlx5_0", .nsid = NSID_ELSEWHERE},
				  {.name = "mlx5_0", .nsid = NSID_HOST},
				  {.name = "mlx5_1", .nsid = 4}};
	const struct host h = {.rdma = devs, .n_rdma = 3};

	(void)state;
	assert_null(host_rdma(&h, "mlx5_0"));
	assert_ptr_equal(host_rdma(&h, "mlx5_1"), &devs[2]);
	assert_ptr_equal(host_rdma_in(&h, NSID_HOST, "mlx5_0"), &devs[1]);
	assert_null(host_rdma_in(&h, NSID_HOST, "mlx5_1"));
	assert_ptr_equal(host_rdma_sampled(&h, "mlx5_0"), &devs[1]);
	assert_ptr_equal(host_rdma_sampled(&h, "mlx5_1"), &devs[2]);
	devs[1].nsid = 4;
	assert_null(host_rdma_sampled(&h, "mlx5_0"));
}

static void test_virtual_functions_follow_the_rdma_devices(void **state)
{
	struct host h = shuffled();
	(void)state;

	h.functions[0].kind = FN_VIRTUAL; /* "rxe0", whose device was removed */
	strcpy(h.rdma[0].function, "mlx5_10");
	strcpy(h.rdma[1].function, "0000:18:00.0");
	assert_int_equal(host_sync_virtual(&h), 0);
	assert_int_equal(h.n_functions, 6);
	assert_null(host_function(&h, "rxe0"));
	assert_int_equal(host_function(&h, "mlx5_10")->kind, FN_VIRTUAL);
	assert_int_equal(host_function(&h, "mlx5_10")->vf, -1);
	host_done(&h);
}

/* A copy has spare room like the original (checked by the sanitizers). */
static void test_a_copy_can_grow(void **state)
{
	struct host h = shuffled(), copy = {0};
	(void)state;

	for (size_t i = 0; i < h.n_rdma; i++)
		strcpy(h.rdma[i].function, h.rdma[i].name);
	assert_int_equal(host_copy(&copy, &h), 0);
	assert_int_equal(host_sync_virtual(&copy), 0);
	assert_true(copy.n_functions > h.n_functions);
	host_done(&h);
	host_done(&copy);
}

static void test_names_of_enumerators(void **state)
{
	(void)state;
	assert_string_equal(fn_kind_name(FN_PF), "pf");
	assert_string_equal(fn_kind_name(FN_VIRTUAL), "virtual");
	assert_string_equal(vf_link_name(VF_LINK_UNKNOWN), "unknown");
	assert_string_equal(vf_link_name(VF_LINK_DISABLE), "disable");
	assert_string_equal(port_state_name(PORT_ACTIVE), "active");
	assert_string_equal(port_state_name(PORT_ACTIVE_DEFER), "active_defer");
	assert_string_equal(port_state_name((enum port_state)99), "unknown");
	assert_string_equal(phys_state_name(PHYS_LINK_UP), "link_up");
	assert_string_equal(phys_state_name(PHYS_UNKNOWN), "unknown");
	assert_string_equal(link_layer_name(LINK_ETHERNET), "Ethernet");
	assert_string_equal(gid_type_name(GID_ROCE_V2), "RoCE v2");
	assert_string_equal(gid_type_name(GID_IB), "IB");
	assert_string_equal(rdma_netns_mode_name(RDMA_NETNS_EXCLUSIVE), "exclusive");
}

TEST_GROUP(model)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pci_addresses_of_any_domain),
		cmocka_unit_test(test_invalid_pci_addresses_leave_the_output),
		cmocka_unit_test(test_numbers_in_names_count_as_numbers),
		cmocka_unit_test(test_every_list_has_one_order),
		cmocka_unit_test(test_a_copy_owns_everything),
		cmocka_unit_test(test_lookups),
		cmocka_unit_test(test_a_name_in_two_namespaces),
		cmocka_unit_test(test_virtual_functions_follow_the_rdma_devices),
		cmocka_unit_test(test_a_copy_can_grow),
		cmocka_unit_test(test_names_of_enumerators),
	};

	return test_group_run(tests, NULL, NULL);
}
