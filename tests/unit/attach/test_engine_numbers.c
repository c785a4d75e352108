// SPDX-License-Identifier: Apache-2.0
/* Numbers of device nodes that containers of pods may open, and RDMA devices that vanish from pods.
 */
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

/* In the place of "network": a key of the pool follows it. */
#define SOFT WORLD_PLAIN ", \"softRoce\": true"

static const char *number_of(struct world *w, unsigned i)
{
	return attach_engine_find(w->engine, world_vf(i))->record->uverbs;
}

/* What a pod may open is kept from others as long as it runs, whether its device is there or not.
 */
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

/* Another plugin's device, in the kubelet's checkpoint; one that no pod holds any more counts not.
 */
static void test_numbers_that_the_kubelet_gave(void **state)
{
	static char *ids[] = {(char *)"x0"}, *gone[] = {(char *)"x1"};
	static char *zero[] = {(char *)"infiniband/uverbs0", (char *)"infiniband/rdma_cm"};
	static char *one[] = {(char *)"infiniband/uverbs1"};
	struct granted given[] = {{(char *)"u", (char *)"x.y/z", ids, 1, zero, 2, false},
				  {(char *)"u", (char *)"x.y/z", gone, 1, one, 1, false}};
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

/* The other attach ended while this one was under way, and its pod has deleted its device. */
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

/* Its pool had no network when it was given to the pod, which runs: the device stays where it is,
 * and its containers start as before. The next pod is another matter. */
static void test_a_pool_that_has_got_a_network_since(void **state)
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
	world_until_told(w, &g);
	assert_int_equal(g.err.code, 0);
	assert_int_equal(w->devices[1].ns, 0);
	world_end_pod(w, 1, ns);
	world_reserve(w, 1); /* the checkpoint is as it was, and cannot be read any more */
	ns = world_run_pod(w, 1, "c");
	assert_int_equal(w->devices[1].ns, ns);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* It is looked for when the inventory does not show it any more; a container that starts then would
 * be given its number. */
static void test_a_device_that_vanishes(void **state)
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
	world_until_told(w, &g);
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
		cmocka_unit_test(test_numbers_that_the_kubelet_gave),
		cmocka_unit_test(test_a_number_taken_by_a_concurrent_attach),
		cmocka_unit_test(test_a_pool_that_has_got_a_network_since),
		cmocka_unit_test(test_a_device_that_vanishes),
	};

	return test_group_run(tests, NULL, NULL);
}
