// SPDX-License-Identifier: Apache-2.0
/* The wall clock is set while pods start: each container starts with its own device in its own
 * pod. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "test_group.h"
#include "world_pods.h"

#define HOUR INT64_C(3600000000000)

/* Sets the clock before the sandbox is created, and before it is seen. */
static void run_by(int64_t before_made_ns, int64_t before_seen_ns)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;
	uint64_t ns;

	world_reserve(w, 0);
	world_show_pods(w);
	world_settle(w);
	w->clock_set_ns += before_made_ns;
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	w->clock_set_ns += before_seen_ns;
	world_show_all(w);
	world_settle(w);
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "");
	assert_int_equal(w->devices[0].ns, ns);
	world_end_pod(w, 0, ns);
	world_end(w);
}

static void test_the_clock_is_changed_while_pods_start(void **state)
{
	static const int64_t by[] = {-24 * HOUR, -HOUR,	   -HOUR / 3600, -50000000,
				     0,		 50000000, HOUR,	 24 * HOUR};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		run_by(by[i], 0);
		run_by(0, by[i]);
		run_by(by[i], -by[i]);
	}
}

/* The sandbox of an earlier pod of the same name is still ready and was created in the future. */
static void test_an_earlier_pod_created_in_the_future(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;
	uint64_t old, ns;

	(void)state;
	w->clock_set_ns = 24 * HOUR;
	world_reserve(w, 0);
	old = world_run_pod(w, 0, "b");
	w->clock_set_ns = 0;
	world_unhold(w, 0);
	world_reserve(w, 1);
	world_show_all(w);
	world_settle(w);
	world_hold(w, 1, "b");
	world_show_all(w);
	world_settle(w);
	assert_int_equal(world_state(w, 1), ATTACH_FREE);
	ns = world_add_sandbox(w, "b", NULL);
	world_show_all(w);
	world_ask(w, &g, 1);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "");
	assert_int_equal(w->devices[1].ns, ns);
	assert_int_equal(w->devices[0].ns, old);
	world_end_pod(w, 0, old);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* Two sandboxes of one name, both seen after the clock was set back. Their creation times decide
 * nothing, so a container waits until the other sandbox has ended. */
static struct world *two_of_a_name(const char *network, uint64_t *other, uint64_t *ns)
{
	struct world *w = world_start(network);

	world_reserve(w, 0);
	world_show_pods(w);
	world_settle(w);
	*other = world_add_sandbox(w, "b", NULL);
	*ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	w->clock_set_ns = -HOUR;
	world_show_all(w);
	world_settle(w);
	return w;
}

static void test_ambiguous_sandboxes_are_an_error(void **state)
{
	struct world_gate g;
	uint64_t other, ns;
	struct world *w = two_of_a_name(WORLD_PLAIN, &other, &ns);

	(void)state;
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_string_equal(
		g.err.msg,
		"a sandbox of pod a/b may belong to it or to an earlier pod of that name, "
		"which has not ended (waited 1000 ms)");
	assert_int_equal(w->devices[0].ns, 0);
	world_end_sandbox(w, other);
	world_end_pod(w, 0, ns);
	world_end(w);
}

static void test_ambiguity_ends_with_the_other_sandbox(void **state)
{
	struct world_gate g;
	uint64_t other, ns;
	struct world *w = two_of_a_name("{\"timeoutMs\": 20000}", &other, &ns);

	(void)state;
	world_ask(w, &g, 0);
	world_settle(w);
	assert_int_equal(g.answers, 0);
	world_end_sandbox(w, other);
	world_show_sandboxes(w);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "");
	assert_int_equal(w->devices[0].ns, ns);
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* A sandbox found at the daemon's start keeps its device, whatever its creation time. */
static void test_after_a_restart(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;
	uint64_t ns;

	(void)state;
	w->clock_set_ns = 24 * HOUR;
	world_reserve(w, 0);
	ns = world_run_pod(w, 0, "b");
	w->clock_set_ns = 0;
	world_restart(w);
	world_show_devices(w);
	world_show_all(w);
	world_until_ready(w);
	world_settle(w);
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "");
	assert_int_equal(w->devices[0].ns, ns);
	assert_int_equal(world_events(w, "Attached"), 1);
	assert_int_equal(world_events(w, "Returned"), 0);
	world_end_pod(w, 0, ns);
	world_end(w);
}

TEST_GROUP(engine_clock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_clock_is_changed_while_pods_start),
		cmocka_unit_test(test_an_earlier_pod_created_in_the_future),
		cmocka_unit_test(test_ambiguous_sandboxes_are_an_error),
		cmocka_unit_test(test_ambiguity_ends_with_the_other_sandbox),
		cmocka_unit_test(test_after_a_restart),
	};

	return test_group_run(tests, NULL, NULL);
}
