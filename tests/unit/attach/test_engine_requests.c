// SPDX-License-Identifier: Apache-2.0
/* Requests of an administrator to the attach engine: a device into a pod, and back. */
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

static struct world_gate asked;

static int ask_attach(struct world *w, unsigned i, uint64_t ns, struct err *e)
{
	struct attach_owner owner = {.door = DOOR_ADMIN};
	struct net_plan plan = {.ifname = "net1"};

	snprintf(owner.netns.path, sizeof(owner.netns.path), "/ns/%u", (unsigned)ns);
	asked = (struct world_gate){.told = 0};
	return attach_engine_attach(w->engine, world_vf(i), &owner, &plan, world_tell, &asked, e);
}

static int take_back(struct world *w, unsigned i, bool force, struct err *e)
{
	asked = (struct world_gate){.told = 0};
	return attach_engine_detach(w->engine, world_vf(i), force, world_tell, &asked, e);
}

static void test_requests(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "x", NULL), other;
	struct err e;

	(void)state;
	assert_int_equal(ask_attach(w, 2, ns, &e), 0);
	assert_int_equal(asked.told, 0);
	world_until_told(w, &asked);
	assert_int_equal(asked.err.code, 0);
	assert_int_equal(w->n_moving, 1);
	assert_false(w->moving);
	assert_int_equal(w->devices[2].ns, ns);
	assert_int_equal(attach_engine_fitness(w->engine, world_vf(2)), ATTACH_UNFIT);
	assert_int_equal(ask_attach(w, 2, ns, &e), -EBUSY);
	assert_int_equal(take_back(w, 3, false, &e), -ENOENT);
	assert_int_equal(take_back(w, 2, false, &e), 0);
	world_until_told(w, &asked);
	assert_int_equal(asked.err.code, 0);
	assert_true(world_is_clean(w));

	w->fail_in[STEP_MOVE] = -EPERM;
	assert_int_equal(ask_attach(w, 2, ns, &e), 0);
	world_until_told(w, &asked);
	assert_int_equal(asked.err.code, -EPERM);
	w->fail_in[STEP_MOVE] = 0;

	/* A pod's is taken only by force, and not brought back until its container asks. */
	world_show_devices(w);
	other = world_run_pod(w, 2, "b");
	assert_int_equal(ask_attach(w, 2, ns, &e), -EBUSY);
	assert_int_equal(take_back(w, 2, false, &e), -EBUSY);
	assert_int_equal(take_back(w, 2, true, &e), 0);
	world_until_told(w, &asked);
	assert_int_equal(asked.err.code, 0);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	assert_int_equal(ask_attach(w, 2, ns, &e), -EBUSY); /* it is still given away */
	world_end_pod(w, 2, other);
	world_end_namespace(w, ns);
	world_end(w);
}

/* That an admin request is no news to whoever wonders where it stays. */
static void test_a_failed_detach_keeps_its_reason(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 2, "b");
	struct err e;

	(void)state;
	w->fail_back[BACK_MOVE] = -EBUSY;
	assert_int_equal(take_back(w, 2, true, &e), 0);
	world_until_told(w, &asked);
	world_until_state(w, 2, ATTACH_BAD);
	assert_non_null(
		strstr(attach_engine_find(w->engine, world_vf(2))->error, "somebody said so"));
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
	asked = (struct world_gate){.told = 0};
	return attach_engine_attach(w->engine, world_vf(i), &owner, &plan, world_tell, &asked, e);
}

/* Nothing is attached on this node: neither journal nor runtime were needed before. */
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

/* Before everything is known that it needs. */
static void test_the_first_request(void **state)
{
	struct pool_network *network;
	struct world *w = start_without_pools(&network);
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	struct err e;

	(void)state;
	assert_false(w->shown.known);
	assert_int_equal(request_pod(w, 2, "x", &e), 0);
	assert_int_equal(asked.told, 0);
	world_until_told(w, &asked);
	assert_string_equal(asked.err.msg, "");
	assert_int_equal(w->devices[2].ns, ns);
	assert_int_equal(request_pod(w, 3, "y", &e), -ENOENT);
	assert_non_null(strstr(e.msg, "no running pod a/y"));
	assert_int_equal(take_back(w, 2, false, &e), 0);
	world_until_told(w, &asked);
	w->config.pools[0].network = network;
	world_end(w);
}

/* What is wrong is told when it can be known; and what does not become known. */
static void test_early_requests_that_are_impossible(void **state)
{
	struct pool_network *network;
	struct world *w = start_without_pools(&network);
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	struct err e;

	(void)state;
	assert_int_equal(request_pod(w, 2, "y", &e), 0);
	world_until_told(w, &asked);
	assert_int_equal(asked.err.code, -ENOENT);
	world_close(w);
	w->fail_journal = -EROFS;
	w->runtime_dead = true;
	world_open(w, false);
	assert_int_equal(ask_attach(w, 2, ns, &e), 0);
	world_until_told(w, &asked);
	assert_int_equal(asked.err.code, -EAGAIN);
	assert_non_null(strstr(asked.err.msg, "still starting: "));
	assert_int_equal(ask_attach(w, 2, ns, &e), 0);
	world_close(w);
	assert_int_equal(asked.told, 1);
	assert_int_equal(asked.err.code, -ECANCELED);
	w->fail_journal = 0;
	world_open(w, false);
	assert_int_equal(request_pod(w, 2, "x", &e), 0);
	world_until_told(w, &asked);
	assert_int_equal(asked.err.code, -EAGAIN);
	assert_non_null(strstr(asked.err.msg, "pod a/x: the container runtime"));
	w->config.pools[0].network = network;
	world_end(w);
}

/* What the node, or somebody else, needs is not given away. */
static void test_requests_for_used_functions(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	struct attach_owner owner = {.door = DOOR_ADMIN, .netns = {.path = "/ns/1"}};
	struct net_plan plan = {.ifname = "net1"};
	struct netdev *nd = NULL;
	struct err e;

	(void)state;
	assert_int_equal(attach_engine_attach(w->engine, "0000:03:00.0", &owner, &plan, world_tell,
					      &asked, &e),
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
	w->devices[2].marked = true; /* and nobody knows how it came there */
	w->devices[2].ns = ns;
	world_hold(w, 2, "x");
	world_show_all(w);
	world_until_state(w, 2, ATTACH_BAD);
	assert_int_equal(take_back(w, 2, true, &e), -EAGAIN);
	w->runtime_dead = false;
	world_end_sandbox(w, ns);
	world_unhold(w, 2);
	world_show_all(w);
	world_until_state(w, 2, ATTACH_FREE);
	world_end(w);
}

/* It comes during the last visit to a worker, when nothing is left to turn back at. */
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
	assert_int_equal(take_back(w, 0, true, &e), 0);
	world_let_go(w);
	world_until_told(w, &asked);
	assert_int_equal(asked.err.code, 0);
	assert_int_equal(world_state(w, 0), ATTACH_FREE);
	world_end(w);
}

static bool none_is_left(void *arg)
{
	struct attach_counters c;

	attach_engine_counters(((struct world *)arg)->engine, &c);
	return c.free == 0;
}

/* Whoever was told does not look again: it is forgotten without that. */
static void test_nothing_is_left_of_a_request(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	struct err e;

	(void)state;
	assert_int_equal(ask_attach(w, 2, world_add_sandbox(w, "x", NULL), &e), 0);
	world_until_told(w, &asked);
	assert_int_equal(take_back(w, 2, false, &e), 0);
	world_until_told(w, &asked);
	assert_true(loop_until(&w->loop, none_is_left, w, PATIENCE_MS));
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
	assert_int_equal(asked.told, 1);
	assert_int_equal(asked.err.code, -ECANCELED);
	for (unsigned i = 1; i < WORLD_VFS; i++) {
		assert_int_equal(g[i].told, 1);
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
		cmocka_unit_test(test_nothing_is_left_of_a_request),
		cmocka_unit_test(test_close_with_everything),
	};

	return test_group_run(tests, NULL, NULL);
}
