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

struct fixture {
	struct diagnosis_report report;
	struct resource_table table;
	struct host host;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	diagnosis_report_small(&f->report);
	resource_table_small(&f->table);
	build_rdma(&f->host, "mlx5_0", "0000:03:00.0");
	build_rdma(&f->host, "mlx5_2", "0000:03:00.2");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	diagnosis_report_done(&f->report);
	resource_table_done(&f->table);
	host_done(&f->host);
	free(f);
	return 0;
}

static json_t *ask(const struct fixture *f, const char *function, const char *pod)
{
	const struct diagnosis_query q = {function, pod, &f->host, &f->table};
	size_t len;
	char *text = api_diagnosis(&f->report, &q, &len);
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

/* Whoever replays a scenario reads the same. */
static void test_replay_has_the_same(void **state)
{
	const struct fixture *f = *state;
	json_t *document = ask(f, NULL, NULL), *replayed = diagnosis_json(&f->report);

	assert_true(json_equal(document, replayed));
	json_decref(document);
	json_decref(replayed);
}

/* "packet_loss mlx5_0 mlx5_0": causes, ports, ports of undecided causes. */
static void assert_told(const struct fixture *f, const char *function, const char *pod,
			const char *wanted)
{
	static const char *const lists[][2] = {
		{"verdicts", "cause"}, {"ports", "device"}, {"undecided", "device"}};
	json_t *document = ask(f, function, pod), *item;
	char told[256] = "";
	size_t i;

	for (size_t k = 0; k < 3; k++) {
		json_array_foreach (json_object_get(document, lists[k][0]), i, item) {
			strcat(told, told[0] ? " " : "");
			strcat(told, json_string_value(json_object_get(item, lists[k][1])));
		}
	}
	assert_string_equal(told, wanted);
	json_decref(document);
}

/* mlx5_1 is not there any more: its function is told by its verdict. mlx5_2 is on what a pod holds.
 */
static void test_selections(void **state)
{
	const struct fixture *f = *state;

	assert_told(f, NULL, NULL,
		    "packet_loss peer_gone mlx5_0 mlx5_1 mlx5_2 mlx5_0 mlx5_2 mlx5_2");
	assert_told(f, "0000:03:00.0", NULL, "packet_loss mlx5_0 mlx5_0");
	assert_told(f, "0000:03:00.2", NULL, "peer_gone mlx5_2 mlx5_2 mlx5_2");
	assert_told(f, "0000:04:00.0", NULL, "");
	assert_told(f, NULL, "job-8", "peer_gone");
	assert_told(f, NULL, "train/job-8", "peer_gone");
	assert_told(f, NULL, "test/job-8", "");
	assert_told(f, "0000:03:00.0", "job-8", "");
	assert_told(f, NULL, "train/job-7", "peer_gone mlx5_2 mlx5_2 mlx5_2");
}

TEST_GROUP(api_diagnosis)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_document, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replay_has_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(test_selections, setup, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
