// SPDX-License-Identifier: Apache-2.0
/* The results of burst readings as text. */
#include "burst_series.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#define PORT "{device=\"mlx5_0\",port=\"1\""

static struct burst_windows windows[N_BURST_RATIOS];

static void assert_series(enum burst_family f, const char *wanted)
{
	struct text t = {0};

	burst_series(&t, f, PORT, strlen(PORT), windows);
	text_add(&t, "", 1);
	assert_string_equal(t.data, wanted);
	text_done(&t);
}

static int setup(void **state)
{
	(void)state;
	memset(windows, 0, sizeof(windows));
	for (int r = 0; r < N_BURST_RATIOS; r++)
		windows[r].peak = (double)NAN;
	return 0;
}

/* Without a counter of marks the series is absent, not 0. */
static void test_unmeasured_series_are_absent(void **state)
{
	(void)state;
	for (enum burst_family f = 0; f < N_BURST_FAMILIES; f++)
		assert_series(f, "");
}

static void test_peaks(void **state)
{
	(void)state;
	windows[BURST_PAUSE_RECEIVED].peak = 0.25;
	windows[BURST_PAUSE_SENT].peak = 0;
	windows[BURST_CE].peak = 1;
	assert_series(BURST_PAUSE_PEAK,
		      "roce_pfc_pause_peak_ratio" PORT ",direction=\"received\"} 0.25\n"
		      "roce_pfc_pause_peak_ratio" PORT ",direction=\"sent\"} 0\n");
	assert_series(BURST_CE_PEAK, "roce_ecn_ce_peak_ratio" PORT "} 1\n");
}

static void test_buckets_add_up(void **state)
{
	(void)state;
	windows[BURST_CE].n[0] = 5;
	windows[BURST_CE].n[3] = 2;
	windows[BURST_CE].n[BURST_BOUNDS - 1] = 1;
	windows[BURST_CE].sum = 1.15;
#define BUCKET(le, n) "roce_ecn_ce_window_ratio_bucket" PORT ",le=\"" le "\"} " n "\n"
	assert_series(BURST_CE_WINDOWS,
		      BUCKET("0.0", "5") BUCKET("0.01", "5") BUCKET("0.05", "5") BUCKET(
			      "0.1", "7") BUCKET("0.25", "7") BUCKET("0.5", "7") BUCKET("0.75", "7")
			      BUCKET("0.9", "7") BUCKET("0.99", "7") BUCKET("1.0", "8") BUCKET(
				      "+Inf", "8") "roce_ecn_ce_window_ratio_sum" PORT "} 1.15\n"
						   "roce_ecn_ce_window_ratio_count" PORT "} 8\n");
	assert_series(BURST_PAUSE_WINDOWS, "");
}

TEST_GROUP(burst_series)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_unmeasured_series_are_absent, setup),
		cmocka_unit_test_setup(test_peaks, setup),
		cmocka_unit_test_setup(test_buckets_add_up, setup),
	};

	return test_group_run(tests, NULL, NULL);
}
