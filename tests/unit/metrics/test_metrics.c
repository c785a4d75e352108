// SPDX-License-Identifier: Apache-2.0
/* The metrics page against golden files; UPDATE_GOLDEN=1 rewrites them, and the diff is reviewed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "dictionary.h"
#include "golden.h"
#include "label.h"
#include "metrics.h"
#include "page_text.h"
#include "resource_tables.h"
#include "self_metrics.h"
#include "test_group.h"

#define GOLDEN_DIR "tests/golden/"

/* --- the host and the sample ------------------------------------------------------------------ */

static struct function functions[] = {
	{.id = "0000:18:00.0",
	 .kind = FN_PF,
	 .vf = -1,
	 .sfnum = -1,
	 .sriov = true,
	 .vfs = 1,
	 .vfs_total = 16},
	{.id = "0000:18:00.2", .kind = FN_VF, .parent = "0000:18:00.0", .vf = 0, .sfnum = -1},
};

static struct gid gids[2];

static struct rdma_port pf_port = {
	.num = 1,
	.state = PORT_ACTIVE,
	.phys_state = PHYS_LINK_UP,
	.link_layer = LINK_ETHERNET,
	.rate_bps = 400000000000,
	.active_mtu = 4096,
	.netdev_nsid = NSID_HOST,
	.netdev_ifindex = 10,
	.netdev = "ens1np0",
	.gid_table_len = 255,
	.n_gids = 2,
	.gids = gids,
};
static struct rdma_port vf_port = {
	.num = 1,
	.state = PORT_DOWN,
	.link_layer = LINK_ETHERNET,
	.netdev_nsid = 3,
	.netdev_ifindex = 4,
	.netdev = "net1",
};

static struct rdma_dev devs[] = {
	{.name = "mlx5_0",
	 .nsid = NSID_HOST,
	 .function = "0000:18:00.0",
	 .driver = "mlx5",
	 .fw = "28.39.3004",
	 .board = "MT_0000000838",
	 .n_ports = 1,
	 .ports = &pf_port},
	{.name = "mlx5_1",
	 .nsid = NSID_HOST,
	 .function = "0000:18:00.2",
	 .driver = "mlx5",
	 .fw = "say \"hi\"\\\n\xff",
	 .n_ports = 1,
	 .ports = &vf_port},
};

static struct netns namespaces[] = {{.nsid = 3, .name = "pod-a"}};

static const struct host host = {
	.functions = functions,
	.n_functions = ARRAY_SIZE(functions),
	.rdma = devs,
	.n_rdma = ARRAY_SIZE(devs),
	.namespaces = namespaces,
	.n_namespaces = ARRAY_SIZE(namespaces),
};

static struct sampled_port ports[] = {
	{.device = "mlx5_0", .port = 0},
	{.device = "mlx5_0", .port = 1, .resets = 2, .bytes_source = "ethtool"},
	{.device = "mlx5_1", .port = 1},
};

static struct reading readings[] = {
	{.port = 1, .labels = "", .value = 7},
	{.port = 2, .labels = "", .value = 0},
	{.port = 1, .labels = "direction=\"received\"", .value = 1ull << 40},
	{.port = 0, .labels = "kind=\"qp\"", .value = 12},
	{.port = 1,
	 .labels = "direction=\"sent\",priority=\"3\"",
	 .value = 1500000,
	 .unit = UNIT_MICROSECONDS},
	{.port = 1, .labels = "op=\"read\"", .value = 38, .unit = UNIT_PERCENT},
	{.port = 2, .labels = "op=\"read\"", .value = 99, .unit = UNIT_PERCENT},
};

static bool next(const void *arg, struct reading_pos *pos, struct reading *ret)
{
	const struct reading *all = arg;

	if (pos->at == ARRAY_SIZE(readings))
		return false;
	*ret = all[pos->at++];
	return true;
}

static struct sample sample = {
	.ports = ports,
	.n_ports = ARRAY_SIZE(ports),
	.next = next,
	.readings = readings,
	.n_readings = ARRAY_SIZE(readings),
	.layout = 1,
	.taken_ms = 5000,
};

static const struct family *family(const char *name)
{
	const struct family *f;

	for (size_t i = 0; (f = dict_family(i)); i++)
		if (!strcmp(f->name, name))
			return f;
	fail_msg("no family %s", name);
	return NULL;
}

static int make_sample(void **state)
{
	static const char *const names[] = {"roce_ecn_ce_received_packets_total",
					    "roce_ecn_ce_received_packets_total",
					    "roce_bytes_total",
					    "roce_resource_active",
					    "roce_pfc_pause_seconds_total",
					    "roce_pcie_stalled_ratio",
					    "roce_pcie_stalled_ratio"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(readings); i++) {
		readings[i].family = family(names[i]);
		readings[i].state = READING_OK;
	}
	readings[6].state = READING_ABSENT;
	sample.sources[SOURCE_ETHTOOL] = (struct source_state){true, 3, 4750};
	sample.sources[SOURCE_NETLINK] = (struct source_state){true, 0, 0};
	return 0;
}

/* --- comparison ------------------------------------------------------------------------------- */

static void assert_golden_page(const struct page *p, enum metrics_format format, const char *path)
{
	size_t len;
	AUTO_FREE char *text = page_text(p, format, &len);

	assert_golden_text(path, text, len);
}

static struct page *render_after(struct metrics *m, uint64_t generation, const struct page *last)
{
	const struct metrics_inputs inputs = {
		.host = &host, .host_generation = generation, .last = last};
	struct page *p = page_new();

	assert_int_equal(metrics_render(m, p, &sample, &inputs, 5000), 0);
	return p;
}

static struct page *render(struct metrics *m, uint64_t generation)
{
	return render_after(m, generation, NULL);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void the_page_matches_the_golden_file(void **state)
{
	struct metrics *m = metrics_new();
	struct page *p = render(m, 1), *again;

	(void)state;
	assert_golden_page(p, METRICS_PROMETHEUS, GOLDEN_DIR "metrics.prom");
	assert_golden_page(p, METRICS_OPENMETRICS, GOLDEN_DIR "metrics.openmetrics");
	/* Copied from the previous page, twice, the text is the same. */
	for (int i = 0; i < 2; i++) {
		again = render_after(m, 1, p);
		page_unref(p);
		p = again;
		assert_golden_page(p, METRICS_PROMETHEUS, GOLDEN_DIR "metrics.prom");
	}
	page_unref(p);
	metrics_free(m);
}

static void add_family(struct page *p, const struct family *f)
{
	bool info = strstr(f->name, "_info") != NULL;

	if (f->type == METRIC_HISTOGRAM) {
		page_begin(p, f->name, "histogram", f->help);
		text_addf(&p->text, "%s_bucket{le=\"+Inf\"} 1\n%s_sum 1\n%s_count 1\n", f->name,
			  f->name, f->name);
		page_end(p);
		return;
	}
	page_begin(p, f->name,
		   f->type == METRIC_COUNTER ? "counter"
		   : info		     ? "info"
					     : "gauge",
		   f->help);
	text_addf(&p->text, "%s 1\n", f->name);
	page_end(p);
}

/* All names and help texts, for review and for Prometheus's linter. */
static void all_families_match_the_golden_file(void **state)
{
	const struct self_metrics about = {.tls_expires_s = 1,
					   .rss_bytes = 1,
					   .virtual_bytes = 1,
					   .open_fds = 1,
					   .n_programs = 1};
	struct page *p = page_new();
	const struct family *f;

	(void)state;
	for (size_t i = 0; (f = metrics_family(i)); i++)
		add_family(p, f);
	for (size_t i = 0; (f = dict_family(i)); i++)
		add_family(p, f);
	assert_int_equal(self_metrics_render(p, &about), 0);
	assert_golden_page(p, METRICS_PROMETHEUS, GOLDEN_DIR "families.prom");
	page_unref(p);
}

static bool contains(const struct page *p, const char *what)
{
	AUTO_FREE char *s = page_text(p, METRICS_PROMETHEUS, NULL);

	return strstr(s, what) != NULL;
}

/* In exclusive mode a pod's device may have the name of a host's device: the host's series do not
 * change, and the pod's series have other labels. */
static void a_device_of_another_namespace_does_not_use_the_hosts_name(void **state)
{
	struct rdma_port pods_port = vf_port;
	struct rdma_dev all[] = {
		{.name = "mlx5_0",
		 .nsid = NSID_ELSEWHERE,
		 .function = "0000:03:00.2",
		 .n_ports = 1,
		 .ports = &pods_port},
		devs[0],
	};
	struct host both = host;
	struct resource_table table = {0};
	const struct metrics_inputs inputs = {
		.host = &both, .host_generation = 1, .resources = &table};
	struct metrics *m = metrics_new();
	struct page *p = page_new();

	(void)state;
	resource_table_small(&table);
	both.rdma = all;
	both.n_rdma = ARRAY_SIZE(all);
	assert_int_equal(metrics_render(m, p, &sample, &inputs, 5000), 0);
	assert_true(contains(p, "roce_bytes_total{device=\"mlx5_0\",port=\"1\",direction="));
	assert_true(contains(p, "roce_port_state{device=\"mlx5_0\",port=\"1\"} 4"));
	assert_true(contains(
		p, "roce_port_state{device=\"mlx5_0@0000:03:00.2\",port=\"1\",namespace="));
	page_unref(p);
	metrics_free(m);
	resource_table_done(&table);
}

/* In exclusive mode a pod's device is in the pod's namespace, and its counters are read there. */
static void the_counters_of_a_device_in_its_pods_namespace_name_the_pod(void **state)
{
	struct rdma_port pods_port = vf_port;
	struct rdma_dev inside = {.name = "mlx5_0",
				  .nsid = 3,
				  .function = "0000:03:00.2",
				  .n_ports = 1,
				  .ports = &pods_port};
	struct host moved = host;
	struct resource_table table = {0};
	const struct metrics_inputs inputs = {
		.host = &moved, .host_generation = 1, .resources = &table};
	struct metrics *m = metrics_new();
	struct page *p = page_new();

	(void)state;
	resource_table_small(&table);
	moved.rdma = &inside;
	moved.n_rdma = 1;
	assert_int_equal(metrics_render(m, p, &sample, &inputs, 5000), 0);
	assert_true(contains(p, "roce_bytes_total{device=\"mlx5_0\",port=\"1\",namespace="));
	assert_true(contains(p, "bytes_source=\"ethtool\"} 1"));
	page_unref(p);
	metrics_free(m);
	resource_table_done(&table);
}

static struct page *render_few(struct metrics *m, const struct resource_table *table)
{
	const struct metrics_inputs inputs = {
		.host = &host, .host_generation = 1, .resources = table, .few = true};
	struct page *p = page_new();

	assert_int_equal(metrics_render(m, p, &sample, &inputs, 5000), 0);
	return p;
}

static void assert_few(struct metrics *m, const struct resource_table *table, bool vf)
{
	struct page *p = render_few(m, table);

	assert_true(contains(p, "roce_port_state{device=\"mlx5_0\""));
	assert_true(contains(p, "roce_ecn_ce_received_packets_total{device=\"mlx5_0\""));
	assert_true(contains(p, "roce_port_physical_state{device=\"mlx5_0\""));
	assert_true(contains(p, "rocelet_counters_resets_total{device=\"mlx5_0\""));
	assert_int_equal(contains(p, "roce_port_info{device=\"mlx5_1\""), vf);
	assert_int_equal(contains(p, "roce_port_state{device=\"mlx5_1\""), vf);
	assert_int_equal(contains(p, "roce_ecn_ce_received_packets_total{device=\"mlx5_1\""), vf);
	assert_false(contains(p, "rocelet_counters_resets_total{device=\"mlx5_1\""));
	page_unref(p);
}

/* A VF is idle if no pod uses it and its counters have never moved. */
static void an_idle_vf_has_no_series(void **state)
{
	struct metrics *m = metrics_new();

	(void)state;
	assert_few(m, NULL, false);
	ports[1].has_moved = true; /* of the PF */
	assert_few(m, NULL, false);
	ports[2].has_moved = true; /* of the VF, between two pages */
	assert_few(m, NULL, true);
	sample.layout = 2;
	assert_few(m, NULL, true);
	sample.layout = 1;
	ports[1].has_moved = ports[2].has_moved = false;
	metrics_free(m);
}

/* Soft-RoCE on a VF's netdev has the VF's function, but is not an idle VF. */
static void soft_roce_is_never_idle(void **state)
{
	struct metrics *m = metrics_new();
	struct page *p;

	(void)state;
	strcpy(devs[1].driver, "rxe");
	p = render_few(m, NULL);
	assert_true(contains(p, "rocelet_counters_resets_total{device=\"mlx5_1\""));
	strcpy(devs[1].driver, "mlx5");
	page_unref(p);
	metrics_free(m);
}

static void a_vf_in_a_pod_has_its_series(void **state)
{
	struct metrics *m = metrics_new();
	struct resource_table table = {0};

	(void)state;
	resource_table_small(&table);
	strcpy(devs[1].function, "0000:03:00.2");
	strcpy(functions[1].id, "0000:03:00.2");
	assert_few(m, &table, true);
	assert_few(m, NULL, false);
	strcpy(devs[1].function, "0000:18:00.2");
	strcpy(functions[1].id, "0000:18:00.2");
	resource_table_done(&table);
	metrics_free(m);
}

static void an_absent_reading_has_no_series(void **state)
{
	struct metrics *m = metrics_new();
	struct page *p = render(m, 1);

	(void)state;
	assert_true(contains(p, "roce_pcie_stalled_ratio{device=\"mlx5_0\""));
	assert_false(contains(p, "roce_pcie_stalled_ratio{device=\"mlx5_1\""));
	page_unref(p);
	readings[5].state = READING_ABSENT;
	p = render(m, 1);
	assert_false(contains(p, "roce_pcie_stalled_ratio"));
	readings[5].state = READING_OK;
	page_unref(p);
	metrics_free(m);
}

static void prepared_text_follows_layout_and_host(void **state)
{
	struct metrics *m = metrics_new();
	struct page *p = render(m, 1);

	(void)state;
	assert_true(contains(p, "roce_port_state{device=\"mlx5_1\",port=\"1\"} 1\n"));
	page_unref(p);
	vf_port.state = PORT_ACTIVE;
	p = render(m, 2);
	assert_true(contains(p, "roce_port_state{device=\"mlx5_1\",port=\"1\"} 4\n"));
	page_unref(p);
	vf_port.state = PORT_DOWN;
	sample.layout = 2;
	readings[0].labels = "x=\"y\"";
	p = render(m, 2);
	assert_true(contains(p, "device=\"mlx5_0\",port=\"1\",x=\"y\",source=\"hw\"} 7\n"));
	page_unref(p);
	readings[0].labels = "";
	sample.layout = 1;
	metrics_free(m);
}

/* Text is copied only from the last page that this renderer made, and only if the host is
 * unchanged. */
static void only_the_previous_page_is_copied(void **state)
{
	struct metrics *m = metrics_new();
	struct page *old = render(m, 1), *last = render(m, 1), *p;

	(void)state;
	memset(old->text.data, 'x', old->text.len);
	p = render_after(m, 1, old);
	assert_golden_page(p, METRICS_PROMETHEUS, GOLDEN_DIR "metrics.prom");
	page_unref(last);
	last = p;
	vf_port.state = PORT_ACTIVE;
	p = render_after(m, 2, last);
	assert_true(contains(p, "roce_port_state{device=\"mlx5_1\",port=\"1\"} 4\n"));
	vf_port.state = PORT_DOWN;
	page_unref(old);
	page_unref(last);
	page_unref(p);
	metrics_free(m);
}

static void values_follow_each_sample(void **state)
{
	struct metrics *m = metrics_new();
	struct page *p = render(m, 1);

	(void)state;
	page_unref(p);
	readings[0].value = 8;
	p = render(m, 1);
	readings[0].value = 7;
	assert_true(contains(p, "roce_ecn_ce_received_packets_total{device=\"mlx5_0\",port=\"1\","
				"source=\"hw\"} 8\n"));
	page_unref(p);
	metrics_free(m);
}

static void an_empty_host_is_a_valid_page(void **state)
{
	static const struct sample no_sample;
	static const struct host no_host;
	struct metrics *m = metrics_new();
	struct page *p = page_new();

	(void)state;
	assert_int_equal(
		metrics_render(m, p, &no_sample, &(struct metrics_inputs){.host = &no_host}, 0), 0);
	assert_int_equal(p->n_blocks, 1); /* no source has failed */
	page_unref(p);
	metrics_free(m);
}

static void own_families_are_documented(void **state)
{
	const struct family *f;
	size_t n = 0;

	(void)state;
	for (; (f = metrics_family(n)); n++)
		assert_true(f->help[0] && f->name[0]);
	assert_true(n >= 12);
}

static void labels_are_escaped_and_valid(void **state)
{
	char out[32];

	(void)state;
	assert_true(label_escape(out, sizeof(out), "a\"b\\c\nd"));
	assert_string_equal(out, "a\\\"b\\\\c\\nd");
	assert_true(label_escape(out, sizeof(out), "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
	assert_string_equal(out, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	/* Lone, cut, overlong, surrogate, too large. */
	assert_true(label_escape(out, sizeof(out), "\xff \xc3 \xc0\xaf \xed\xa0\x80 \xf5"));
	assert_string_equal(out, "? ? ?? ??? ?");
	assert_true(label_escape(out, sizeof(out), "\xe2\x82"));
	assert_string_equal(out, "??");
	assert_false(label_escape(out, 4, "abcd"));
	assert_string_equal(out, "abc");
	assert_false(label_escape(out, 3, "a\""));
	assert_string_equal(out, "a");
}

TEST_GROUP(metrics)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_matches_the_golden_file),
		cmocka_unit_test(all_families_match_the_golden_file),
		cmocka_unit_test(a_device_of_another_namespace_does_not_use_the_hosts_name),
		cmocka_unit_test(the_counters_of_a_device_in_its_pods_namespace_name_the_pod),
		cmocka_unit_test(an_idle_vf_has_no_series),
		cmocka_unit_test(soft_roce_is_never_idle),
		cmocka_unit_test(a_vf_in_a_pod_has_its_series),
		cmocka_unit_test(an_absent_reading_has_no_series),
		cmocka_unit_test(prepared_text_follows_layout_and_host),
		cmocka_unit_test(only_the_previous_page_is_copied),
		cmocka_unit_test(values_follow_each_sample),
		cmocka_unit_test(an_empty_host_is_a_valid_page),
		cmocka_unit_test(own_families_are_documented),
		cmocka_unit_test(labels_are_escaped_and_valid),
	};

	return test_group_run(tests, make_sample, NULL);
}
