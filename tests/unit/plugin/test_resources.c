// SPDX-License-Identifier: Apache-2.0
/* From a hand-made inventory to the kubelet's list and the table of resources. */
#include "resources.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "faults.h"
#include "health.h"
#include "log.h"
#include "loop_helpers.h"
#include "resources_bench.h"
#include "test_group.h"
#include "tmptree.h"
#include "uds.h"

#define CDI_FILE "cdi/rocelet-rocelet.dev_roce.json"
#define POOL_CDI                                                                                   \
	"{\"resourceName\": \"roce\", \"selectors\": {\"drivers\": [\"mlx5_core\"], \"isRdma\": true}, \"cdi\": true}"
#define POOL_HCA                                                                                   \
	"{\"resourceName\": \"hca\", \"kind\": \"shared\", \"slots\": 3,"                          \
	" \"selectors\": {\"rdmaNames\": [\"mlx5_5\"]}}"

static const char *file_text(const struct resources_bench *b, const char *name)
{
	static char text[8192];
	FILE *f = fopen(bench_path(b, name), "re");
	size_t n;

	if (!f)
		return "";
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static unsigned n_files(const struct resources_bench *b, const char *folder)
{
	AUTO_DIR dir = opendir(bench_path(b, folder));
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	return n;
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool all_healthy(struct resources_bench *b)
{
	return b->kubelet.n_devices == 4 && b->kubelet.n_healthy == 4;
}

static bool three_healthy(struct resources_bench *b)
{
	return b->kubelet.n_devices == 4 && b->kubelet.n_healthy == 3;
}

static void test_the_first_list(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	assert_true(all_healthy(&b));
	assert_string_equal(b.kubelet.resource, ROCE);
	assert_string_equal(b.kubelet.first_id, VF(1));
	assert_int_equal(b.kubelet.first_numa, 0);
	assert_true(b.kubelet.pre_start && b.kubelet.preferred);
	assert_int_equal(b.kubelet.lists, 1);
	bench_stop(&b);
}

static void test_health_flips(void **state)
{
	struct resources_bench b;
	struct function *vf;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	vf = find_function(&b.inventory.host, VF(2));
	for (int i = 0; i < 5; i++) {
		vf->vf_link = VF_LINK_DISABLE;
		resources_inputs_changed(b.resources);
		bench_until(&b, three_healthy);
		vf->vf_link = VF_LINK_AUTO;
		resources_inputs_changed(b.resources);
		bench_until(&b, all_healthy);
	}
	bench_settle(&b);
	assert_int_equal(b.kubelet.lists, 11);
	assert_int_equal(bench_resource(&b, ROCE)->lists, 11);
	bench_stop(&b);
}

/* When a reason's hold time has passed, health is judged again. */
static void test_damped_health(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(
		&b,
		"{\"pools\": [{\"resourceName\": \"roce\", \"selectors\": {\"drivers\": "
		"[\"mlx5_core\"]}, \"hold\": {\"linkDown\": {\"downMs\": 200, \"upMs\": 100}}}]}");
	find_function(&b.inventory.host, VF(1))->vf_link = VF_LINK_DISABLE;
	resources_inputs_changed(b.resources);
	bench_settle(&b);
	assert_true(all_healthy(&b));
	bench_until(&b, three_healthy);
	assert_int_equal(bench_device(&b, ROCE, VF(2))->reasons, 0);
	find_function(&b.inventory.host, VF(1))->vf_link = VF_LINK_AUTO;
	resources_inputs_changed(b.resources);
	bench_until(&b, all_healthy);
	bench_stop(&b);
}

/* Several changes at once cause one list. */
static void test_a_burst(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	for (int i = 0; i < 100; i++) {
		find_function(&b.inventory.host, VF(3))->vf_link = i % 2 ? VF_LINK_DISABLE
									 : VF_LINK_AUTO;
		resources_inputs_changed(b.resources);
	}
	bench_until(&b, three_healthy);
	bench_settle(&b);
	assert_int_equal(b.kubelet.lists, 2);
	bench_stop(&b);
}

/* If nothing differs, neither the kubelet nor other modules are notified. */
static void test_equal_inputs_notify_nothing(void **state)
{
	struct resources_bench b;
	uint64_t generation;
	unsigned changes;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	bench_settle(&b);
	changes = b.changes;
	generation = resources_table(b.resources)->generation;
	resources_inputs_changed(b.resources);
	bench_configure(&b, CONFIG_ROCE);
	bench_settle(&b);
	assert_int_equal(b.kubelet.lists, 1);
	assert_int_equal(b.changes, changes);
	assert_int_equal(resources_table(b.resources)->generation, generation);
	bench_stop(&b);
}

/* The plugin registers only when inventory and allocations are known. */
static void test_the_order_of_the_start(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	fake_kubelet_start(&b.kubelet);
	fake_pods_start(&b.pods);
	b.pods.silent = true;
	bench_open(&b);
	bench_configure(&b, CONFIG_ROCE);
	bench_settle(&b);
	assert_int_equal(b.kubelet.registers, 0);
	resources_inputs_changed(b.resources);
	bench_settle(&b);
	assert_int_equal(b.kubelet.registers, 0);
	assert_int_equal(resources_table(b.resources)->generation, 0);
	bench_until(&b, all_healthy); /* after two seconds it starts without allocations */
	bench_stop(&b);
}

static void test_restarts_of_the_kubelet(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	for (int i = 0; i < 3; i++) {
		fake_kubelet_stop(&b.kubelet, true);
		b.kubelet.n_devices = 0;
		fake_kubelet_start(&b.kubelet);
		bench_until(&b, all_healthy);
	}
	assert_true(b.sweeps > 0);
	bench_settle(&b);
	assert_int_equal(bench_resource(&b, ROCE)->registration, REGISTRATION_DONE);
	assert_int_equal(bench_resource(&b, ROCE)->registrations, 4);
	bench_stop(&b);
}

/* --- configurations --------------------------------------------------------------------------- */

static bool is_roce_withdrawn(struct resources_bench *b)
{
	return !bench_has(b, "device-plugins/rocelet.dev_roce.sock");
}

static bool has_hca(struct resources_bench *b)
{
	return strcmp(b->kubelet.resource, "rocelet.dev/hca") == 0 && b->kubelet.watching &&
	       b->kubelet.n_devices == 3;
}

static void test_resources_are_added_and_withdrawn(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	bench_configure(&b, "{\"pools\": [" POOL_HCA "]}");
	bench_until(&b, has_hca);
	bench_until(&b, is_roce_withdrawn);
	assert_string_equal(b.kubelet.first_id, "mlx5_5-0");
	bench_settle(&b);
	assert_int_equal(resources_table(b.resources)->n_resources, 1);
	/* The first resource is configured again while it is still being withdrawn. */
	bench_configure(&b, CONFIG_ROCE);
	bench_until(&b, all_healthy);
	bench_configure(&b, "{}");
	bench_settle(&b);
	b.kubelet.n_devices = 0;
	bench_configure(&b, CONFIG_ROCE);
	bench_until(&b, all_healthy);
	assert_true(bench_has(&b, "device-plugins/rocelet.dev_roce.sock"));
	loop_wakeups(&b.loop, 1500); /* the old server is closed */
	assert_true(bench_has(&b, "device-plugins/rocelet.dev_roce.sock"));
	assert_true(b.kubelet.watching);
	assert_int_equal(resources_table(b.resources)->n_resources, 1);
	bench_stop(&b);
}

/* A held device stays in its pool, whatever the new configuration selects. */
static void test_a_configuration_that_drops_a_held_device(void **state)
{
	const struct fake_held held = {"train", "job-1", ROCE, VF(1)};
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	fake_pods_hold(&b.pods, &held, 1);
	bench_start(&b, CONFIG_ROCE);
	bench_configure(&b, "{\"pools\": [{\"resourceName\": \"roce\", \"selectors\": "
			    "{\"pciAddresses\": [\"" VF(2) "\"]}}]}");
	bench_settle(&b);
	assert_int_equal(b.kubelet.n_devices, 2);
	assert_int_equal(bench_device(&b, ROCE, VF(1))->state, RESERVATION_HELD);
	bench_device(&b, ROCE, VF(2));
	/* Its function is removed. */
	snprintf(find_function(&b.inventory.host, VF(1))->id, DEV_ID_SIZE, "0000:99:00.0");
	host_sort(&b.inventory.host);
	resources_inputs_changed(b.resources);
	bench_settle(&b);
	assert_int_equal(b.kubelet.n_devices, 2);
	assert_int_equal(b.kubelet.n_healthy, 1);
	assert_int_equal(bench_device(&b, ROCE, VF(1))->reasons, HEALTH_BIT(HEALTH_GONE));
	bench_stop(&b);
}

/* --- files ------------------------------------------------------------------------------------ */

static bool has_no_cdi(struct resources_bench *b)
{
	return !bench_has(b, CDI_FILE);
}

#define OLD_SPECIFICATION "cdi/rocelet-old.example_x.json"

static bool old_is_removed(struct resources_bench *b)
{
	return !bench_has(b, OLD_SPECIFICATION);
}

static bool cdi_names_the_fourth(struct resources_bench *b)
{
	return bench_has(b, CDI_FILE) && strstr(file_text(b, CDI_FILE), VF(4));
}

static bool cdi_names_three(struct resources_bench *b)
{
	return bench_has(b, CDI_FILE) && !strstr(file_text(b, CDI_FILE), VF(4));
}

static void test_cdi_specifications(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	tmptree_write(b.dir, OLD_SPECIFICATION, "{}");
	tmptree_write(b.dir, "cdi/theirs.json", "{}");
	bench_start(&b, "{\"pools\": [" POOL_CDI "]}");
	bench_until(&b, cdi_names_the_fourth);
	bench_until(&b, old_is_removed);
	assert_true(bench_has(&b, "cdi/theirs.json"));
	/* The specification follows the host, and is restored before an Allocate returns if it was
	 * deleted. */
	find_rdma(&b.inventory.host, "mlx5_4")->uverbs[0] = '\0';
	resources_inputs_changed(b.resources);
	bench_until(&b, cdi_names_three);
	assert_int_equal(unlink(bench_path(&b, CDI_FILE)), 0);
	bench_allocate(&b, &a, VF(1));
	assert_int_equal(a.status, GRPC_OK);
	free(a.message);
	assert_non_null(strstr(file_text(&b, CDI_FILE), VF(1)));
	bench_configure(&b, CONFIG_ROCE);
	bench_until(&b, has_no_cdi);
	assert_true(bench_has(&b, "cdi/theirs.json"));
	bench_stop(&b);
}

/* A change of health alone must not scan folders of a thousand files. */
static void test_files_are_swept_when_ids_are_removed(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(&b, "{\"pools\": [" POOL_CDI "]}");
	tmptree_write(b.dir, OLD_SPECIFICATION, "{}");
	find_rdma(&b.inventory.host, "mlx5_4")->uverbs[0] = '\0';
	resources_inputs_changed(b.resources);
	bench_settle(&b);
	assert_true(bench_has(&b, OLD_SPECIFICATION));
	find_function(&b.inventory.host, VF(4))->driver[0] = '\0';
	resources_inputs_changed(b.resources);
	bench_until(&b, old_is_removed);
	bench_stop(&b);
}

/* A grant with a CDI name but without its specification would make the container fail with a
 * misleading error. */
static void test_no_specification_no_grant(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	tmptree_write(b.dir, "cdi", "a file where the folder should be");
	bench_start(&b, "{\"pools\": [" POOL_CDI "]}");
	bench_allocate(&b, &a, VF(1));
	assert_int_not_equal(a.status, GRPC_OK);
	assert_non_null(strstr(a.text, b.cdi_dir));
	bench_settle(&b);
	assert_int_equal(bench_device(&b, ROCE, VF(1))->state, RESERVATION_FREE);
	bench_stop(&b);
}

#define INFO(n) "info/rocelet.dev-roce-0000:03:00." #n "-device.json"

static void test_device_information(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	tmptree_write(b.dir, INFO(9), "{}");
	tmptree_write(b.dir, "info/theirs-device.json", "{}");
	/* An error in one folder does not prevent changes in the other. */
	tmptree_write(b.dir, "cdi", "a file where the folder should be");
	bench_start(&b, CONFIG_ROCE);
	assert_false(bench_has(&b, INFO(9)));
	bench_allocate(&b, &a, VF(1));
	assert_int_equal(a.status, GRPC_OK);
	free(a.message);
	assert_non_null(strstr(file_text(&b, INFO(1)), "mlx5_1"));
	assert_false(bench_has(&b, INFO(2)));
	resources_inputs_changed(b.resources);
	bench_settle(&b);
	assert_true(bench_has(&b, INFO(1)));
	assert_true(bench_has(&b, "info/theirs-device.json"));
	bench_stop(&b);
}

static bool has_a_table(struct resources_bench *b)
{
	return resources_table(b->resources)->n_resources > 0;
}

static bool is_held(struct resources_bench *b)
{
	return bench_device(b, ROCE, VF(1))->state == RESERVATION_HELD;
}

static void test_a_dry_run(void **state)
{
	const struct fake_held held = {"train", "job-1", ROCE, VF(1)};
	struct resources_bench b;
	unsigned cdi, info;

	(void)state;
	bench_init(&b);
	b.opts.dry_run = true;
	tmptree_write(b.dir, "cdi/rocelet-old.example_x.json", "{}");
	tmptree_write(b.dir, INFO(9), "{}");
	cdi = n_files(&b, "cdi");
	info = n_files(&b, "info");
	fake_kubelet_start(&b.kubelet);
	fake_pods_start(&b.pods);
	bench_open(&b);
	bench_configure(&b, "{\"pools\": [" POOL_CDI "]}");
	resources_inputs_changed(b.resources);
	bench_until(&b, has_a_table);
	bench_settle(&b);
	assert_int_equal(b.kubelet.registers, 0);
	assert_true(is_roce_withdrawn(&b));
	assert_int_equal(n_files(&b, "cdi"), cdi);
	assert_int_equal(n_files(&b, "info"), info);
	assert_int_equal(bench_resource(&b, ROCE)->n_devices, 4);
	assert_int_equal(bench_resource(&b, ROCE)->registration, REGISTRATION_WAITING);
	/* Allocations of another plugin are still read. */
	fake_pods_hold(&b.pods, &held, 1);
	tmptree_write(b.dir, "pods/uid", "%s", "");
	bench_until(&b, is_held);
	bench_stop(&b);
}

/* --- faults ----------------------------------------------------------------------------------- */

/* Runs the loop until a decision was made. */
static void run_decision(struct resources_bench *b)
{
	loop_wakeups(&b->loop, 15);
}

static int configure(struct resources_bench *b, const char *config)
{
	struct pool_config pools = {0};
	struct err e = {0};
	int r = pool_config_parse(&pools, config, strlen(config), "c.json", NULL, NULL, &e);

	if (r == 0)
		r = resources_configure(b->resources, &pools);
	pool_config_done(&pools);
	return r;
}

#define BOTH "{\"pools\": [" POOL_CDI ", " POOL_HCA "]}"

static bool is_hca_served(struct resources_bench *b)
{
	return bench_has(b, "device-plugins/rocelet.dev_hca.sock");
}

static bool is_specified(struct resources_bench *b)
{
	return strstr(file_text(b, CDI_FILE), VF(4)) != NULL;
}

/* A start and a new configuration without a kubelet, because the fake cannot handle faults. One
 * allocation fails: the daemon continues and reaches the right state without a restart. */
static bool starts_in_spite_of(long nth)
{
	struct resources_bench b;
	struct err e = {0};
	bool hit;

	bench_init(&b);
	fake_pods_start(&b.pods);
	faults_alloc(nth);
	if (bench_try_open(&b, &e) == 0) {
		configure(&b, CONFIG_ROCE);
		resources_inputs_changed(b.resources);
		run_decision(&b);
		configure(&b, BOTH);
		run_decision(&b);
	}
	hit = faults_end();
	if (b.resources) {
		assert_int_equal(configure(&b, BOTH), 0);
		bench_until(&b, is_hca_served);
		bench_until(&b, is_specified);
	} else {
		assert_int_equal(e.code, -ENOMEM);
	}
	bench_stop(&b);
	return hit;
}

static void test_a_start_without_memory(void **state)
{
	long n = 0;

	(void)state;
	log_init(LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	while (starts_in_spite_of(n))
		n++;
	log_init(LOG_LVL_INFO, LOG_FORMAT_TEXT);
	print_message("%ld allocations failed, one by one\n", n);
	assert_true(n > 50);
}

static bool is_healthy_in_table(struct resources_bench *b)
{
	return bench_device(b, ROCE, VF(2))->reasons == 0;
}

/* No event triggers the next decision. */
static void test_a_decision_that_failed_is_repeated(void **state)
{
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	find_function(&b.inventory.host, VF(2))->vf_link = VF_LINK_DISABLE;
	resources_inputs_changed(b.resources);
	faults_alloc(0);
	bench_settle(&b);
	assert_true(faults_end());
	bench_until(&b, three_healthy);
	/* The same for the table. */
	bench_settle(&b);
	find_function(&b.inventory.host, VF(2))->vf_link = VF_LINK_AUTO;
	resources_inputs_changed(b.resources);
	bench_until(&b, all_healthy);
	faults_alloc(0);
	bench_settle(&b);
	assert_true(faults_end());
	assert_int_not_equal(bench_device(&b, ROCE, VF(2))->reasons, 0);
	bench_until(&b, is_healthy_in_table);
	bench_stop(&b);
}

/* Allocate with one failure: it is answered in any case, and the next Allocate succeeds. */
static bool answers_in_spite_of(struct resources_bench *b, struct fake_kubelet *caller, long nth,
				bool in_send)
{
	static const char *const ids[] = {VF(1), NULL};
	struct fake_answer a;
	bool hit;

	bench_ask(b, &a, ids);
	if (in_send)
		faults_send(nth, EPIPE);
	else
		faults_alloc(nth);
	fake_call_await(caller, &a);
	hit = faults_end();
	free(a.message);
	bench_allocate(b, &a, VF(1));
	if (a.status != GRPC_OK)
		fail_msg("after %ld: %s", nth, a.text);
	free(a.message);
	return hit;
}

static void test_allocate_without_memory(void **state)
{
	struct fake_kubelet watcher;
	struct resources_bench b;

	(void)state;
	bench_init(&b);
	bench_start(&b, "{\"pools\": [" POOL_CDI "]}");
	log_init(LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	/* The list uses another connection, which gets no faults. */
	watcher = b.kubelet;
	b.kubelet.plugin = NULL;
	fake_kubelet_connect(&b.kubelet, bench_path(&b, "device-plugins/rocelet.dev_roce.sock"));
	for (int in_send = 0; in_send < 2; in_send++) {
		long n = 0;

		while (answers_in_spite_of(&b, &b.kubelet, n, in_send))
			n++;
		print_message("%ld %s failed, one by one\n", n, in_send ? "sends" : "allocations");
		assert_true(n > (in_send ? 0 : 20));
	}
	log_init(LOG_LVL_INFO, LOG_FORMAT_TEXT);
	uds_client_close(watcher.plugin);
	bench_stop(&b);
}

TEST_GROUP(resources)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_list),
		cmocka_unit_test(test_health_flips),
		cmocka_unit_test(test_damped_health),
		cmocka_unit_test(test_a_burst),
		cmocka_unit_test(test_equal_inputs_notify_nothing),
		cmocka_unit_test(test_the_order_of_the_start),
		cmocka_unit_test(test_restarts_of_the_kubelet),
		cmocka_unit_test(test_resources_are_added_and_withdrawn),
		cmocka_unit_test(test_a_configuration_that_drops_a_held_device),
		cmocka_unit_test(test_cdi_specifications),
		cmocka_unit_test(test_files_are_swept_when_ids_are_removed),
		cmocka_unit_test(test_no_specification_no_grant),
		cmocka_unit_test(test_device_information),
		cmocka_unit_test(test_a_dry_run),
		cmocka_unit_test(test_a_start_without_memory),
		cmocka_unit_test(test_a_decision_that_failed_is_repeated),
		cmocka_unit_test(test_allocate_without_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
