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
#include "page_text.h"
#include "resource_tables.h"
#include "test_group.h"

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
	assert_int_equal(diagnosis_series(p, &report, &table), 0);
	text = page_text(p, METRICS_PROMETHEUS, &len);
	assert_golden_text("tests/golden/diagnosis.prom", text, len);
	free(text);
	page_unref(p);
	resource_table_done(&table);
	diagnosis_report_done(&report);
}

/* Every cause from 0 on, and no verdict at all. */
static void test_without_verdicts_all_causes_are_0(void **state)
{
	static const struct diagnosis_report none;
	struct page *p = page_new();
	char *text;
	size_t n = 0;

	(void)state;
	assert_int_equal(diagnosis_series(p, &none, NULL), 0);
	text = page_text(p, METRICS_PROMETHEUS, NULL);
	assert_null(strstr(text, "roce_diagnosis{"));
	assert_null(strstr(text, "roce_diagnosis "));
	for (const char *at = text; (at = strstr(at, "\"} 0\n")); at++)
		n++;
	assert_int_equal(n, 2 * N_CAUSES);
	free(text);
	page_unref(p);
}

TEST_GROUP(diagnosis_series)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_without_verdicts_all_causes_are_0),
	};

	return test_group_run(tests, NULL, NULL);
}
