/* The attach engine takes a device back: what tells it to, and what it does when that fails. */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "world_pods.h"

static void test_each_hint_alone(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns;

	(void)state;
	ns = world_run_pod(w, 0, "b");
	world_end_sandbox(w, ns);
	world_show_sandboxes(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "sandbox is gone"));
	world_end_pod(w, 0, ns);

	ns = world_run_pod(w, 0, "b");
	world_end_namespace(w, ns);
	world_show_devices(w);
	world_until_state(w, 0, ATTACH_RETURNING);
	world_end_pod(w, 0, ns);

	ns = world_run_pod(w, 0, "b");
	world_hold(w, 0, "c"); /* it is another pod's now */
	world_show_pods(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "another pod has it"));
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* Its pod ends while it is attached: at its next step it turns back. */
static void test_turns_back(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "b", NULL);

	(void)state;
	w->hold = true;
	world_hold(w, 0, "b");
	world_show_all(w);
	world_until_state(w, 0, ATTACH_ATTACHING);
	world_end_sandbox(w, ns);
	world_show_all(w);
	world_settle(w);
	world_let_go(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_int_equal(world_events(w, "Attached"), 0);
	world_end(w);
}

static void test_return_fails_and_heals(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);

	(void)state;
	for (int step = BACK_RDMA; step < N_RETURN_STEPS; step++) {
		uint64_t ns;

		if (step == BACK_IPAM)
			continue;
		ns = world_run_pod(w, 4, "b");
		w->fail_back[step] = -EBUSY;
		world_end_sandbox(w, ns);
		world_unhold(w, 4);
		world_end_namespace(w, ns);
		world_show_all(w);
		world_until_state(w, 4, ATTACH_BAD);
		assert_true(attach_engine_is_dirty(w->engine, world_vf(4)));
		world_until_state(w, 4, ATTACH_RETURNING);
		world_until_state(w, 4, ATTACH_BAD);
		assert_int_equal(world_events(w, "ReturnFailed"), 1);
		assert_non_null(strstr(attach_engine_find(w->engine, world_vf(4))->error,
				       "somebody said so"));
		w->fail_back[step] = 0;
		world_until_state(w, 4, ATTACH_FREE);
		assert_int_equal(world_events(w, "Returned"), 1);
		world_show_devices(w);
		w->n_events = 0;
	}
	world_end(w);
}

/* The pod ends, and its return fails with -EAGAIN once less often than is told. */
static void wait_for_kernel(struct world *w, uint64_t ns)
{
	w->fail_back[BACK_RDMA] = -EAGAIN;
	world_end_sandbox(w, ns);
	world_unhold(w, 4);
	world_end_namespace(w, ns);
	world_show_all(w);
	for (int tries = 0; tries < 4; tries++) {
		world_until_state(w, 4, ATTACH_BAD);
		assert_int_equal(world_events(w, "ReturnFailed"), 0);
		assert_true(attach_engine_is_dirty(w->engine, world_vf(4)));
		if (tries < 3)
			world_until_state(w, 4, ATTACH_RETURNING);
	}
}

static void test_a_kernel_that_takes_its_time_is_no_news(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);

	(void)state;
	wait_for_kernel(w, world_run_pod(w, 4, "b"));
	w->fail_back[BACK_RDMA] = 0;
	world_until_state(w, 4, ATTACH_FREE);
	assert_int_equal(world_events(w, "ReturnFailed"), 0);
	assert_int_equal(world_events(w, "Returned"), 1);
	world_show_devices(w);
	w->n_events = 0;
	wait_for_kernel(w, world_run_pod(w, 4, "b"));
	world_until_state(w, 4, ATTACH_RETURNING);
	world_until_state(w, 4, ATTACH_BAD);
	assert_int_equal(world_events(w, "ReturnFailed"), 1); /* unless it takes too long */
	w->fail_back[BACK_RDMA] = 0;
	world_until_state(w, 4, ATTACH_FREE);
	assert_int_equal(world_events(w, "ReturnFailed"), 1);
	world_end(w);
}

static void test_unplugged(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 7, "b");

	(void)state;
	w->fail_back[BACK_MOVE] = -ENODEV;
	w->inventory.host.n_functions--; /* the last one */
	w->devices[7].marked = w->devices[7].dirty = false;
	w->devices[7].ns = 0;
	world_end_sandbox(w, ns);
	world_unhold(w, 7);
	world_show_pods(w);
	world_show_sandboxes(w);
	world_until_state(w, 7, ATTACH_FREE);
	assert_int_equal(world_events(w, "ReturnFailed"), 0);
	assert_int_equal(w->devices[7].record.state, ATTACH_FREE);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_hint_alone),
		cmocka_unit_test(test_turns_back),
		cmocka_unit_test(test_return_fails_and_heals),
		cmocka_unit_test(test_a_kernel_that_takes_its_time_is_no_news),
		cmocka_unit_test(test_unplugged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
