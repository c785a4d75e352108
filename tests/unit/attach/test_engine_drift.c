// SPDX-License-Identifier: Apache-2.0
/* The attach engine watches devices in pods: changed settings, and devices moved elsewhere. */
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

static void test_drift(void **state)
{
	struct world *w = world_start("{\"drift\": \"repair\"}");
	uint64_t ns = world_run_pod(w, 1, "b");

	(void)state;
	world_settle(w);
	w->drift = VF_MAC | ATTACH_DRIFT_LINK(LINK_MTU);
	for (size_t i = 0; i < w->inventory.host.n_netdevs; i++)
		if (strcmp(w->inventory.host.netdevs[i].function, world_vf(1)) == 0)
			w->inventory.host.netdevs[i].mtu = 9000;
	attach_engine_inputs_changed(w->engine);
	world_until_events(w, "Repaired", 1);
	assert_non_null(strstr(world_message(w, "Drift"), "mac"));
	assert_int_equal(w->n_checks, w->n_repairs);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* Settings changed through the PF; those that the pool does not set are only reported. */
static void test_drift_on_the_pf(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");
	struct function *f = find_function(&w->inventory.host, world_vf(1));
	unsigned checks;

	(void)state;
	f->vf_settings = 1;
	attach_engine_inputs_changed(w->engine);
	world_settle(w);
	checks = w->n_checks;
	attach_engine_inputs_changed(w->engine);
	world_settle(w);
	assert_int_equal(w->n_checks, checks);
	w->drift = VF_TRUST;
	f->vf_settings = 2;
	attach_engine_inputs_changed(w->engine);
	world_until_events(w, "Drift", 1);
	assert_non_null(strstr(world_message(w, "Drift"), "trust"));
	assert_int_equal(world_events(w, "Repaired"), 0);
	world_end_pod(w, 1, ns);
	world_end(w);
}

/* The pod runs, and has moved the device into another namespace. */
static void test_a_device_moved_by_its_pod_is_drift(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 1, "b");
	struct world_gate g;

	(void)state;
	world_settle(w);
	w->fail_check = -ENODEV;
	attach_engine_fix(w->engine);
	world_until_events(w, "Drift", 1);
	assert_int_equal(attach_engine_find(w->engine, world_vf(1))->drift, ATTACH_DRIFT_NAME);
	world_ask(w, &g, 1);
	assert_int_equal(g.answers, 0);
	w->fail_check = 0; /* the device is in the pod again */
	attach_engine_fix(w->engine);
	world_until_answered(w, &g);
	assert_int_equal(g.err.code, 0);
	world_end_pod(w, 1, ns);
	world_end(w);
}

TEST_GROUP(engine_drift)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_drift_on_the_pf),
		cmocka_unit_test(test_a_device_moved_by_its_pod_is_drift),
	};

	return test_group_run(tests, NULL, NULL);
}
