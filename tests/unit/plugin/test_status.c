// SPDX-License-Identifier: Apache-2.0
/* The pods' status file from Allocate to the device's return, with a kubelet and PodResources in
 * one loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "deviceplugin.pb-c.h"
#include "loop_helpers.h"
#include "resources_bench.h"
#include "test_group.h"
#include "tmptree.h"

#define POOL_STATUS                                                                                \
	"{\"resourceName\": \"roce\", \"podStatus\": true,"                                        \
	" \"selectors\": {\"drivers\": [\"mlx5_core\"], \"isRdma\": true}}"
#define CONFIG_STATUS "{\"pools\": [" POOL_STATUS "]}"
#define FOLDER	      "pod-status/0000-03-00.1"
#define FILE_NAME     FOLDER "/status.json"

static const struct fake_held held = {"train", "job-1", ROCE, VF(1)};

static bool has_file(struct resources_bench *b)
{
	return bench_has(b, FILE_NAME);
}

static bool has_no_folder(struct resources_bench *b)
{
	return !bench_has(b, FOLDER);
}

static bool nothing_is_aside(struct resources_bench *b)
{
	return !bench_has(b, "pod-status/.aside-0");
}

static void start(struct resources_bench *b, const char *config)
{
	bench_init(b);
	b->opts.run_dir = b->dir;
	b->status_text = "{}";
	bench_start(b, config);
}

static size_t mounts_of(struct resources_bench *b, const char *id)
{
	V1beta1__AllocateResponse *r;
	struct fake_answer a;
	size_t n;

	bench_allocate(b, &a, id);
	assert_int_equal(a.status, GRPC_OK);
	r = v1beta1__allocate_response__unpack(NULL, a.len, a.message);
	assert_non_null(r);
	n = r->container_responses[0]->n_mounts;
	v1beta1__allocate_response__free_unpacked(r, NULL);
	free(a.message);
	return n;
}

static void sample(struct resources_bench *b)
{
	resources_sampled(b->resources, uv_now(&b->loop) + 1);
}

static bool is_held(struct resources_bench *b)
{
	return bench_device(b, ROCE, VF(1))->state == RESERVATION_HELD;
}

static void test_from_allocate_to_return(void **state)
{
	struct resources_bench b;

	(void)state;
	start(&b, CONFIG_STATUS);
	assert_false(bench_has(&b, "pod-status"));
	assert_int_equal(mounts_of(&b, VF(1)), 1);
	assert_true(bench_has(&b, FOLDER));
	/* Older samples describe the previous pod's use, and so do rates calculated from them. */
	resources_sampled(b.resources, 1);
	bench_settle(&b);
	assert_false(has_file(&b));
	loop_wakeups(&b.loop, 1000); /* a longer time than between two writes */
	sample(&b);
	bench_settle(&b);
	assert_false(has_file(&b));
	fake_pods_hold(&b.pods, &held, 1);
	bench_until(&b, is_held);
	loop_wakeups(&b.loop, 1000);
	sample(&b);
	bench_until(&b, has_file);
	fake_pods_hold(&b.pods, NULL, 0);
	holders_request(b.holders);
	bench_until(&b, has_no_folder);
	bench_stop(&b);
}

/* For devices held since before the start, missing folders are created; other folders are
 * removed. */
static void test_folders_at_the_start(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	b.opts.run_dir = b.dir;
	b.status_text = "{}";
	tmptree_write(b.dir, "pod-status/0000-03-00.2/status.json", "{}");
	tmptree_write(b.dir, "pod-status/.aside-0/status.json", "{}");
	fake_pods_hold(&b.pods, &held, 1);
	bench_start(&b, CONFIG_STATUS);
	assert_true(bench_has(&b, FOLDER));
	assert_false(bench_has(&b, "pod-status/0000-03-00.2"));
	bench_until(&b, nothing_is_aside);
	sample(&b);
	/* Closed during a write. */
	bench_stop(&b);
}

static void test_pools_without_pod_status(void **state)
{
	struct resources_bench b;

	(void)state;
	start(&b, CONFIG_ROCE);
	assert_int_equal(mounts_of(&b, VF(1)), 0);
	sample(&b);
	bench_settle(&b);
	assert_false(bench_has(&b, "pod-status"));
	bench_stop(&b);
}

static void test_without_a_run_folder(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_STATUS);
	assert_int_equal(mounts_of(&b, VF(1)), 0);
	sample(&b);
	bench_settle(&b);
	bench_stop(&b);
}

static void test_a_dry_run(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	b.opts.run_dir = b.dir;
	b.opts.dry_run = true;
	tmptree_write(b.dir, "pod-status/0000-03-00.2/status.json", "{}");
	fake_pods_hold(&b.pods, &held, 1);
	fake_pods_start(&b.pods);
	bench_open(&b);
	bench_configure(&b, CONFIG_STATUS);
	resources_inputs_changed(b.resources);
	bench_settle(&b);
	sample(&b);
	bench_settle(&b);
	assert_false(bench_has(&b, FOLDER));
	assert_true(bench_has(&b, "pod-status/0000-03-00.2/status.json"));
	bench_stop(&b);
}

TEST_GROUP(status)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_allocate_to_return),
		cmocka_unit_test(test_folders_at_the_start),
		cmocka_unit_test(test_pools_without_pod_status),
		cmocka_unit_test(test_without_a_run_folder),
		cmocka_unit_test(test_a_dry_run),
	};

	return test_group_run(tests, NULL, NULL);
}
