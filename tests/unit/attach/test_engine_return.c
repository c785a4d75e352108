// SPDX-License-Identifier: Apache-2.0
/* The attach engine returns a device: what triggers it, and how failures are handled. */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "world_pods.h"
#include "world_trouble.h"

static void test_each_hint_alone(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns;

	(void)state;
	ns = world_run_pod(w, 0, "b");
	world_end_sandbox(w, ns);
	world_show_sandboxes(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "sandbox has ended"));
	world_end_pod(w, 0, ns);

	ns = world_run_pod(w, 0, "b");
	world_remove_sandbox(w, ns);
	world_unhold(w, 0);
	world_show_all(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "sandbox was removed"));
	world_end_pod(w, 0, ns);

	ns = world_run_pod(w, 0, "b");
	world_end_namespace(w, ns);
	world_show_devices(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "netdev is in the host again"));
	world_end_pod(w, 0, ns);

	world_end(w);
}

static unsigned n_contradicting(const struct world *w)
{
	struct attach_counters c;

	attach_engine_counters(w->engine, &c);
	assert_int_equal(c.contradicting > 0, c.runtime_error[0] != '\0');
	return c.contradicting;
}

static bool is_not_contradicted(void *arg)
{
	return n_contradicting(arg) == 0;
}

/* The list is another runtime's or truncated: running pods keep their devices, and devices of ended
 * pods are returned. */
static void test_running_pods_missing_from_the_list_keep_devices(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct attach_counters c;
	uint64_t ns[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		ns[i] = world_run_pod(w, i, i == 0 ? "a" : i == 1 ? "b" : "c");
	w->n_events = 0;
	w->runtime_lies = true;
	world_show_sandboxes(w);
	world_until_events(w, "RuntimeContradicted", 1);
	assert_int_equal(n_contradicting(w), 3);
	attach_engine_counters(w->engine, &c);
	assert_true(c.runtime_lacks_all);
	assert_non_null(strstr(c.runtime_error, "process 42 is in its network namespace"));
	assert_int_equal(world_events(w, "Returned"), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(w->devices[i].ns, ns[i]);

	world_end_namespace(w, ns[0]);
	world_show_all(w);
	world_until_state(w, 0, ATTACH_FREE);
	world_end_sandbox(w, ns[1]); /* and the kubelet removes the pod */
	world_unhold(w, 1);
	world_show_all(w);
	world_until_state(w, 1, ATTACH_FREE);
	assert_int_equal(w->devices[2].ns, ns[2]);

	w->runtime_lies = false;
	world_show_all(w);
	assert_true(loop_until(&w->loop, is_not_contradicted, w, PATIENCE_MS));
	assert_int_equal(world_events(w, "RuntimeContradicted"), 1);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	world_end_pod(w, 0, ns[0]);
	world_end_pod(w, 1, ns[1]);
	world_end_pod(w, 2, ns[2]);
	world_end(w);
}

/* The next pod's namespace has the inode of the removed one, whose pod's processes have exited. The
 * devices are not scanned meanwhile. */
static void test_a_reused_inode_is_another_namespace(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 0, "a"), next;

	(void)state;
	world_remove_sandbox(w, ns);
	world_end_namespace(w, ns);
	world_unhold(w, 0);
	next = world_add_sandbox(w, "b", NULL);
	assert_int_equal(w->ino[next], w->ino[ns]);
	world_show_pods(w);
	world_show_sandboxes(w);
	world_until_state(w, 0, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "its namespace was removed"));
	world_end_sandbox(w, next);
	world_end_namespace(w, next);
	world_end(w);
}

/* A proxy lists all sandboxes as not ready. */
static void test_running_pods_listed_as_ended_keep_devices(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 0, "a"), other = world_run_pod(w, 1, "b");

	(void)state;
	w->runtime_halves = true;
	world_show_sandboxes(w);
	world_until_events(w, "RuntimeContradicted", 1);
	assert_int_equal(n_contradicting(w), 2);
	assert_int_equal(w->devices[0].ns, ns);
	assert_int_equal(w->devices[1].ns, other);
	world_end_pod(w, 0, ns);
	world_end_pod(w, 1, other);
	world_end(w);
}

static enum attach_fitness fitness(const struct world *w, unsigned i)
{
	return attach_engine_fitness(w->engine, world_vf(i));
}

/* The kubelet removes a pod and gives its device away, while a container still ignores SIGTERM. */
static void test_a_container_that_ends_slowly_keeps_its_device(void **state)
{
	struct world *w = world_start("{\"timeoutMs\": 20000}");
	uint64_t old = world_run_pod(w, 0, "b"), new;
	struct world_gate g;

	(void)state;
	w->n_events = 0;
	assert_int_equal(fitness(w, 0), ATTACH_FIT);
	world_unhold(w, 0);
	world_show_all(w);
	world_settle(w);
	assert_int_equal(fitness(w, 0), ATTACH_LEAVING);
	world_hold(w, 0, "c");
	new = world_add_sandbox(w, "c", NULL);
	world_show_all(w);
	world_ask(w, &g, 0);
	world_settle(w);
	assert_int_equal(g.answers, 0);
	assert_int_equal(fitness(w, 0), ATTACH_LEAVING);
	assert_int_equal(w->devices[0].ns, old);
	assert_int_equal(world_state(w, 0), ATTACH_IN_POD);
	world_end_sandbox(w, old);
	world_end_namespace(w, old);
	world_show_all(w);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[0].ns, new);
	assert_int_equal(world_events(w, "Returned"), 1);
	world_end_pod(w, 0, new);
	world_end(w);
}

/* The pod ends during the attach, which is cancelled before its next step. */
static void test_a_pod_that_ends_cancels_its_attach(void **state)
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

/* There are more returns than run at a time. */
static void test_closing_completes_running_returns(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns[WORLD_VFS];
	char pod[8];

	(void)state;
	for (unsigned i = 0; i < WORLD_VFS; i++) {
		snprintf(pod, sizeof(pod), "p%u", i);
		ns[i] = world_run_pod(w, i, pod);
	}
	world_settle(w);
	w->hold = true;
	for (unsigned i = 0; i < WORLD_VFS; i++)
		world_end_sandbox(w, ns[i]);
	world_show_sandboxes(w);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		world_until_state(w, i, ATTACH_RETURNING);
	world_close(w);
	for (unsigned i = 0; i < WORLD_VFS; i++) {
		assert_int_equal(w->devices[i].ns, 0);
		assert_false(w->devices[i].marked);
		assert_int_equal(w->devices[i].record.state, ATTACH_FREE);
	}
	world_free(w);
}

static void test_a_failed_return_is_retried(void **state)
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
		assert_int_equal(fitness(w, 4), ATTACH_UNFIT);
		world_until_state(w, 4, ATTACH_RETURNING);
		assert_int_equal(fitness(w, 4), ATTACH_UNFIT);
		world_until_state(w, 4, ATTACH_BAD);
		assert_int_equal(world_events(w, "ReturnFailed"), 1);
		assert_non_null(strstr(attach_engine_find(w->engine, world_vf(4))->error,
				       "failure of the test"));
		w->fail_back[step] = 0;
		world_until_state(w, 4, ATTACH_FREE);
		assert_int_equal(world_events(w, "Returned"), 1);
		world_show_devices(w);
		w->n_events = 0;
	}
	world_end(w);
}

/* The pod ends, and its return fails n times with -EAGAIN. */
static void return_after_failures(struct world *w, unsigned n)
{
	uint64_t ns = world_run_pod(w, 4, "b");

	w->n_events = 0;
	w->fail_back[BACK_RDMA] = -EAGAIN;
	w->n_fail_back = n;
	world_end_sandbox(w, ns);
	world_unhold(w, 4);
	world_end_namespace(w, ns);
	world_show_all(w);
	world_until_state(w, 4, ATTACH_BAD);
	assert_int_equal(fitness(w, 4), ATTACH_LEAVING);
	world_until_state(w, 4, ATTACH_FREE);
	assert_int_equal(world_events(w, "Returned"), 1);
	world_show_devices(w);
}

static void test_a_short_delay_of_the_kernel_causes_no_event(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);

	(void)state;
	return_after_failures(w, 4);
	assert_int_equal(world_events(w, "ReturnFailed"), 0);
	return_after_failures(w, 6); /* too long: one event */
	assert_int_equal(world_events(w, "ReturnFailed"), 1);
	world_end(w);
}

static void test_a_removed_device(void **state)
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

/* --- namespaces without their path ---------------------------------------------------------- */

static void until_searched(struct world *w, unsigned n)
{
	while (w->n_searches < n)
		uv_run(&w->loop, UV_RUN_ONCE);
	world_settle(w);
}

/* The path is unmounted; the pod runs on. */
static void test_a_removed_path_returns_nothing(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");
	const struct attach_status *s;
	struct world_gate g;

	(void)state;
	w->moved[ns] = true;
	world_show_all(w);
	until_searched(w, 1);
	s = attach_engine_find(w->engine, world_vf(1));
	assert_int_equal(s->record->state, ATTACH_IN_POD);
	assert_string_equal(s->record->owner.netns.path, "/moved/1");
	world_ask(w, &g, 1);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(world_events(w, "Returned"), 0);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* A search that cannot see all processes changes nothing; nor does a missing namespace whose
 * sandbox the runtime still lists as ready. */
static void test_an_inconclusive_search_returns_nothing(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b"), other = world_run_pod(w, 2, "c");

	(void)state;
	w->moved[ns] = w->blind = true;
	world_show_all(w);
	until_searched(w, 1);
	assert_int_equal(world_state(w, 1), ATTACH_IN_POD);
	w->blind = false;
	w->alive[other] = false;
	world_show_all(w);
	until_searched(w, 2);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	assert_int_equal(world_events(w, "Returned"), 0);
	world_end_pod(w, 1, ns);
	world_end_pod(w, 2, other);
	world_end(w);
}

/* An old scan shows the netdev in the host, from before the attach moved it. That is no sign of its
 * return while neither its namespace nor its sandbox can be checked. */
static void test_an_unknown_namespace_during_attach(void **state)
{
	struct world *w = world_start(WORLD_IPAM);
	uint64_t ns;

	(void)state;
	world_plugin(w, "test $CNI_COMMAND = DEL && exit 0\n"
			"while test ! -e ${CNI_PATH}/go; do sleep 0.01; done\n"
			"echo '{\"ips\": [{\"address\": \"10.0.0.5/8\"}]}'");
	ns = world_add_sandbox(w, "b", NULL);
	w->hold = true;
	world_hold(w, 0, "b");
	world_show_all(w);
	world_until_state(w, 0, ATTACH_ATTACHING);
	world_show_devices(w);
	world_let_go(w);
	while (strcmp(attach_engine_find(w->engine, world_vf(0))->step, "ipam") != 0)
		loop_wakeups(&w->loop, 1);
	w->runtime_dead = w->moved[ns] = w->blind = true;
	world_show_sandboxes(w);
	until_searched(w, 1);
	w->moved[ns] = w->blind = false;
	tmptree_write(w->dir, "go", "%s", "");
	world_until_state(w, 0, ATTACH_IN_POD);
	assert_int_equal(w->devices[0].ns, ns);
	w->runtime_dead = false;
	world_end_pod(w, 0, ns);
	assert_int_equal(world_events(w, "AttachFailed"), 0);
	assert_int_equal(world_events(w, "Returned"), 1);
	world_end(w);
}

/* When a namespace ends, the kernel returns the netdev before the runtime lists the sandbox as not
 * ready: a normal end of the pod, and the device is not attached to it again. */
static void test_the_kernel_returns_the_netdev_before_the_runtime_reports(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 0, "a");

	(void)state;
	w->n_events = 0;
	w->pods_asked = 0;
	world_end_namespace(w, ns);
	world_show_devices(w);
	world_until_events(w, "Returned", 1);
	while (w->pods_asked == 0) /* for the current sandboxes */
		uv_run(&w->loop, UV_RUN_ONCE);
	assert_null(strstr(world_message(w, "Returned"), "moved out"));
	world_settle(w);
	assert_int_equal(world_events(w, "AttachFailed"), 0);
	world_end_sandbox(w, ns);
	world_unhold(w, 0);
	world_show_all(w);
	world_until_state(w, 0, ATTACH_FREE);
	world_settle(w);
	assert_int_equal(world_events(w, "Attached"), 0);
	assert_int_equal(world_events(w, "AttachFailed"), 0);
	assert_int_equal(world_events(w, "Returned"), 1);
	world_end(w);
}

/* The runtime lists the sandbox as ready, but its namespace does not exist: an event is emitted. */
static void test_a_sandbox_without_its_namespace(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "a", NULL);

	(void)state;
	w->alive[ns] = false;
	world_hold(w, 0, "a");
	world_show_all(w);
	world_until_events(w, "AttachFailed", 1);
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* An admin attachment, of which the runtime knows nothing. */
static void test_a_namespace_found_nowhere_is_dead(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	const struct attach_owner owner = {.door = DOOR_ADMIN, .netns.path = "/ns/7"};
	const struct net_plan plan = {.ifname = "net1"};
	struct world_gate g = {0};
	struct err e = {0};

	(void)state;
	w->alive[7] = true;
	w->ino[7] = 7;
	assert_int_equal(attach_engine_attach(w->engine, world_vf(3), &owner, &plan,
					      world_on_answer, &g, &e),
			 0);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	w->blind = w->moved[7] = true;
	world_show_all(w);
	until_searched(w, 1);
	assert_int_equal(world_state(w, 3), ATTACH_IN_POD);
	world_end_namespace(w, 7); /* the scan shows its netdev in the host */
	world_show_all(w);
	world_until_state(w, 3, ATTACH_FREE);
	assert_string_equal(strstr(world_message(w, "Returned"), "its netdev"),
			    "its netdev is in the host again");
	w->blind = false;
	world_end(w);
}

/* Its namespace exists, and its netdev is in the host, because its driver was bound again. */
static void test_an_admin_attachment_whose_netdev_is_in_the_host(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	const struct attach_owner owner = {.door = DOOR_ADMIN, .netns.path = "/ns/7"};
	const struct net_plan plan = {.ifname = "net1"};
	struct world_gate g = {0};
	struct err e = {0};

	(void)state;
	w->alive[7] = true;
	w->ino[7] = 7;
	assert_int_equal(attach_engine_attach(w->engine, world_vf(3), &owner, &plan,
					      world_on_answer, &g, &e),
			 0);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	world_take_out(w, 3);
	world_show_devices(w);
	world_until_state(w, 3, ATTACH_FREE);
	assert_string_equal(strstr(world_message(w, "Returned"), "it was"),
			    "it was moved out of its pod");
	world_end(w);
}

/* --- costs ------------------------------------------------------------------------------------ */

static void test_an_idle_engine_does_not_wake_up(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns;

	(void)state;
	world_settle(w);
	assert_true(loop_sleeps(&w->loop, 300, 2));
	ns = world_run_pod(w, 1, "b");
	world_settle(w);
	assert_true(loop_sleeps(&w->loop, 300, 2));
	world_end_pod(w, 1, ns);
	world_settle(w);
	assert_true(loop_sleeps(&w->loop, 300, 2));
	world_end(w);
}

TEST_GROUP(engine_return)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_hint_alone),
		cmocka_unit_test(test_running_pods_missing_from_the_list_keep_devices),
		cmocka_unit_test(test_running_pods_listed_as_ended_keep_devices),
		cmocka_unit_test(test_a_reused_inode_is_another_namespace),
		cmocka_unit_test(test_a_container_that_ends_slowly_keeps_its_device),
		cmocka_unit_test(test_a_pod_that_ends_cancels_its_attach),
		cmocka_unit_test(test_closing_completes_running_returns),
		cmocka_unit_test(test_a_failed_return_is_retried),
		cmocka_unit_test(test_a_short_delay_of_the_kernel_causes_no_event),
		cmocka_unit_test(test_a_removed_device),
		cmocka_unit_test(test_a_removed_path_returns_nothing),
		cmocka_unit_test(test_an_inconclusive_search_returns_nothing),
		cmocka_unit_test(test_an_unknown_namespace_during_attach),
		cmocka_unit_test(test_the_kernel_returns_the_netdev_before_the_runtime_reports),
		cmocka_unit_test(test_a_sandbox_without_its_namespace),
		cmocka_unit_test(test_a_namespace_found_nowhere_is_dead),
		cmocka_unit_test(test_an_admin_attachment_whose_netdev_is_in_the_host),
		cmocka_unit_test(test_an_idle_engine_does_not_wake_up),
	};

	return test_group_run(tests, NULL, NULL);
}
