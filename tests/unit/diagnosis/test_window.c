// SPDX-License-Identifier: Apache-2.0
/* The window of samples: 16-bit numbers, means, and the beginning of an excursion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>

#include "test_group.h"
#include "window.h"

static struct window w;
static struct timeline t;

static void begin(void)
{
	window_done(&w);
	t = (struct timeline){0};
	window_init(&w);
}

/* One row a second; all signals have the same value. */
static void add(double v)
{
	double values[N_SIGNALS];

	for (int s = 0; s < N_SIGNALS; s++)
		values[s] = v;
	timeline_add(&t, t.n ? t.at_ms[t.newest] + 1000 : 1000);
	window_set(&w, &t, values);
}

static void packed_numbers_are_exact_to_2_per_mille(void **state)
{
	(void)state;
	assert_true(window_unpack(window_pack(0)) == 0);
	assert_true(isnan(window_unpack(window_pack((double)NAN))));
	assert_true(isnan(window_unpack(window_pack(-1))));
	for (double v = 1e-12; v < 1e15; v *= 1.37)
		assert_true(fabs(window_unpack(window_pack(v)) - v) <= 0.002 * v);
	assert_true(window_unpack(window_pack((double)INFINITY)) > 1e38);
	assert_true(isfinite(window_unpack(window_pack((double)INFINITY))));
}

/* Rows are allocated at the first movement; earlier rows can still be read. */
static void an_idle_port_needs_no_rows(void **state)
{
	double seconds;

	(void)state;
	begin();
	add((double)NAN);
	for (int i = 0; i < 2 * WINDOW_ROWS; i++)
		add(0);
	assert_null(w.rows);
	assert_true(window_mean(&w, &t, SIGNAL_NAK, 10000) == 0);
	assert_true(window_get(&w, &t, SIGNAL_NAK, WINDOW_ROWS - 1) == 0);
	add(10);
	assert_non_null(w.rows);
	assert_true(window_mean(&w, &t, SIGNAL_NAK, 10000) == 1);
	assert_true(window_sum(&w, &t, SIGNAL_NAK, 5000, &seconds) == 10 && seconds == 5);

	begin();
	add((double)NAN);
	add(0);
	add((double)NAN);
	assert_non_null(w.rows);
	assert_true(isnan(window_get(&w, &t, SIGNAL_NAK, 0)) &&
		    isnan(window_get(&w, &t, SIGNAL_NAK, 2)));
	assert_true(window_get(&w, &t, SIGNAL_NAK, 1) == 0);
	begin();
}

/* After a quarter of an hour of silence, the rows are dropped; readers of the sample before may
 * still use them. */
static void an_idle_port_drops_its_rows(void **state)
{
	uint16_t(*rows)[N_SIGNALS];

	(void)state;
	begin();
	for (int i = 0; i < 100; i++)
		add(i % 2);
	for (int i = 0; i < WINDOW_ROWS - 1; i++)
		add(0);
	assert_true(window_get(&w, &t, SIGNAL_NAK, WINDOW_ROWS - 1) == 1);
	rows = w.rows;
	assert_non_null(rows);
	add(0);
	assert_null(w.rows);
	assert_ptr_equal(w.spent, rows);
	assert_true(rows[t.newest][SIGNAL_NAK] == 0);
	add(0);
	assert_null(w.spent);
	for (unsigned i = 0; i < WINDOW_ROWS; i++)
		assert_true(window_get(&w, &t, SIGNAL_NAK, i) == 0);
	add(3);
	assert_true(window_get(&w, &t, SIGNAL_NAK, 0) > 2);
	assert_true(window_get(&w, &t, SIGNAL_NAK, 1) == 0);
	assert_true(window_get(&w, &t, SIGNAL_NAK, WINDOW_ROWS - 1) == 0);
	begin();
}

static void means_skip_unknown_values(void **state)
{
	double means[N_SIGNALS];

	(void)state;
	begin();
	assert_true(isnan(window_mean(&w, &t, SIGNAL_NAK, 10000)));
	add(2);
	add((double)NAN);
	add(4);
	assert_true(window_mean(&w, &t, SIGNAL_NAK, 10000) == 3);
	assert_true(window_mean(&w, &t, SIGNAL_NAK, 1000) == 4);
	window_means(&w, &t, 10000, means);
	assert_true(means[SIGNAL_NAK] == 3 && means[SIGNAL_BYTES_SENT] == 3);
	assert_int_equal(window_count(&w, &t, SIGNAL_NAK, 10000, 3), 1);
	assert_true(isnan(window_get(&w, &t, SIGNAL_NAK, 1)));
	assert_true(isnan(window_get(&w, &t, SIGNAL_NAK, 3)));
}

static void old_rows_are_overwritten(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < WINDOW_ROWS + 10; i++)
		add(i < 20 ? 1000 : 1);
	assert_int_equal(t.n, WINDOW_ROWS);
	assert_true(window_get(&w, &t, SIGNAL_CE_SHARE, WINDOW_ROWS - 11) == 1);
	assert_true(window_get(&w, &t, SIGNAL_CE_SHARE, WINDOW_ROWS - 1) == 1000);
	timeline_add(&t, t.at_ms[t.newest] + 1000);
	window_skip(&w, &t);
	assert_true(isnan(window_get(&w, &t, SIGNAL_CE_SHARE, 0)));
}

static void an_excursion_has_a_beginning(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 30; i++)
		add(0.001);
	assert_int_equal(window_since(&w, &t, SIGNAL_PAUSE_SENT, 60000, 5000), 1000);
	for (int i = 0; i < 10; i++)
		add(0.5);
	assert_int_equal(window_since(&w, &t, SIGNAL_PAUSE_SENT, 60000, 5000), 31000);
	/* A short lull does not end it, a long one does. */
	add(0);
	add(0);
	add(0.5);
	assert_int_equal(window_since(&w, &t, SIGNAL_PAUSE_SENT, 60000, 5000), 31000);
	for (int i = 0; i < 6; i++)
		add(0);
	assert_int_equal(window_since(&w, &t, SIGNAL_PAUSE_SENT, 60000, 5000), 0);
	add(0.5);
	assert_int_equal(window_since(&w, &t, SIGNAL_PAUSE_SENT, 60000, 5000), 50000);
}

TEST_GROUP(window)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_numbers_are_exact_to_2_per_mille),
		cmocka_unit_test(an_idle_port_needs_no_rows),
		cmocka_unit_test(an_idle_port_drops_its_rows),
		cmocka_unit_test(means_skip_unknown_values),
		cmocka_unit_test(old_rows_are_overwritten),
		cmocka_unit_test(an_excursion_has_a_beginning),
	};

	return test_group_run(tests, NULL, NULL);
}
