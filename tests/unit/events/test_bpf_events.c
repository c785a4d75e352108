// SPDX-License-Identifier: Apache-2.0
/* BPF events: validation, their texts, and counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attachment.h"
#include "bpf_source.h"
#include "bpf_text.h"
#include "bpf_words.h"
#include "cleanup.h"
#include "event_series.h"
#include "host_builder.h"
#include "page_text.h"
#include "test_group.h"

#define HEAD(of, k)                                                                                \
	.head = {.version = BPF_EVENT_VERSION,                                                     \
		 .kind = (k),                                                                      \
		 .size = sizeof(of),                                                               \
		 .pid = 4711,                                                                      \
		 .comm = "mlnx_qos"}

union any {
	struct bpf_event head;
	struct bpf_event_netdev_moved moved;
	struct bpf_event_qp qp;
	struct bpf_event_qp_failed failed;
	struct bpf_event_port port;
	struct bpf_event_cm cm;
	struct bpf_event_health health;
	struct bpf_event_dcb dcb;
	struct bpf_event_tx_timeout tx_timeout;
};

static const struct bpf_event_dcb pfc = {HEAD(pfc, BPF_EVENT_DCB), .what = BPF_DCB_PFC,
					 .name = "eth0", .pfc_enable = 0x18};

static const struct bpf_event_cm rejected = {
	HEAD(rejected, BPF_EVENT_CM),
	.what = BPF_CM_REJECTED,
	.event = 8,
	.status = 8,
	.qpn = 22,
	.latency_ns = 15890123,
	.saddr = {[10] = 0xff, 0xff, 10, 9, 0, 1},
	.daddr = {[10] = 0xff, 0xff, 10, 9, 0, 2},
	.sport = 50465,
	.dport = 19999,
};

static const struct bpf_event_health report = {
	HEAD(report, BPF_EVENT_HEALTH), .bus = "pci",	  .device = "0000:03:00.0",
	.driver = "mlx5_core",		.reporter = "fw", .message = "syndrome 0x8"};

static const struct bpf_event_tx_timeout hung = {HEAD(hung, BPF_EVENT_TX_TIMEOUT),
						 .device = "0000:03:00.0",
						 .name = "eth0",
						 .driver = "mlx5_core",
						 .ifindex = 7,
						 .queue = 12};

static void assert_line(const void *event, const char *expected)
{
	const struct bpf_event *e = event;
	char line[256];

	assert_int_equal(bpf_event_check(e, e->size), 0);
	bpf_event_line(e, line, sizeof(line));
	assert_string_equal(line, expected);
}

/* Copies the exact size to the heap, so that the sanitizer detects reads past the end. */
static int check_copy(const union any *e, size_t size)
{
	AUTO_FREE char *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, e, size);
	return bpf_event_check(copy, size);
}

static void an_event_has_our_version_and_the_size_of_its_kind(void **state)
{
	union any e = {.dcb = pfc};
	(void)state;

	assert_int_equal(check_copy(&e, sizeof(pfc)), 0);
	for (size_t size = 0; size < sizeof(pfc); size++)
		assert_int_equal(check_copy(&e, size), -EBADMSG);
	assert_int_equal(check_copy(&e, sizeof(pfc) + 8), -EBADMSG);
	e.head.size++;
	assert_int_equal(check_copy(&e, sizeof(pfc)), -EBADMSG);
	e.dcb = pfc;
	e.head.version++;
	assert_int_equal(check_copy(&e, sizeof(pfc)), -EBADMSG);
	e.dcb = pfc;
	e.head.kind = 0;
	assert_int_equal(check_copy(&e, sizeof(pfc)), -EBADMSG);
	e.head.kind = N_BPF_EVENT_KINDS;
	assert_int_equal(check_copy(&e, sizeof(pfc)), -EBADMSG);
	e.head.kind = 0xffff;
	assert_int_equal(check_copy(&e, sizeof(pfc)), -EBADMSG);
}

struct text_at {
	__u16 kind;
	size_t size, offset, length;
};

#define TEXT(k, type, field)                                                                       \
	{                                                                                          \
		k, sizeof(struct type), offsetof(struct type, field),                              \
			sizeof(((struct type *)0)->field)                                          \
	}

static void every_text_of_an_event_ends(void **state)
{
	static const struct text_at texts[] = {
		TEXT(BPF_EVENT_NETDEV_MOVED, bpf_event_netdev_moved, head.comm),
		TEXT(BPF_EVENT_NETDEV_MOVED, bpf_event_netdev_moved, name),
		TEXT(BPF_EVENT_QP, bpf_event_qp, device),
		TEXT(BPF_EVENT_QP_FAILED, bpf_event_qp_failed, device),
		TEXT(BPF_EVENT_PORT, bpf_event_port, device),
		TEXT(BPF_EVENT_HEALTH, bpf_event_health, bus),
		TEXT(BPF_EVENT_HEALTH, bpf_event_health, device),
		TEXT(BPF_EVENT_HEALTH, bpf_event_health, driver),
		TEXT(BPF_EVENT_HEALTH, bpf_event_health, reporter),
		TEXT(BPF_EVENT_HEALTH, bpf_event_health, message),
		TEXT(BPF_EVENT_DCB, bpf_event_dcb, name),
		TEXT(BPF_EVENT_TX_TIMEOUT, bpf_event_tx_timeout, device),
		TEXT(BPF_EVENT_TX_TIMEOUT, bpf_event_tx_timeout, name),
		TEXT(BPF_EVENT_TX_TIMEOUT, bpf_event_tx_timeout, driver),
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct text_at *t = &texts[i];
		union any e = {.head = {.version = BPF_EVENT_VERSION, .kind = t->kind}};

		e.head.size = (__u32)t->size;
		assert_int_equal(check_copy(&e, t->size), 0);
		memset((char *)&e + t->offset, 'x', t->length);
		assert_int_equal(check_copy(&e, t->size), -EBADMSG);
	}
}

static void our_own_enumerations_are_within_their_range(void **state)
{
	union any e = {.dcb = pfc};
	(void)state;

	e.dcb.what = N_BPF_DCB;
	assert_int_equal(check_copy(&e, sizeof(e.dcb)), -EBADMSG);
	e.cm = rejected;
	e.cm.what = N_BPF_CM;
	assert_int_equal(check_copy(&e, sizeof(e.cm)), -EBADMSG);
	e.qp = (struct bpf_event_qp){HEAD(e.qp, BPF_EVENT_QP), .change = N_BPF_QP_CHANGES};
	assert_int_equal(check_copy(&e, sizeof(e.qp)), -EBADMSG);
}

static void moves_and_queue_pairs_have_a_line(void **state)
{
	const struct bpf_event_netdev_moved moved = {HEAD(moved, BPF_EVENT_NETDEV_MOVED),
						     .name = "eth1", .ifindex = 7, .netns_from = 1,
						     .netns_to = 2};
	const struct bpf_event_qp qp = {HEAD(qp, BPF_EVENT_QP), .device = "rxe0",
					.change = BPF_QP_MODIFIED, .qpn = 17, .result = -22};
	const struct bpf_event_qp_failed failed = {HEAD(failed, BPF_EVENT_QP_FAILED),
						   .device = "rxe0", .qpn = 17, .status = 12,
						   .event = -1};
	(void)state;

	assert_line(&moved, "eth1 (index 7) is moved from network namespace 1 to 2 by mlnx_qos, "
			    "pid 4711");
	assert_line(&qp, "queue pair 17 of rxe0 modified, error -22 by mlnx_qos, pid 4711");
	assert_line(&failed, "queue pair 17 of rxe0: failed completion, status 12");
}

static void a_reject_names_both_ends_and_the_reason(void **state)
{
	struct bpf_event_cm e = rejected;
	(void)state;

	assert_line(&e,
		    "connection 10.9.0.1:50465 to 10.9.0.2:19999 rejected: no process listens on "
		    "that port (reason 8) after 15.890 ms, queue pair 22 by mlnx_qos, pid "
		    "4711");
	e.status = 77;
	e.saddr[10] = 0xfe;
	e.head.pid = e.qpn = 0;
	e.latency_ns = 0;
	assert_line(&e, "connection [::feff:a09:1]:50465 to 10.9.0.2:19999 rejected: for a "
			"reason that has no name (reason 77)");
}

static void changes_of_dcb_name_the_process(void **state)
{
	struct bpf_event_dcb e = pfc;
	(void)state;

	assert_line(&e, "eth0: PFC on for priority 3, 4 by mlnx_qos, pid 4711");
	e.pfc_enable = 0;
	assert_line(&e, "eth0: PFC off by mlnx_qos, pid 4711");
	e.what = BPF_DCB_APP_SET;
	e.selector = 5;
	e.protocol = 26;
	e.priority = 3;
	assert_line(&e, "eth0: DSCP 26 mapped to priority 3 by mlnx_qos, pid 4711");
	e.what = BPF_DCB_APP_DELETED;
	e.selector = 1;
	assert_line(&e, "eth0: application 26 of selector 1 no longer mapped to priority 3 by "
			"mlnx_qos, pid 4711");
}

static void reported_events_have_reason_and_device(void **state)
{
	const struct bpf_event_port port = {HEAD(port, BPF_EVENT_PORT), .device = "mlx5_0",
					    .event = 10, .port = 1};
	struct bpf_event_health driverless = report;
	struct event event;
	(void)state;

	driverless.driver[0] = '\0';
	assert_true(bpf_event_to_event(&driverless.head, 5, &event));
	assert_string_equal(event.message, "pci/0000:03:00.0: reporter fw reports: syndrome 0x8");
	assert_true(bpf_event_to_event(&report.head, 5, &event));
	assert_string_equal(event.reason, "NicHealth");
	assert_string_equal(event.device, "0000:03:00.0");
	assert_string_equal(event.message,
			    "pci/0000:03:00.0 (mlx5_core): reporter fw reports: syndrome 0x8");
	assert_int_equal(event.type, EVENT_WARNING);
	assert_int_equal(event.last_ms, 5);
	assert_true(bpf_event_to_event(&hung.head, 5, &event));
	assert_string_equal(event.reason, "TxTimeout");
	assert_string_equal(event.device, "0000:03:00.0");
	assert_string_equal(event.message, "eth0 (index 7, 0000:03:00.0): transmit queue 12 sent "
					   "nothing for too long; mlx5_core resets it");
	assert_int_equal(event.type, EVENT_WARNING);
	assert_true(bpf_event_to_event(&port.head, 5, &event));
	assert_string_equal(event.reason, "PortDown");
	assert_string_equal(event.message, "mlx5_0 port 1: port is down");
	assert_true(bpf_event_to_event(&pfc.head, 5, &event));
	assert_string_equal(event.reason, "PfcChanged");
	assert_int_equal(event.type, EVENT_NORMAL);
}

static void frequent_events_are_not_reported(void **state)
{
	struct bpf_event_cm made = rejected;
	const struct bpf_event_qp qp = {HEAD(qp, BPF_EVENT_QP)};
	struct event event;
	(void)state;

	made.what = BPF_CM_CONNECTED;
	assert_false(bpf_event_to_event(&made.head, 5, &event));
	assert_false(bpf_event_to_event(&qp.head, 5, &event));
}

static void events_of_placeholders_are_not_reported(void **state)
{
	struct bpf_event_port port = {HEAD(port, BPF_EVENT_PORT),
				      .device = SOFT_ROCE_PLACEHOLDER "00c0ffee00000001",
				      .event = 10, .port = 1};
	struct event event;
	(void)state;

	assert_false(bpf_event_to_event(&port.head, 5, &event));
	port.device[0] = 'R';
	assert_true(bpf_event_to_event(&port.head, 5, &event));
}

/* The kernel may send any number; long texts are truncated. */
static void unknown_numbers_and_long_texts_are_accepted(void **state)
{
	struct bpf_event_health health = {HEAD(health, BPF_EVENT_HEALTH)};
	struct bpf_event_port port = {HEAD(port, BPF_EVENT_PORT), .event = UINT32_MAX};
	struct bpf_event_cm cm = rejected;
	struct event event;
	char line[16];
	(void)state;

	memset(health.message, 'm', sizeof(health.message) - 1);
	memset(health.device, 'd', sizeof(health.device) - 1);
	memset(health.reporter, 'r', sizeof(health.reporter) - 1);
	memset(health.driver, 'v', sizeof(health.driver) - 1);
	assert_true(bpf_event_to_event(&health.head, 5, &event));
	assert_int_equal(strlen(event.device), sizeof(health.device) - 1);
	bpf_event_line(&health.head, line, sizeof(line));
	assert_int_equal(strlen(line), sizeof(line) - 1);
	assert_true(bpf_event_to_event(&port.head, 5, &event));
	assert_string_equal(event.reason, "PortEvent");
	cm.what = BPF_CM_OTHER;
	cm.event = UINT32_MAX;
	cm.status = INT32_MIN;
	assert_true(bpf_event_to_event(&cm.head, 5, &event));
	assert_string_equal(event.reason, "ConnectionFailed");
}

static void add(struct bpf_tally *t, enum bpf_cm_what what, int status, bool passive)
{
	struct bpf_event_cm e = rejected;

	e.what = what;
	e.status = status;
	e.passive = passive;
	bpf_tally_add(t, &e.head);
}

static void connections_are_counted_by_result_and_reason(void **state)
{
	struct event_summary s = {
		.connections = true, .n_soft = 1, .soft_watched = {true, true, true}};
	struct page *p = page_new();
	AUTO_FREE char *text = NULL;
	(void)state;

	add(&s.tally, BPF_CM_CONNECTED, 0, false);
	add(&s.tally, BPF_CM_CONNECTED, 0, true);
	add(&s.tally, BPF_CM_TIMED_OUT, -110, true);
	add(&s.tally, BPF_CM_REJECTED, 8, true);
	add(&s.tally, BPF_CM_OTHER, 0, true);
	add(&s.tally, BPF_CM_TIMED_OUT, -110, false);
	add(&s.tally, BPF_CM_REJECTED, 8, false);
	add(&s.tally, BPF_CM_REJECTED, 18, false);
	add(&s.tally, BPF_CM_REJECTED, 23, false);
	add(&s.tally, BPF_CM_REJECTED, -1, false);
	add(&s.tally, BPF_CM_REJECTED, 34, false);
	add(&s.tally, BPF_CM_REJECTED, INT32_MAX, false);
	memcpy(s.soft[0].key.device, "rxe0", 5);
	s.soft[0].counts.n[BPF_SOFT_ICRC] = 3;
	event_series(p, &s);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	page_unref(p);
	assert_non_null(strstr(text, "roce_connections_total{result=\"accepted\"} 1\n"));
	assert_non_null(strstr(text, "roce_connections_total{result=\"connected\"} 1\n"));
	assert_non_null(strstr(text, "roce_connections_total{result=\"timed_out\"} 1\n"));
	assert_non_null(strstr(text, "roce_connections_total{result=\"rejected\"} 6\n"));
	assert_non_null(strstr(text, "roce_connections_total{result=\"failed\"} 0\n"));
	assert_non_null(strstr(text, "{reason=\"invalid_service_id\"} 1\n"));
	assert_non_null(strstr(text, "{reason=\"invalid_alternate_path\"} 2\n"));
	assert_non_null(strstr(text, "{reason=\"other\"} 3\n"));
	assert_non_null(strstr(text, "{reason=\"timeout\"} 0\n"));
	assert_non_null(strstr(text, "roce_connect_seconds_sum 0.015890123\n"));
	assert_non_null(strstr(text, "roce_connect_seconds_count 1\n"));
	assert_non_null(strstr(text, "{device=\"rxe0\",kind=\"icrc_error\"} 3\n"));
}

/* increase() misses the first increment of a series that does not begin at 0. */
static void series_begin_at_0(void **state)
{
	struct event_summary s = {.connections = true, .soft_watched = {true, false, true}};
	struct page *p = page_new();
	struct host host = {0};
	AUTO_FREE char *text = NULL;
	(void)state;

	strcpy(build_rdma(&host, "mlx5_0", "0000:03:00.0")->driver, "mlx5");
	strcpy(build_rdma(&host, "rxe0", "0000:03:00.1")->driver, "rxe");
	strcpy(build_rdma(&host, "rxe1", "0000:03:00.2")->driver, "rxe");
	s.n_soft = 1;
	memcpy(s.soft[0].key.device, "rxe1", 5);
	s.soft[0].counts.n[BPF_SOFT_ICRC] = 3;
	event_summary_expect(&s, &host);
	event_series(p, &s);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	page_unref(p);
	host_done(&host);
	for (int reason = 0; reason < BPF_REJECTS; reason++) {
		char series[96];

		snprintf(series, sizeof(series), "roce_connection_rejects_total{reason=\"%s\"} 0\n",
			 cm_reject_label(reason));
		assert_non_null(strstr(text, series));
	}
	assert_non_null(strstr(text, "{device=\"rxe0\",kind=\"retransmit_timeout\"} 0\n"));
	assert_non_null(strstr(text, "{device=\"rxe0\",kind=\"icrc_error\"} 0\n"));
	assert_non_null(strstr(text, "{device=\"rxe1\",kind=\"icrc_error\"} 3\n"));
	assert_null(strstr(text, "{device=\"rxe1\",kind=\"icrc_error\"} 0\n"));
	assert_null(strstr(text, "rnr_timeout"));
	assert_null(strstr(text, "mlx5_0"));
}

static void tally(struct bpf_tally *t, const struct bpf_event *e, unsigned times)
{
	while (times--)
		bpf_tally_add(t, e);
}

/* A function's faults count for all its devices; a reporter that gives up has reported before. */
static void faults_are_counted_by_function(void **state)
{
	struct event_summary s = {.faults_watched = {true, true}};
	struct bpf_event_health given_up = report;
	struct page *p = page_new();
	struct host host = {0};
	AUTO_FREE char *text = NULL;
	(void)state;

	strcpy(build_rdma(&host, "mlx5_0", "0000:03:00.0")->driver, "mlx5");
	strcpy(build_rdma(&host, "mlx5_1", "0000:03:00.1")->driver, "mlx5");
	strcpy(build_rdma(&host, "rxe0", "0000:03:00.0")->driver, "rxe");
	given_up.aborted = 1;
	tally(&s.tally, &hung.head, 3);
	tally(&s.tally, &report.head, 2);
	tally(&s.tally, &given_up.head, 1);
	event_summary_expect(&s, &host);
	s.faults_watched[NIC_FAULT_HEALTH_REPORT] = false;
	event_series(p, &s);
	s.faults_watched[NIC_FAULT_HEALTH_REPORT] = true;
	event_series(p, &s);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	page_unref(p);
	host_done(&host);
	assert_non_null(strstr(text,
			       "{device=\"mlx5_0\",kind=\"tx_timeout\"} 3\n"
			       "roce_nic_faults_total{device=\"mlx5_1\",kind=\"tx_timeout\"} 0\n"));
	assert_non_null(strstr(text, "{device=\"mlx5_0\",kind=\"health_report\"} 2\n"));
	assert_null(strstr(text, "rxe0"));
}

/* Pods rename their devices: to texts that would end the label, and to another device's name. */
static void device_names_chosen_by_pods(void **state)
{
	struct event_summary s = {.faults_watched = {true, true}, .soft_watched = {true}};
	struct page *p = page_new();
	struct host host = {0};
	AUTO_FREE char *text = NULL;
	struct rdma_dev *dev;
	(void)state;

	strcpy(build_rdma(&host, "mlx5_0", "0000:03:00.0")->driver, "mlx5");
	dev = build_rdma(&host, "mlx5_0", "0000:03:00.2");
	strcpy(dev->driver, "mlx5");
	dev->nsid = 7;
	strcpy(build_rdma(&host, "m\"} 1", "0000:03:00.3")->driver, "mlx5");
	strcpy(build_rdma(&host, "r\"} 1", "0000:03:00.4")->driver, "rxe");
	event_summary_expect(&s, &host);
	event_series(p, &s);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	page_unref(p);
	host_done(&host);
	assert_non_null(strstr(text, "{device=\"mlx5_0\",kind=\"tx_timeout\"} 0\n"));
	assert_non_null(strstr(text, "{device=\"mlx5_0@0000:03:00.2\",kind=\"tx_timeout\"} 0\n"));
	assert_non_null(strstr(text, "{device=\"m\\\"} 1\",kind=\"tx_timeout\"} 0\n"));
	assert_non_null(strstr(text, "{device=\"r\\\"} 1\",kind=\"retransmit_timeout\"} 0\n"));
}

/* With more functions than the table can count, the others' numbers are unknown. */
static void faults_beyond_the_table_are_unknown(void **state)
{
	struct bpf_event_tx_timeout e = hung;
	struct bpf_tally t = {0};
	uint64_t n[N_NIC_FAULTS];
	(void)state;

	e.device[0] = '\0';
	bpf_tally_add(&t, &e.head);
	assert_int_equal(t.n_nics, 0);
	for (unsigned i = 0; i < BPF_NICS; i++) {
		snprintf(e.device, sizeof(e.device), "0000:%02x:00.0", i);
		tally(&t, &e.head, 2);
	}
	assert_true(bpf_tally_faults(&t, "0000:ff:00.0", n));
	assert_int_equal(n[NIC_FAULT_TX_TIMEOUT], 0);
	strcpy(e.device, "0000:fe:00.0");
	bpf_tally_add(&t, &e.head);
	assert_false(bpf_tally_faults(&t, "0000:fe:00.0", n));
	assert_true(bpf_tally_faults(&t, "0000:00:00.0", n));
	assert_int_equal(n[NIC_FAULT_TX_TIMEOUT], 2);
	assert_int_equal(n[NIC_FAULT_HEALTH_REPORT], 0);
}

static void events_that_are_not_watched_have_no_series(void **state)
{
	const struct event_summary s = {0};
	struct page *p = page_new();
	AUTO_FREE char *text = NULL;
	(void)state;

	event_series(p, &s);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	page_unref(p);
	assert_string_equal(text, "");
}

TEST_GROUP(bpf_events)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_has_our_version_and_the_size_of_its_kind),
		cmocka_unit_test(every_text_of_an_event_ends),
		cmocka_unit_test(our_own_enumerations_are_within_their_range),
		cmocka_unit_test(moves_and_queue_pairs_have_a_line),
		cmocka_unit_test(a_reject_names_both_ends_and_the_reason),
		cmocka_unit_test(changes_of_dcb_name_the_process),
		cmocka_unit_test(reported_events_have_reason_and_device),
		cmocka_unit_test(frequent_events_are_not_reported),
		cmocka_unit_test(events_of_placeholders_are_not_reported),
		cmocka_unit_test(unknown_numbers_and_long_texts_are_accepted),
		cmocka_unit_test(connections_are_counted_by_result_and_reason),
		cmocka_unit_test(series_begin_at_0),
		cmocka_unit_test(faults_are_counted_by_function),
		cmocka_unit_test(device_names_chosen_by_pods),
		cmocka_unit_test(faults_beyond_the_table_are_unknown),
		cmocka_unit_test(events_that_are_not_watched_have_no_series),
	};

	return test_group_run(tests, NULL, NULL);
}
