// SPDX-License-Identifier: Apache-2.0
#include "resources_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "deviceplugin.pb-c.h"
#include "loop_helpers.h"
#include "pool_fixture.h"
#include "tmptree.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static void on_changed(void *arg)
{
	((struct resources_bench *)arg)->changes++;
}

static void on_held(bool changed, uint64_t answered_ms, void *arg)
{
	struct resources_bench *b = arg;

	if (b->resources)
		resources_held(b->resources, changed, answered_ms);
}

static void on_sandboxes(void *arg)
{
	(void)arg;
}

static void on_event(const struct event *event, void *arg)
{
	struct resources_bench *b = arg;

	b->n_events++;
	b->event = *event;
}

static void on_swept(void *arg)
{
	((struct resources_bench *)arg)->sweeps++;
}

static char *on_status(const char *function, size_t *ret_len, void *arg)
{
	const struct resources_bench *b = arg;

	(void)function;
	*ret_len = b->status_text ? strlen(b->status_text) : 0;
	return b->status_text ? strdup(b->status_text) : NULL;
}

const char *bench_path(const struct resources_bench *b, const char *name)
{
	static char paths[2][PATH_MAX];
	static unsigned i;

	i ^= 1;
	assert_true(snprintf(paths[i], PATH_MAX, "%s/%s", b->dir, name) < PATH_MAX);
	return paths[i];
}

bool bench_has(const struct resources_bench *b, const char *name)
{
	return access(bench_path(b, name), F_OK) == 0;
}

static void make_dev(struct resources_bench *b)
{
	char name[64];

	tmptree_write(b->dir, "dev/infiniband/rdma_cm", "%s", "");
	for (int i = 0; i <= 5; i++) {
		snprintf(name, sizeof(name), "dev/infiniband/uverbs%d", i);
		tmptree_write(b->dir, name, "%s", "");
		snprintf(name, sizeof(name), "dev/infiniband/umad%d", i);
		tmptree_write(b->dir, name, "%s", "");
	}
}

static void make_host(struct resources_bench *b)
{
	struct pool_fixture *node;
	struct netdev *pf;

	pool_fixture_setup((void **)&node);
	b->inventory = (struct inventory){.host = node->host, .generation = 1};
	node->host = (struct host){0};
	pool_fixture_teardown((void **)&node);
	pf = find_netdev(&b->inventory.host, "eth0");
	pf->flags = IFF_UP;
	pf->carrier = CARRIER_ON;
	host_sort(&b->inventory.host);
}

void bench_init(struct resources_bench *b)
{
	struct err e = {0};

	*b = (struct resources_bench){.dir = tmptree_new()};
	assert_int_equal(uv_loop_init(&b->loop), 0);
	tmptree_write(b->dir, "device-plugins/keep", "%s", "");
	tmptree_write(b->dir, "pods/keep", "%s", "");
	make_dev(b);
	make_host(b);
	snprintf(b->cdi_dir, sizeof(b->cdi_dir), "%s/cdi", b->dir);
	snprintf(b->info_dir, sizeof(b->info_dir), "%s/info", b->dir);
	b->opts = (struct resources_opts){
		.kubelet = {.dir = b->dir, .registration = REGISTRATION_LEGACY},
		.devinfo_dir = b->info_dir,
		.cdi_dir = b->cdi_dir,
	};
	assert_int_equal(hw_open(&b->hw, b->dir, bench_path(b, "dev"), b->dir, &e), 0);
	fake_kubelet_init(&b->kubelet, &b->loop, b->dir);
	fake_pods_init(&b->pods, &b->loop, b->dir);
}

int bench_try_open(struct resources_bench *b, struct err *e)
{
	const struct holders_opts holders_opts = {
		.kubelet_dir = b->dir, .cri_socket = "", .polls = b->opts.dry_run};
	const struct holders_hooks holders_hooks = {
		.held = on_held, .sandboxes = on_sandboxes, .arg = b};
	const struct resources_hooks hooks = {.changed = on_changed,
					      .event = on_event,
					      .sockets_swept = on_swept,
					      .status = on_status,
					      .arg = b};
	int r = holders_open(&b->holders, &b->loop, &holders_opts, &holders_hooks, e);

	if (r < 0)
		return r;
	b->opts.holders = b->holders;
	return resources_open(&b->resources, &b->loop, &b->hw, &b->inventory, &b->opts, &hooks, e);
}

void bench_open(struct resources_bench *b)
{
	struct err e = {0};

	if (bench_try_open(b, &e) < 0)
		fail_msg("%s", e.msg);
}

static void no_warning(const char *sentence, void *arg)
{
	(void)arg;
	fail_msg("%s", sentence);
}

void bench_configure(struct resources_bench *b, const char *config)
{
	struct pool_config pools = {0};
	struct err e = {0};

	if (pool_config_parse(&pools, config, strlen(config), "c.json", no_warning, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(resources_configure(b->resources, &pools), 0);
	assert_int_equal(pools.n_pools, 0);
}

static bool has_list(struct resources_bench *b)
{
	return b->kubelet.lists > 0;
}

void bench_start(struct resources_bench *b, const char *config)
{
	if (!b->pods.server)
		fake_pods_start(&b->pods);
	if (!b->kubelet.server)
		fake_kubelet_start(&b->kubelet);
	bench_open(b);
	bench_configure(b, config);
	resources_inputs_changed(b->resources);
	bench_until(b, has_list);
	bench_settle(b);
}

void bench_close(struct resources_bench *b)
{
	resources_close(b->resources);
	b->resources = NULL;
	holders_close(b->holders);
	b->holders = NULL;
}

void bench_stop(struct resources_bench *b)
{
	bench_close(b);
	fake_kubelet_stop(&b->kubelet, false);
	fake_pods_done(&b->pods);
	assert_int_equal(loop_end(&b->loop), 0);
	host_done(&b->inventory.host);
	hw_close(&b->hw);
	tmptree_free(b->dir);
}

static bool is_met(void *arg)
{
	struct resources_bench *b = arg;

	return b->until(b);
}

void bench_until(struct resources_bench *b, bool (*until)(struct resources_bench *))
{
	b->until = until;
	assert_true(loop_until(&b->loop, is_met, b, PATIENCE_MS));
}

/* Waits longer than changes are collected, then for running workers, which may be late on a busy
 * machine; but not forever, because a test may make a worker hang. */
void bench_settle(struct resources_bench *b)
{
	loop_wakeups(&b->loop, 150);
	for (int i = 0; b->loop.active_reqs.count > 0 && i < 20; i++)
		loop_wakeups(&b->loop, 20);
}

/* --- requests -------------------------------------------------------------------------------- */

void bench_ask(struct resources_bench *b, struct fake_answer *a, const char *const *ids)
{
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest q = V1BETA1__ALLOCATE_REQUEST__INIT;
	uint8_t bytes[1024];

	while (ids[container.n_devices_ids])
		container.n_devices_ids++;
	container.devices_ids = (char **)(uintptr_t)ids;
	q.container_requests = containers;
	q.n_container_requests = 1;
	assert_true(v1beta1__allocate_request__get_packed_size(&q) <= sizeof(bytes));
	fake_call_start(&b->kubelet, "/v1beta1.DevicePlugin/Allocate", bytes,
			v1beta1__allocate_request__pack(&q, bytes), a);
}

void bench_allocate(struct resources_bench *b, struct fake_answer *a, const char *id)
{
	const char *const ids[] = {id, NULL};

	bench_ask(b, a, ids);
	fake_call_await(&b->kubelet, a);
}

void bench_pre_start(struct resources_bench *b, struct fake_answer *a, const char *id)
{
	V1beta1__PreStartContainerRequest q = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	char *ids[] = {TEXT(id)};
	uint8_t bytes[256];

	q.devices_ids = ids;
	q.n_devices_ids = 1;
	fake_call(&b->kubelet, "/v1beta1.DevicePlugin/PreStartContainer", bytes,
		  v1beta1__pre_start_container_request__pack(&q, bytes), a);
}

/* --- the table ------------------------------------------------------------------------------- */

const struct resource_info *bench_resource(const struct resources_bench *b, const char *name)
{
	const struct resource_table *t = resources_table(b->resources);

	for (size_t i = 0; i < t->n_resources; i++)
		if (strcmp(t->resources[i].name, name) == 0)
			return &t->resources[i];
	fail_msg("no resource %s", name);
	return NULL;
}

const struct resource_device *bench_device(const struct resources_bench *b, const char *resource,
					   const char *id)
{
	const struct resource_table *t = resources_table(b->resources);
	const struct resource_info *info = bench_resource(b, resource);

	for (size_t i = 0; i < info->n_devices; i++)
		if (strcmp(t->devices[info->first_device + i].id, id) == 0)
			return &t->devices[info->first_device + i];
	fail_msg("no device %s of %s", id, resource);
	return NULL;
}
