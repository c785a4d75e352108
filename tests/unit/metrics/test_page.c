// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "number.h"
#include "page.h"
#include "page_text.h"
#include "test_group.h"

static void assert_body(const struct page *p, enum metrics_format format, const char *expected)
{
	AUTO_FREE char *s = page_text(p, format, NULL);

	assert_string_equal(s, expected);
}

static void both_formats_have_their_names(void **state)
{
	struct page *p = page_new();

	(void)state;
	page_begin(p, "roce_bytes_total", "counter", "Bytes.");
	text_addf(&p->text, "roce_bytes_total{device=\"a\"} 1\n");
	page_end(p);
	page_begin(p, "roce_port_info", "info", "Who.");
	text_addf(&p->text, "roce_port_info{device=\"a\"} 1\n");
	page_end(p);
	page_begin(p, "roce_port_state", "gauge", "How.");
	text_addf(&p->text, "roce_port_state{device=\"a\"} 4\n");
	page_end(p);
	assert_body(p, METRICS_PROMETHEUS,
		    "# HELP roce_bytes_total Bytes.\n# TYPE roce_bytes_total counter\n"
		    "roce_bytes_total{device=\"a\"} 1\n"
		    "# HELP roce_port_info Who.\n# TYPE roce_port_info gauge\n"
		    "roce_port_info{device=\"a\"} 1\n"
		    "# HELP roce_port_state How.\n# TYPE roce_port_state gauge\n"
		    "roce_port_state{device=\"a\"} 4\n");
	assert_body(p, METRICS_OPENMETRICS,
		    "# HELP roce_bytes Bytes.\n# TYPE roce_bytes counter\n# UNIT roce_bytes bytes\n"
		    "roce_bytes_total{device=\"a\"} 1\n"
		    "# HELP roce_port Who.\n# TYPE roce_port info\n"
		    "roce_port_info{device=\"a\"} 1\n"
		    "# HELP roce_port_state How.\n# TYPE roce_port_state gauge\n"
		    "roce_port_state{device=\"a\"} 4\n"
		    "# EOF\n");
	page_unref(p);
}

/* `_created` follows each sample, because OpenMetrics requires the samples of one series to be
 * adjacent. */
static void created_is_next_to_each_sample(void **state)
{
	struct page *p = page_new();

	(void)state;
	p->created_unix_ms = 1700000000007;
	page_begin(p, "x_seconds_total", "counter", "X.");
	text_addf(&p->text, "x_seconds_total{a=\"1 2\"} 3\nx_seconds_total{a=\"}\"} 4\n");
	page_end(p);
	page_begin(p, "y_total", "counter", "Y.");
	text_addf(&p->text, "y_total 5\n");
	page_end(p);
	page_begin(p, "z_ratio", "gauge", "Z.");
	text_addf(&p->text, "z_ratio 6\n");
	page_end(p);
	p->created_unix_ms = 0;
	page_begin(p, "late_total", "counter", "Late.");
	text_addf(&p->text, "late_total 7\n");
	page_end(p);
	assert_body(p, METRICS_PROMETHEUS,
		    "# HELP x_seconds_total X.\n# TYPE x_seconds_total counter\n"
		    "x_seconds_total{a=\"1 2\"} 3\nx_seconds_total{a=\"}\"} 4\n"
		    "# HELP y_total Y.\n# TYPE y_total counter\ny_total 5\n"
		    "# HELP z_ratio Z.\n# TYPE z_ratio gauge\nz_ratio 6\n"
		    "# HELP late_total Late.\n# TYPE late_total counter\nlate_total 7\n");
	assert_body(p, METRICS_OPENMETRICS,
		    "# HELP x_seconds X.\n# TYPE x_seconds counter\n# UNIT x_seconds seconds\n"
		    "x_seconds_total{a=\"1 2\"} 3\nx_seconds_created{a=\"1 2\"} 1700000000.007\n"
		    "x_seconds_total{a=\"}\"} 4\nx_seconds_created{a=\"}\"} 1700000000.007\n"
		    "# HELP y Y.\n# TYPE y counter\ny_total 5\ny_created 1700000000.007\n"
		    "# HELP z_ratio Z.\n# TYPE z_ratio gauge\n# UNIT z_ratio ratio\nz_ratio 6\n"
		    "# HELP late Late.\n# TYPE late counter\nlate_total 7\n# EOF\n");
	page_unref(p);
}

static void help_is_escaped(void **state)
{
	struct page *p = page_new();

	(void)state;
	page_begin(p, "g", "gauge", "a \"b\" \\ c\nd");
	text_addf(&p->text, "g 1\n");
	page_end(p);
	assert_body(p, METRICS_PROMETHEUS, "# HELP g a \"b\" \\\\ c\\nd\n# TYPE g gauge\ng 1\n");
	assert_body(p, METRICS_OPENMETRICS,
		    "# HELP g a \\\"b\\\" \\\\ c\\nd\n# TYPE g gauge\ng 1\n# EOF\n");
	page_unref(p);
}

static void a_family_without_samples_is_dropped(void **state)
{
	struct page *p = page_new();

	(void)state;
	assert_body(p, METRICS_PROMETHEUS, "");
	page_begin(p, "empty", "gauge", "Nothing.");
	page_end(p);
	assert_int_equal(p->n_blocks, 0);
	assert_int_equal(p->heads.len, 0);
	page_begin(p, "g", "gauge", "Something.");
	text_addf(&p->text, "g 1\n");
	page_end(p);
	page_begin(p, "empty", "gauge", "Nothing.");
	page_end(p);
	assert_body(p, METRICS_OPENMETRICS, "# HELP g Something.\n# TYPE g gauge\ng 1\n# EOF\n");
	page_unref(p);
}

static void a_page_lives_as_long_as_its_references(void **state)
{
	struct page *p = page_new();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "g%d", i);
		assert_int_equal(page_begin(p, name, "gauge", "Many."), 0);
		text_addf(&p->text, "%s %d\n", name, i);
		page_end(p);
	}
	assert_ptr_equal(page_ref(p), p);
	page_unref(p);
	assert_int_equal(p->n_blocks, 1000);
	text_addf(&p->gzip[0], "freed with the page");
	page_unref(p);
	page_unref(NULL);
}

static void text_without_memory_sets_failed(void **state)
{
	struct text t = {0};

	(void)state;
	text_add(&t, "abc", 3);
	assert_null(text_reserve(&t, SIZE_MAX / 2));
	assert_true(t.failed);
	assert_int_equal(t.len, 3);
	text_done(&t);
}

static void assert_number(size_t n, const char *buf, const char *expected)
{
	assert_int_equal(n, strlen(expected));
	assert_memory_equal(buf, expected, n);
}

static void numbers_in_base_units(void **state)
{
	char b[NUMBER_MAX];

	(void)state;
	assert_number(number_u64(b, 0), b, "0");
	assert_number(number_u64(b, 9), b, "9");
	assert_number(number_u64(b, 10), b, "10");
	assert_number(number_u64(b, 100), b, "100");
	assert_number(number_u64(b, UINT64_MAX), b, "18446744073709551615");
	assert_number(number_decimal(b, 1500, 3), b, "1.5");
	assert_number(number_decimal(b, 1005, 3), b, "1.005");
	assert_number(number_decimal(b, 2000, 3), b, "2");
	assert_number(number_decimal(b, 7, 0), b, "7");
	assert_number(number_reading(b, 1234567, UNIT_MICROSECONDS), b, "1.234567");
	assert_number(number_reading(b, 1, UNIT_MICROSECONDS), b, "0.000001");
	assert_number(number_reading(b, UINT64_MAX, UNIT_MICROSECONDS), b, "18446744073709.551615");
	assert_number(number_reading(b, 25, UNIT_WORDS), b, "100");
	assert_number(number_reading(b, 17, UNIT_BITS), b, "2");
	assert_number(number_reading(b, 38, UNIT_PERCENT), b, "0.38");
	assert_number(number_reading(b, 100, UNIT_PERCENT), b, "1");
	assert_number(number_reading(b, (uint64_t)-5, UNIT_SIGNED), b, "-5");
	assert_number(number_reading(b, 5, UNIT_SIGNED), b, "5");
	assert_number(number_reading(b, (uint64_t)INT64_MIN, UNIT_SIGNED), b,
		      "-9223372036854775808");
}

TEST_GROUP(page)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_formats_have_their_names),
		cmocka_unit_test(created_is_next_to_each_sample),
		cmocka_unit_test(help_is_escaped),
		cmocka_unit_test(a_family_without_samples_is_dropped),
		cmocka_unit_test(a_page_lives_as_long_as_its_references),
		cmocka_unit_test(text_without_memory_sets_failed),
		cmocka_unit_test(numbers_in_base_units),
	};

	return test_group_run(tests, NULL, NULL);
}
