// SPDX-License-Identifier: Apache-2.0
/* The document of /api/v1/diagnosis. */
#include "api_diagnosis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "diagnosis_fixture.h"
#include "diagnosis_json.h"
#include "golden.h"
#include "host_builder.h"
#include "resource_tables.h"
#include "test_group.h"
#include "utc_text.h"

struct fixture {
	struct diagnosis_report report;
	struct resource_table table;
	struct host host;
	struct resource_index *index;
	struct condition_sources sources;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	diagnosis_report_small(&f->report);
	resource_table_small(&f->table);
	build_rdma(&f->host, "mlx5_0", "0000:03:00.0");
	build_rdma(&f->host, "mlx5_2", "0000:03:00.2");
	f->index = resource_index_new(&f->table);
	assert_non_null(f->index);
	f->sources = (struct condition_sources){
		.host = &f->host, .resources = f->index, .report = &f->report};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	resource_index_free(f->index);
	diagnosis_report_done(&f->report);
	resource_table_done(&f->table);
	host_done(&f->host);
	free(f);
	return 0;
}

static json_t *ask(const struct fixture *f, const char *function, const char *pod)
{
	const struct diagnosis_query q = {.function = function, .pod = pod, .sources = &f->sources};
	size_t len;
	char *text = api_diagnosis(&q, &len);
	json_t *document;

	assert_non_null(text);
	document = json_loadb(text, len, 0, NULL);
	assert_non_null(document);
	free(text);
	return document;
}

static void test_document(void **state)
{
	json_t *document = ask(*state, NULL, NULL);
	char *text = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(9));

	assert_golden_text("tests/golden/api_diagnosis.json", text, strlen(text));
	free(text);
	json_decref(document);
}

/* A replayed scenario yields the same document. */
static void test_replay_has_the_same(void **state)
{
	const struct fixture *f = *state;
	json_t *document = ask(f, NULL, NULL), *replayed = diagnosis_json(&f->report);

	assert_int_equal(json_object_del(document, "troubles"), 0);
	assert_true(json_equal(document, replayed));
	json_decref(document);
	json_decref(replayed);
}

/* wanted: "packet_loss mlx5_0 mlx5_0", the causes, the ports, and the ports of undecided causes. */
static void assert_selected(const struct fixture *f, const char *function, const char *pod,
			    const char *wanted)
{
	static const char *const lists[][2] = {
		{"verdicts", "cause"}, {"ports", "device"}, {"undecided", "device"}};
	json_t *document = ask(f, function, pod), *item;
	char found[256] = "";
	size_t i;

	for (size_t k = 0; k < 3; k++) {
		json_array_foreach (json_object_get(document, lists[k][0]), i, item) {
			strcat(found, found[0] ? " " : "");
			strcat(found, json_string_value(json_object_get(item, lists[k][1])));
		}
	}
	assert_string_equal(found, wanted);
	json_decref(document);
}

/* mlx5_1 is removed: its verdict still has its function. mlx5_2 is on a pod's device. */
static void test_selections(void **state)
{
	const struct fixture *f = *state;

	assert_selected(f, NULL, NULL,
			"packet_loss peer_gone mlx5_0 mlx5_1 mlx5_2 mlx5_0 mlx5_2 mlx5_2");
	assert_selected(f, "0000:03:00.0", NULL, "packet_loss mlx5_0 mlx5_0");
	assert_selected(f, "0000:03:00.2", NULL, "peer_gone mlx5_2 mlx5_2 mlx5_2");
	assert_selected(f, "0000:04:00.0", NULL, "");
	assert_selected(f, NULL, "job-8", "peer_gone");
	assert_selected(f, NULL, "train/job-8", "peer_gone");
	assert_selected(f, NULL, "test/job-8", "");
	assert_selected(f, "0000:03:00.0", "job-8", "");
	assert_selected(f, NULL, "train/job-7", "peer_gone mlx5_2 mlx5_2 mlx5_2");
}

/* The port "mlx5_0/2" of a device with several. */
static void test_one_port(void **state)
{
	const struct fixture *f = *state;

	for (uint32_t port = 1; port <= 2; port++) {
		const struct diagnosis_query q = {
			.function = "0000:03:00.0", .port = port, .sources = &f->sources};
		size_t len;
		char *text = api_diagnosis(&q, &len);
		json_t *document = json_loads(text, 0, NULL);

		assert_int_equal(json_array_size(json_object_get(document, "verdicts")), port == 1);
		assert_int_equal(json_array_size(json_object_get(document, "ports")), port == 1);
		json_decref(document);
		free(text);
	}
}

/* The link of a pod's port is down, and the kubelet's list does not name the pod. */
static void test_lost_link(void **state)
{
	struct fixture *f = *state;
	const json_t *trouble;
	json_t *document;

	f->report.ports[0].watch = WATCH_DOWN;
	f->report.ports[0].held = true;
	for (size_t i = 0; i < f->report.n_verdicts; i++)
		f->report.verdicts[i].change = VERDICT_CLOSED;
	f->sources.resources = NULL;
	document = ask(f, NULL, NULL);
	trouble = json_array_get(json_object_get(document, "troubles"), 0);
	assert_string_equal(json_string_value(json_object_get(trouble, "word")), "link_down");
	assert_string_equal(json_string_value(json_object_get(trouble, "severity")), "warning");
	assert_int_equal(json_array_size(json_object_get(document, "troubles")), 1);
	json_decref(document);
}

static json_t *ask_time(const struct fixture *f, uint64_t since_ms, uint64_t until_ms)
{
	const struct diagnosis_query q = {.ended = true,
					  .since_ms = since_ms,
					  .until_ms = until_ms,
					  .started_unix_ms = f->report.unix_ms - 600000,
					  .sources = &f->sources};
	size_t len;
	char *text = api_diagnosis(&q, &len);
	json_t *document = json_loads(text, 0, NULL);

	free(text);
	return document;
}

static void assert_size(const json_t *document, const char *list, size_t n)
{
	assert_int_equal(json_array_size(json_object_get(document, list)), n);
}

static void assert_time(const json_t *document, const char *key, uint64_t unix_ms)
{
	char text[UTC_TEXT_SIZE];

	utc_text(unix_ms, text);
	assert_string_equal(json_string_value(json_object_get(document, key)), text);
}

/* Open verdicts belong to a time as ended ones do, and the document has the time from which on all
 * that ended is remembered. */
static void test_a_time(void **state)
{
	struct fixture *f = *state;
	const uint64_t now = f->report.unix_ms;
	uint64_t onset = f->report.verdicts[0].onset_unix_ms;
	json_t *document;

	document = ask_time(f, onset - 60000, onset);
	assert_size(document, "verdicts", 2);
	assert_time(document, "since", onset - 60000);
	assert_time(document, "until", onset);
	assert_time(document, "knownSince", now - 600000);
	json_decref(document);
	document = ask_time(f, onset - 60000, onset - 1000);
	assert_size(document, "verdicts", 0);
	assert_size(document, "troubles", 1); /* since when is not known */
	json_decref(document);
	f->report.n_ended = ENDED_MAX;
	f->report.ended = calloc(ENDED_MAX, sizeof(*f->report.ended));
	f->report.ended[0].ended_unix_ms = now - 1000;
	document = ask_time(f, 0, 0);
	assert_true(json_is_null(json_object_get(document, "since")));
	assert_time(document, "knownSince", now - 1000); /* a full list has dropped some */
	json_decref(document);
}

TEST_GROUP(api_diagnosis)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_document, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replay_has_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(test_selections, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_time, setup, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
