// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "golden.h"
#include "json_text.h"
#include "test_group.h"

/* A PF with two VFs (one in a named namespace, one in an unknown one), a sub-function, an RDMA
 * device without a parent, and devices without a function. */
static struct gid gids[] = {
	{.index = 0,
	 .raw = {0xfe, 0x80, [8] = 0xa2, 0x88, 0xc2, 0xff, 0xfe, 0x03, 0, 1},
	 .type = GID_ROCE_V1,
	 .netdev = "eth0"},
	{.index = 3,
	 .raw = {[10] = 0xff, 0xff, 10, 0, 0, 1},
	 .type = GID_ROCE_V2,
	 .netdev = "eth0"},
	{.index = 4, .raw = {0xfd, 0x00, [15] = 1}},
};
static struct rdma_port ports[] = {
	{.num = 1,
	 .state = PORT_ACTIVE,
	 .phys_state = PHYS_LINK_UP,
	 .link_layer = LINK_ETHERNET,
	 .rate_bps = 400000000000,
	 .active_mtu = 4096,
	 .max_mtu = 4096,
	 .netdev_nsid = NSID_HOST,
	 .netdev_ifindex = 4,
	 .netdev = "eth0",
	 .pkey = 0x8001,
	 .gid_table_len = 255,
	 .n_gids = 3,
	 .gids = gids},
	{.num = 1},
};
static struct function functions[] = {
	{.id = "0000:03:00.0",
	 .kind = FN_PF,
	 .vf = -1,
	 .sfnum = -1,
	 .vendor = 0x15b3,
	 .device = 0x1021,
	 .class = 0x020000,
	 .numa = 1,
	 .driver = "mlx5_core",
	 .sriov = true,
	 .vfs = 2,
	 .vfs_total = 8,
	 .acpi_index = 3,
	 .path = "pci0000:00/0000:00:01.0",
	 .unreachable = true,
	 .devlink_error = "fw_fatal"},
	{.id = "0000:03:00.1",
	 .kind = FN_VF,
	 .parent = "0000:03:00.0",
	 .vf = 0,
	 .sfnum = -1,
	 .vendor = 0x15b3,
	 .device = 0x101e,
	 .class = 0x020000,
	 .numa = -1,
	 .driver = "mlx5_core",
	 .vdpa_driver = "vhost_vdpa",
	 .vdpa_node = "vhost-vdpa-0",
	 .vf_link = VF_LINK_DISABLE},
	{.id = "0000:03:00.2",
	 .kind = FN_VF,
	 .parent = "0000:03:00.0",
	 .vf = 1,
	 .sfnum = -1,
	 .numa = -1,
	 .vfio = "vfio/noiommu-3",
	 .uio = "uio0",
	 .vf_link = VF_LINK_AUTO},
	{.id = "mlx5_core.sf.4",
	 .kind = FN_SF,
	 .parent = "0000:03:00.0",
	 .vf = -1,
	 .sfnum = 88,
	 .numa = 0,
	 .sriov = true,
	 .vfs_total = 0},
	{.id = "siw0", .kind = FN_VIRTUAL, .vf = -1, .sfnum = -1, .numa = -1},
};
static struct netdev netdevs[] = {
	{.nsid = NSID_ELSEWHERE, .name = "eth2", .function = "0000:03:00.2"},
	{.nsid = NSID_HOST, .ifindex = 1, .name = "lo"},
	{.nsid = NSID_HOST,
	 .ifindex = 4,
	 .name = "eth0",
	 .altnames = "enp3s0np0\0rail0",
	 .function = "0000:03:00.0",
	 .addr = {0xa0, 0x88, 0xc2, 0x03, 0, 1},
	 .addr_len = 6,
	 .mtu = 9000,
	 .flags = IFF_UP,
	 .operstate = "up",
	 .carrier = CARRIER_ON,
	 .master = 9,
	 .master_name = "bond0",
	 .default_route = true,
	 .port_name = "p0"},
	{.nsid = NSID_HOST,
	 .ifindex = 5,
	 .name = "eth0_rep0",
	 .function = "0000:03:00.0",
	 .mtu = 1500,
	 .operstate = "down",
	 .carrier = CARRIER_OFF},
	{.nsid = NSID_HOST, .ifindex = 7, .name = "gone", .function = "0000:99:00.0"},
	{.nsid = 5,
	 .ifindex = 2,
	 .name = "net1",
	 .function = "0000:03:00.1",
	 .mtu = 1500,
	 .carrier = CARRIER_UNKNOWN},
};
static struct rdma_dev rdma[] = {
	{.name = "mlx5_0",
	 .nsid = NSID_HOST,
	 .index = 0,
	 .function = "0000:03:00.0",
	 .driver = "mlx5",
	 .fw = "28.39.1002",
	 .board = "MT_0000000838",
	 .hca_type = "MT4129",
	 .node_guid = 0xa088c20300000001,
	 .sys_image_guid = 0xa088c20300000001,
	 .uverbs = "uverbs0",
	 .umad = "umad0",
	 .issm = "issm0",
	 .n_ports = 1,
	 .ports = ports},
	{.name = "mlx5_1",
	 .nsid = 6,
	 .index = 3,
	 .function = "0000:03:00.1",
	 .n_ports = 1,
	 .ports = ports + 1},
	{.name = "rxe0",
	 .nsid = NSID_HOST,
	 .index = RDMA_INDEX_NONE,
	 .function = "0000:03:00.0",
	 .driver = "rxe"},
	{.name = "siw0", .nsid = NSID_HOST, .index = 5, .function = "siw0"},
	{.name = "stray0", .nsid = NSID_HOST, .index = 6, .function = "0000:99:00.0"},
	{.name = "stray1", .nsid = NSID_HOST, .index = 7},
};
static struct netns namespaces[] = {{5, "pod-a"}};
static const struct host small = {.functions = functions,
				  .n_functions = 5,
				  .netdevs = netdevs,
				  .n_netdevs = 6,
				  .rdma = rdma,
				  .n_rdma = 6,
				  .namespaces = namespaces,
				  .n_namespaces = 1,
				  .rdma_mode = RDMA_NETNS_EXCLUSIVE};

/* Indented for reading; on the heap. */
static char *pretty(const char *text, size_t len)
{
	json_t *doc = json_loadb(text, len, 0, NULL);
	char *out;

	assert_non_null(doc);
	out = json_dumps(doc, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	json_decref(doc);
	assert_non_null(out);
	return out;
}

static void test_small_host(void **state)
{
	size_t len;
	char *text = api_devices(&(struct api_input){.host = &small, .generation = 7}, &len),
	     *readable;

	(void)state;
	assert_non_null(text);
	assert_int_equal(strlen(text), len);
	assert_null(strchr(text, '\n'));
	assert_null(strstr(text, "\": "));
	readable = pretty(text, len);
	assert_golden_text("tests/golden/api_devices.json", readable, strlen(readable));
	free(readable);
	free(text);
}

static void test_empty_host(void **state)
{
	static const struct host empty;
	size_t len;
	char *text = api_devices(&(struct api_input){.host = &empty, .generation = 0}, &len);

	(void)state;
	assert_string_equal(
		text, "{\"generation\":0,\"rdmaNetnsMode\":null,\"devices\":[],\"resources\":[]}");
	free(text);
}

static void test_names_of_any_bytes(void **state)
{
	struct function fn = {.id = "0000:01:00.0", .vf = -1, .sfnum = -1, .numa = -1};
	struct netdev nd = {.nsid = NSID_HOST, .ifindex = 2, .function = "0000:01:00.0"};
	const struct host host = {
		.functions = &fn, .n_functions = 1, .netdevs = &nd, .n_netdevs = 1};
	size_t len;
	char *text;

	(void)state;
	strcpy(nd.name, "a\xff\x80\"\n\xc3\xa9\xe2\x82");
	memset(nd.operstate, 0xed, sizeof(nd.operstate) - 1);
	text = api_devices(&(struct api_input){.host = &host, .generation = 1}, &len);
	assert_non_null(text);
	assert_non_null(strstr(text, "\"name\":\"a\xef\xbf\xbd\xef\xbf\xbd\\\"\\n\xc3\xa9"
				     "\xef\xbf\xbd\xef\xbf\xbd\""));
	free(pretty(text, len)); /* asserts that it is valid JSON */
	free(text);
}

static void test_any_bytes_are_a_json_string(void **state)
{
	static const char *const good[] = {
		"abc",		"\xc3\xa9",	    "\xe2\x82\xac",    "\xef\xbf\xbd",
		"\xed\x9f\xbf", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"};
	static const char *const bad[] = {"\x80",
					  "\xc3",
					  "\xc0\x80",
					  "\xc1\xbf",
					  "\xe0\x9f\xbf",
					  "\xed\xa0\x80",
					  "\xe2\x82",
					  "\xf0\x8f\xbf\xbf",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "\xff",
					  "a\xe2z"};
	json_t *j;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		j = json_text(good[i]);
		assert_string_equal(json_string_value(j), good[i]);
		json_decref(j);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *checked;

		j = json_text(bad[i]);
		checked = json_string(json_string_value(j)); /* checks that the bytes are UTF-8 */
		assert_non_null(checked);
		json_decref(checked);
		json_decref(j);
	}
	j = json_text("a\xe2z");
	assert_string_equal(json_string_value(j), "a\xef\xbf\xbdz");
	json_decref(j);
	j = json_text("");
	assert_true(json_is_null(j));
}

/* --- out of memory, in every place ------------------------------------------------------------ */

static long allocations_left;

static void *failing_malloc(size_t n)
{
	return allocations_left-- > 0 ? malloc(n) : NULL;
}

/* Leaks are found by the sanitizer. */
static void test_any_failed_allocation(void **state)
{
	size_t len;
	char *text = NULL;
	long n;

	(void)state;
	json_set_alloc_funcs(failing_malloc, free);
	for (n = 0; !text; n++) {
		allocations_left = n;
		text = api_devices(&(struct api_input){.host = &small, .generation = 7}, &len);
		assert_true(n < 100000);
	}
	json_set_alloc_funcs(malloc, free);
	assert_true(n > 40);
	free(text);
}

/* --- size ------------------------------------------------------------------------------------- */

#define MANY 1024

static double ms_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)(now.tv_sec - start->tv_sec) * 1e3 +
	       (double)(now.tv_nsec - start->tv_nsec) / 1e6;
}

static void fill_vf(struct host *h, unsigned i)
{
	struct function *fn = &h->functions[i];
	struct netdev *nd = &h->netdevs[i];
	struct rdma_dev *rd = &h->rdma[i];

	*fn = functions[1];
	*nd = netdevs[2];
	*rd = rdma[0];
	snprintf(fn->id, sizeof(fn->id), "0000:%02x:%02x.%u", 3 + i / 256, i / 8 % 32, i % 8);
	memcpy(nd->function, fn->id, sizeof(fn->id));
	memcpy(rd->function, fn->id, sizeof(fn->id));
	snprintf(nd->name, sizeof(nd->name), "eth%u", i);
	snprintf(rd->name, sizeof(rd->name), "mlx5_%u", i);
}

static void test_a_thousand_vfs(void **state)
{
	struct host h = {.n_functions = MANY, .n_netdevs = MANY, .n_rdma = MANY};
	struct timespec start;
	char *text, last[] = "\"id\":\"0000:06:1f.7\"";
	unsigned i;
	size_t len;

	(void)state;
	h.functions = calloc(MANY, sizeof(*h.functions));
	h.netdevs = calloc(MANY, sizeof(*h.netdevs));
	h.rdma = calloc(MANY, sizeof(*h.rdma));
	for (i = 0; i < MANY; i++)
		fill_vf(&h, i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	text = api_devices(&(struct api_input){.host = &h, .generation = 1}, &len);
	print_message("%d VFs: %zu bytes in %.1f ms\n", MANY, len, ms_since(&start));
	assert_non_null(text);
	assert_non_null(strstr(text, last));
	free(text);
	free(h.functions);
	free(h.netdevs);
	free(h.rdma);
}

TEST_GROUP(api)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_host),
		cmocka_unit_test(test_empty_host),
		cmocka_unit_test(test_names_of_any_bytes),
		cmocka_unit_test(test_any_bytes_are_a_json_string),
		cmocka_unit_test(test_any_failed_allocation),
		cmocka_unit_test(test_a_thousand_vfs),
	};

	return test_group_run(tests, NULL, NULL);
}
