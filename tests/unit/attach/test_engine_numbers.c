// SPDX-License-Identifier: Apache-2.0
/* Numbers of device nodes that containers may open, and RDMA devices that disappear from pods. */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host_builder.h"
#include "test_group.h"
#include "world_pods.h"

/* "softRoce" is a key of the pool, beside "network". */
#define SOFT WORLD_PLAIN ", \"softRoce\": true"

static const char *number_of(struct world *w, unsigned i)
{
	return attach_engine_find(w->engine, world_vf(i))->record->uverbs;
}

/* A number that a pod may open is not used again while it runs, even after its device is
 * removed. */
static void test_numbers_of_other_pods(void **state)
{
	struct world *w = world_start(SOFT);
	uint64_t first = world_run_pod(w, 1, "b"), second;

	(void)state;
	assert_string_equal(number_of(w, 1), "uverbs0");
	second = world_run_pod(w, 2, "c");
	assert_string_equal(number_of(w, 2), "uverbs1");
	world_end_pod(w, 1, first);
	first = world_run_pod(w, 1, "d");
	assert_string_equal(number_of(w, 1), "uverbs0");
	world_end_pod(w, 1, first);
	world_end_pod(w, 2, second);
	world_end(w);
}

/* A number of another plugin's device, from the kubelet's checkpoint. An entry whose device no pod
 * holds any more does not count. */
static void test_numbers_granted_by_the_kubelet(void **state)
{
	static char *ids[] = {(char *)"x0"}, *freed[] = {(char *)"x1"};
	static char *zero[] = {(char *)"infiniband/uverbs0", (char *)"infiniband/rdma_cm"};
	static char *one[] = {(char *)"infiniband/uverbs1"};
	struct granted given[] = {{(char *)"u", (char *)"x.y/z", ids, 1, zero, 2, false},
				  {(char *)"u", (char *)"x.y/z", freed, 1, one, 1, false}};
	const struct pod_device other = {.resource = "x.y/z", .id = "x0", .pod = "o"};
	struct world *w = world_start(SOFT);
	uint64_t ns;

	(void)state;
	w->granted = (struct granted_list){.items = given, .n = 2};
	assert_int_equal(pod_list_push(&w->kubelet, &other), 0);
	pod_list_sort(&w->kubelet);
	ns = world_run_pod(w, 1, "b");
	assert_string_equal(number_of(w, 1), "uverbs1");
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* The number was taken by an attach that completed meanwhile, and whose pod then deleted its
 * device. */
static void test_a_number_taken_by_a_concurrent_attach(void **state)
{
	struct world *w = world_start(SOFT);
	uint64_t first = world_run_pod(w, 1, "b"), second;

	(void)state;
	snprintf(w->number, sizeof(w->number), "uverbs0");
	second = world_add_sandbox(w, "c", NULL);
	world_hold(w, 2, "c");
	world_show_all(w);
	world_until_events(w, "AttachFailed", 1);
	assert_non_null(strstr(world_message(w, "AttachFailed"), "number of uverbs0"));
	assert_non_null(strstr(world_message(w, "AttachFailed"), "/b may open"));
	w->number[0] = '\0';
	world_until_state(w, 2, ATTACH_IN_POD);
	assert_string_equal(number_of(w, 2), "uverbs1");
	world_end_pod(w, 1, first);
	world_end_pod(w, 2, second);
	world_end(w);
}

/* The pool had no network when the device was allocated to the running pod: the device is not
 * attached to it, and its containers start. It is attached to the next pod. */
static void test_a_pool_that_got_a_network_later(void **state)
{
	static char *ids[] = {NULL};
	struct granted given = {(char *)"u", (char *)WORLD_ROCE, ids, 1, NULL, 0, true};
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g;
	uint64_t ns;

	(void)state;
	ids[0] = (char *)world_vf(1);
	w->granted = (struct granted_list){.items = &given, .n = 1};
	ns = world_add_sandbox(w, "b", NULL);
	world_hold(w, 1, "b");
	world_show_all(w);
	world_settle(w);
	assert_int_equal(world_state(w, 1), ATTACH_FREE);
	assert_int_equal(w->devices[1].ns, 0);
	world_ask(w, &g, 1);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[1].ns, 0);
	world_end_pod(w, 1, ns);
	world_reserve(w, 1); /* the old checkpoint, no longer readable */
	ns = world_run_pod(w, 1, "c");
	assert_int_equal(w->devices[1].ns, ns);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* The engine searches for a device that disappears from the inventory. A container that started
 * then would get the number of a device that another pod may have by now. */
static void test_an_rdma_device_that_disappears(void **state)
{
	struct world *w = world_start(SOFT);
	uint64_t ns = world_run_pod(w, 1, "b");
	struct rdma_dev *d = build_rdma(&w->inventory.host, "rxe_1", world_vf(1));
	struct world_gate g;

	(void)state;
	d->index = attach_engine_find(w->engine, world_vf(1))->record->rdma_id.index;
	attach_engine_inputs_changed(w->engine);
	world_settle(w);
	assert_int_equal(attach_engine_fitness(w->engine, world_vf(1)), ATTACH_FIT);
	w->drift = ATTACH_DRIFT_RDMA;
	d->index = 7;
	attach_engine_inputs_changed(w->engine);
	world_until_events(w, "Drift", 1);
	assert_non_null(strstr(world_message(w, "Drift"), "rdma"));
	assert_int_equal(attach_engine_fitness(w->engine, world_vf(1)), ATTACH_UNFIT);
	world_ask(w, &g, 1);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, -ENODEV);
	assert_non_null(strstr(g.err.msg, "delete the pod"));
	world_end_pod(w, 1, ns);
	w->drift = 0;
	world_end(w);
}

TEST_GROUP(engine_numbers)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_of_other_pods),
		cmocka_unit_test(test_numbers_granted_by_the_kubelet),
		cmocka_unit_test(test_a_number_taken_by_a_concurrent_attach),
		cmocka_unit_test(test_a_pool_that_got_a_network_later),
		cmocka_unit_test(test_an_rdma_device_that_disappears),
	};

	return test_group_run(tests, NULL, NULL);
}
