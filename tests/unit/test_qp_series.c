/* Queue pairs on the metrics page. */
#include "qp_series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
	qp_summary_build(&s, &t, false, f); /* a table that is read now and then is not told */
	assert_page(&s, "roce_qp_failures_total{device=\"rxe\\\"a\",reason=\"RETRY_EXC_ERR\"} 5\n");
	qp_table_done(&t);
	free(f);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_many_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
