// SPDX-License-Identifier: Apache-2.0
/* Packet counts from BPF on the page: compared with a golden file, and series that must be
 * absent. */
#include "packet_series.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "dictionary.h"
#include "faults.h"
#include "golden.h"
#include "metrics.h"
#include "page_text.h"
#include "resource_tables.h"
#include "test_group.h"

enum { OURS, POD, MIRROR, BLIND, UNKNOWN, FAILED, N_PORTS };

static struct packet_port ports[N_PORTS] = {
	[OURS] = {.netdev = "eth0",
		  .nsid = NSID_HOST,
		  .ifindex = 2,
		  .device = "rxe0",
		  .device_port = 1,
		  .hook = PACKET_HOOK_TCX,
		  .flows = 4096,
		  .memory = 1000000,
		  .visible = PACKET_VISIBLE_YES},
	[POD] = {.netdev = "net1",
		 .nsid = 3,
		 .ifindex = 9,
		 .netns = "cni-\"1\"",
		 .device = "rxe1",
		 .device_port = 1,
		 .function = "0000:03:00.2",
		 .role = PACKET_POD,
		 .hook = PACKET_HOOK_CLSACT,
		 .memory = 3000,
		 .visible = PACKET_VISIBLE_YES},
	[MIRROR] = {.netdev = "mir0",
		    .nsid = NSID_HOST,
		    .ifindex = 3,
		    .role = PACKET_MIRROR,
		    .hook = PACKET_HOOK_XDP,
		    .visible = PACKET_VISIBLE_YES},
	[BLIND] = {.netdev = "eth1",
		   .nsid = NSID_HOST,
		   .ifindex = 4,
		   .device = "mlx5_0",
		   .device_port = 1,
		   .role = PACKET_PORT,
		   .hook = PACKET_HOOK_TCX,
		   .visible = PACKET_VISIBLE_NO},
	[UNKNOWN] = {.netdev = "eth2", .nsid = NSID_HOST, .ifindex = 5, .hook = PACKET_HOOK_TCX},
	[FAILED] = {.netdev = "eth3", .nsid = NSID_HOST, .flows = 1, .error = -ENOSPC},
};

static struct roce_counts counts[N_PORTS][N_ROCE_DIRECTIONS];

static const struct packet_sample sample = {.ports = ports, .counts = counts, .n_ports = N_PORTS};

/* Gives each field another number, counted from `first`. */
static void number(struct roce_counts *c, uint64_t first)
{
	*c = (struct roce_counts){
		.packets = first,
		.bytes = first + 1,
		.cnp = first + 2,
		.fecn = first + 3,
		.becn = first + 4,
		.solicited = first + 5,
		.requested_read_bytes = first + 6,
		.requested_write_bytes = first + 7,
		.v1 = first + 8,
		.ip4 = first + 9,
		.ip6 = first + 10,
		.fragments = first + 11,
		.malformed = first + 12,
		.pauses = first + 13,
	};
	for (unsigned i = 0; i < N_ROCE_SYNDROMES; i++)
		c->syndromes[i] = first + 20 + i;
	c->traffic_class[26 << 2 | 3] = first + 30;
	c->traffic_class[0 << 2 | 3] = first + 31;
	c->traffic_class[26 << 2 | 2] = first + 32;
	c->traffic_class[48 << 2] = first + 33;
	c->ops[ROCE_OP_INDEX(0, ROCE_SEND)] = first + 40;
	c->ops[ROCE_OP_INDEX(5, ROCE_ATOMIC_ACK)] = first + 41;
}

static int make_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PORTS; i++)
		for (size_t d = 0; d < N_ROCE_DIRECTIONS; d++)
			number(&counts[i][d], 1000 * (i + 1) + 100 * d);
	counts[OURS][ROCE_RECEIVED].flow_evictions = 2;
	counts[OURS][ROCE_SENT].flow_evictions = 3;
	return 0;
}

/* Renders the whole page, with one counter of a NIC in a family that BPF counts, too. */
static char *render(const struct packet_sample *packets, const struct sample *nic, size_t *ret_len)
{
	static const struct host host;
	struct metrics *m = metrics_new();
	struct page *p = page_new();
	struct resource_table table;
	char *text;

	resource_table_small(&table);
	assert_int_equal(metrics_render(m, p, nic,
					&(struct metrics_inputs){.host = &host,
								 .resources = &table,
								 .packets = packets},
					0),
			 0);
	text = page_text(p, METRICS_PROMETHEUS, ret_len);
	resource_table_done(&table);
	page_unref(p);
	metrics_free(m);
	return text;
}

static struct sampled_port nic_port = {.device = "mlx5_0", .port = 1};
static struct reading nic_packets = {
	.labels = "direction=\"sent\"", .state = READING_OK, .value = 7};

static bool next(const void *arg, struct reading_pos *pos, struct reading *ret)
{
	if (pos->at++)
		return false;
	*ret = *(const struct reading *)arg;
	return true;
}

static const struct sample nic = {
	.ports = &nic_port, .n_ports = 1, .next = next, .readings = &nic_packets};
static const struct sample no_nic;

static int find_family(void **state)
{
	const struct family *f;

	for (size_t i = 0; (f = dict_family(i)); i++)
		if (strcmp(f->name, "roce_packets_total") == 0)
			nic_packets.family = f;
	assert_non_null(nic_packets.family);
	return make_counts(state);
}

static void test_the_series_match_the_golden_file(void **state)
{
	size_t len;
	char *text = render(&sample, &nic, &len);
	char *start = strstr(text, "# HELP roce_packets_total");
	char *end = strstr(text, "# HELP rocelet_counters_resets_total");

	(void)state;
	assert_non_null(start);
	assert_non_null(end);
	assert_golden_text("tests/golden/packets.prom", start, (size_t)(end - start));
	free(text);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text += strlen(what);
	}
	return n;
}

static void test_a_family_of_both_is_on_the_page_once(void **state)
{
	char *text = render(&sample, &nic, NULL);

	(void)state;
	assert_int_equal(count(text, "# TYPE roce_packets_total "), 1);
	assert_int_equal(count(text, "# TYPE roce_cnp_sent_packets_total "), 1);
	assert_int_equal(count(text, "\nroce_packets_total{device=\"mlx5_0\",port=\"1\","
				     "direction=\"sent\",source=\"hw\"} 7\n"),
			 1);
	free(text);
}

static void test_invisible_packets_have_no_series(void **state)
{
	static const char *const netdevs[] = {"eth1", "eth2", "eth3"};
	char *text = render(&sample, &no_nic, NULL), label[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(netdevs); i++) {
		snprintf(label, sizeof(label), "netdev=\"%s\"", netdevs[i]);
		/* Only eth1 has a known visibility, and one series of it. */
		assert_int_equal(count(text, label), i == 0);
	}
	assert_int_equal(count(text, "mir0\",direction=\"sent\""), 0);
	assert_true(count(text, "mir0\",direction=\"received\"") > 0);
	free(text);
}

static void test_without_bpf_there_are_no_bpf_series(void **state)
{
	char *text = render(NULL, &nic, NULL);

	(void)state;
	assert_int_equal(count(text, "bpf"), 0);
	assert_int_equal(count(text, "source=\"hw\""), 1);
	free(text);
}

static void test_every_shared_family_is_one_of_the_dictionary(void **state)
{
	const struct family *f;
	const char *name;

	(void)state;
	for (size_t k = 0; (name = packet_shared_name(k)); k++) {
		bool found = false;

		for (size_t i = 0; (f = dict_family(i)); i++)
			found |= strcmp(f->name, name) == 0;
		assert_true(found);
	}
}

/* No two lines have the same name and labels. */
static void test_no_series_is_duplicated(void **state)
{
	char *text = render(&sample, &nic, NULL), *again = strdup(text);
	char *save = NULL;

	(void)state;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char series[256];

		if (*line == '#')
			continue;
		snprintf(series, sizeof(series), "\n%.*s ", (int)(strrchr(line, ' ') - line), line);
		assert_int_equal(count(again, series), 1);
	}
	free(text);
	free(again);
}

static void test_out_of_memory_is_returned(void **state)
{
	int r = -ENOMEM;

	(void)state;
	for (long nth = 0; r < 0; nth++) {
		struct packet_text x = {0};
		struct page *p = page_new();

		faults_alloc(nth);
		r = packet_text_init(&x, &sample, NULL);
		if (r == 0)
			r = packet_series(p, &x);
		assert_int_equal(r, faults_end() ? -ENOMEM : 0);
		packet_text_done(&x);
		page_unref(p);
		assert_true(nth < 100);
	}
}

TEST_GROUP(packet_series)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_series_match_the_golden_file),
		cmocka_unit_test(test_a_family_of_both_is_on_the_page_once),
		cmocka_unit_test(test_invisible_packets_have_no_series),
		cmocka_unit_test(test_without_bpf_there_are_no_bpf_series),
		cmocka_unit_test(test_every_shared_family_is_one_of_the_dictionary),
		cmocka_unit_test(test_no_series_is_duplicated),
		cmocka_unit_test(test_out_of_memory_is_returned),
	};

	return test_group_run(tests, find_family, NULL);
}
