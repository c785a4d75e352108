// SPDX-License-Identifier: Apache-2.0
/* No verdicts in a thousand hours of healthy nodes, nor with scaled traffic or missing samples.
 *
 * when: ci */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "diagnosis_world.h"
#include "test_group.h"

/* Simulated hours of each pattern; sanitizers are ten times as slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOURS 5
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOURS 5
#endif
#endif
#ifndef HOURS
#define HOURS 250
#endif
#define HOUR_S 3600

struct node {
	struct world w;
	struct diagnosis *d;
};

static void node_init(struct node *n, uint64_t seed, enum congestion_control expected)
{
	struct thresholds limits;

	thresholds_init(&limits);
	limits.expected = expected;
	world_init(&n->w, 1, seed);
	assert_int_equal(diagnosis_new(&n->d, &limits), 0);
}

static void node_done(struct node *n)
{
	diagnosis_free(n->d);
	world_done(&n->w);
}

static void assert_no_verdict(const struct diagnosis *d, const char *pattern, uint64_t second)
{
	size_t n;
	const struct verdict *v = diagnosis_verdicts(d, &n);

	if (n)
		fail_msg("%s: %s after %llu s", pattern, cause_row(v->cause)->name,
			 (unsigned long long)second);
}

/* factor: of the capacity. keep: percentage of samples that are not lost. */
static void watch(const struct world_pattern *p, uint64_t seed, uint64_t seconds, double factor,
		  unsigned keep)
{
	struct node n;

	node_init(&n, seed, (enum congestion_control)(seed % N_CC));
	n.w.capacity *= factor;
	for (uint64_t s = 0; s < seconds; s++) {
		struct observation o;

		p->fn(&n.w, s);
		o = world_step(&n.w, 1000);
		if (world_random(&n.w) * 100 >= keep)
			continue;
		assert_int_equal(diagnosis_tick(n.d, &o), 0);
		assert_no_verdict(n.d, p->name, s);
	}
	for (int c = 0; c < N_CAUSES; c++)
		assert_int_equal(diagnosis_onsets(n.d, (enum cause)c), 0);
	node_done(&n);
}

/* Another node each hour, so that each one warms up. */
static void a_thousand_healthy_hours(void **state)
{
	(void)state;
	for (unsigned p = 0; p < WORLD_PATTERNS; p++)
		for (uint64_t hour = 0; hour < HOURS; hour++)
			watch(&world_patterns[p], 1 + hour * WORLD_PATTERNS + p, HOUR_S, 1, 100);
}

/* With a fraction of the capacity, traffic is healthy, too. */
static void scaled_traffic_is_healthy(void **state)
{
	(void)state;
	for (unsigned p = 0; p < WORLD_PATTERNS; p++)
		for (double factor = 0.0625; factor <= 1; factor *= 2)
			watch(&world_patterns[p], 99 + p, HOUR_S, factor, 100);
}

static void samples_that_are_missing_make_no_verdict(void **state)
{
	static const unsigned keep[] = {95, 70, 40, 10, 2};

	(void)state;
	for (unsigned p = 0; p < WORLD_PATTERNS; p++)
		for (unsigned k = 0; k < 5; k++)
			watch(&world_patterns[p], 50 + p, HOUR_S, 1, keep[k]);
}

/* Proves that the tests above can fail. */
static void a_fault_in_healthy_traffic_is_found(void **state)
{
	(void)state;
	for (unsigned p = 0; p < WORLD_PATTERNS - 1; p++) {
		struct node n;

		node_init(&n, p + 1, CC_DCQCN);
		for (uint64_t s = 0; s < 200; s++) {
			struct observation o;

			world_patterns[p].fn(&n.w, s);
			n.w.ports[0].rate[SERIES_SEQUENCE_NAK] = s < 100 ? 0 : 500;
			o = world_step(&n.w, 1000);
			diagnosis_tick(n.d, &o);
		}
		assert_non_null(world_verdict(n.d, "mlx5_0", CAUSE_PACKET_LOSS));
		node_done(&n);
	}
}

TEST_GROUP(healthy)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_healthy_hours),
		cmocka_unit_test(scaled_traffic_is_healthy),
		cmocka_unit_test(samples_that_are_missing_make_no_verdict),
		cmocka_unit_test(a_fault_in_healthy_traffic_is_found),
	};

	return test_group_run(tests, NULL, NULL);
}
