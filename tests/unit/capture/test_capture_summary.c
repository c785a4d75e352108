// SPDX-License-Identifier: Apache-2.0
/* Summaries of captures: ICRCs of known packets, flows in a full table, round trips, and the output
 * of rocectl pcap. */
#include "packet_sample.h"
#include "summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "cleanup.h"
#include "ctl.h"
#include "faults.h"
#include "golden.h"
#include "packet_sample.h"
#include "test_group.h"

#define FILES "tests/fixtures/capture/"

/* --- ICRC ------------------------------------------------------------------------------------- */

/* Made with scapy (contrib.roce): a send over IPv4; its last bytes are the ICRC c49e6ae2 in wire
 * order. */
static const uint8_t known[] = {
	0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00,
	0x45, 0x6a, 0x00, 0x34, 0x00, 0x01, 0x00, 0x00, 0x40, 0x11, 0x66, 0x4c, 0x0a, 0x00,
	0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x20, 0x00, 0x00,
	0x04, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x12, 0x34, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc4, 0x9e, 0x6a, 0xe2,
};

static enum icrc_verdict verdict_of(const uint8_t *bytes, size_t here, size_t whole)
{
	struct roce_frame f = {.start = bytes, .end = bytes + here, .length = (uint32_t)whole};
	struct roce_packet p;

	assert_int_equal(roce_decode(&f, &p), ROCE_PACKET);
	return icrc_check(&f, &p);
}

static void test_icrc_of_a_known_packet(void **state)
{
	uint8_t bytes[sizeof(known)];
	size_t n = sizeof(known);

	(void)state;
	memcpy(bytes, known, n);
	assert_int_equal(verdict_of(bytes, n, n), ICRC_GOOD);
	bytes[15] ^= 1;	 /* ECN */
	bytes[22] -= 1;	 /* TTL */
	bytes[24] ^= 1;	 /* IP checksum */
	bytes[41] ^= 1;	 /* UDP checksum */
	bytes[46] |= 64; /* BECN */
	assert_int_equal(verdict_of(bytes, n, n), ICRC_GOOD);
	for (size_t at = 47; at < n; at++) {
		bytes[at] ^= 1;
		assert_int_equal(verdict_of(bytes, n, n), ICRC_BAD);
		bytes[at] ^= 1;
	}
	for (size_t here = 54; here < n; here++)
		assert_int_equal(verdict_of(bytes, here, n), ICRC_UNVERIFIABLE);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void test_a_full_table_evicts_idle_flows(void **state)
{
	struct flow_table t;
	struct roce_flow_key key = {0}, loud = {.qpn = 0xffffff};
	const struct flow_entry *top[4];

	(void)state;
	assert_int_equal(flow_table_init(&t, FLOW_WAYS), 0);
	flow_table_get(&t, &loud, 1)->ce = 5;
	for (uint32_t i = 0; i < 1000; i++) {
		key.qpn = i;
		flow_table_get(&t, &key, 2 * i + 2)->packets = i;
		assert_non_null(flow_table_get(&t, &loud, 2 * i + 3));
	}
	assert_int_equal(t.inserts, 1001);
	assert_int_equal(t.evictions, 1001 - FLOW_WAYS);
	assert_int_equal(flow_table_find(&t, &loud)->ce, 5);
	key.qpn = 0;
	assert_null(flow_table_find(&t, &key));
	assert_int_equal(flow_table_top(&t, top, 4), 4);
	assert_int_equal(top[0]->key.qpn, 0xffffff);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(top[i]->flow.packets, 1000 - i);
	assert_int_equal(flow_table_top(&t, top, 0), 0);
	flow_table_done(&t);
}

static void test_a_request_is_answered_once(void **state)
{
	struct pending_table t;
	struct roce_pending_key key = {.psn = 7}, other = {.psn = 8};
	struct roce_pending value = {.sent_ns = 5, .qpn = 17}, got;

	(void)state;
	assert_int_equal(pending_table_init(&t), 0);
	assert_false(pending_table_take(&t, &key, &got));
	pending_table_put(&t, &key, &value);
	assert_false(pending_table_take(&t, &other, &got));
	assert_true(pending_table_take(&t, &key, &got));
	assert_int_equal(got.qpn, 17);
	assert_false(pending_table_take(&t, &key, &got));
	pending_table_done(&t);
}

static void test_quantiles(void **state)
{
	uint32_t rtt[ROCE_RTT_BUCKETS] = {0};

	(void)state;
	assert_true(roce_rtt_quantile(rtt, 0.5) == UINT64_MAX);
	rtt[0] = 50;
	rtt[3] = 50;
	assert_int_equal(roce_rtt_quantile(rtt, 0.5), 1024);
	assert_int_equal(roce_rtt_quantile(rtt, 0.75), 4096 + 2048);
	assert_int_equal(roce_rtt_quantile(rtt, 1), 8192);
	assert_int_equal(roce_rtt_quantile(rtt, 0.01), 20);
}

/* --- rocectl pcap ----------------------------------------------------------------------------- */

static char said[16384], complained[1024];

static enum ctl_exit pcap_with(const char *file, const char *option, const char *value)
{
	char program[] = "rocectl", command[] = "pcap";
	char *argv[] = {program, command, (char *)file, (char *)option, (char *)value, NULL};
	FILE *out = fmemopen(said, sizeof(said), "w"),
	     *err = fmemopen(complained, sizeof(complained), "w");
	enum ctl_exit r;

	said[0] = complained[0] = '\0';
	r = ctl_run(value ? 5 : option ? 4 : 3, argv, out, err);
	fclose(out);
	fclose(err);
	return r;
}

static enum ctl_exit pcap(const char *file, const char *option)
{
	return pcap_with(file, option, NULL);
}

static void print_text(FILE *f)
{
	assert_int_equal(pcap(FILES "little.pcap", NULL), CTL_OK);
	fputs(said, f);
}

static void print_document(FILE *f)
{
	assert_int_equal(pcap(FILES "little.pcap", "--json"), CTL_OK);
	fputs(said, f);
}

static void print_packets(FILE *f)
{
	assert_int_equal(pcap(FILES "little.pcap", "--packets"), CTL_OK);
	fputs(said, f);
	assert_int_equal(pcap_with(FILES "little.pcap", "--packets", "--json"), CTL_OK);
	fputs(said, f);
}

/* Selected packets by number; --json prints a line for each. */
static void test_selected_packets(void **state)
{
	static const struct {
		const char *option, *value, *numbers;
	} rows[] = {
		{"--only", "cnp", "5"},	    {"--only", "ce", "34"},
		{"--only", "nak", "4"},	    {"--only", "bad-icrc", ""},
		{"--flow", "17", "12345"},  {"--flow", "0x11,10.0.0.1", "125"},
		{"--flow", "fd00::1", "3"}, {"--flow", "10.0.0.1,fd00::1", ""},
		{"--flow", "18", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char numbers[64] = "", *line;

		assert_int_equal(pcap_with(FILES "little.pcap", rows[i].option, rows[i].value),
				 CTL_OK);
		line = strchr(said, '\n'); /* after the headings */
		assert_non_null(line);
		while (sscanf(line + 1, "%7s", numbers + strlen(numbers)) == 1)
			line = strchr(line + 1, '\n');
		assert_string_equal(numbers, rows[i].numbers);
	}
}

static void test_output_is_golden(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_pcap.txt", print_text);
	assert_golden("tests/golden/rocectl_pcap.json", print_document);
	assert_golden("tests/golden/rocectl_packets.txt", print_packets);
}

static void test_a_file_that_ends_early(void **state)
{
	static char bytes[1024];
	char name[] = "/tmp/test_capture.XXXXXX";
	int fd = mkstemp(name);
	FILE *f = fopen(FILES "little.pcap", "rb");
	size_t n = fread(bytes, 1, sizeof(bytes), f);

	(void)state;
	fclose(f);
	assert_int_equal(write(fd, bytes, n - 1), n - 1);
	close(fd);
	assert_int_equal(pcap(name, "--packets"), CTL_NO);
	assert_non_null(strstr(said, "\n       4  "));
	assert_non_null(strstr(complained, "at byte 597: the file ends within the packet"));
	assert_int_equal(pcap(name, NULL), CTL_NO);
	assert_non_null(strstr(said, "RoCE      4 packets"));
	assert_non_null(strstr(complained, "at byte 597: the file ends within the packet"));
	assert_int_equal(truncate(name, 0), 0);
	assert_int_equal(pcap(name, NULL), CTL_NO);
	assert_string_equal(said, "");
	assert_non_null(strstr(complained, "at byte 0: the file is empty"));
	unlink(name);
	assert_int_equal(pcap(name, NULL), CTL_NO);
	assert_non_null(strstr(complained, "No such file"));
	assert_int_equal(pcap("/", NULL), CTL_NO);
	assert_non_null(strstr(complained, "at byte 0: Is a directory"));
}

/* Undecodable packets are reported with their link type. */
static void test_an_unknown_link_type(void **state)
{
	static const struct {
		uint8_t type[2];
		const char *said;
	} links[] = {{{247, 0}, "with an unknown link type (247, INFINIBAND)"},
		     {{0x0f, 0x27}, "with an unknown link type (9999)"}};
	char name[] = "/tmp/test_capture.XXXXXX";
	static uint8_t bytes[1024];
	int fd = mkstemp(name);
	FILE *f = fopen(FILES "little.pcap", "rb");
	size_t n = fread(bytes, 1, sizeof(bytes), f);

	(void)state;
	fclose(f);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		memcpy(bytes + 20, links[i].type, 2); /* pcap-savefile(5) */
		assert_int_equal(pwrite(fd, bytes, n, 0), n);
		assert_int_equal(pcap(name, NULL), CTL_OK);
		assert_non_null(strstr(said, links[i].said));
	}
	close(fd);
	unlink(name);
}

/* Every failed allocation results in an error. */
static void test_without_memory(void **state)
{
	enum ctl_exit r;
	long nth = 0;

	(void)state;
	for (int list = 0; list < 2; list++) {
		do {
			faults_alloc(nth++);
			r = pcap_with(FILES "little.pcap", "--json", list ? "--packets" : NULL);
			if (faults_end() && r == CTL_NO)
				assert_non_null(strstr(complained, "memory"));
		} while (r != CTL_OK);
		assert_true(nth > 2);
		nth = 0;
	}
}

TEST_GROUP(capture_summary)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_icrc_of_a_known_packet),
		cmocka_unit_test(test_a_full_table_evicts_idle_flows),
		cmocka_unit_test(test_a_request_is_answered_once),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_output_is_golden),
		cmocka_unit_test(test_selected_packets),
		cmocka_unit_test(test_a_file_that_ends_early),
		cmocka_unit_test(test_an_unknown_link_type),
		cmocka_unit_test(test_without_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
