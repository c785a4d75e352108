// SPDX-License-Identifier: Apache-2.0
/* The documents of /api/v1/ports, /api/v1/history and /api/v1/live, made from a real diagnosis. */
#include "api_ports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "api_live.h"
#include "api_pod.h"
#include "diagnosis_report.h"
#include "diagnosis_world.h"
#include "event_ring.h"
#include "faults.h"
#include "golden.h"
#include "host_builder.h"
#include "resource_tables.h"
#include "test_group.h"

#define SECOND 1000

struct fixture {
	struct world world;
	struct diagnosis *d;
	struct diagnosis_report report;
	struct resource_table table;
	struct host host;
	struct event_ring ring;
	struct live_cache cache;
};

static void step(struct fixture *f, unsigned samples)
{
	for (unsigned i = 0; i < samples; i++) {
		struct observation o;

		world_traffic(&f->world.ports[0], 4e9, 5e8);
		o = world_step(&f->world, SECOND);
		assert_int_equal(diagnosis_tick(f->d, &o), 0);
	}
	assert_int_equal(diagnosis_report_make(&f->report, f->d), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct thresholds limits;

	assert_non_null(f);
	thresholds_init(&limits);
	world_init(&f->world, 2, 1);
	assert_int_equal(diagnosis_new(&f->d, &limits), 0);
	assert_int_equal(event_ring_init(&f->ring), 0);
	resource_table_small(&f->table);
	build_function(&f->host, FN_PF, "0000:03:00.0", "", -1);
	build_function(&f->host, FN_VF, "0000:03:00.2", "0000:03:00.0", 0);
	strcpy(build_rdma(&f->host, "mlx5_0", "0000:03:00.0")->ports[0].netdev, "ens1");
	build_rdma(&f->host, "mlx5_1", "0000:03:00.2")->ports[0].active_mtu = 4096;
	step(f, 3);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	live_cache_done(&f->cache);
	diagnosis_report_done(&f->report);
	diagnosis_free(f->d);
	world_done(&f->world);
	resource_table_done(&f->table);
	event_ring_done(&f->ring);
	host_done(&f->host);
	free(f);
	return 0;
}

/* Parses and frees the text. */
static json_t *parsed(char *text, const size_t *len)
{
	json_t *document;

	assert_non_null(text);
	assert_int_equal(strlen(text), *len);
	document = json_loadb(text, *len, 0, NULL);
	assert_non_null(document);
	free(text);
	return document;
}

static void assert_golden_json(const char *path, json_t *document)
{
	char *text = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(5));

	assert_golden_text(path, text, strlen(text));
	free(text);
	json_decref(document);
}

/* --- ports and history ------------------------------------------------------------------------ */

static void test_ports(void **state)
{
	const struct fixture *f = *state;
	size_t len;
	struct condition_sources sources = {
		.host = &f->host, .resources = resource_index_new(&f->table), .report = &f->report};
	char *text = api_ports(&sources, NULL, &len);

	assert_golden_json("tests/golden/api_ports.json", parsed(text, &len));
	resource_index_free((struct resource_index *)sources.resources);
}

/* The devices were removed after the sample, and allocations are unknown. */
static void test_ports_of_removed_devices(void **state)
{
	struct fixture *f = *state;
	struct host none = {0};
	size_t len;
	json_t *document, *port;
	const struct condition_sources sources = {.host = &none, .report = &f->report};

	document = parsed(api_ports(&sources, NULL, &len), &len);
	assert_int_equal(json_array_size(json_object_get(document, "ports")), 2);
	port = json_array_get(json_object_get(document, "ports"), 0);
	assert_true(json_is_null(json_object_get(port, "function")));
	assert_true(json_is_null(json_object_get(port, "state")));
	assert_true(json_is_number(json_object_get(json_object_get(port, "now"), "bytes_sent")));
	json_decref(document);
}

/* --- the status of a pod ---------------------------------------------------------------------- */

/* Makes verdicts of both ports that name a pod, a peer and another VF. */
static void find_faults(struct fixture *f)
{
	struct observation o;

	for (unsigned i = 0; i < 60; i++) {
		for (unsigned p = 0; p < 2; p++) {
			world_traffic(&f->world.ports[p], 4e9, 5e8);
			f->world.ports[p].rate[SERIES_SEQUENCE_NAK] = 500;
			f->world.ports[p].rate[SERIES_OUT_OF_SEQUENCE] = 500;
		}
		o = world_step(&f->world, SECOND);
		assert_int_equal(diagnosis_tick(f->d, &o), 0);
	}
	assert_int_equal(diagnosis_report_make(&f->report, f->d), 0);
	assert_int_equal(diagnosis_report_keep_counters(&f->report, &o), 0);
	for (size_t i = 0; i < f->report.n_verdicts; i++) {
		struct verdict *v = &f->report.verdicts[i];

		strcpy(v->pods[0].namespace, "secret-namespace");
		strcpy(v->pods[0].name, "secret-pod");
		v->n_pods = 1;
		strcpy(v->peer, "10.66.66.66");
	}
}

static void test_pod_status(void **state)
{
	struct fixture *f = *state;
	json_t *document;
	char *text;
	size_t len;

	find_faults(f);
	assert_true(f->report.n_verdicts >= 2);
	text = api_pod_status(&f->report, &f->host, "0000:03:00.2", 1000, &len);
	assert_non_null(text);
	assert_null(strstr(text, "secret"));
	assert_null(strstr(text, "10.66"));
	assert_null(strstr(text, "mlx5_0"));
	assert_null(strstr(text, "0000:03:00.0"));
	assert_non_null(strstr(text, "packet_loss"));
	document = parsed(text, &len);
	assert_golden_json("tests/golden/api_pod_status.json", document);
}

/* In exclusive mode a pod names its own devices: here it uses the name of the host's PF. */
static void test_pod_status_of_a_reused_device_name(void **state)
{
	struct fixture *f = *state;
	struct rdma_dev *own;
	json_t *document;
	size_t len;

	find_faults(f);
	build_function(&f->host, FN_VF, "0000:03:00.3", "0000:03:00.0", 1);
	own = build_rdma(&f->host, "mlx5_0", "0000:03:00.3");
	own->nsid = 7;
	document = parsed(api_pod_status(&f->report, &f->host, "0000:03:00.3", 1000, &len), &len);
	assert_int_equal(json_array_size(json_object_get(document, "ports")), 0);
	assert_int_equal(json_array_size(json_object_get(document, "verdicts")), 0);
	json_decref(document);
}

/* In exclusive mode the pod's device is in its namespace; no other device has its name. */
static void test_a_pod_reads_the_ports_of_a_device_in_its_namespace(void **state)
{
	struct fixture *f = *state;
	json_t *document;
	size_t len;

	find_faults(f);
	for (size_t i = 0; i < f->host.n_rdma; i++)
		if (strcmp(f->host.rdma[i].function, "0000:03:00.2") == 0)
			f->host.rdma[i].nsid = 7;
	document = parsed(api_pod_status(&f->report, &f->host, "0000:03:00.2", 1000, &len), &len);
	assert_int_equal(json_array_size(json_object_get(document, "ports")), 1);
	assert_true(json_array_size(json_object_get(document, "verdicts")) > 0);
	json_decref(document);
}

/* The device was removed, or never had an RDMA device. */
static void test_pod_status_without_an_rdma_device(void **state)
{
	const struct fixture *f = *state;
	size_t len;
	json_t *document = parsed(api_pod_status(&f->report, &f->host, "0000:99:00.0", 5000, &len),
				  &len);

	assert_int_equal(json_array_size(json_object_get(document, "ports")), 0);
	assert_int_equal(json_array_size(json_object_get(document, "verdicts")), 0);
	assert_int_equal(json_integer_value(json_object_get(document, "everyMs")), 5000);
	json_decref(document);
}

static void test_history(void **state)
{
	const struct fixture *f = *state;
	size_t len;
	char *text = api_history(&f->report, 0, 0, &len);

	assert_golden_json("tests/golden/api_history.json", parsed(text, &len));
}

static json_t *histories(const struct fixture *f, struct history_query q)
{
	size_t len;

	return parsed(api_histories(&f->report, &q, &len), &len);
}

static void test_histories(void **state)
{
	struct fixture *f = *state;
	const struct history_query q = {.every_ms = 2 * SECOND,
					.signals = 1u << SIGNAL_NAK | 1u << SIGNAL_BYTES_SENT};

	assert_golden_json("tests/golden/api_histories.json", histories(f, q));
}

/* At most so many steps as fit, the newest ones. */
static void test_histories_are_bounded(void **state)
{
	struct fixture *f = *state;
	const struct history_query q = {.every_ms = SECOND, .signals = 1u << SIGNAL_BYTES_SENT};
	json_t *document, *at;

	step(f, 200);
	document = histories(f, q);
	at = json_object_get(document, "atMs");
	assert_int_equal(json_array_size(at), HISTORY_STEPS_MAX);
	assert_int_equal(json_integer_value(json_array_get(at, HISTORY_STEPS_MAX - 1)),
			 f->report.now_ms);
	json_decref(document);
}

static size_t history_rows(const struct fixture *f, uint64_t since_ms)
{
	size_t len, n;
	json_t *document = parsed(api_history(&f->report, 1, since_ms, &len), &len);

	n = json_array_size(json_object_get(document, "atMs"));
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(document, "signals"), "nak")), n);
	json_decref(document);
	return n;
}

static void test_history_since(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(history_rows(f, f->report.now_ms), 0);
	assert_int_equal(history_rows(f, f->report.now_ms - SECOND), 1);
	assert_int_equal(history_rows(f, UINT64_MAX), 0);
	step(f, 1000);
	assert_int_equal(history_rows(f, 0), WINDOW_ROWS - 1);
}

static void test_names_of_ports(void **state)
{
	static const char *const none[] = {"",		"mlx5_1",    "mlx5_1/", "mlx5_1/x",
					   "mlx5_1/2",	"mlx5_1/1x", "mlx5/1",	"/1",
					   "mlx5_11/1", "mlx5_1/-1"};
	const struct fixture *f = *state;

	assert_int_equal(api_port_find(&f->report, "mlx5_0/1"), 0);
	assert_int_equal(api_port_find(&f->report, "mlx5_1/1"), 1);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_true(api_port_find(&f->report, none[i]) == SIZE_MAX);
}

/* --- live
 * -------------------------------------------------------------------------------------- */

static struct live_input scene_of(const struct fixture *f)
{
	return (struct live_input){.report = &f->report,
				   .events = &f->ring,
				   .node = "node-17",
				   .now_ms = f->report.now_ms + 7,
				   .started_unix_ms = 1764090245123,
				   .every_ms = SECOND,
				   .devices = 7,
				   .config = 1};
}

static json_t *live(struct fixture *f, struct live_query q)
{
	struct live_input s = scene_of(f);
	size_t len;

	return parsed(api_live(&f->cache, &s, &q, &len), &len);
}

static void happen(struct fixture *f, const char *message)
{
	struct event e = {.reason = "LinkDown", .first_ms = 1000, .last_ms = 1000};

	strcpy(e.message, message);
	event_ring_add(&f->ring, &e);
}

static void test_live(void **state)
{
	struct fixture *f = *state;

	happen(f, "one <script>");
	assert_golden_json("tests/golden/api_live.json",
			   live(f, (struct live_query){.since_ms = f->report.now_ms - SECOND}));
}

static size_t live_rows(struct fixture *f, uint64_t since_ms, bool complete)
{
	json_t *document = live(f, (struct live_query){.since_ms = since_ms});
	size_t n = json_array_size(json_object_get(document, "rows"));

	assert_int_equal(json_is_true(json_object_get(document, "complete")), complete);
	json_decref(document);
	return n;
}

static void test_live_rows(void **state)
{
	struct fixture *f = *state;
	uint64_t now;

	step(f, 50);
	now = f->report.now_ms;
	assert_int_equal(live_rows(f, now, true), 0);
	assert_int_equal(live_rows(f, now - 3 * SECOND, true), 3);
	assert_int_equal(live_rows(f, now - LIVE_ROWS_MAX * SECOND, true), LIVE_ROWS_MAX);
	assert_int_equal(live_rows(f, now - LIVE_ROWS_MAX * SECOND - 1, false), LIVE_ROWS_MAX);
	assert_int_equal(live_rows(f, 1, false), LIVE_ROWS_MAX);
	/* no sample seen yet, or a time from before the machine's last boot */
	assert_int_equal(live_rows(f, 0, false), 1);
	assert_int_equal(live_rows(f, now + SECOND, false), 1);
}

static void make_verdicts(struct fixture *f, size_t n)
{
	void *room = reallocarray(f->report.verdicts, n, sizeof(*f->report.verdicts));

	assert_non_null(room);
	f->report.verdicts = room;
	f->report.n_verdicts = f->report.room_verdicts = n;
	for (size_t i = 0; i < n; i++)
		f->report.verdicts[i] = (struct verdict){.device = "mlx5_0",
							 .port = (uint32_t)i,
							 .cause = CAUSE_PORT_NEVER_UP,
							 .severity = SEVERITY_INFO,
							 .first_moved = ""};
}

/* The most severe come first, then the newest; the rest is cut off. */
static void test_too_many_verdicts(void **state)
{
	const size_t n = LIVE_VERDICTS_MAX + 16;
	struct fixture *f = *state;
	json_t *document, *verdicts;

	make_verdicts(f, n);
	f->report.verdicts[3].severity = SEVERITY_WARNING;
	f->report.verdicts[n - 5].severity = SEVERITY_CRITICAL;
	f->report.verdicts[n - 3].explained = true;
	f->report.verdicts[n - 2].change = VERDICT_CLOSED;
	document = live(f, (struct live_query){0});
	assert_int_equal(json_integer_value(json_object_get(document, "verdictCount")), n - 2);
	assert_int_equal(json_integer_value(json_object_get(document, "problemCount")), 2);
	verdicts = json_object_get(document, "verdicts");
	assert_int_equal(json_array_size(verdicts), LIVE_VERDICTS_MAX);
	for (size_t i = 0; i < 5; i++) {
		const size_t expected[] = {n - 5, 3, n - 1, n - 4, n - 6};
		const json_t *port = json_object_get(json_array_get(verdicts, i), "port");

		assert_int_equal(json_integer_value(port), expected[i]);
	}
	json_decref(document);
}

/* The newest come first, each with time and reason of its end. */
static void test_ended_verdicts(void **state)
{
	struct fixture *f = *state;
	struct ended_verdict ended[2] = {{.ended_ms = 7000, .ended_unix_ms = 1700000007000},
					 {.ended_ms = 9000, .ended_unix_ms = 1700000009000}};
	json_t *document, *list, *first;

	make_verdicts(f, 1);
	ended[0].verdict = ended[1].verdict = f->report.verdicts[0];
	ended[1].verdict.closed = CLOSE_GONE;
	f->report.n_verdicts = 0;
	free(f->report.ended);
	f->report.ended = ended;
	f->report.n_ended = 2;
	document = live(f, (struct live_query){0});
	f->report.ended = NULL;
	f->report.n_ended = f->report.room_ended = 0;
	assert_int_equal(json_array_size(json_object_get(document, "verdicts")), 0);
	list = json_object_get(document, "ended");
	assert_int_equal(json_array_size(list), 2);
	first = json_array_get(list, 0);
	assert_int_equal(json_integer_value(json_object_get(first, "endedMs")), 9000);
	assert_string_equal(json_string_value(json_object_get(first, "ended")),
			    "2023-11-14T22:13:29.000Z");
	assert_string_equal(json_string_value(json_object_get(first, "endedAs")), "gone");
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "endedAs")),
			    "cleared");
	json_decref(document);
}

static bool is_new(const struct fixture *f, uint64_t since_ms, uint64_t events_after)
{
	const struct live_query q = {since_ms, events_after};
	const struct live_input s = scene_of(f);

	return api_live_any(&s, &q);
}

static void test_a_new_sample_or_event_counts_as_new(void **state)
{
	struct fixture *f = *state;
	uint64_t now = f->report.now_ms;

	happen(f, "one");
	assert_false(is_new(f, now, 1));
	assert_true(is_new(f, now - 1, 1));
	assert_true(is_new(f, now + 1, 1));
	assert_true(is_new(f, now, 0));
	assert_true(is_new(f, now, 9));
	happen(f, "two");
	assert_true(is_new(f, now, 1));
	assert_false(is_new(f, now, 2));
}

static void test_before_the_first_sample(void **state)
{
	const struct live_input s = {.now_ms = 7};
	const struct live_query q = {.since_ms = 5};
	struct fixture *f = *state;
	size_t len;
	json_t *document = parsed(api_live(&f->cache, &s, &q, &len), &len);

	assert_false(api_live_any(&s, &q));
	assert_true(json_is_null(json_object_get(document, "timeMs")));
	assert_true(json_is_null(json_object_get(document, "node")));
	assert_null(json_object_get(document, "rows"));
	json_decref(document);
}

/* The cached answer serves requests with the same query only. */
static void test_the_cache_belongs_to_one_query(void **state)
{
	struct fixture *f = *state;
	uint64_t now = f->report.now_ms;
	const char *kept;

	assert_int_equal(live_rows(f, now - SECOND, true), 1);
	kept = f->cache.text;
	assert_int_equal(live_rows(f, now - SECOND, true), 1);
	assert_ptr_equal(f->cache.text, kept);
	assert_int_equal(live_rows(f, now - 2 * SECOND, true), 2);
	step(f, 1);
	assert_int_equal(live_rows(f, now, true), 1);
}

static void test_without_memory(void **state)
{
	struct fixture *f = *state;
	const struct live_query q = {.since_ms = 1};
	const struct live_input s = scene_of(f);
	bool failed = true;
	size_t len;

	for (long i = 0; failed; i++) {
		char *text;

		live_cache_done(&f->cache);
		faults_alloc(i);
		text = api_live(&f->cache, &s, &q, &len);
		failed = faults_end();
		assert_true(failed ? !text : !!text);
		free(text);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

TEST_GROUP(api_ports)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ports),
		TEST(test_ports_of_removed_devices),
		TEST(test_pod_status),
		TEST(test_pod_status_of_a_reused_device_name),
		TEST(test_a_pod_reads_the_ports_of_a_device_in_its_namespace),
		TEST(test_pod_status_without_an_rdma_device),
		TEST(test_history),
		TEST(test_histories),
		TEST(test_histories_are_bounded),
		TEST(test_history_since),
		TEST(test_names_of_ports),
		TEST(test_live),
		TEST(test_live_rows),
		TEST(test_too_many_verdicts),
		TEST(test_ended_verdicts),
		TEST(test_a_new_sample_or_event_counts_as_new),
		TEST(test_before_the_first_sample),
		TEST(test_the_cache_belongs_to_one_query),
		TEST(test_without_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
