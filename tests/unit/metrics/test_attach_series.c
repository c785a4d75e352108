// SPDX-License-Identifier: Apache-2.0
/* The attach engine's families, compared with a golden file; UPDATE_GOLDEN=1 rewrites it. */
#include "attach_series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attachments.h"
#include "golden.h"
#include "page_text.h"
#include "test_group.h"

static char *render(const struct attach_summary *s, enum metrics_format format, size_t *ret_len)
{
	struct page *p = page_new();
	char *text;

	attach_series(p, s);
	text = page_text(p, format, ret_len);
	page_unref(p);
	return text;
}

static void test_the_families_match_the_golden_file(void **state)
{
	struct attach_counters counters;
	struct attach_summary summary;
	struct attachments a;
	size_t len;
	char *text;

	(void)state;
	attachments_small(&a);
	attach_counters_small(&counters);
	attach_summary_build(&summary, &counters, a.list);
	text = render(&summary, METRICS_PROMETHEUS, &len);
	assert_golden_text("tests/golden/attach.prom", text, len);
	free(text);
	text = render(&summary, METRICS_OPENMETRICS, &len);
	assert_golden_text("tests/golden/attach.openmetrics", text, len);
	free(text);
}

static void test_without_an_engine_there_are_no_series(void **state)
{
	static const struct attach_summary none;
	size_t len;
	char *text = render(&none, METRICS_PROMETHEUS, &len);

	(void)state;
	assert_int_equal(len, 0);
	free(text);
}

static void assert_shows(const struct attach_counters *c, const char *line, bool is_there)
{
	struct attach_summary s;
	char *text;

	attach_summary_build(&s, c, (struct attach_list){0});
	text = render(&s, METRICS_PROMETHEUS, NULL);
	assert_int_equal(strstr(text, line) != NULL, is_there);
	free(text);
}

static void test_failing_parts_are_0(void **state)
{
	struct attach_counters c;

	(void)state;
	attach_counters_small(&c);
	assert_shows(&c, "\nrocelet_cri_up 1\n", true);
	assert_shows(&c, "rocelet_attachment_drift{", false);
	strcpy(c.cri.error, "connection refused");
	strcpy(c.journal_error, "No space left on device");
	assert_shows(&c, "\nrocelet_cri_up 0\n", true);
	assert_shows(&c, "\nrocelet_journal_writable 0\n", true);
	assert_shows(&c, "\nrocelet_runtime_contradictions 0\n", true);
	c.contradicting = 2;
	assert_shows(&c, "\nrocelet_runtime_contradictions 2\n", true);
	c = (struct attach_counters){.cri_open = true};
	assert_shows(&c, "\nrocelet_cri_up 0\n", true);
	assert_shows(&c, "rocelet_cri_info", false);
}

static void test_unused_parts_have_no_series(void **state)
{
	struct attach_counters c = {0};

	(void)state;
	assert_shows(&c, "rocelet_cri", false); /* no runtime is required */
	assert_shows(&c, "_longest_seconds", false);
	assert_shows(&c, "\nrocelet_attach_seconds_count 0\n", true);
	c.returned = 1;
	assert_shows(&c, "\nrocelet_return_longest_seconds 0.000000\n", true);
	assert_shows(&c, "rocelet_attach_longest_seconds", false);
}

/* Two macvlans on one function, in the same pod. */
static void test_stacked_attachments_have_separate_lines(void **state)
{
	struct attach_counters c = {0};
	struct attach_summary s;
	struct attachments a;
	char *text;

	(void)state;
	attachments_small(&a);
	a.status[1] = a.status[0] = a.status[4];
	a.records[0] = a.records[1] = a.records[4];
	a.status[0].record = &a.records[0];
	a.status[1].record = &a.records[1];
	a.status[0].drift = a.status[1].drift = ATTACH_DRIFT_DOWN;
	strcpy(a.records[1].id, "1");
	strcpy(a.records[1].plan.ifname, "net2");
	a.list.n = 2;
	attach_summary_build(&s, &c, a.list);
	text = render(&s, METRICS_PROMETHEUS, NULL);
	assert_non_null(strstr(text, "{resource=\"rdma/hca_shared\",id=\"0\",interface=\"net1\""));
	assert_non_null(strstr(text, "{resource=\"rdma/hca_shared\",id=\"1\",interface=\"net2\""));
	free(text);
}

/* More drifted attachments than are listed: the rest is counted. */
static void test_drifts_are_bounded(void **state)
{
	static struct attach_status many[ATTACH_DRIFTS_MAX + 10];
	struct attach_counters c = {0};
	struct attach_summary s;
	struct attachments a;

	(void)state;
	attachments_small(&a);
	for (size_t i = 0; i < ATTACH_DRIFTS_MAX + 10; i++)
		many[i] = a.status[0];
	attach_summary_build(&s, &c, (struct attach_list){many, ATTACH_DRIFTS_MAX + 10});
	assert_int_equal(s.n_drifts, ATTACH_DRIFTS_MAX);
	assert_int_equal(s.drifts_left_out, 10);
}

/* A device without an ID is named by its function; the list is bounded. */
static void test_bad_devices_are_named(void **state)
{
	static struct attach_status many[ATTACH_BAD_MAX + 10];
	struct attach_counters c = {0};
	struct attach_summary s;
	struct attachments a;
	char *text;

	(void)state;
	attachments_small(&a);
	for (size_t i = 0; i < ATTACH_BAD_MAX + 10; i++)
		many[i] = a.status[0];
	a.records[0].state = ATTACH_BAD;
	a.records[0].id[0] = '\0';
	attach_summary_build(&s, &c, (struct attach_list){many, ATTACH_BAD_MAX + 10});
	assert_int_equal(s.n_bad, ATTACH_BAD_MAX);
	text = render(&s, METRICS_PROMETHEUS, NULL);
	assert_non_null(strstr(
		text,
		"\nrocelet_attachment_bad{resource=\"rocelet.dev/roce\",id=\"0000:03:00.2\",namespace=\"train\",pod=\"job-7\"} 1\n"));
	free(text);
}

TEST_GROUP(attach_series)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_families_match_the_golden_file),
		cmocka_unit_test(test_without_an_engine_there_are_no_series),
		cmocka_unit_test(test_failing_parts_are_0),
		cmocka_unit_test(test_unused_parts_have_no_series),
		cmocka_unit_test(test_stacked_attachments_have_separate_lines),
		cmocka_unit_test(test_drifts_are_bounded),
		cmocka_unit_test(test_bad_devices_are_named),
	};

	return test_group_run(tests, NULL, NULL);
}
