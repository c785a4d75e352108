// SPDX-License-Identifier: Apache-2.0
/* Allocations from a fake kubelet and a fake container runtime in one loop: what is queried, and
 * when. */
#include "holders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "cri_fixture.h"
#include "fake_pods.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"

#define LIMIT_MS 20000
#define ROCE	 "rocelet.dev/roce"
#define VF	 "0000:03:00.1"

struct node {
	uv_loop_t loop;
	char *dir, path[108]; /* of the runtime's socket */
	struct fake_pods kubelet;
	struct fake_cri runtime;
	struct holders *holders;
	unsigned kubelet_answers,
		changed;	   /* of the kubelet; how many of them changed allocations */
	unsigned runtime_answers;  /* of the runtime */
	uint64_t answered_ms;	   /* time of the kubelet's last answer */
	unsigned questions, lists; /* numbers of queries before the one to wait for */
	bool (*until)(struct node *);
};

static void on_held(bool changed, uint64_t answered_ms, void *arg)
{
	struct node *n = arg;

	n->kubelet_answers++;
	n->changed += changed;
	n->answered_ms = answered_ms;
}

static void on_sandboxes(void *arg)
{
	((struct node *)arg)->runtime_answers++;
}

/* elsewhere: --root-dir differs from the folder of device-plugins. */
static void node_open_at(struct node *n, bool elsewhere)
{
	struct holders_opts opts = {.cri_socket = n->path};
	const struct holders_hooks hooks = {.held = on_held, .sandboxes = on_sandboxes, .arg = n};
	struct err e = {0};
	char folder[108];

	*n = (struct node){.dir = tmptree_new()};
	assert_int_equal(uv_loop_init(&n->loop), 0);
	tmptree_write(n->dir, "pods/keep", "%s", "");
	assert_true(snprintf(n->path, sizeof(n->path), "%s/cri.sock", n->dir) <
		    (int)sizeof(n->path));
	fake_pods_init(&n->kubelet, &n->loop, n->dir);
	fake_cri_init(&n->runtime, &n->loop, n->path);
	fake_cri_start(&n->runtime);
	assert_true(snprintf(folder, sizeof(folder), "%s/pod-resources/", n->dir) <
		    (int)sizeof(folder));
	opts.kubelet_dir = elsewhere ? "/nonexistent" : n->dir;
	opts.pod_resources = elsewhere ? folder : "";
	assert_int_equal(holders_open(&n->holders, &n->loop, &opts, &hooks, &e), 0);
	assert_false(holders_known(n->holders));
}

static void node_open(struct node *n)
{
	node_open_at(n, false);
}

static void node_close(struct node *n)
{
	holders_close(n->holders);
	fake_pods_done(&n->kubelet);
	fake_cri_done(&n->runtime);
	assert_int_equal(loop_end(&n->loop), 0);
	tmptree_free(n->dir);
}

static bool is_met(void *arg)
{
	struct node *n = arg;

	return n->until(n);
}

static void until(struct node *n, bool (*condition)(struct node *))
{
	n->until = condition;
	assert_true(loop_until(&n->loop, is_met, n, LIMIT_MS));
}

static bool is_known(struct node *n)
{
	return holders_known(n->holders);
}

/* --- the kubelet ------------------------------------------------------------------------------ */

static void test_a_kubelet_without_an_answer(void **state)
{
	struct node n;

	(void)state;
	node_open(&n);
	until(&n, is_known);
	assert_true(n.changed > 0);
	assert_int_equal(n.answered_ms, 0);
	assert_int_equal(holders_held(n.holders)->n, 0);
	assert_int_equal(holders_held(n.holders)->source, POD_SOURCE_NONE);
	node_close(&n);
}

/* The query is accepted and never answered. */
static void test_a_kubelet_that_hangs(void **state)
{
	struct node n;

	(void)state;
	node_open(&n);
	n.kubelet.silent = true;
	fake_pods_start(&n.kubelet);
	until(&n, is_known);
	assert_int_equal(n.kubelet_answers, 1);
	assert_int_equal(n.changed, 1);
	assert_int_equal(n.answered_ms, 0);
	node_close(&n);
}

static bool is_held(struct node *n)
{
	return reservations_state(holders_reservations(n->holders), ROCE, VF) == RESERVATION_HELD;
}

static bool is_free(struct node *n)
{
	return reservations_state(holders_reservations(n->holders), ROCE, VF) == RESERVATION_FREE;
}

/* The folder contains pod-resources and pods, but not device-plugins. */
static void test_a_kubelet_with_another_root_folder(void **state)
{
	const struct fake_held held = {"a", "p", ROCE, VF};
	struct node n;
	char pod[128];

	(void)state;
	node_open_at(&n, true);
	snprintf(pod, sizeof(pod), "%s/pods/uid", n.dir);
	assert_int_equal(mkdir(pod, 0700), 0);
	fake_pods_hold(&n.kubelet, &held, 1);
	fake_pods_start(&n.kubelet);
	until(&n, is_held);
	assert_int_equal(holders_held(n.holders)->source, POD_SOURCE_API);
	assert_string_equal(holders_error(n.holders), "");
	fake_pods_hold(&n.kubelet, NULL, 0);
	assert_int_equal(rmdir(pod), 0); /* the hint to query the kubelet */
	until(&n, is_free);
	node_close(&n);
}

static void test_reservations_become_allocations(void **state)
{
	const struct fake_held held = {"a", "p", ROCE, VF};
	struct node n;

	(void)state;
	node_open(&n);
	fake_pods_start(&n.kubelet);
	until(&n, is_known);
	assert_true(n.answered_ms > 0);
	assert_int_equal(holders_reserve(n.holders, ROCE, VF), 0);
	assert_int_equal(reservations_state(holders_reservations(n.holders), ROCE, VF),
			 RESERVATION_RESERVED);
	fake_pods_hold(&n.kubelet, &held, 1);
	holders_request(n.holders);
	until(&n, is_held);
	assert_string_equal(holders_held(n.holders)->devices[0].pod, "p");
	assert_string_equal(holders_error(n.holders), "");
	node_close(&n);
}

/* --- the runtime ------------------------------------------------------------------------------ */

static bool lists_three(struct node *n)
{
	return holders_sandboxes(n->holders)->known && holders_sandboxes(n->holders)->n == 3;
}

static void test_without_native_pools_the_runtime_is_not_queried(void **state)
{
	struct cri_status status = {.asked = 1};
	struct err e = {0};
	struct node n;

	(void)state;
	node_open(&n);
	fake_pods_start(&n.kubelet);
	fake_cri_set(&n.runtime, three_sandboxes, 3);
	holders_request_all(n.holders);
	holders_expect_sandboxes(n.holders, true);
	until(&n, is_known);
	assert_int_equal(n.runtime.lists, 0);
	assert_false(holders_sandboxes(n.holders)->known);
	assert_false(holders_runtime(n.holders, &status));
	assert_int_equal(status.asked, 0);
	assert_int_equal(holders_watch_sandboxes(n.holders, &e), 0);
	assert_int_equal(holders_watch_sandboxes(n.holders, &e), 0);
	until(&n, lists_three);
	assert_true(n.runtime_answers > 0);
	assert_true(holders_runtime(n.holders, &status));
	assert_string_equal(status.socket, n.path);
	node_close(&n);
}

static bool kubelet_is_queried_again(struct node *n)
{
	return n->kubelet.questions > n->questions;
}

/* A list requested before the sandbox was created cannot show its devices. */
static void test_a_sandbox_younger_than_the_list(void **state)
{
	struct err e = {0};
	struct node n;

	(void)state;
	node_open(&n);
	fake_pods_start(&n.kubelet);
	until(&n, is_known);
	assert_int_equal(holders_watch_sandboxes(n.holders, &e), 0);
	loop_wakeups(&n.loop, 100);
	n.questions = n.kubelet.questions;
	fake_cri_set(&n.runtime, three_sandboxes, 3);
	holders_expect_sandboxes(n.holders, true); /* this alone does not query the kubelet */
	until(&n, lists_three);
	until(&n, kubelet_is_queried_again);
	node_close(&n);
}

static bool both_are_queried(struct node *n)
{
	return n->kubelet.questions > n->questions && n->runtime.lists > n->lists;
}

static void test_both_lists_are_queried(void **state)
{
	struct err e = {0};
	struct node n;

	(void)state;
	node_open(&n);
	fake_pods_start(&n.kubelet);
	assert_int_equal(holders_watch_sandboxes(n.holders, &e), 0);
	until(&n, is_known);
	n.questions = n.kubelet.questions;
	n.lists = n.runtime.lists;
	holders_request_all(n.holders);
	until(&n, both_are_queried);
	node_close(&n);
}

TEST_GROUP(holders)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_kubelet_without_an_answer),
		cmocka_unit_test(test_a_kubelet_that_hangs),
		cmocka_unit_test(test_a_kubelet_with_another_root_folder),
		cmocka_unit_test(test_reservations_become_allocations),
		cmocka_unit_test(test_without_native_pools_the_runtime_is_not_queried),
		cmocka_unit_test(test_a_sandbox_younger_than_the_list),
		cmocka_unit_test(test_both_lists_are_queried),
	};

	return test_group_run(tests, NULL, NULL);
}
