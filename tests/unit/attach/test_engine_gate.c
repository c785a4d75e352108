// SPDX-License-Identifier: Apache-2.0
/* The attach engine's gate: a container waits there until its device is in its pod, or the gate
 * returns the reason why that is impossible. */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test_group.h"
#include "world_pods.h"

#define BAD_POD "[{\"resource\": \"rocelet.dev/roce\", \"vlan\": 5000}]"

static void test_before_the_gate(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	const struct attach_status *list;
	struct attach_counters c;
	struct world_gate g;
	uint64_t ns;

	(void)state;
	world_reserve(w, 1);
	ns = world_run_pod(w, 1, "b");
	assert_int_equal(w->devices[1].ns, ns);
	assert_int_equal(attach_engine_list(w->engine, &list), 1);
	assert_string_equal(list[0].record->owner.pod, "b");
	assert_string_equal(list[0].record->plan.ifname, "net1");
	world_ask(w, &g, 1);
	assert_int_equal(g.answers, 1); /* answered before the call returned */
	assert_int_equal(g.err.code, 0);
	world_settle(w);
	assert_int_equal(w->n_announced, 1);
	attach_engine_counters(w->engine, &c);
	assert_int_equal(c.attached, 1);
	assert_int_equal(c.in_pod, 1);
	assert_int_equal(c.gate_questions, 1);
	assert_string_equal(w->events[0].pod, "b");
	assert_int_equal(attach_engine_fitness(w->engine, world_vf(1)), ATTACH_FIT);
	world_end_pod(w, 1, ns);
	assert_int_equal(world_events(w, "Returned"), 1);
	world_end(w);
}

/* The request comes before the engine has any list. */
static void test_gate_waits(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;
	uint64_t ns;

	(void)state;
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	assert_int_equal(g.answers, 0);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[0].ns, ns);
	world_end_namespace(w, ns);
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* For an init container's device, the kubelet's checkpoint has only the pod's uid. */
static void test_gate_of_an_init_container(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct pod_device d = {.resource = WORLD_ROCE, .container = "init"};
	struct world_gate g;
	uint64_t ns;

	(void)state;
	world_add_sandbox(w, "other", NULL);
	ns = world_add_sandbox(w, "b", NULL);
	d.id = world_vf(0);
	d.uid = "u2";
	world_hold(w, 0, "");
	world_show_all(w);
	world_ask(w, &g, 0);
	world_settle(w);
	assert_int_equal(g.answers, 0);
	world_unhold(w, 0);
	assert_int_equal(pod_list_push(&w->kubelet, &d), 0);
	world_show_pods(w);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "");
	assert_int_equal(w->devices[0].ns, ns);
	/* No longer in the kubelet's list: it stays attached. */
	world_unhold(w, 0);
	world_show_all(w);
	world_settle(w);
	assert_int_equal(world_state(w, 0), ATTACH_IN_POD);
	world_end_pod(w, 0, ns);
	world_end(w);
}

static void test_gate_deadlines(void **state)
{
	struct world *w = world_new(WORLD_PLAIN, false);
	struct world_gate g;

	(void)state;
	w->config.pools[0].network->timeout_ms = 30;
	world_until_ready(w);
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_non_null(strstr(g.err.msg, "the kubelet's list does not show yet which pod has"));
	assert_non_null(strstr(g.err.msg, "(waited 30 ms)"));
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "no sandbox of pod a/b yet (waited 30 ms)");
	w->runtime_dead = true;
	world_show_all(w);
	world_settle(w);
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_non_null(strstr(g.err.msg, "does not answer: connection refused (waited"));
	w->view_known = false;
	world_offer(w);
	world_ask(w, &g, 0);
	assert_int_equal(g.answers, 0);
	attach_gate_cancel(g.gate);
	w->view_known = true;
	world_offer(w);
	world_end(w);
}

static void test_the_gate_ignores_other_resources(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g, other = {.answers = 0};
	const char *id = "x";
	uint64_t ns;

	(void)state;
	/* Another plugin's resource. */
	assert_int_equal(attach_engine_gate(w->engine, &g.gate, "other/x", (struct id_list){&id, 1},
					    world_on_answer, &other),
			 0);
	assert_int_equal(other.answers, 1);
	assert_null(g.gate);
	/* The pod uses the host's network: the device needs no move. */
	ns = world_add_sandbox(w, "b", NULL);
	w->runtime.items[0].host_network = true;
	w->runtime.items[0].netns[0] = '\0'; /* the runtime reports no namespace */
	world_hold(w, 2, "b");
	world_ask(w, &g, 2);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	assert_int_equal(w->devices[2].ns, 0);
	world_ask(w, &g, 2); /* its container starts again */
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(world_events(w, "HostNetwork"), 1);
	assert_string_equal(
		world_message(w, "HostNetwork"),
		"pod a/b uses the host's network: rocelet.dev/roce 0000:03:03.0 stays in the "
		"host, the container only gets its device nodes");
	assert_int_equal(world_events(w, "Attached"), 1);
	assert_string_equal(
		world_message(w, "Attached"),
		"rocelet.dev/roce 0000:03:03.0 stays in the host with pod a/b; its original state "
		"was recorded");
	/* It is not checked while the pod runs; residual state is found when the pod ends. */
	world_show_devices(w);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	assert_int_equal(w->n_checks, 0);
	w->devices[2].traces = 1;
	world_end_pod(w, 2, ns);
	assert_non_null(strstr(world_message(w, "Returned"), "with a new netdev"));
	assert_int_equal(w->devices[2].traces, 0);
	world_end(w);
}

/* A reload removes the pool's network while a container waits. */
static void test_pool_changes(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct pool_network *network = w->config.pools[0].network;
	struct world_gate g;

	(void)state;
	world_ask(w, &g, 0);
	assert_int_equal(g.answers, 0);
	w->config.pools[0].network = NULL;
	world_show_pods(w);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, -ECANCELED);
	w->config.pools[0].network = network;
	world_show_pods(w);
	world_end(w);
}

static void test_bad_annotation(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;

	(void)state;
	world_add_sandbox(w, "b", BAD_POD);
	world_hold(w, 2, "b");
	world_ask(w, &g, 2);
	world_until_answered(w, &g);
	assert_non_null(strstr(g.err.msg, "pod a/b: "));
	assert_non_null(strstr(g.err.msg, "5000"));
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	world_end(w);
}

/* Four attaches run at a time; devices whose containers wait are attached first. */
static void test_many(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;
	uint64_t ns[WORLD_VFS];
	char pod[8];

	(void)state;
	w->hold = true;
	for (unsigned i = 0; i < WORLD_VFS; i++) {
		snprintf(pod, sizeof(pod), "p%u", i);
		ns[i] = world_add_sandbox(w, pod, NULL);
		world_hold(w, i, pod);
	}
	world_show_all(w);
	world_until_state(w, 7, ATTACH_ATTACHING);
	world_ask(w, &g, 7);
	world_let_go(w);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		world_until_state(w, i, ATTACH_IN_POD);
	assert_in_range(w->n_inside_max, 1, 4);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		world_end_pod(w, i, ns[i]);
	world_end(w);
}

/* A new pod of the same name appears in the runtime's list late. */
static void test_the_gate_of_a_new_pod_with_the_same_name(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t old = world_run_pod(w, 0, "b"), ns;
	struct world_gate g;

	(void)state;
	world_hold(w, 0, ""); /* reserved, not yet allocated to a pod */
	world_show_pods(w);
	world_settle(w);
	world_end_sandbox(w, old);
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[0].ns, ns);
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* The kubelet has removed a pod and allocated its device to a new pod of the same name; then the
 * daemon restarts, and the new pod's sandbox is listed late. The old pod has the device
 * attached. */
static void test_same_name_across_a_restart(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t old = world_run_pod(w, 0, "b"), ns;
	struct world_gate g;

	(void)state;
	world_reserve(w, 0);
	world_hold(w, 0, "b");
	world_restart(w);
	world_show_all(w);
	world_until_ready(w);
	world_settle(w);
	ns = world_add_sandbox(w, "b", NULL);
	world_ask(w, &g, 0);
	assert_int_equal(g.answers, 0);
	world_settle(w);
	assert_int_equal(g.answers, 0);
	assert_int_equal(w->devices[0].ns, old);
	world_end_sandbox(w, old);
	world_end_namespace(w, old);
	world_show_all(w);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "");
	assert_int_equal(w->devices[0].ns, ns);
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* A pod was deleted by force and its containers still run; the sandbox of its successor of the same
 * name, which has the device, has ended for the moment. The time of the Allocate is unknown. */
static void test_a_predecessor_gets_nothing(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t old, ns;

	(void)state;
	old = world_add_sandbox(w, "b", NULL);
	world_settle(w);
	ns = world_add_sandbox(w, "b", NULL);
	world_reserve(w, 0);
	world_hold(w, 0, "b");
	world_end_sandbox(w, ns);
	world_restart(w);
	world_show_all(w);
	world_until_ready(w);
	world_settle(w);
	assert_int_equal(w->devices[0].ns, 0);
	world_end_namespace(w, ns);
	world_unhold(w, 0);
	world_end_sandbox(w, old);
	world_end_namespace(w, old);
	world_show_all(w);
	world_end(w);
}

/* Without the runtime, a container that starts after the daemon may belong to another pod. */
static void test_no_runtime_after_a_restart(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 0, "b");
	struct world_gate g;

	(void)state;
	w->runtime_dead = true;
	world_restart(w);
	world_show_all(w);
	world_settle(w);
	world_ask(w, &g, 0);
	assert_int_equal(g.answers, 0);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "the container runtime does not answer: connection refused "
				       "(waited 1000 ms)");
	assert_int_equal(w->devices[0].ns, ns);
	w->runtime_dead = false;
	world_ask(w, &g, 0);
	world_until_answered(w, &g);
	assert_string_equal(g.err.msg, "");
	assert_int_equal(w->devices[0].ns, ns);
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* The gate checks namespace and owner itself, because the engine's lists may be old. */
static void test_the_gate_checks_namespace_and_holder(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t old = world_run_pod(w, 0, "b"), ns;
	struct world_gate g;

	(void)state;
	world_settle(w);
	world_hold(w, 0, "");
	world_show_pods(w);
	world_settle(w);
	world_hold(w, 0, "b");
	world_show_pods(w);
	world_settle(w);
	world_ask(w, &g, 0);
	assert_int_equal(g.answers, 0);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);

	world_end_namespace(w, old);
	world_end_sandbox(w, old);
	ns = world_add_sandbox(w, "b", NULL);
	world_ask(w, &g, 0);
	assert_int_equal(g.answers, 0);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[0].ns, ns);
	world_end_pod(w, 0, ns);
	world_end(w);
}

/* The container could not open a soft-RoCE device that is made in the host. */
static void test_gate_of_soft_roce_on_the_hosts_network(void **state)
{
	struct world *w = world_start(WORLD_PLAIN ", \"softRoce\": true");
	struct world_gate g;

	(void)state;
	world_add_sandbox(w, "b", NULL);
	w->runtime.items[0].host_network = true;
	world_hold(w, 2, "b");
	for (int i = 0; i < 2; i++) {
		world_ask(w, &g, 2);
		world_until_answered(w, &g);
		assert_int_equal(g.err.code, -EINVAL);
		assert_string_equal(
			g.err.msg,
			"pod a/b uses hostNetwork: without a pod interface, the soft-RoCE device "
			"of rocelet.dev/roce 0000:03:03.0 cannot be created");
	}
	assert_int_equal(world_events(w, "HostNetwork"), 0);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	world_end(w);
}

TEST_GROUP(engine_gate)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_the_gate),
		cmocka_unit_test(test_gate_waits),
		cmocka_unit_test(test_gate_of_an_init_container),
		cmocka_unit_test(test_gate_deadlines),
		cmocka_unit_test(test_the_gate_ignores_other_resources),
		cmocka_unit_test(test_gate_of_soft_roce_on_the_hosts_network),
		cmocka_unit_test(test_pool_changes),
		cmocka_unit_test(test_bad_annotation),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_the_gate_of_a_new_pod_with_the_same_name),
		cmocka_unit_test(test_same_name_across_a_restart),
		cmocka_unit_test(test_a_predecessor_gets_nothing),
		cmocka_unit_test(test_no_runtime_after_a_restart),
		cmocka_unit_test(test_the_gate_checks_namespace_and_holder),
	};

	return test_group_run(tests, NULL, NULL);
}
