// SPDX-License-Identifier: Apache-2.0
/* Counters of single ports over several samples: totals, rates, and missing rates. */
#include "port_counters.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "faults.h"
#include "test_group.h"

static const struct family bytes = {"roce_bytes_total", "Bytes.", METRIC_COUNTER};
static const struct family active = {"roce_resource_active", "Objects.", METRIC_GAUGE};

/* A sample that reads from an array. */
struct fake {
	struct sampled_port ports[3];
	struct reading readings[4];
	struct sample sample;
};

static bool fake_next(const void *readings, struct reading_pos *pos, struct reading *ret)
{
	const struct fake *f = readings;

	while (pos->at < ARRAY_SIZE(f->readings)) {
		const struct reading *r = &f->readings[pos->at++];

		if (!r->family || (pos->one_port && r->port != pos->port))
			continue;
		*ret = *r;
		return true;
	}
	return false;
}

static void fake_init(struct fake *f)
{
	*f = (struct fake){
		.ports = {{.device = "mlx5_0", .port = 1, .resets = 2},
			  {.device = "mlx5_1", .port = 1},
			  {.device = "mlx5_0", .port = 0}},
		.readings = {{.family = &bytes,
			      .port = 0,
			      .state = READING_OK,
			      .unit = UNIT_WORDS,
			      .value = 1000,
			      .labels = "direction=\"sent\""},
			     {.family = &bytes,
			      .port = 1,
			      .state = READING_OK,
			      .value = 7,
			      .labels = ""},
			     {.family = &bytes,
			      .port = 0,
			      .state = READING_ABSENT,
			      .labels = "x=\"1\""},
			     {.family = &active,
			      .port = 2,
			      .state = READING_OK,
			      .value = 12,
			      .labels = "kind=\"qp\""}},
	};
	f->sample = (struct sample){.ports = f->ports,
				    .n_ports = 3,
				    .next = fake_next,
				    .readings = f,
				    .layout = 1,
				    .taken_ms = 10000};
}

static const struct port_name PORT = {"mlx5_0", 1};

static const struct port_counters *take(struct port_counters_set *set, struct fake *f,
					uint64_t after_ms)
{
	f->sample.taken_ms += after_ms;
	port_counters_take(set, &f->sample, 5, 500);
	return port_counters_find(set, &PORT);
}

static void test_a_port_and_its_device(void **state)
{
	struct port_counters_set set = {.n = 0};
	const struct port_counters *c;
	struct fake f;

	(void)state;
	fake_init(&f);
	port_counters_follow(&set, &PORT, 1);
	c = take(&set, &f, 0);
	assert_true(c->is_new && !c->is_missing);
	assert_int_equal(c->n, 3);
	assert_int_equal(c->over_ms, 0);
	assert_int_equal(c->resets, 2);
	assert_string_equal(c->rows[0].labels, "direction=\"sent\"");
	assert_true(isnan(c->rows[0].rate));
	assert_false(c->rows[0].of_device);
	assert_false(c->rows[1].is_known);
	assert_true(c->rows[2].of_device);
	f.readings[0].value += 500;
	f.readings[3].value += 1;
	c = take(&set, &f, 2000);
	assert_int_equal(c->over_ms, 2000);
	assert_int_equal(c->rows[0].value, 1500);
	assert_true(c->rows[0].rate == 1000); /* the reading counts words of 4 bytes */
	assert_true(isnan(c->rows[1].rate));  /* not read */
	assert_true(isnan(c->rows[2].rate));  /* a gauge */
	port_counters_done(&set);
}

/* Samples within 500 ms are skipped; after a reset or a new layout there is no rate. */
static void test_no_rate_without_a_base(void **state)
{
	struct port_counters_set set = {.n = 0};
	const struct port_counters *c;
	struct fake f;

	(void)state;
	fake_init(&f);
	port_counters_follow(&set, &PORT, 1);
	take(&set, &f, 0);
	c = take(&set, &f, 499);
	assert_false(c->is_new);
	assert_int_equal(c->taken_ms, 10000);
	c = take(&set, &f, 1);
	assert_true(c->is_new);
	assert_int_equal(c->over_ms, 500);
	f.readings[0].value = 3; /* a reset that the sample does not report */
	c = take(&set, &f, 1000);
	assert_true(isnan(c->rows[0].rate));
	f.ports[0].resets++;
	c = take(&set, &f, 1000);
	assert_int_equal(c->over_ms, 0);
	f.sample.layout++;
	c = take(&set, &f, 1000);
	assert_int_equal(c->over_ms, 0);
	port_counters_done(&set);
}

static void test_ports_are_added_and_removed(void **state)
{
	static const struct port_name both[] = {{"mlx5_1", 1}, {"mlx5_0", 1}}, gone = {"x", 1};
	struct port_counters_set set = {.n = 0};
	const struct port_counters *c;
	struct fake f;

	(void)state;
	fake_init(&f);
	port_counters_follow(&set, &PORT, 1);
	take(&set, &f, 0);
	port_counters_follow(&set, both, 2);
	c = take(&set, &f, 1000);
	assert_int_equal(c->over_ms, 1000); /* followed before, too */
	assert_int_equal(port_counters_find(&set, &both[0])->over_ms, 0);
	port_counters_follow(&set, &gone, 1);
	assert_null(take(&set, &f, 1000));
	assert_true(port_counters_find(&set, &gone)->is_missing);
	port_counters_follow(&set, NULL, 0);
	assert_int_equal(set.n, 0);
}

static void test_out_of_memory(void **state)
{
	struct port_counters_set set = {.n = 0};
	struct fake f;

	(void)state;
	for (long n = 0;; n++) {
		const struct port_counters *c;
		bool failed;

		fake_init(&f);
		port_counters_follow(&set, &PORT, 1);
		faults_alloc(n);
		c = take(&set, &f, 0);
		failed = faults_end();
		assert_true(failed ? c->taken_ms == 0 : c->n == 3);
		port_counters_done(&set);
		if (!failed)
			break;
	}
}

TEST_GROUP(port_counters)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_and_its_device),
		cmocka_unit_test(test_no_rate_without_a_base),
		cmocka_unit_test(test_ports_are_added_and_removed),
		cmocka_unit_test(test_out_of_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
