/* The attach engine's families against a golden file; UPDATE_GOLDEN=1 rewrites it. */
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

static char *render(const struct attach_summary *s, enum metrics_format format, size_t *ret_len)
{
	struct page *p = page_new();
	char *text;

	attach_series(p, s);
	text = page_text(p, format, ret_len);
	page_unref(p);
	return text;
}

static void test_the_families_are_the_golden_ones(void **state)
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

static void test_without_an_engine_there_is_nothing(void **state)
{
	static const struct attach_summary none;
	size_t len;
	char *text = render(&none, METRICS_PROMETHEUS, &len);

	(void)state;
	assert_int_equal(len, 0);
	free(text);
}

static void assert_says(const struct attach_counters *c, const char *line, bool is_there)
{
	struct attach_summary s;
	char *text;

	attach_summary_build(&s, c, (struct attach_list){0});
	text = render(&s, METRICS_PROMETHEUS, NULL);
	assert_int_equal(strstr(text, line) != NULL, is_there);
	free(text);
}

static void test_what_does_not_work_is_zero(void **state)
{
	struct attach_counters c;

	(void)state;
	attach_counters_small(&c);
	assert_says(&c, "\nrocelet_cri_up 1\n", true);
	assert_says(&c, "rocelet_attachment_drift", false);
	strcpy(c.cri.error, "connection refused");
	strcpy(c.journal_error, "No space left on device");
	assert_says(&c, "\nrocelet_cri_up 0\n", true);
	assert_says(&c, "\nrocelet_journal_writable 0\n", true);
	c = (struct attach_counters){0};
	assert_says(&c, "\nrocelet_cri_up 0\n", true);
	assert_says(&c, "rocelet_cri_info", false);
}

/* More than there is room for. */
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_families_are_the_golden_ones),
		cmocka_unit_test(test_without_an_engine_there_is_nothing),
		cmocka_unit_test(test_what_does_not_work_is_zero),
		cmocka_unit_test(test_drifts_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
