// SPDX-License-Identifier: Apache-2.0
/* Burst readings: which ports are read, how often within the budget, and the windows of counters
 * that are live or refreshed once a second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burst.h"
#include "test_group.h"

#define T(fn)	 cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define PORTS	 40
#define LINE	 50e9
#define PRIORITY 3
#define SECOND	 1000000000ull

struct fixture {
	struct thresholds limits;
	struct sampled_port ports[PORTS];
	struct sample sample;
	struct bursts *b;
	double value[N_SERIES];
	uint64_t now_ns;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	thresholds_init(&f->limits);
	f->b = bursts_new(&f->limits);
	assert_non_null(f->b);
	for (unsigned i = 0; i < PORTS; i++) {
		snprintf(f->ports[i].device, sizeof(f->ports[i].device), "mlx5_%u", i);
		f->ports[i].port = 1;
	}
	f->sample = (struct sample){.ports = f->ports, .n_ports = 1, .layout = 1};
	for (int i = 0; i < N_SERIES; i++)
		f->value[i] = (double)NAN;
	for (int i = 0; i < 8; i++)
		f->value[SERIES_PAUSE_RECEIVED + i] = f->value[SERIES_PAUSE_SENT + i] =
			f->value[SERIES_PRIORITY_SENT + i] =
				f->value[SERIES_PRIORITY_RECEIVED + i] = 0;
	f->value[SERIES_BYTES_RECEIVED] = f->value[SERIES_BYTES_SENT] = f->value[SERIES_CE] =
		f->value[SERIES_PACKETS_RECEIVED] = 0;
	f->now_ns = 100 * SECOND;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	bursts_free(f->b);
	free(f);
	return 0;
}

static uint64_t now_ms(const struct fixture *f)
{
	return f->now_ns / 1000000;
}

/* A sample of all ports, the first n of which show this. */
static void sample(struct fixture *f, size_t n, unsigned reasons)
{
	assert_int_equal(bursts_follow(f->b, &f->sample), 0);
	for (size_t i = 0; i < f->sample.n_ports; i++)
		bursts_want(f->b, i, i < n ? reasons : 0, now_ms(f));
	bursts_admit(f->b, now_ms(f));
}

static unsigned n_looked_at(const struct fixture *f)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->sample.n_ports; i++)
		n += bursts_is_running(f->b, i);
	return n;
}

static void look(struct fixture *f, unsigned ms)
{
	f->now_ns += ms * (SECOND / 1000);
	bursts_add_reading(f->b, 0, f->value, LINE, 4096, 2, f->now_ns);
}

/* In so many ms so much of the time was paused, and what passed otherwise are packets of 4096. */
static void pass(struct fixture *f, unsigned ms, double paused, double marked)
{
	double bytes = (1 - paused) * ms / 1000 * LINE / 2;

	f->value[SERIES_PAUSE_RECEIVED + PRIORITY] += paused * ms / 1000;
	f->value[SERIES_BYTES_SENT] += bytes;
	f->value[SERIES_PRIORITY_SENT + PRIORITY] += bytes;
	f->value[SERIES_BYTES_RECEIVED] += bytes;
	f->value[SERIES_PACKETS_RECEIVED] += bytes / 4096;
	f->value[SERIES_CE] += marked * bytes / 4096;
}

static uint64_t n_windows(struct fixture *f, enum burst_ratio r)
{
	const struct burst_windows *w = bursts_windows(f->b, 0, now_ms(f));
	uint64_t n = 0;

	for (int i = 0; i < BURST_BOUNDS; i++)
		n += w[r].n[i];
	return n;
}

static double peak(struct fixture *f, enum burst_ratio r)
{
	return bursts_windows(f->b, 0, now_ms(f))[r].peak;
}

static void test_nobody_is_looked_at_without_a_reason(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, 0);
	assert_int_equal(bursts_interval_ms(f->b), 0);
	assert_null(bursts_windows(f->b, 0, now_ms(f)));
	look(f, 20);
	assert_null(bursts_windows(f->b, 0, now_ms(f)));
}

static void test_a_turn_ends_and_comes_again(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, BURST_MARKED);
	assert_true(bursts_is_running(f->b, 0));
	assert_in_range(bursts_interval_ms(f->b), 20, 100);
	for (int s = 1; s <= 40; s++) {
		f->now_ns += SECOND;
		sample(f, 1, BURST_MARKED);
		/* 5 s of readings, 30 s of pause. */
		assert_int_equal(bursts_is_running(f->b, 0), s < 5 || (s >= 35 && s < 40));
	}
	/* A new reason starts a burst at once, and so does a reason that had disappeared. */
	f->now_ns += SECOND;
	sample(f, 1, BURST_MARKED | BURST_PAUSED);
	assert_true(bursts_is_running(f->b, 0));
	f->now_ns += 5 * SECOND;
	sample(f, 1, 0);
	assert_false(bursts_is_running(f->b, 0));
	f->now_ns += SECOND;
	sample(f, 1, BURST_PAUSED);
	assert_true(bursts_is_running(f->b, 0));
}

/* Driver queries a second, at the cost per round that was reported. */
static double reads_per_second(const struct fixture *f, unsigned cost)
{
	unsigned interval = bursts_interval_ms(f->b);

	return interval ? 1000.0 / interval * n_looked_at(f) * cost : 0;
}

static void test_the_budget_is_kept_and_turns_go_round(void **state)
{
	struct fixture *f = *state;
	bool seen[PORTS] = {false};

	f->sample.n_ports = PORTS;
	for (int s = 0; s < 40; s++) {
		sample(f, PORTS, BURST_PAUSED);
		/* Every port had its burst, and the pause of none is over. */
		if (bursts_interval_ms(f->b) == 0)
			assert_int_equal(n_looked_at(f), 0);
		else
			assert_in_range(bursts_interval_ms(f->b), 20, 100);
		/* A port of unknown cost is assumed to need three queries. */
		assert_true(reads_per_second(f, s == 0 ? 3 : 2) <=
			    f->limits.value[LIMIT_burst_reads]);
		for (size_t i = 0; i < PORTS; i++) {
			seen[i] |= bursts_is_running(f->b, i);
			bursts_add_reading(f->b, i, f->value, LINE, 4096, 2, f->now_ns);
		}
		f->now_ns += SECOND;
	}
	for (size_t i = 0; i < PORTS; i++)
		assert_true(seen[i]);
	/* Turns that have begun end with the budget. */
	f->now_ns += 60 * SECOND;
	sample(f, PORTS, BURST_PAUSED | BURST_LOST);
	assert_true(n_looked_at(f) > 0);
	f->limits.value[LIMIT_burst_reads] = 0;
	bursts_set_thresholds(f->b, &f->limits);
	sample(f, PORTS, BURST_PAUSED | BURST_LOST);
	assert_int_equal(bursts_interval_ms(f->b), 0);
	assert_int_equal(n_looked_at(f), 0);
}

static void test_a_port_that_costs_more_than_the_budget_is_left_alone(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, BURST_PAUSED);
	bursts_add_reading(f->b, 0, f->value, LINE, 4096, 300, f->now_ns);
	f->now_ns += 6 * SECOND;
	sample(f, 1, 0);
	f->now_ns += 60 * SECOND;
	sample(f, 1, BURST_PAUSED);
	assert_false(bursts_is_running(f->b, 0));
}

/* 200 ms in a second are a ratio of 0.2; in windows they are 1. */
static void test_windows_show_what_a_second_hides(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, BURST_PAUSED);
	look(f, 20);
	for (int i = 0; i < 50; i++) {
		pass(f, 20, i >= 20 && i < 30 ? 1 : 0, i == 40 ? 0.5 : 0);
		look(f, 20);
	}
	assert_float_equal(peak(f, BURST_PAUSE_RECEIVED), 1, 0.01);
	assert_float_equal(peak(f, BURST_CE), 0.5, 0.01);
	assert_float_equal(peak(f, BURST_PAUSE_SENT), 0, 1e-9);
	assert_int_equal(n_windows(f, BURST_PAUSE_RECEIVED), 49);
	assert_int_equal(
		bursts_windows(f->b, 0, now_ms(f))[BURST_PAUSE_RECEIVED].n[BURST_BOUNDS - 1], 10);
	assert_true(bursts_alarm(f->b));
	assert_float_equal(bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED), 0.2, 0.001);
	assert_false(bursts_alarm(f->b));
	assert_true(isnan(bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED)));
	/* A peak is one of the last minute. */
	f->now_ns += 61 * SECOND;
	assert_true(isnan(peak(f, BURST_PAUSE_RECEIVED)));
	assert_int_equal(n_windows(f, BURST_PAUSE_RECEIVED), 49);
}

/* A lasting storm is reported while it lasts, and once. */
static void test_a_storm_that_stands(void **state)
{
	struct fixture *f = *state;
	int told = 0;

	sample(f, 1, BURST_PAUSED);
	for (int i = 0; i < 100; i++) {
		look(f, 20);
		pass(f, 20, 1, 0);
		if (bursts_alarm(f->b)) {
			told++;
			assert_in_range(i, 11, 13);
			assert_true(bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED) >= 0.2);
		}
	}
	assert_int_equal(told, 1);
	/* A pause during which data passes is no storm. */
	look(f, 20);
	bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED);
	for (int i = 0; i < 100; i++) {
		look(f, 20);
		pass(f, 20, 0.95, 0);
	}
	assert_true(bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED) < 0.1);
	assert_false(bursts_alarm(f->b));
}

/* A driver that refreshes its counters once a second gives windows of seconds, whatever the times
 * of the readings. */
static void test_counters_that_are_refreshed_seldom(void **state)
{
	struct fixture *f = *state;

	f->limits.value[LIMIT_burst_seconds] = 60;
	bursts_set_thresholds(f->b, &f->limits);
	sample(f, 1, BURST_PAUSED);
	look(f, 10);
	for (int i = 1; i < 1000; i++) {
		if (i % 50 == 17)
			pass(f, 1000, 0.3, 0.02);
		look(f, 20);
	}
	assert_float_equal(peak(f, BURST_PAUSE_RECEIVED), 0.3, 0.01);
	assert_float_equal(peak(f, BURST_CE), 0.02, 0.001);
	assert_int_equal(n_windows(f, BURST_PAUSE_RECEIVED), 19);
	assert_float_equal(bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED), 0, 1e-9);
}

/* The same with late readings: a surplus in one window is missing in the next one. */
static void test_a_storm_in_windows_that_jitter(void **state)
{
	struct fixture *f = *state;
	int alarms = 0;

	sample(f, 1, BURST_PAUSED);
	for (int i = 0; i < 40 && !alarms; i++) {
		/* The counter is read a moment before or after the clock. */
		f->now_ns += 20 * (SECOND / 1000);
		pass(f, 20, 1, 0);
		bursts_add_reading(f->b, 0, f->value, LINE, 4096, 2, f->now_ns + (i % 2) * 800000);
		alarms += bursts_alarm(f->b);
	}
	assert_int_equal(alarms, 1);
}

/* Reads need time: shares of single windows are inexact, but do not add up to a storm. */
static void test_looks_that_are_late(void **state)
{
	struct fixture *f = *state;
	unsigned seed = 1;

	f->limits.value[LIMIT_burst_seconds] = 60;
	bursts_set_thresholds(f->b, &f->limits);
	sample(f, 1, BURST_PAUSED);
	look(f, 20);
	for (int i = 0; i < 1000; i++) {
		unsigned late = (seed = seed * 1103515245 + 12345) >> 16 & 7;

		pass(f, 20 + late, 0.5, 0.1);
		f->now_ns += (20 + late) * (SECOND / 1000);
		bursts_add_reading(f->b, 0, f->value, LINE, 4096, 2,
				   f->now_ns + (seed >> 8 & 1023) * 1000);
	}
	assert_in_range((uint64_t)(peak(f, BURST_PAUSE_RECEIVED) * 100), 49, 54);
	assert_false(bursts_alarm(f->b));
}

static void test_counters_that_start_over_show_nothing(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, BURST_PAUSED);
	look(f, 20);
	for (int i = 0; i < 20; i++) {
		pass(f, 20, 0.2, 0.01);
		if (i == 10)
			for (int s = 0; s < N_SERIES; s++)
				f->value[s] = isnan(f->value[s]) ? (double)NAN : 0;
		look(f, 20);
	}
	assert_float_equal(peak(f, BURST_PAUSE_RECEIVED), 0.2, 0.01);
	assert_float_equal(peak(f, BURST_CE), 0.01, 0.001);
}

static void test_what_is_known_stays_with_the_device(void **state)
{
	struct fixture *f = *state;

	test_windows_show_what_a_second_hides(state);
	f->sample.layout = 2;
	f->sample.n_ports = 2;
	strcpy(f->ports[0].device, "new");
	strcpy(f->ports[1].device, "mlx5_0");
	assert_false(bursts_are_of(f->b, &f->sample));
	assert_int_equal(bursts_follow(f->b, &f->sample), 0);
	assert_true(bursts_are_of(f->b, &f->sample));
	assert_null(bursts_windows(f->b, 0, now_ms(f)));
	assert_non_null(bursts_windows(f->b, 1, now_ms(f)));
	/* Device names need not be unique. */
	f->sample.layout = 3;
	strcpy(f->ports[0].device, "mlx5_0");
	assert_int_equal(bursts_follow(f->b, &f->sample), 0);
	for (size_t i = 0; i < 2; i++)
		bursts_add_reading(f->b, i, f->value, LINE, 4096, 2, f->now_ns);
	f->sample.n_ports = 0;
	assert_int_equal(bursts_follow(f->b, &f->sample), 0);
}

TEST_GROUP(burst)
{
	const struct CMUnitTest tests[] = {
		T(test_nobody_is_looked_at_without_a_reason),
		T(test_a_turn_ends_and_comes_again),
		T(test_the_budget_is_kept_and_turns_go_round),
		T(test_a_port_that_costs_more_than_the_budget_is_left_alone),
		T(test_windows_show_what_a_second_hides),
		T(test_a_storm_that_stands),
		T(test_counters_that_are_refreshed_seldom),
		T(test_a_storm_in_windows_that_jitter),
		T(test_looks_that_are_late),
		T(test_counters_that_start_over_show_nothing),
		T(test_what_is_known_stays_with_the_device),
	};

	return test_group_run(tests, NULL, NULL);
}
