// SPDX-License-Identifier: Apache-2.0
/* Verdicts on the metrics page. */
#include "diagnosis_series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnosis_fixture.h"
#include "golden.h"
#include "host_builder.h"
#include "page_text.h"
#include "resource_tables.h"
#include "test_group.h"
#include "verdict_pods.h"

static void test_page(void **state)
{
	struct diagnosis_report report;
	struct resource_table table;
	struct page *p = page_new();
	size_t len;
	char *text;

	(void)state;
	diagnosis_report_small(&report);
	resource_table_small(&table);
	assert_int_equal(diagnosis_series(p, &report, &table, NULL), 0);
	text = page_text(p, METRICS_PROMETHEUS, &len);
	assert_golden_text("tests/golden/diagnosis.prom", text, len);
	free(text);
	page_unref(p);
	resource_table_done(&table);
	diagnosis_report_done(&report);
}

/* Every cause has counters from 0 on, and no verdict is shown. */
static void test_without_verdicts_all_causes_are_0(void **state)
{
	static const struct diagnosis_report none;
	struct page *p = page_new();
	char *text;
	size_t n = 0;

	(void)state;
	assert_int_equal(diagnosis_series(p, &none, NULL, NULL), 0);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	assert_null(strstr(text, "roce_diagnosis{"));
	assert_null(strstr(text, "roce_diagnosis "));
	assert_null(strstr(text, "roce_diagnosis_onset_timestamp_seconds"));
	for (const char *at = text; (at = strstr(at, "\"} 0\n")); at++)
		n++;
	assert_int_equal(n, 2 * N_CAUSES);
	free(text);
	page_unref(p);
}

/* The time of onset is absent, not 1970, if the node's clock was not set. */
static void test_unknown_onset_is_absent(void **state)
{
	struct diagnosis_report report;
	struct page *p = page_new();
	char *text;

	(void)state;
	diagnosis_report_small(&report);
	report.verdicts[0].onset_unix_ms = 0;
	assert_int_equal(diagnosis_series(p, &report, NULL, NULL), 0);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	assert_non_null(strstr(text, "roce_diagnosis{device=\"mlx5_0\""));
	assert_null(strstr(text, "roce_diagnosis_onset_timestamp_seconds{device=\"mlx5_0\""));
	assert_non_null(strstr(text, "roce_diagnosis_onset_timestamp_seconds{device=\"mlx5_1\""));
	free(text);
	page_unref(p);
	diagnosis_report_done(&report);
}

/* The event also belongs to the pod that causes it. */
static void test_a_culprit_is_a_pod_of_the_event(void **state)
{
	struct diagnosis_report report;
	struct text others = {0};
	struct verdict *v;

	(void)state;
	diagnosis_report_small(&report);
	v = report.verdicts;
	v->cause = CAUSE_NOISY_NEIGHBOUR;
	v->n_pods = v->n_culprits = 1;
	v->culprits[0] = v->pods[0];
	strcpy(v->culprits[0].namespace, "n");
	strcpy(v->culprits[0].name, "noisy");
	verdict_pods_others(&(struct verdict_holders){.report = &report}, v, &others);
	text_add(&others, "", 1);
	assert_string_equal(others.data, "n/noisy");
	text_done(&others);
	diagnosis_report_done(&report);
}

/* The pods that the verdict lists, and beyond them those of the PF's VFs; each once. */
static void test_pods(void **state)
{
	struct diagnosis_report report;
	struct resource_table table = {.generation = 1};
	struct host host = {0};
	struct page *p = page_new();
	struct text others = {0};
	struct verdict *v;
	char *text;

	(void)state;
	diagnosis_report_small(&report);
	v = &report.verdicts[0];
	v->cause = CAUSE_FABRIC_CONGESTION;
	strcpy(v->function, "0000:03:00.0");
	v->n_pods = VERDICT_PODS_MAX + 2;
	build_function(&host, FN_PF, "0000:03:00.0", "", -1);
	for (int i = 0; i < VERDICT_PODS_MAX + 2; i++) {
		char id[16], pod[16];
		struct pod_device d = {.namespace = "n", .container = "c", .resource = "r/r"};

		snprintf(id, sizeof(id), "0000:03:00.%d", i + 1);
		snprintf(pod, sizeof(pod), "p%d", i == VERDICT_PODS_MAX + 1 ? i - 1 : i);
		build_function(&host, FN_VF, id, "0000:03:00.0", i);
		if (i < VERDICT_PODS_MAX) {
			strcpy(v->pods[i].namespace, "n");
			strcpy(v->pods[i].name, i == 1 ? "p0" : pod);
		}
		d.id = pod_list_text(&table.held, id);
		d.pod = pod_list_text(&table.held, i == 1 ? "p0" : pod);
		assert_int_equal(pod_list_push(&table.held, &d), 0);
	}
	v->n_culprits = 1;
	strcpy(v->culprits[0].namespace, "n");
	strcpy(v->culprits[0].name, "p6");
	assert_int_equal(diagnosis_series(p, &report, &table, &host), 0);
	/* An event has the same pods, except its own. */
	verdict_pods_others(&(struct verdict_holders){&report, &table, &host}, v, &others);
	text_add(&others, "", 1);
	assert_string_equal(others.data, "n/p2,n/p3,n/p4,n/p5,n/p6");
	text_done(&others);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	assert_non_null(strstr(text, "role=\"cause\",namespace=\"n\",pod=\"p6\"} 1\n"));
	for (int i = 0; i < VERDICT_PODS_MAX; i++) {
		char line[256], *at;

		snprintf(line, sizeof(line),
			 "roce_diagnosis_pod_info{device=\"mlx5_0\",port=\"1\",cause=\"fabric_"
			 "congestion\",role=\"affected\",namespace=\"n\",pod=\"p%d\"} 1\n",
			 i);
		at = strstr(text, line);
		assert_int_equal(!at, i == 1);
		assert_true(!at || !strstr(at + 1, line));
	}
	free(text);
	page_unref(p);
	pod_list_done(&table.held);
	host_done(&host);
	diagnosis_report_done(&report);
}

static void assert_causes(enum port_watch watch, size_t n_undecided, const char *expected)
{
	struct undecided_list *list = calloc(1, sizeof(*list));
	struct port_watched port = {.watch = watch, .undecided = list};
	struct text t = {0};

	list->n = n_undecided;
	diagnosis_port_series(&t, "{device=\"a\"", strlen("{device=\"a\""), &port);
	text_add(&t, "", 1);
	assert_string_equal(t.data, expected);
	text_done(&t);
	free(list);
}

#define CAUSES(judged, undecided)                                                                  \
	"roce_diagnosis_port_causes{device=\"a\",decision=\"judged\"} " judged "\n"                \
	"roce_diagnosis_port_causes{device=\"a\",decision=\"undecided\"} " undecided "\n"

/* On a port that warms up or cannot be read all causes are undecided, so it does not look
 * healthy. */
static void test_causes_of_a_port(void **state)
{
	(void)state;
	assert_int_equal(N_CAUSES, 40);
	assert_causes(WATCH_JUDGED, 3, CAUSES("37", "3"));
	assert_causes(WATCH_DOWN, 3, CAUSES("37", "3"));
	assert_causes(WATCH_WARMING, 0, CAUSES("0", "40"));
	assert_causes(WATCH_UNSEEN, 0, CAUSES("0", "40"));
	assert_causes(WATCH_NOT_APPLICABLE, 0, "");
}

TEST_GROUP(diagnosis_series)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_unknown_onset_is_absent),
		cmocka_unit_test(test_causes_of_a_port),
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_a_culprit_is_a_pod_of_the_event),
		cmocka_unit_test(test_without_verdicts_all_causes_are_0),
	};

	return test_group_run(tests, NULL, NULL);
}
