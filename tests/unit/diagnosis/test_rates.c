// SPDX-License-Identifier: Apache-2.0
/* Rates of counters: the ways in which counters go backwards, and values without a rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rates.h"
#include "test_group.h"

#define LINE 25e9
#define GAP  60

static struct rates r;
static double value[N_SERIES];

static void begin(double v)
{
	rates_init(&r);
	for (int s = 0; s < N_SERIES; s++)
		value[s] = v;
	rates_update(&r, value, 1, GAP, LINE);
}

/* Two samples, so that a base of 0 counts. */
static void begin_at_rest(double v)
{
	begin(v);
	rates_update(&r, value, 1, GAP, LINE);
}

static double step(enum series s, double v)
{
	value[s] = v;
	rates_update(&r, value, 1, GAP, LINE);
	return (double)r.rate[s];
}

static void one_sample_yields_no_rate(void **state)
{
	(void)state;
	begin(1e12);
	for (int s = 0; s < N_SERIES; s++)
		assert_true(isnan(r.rate[s]) || series_kind((enum series)s) == SERIES_GAUGE);
	assert_true(step(SERIES_CE, 1e12 + 50) == 50);
	assert_true(r.rate[SERIES_SEQUENCE_NAK] == 0);
}

static void an_unread_counter_is_not_0(void **state)
{
	(void)state;
	begin(100);
	assert_true(isnan(step(SERIES_CE, (double)NAN)));
	/* 200 events in the 2 s of both samples. */
	value[SERIES_CE] = 300;
	rates_update(&r, value, 1, GAP, LINE);
	assert_true(r.rate[SERIES_CE] == 100);
	assert_false(rates_together(&r, SERIES_CE, SERIES_CNP_SENT));
	assert_true(step(SERIES_CE, 350) == 50);
	assert_true(rates_together(&r, SERIES_CE, SERIES_CNP_SENT));
}

/* Counters read together have the same span; after a gap there is no rate. */
static void each_counter_has_its_own_time(void **state)
{
	(void)state;
	begin(100);
	value[SERIES_CE] = value[SERIES_CNP_SENT] = (double)NAN;
	for (int i = 0; i < 3; i++)
		rates_update(&r, value, 1, GAP, LINE);
	value[SERIES_CE] = 500;
	value[SERIES_CNP_SENT] = 180;
	rates_update(&r, value, 1, GAP, LINE);
	/* 400 and 80 events in 4 s. */
	assert_true(r.rate[SERIES_CE] == 100 && r.rate[SERIES_CNP_SENT] == 20);
	assert_true(rates_together(&r, SERIES_CE, SERIES_CNP_SENT));
	assert_true(isnan(step(SERIES_CE, (double)NAN)));
	value[SERIES_CE] = 1e6;
	rates_update(&r, value, GAP, GAP, LINE);
	assert_true(isnan(r.rate[SERIES_CE]));
	assert_true(step(SERIES_CE, 1e6 + 7) == 7);
}

static void a_32_bit_counter_wraps(void **state)
{
	(void)state;
	begin(4294967296.0 - 1000);
	assert_true(step(SERIES_CE, 4294967296.0 - 500) == 500);
	assert_true(step(SERIES_CE, 100) == 600);
	assert_int_equal(r.resets, 0);
	/* Byte counters never have 32 bits. */
	begin(4294967296.0 - 1000);
	assert_true(isnan(step(SERIES_BYTES_SENT, 100)));
}

static void a_counter_that_starts_again_is_a_reset(void **state)
{
	(void)state;
	begin(5e6);
	/* For three samples the old total may still return. */
	assert_true(isnan(step(SERIES_CE, 10)));
	assert_true(isnan(step(SERIES_CE, 20)));
	assert_true(isnan(step(SERIES_CE, 30)));
	assert_int_equal(r.resets, 0);
	assert_true(step(SERIES_CE, 50) == 20);
	/* Near 2^32, but with a rate far above the previous one: not a wrap. */
	begin(4294967296.0 - 1000);
	step(SERIES_CE, 4294967296.0 - 999);
	assert_true(isnan(step(SERIES_CE, 50000)));
}

static void a_slightly_smaller_reading_is_ignored(void **state)
{
	(void)state;
	begin(1000);
	assert_true(step(SERIES_CE, 997) == 0);
	/* Events that were counted before do not count again. */
	assert_true(step(SERIES_CE, 1005) == 5);
	/* A fall from 1 to 0 is not a slightly smaller reading, and the return to 1 is not a new
	 * event. */
	begin(1);
	assert_true(isnan(step(SERIES_LINK_DOWN, 0)));
	assert_true(step(SERIES_LINK_DOWN, 1) == 0);
}

/* The counter reads 0 once or twice and then at least its old total: not a reset; the rate covers
 * the whole time. */
static void a_counter_that_reads_0_and_returns_is_no_reset(void **state)
{
	(void)state;
	begin(5e6);
	assert_true(isnan(step(SERIES_BYTES_SENT, 0)));
	assert_true(isnan(step(SERIES_BYTES_SENT, 0)));
	assert_true(step(SERIES_BYTES_SENT, 5e6 + 300) == 100); /* 300 in 3 s */
	assert_true(step(SERIES_BYTES_SENT, 5e6 + 500) == 200);
	assert_int_equal(r.ignored, 0);
	/* Several counters at once: a gap for all, and no reset. */
	begin(5e6);
	value[SERIES_CE] = value[SERIES_BYTES_SENT] = 0;
	rates_update(&r, value, 1, GAP, LINE);
	value[SERIES_CE] = value[SERIES_BYTES_SENT] = 5e6 + 10;
	rates_update(&r, value, 1, GAP, LINE);
	assert_true(r.rate[SERIES_CE] == 5 && r.rate[SERIES_BYTES_SENT] == 5);
	assert_int_equal(r.resets, 0);
}

/* A driver that fails to read returns 0: the total must not become the rate of the next sample. */
static void a_base_of_0_counts_once_it_was_read_twice(void **state)
{
	(void)state;
	begin(0);
	assert_true(isnan(step(SERIES_BYTES_SENT, 7e9)));
	assert_true(step(SERIES_BYTES_SENT, 7e9 + 500) == 500);
	/* The other counters have read 0 at least twice by now. */
	assert_true(step(SERIES_CE, 3) == 3);
	/* An unread sample between does not confirm the 0. */
	begin(0);
	assert_true(isnan(step(SERIES_CE, (double)NAN)));
	assert_true(isnan(step(SERIES_CE, 4e6)));
	assert_true(step(SERIES_CE, 4e6 + 2) == 2);
	/* Two zeros with an unread sample between them: the counter did begin at 0. */
	begin(0);
	step(SERIES_CE, (double)NAN);
	assert_true(step(SERIES_CE, 0) == 0);
	assert_true(step(SERIES_CE, 5) == 5);
	/* A gap ends with a new base, which may be such a 0, too. */
	begin(8e6);
	step(SERIES_CE, (double)NAN);
	value[SERIES_CE] = 0;
	rates_update(&r, value, GAP, GAP, LINE);
	assert_true(isnan(step(SERIES_CE, 8e6 + 9)));
	assert_true(step(SERIES_CE, 8e6 + 10) == 1);
	/* The same holds for the first sample after rates_restart(). */
	rates_restart(&r);
	step(SERIES_CE, 0);
	assert_true(isnan(step(SERIES_CE, 8e6 + 20)));
	assert_int_equal(r.ignored + r.resets, 0);
}

static void many_counters_at_0_are_a_gap(void **state)
{
	(void)state;
	begin(1e6);
	value[SERIES_CE] = value[SERIES_BYTES_SENT] = 0;
	value[SERIES_CNP_SENT] = 1e6 + 7;
	rates_update(&r, value, 1, GAP, LINE);
	assert_true(isnan(r.rate[SERIES_CNP_SENT]) && isnan(r.rate[SERIES_CE]));
	assert_int_equal(r.resets, 0);
	step(SERIES_CE, 5);
	step(SERIES_CE, 9);
	assert_int_equal(r.resets, 1);
	assert_true(step(SERIES_CE, 14) == 5);
}

/* A counter of whole seconds may rise by two in a sample of one second, but not by three. */
static void whole_seconds_arrive_late(void **state)
{
	(void)state;
	begin_at_rest(0);
	assert_true(step(SERIES_PCIE_SECONDS_WRITE, 0) == 0);
	assert_true(step(SERIES_PCIE_SECONDS_WRITE, 2) == 1);
	assert_true(step(SERIES_PCIE_SECONDS_WRITE, 3) == 1);
	assert_int_equal(r.ignored, 0);
	assert_true(isnan(step(SERIES_PCIE_SECONDS_WRITE, 6)));
	assert_int_equal(r.ignored, 1);
	assert_true(isnan(step(SERIES_PAUSE_SENT, 2)));
}

static void rates_above_the_line_rate_are_ignored(void **state)
{
	(void)state;
	begin_at_rest(0);
	assert_true(isnan(step(SERIES_BYTES_SENT, 1.2 * LINE)));
	assert_true(isnan(step(SERIES_CE, LINE)));
	assert_true(isnan(step(SERIES_PAUSE_SENT, 1.2)));
	assert_int_equal(r.ignored, 3);
	assert_true(step(SERIES_BYTES_SENT, 2.2 * LINE) > 0.9 * LINE);
	/* The line rate in packets does not limit counts of repaired bits. */
	assert_true(step(SERIES_CORRECTED_BITS, LINE) > 0.99 * LINE);
}

/* mlx5 VFs count slow restarts and sent CNPs, but not all CNPs. */
static void uncounted_cnps_are_unknown(void **state)
{
	(void)state;
	begin_at_rest(0);
	value[SERIES_CNP_SENT] = (double)NAN;
	assert_true(step(SERIES_SLOW_RESTART_CNPS, 50) > 0);
	assert_true(isnan(cnps_of_marks(&r)));
}

static void every_name_is_found(void **state)
{
	(void)state;
	for (int s = 0; s < N_SERIES; s++) {
		char name[160], *labels;
		const char *mark;

		snprintf(name, sizeof(name), "%s", series_name((enum series)s));
		mark = strchr(name, '#');
		if (mark)
			name[mark - name] = (char)('0' + series_number((enum series)s));
		labels = strchr(name, '{');
		if (labels)
			*labels++ = '\0';
		assert_int_equal(series_find(name, labels ? labels : ""), s);
	}
	assert_int_equal(series_find("roce_pfc_pause_seconds_total",
				     "port=\"1\",priority=\"2\",direction=\"sent\"}"),
			 SERIES_PAUSE_SENT + 2);
	assert_int_equal(series_find("roce_pfc_pause_seconds_total", "direction=\"sent\""), -1);
	assert_int_equal(
		series_find("roce_pfc_pause_seconds_total", "direction=\"sent\",priority=\"9\""),
		-1);
	assert_int_equal(series_find("roce_bytes_total", "direction=\"sentimental\""), -1);
	assert_int_equal(series_find("roce_bytes_total", "direction=\""), -1);
	assert_int_equal(series_find("roce_bytes", "direction=\"sent\""), -1);
}

TEST_GROUP(rates)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_sample_yields_no_rate),
		cmocka_unit_test(an_unread_counter_is_not_0),
		cmocka_unit_test(each_counter_has_its_own_time),
		cmocka_unit_test(a_32_bit_counter_wraps),
		cmocka_unit_test(a_counter_that_starts_again_is_a_reset),
		cmocka_unit_test(a_slightly_smaller_reading_is_ignored),
		cmocka_unit_test(a_counter_that_reads_0_and_returns_is_no_reset),
		cmocka_unit_test(a_base_of_0_counts_once_it_was_read_twice),
		cmocka_unit_test(many_counters_at_0_are_a_gap),
		cmocka_unit_test(whole_seconds_arrive_late),
		cmocka_unit_test(rates_above_the_line_rate_are_ignored),
		cmocka_unit_test(uncounted_cnps_are_unknown),
		cmocka_unit_test(every_name_is_found),
	};

	return test_group_run(tests, NULL, NULL);
}
