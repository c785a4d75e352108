// SPDX-License-Identifier: Apache-2.0
/* PodResources.List from a fake kubelet in the same loop that answers, refuses, hangs or
 * restarts. */
#include "pod_resources.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_pods.h"
#include "fixture.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "uds.h"

struct fixture {
	uv_loop_t loop;
	char *dir;
	struct fake_pods kubelet;
	struct pod_resources *pods;
	unsigned lists, unanswered;
	uint64_t asked_ms; /* time of the query of the last list */
	size_t n;
	enum pod_source source;
};

static void on_list(const struct pod_list *l, uint64_t asked_ms, void *arg)
{
	struct fixture *f = arg;

	assert_ptr_equal(l, pod_resources_list(f->pods));
	if (asked_ms == 0) {
		f->unanswered++;
		return;
	}
	f->lists++;
	f->asked_ms = asked_ms;
	f->n = l->n;
	f->source = l->source;
}

static void prepare(struct fixture *f)
{
	*f = (struct fixture){.dir = tmptree_new()};
	assert_int_equal(uv_loop_init(&f->loop), 0);
	fake_pods_init(&f->kubelet, &f->loop, f->dir);
	f->kubelet.answer = fixture_read("pod_resources/list", &f->kubelet.len);
}

static void open_client(struct fixture *f)
{
	struct err e = {0};
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/pod-resources", f->dir);
	assert_int_equal(pod_resources_open(&f->pods, &f->loop, f->dir, folder, on_list, f, &e), 0);
	assert_int_equal(pod_resources_list(f->pods)->source, POD_SOURCE_NONE);
}

static void stop(struct fixture *f)
{
	pod_resources_close(f->pods);
	fake_pods_done(&f->kubelet);
	assert_int_equal(loop_end(&f->loop), 0);
	tmptree_free(f->dir);
}

static void write_checkpoint(struct fixture *f)
{
	size_t len;
	uint8_t *text = fixture_read("checkpoint/list.json", &len);

	tmptree_write(f->dir, "device-plugins/kubelet_internal_checkpoint", "%.*s", (int)len,
		      (char *)text);
	free(text);
}

static bool has_api_list(void *arg)
{
	return ((struct fixture *)arg)->source == POD_SOURCE_API;
}

static bool has_checkpoint(void *arg)
{
	return ((struct fixture *)arg)->source == POD_SOURCE_CHECKPOINT;
}

static bool has_two_lists(void *arg)
{
	return ((struct fixture *)arg)->lists >= 2;
}

static bool has_asked(void *arg)
{
	return ((struct fixture *)arg)->kubelet.questions > 0;
}

static uint64_t failures(struct fixture *f)
{
	uint64_t asked, failed;

	pod_resources_counts(f->pods, &asked, &failed);
	return failed;
}

static bool has_failed(void *arg)
{
	return failures(arg) > 0;
}

static void until(struct fixture *f, bool (*cond)(void *))
{
	assert_true(loop_until(&f->loop, cond, f, PATIENCE_MS));
}

static void test_the_list(void **state)
{
	uint64_t asked, failed, before_ms;
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_api_list);
	assert_int_equal(f.n, 5);
	uv_update_time(&f.loop);
	before_ms = uv_now(&f.loop);
	pod_resources_refresh(f.pods);
	until(&f, has_two_lists);
	assert_true(f.asked_ms >= before_ms);
	pod_resources_counts(f.pods, &asked, &failed);
	assert_int_equal(asked, 2);
	assert_int_equal(failed, 0);
	stop(&f);
}

static void test_refreshes_are_coalesced_and_spaced(void **state)
{
	uint64_t began_ms;
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_pods_start(&f.kubelet);
	open_client(&f);
	uv_update_time(&f.loop);
	began_ms = uv_now(&f.loop);
	while (uv_now(&f.loop) - began_ms < 550) {
		pod_resources_refresh(f.pods);
		uv_run(&f.loop, UV_RUN_ONCE);
	}
	assert_true(f.kubelet.questions >= 2 && f.kubelet.questions <= 7);
	assert_true((f.kubelet.last_ms - f.kubelet.first_ms) / (f.kubelet.questions - 1) >= 95);
	stop(&f);
}

static void test_refused_requests_are_repeated(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	f.kubelet.refusals = 2;
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_api_list);
	assert_int_equal(f.kubelet.questions, 3);
	assert_int_equal(failures(&f), 2);
	assert_int_equal(f.unanswered, 2);
	stop(&f);
}

static void test_an_invalid_answer(void **state)
{
	struct fixture f;
	uint8_t *good;
	size_t len;

	(void)state;
	prepare(&f);
	good = f.kubelet.answer;
	len = f.kubelet.len;
	f.kubelet.answer = (uint8_t *)strdup("\xff\xff\xff");
	f.kubelet.len = 3;
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_failed);
	assert_int_equal(f.lists, 0);
	free(f.kubelet.answer);
	f.kubelet.answer = good;
	f.kubelet.len = len;
	until(&f, has_api_list);
	stop(&f);
}

static bool has_a_list(void *arg)
{
	return ((struct fixture *)arg)->lists > 0;
}

static bool has_three_requests(void *arg)
{
	return ((struct fixture *)arg)->kubelet.questions >= 3;
}

/* A restarted kubelet answers before it has learned its pods: the known allocations are kept. */
static void test_allocations_survive_a_kubelet_that_learns_its_pods(void **state)
{
	struct fixture f;
	uint8_t *answer;
	size_t len;

	(void)state;
	prepare(&f);
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_api_list);
	fake_pods_stop(&f.kubelet, false);
	answer = f.kubelet.answer;
	len = f.kubelet.len;
	f.kubelet.answer = NULL;
	f.kubelet.len = 0;
	f.kubelet.questions = 0;
	fake_pods_start(&f.kubelet);
	until(&f, has_three_requests);
	assert_int_equal(pod_resources_list(f.pods)->n, 5);
	assert_int_equal(pod_resources_list(f.pods)->source, POD_SOURCE_API);
	f.kubelet.answer = answer;
	f.kubelet.len = len;
	f.lists = 0;
	until(&f, has_a_list);
	stop(&f);
}

static void assert_holder(const struct fixture *f, const char *id, const char *pod, bool stale)
{
	size_t n;
	const struct pod_device *d = pod_list_find(pod_resources_list(f->pods), "x/y", id, &n);

	assert_int_equal(n, 1);
	assert_string_equal(d->pod, pod);
	assert_int_equal(d->stale, stale);
}

static bool c_has_device_2(void *arg)
{
	const struct fixture *f = arg;
	const struct pod_device *d = pod_list_find(pod_resources_list(f->pods), "x/y", "2", NULL);

	return strcmp(d->pod, "c") == 0;
}

/* A restarted kubelet lists its pods one by one: entries it lists are current at once, the others
 * are stale. */
static void test_a_new_kubelets_entries_count_at_once(void **state)
{
	static const struct fake_held before[] = {{"default", "a", "x/y", "1"},
						  {"default", "b", "x/y", "2"},
						  {"default", "b", "x/y", "3"}};
	static const struct fake_held after[] = {{"default", "c", "x/y", "2"},
						 {"default", "a", "x/y", "1"}};
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_pods_hold(&f.kubelet, before, 3);
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_api_list);
	fake_pods_stop(&f.kubelet, false);
	fake_pods_hold(&f.kubelet, NULL, 0);
	f.lists = 0;
	f.kubelet.questions = 0;
	fake_pods_start(&f.kubelet);
	until(&f, has_a_list);
	assert_int_equal(pod_resources_list(f.pods)->n, 3);
	assert_holder(&f, "1", "a", true);
	assert_holder(&f, "2", "b", true);
	fake_pods_hold(&f.kubelet, after, 1);
	until(&f, c_has_device_2); /* the client queries again without a refresh */
	assert_holder(&f, "1", "a", true);
	fake_pods_hold(&f.kubelet, after, 2);
	f.lists = 0;
	until(&f, has_a_list);
	assert_holder(&f, "1", "a", false);
	assert_holder(&f, "2", "c", false);
	assert_holder(&f, "3", "b", true);
	assert_int_equal(f.unanswered, 0);
	stop(&f);
}

static bool lists_a_device(void *arg)
{
	const struct fixture *f = arg;

	return pod_resources_list(f->pods)->n > 0;
}

/* A new kubelet's list may also lack pods whose devices were never in a list: those of another
 * plugin, allocated while no kubelet answered. */
static void test_a_new_kubelet_is_asked_again(void **state)
{
	static const struct fake_held late[] = {{"default", "a", "x/y", "1"}};
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_pods_hold(&f.kubelet, NULL, 0);
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_api_list);
	fake_pods_stop(&f.kubelet, false);
	f.lists = 0;
	fake_pods_start(&f.kubelet);
	until(&f, has_a_list);
	assert_int_equal(pod_resources_list(f.pods)->n, 0);
	fake_pods_hold(&f.kubelet, late, 1);
	until(&f, lists_a_device); /* without a refresh */
	assert_holder(&f, "1", "a", false);
	stop(&f);
}

static void test_without_a_socket_the_checkpoint(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	write_checkpoint(&f);
	open_client(&f);
	until(&f, has_checkpoint);
	assert_true(f.n > 0);
	fake_pods_start(&f.kubelet); /* no refresh is needed */
	until(&f, has_api_list);
	assert_int_equal(f.n, 5);
	stop(&f);
}

static void test_without_socket_and_checkpoint(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	open_client(&f);
	until(&f, has_failed);
	assert_int_equal(pod_resources_list(f.pods)->source, POD_SOURCE_NONE);
	assert_int_equal(f.lists, 0);
	fake_pods_start(&f.kubelet);
	until(&f, has_api_list);
	stop(&f);
}

/* The socket file exists without a listener: the known list is kept, and retries are rare. */
static void test_a_dead_socket(void **state)
{
	struct fixture f;
	uint64_t failed;

	(void)state;
	prepare(&f);
	write_checkpoint(&f);
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_api_list);
	fake_pods_stop(&f.kubelet, true);
	pod_resources_refresh(f.pods);
	until(&f, has_failed);
	loop_wakeups(&f.loop, 500);
	failed = failures(&f);
	assert_true(failed <= 5);
	assert_int_equal(pod_resources_list(f.pods)->source, POD_SOURCE_API);
	assert_int_equal(pod_resources_list(f.pods)->n, 5);
	f.lists = 0;
	fake_pods_start(&f.kubelet);
	f.source = POD_SOURCE_NONE;
	until(&f, has_api_list);
	stop(&f);
}

/* With no list yet, the checkpoint is used. */
static void test_a_dead_socket_from_the_start(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	write_checkpoint(&f);
	fake_pods_stop(&f.kubelet, true);
	open_client(&f);
	until(&f, has_checkpoint);
	loop_wakeups(&f.loop, 700);
	assert_true(f.lists <= 4); /* and the checkpoint is not read again all the time */
	fake_pods_start(&f.kubelet);
	until(&f, has_api_list);
	stop(&f);
}

static void test_an_old_kubelet(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	write_checkpoint(&f);
	f.kubelet.refusals = 1000;
	f.kubelet.refuse_with = GRPC_UNIMPLEMENTED;
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_checkpoint);
	stop(&f);
}

/* A new kubelet is queried at once, even if the old one has not answered. */
static void test_a_kubelet_that_hangs(void **state)
{
	struct uds_server *hung;
	struct fixture f;

	(void)state;
	prepare(&f);
	f.kubelet.silent = true;
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_asked);
	hung = f.kubelet.server;
	f.kubelet.silent = false;
	fake_pods_start(&f.kubelet);
	until(&f, has_api_list);
	uds_server_close(hung);
	stop(&f);

	prepare(&f);
	f.kubelet.silent = true;
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_asked);
	stop(&f); /* with a request pending */
	pod_resources_close(NULL);
}

static bool answers(void *arg)
{
	return pod_resources_answers(((struct fixture *)arg)->pods);
}

static bool does_not_answer(void *arg)
{
	return !answers(arg);
}

/* No answer can be expected while a request hangs or after one has failed. */
static void test_expected_answers(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_pods_start(&f.kubelet);
	open_client(&f);
	until(&f, has_api_list);
	assert_true(answers(&f));
	f.kubelet.silent = true;
	pod_resources_refresh(f.pods);
	until(&f, does_not_answer);
	assert_non_null(f.kubelet.open); /* long before its deadline */
	fake_pods_answer(&f.kubelet);
	until(&f, answers);
	f.kubelet.silent = false;
	f.kubelet.refusals = 1;
	pod_resources_refresh(f.pods);
	until(&f, does_not_answer);
	until(&f, answers);
	stop(&f);
}

TEST_GROUP(pod_resources)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_list),
		cmocka_unit_test(test_refreshes_are_coalesced_and_spaced),
		cmocka_unit_test(test_refused_requests_are_repeated),
		cmocka_unit_test(test_an_invalid_answer),
		cmocka_unit_test(test_allocations_survive_a_kubelet_that_learns_its_pods),
		cmocka_unit_test(test_a_new_kubelets_entries_count_at_once),
		cmocka_unit_test(test_a_new_kubelet_is_asked_again),
		cmocka_unit_test(test_without_a_socket_the_checkpoint),
		cmocka_unit_test(test_without_socket_and_checkpoint),
		cmocka_unit_test(test_a_dead_socket),
		cmocka_unit_test(test_a_dead_socket_from_the_start),
		cmocka_unit_test(test_an_old_kubelet),
		cmocka_unit_test(test_a_kubelet_that_hangs),
		cmocka_unit_test(test_expected_answers),
	};

	return test_group_run(tests, NULL, NULL);
}
