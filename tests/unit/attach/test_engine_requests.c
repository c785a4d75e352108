// SPDX-License-Identifier: Apache-2.0
/* Admin requests to the attach engine: attach a device to a pod, and detach it. */
#include "engine.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "world_pods.h"

static struct world_gate request;

static int ask_attach(struct world *w, unsigned i, uint64_t ns, struct err *e)
{
	struct attach_owner owner = {.door = DOOR_ADMIN};
	struct net_plan plan = {.ifname = "net1"};

	snprintf(owner.netns.path, sizeof(owner.netns.path), "/ns/%u", (unsigned)ns);
	request = (struct world_gate){.answers = 0};
	return attach_engine_attach(w->engine, world_vf(i), &owner, &plan, world_on_answer,
				    &request, e);
}

static int ask_detach(struct world *w, unsigned i, bool force, struct err *e)
{
	request = (struct world_gate){.answers = 0};
	return attach_engine_detach(w->engine, world_vf(i), force, world_on_answer, &request, e);
}

static void test_requests(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "x", NULL), other;
	struct err e;

	(void)state;
	assert_int_equal(ask_attach(w, 2, ns, &e), 0);
	assert_int_equal(request.answers, 0);
	world_until_answered(w, &request);
	assert_int_equal(request.err.code, 0);
	assert_int_equal(w->n_moving, 1);
	assert_false(w->moving);
	assert_int_equal(w->devices[2].ns, ns);
	assert_int_equal(attach_engine_fitness(w->engine, world_vf(2)), ATTACH_UNFIT);
	assert_int_equal(ask_attach(w, 2, ns, &e), -EBUSY);
	assert_int_equal(ask_detach(w, 3, false, &e), -ENOENT);
	assert_int_equal(ask_detach(w, 2, false, &e), 0);
	world_until_answered(w, &request);
	assert_int_equal(request.err.code, 0);
	assert_true(world_is_clean(w));

	w->fail_in[STEP_MOVE] = -EPERM;
	assert_int_equal(ask_attach(w, 2, ns, &e), 0);
	world_until_answered(w, &request);
	assert_int_equal(request.err.code, -EPERM);
	w->fail_in[STEP_MOVE] = 0;

	/* A pod's device is detached only by force, and not attached again until a container of it
	 * starts. */
	world_show_devices(w);
	other = world_run_pod(w, 2, "b");
	assert_int_equal(ask_attach(w, 2, ns, &e), -EBUSY);
	assert_int_equal(ask_detach(w, 2, false, &e), -EBUSY);
	assert_int_equal(ask_detach(w, 2, true, &e), 0);
	world_until_answered(w, &request);
	assert_int_equal(request.err.code, 0);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	assert_int_equal(ask_attach(w, 2, ns, &e), -EBUSY); /* still allocated to the pod */
	world_end_pod(w, 2, other);
	world_end_namespace(w, ns);
	world_end(w);
}

/* The status must show why the device is stuck, not that an admin requested its return. */
static void test_a_failed_detach_keeps_its_reason(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 2, "b");
	struct err e;

	(void)state;
	w->fail_back[BACK_MOVE] = -EBUSY;
	assert_int_equal(ask_detach(w, 2, true, &e), 0);
	world_until_answered(w, &request);
	world_until_state(w, 2, ATTACH_BAD);
	assert_non_null(
		strstr(attach_engine_find(w->engine, world_vf(2))->error, "failure of the test"));
	w->fail_back[BACK_MOVE] = 0;
	world_until_state(w, 2, ATTACH_FREE);
	world_end_pod(w, 2, ns);
	world_end(w);
}

static int request_pod(struct world *w, unsigned i, const char *pod, struct err *e)
{
	struct attach_owner owner = {.door = DOOR_ADMIN, .namespace = "a"};
	struct net_plan plan = {.ifname = "net1"};

	snprintf(owner.pod, sizeof(owner.pod), "%s", pod);
	request = (struct world_gate){.answers = 0};
	return attach_engine_attach(w->engine, world_vf(i), &owner, &plan, world_on_answer,
				    &request, e);
}

/* This node attaches nothing: neither journal nor runtime was needed before. */
static struct world *start_without_pools(struct pool_network **ret)
{
	struct world *w = world_new(WORLD_PLAIN, false);
	char path[PATH_MAX];

	world_close(w);
	assert_true(snprintf(path, sizeof(path), "%s/devices/.keep", w->dir) < PATH_MAX);
	assert_int_equal(unlink(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	*ret = w->config.pools[0].network;
	w->config.pools[0].network = NULL;
	world_open(w, false);
	world_until_ready(w);
	return w;
}

/* The request comes before the engine has the lists that it needs. */
static void test_the_first_request(void **state)
{
	struct pool_network *network;
	struct world *w = start_without_pools(&network);
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	struct err e;

	(void)state;
	assert_false(w->shown.known);
	assert_int_equal(request_pod(w, 2, "x", &e), 0);
	assert_int_equal(request.answers, 0);
	world_until_answered(w, &request);
	assert_string_equal(request.err.msg, "");
	assert_int_equal(w->devices[2].ns, ns);
	assert_int_equal(request_pod(w, 3, "y", &e), -ENOENT);
	assert_non_null(strstr(e.msg, "no running pod a/y"));
	assert_int_equal(ask_detach(w, 2, false, &e), 0);
	world_until_answered(w, &request);
	w->config.pools[0].network = network;
	world_end(w);
}

/* An impossible request fails as soon as that is known, or when the lists do not arrive in time. */
static void test_early_requests_that_are_impossible(void **state)
{
	struct pool_network *network;
	struct world *w = start_without_pools(&network);
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	struct err e;

	(void)state;
	assert_int_equal(request_pod(w, 2, "y", &e), 0);
	world_until_answered(w, &request);
	assert_int_equal(request.err.code, -ENOENT);
	world_close(w);
	w->fail_journal = -EROFS;
	w->runtime_dead = true;
	world_open(w, false);
	assert_int_equal(ask_attach(w, 2, ns, &e), 0);
	world_until_answered(w, &request);
	assert_int_equal(request.err.code, -EAGAIN);
	assert_non_null(strstr(request.err.msg, "still starting: "));
	assert_int_equal(ask_attach(w, 2, ns, &e), 0);
	world_close(w);
	assert_int_equal(request.answers, 1);
	assert_int_equal(request.err.code, -ECANCELED);
	w->fail_journal = 0;
	world_open(w, false);
	assert_int_equal(request_pod(w, 2, "x", &e), 0);
	world_until_answered(w, &request);
	assert_int_equal(request.err.code, -EAGAIN);
	assert_non_null(strstr(request.err.msg, "pod a/x: the container runtime"));
	w->config.pools[0].network = network;
	world_end(w);
}

/* Devices that the node or another process uses are not attached. */
static void test_requests_for_used_functions(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	struct attach_owner owner = {.door = DOOR_ADMIN, .netns = {.path = "/ns/1"}};
	struct net_plan plan = {.ifname = "net1"};
	struct netdev *nd = NULL;
	struct err e;

	(void)state;
	assert_int_equal(attach_engine_attach(w->engine, "0000:03:00.0", &owner, &plan,
					      world_on_answer, &request, &e),
			 -EBUSY);
	assert_string_equal(e.msg, "0000:03:00.0 has VFs");
	for (size_t i = 0; i < w->inventory.host.n_netdevs; i++)
		if (strcmp(w->inventory.host.netdevs[i].function, world_vf(2)) == 0)
			nd = &w->inventory.host.netdevs[i];
	assert_non_null(nd);
	nd->default_route = true;
	assert_int_equal(ask_attach(w, 2, ns, &e), -EBUSY);
	assert_non_null(strstr(e.msg, "carries the default route (v2)"));
	nd->default_route = false;
	w->runtime_dead = true;
	world_show_all(w);
	world_settle(w);
	w->devices[2].marked = true; /* its owner is unknown */
	w->devices[2].ns = ns;
	world_hold(w, 2, "x");
	world_show_all(w);
	world_until_state(w, 2, ATTACH_BAD);
	assert_int_equal(ask_detach(w, 2, true, &e), -EAGAIN);
	w->runtime_dead = false;
	world_end_sandbox(w, ns);
	world_unhold(w, 2);
	world_show_all(w);
	world_until_state(w, 2, ATTACH_FREE);
	world_end(w);
}

/* The request comes during the attach's last job, after its last check for cancellation. */
static void test_request_during_attach(void **state)
{
	struct world *w = world_start(WORLD_IPAM);
	struct err e;

	(void)state;
	world_plugin(w, "test $CNI_COMMAND = DEL && exit 0\n"
			"while test ! -e ${CNI_PATH}/go; do sleep 0.01; done\n"
			"echo '{\"ips\": [{\"address\": \"10.0.0.5/8\"}]}'");
	world_add_sandbox(w, "b", NULL);
	world_hold(w, 0, "b");
	world_show_all(w);
	world_until_state(w, 0, ATTACH_ATTACHING);
	while (strcmp(attach_engine_find(w->engine, world_vf(0))->step, "ipam") != 0)
		loop_wakeups(&w->loop, 1);
	w->hold = true;
	tmptree_write(w->dir, "go", "%s", "");
	while (strcmp(attach_engine_find(w->engine, world_vf(0))->step, "ipam") == 0)
		loop_wakeups(&w->loop, 1);
	assert_int_equal(ask_detach(w, 0, true, &e), 0);
	world_let_go(w);
	world_until_answered(w, &request);
	assert_int_equal(request.err.code, 0);
	assert_int_equal(world_state(w, 0), ATTACH_FREE);
	world_end(w);
}

static bool no_record_is_left(void *arg)
{
	struct attach_counters c;

	attach_engine_counters(((struct world *)arg)->engine, &c);
	return c.free == 0;
}

/* A completed request is removed without the client reading its result. */
static void test_a_completed_request_is_removed(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct err e;

	(void)state;
	assert_int_equal(ask_attach(w, 2, world_add_sandbox(w, "x", NULL), &e), 0);
	world_until_answered(w, &request);
	assert_int_equal(ask_detach(w, 2, false, &e), 0);
	world_until_answered(w, &request);
	assert_true(loop_until(&w->loop, no_record_is_left, w, PATIENCE_MS));
	world_end(w);
}

static void test_close_with_everything(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct world_gate g[WORLD_VFS];
	struct err e;
	char pod[8];

	(void)state;
	w->hold = true;
	assert_int_equal(ask_attach(w, 0, world_add_sandbox(w, "x", NULL), &e), 0);
	for (unsigned i = 1; i < WORLD_VFS; i++) {
		snprintf(pod, sizeof(pod), "p%u", i);
		world_add_sandbox(w, pod, NULL);
		world_hold(w, i, pod);
		world_ask(w, &g[i], i);
	}
	world_until_state(w, 5, ATTACH_ATTACHING);
	world_close(w);
	assert_int_equal(request.answers, 1);
	assert_int_equal(request.err.code, -ECANCELED);
	for (unsigned i = 1; i < WORLD_VFS; i++) {
		assert_int_equal(g[i].answers, 1);
		assert_int_equal(g[i].err.code, -ECANCELED);
	}
	world_free(w);
}

TEST_GROUP(engine_requests)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_a_failed_detach_keeps_its_reason),
		cmocka_unit_test(test_the_first_request),
		cmocka_unit_test(test_early_requests_that_are_impossible),
		cmocka_unit_test(test_requests_for_used_functions),
		cmocka_unit_test(test_request_during_attach),
		cmocka_unit_test(test_a_completed_request_is_removed),
		cmocka_unit_test(test_close_with_everything),
	};

	return test_group_run(tests, NULL, NULL);
}
