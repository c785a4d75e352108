// SPDX-License-Identifier: Apache-2.0
/* A report stays readable in other threads while the engine processes one more sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>

#include "diagnosis_report.h"
#include "diagnosis_world.h"
#include "test_group.h"

#define SECOND 1000

struct fixture {
	struct world world;
	struct diagnosis *d;
	struct diagnosis_report report;
};

static int setup(void **state)
{
	static struct fixture f;
	struct thresholds limits;

	f = (struct fixture){0};
	thresholds_init(&limits);
	world_init(&f.world, 2, 1);
	assert_int_equal(diagnosis_new(&f.d, &limits), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	diagnosis_report_done(&f->report);
	diagnosis_free(f->d);
	world_done(&f->world);
	return 0;
}

/* Adds samples of the first n ports, each with another load. */
static void step(struct fixture *f, unsigned samples, size_t ports)
{
	for (unsigned i = 0; i < samples; i++) {
		struct observation o;

		for (size_t k = 0; k < f->world.n; k++)
			world_traffic(&f->world.ports[k], 1e9 * (double)(k + 1), 1e6);
		o = world_step(&f->world, SECOND);
		o.n_ports = ports;
		assert_int_equal(diagnosis_tick(f->d, &o), 0);
	}
}

static void report(struct fixture *f)
{
	assert_int_equal(diagnosis_report_make(&f->report, f->d), 0);
}

static double received(const struct fixture *f, size_t port, unsigned back)
{
	return diagnosis_report_signal(&f->report, port, SIGNAL_BYTES_RECEIVED, back);
}

static void assert_near(double v, double wanted)
{
	assert_true(fabs(v - wanted) < 0.1 * wanted);
}

static void a_report_before_the_second_sample_has_no_rates(void **state)
{
	struct fixture *f = *state;

	report(f);
	assert_int_equal(diagnosis_report_rows(&f->report), 0);
	step(f, 1, 2);
	report(f);
	assert_int_equal(diagnosis_report_rows(&f->report), 1);
	assert_true(isnan(received(f, 0, 0))); /* one sample has no rate */
}

/* The first port loses packets for 40 s, most of them in the first half. */
static void lose_packets_for_a_while(struct fixture *f)
{
	step(f, 60, 2);
	f->world.ports[0].rate[SERIES_SEQUENCE_NAK] = 5000;
	step(f, 20, 2);
	f->world.ports[0].rate[SERIES_SEQUENCE_NAK] = 500;
	step(f, 20, 2);
	f->world.ports[0].rate[SERIES_SEQUENCE_NAK] = 0;
	step(f, 80, 2);
}

static void ended_verdicts_are_kept_for_a_while(void **state)
{
	struct fixture *f = *state;
	const struct ended_verdict *e;

	report(f);
	assert_int_equal(f->report.n_ended, 0);
	lose_packets_for_a_while(f);
	report(f);
	assert_int_equal(f->report.n_ended, 1);
	e = &f->report.ended[0];
	assert_int_equal(e->verdict.cause, CAUSE_PACKET_LOSS);
	assert_int_equal(e->verdict.closed, CLOSE_CLEARED);
	assert_true(e->ended_ms > e->verdict.onset_ms && e->ended_ms <= f->report.now_ms);
	assert_true(e->verdict.has_signal);
	assert_int_equal(e->verdict.first_signal, SIGNAL_NAK);
	/* 40 s and the length of the mean, but not the time until the verdict was closed. */
	assert_in_range(e->ended_ms - e->verdict.onset_ms, 38 * SECOND, 51 * SECOND);
	assert_in_range(e->closed_ms - e->ended_ms, 29 * SECOND, 31 * SECOND);
	assert_int_equal(e->ended_unix_ms - e->verdict.onset_unix_ms,
			 e->ended_ms - e->verdict.onset_ms);
	/* The rate of the first half. */
	assert_near(e->verdict.evidence[0].value, 5000 / (1e9 / 4096));
	assert_int_equal(e->verdict.severity, SEVERITY_CRITICAL);
	step(f, ENDED_KEPT_MS / SECOND + 1, 2);
	report(f);
	assert_int_equal(f->report.n_ended, 0);
}

static void a_full_list_drops_its_oldest(void **state)
{
	struct ended_list list = {.n = 0};
	struct verdict v = {.device = "mlx5_0"};

	(void)state;
	for (uint32_t i = 0; i < ENDED_MAX + 3; i++) {
		v.port = i;
		ended_add(&list, &v, 1000 + i, 5000 + i);
	}
	assert_int_equal(list.n, ENDED_MAX);
	assert_int_equal(list.list[0].verdict.port, 3);
	assert_int_equal(list.list[ENDED_MAX - 1].ended_ms, 1000 + ENDED_MAX + 2);
	ended_forget(&list, 1000 + 4 + ENDED_KEPT_MS);
	assert_int_equal(list.n, ENDED_MAX - 1);
	assert_int_equal(list.list[0].verdict.port, 4);
}

/* A verdict that became a symptom has not ended while its fault or the cause continues. */
static void a_symptom_has_not_ended(void **state)
{
	struct ended_verdict e = {.verdict = {.device = "mlx5_2",
					      .port = 1,
					      .cause = CAUSE_PORT_OFF,
					      .closed = CLOSE_EXPLAINED,
					      .explained_by = CAUSE_LINK_FLAP,
					      .explained_on = "mlx5_2"}};
	struct verdict open[2] = {
		{.device = "mlx5_2", .port = 1, .cause = CAUSE_PORT_OFF, .opened_ms = 7},
		{.device = "mlx5_2", .port = 1, .cause = CAUSE_LINK_FLAP, .opened_ms = 7}};

	(void)state;
	assert_false(ended_is_over(&e, open, 2));
	assert_false(ended_is_over(&e, open, 1));
	assert_false(ended_is_over(&e, open + 1, 1));
	assert_true(ended_is_over(&e, open, 0));
	open[1].port = 2;
	assert_true(ended_is_over(&e, open + 1, 1));
	open[1].port = 1;
	open[1].change = VERDICT_CLOSED;
	open[1].opened_ms = 0;
	assert_true(ended_is_over(&e, open + 1, 1));
	/* The cause is on the PF's port. */
	open[1].opened_ms = 7;
	strcpy(e.verdict.explained_on, "mlx5_0");
	assert_true(ended_is_over(&e, open + 1, 1));
	strcpy(open[1].device, "mlx5_0");
	assert_false(ended_is_over(&e, open + 1, 1));
	/* The same fault occurs again after it was over. */
	e.verdict.closed = CLOSE_CLEARED;
	assert_true(ended_is_over(&e, open, 2));
}

static void rows_of_each_port(void **state)
{
	struct fixture *f = *state;

	step(f, 10, 2);
	report(f);
	assert_int_equal(diagnosis_report_rows(&f->report), 10);
	for (unsigned back = 0; back < 9; back++) {
		assert_near(received(f, 0, back), 1e9);
		assert_near(received(f, 1, back), 2e9);
		assert_int_equal(diagnosis_report_row_ms(&f->report, back),
				 f->report.now_ms - back * SECOND);
	}
	assert_true(isnan(received(f, 0, 9)));
}

/* The share of no packets is unknown; that of packets without marks is 0. */
static void the_share_of_nothing_is_unknown(void **state)
{
	struct fixture *f = *state;

	step(f, 5, 2);
	report(f);
	assert_true(diagnosis_report_signal(&f->report, 0, SIGNAL_CE_SHARE, 0) == 0);
	for (unsigned i = 0; i < 5; i++) {
		struct observation o;

		world_traffic(&f->world.ports[0], 0, 1e6);
		o = world_step(&f->world, SECOND);
		assert_int_equal(diagnosis_tick(f->d, &o), 0);
	}
	report(f);
	assert_true(isnan(diagnosis_report_signal(&f->report, 0, SIGNAL_CE_SHARE, 0)));
	assert_true(diagnosis_report_signal(&f->report, 1, SIGNAL_CE_SHARE, 0) == 0);
}

/* The engine's next sample replaces the oldest row, which readers do not use. */
static void rows_stay_while_the_engine_continues(void **state)
{
	struct fixture *f = *state;
	uint64_t oldest;

	step(f, 1000, 2);
	report(f);
	assert_int_equal(diagnosis_report_rows(&f->report), WINDOW_ROWS - 1);
	oldest = diagnosis_report_row_ms(&f->report, WINDOW_ROWS - 2);
	assert_int_equal(oldest, f->report.now_ms - (uint64_t)(WINDOW_ROWS - 2) * SECOND);
	step(f, 1, 2);
	assert_int_equal(diagnosis_report_row_ms(&f->report, WINDOW_ROWS - 2), oldest);
	assert_int_equal(diagnosis_report_row_ms(&f->report, 0), f->report.now_ms);
	assert_near(received(f, 1, WINDOW_ROWS - 2), 2e9);
}

/* Until the next report is made, a removed port's rows can be read. */
static void a_removed_port_can_be_read_until_the_next_report(void **state)
{
	struct fixture *f = *state;

	step(f, 10, 2);
	step(f, 2, 1);
	report(f);
	assert_int_equal(f->report.n_ports, 2);
	step(f, 1, 1); /* its third absence */
	assert_int_equal(diagnosis_n_ports(f->d), 1);
	assert_true(isnan(received(f, 1, 0)));
	assert_near(received(f, 1, 3), 2e9);
	report(f);
	assert_int_equal(f->report.n_ports, 1);
	step(f, 1, 2); /* returns as a new port */
	report(f);
	assert_true(isnan(received(f, 1, 5)));
}

/* Counters are kept on request, as they were read; those of a port without a sample are unknown. */
static void counters_are_kept(void **state)
{
	struct fixture *f = *state;
	struct observation o;
	const double *counters;

	step(f, 2, 2);
	report(f);
	assert_null(diagnosis_report_counters(&f->report, 0));
	o = world_step(&f->world, SECOND);
	f->world.observed[1].value[SERIES_CE] = (double)NAN;
	assert_int_equal(diagnosis_tick(f->d, &o), 0);
	report(f);
	assert_int_equal(diagnosis_report_keep_counters(&f->report, &o), 0);
	for (size_t i = 0; i < 2; i++) {
		counters = diagnosis_report_counters(&f->report, i);
		assert_non_null(counters);
		assert_true(counters[SERIES_BYTES_RECEIVED] ==
			    o.ports[i].value[SERIES_BYTES_RECEIVED]);
	}
	assert_true(isnan(counters[SERIES_CE]));
	o = world_step(&f->world, SECOND);
	o.n_ports = 1;
	assert_int_equal(diagnosis_tick(f->d, &o), 0);
	report(f);
	assert_int_equal(diagnosis_report_keep_counters(&f->report, &o), 0);
	assert_non_null(diagnosis_report_counters(&f->report, 0));
	assert_null(diagnosis_report_counters(&f->report, 1));
	report(f); /* a report without a request for counters */
	assert_null(diagnosis_report_counters(&f->report, 0));
}

static void every_signal_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < N_SIGNALS; i++)
		assert_non_null(signal_word((enum signal)i));
}

TEST_GROUP(diagnosis_report)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_report_before_the_second_sample_has_no_rates,
						setup, teardown),
		cmocka_unit_test_setup_teardown(rows_of_each_port, setup, teardown),
		cmocka_unit_test_setup_teardown(the_share_of_nothing_is_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_stay_while_the_engine_continues, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_removed_port_can_be_read_until_the_next_report,
						setup, teardown),
		cmocka_unit_test_setup_teardown(counters_are_kept, setup, teardown),
		cmocka_unit_test(a_symptom_has_not_ended),
		cmocka_unit_test_setup_teardown(ended_verdicts_are_kept_for_a_while, setup,
						teardown),
		cmocka_unit_test(a_full_list_drops_its_oldest),
		cmocka_unit_test(every_signal_has_a_name),
	};

	return test_group_run(tests, NULL, NULL);
}
