// SPDX-License-Identifier: Apache-2.0
/* Queue pairs on the metrics page. */
#include "qp_series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host_builder.h"
#include "test_group.h"

static void add(struct qp_table *t, const char *device, uint32_t qpn, uint32_t state)
{
	struct bpf_event_qp e = {.qpn = qpn, .attr_mask = 1, .state = state};

	strcpy(e.device, device);
	assert_non_null(qp_table_event(t, &e));
}

static void assert_page(const struct qp_summary *s, const char *text)
{
	struct page *p = page_new();

	qp_series(p, s);
	text_add(&p->text, "", 1);
	assert_string_equal(p->text.data, text);
	page_unref(p);
}

static void test_numbers(void **state)
{
	struct qp_failures *f = calloc(1, sizeof(*f));
	struct qp_summary s;
	struct qp_table t = {0};

	(void)state;
	add(&t, "rxe_b", 1, 3);
	add(&t, "rxe_a", 1, 3);
	add(&t, "rxe_a", 2, 3);
	add(&t, "rxe_a", 3, QP_STATE_ERR);
	add(&t, "rxe_a", 4, 77);
	f->n_counts = 1;
	f->counts[0] = (struct qp_failure_count){"rxe\"a", "RETRY_EXC_ERR", 5};
	qp_summary_build(&s, &t, true, f);
	assert_page(&s, "roce_qps{device=\"rxe_a\",state=\"RTS\"} 2\n"
			"roce_qps{device=\"rxe_a\",state=\"ERR\"} 1\n"
			"roce_qps{device=\"rxe_b\",state=\"RTS\"} 1\n"
			"roce_qp_failures_total{device=\"rxe\\\"a\",reason=\"RETRY_EXC_ERR\"} 5\n");
	/* a table that is read only on request gives no series */
	qp_summary_build(&s, &t, false, f);
	assert_page(&s, "roce_qp_failures_total{device=\"rxe\\\"a\",reason=\"RETRY_EXC_ERR\"} 5\n");
	qp_table_done(&t);
	free(f);
}

static size_t count_lines(const struct page *p, const char *word)
{
	const char *at = p->text.data, *end = at + p->text.len;
	size_t n = 0;

	for (; (at = memmem(at, (size_t)(end - at), word, strlen(word))); at++)
		n++;
	return n;
}

/* Each series begins with 0, because increase() ignores the value with which a series begins.
 * Without detection there is no series. */
static void test_failures_begin_at_0(void **state)
{
	static const bool all[] = {true, true, true}, none[] = {false, false, false};
	struct qp_failures *f = calloc(1, sizeof(*f));
	struct qp_summary *s = calloc(1, sizeof(*s));
	struct qp_table t = {0};
	struct host host = {0};
	struct page *p = page_new();

	(void)state;
	strcpy(build_rdma(&host, "mlx5_0", "0000:03:00.0")->driver, "mlx5");
	strcpy(build_rdma(&host, "rxe_a", "0000:03:00.1")->driver, "rxe");
	qp_summary_build(s, &t, true, f);
	qp_summary_watch(s, &host, all);
	qp_series(p, s);
	assert_int_equal(count_lines(p, "{device=\"mlx5_0\",reason=\""), 7 + 1);
	assert_int_equal(count_lines(p, "{device=\"rxe_a\",reason=\""), 7 + 1 + 20);
	assert_int_equal(count_lines(p, "\"} 0\n"), 8 + 28);
	assert_int_equal(count_lines(p, "device=\"mlx5_0\",reason=\"QP_FATAL\"} 0\n"), 1);
	assert_int_equal(count_lines(p, "device=\"rxe_a\",reason=\"RETRY_EXC_ERR\"} 0\n"), 1);
	assert_int_equal(count_lines(p, "\"SUCCESS\""), 0);
	assert_int_equal(count_lines(p, "\"WR_FLUSH_ERR\""), 0);
	page_unref(p);

	f->n_counts = 3;
	f->counts[0] = (struct qp_failure_count){"rxe_a", "RETRY_EXC_ERR", 5};
	f->counts[1] = (struct qp_failure_count){"mlx5_0", "RETRY_EXC_ERR", 6};
	f->counts[2] = (struct qp_failure_count){"gone", "QP_FATAL", 7};
	qp_summary_build(s, &t, true, f);
	qp_summary_watch(s, &host, all);
	p = page_new();
	qp_series(p, s);
	assert_int_equal(count_lines(p, "\"} 0\n"), 8 + 27);
	assert_int_equal(count_lines(p, "{device=\"rxe_a\",reason=\"RETRY_EXC_ERR\"} 5\n"), 1);
	assert_int_equal(count_lines(p, "{device=\"mlx5_0\",reason=\"RETRY_EXC_ERR\"} 6\n"), 1);
	assert_int_equal(count_lines(p, "{device=\"gone\",reason=\"QP_FATAL\"} 7\n"), 1);
	page_unref(p);

	qp_summary_build(s, &t, true, f);
	qp_summary_watch(s, &host, none);
	p = page_new();
	qp_series(p, s);
	assert_int_equal(count_lines(p, "roce_qp_failures_total{"), 3);
	page_unref(p);
	host_done(&host);
	free(f);
	free(s);
}

static void test_many_devices(void **state)
{
	struct qp_failures *f = calloc(1, sizeof(*f));
	struct qp_summary *s = calloc(1, sizeof(*s));
	struct qp_table t = {0};
	char name[24];

	(void)state;
	assert_page(s, "");
	for (unsigned i = 0; i < 2 * QP_SERIES_DEVICES; i++) {
		snprintf(name, sizeof(name), "mlx5_%u", i);
		add(&t, name, 1, 3);
	}
	qp_summary_build(s, &t, true, f);
	assert_int_equal(s->n_devices, QP_SERIES_DEVICES);
	qp_table_done(&t);
	free(f);
	free(s);
}

TEST_GROUP(qp_series)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_failures_begin_at_0),
		cmocka_unit_test(test_many_devices),
	};

	return test_group_run(tests, NULL, NULL);
}
