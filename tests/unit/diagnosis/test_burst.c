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

/* A sample in which the first n ports of all have these reasons for a burst. */
static void sample(struct fixture *f, size_t n, unsigned reasons)
{
	assert_int_equal(bursts_follow(f->b, &f->sample), 0);
	for (size_t i = 0; i < f->sample.n_ports; i++)
		bursts_want(f->b, i, i < n ? reasons : 0, now_ms(f));
	bursts_admit(f->b, now_ms(f));
}

static unsigned n_running(const struct fixture *f)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->sample.n_ports; i++)
		n += bursts_is_running(f->b, i);
	return n;
}

static void read_port(struct fixture *f, unsigned ms)
{
	f->now_ns += ms * (SECOND / 1000);
	bursts_add_reading(f->b, 0, f->value, LINE, 4096, 2, f->now_ns);
}

/* In `ms` the given share of the time was paused; the rest had traffic in packets of 4096 bytes. */
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

static void test_no_port_is_read_without_a_reason(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, 0);
	assert_int_equal(bursts_interval_ms(f->b), 0);
	assert_null(bursts_windows(f->b, 0, now_ms(f)));
	read_port(f, 20);
	assert_null(bursts_windows(f->b, 0, now_ms(f)));
}

static void test_a_burst_ends_and_repeats(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, BURST_MARKED);
	assert_true(bursts_is_running(f->b, 0));
	assert_in_range(bursts_interval_ms(f->b), 20, 100);
	for (int s = 1; s <= 40; s++) {
		f->now_ns += SECOND;
		sample(f, 1, BURST_MARKED);
		/* A burst lasts 5 s, the pause after it 30 s. */
		assert_int_equal(bursts_is_running(f->b, 0), s < 5 || (s >= 35 && s < 40));
	}
	/* A new reason starts a burst at once, and so does one that returns. */
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

/* Driver queries per second at this cost per reading. */
static double reads_per_second(const struct fixture *f, unsigned cost)
{
	unsigned interval = bursts_interval_ms(f->b);

	return interval ? 1000.0 / interval * n_running(f) * cost : 0;
}

static void test_bursts_rotate_within_the_budget(void **state)
{
	struct fixture *f = *state;
	bool seen[PORTS] = {false};

	f->sample.n_ports = PORTS;
	for (int s = 0; s < 40; s++) {
		sample(f, PORTS, BURST_PAUSED);
		/* Between two rounds no port is read: each had its burst, and no pause is over. */
		if (bursts_interval_ms(f->b) == 0)
			assert_int_equal(n_running(f), 0);
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
	/* Without a budget, running bursts end. */
	f->now_ns += 60 * SECOND;
	sample(f, PORTS, BURST_PAUSED | BURST_LOST);
	assert_true(n_running(f) > 0);
	f->limits.value[LIMIT_burst_reads] = 0;
	bursts_set_thresholds(f->b, &f->limits);
	sample(f, PORTS, BURST_PAUSED | BURST_LOST);
	assert_int_equal(bursts_interval_ms(f->b), 0);
	assert_int_equal(n_running(f), 0);
}

static void test_a_port_above_the_budget_is_not_read(void **state)
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

/* A pause of 200 ms is a ratio of 0.2 in a second, and of 1 in windows. */
static void test_windows_show_what_a_second_hides(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, BURST_PAUSED);
	read_port(f, 20);
	for (int i = 0; i < 50; i++) {
		pass(f, 20, i >= 20 && i < 30 ? 1 : 0, i == 40 ? 0.5 : 0);
		read_port(f, 20);
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
	/* Peaks are kept for a minute. */
	f->now_ns += 61 * SECOND;
	assert_true(isnan(peak(f, BURST_PAUSE_RECEIVED)));
	assert_int_equal(n_windows(f, BURST_PAUSE_RECEIVED), 49);
}

/* A lasting storm raises one alarm while it lasts. */
static void test_a_lasting_storm(void **state)
{
	struct fixture *f = *state;
	int alarms = 0;

	sample(f, 1, BURST_PAUSED);
	for (int i = 0; i < 100; i++) {
		read_port(f, 20);
		pass(f, 20, 1, 0);
		if (bursts_alarm(f->b)) {
			alarms++;
			assert_in_range(i, 11, 13);
			assert_true(bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED) >= 0.2);
		}
	}
	assert_int_equal(alarms, 1);
	/* Pauses with traffic between them are not a storm. */
	read_port(f, 20);
	bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED);
	for (int i = 0; i < 100; i++) {
		read_port(f, 20);
		pass(f, 20, 0.95, 0);
	}
	assert_true(bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED) < 0.1);
	assert_false(bursts_alarm(f->b));
}

/* A driver that refreshes its counters once a second yields windows of seconds, regardless of the
 * times of the readings. */
static void test_rarely_refreshed_counters(void **state)
{
	struct fixture *f = *state;

	f->limits.value[LIMIT_burst_seconds] = 60;
	bursts_set_thresholds(f->b, &f->limits);
	sample(f, 1, BURST_PAUSED);
	read_port(f, 10);
	for (int i = 1; i < 1000; i++) {
		if (i % 50 == 17)
			pass(f, 1000, 0.3, 0.02);
		read_port(f, 20);
	}
	assert_float_equal(peak(f, BURST_PAUSE_RECEIVED), 0.3, 0.01);
	assert_float_equal(peak(f, BURST_CE), 0.02, 0.001);
	assert_int_equal(n_windows(f, BURST_PAUSE_RECEIVED), 19);
	assert_float_equal(bursts_take_stalled(f->b, 0, BURST_PAUSE_RECEIVED), 0, 1e-9);
}

/* Late readings shift time between neighbouring windows, which must not hide a storm. */
static void test_a_storm_in_jittering_windows(void **state)
{
	struct fixture *f = *state;
	int alarms = 0;

	sample(f, 1, BURST_PAUSED);
	for (int i = 0; i < 40 && !alarms; i++) {
		/* The counter is read a little before or after the clock. */
		f->now_ns += 20 * (SECOND / 1000);
		pass(f, 20, 1, 0);
		bursts_add_reading(f->b, 0, f->value, LINE, 4096, 2, f->now_ns + (i % 2) * 800000);
		alarms += bursts_alarm(f->b);
	}
	assert_int_equal(alarms, 1);
}

/* Because readings take time, shares of single windows are inexact, but they do not add up to a
 * storm. */
static void test_late_readings(void **state)
{
	struct fixture *f = *state;
	unsigned seed = 1;

	f->limits.value[LIMIT_burst_seconds] = 60;
	bursts_set_thresholds(f->b, &f->limits);
	sample(f, 1, BURST_PAUSED);
	read_port(f, 20);
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

static void test_a_reset_adds_no_windows(void **state)
{
	struct fixture *f = *state;

	sample(f, 1, BURST_PAUSED);
	read_port(f, 20);
	for (int i = 0; i < 20; i++) {
		pass(f, 20, 0.2, 0.01);
		if (i == 10)
			for (int s = 0; s < N_SERIES; s++)
				f->value[s] = isnan(f->value[s]) ? (double)NAN : 0;
		read_port(f, 20);
	}
	assert_float_equal(peak(f, BURST_PAUSE_RECEIVED), 0.2, 0.01);
	assert_float_equal(peak(f, BURST_CE), 0.01, 0.001);
}

static void test_windows_follow_the_device(void **state)
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
	/* Duplicate device names are possible. */
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
		T(test_no_port_is_read_without_a_reason),
		T(test_a_burst_ends_and_repeats),
		T(test_bursts_rotate_within_the_budget),
		T(test_a_port_above_the_budget_is_not_read),
		T(test_windows_show_what_a_second_hides),
		T(test_a_lasting_storm),
		T(test_rarely_refreshed_counters),
		T(test_a_storm_in_jittering_windows),
		T(test_late_readings),
		T(test_a_reset_adds_no_windows),
		T(test_windows_follow_the_device),
	};

	return test_group_run(tests, NULL, NULL);
}
