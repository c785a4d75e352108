// SPDX-License-Identifier: Apache-2.0
/* The rates of a port that needs less memory while idle always equal those of rates.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "port_rates.h"
#include "test_group.h"

#define LINE 25e9
#define GAP  60

static struct port_rates port;
static struct rates whole, room;
static double value[N_SERIES];

static void begin(double v)
{
	port_rates_done(&port);
	port_rates_init(&port);
	rates_init(&whole);
	for (int s = 0; s < N_SERIES; s++)
		value[s] = v;
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void assert_same(const struct rates *r)
{
	for (int s = 0; s < N_SERIES; s++) {
		assert_true(same_number((double)r->rate[s], (double)whole.rate[s]));
		assert_true(r->span_s[s] == whole.span_s[s]);
	}
	assert_int_equal(port_rates_ignored(&port), whole.ignored);
	assert_int_equal(port_rates_resets(&port), whole.resets);
}

/* Gives the sample to both and compares them. */
static const struct rates *sample(double interval_s)
{
	struct rates *r;
	int code;

	rates_update(&whole, value, interval_s, GAP, LINE);
	r = port_rates_update(&port, &room, value, interval_s, GAP, LINE, &code);
	assert_int_equal(code, 0);
	assert_same(r);
	memset(&room, 0, sizeof(room)); /* shared with other ports */
	assert_same(port_rates_again(&port, &room, interval_s));
	return r;
}

static void an_idle_port_keeps_only_its_values(void **state)
{
	(void)state;
	begin((double)NAN);
	for (int s = 0; s < 40; s++)
		value[s] = 1000 + s;
	for (int i = 0; i < 5; i++)
		sample(1);
	assert_null(port.moving);
	assert_int_equal(port_rates_memory(&port), 40 * sizeof(double));
	value[SERIES_CE] += 7;
	assert_true(sample(1)->rate[SERIES_CE] == 7);
	assert_non_null(port.moving);
	for (int i = 0; i < RATES_REST_SAMPLES; i++)
		sample(1);
	assert_null(port.moving);
	assert_true(sample(1)->rate[SERIES_CE] == 0);
	value[SERIES_CE] += 9;
	assert_true(sample(1)->rate[SERIES_CE] == 9);
	begin(0);
}

static void a_restart_forgets_the_values(void **state)
{
	(void)state;
	begin(5);
	sample(1);
	sample(1);
	rates_restart(&whole);
	port_rates_restart(&port);
	value[SERIES_CE] += 100;
	assert_true(isnan(sample(1)->rate[SERIES_CE]));
	value[SERIES_CE] += 100;
	assert_true(sample(1)->rate[SERIES_CE] == 100);
	begin(0);
}

/* One random step of `kind`: traffic, unreadable counters, resets or wraps. */
static void change_values(unsigned kind)
{
	for (int s = 0; s < N_SERIES; s++) {
		if (rand() % 8 != 0)
			continue;
		switch (kind) {
		case 0:
			value[s] = (double)NAN;
			break;
		case 1:
			value[s] = rand() % 3 ? 0 : 4294967295.0;
			break;
		case 2:
			value[s] = isnan(value[s]) ? 4294967000.0 : value[s] - rand() % 20;
			break;
		default:
			value[s] = isnan(value[s]) ? 1e6 : value[s] + rand() % 2000;
		}
	}
}

static void rates_are_always_equal(void **state)
{
	unsigned rested = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 40; seed++) {
		srand(seed);
		begin(seed % 2 ? (double)NAN : 4294900000.0);
		for (int i = 0; i < 400; i++) {
			/* Phases of 100 samples, most of which are idle. */
			if (i % 100 < 20 && rand() % 3 == 0)
				change_values((unsigned)rand() % 12);
			if (rand() % 150 == 0) {
				rates_restart(&whole);
				port_rates_restart(&port);
			}
			sample(rand() % 50 ? 1 : 70);
			rested += !port.moving;
		}
	}
	/* Proves that the port was idle often enough. */
	assert_in_range(rested, 1000, 15000);
	begin(0);
}

TEST_GROUP(port_rates)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_port_keeps_only_its_values),
		cmocka_unit_test(a_restart_forgets_the_values),
		cmocka_unit_test(rates_are_always_equal),
	};

	return test_group_run(tests, NULL, NULL);
}
