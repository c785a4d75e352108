// SPDX-License-Identifier: Apache-2.0
/* Whether packets of a port pass the kernel: decided from two counters over time, and from
 * samples. */
#include "packet_visible.h"

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
#include "test_group.h"

/* The two counters, and a clock that advances by windows. */
struct counters {
	struct visible_watch watch;
	uint64_t now_ms, nic, seen;
	bool no_nic;
};

static void judge(struct counters *c)
{
	visible_judge(&c->watch, c->now_ms, !c->no_nic, c->no_nic ? 0 : c->nic, c->seen);
}

/* In one window, in ten steps, both counters grow by these numbers. */
static void window(struct counters *c, uint64_t nic, uint64_t seen)
{
	uint64_t nic_end = c->nic + nic, seen_end = c->seen + seen;

	for (int i = 0; i < 10; i++) {
		c->now_ms += VISIBLE_WINDOW_MS / 10;
		c->nic += nic / 10;
		c->seen += seen / 10;
		if (i == 9) {
			c->nic = nic_end;
			c->seen = seen_end;
		}
		judge(c);
	}
}

static struct counters begun(void)
{
	struct counters c = {.now_ms = 5, .nic = 1000000};

	judge(&c);
	return c;
}

static void assert_verdict(const struct counters *c, enum packet_visibility v)
{
	assert_int_equal(c->watch.verdict, v);
}

static void test_without_traffic_it_is_unknown(void **state)
{
	struct counters c = begun();

	(void)state;
	for (int i = 0; i < 5; i++)
		window(&c, 0, 0);
	assert_verdict(&c, PACKET_VISIBLE_UNKNOWN);
	window(&c, VISIBLE_PACKETS - 1, 0); /* too few for a verdict */
	assert_verdict(&c, PACKET_VISIBLE_UNKNOWN);
}

static void test_the_first_packet_means_yes_at_once(void **state)
{
	struct counters c = begun();

	(void)state;
	c.seen = 1;
	judge(&c);
	assert_verdict(&c, PACKET_VISIBLE_YES);
}

static void test_packets_before_the_first_window_mean_yes(void **state)
{
	struct counters c = {.seen = 3};

	(void)state;
	judge(&c);
	assert_verdict(&c, PACKET_VISIBLE_YES);
}

static void test_packets_that_only_the_nic_counts_mean_no(void **state)
{
	struct counters c = begun();

	(void)state;
	window(&c, VISIBLE_PACKETS, 0);
	assert_verdict(&c, PACKET_VISIBLE_NO);
}

static void test_a_stray_packet_does_not_make_a_million_visible(void **state)
{
	struct counters c = begun();

	(void)state;
	window(&c, 1000000, 0);
	window(&c, 1000000, 5);
	assert_verdict(&c, PACKET_VISIBLE_NO);
	window(&c, 0, 5); /* nor while the NIC is idle */
	assert_verdict(&c, PACKET_VISIBLE_NO);
}

static void test_no_becomes_yes_when_packets_are_seen(void **state)
{
	struct counters c = begun();

	(void)state;
	window(&c, 1000, 0);
	window(&c, 1000, 1000);
	assert_verdict(&c, PACKET_VISIBLE_YES);
	c = begun();
	window(&c, 1000, 0);
	window(&c, 0, VISIBLE_PACKETS);
	assert_verdict(&c, PACKET_VISIBLE_YES);
}

static void test_a_yes_needs_several_windows_to_become_no(void **state)
{
	struct counters c = begun();

	(void)state;
	window(&c, 1000, 1000);
	for (int i = 1; i < VISIBLE_WINDOWS_AGAINST; i++)
		window(&c, 1000, 0);
	assert_verdict(&c, PACKET_VISIBLE_YES);
	window(&c, 1000, 1000); /* visible packets restart the count of windows against */
	for (int i = 1; i < VISIBLE_WINDOWS_AGAINST; i++)
		window(&c, 1000, 0);
	assert_verdict(&c, PACKET_VISIBLE_YES);
	window(&c, 1000, 0);
	assert_verdict(&c, PACKET_VISIBLE_NO);
}

static void test_windows_without_traffic_change_nothing(void **state)
{
	struct counters c = begun();

	(void)state;
	window(&c, 1000, 1000);
	for (int i = 0; i < 10; i++)
		window(&c, 0, 0);
	assert_verdict(&c, PACKET_VISIBLE_YES);
}

static void test_a_reset_of_counters_proves_nothing(void **state)
{
	struct counters c = begun();

	(void)state;
	c.now_ms += VISIBLE_WINDOW_MS;
	c.nic = 0;
	judge(&c);
	assert_verdict(&c, PACKET_VISIBLE_UNKNOWN);
	window(&c, 1000, 0);
	assert_verdict(&c, PACKET_VISIBLE_NO);
	c.seen = 0; /* the program was attached again */
	window(&c, 1000, 1000);
	c.now_ms += VISIBLE_WINDOW_MS;
	c.seen = 0;
	judge(&c);
	assert_verdict(&c, PACKET_VISIBLE_YES);
}

static void test_without_nic_counters_only_packets_count(void **state)
{
	struct counters c = {.no_nic = true};

	(void)state;
	judge(&c);
	window(&c, 0, 0);
	assert_verdict(&c, PACKET_VISIBLE_UNKNOWN);
	window(&c, 0, 1);
	assert_verdict(&c, PACKET_VISIBLE_YES);
	c.no_nic = false; /* the counters appear, their previous values are unknown */
	c.nic = 1000000;
	c.now_ms += VISIBLE_WINDOW_MS;
	judge(&c);
	assert_verdict(&c, PACKET_VISIBLE_YES);
}

/* --- samples ---------------------------------------------------------------------------------- */

static struct sampled_port nic_ports[] = {{.device = "mlx5_0", .port = 1},
					  {.device = "mlx5_1", .port = 1}};
static struct reading readings[] = {
	{.port = 0, .labels = "", .state = READING_OK, .value = 77},
	{.port = 0, .labels = "direction=\"received\"", .state = READING_OK},
	{.port = 0, .labels = "direction=\"sent\"", .state = READING_OK},
	{.port = 1, .labels = "direction=\"sent\"", .state = READING_ABSENT, .value = 9999},
};

static bool next(const void *arg, struct reading_pos *pos, struct reading *ret)
{
	(void)arg;
	if (pos->at == ARRAY_SIZE(readings))
		return false;
	*ret = readings[pos->at++];
	return true;
}

static const struct sample nic = {.ports = nic_ports, .n_ports = 2, .next = next};

static const struct family *family(const char *name)
{
	const struct family *f;

	for (size_t i = 0; (f = dict_family(i)); i++)
		if (strcmp(f->name, name) == 0)
			return f;
	fail_msg("no family %s", name);
	return NULL;
}

#define N_PORTS 4
static struct packet_port ports[N_PORTS];
static struct roce_counts counts[N_PORTS][N_ROCE_DIRECTIONS];

static int make_ports(void **state)
{
	static const char *const devices[] = {"mlx5_0", "mlx5_1", "mlx5_0", ""};

	(void)state;
	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < N_PORTS; i++) {
		ports[i] = (struct packet_port){.hook = PACKET_HOOK_TCX, .ifindex = (int)i + 1};
		snprintf(ports[i].netdev, IFNAMSIZ, "eth%zu", i);
		strcpy(ports[i].device, devices[i]);
		ports[i].device_port = devices[i][0] != '\0';
	}
	ports[2].role = PACKET_MIRROR;
	readings[0].family = family("roce_cnp_sent_packets_total");
	for (size_t i = 1; i < ARRAY_SIZE(readings); i++)
		readings[i].family = family("roce_packets_total");
	readings[1].value = readings[2].value = 0;
	return 0;
}

static void update(struct visible_table *t, uint64_t now_ms)
{
	struct packet_sample s = {.ports = ports, .counts = counts, .n_ports = N_PORTS};

	for (size_t i = 0; i < N_PORTS; i++)
		ports[i].visible = PACKET_VISIBLE_UNKNOWN;
	assert_int_equal(visible_update(t, &s, &nic, now_ms), 0);
}

static void test_each_port_is_judged_by_its_own_devices_packets(void **state)
{
	struct visible_table t = {0};

	(void)state;
	update(&t, 0);
	readings[1].value = readings[2].value = VISIBLE_PACKETS / 2;
	counts[3][ROCE_SENT].fragments = 1;
	update(&t, VISIBLE_WINDOW_MS);
	assert_int_equal(ports[0].visible, PACKET_VISIBLE_NO);
	assert_int_equal(ports[1].visible,
			 PACKET_VISIBLE_UNKNOWN); /* the device's counter is unreadable */
	assert_int_equal(ports[2].visible, PACKET_VISIBLE_UNKNOWN); /* a mirror port */
	assert_int_equal(ports[3].visible, PACKET_VISIBLE_YES);
	visible_table_done(&t);
}

static void test_a_verdict_follows_its_port_and_ends_with_the_program(void **state)
{
	struct packet_port first = ports[3];
	struct visible_table t = {0};

	(void)state;
	counts[3][ROCE_RECEIVED].packets = 1;
	update(&t, 0);
	assert_int_equal(ports[3].visible, PACKET_VISIBLE_YES);
	ports[3] = ports[1];
	ports[1] = first;
	memset(counts, 0, sizeof(counts));
	update(&t, 1000);
	assert_int_equal(ports[1].visible, PACKET_VISIBLE_YES);
	ports[1].error = -EIO;
	update(&t, 2000);
	assert_int_equal(ports[1].visible, PACKET_VISIBLE_UNKNOWN);
	ports[1].error = 0;
	update(&t, 3000);
	assert_int_equal(ports[1].visible, PACKET_VISIBLE_UNKNOWN);
	visible_table_done(&t);
}

TEST_GROUP(packet_visible)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_traffic_it_is_unknown),
		cmocka_unit_test(test_the_first_packet_means_yes_at_once),
		cmocka_unit_test(test_packets_before_the_first_window_mean_yes),
		cmocka_unit_test(test_packets_that_only_the_nic_counts_mean_no),
		cmocka_unit_test(test_a_stray_packet_does_not_make_a_million_visible),
		cmocka_unit_test(test_no_becomes_yes_when_packets_are_seen),
		cmocka_unit_test(test_a_yes_needs_several_windows_to_become_no),
		cmocka_unit_test(test_windows_without_traffic_change_nothing),
		cmocka_unit_test(test_a_reset_of_counters_proves_nothing),
		cmocka_unit_test(test_without_nic_counters_only_packets_count),
		cmocka_unit_test_setup(test_each_port_is_judged_by_its_own_devices_packets,
				       make_ports),
		cmocka_unit_test_setup(test_a_verdict_follows_its_port_and_ends_with_the_program,
				       make_ports),
	};

	return test_group_run(tests, NULL, NULL);
}
