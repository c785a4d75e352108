// SPDX-License-Identifier: Apache-2.0
/* Requests of the kubelet, answered from a hand-made inventory; allocations come from a fake
 * PodResources socket. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "deviceplugin.pb-c.h"
#include "health.h"
#include "loop_helpers.h"
#include "reservations.h"
#include "resources_bench.h"
#include "test_group.h"
#include "tmptree.h"
#include "uds.h"

#define HELD(n)                                                                                    \
	{                                                                                          \
		"train", "job-" #n, ROCE, VF(n)                                                    \
	}

static void assert_refused(const struct fake_answer *a, enum grpc_status status,
			   const char *const *words)
{
	if (a->status != status)
		fail_msg("status %s: %s", grpc_status_name(a->status), a->text);
	for (; *words; words++)
		if (!strstr(a->text, *words))
			fail_msg("\"%s\" does not name \"%s\"", a->text, *words);
	assert_null(a->message);
}

#define REFUSED(a, status, ...) assert_refused(a, status, (const char *const[]){__VA_ARGS__, NULL})

static bool has_node(const V1beta1__ContainerAllocateResponse *c, const char *path)
{
	for (size_t i = 0; i < c->n_devices; i++)
		if (strcmp(c->devices[i]->host_path, path) == 0 &&
		    strcmp(c->devices[i]->container_path, path) == 0 &&
		    strcmp(c->devices[i]->permissions, "rw") == 0)
			return true;
	return false;
}

/* Frees the message. */
static void assert_granted(struct fake_answer *a, const char *uverbs)
{
	V1beta1__AllocateResponse *r;

	if (a->status != GRPC_OK)
		fail_msg("%s", a->text);
	r = v1beta1__allocate_response__unpack(NULL, a->len, a->message);
	assert_non_null(r);
	assert_int_equal(r->n_container_responses, 1);
	assert_true(has_node(r->container_responses[0], uverbs));
	assert_true(has_node(r->container_responses[0], "/dev/infiniband/rdma_cm"));
	v1beta1__allocate_response__free_unpacked(r, NULL);
	free(a->message);
}

/* Starts with pod job-1 holding the first VF. */
static void start_held(struct resources_bench *b)
{
	const struct fake_held held = HELD(1);

	bench_init(b);
	fake_pods_hold(&b->pods, &held, 1);
	bench_start(b, CONFIG_ROCE);
	assert_int_equal(bench_device(b, ROCE, VF(1))->state, RESERVATION_HELD);
}

static bool is_open(struct resources_bench *b)
{
	return b->pods.open != NULL;
}

static void test_a_grant(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	bench_allocate(&b, &a, VF(2));
	assert_granted(&a, "/dev/infiniband/uverbs2");
	bench_settle(&b);
	assert_int_equal(bench_device(&b, ROCE, VF(2))->state, RESERVATION_RESERVED);
	assert_int_equal(bench_device(&b, ROCE, VF(1))->state, RESERVATION_FREE);
	assert_int_equal(bench_resource(&b, ROCE)->allocations, 1);
	assert_int_equal(bench_resource(&b, ROCE)->refusals, 0);
	assert_true(bench_has(&b, "info/rocelet.dev-roce-0000:03:00.2-device.json"));
	bench_stop(&b);
}

static void test_ids_that_cannot_be_allocated(void **state)
{
	static const char *const none[] = {NULL}, *const twice[] = {VF(1), VF(1), NULL};
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	bench_start(&b, "{\"pools\": [" POOL_ROCE ", {\"resourceName\": \"pf\", \"selectors\": "
			"{\"pciAddresses\": [\"0000:81:00.0\"]}}]}");
	fake_kubelet_connect(&b.kubelet, bench_path(&b, "device-plugins/rocelet.dev_roce.sock"));
	bench_allocate(&b, &a, VF(9));
	REFUSED(&a, GRPC_NOT_FOUND, VF(9), ROCE);
	bench_allocate(&b, &a, "0000:81:00.0"); /* an ID of another resource */
	REFUSED(&a, GRPC_NOT_FOUND, "0000:81:00.0", "rocelet.dev/pf");
	bench_ask(&b, &a, twice);
	fake_call_await(&b.kubelet, &a);
	REFUSED(&a, GRPC_INVALID_ARGUMENT, VF(1));
	bench_ask(&b, &a, none);
	fake_call_await(&b.kubelet, &a);
	REFUSED(&a, GRPC_INVALID_ARGUMENT, "no device");
	bench_settle(&b);
	assert_int_equal(bench_resource(&b, ROCE)->refusals, 4);
	assert_int_equal(bench_resource(&b, ROCE)->allocations, 0);
	assert_int_equal(bench_device(&b, ROCE, VF(1))->state, RESERVATION_FREE);
	bench_stop(&b);
}

static void test_an_unhealthy_device(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	find_function(&b.inventory.host, VF(2))->vf_link = VF_LINK_DISABLE;
	bench_start(&b, CONFIG_ROCE);
	assert_int_equal(b.kubelet.n_healthy, 3);
	bench_allocate(&b, &a, VF(2));
	REFUSED(&a, GRPC_NOT_FOUND, VF(2), "link_down");
	bench_stop(&b);
}

/* The node's file is removed before the inventory notices. */
static void test_a_device_whose_node_was_removed(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	assert_int_equal(unlink(bench_path(&b, "dev/infiniband/uverbs3")), 0);
	bench_allocate(&b, &a, VF(3));
	REFUSED(&a, GRPC_NOT_FOUND, VF(3), "uverbs3");
	bench_pre_start(&b, &a, VF(3));
	REFUSED(&a, GRPC_NOT_FOUND, VF(3), "uverbs3");
	bench_pre_start(&b, &a, VF(1));
	assert_int_equal(a.status, GRPC_OK);
	free(a.message);
	assert_false(bench_has(&b, "info/rocelet.dev-roce-0000:03:00.3-device.json"));
	bench_stop(&b);
}

static void test_an_id_in_use_is_refused(void **state)
{
	struct resources_bench b;
	struct fake_answer a;
	unsigned before;

	(void)state;
	start_held(&b);
	before = b.pods.questions;
	bench_allocate(&b, &a, VF(1));
	REFUSED(&a, GRPC_UNAVAILABLE, VF(1), "train/job-1", "main");
	assert_true(b.pods.questions > before); /* the kubelet was queried for this request */
	bench_settle(&b);
	assert_int_equal(bench_resource(&b, ROCE)->refusals, 1);
	bench_stop(&b);
}

/* The pod is deleted, but the table does not show it yet. */
static void test_an_id_that_was_freed_is_granted(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	start_held(&b);
	fake_pods_hold(&b.pods, NULL, 0);
	bench_allocate(&b, &a, VF(1));
	assert_granted(&a, "/dev/infiniband/uverbs1");
	bench_stop(&b);
}

/* A query that was sent before the pod's deletion cannot decide the request. */
static void test_a_list_that_is_too_old(void **state)
{
	static const char *const ids[] = {VF(1), NULL};
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	start_held(&b);
	b.pods.silent = true;
	/* A change in the folder triggers a query. */
	close(mkstemp(strdupa(bench_path(&b, "pods/XXXXXX"))));
	bench_until(&b, is_open);
	bench_ask(&b, &a, ids);
	bench_settle(&b);
	assert_false(a.ended);
	fake_pods_answer(&b.pods); /* the old list */
	fake_pods_hold(&b.pods, NULL, 0);
	b.pods.silent = false;
	fake_call_await(&b.kubelet, &a);
	assert_granted(&a, "/dev/infiniband/uverbs1");
	bench_stop(&b);
}

/* For an init container and the next containers of its pod, the kubelet allocates the same
 * device. */
static void test_the_same_id_again(void **state)
{
	const struct fake_held held = HELD(4);
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	for (int i = 0; i < 3; i++) {
		bench_allocate(&b, &a, VF(4));
		assert_granted(&a, "/dev/infiniband/uverbs4");
	}
	bench_settle(&b); /* these lists do not contain the device yet */
	bench_allocate(&b, &a, VF(4));
	assert_granted(&a, "/dev/infiniband/uverbs4");
	fake_pods_hold(&b.pods, &held, 1);
	bench_settle(&b);
	assert_int_equal(bench_resource(&b, ROCE)->allocations, 4);
	bench_stop(&b);
}

static void test_a_kubelet_that_does_not_answer(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	start_held(&b);
	b.pods.refusals = 1000;
	bench_allocate(&b, &a, VF(1));
	assert_granted(&a, "/dev/infiniband/uverbs1");
	bench_stop(&b);

	start_held(&b);
	fake_pods_stop(&b.pods, true);
	bench_allocate(&b, &a, VF(1));
	assert_granted(&a, "/dev/infiniband/uverbs1");
	bench_stop(&b);
}

/* --- PodResources fails during an Allocate to a new pod --------------------------------------- */

static void reject_queries(struct resources_bench *b)
{
	b->pods.refusals = 1000;
}

static void reject_with_unavailable(struct resources_bench *b)
{
	reject_queries(b);
	b->pods.refuse_with = GRPC_UNAVAILABLE;
}

static void reject_with_unimplemented(struct resources_bench *b)
{
	reject_queries(b);
	b->pods.refuse_with = GRPC_UNIMPLEMENTED;
}

static void answer_garbage(struct resources_bench *b)
{
	free(b->pods.answer);
	b->pods.answer = (uint8_t *)strdup("\xff\xff");
	b->pods.len = 2;
}

static void never_answer(struct resources_bench *b)
{
	b->pods.silent = true;
}

static void close_socket(struct resources_bench *b)
{
	fake_pods_stop(&b->pods, true);
}

static void remove_socket(struct resources_bench *b)
{
	fake_pods_stop(&b->pods, false);
}

static const char *pod_of(const struct resources_bench *b, const char *id)
{
	const struct pod_device *d = pod_list_find(&resources_table(b->resources)->held, ROCE, id,
						   NULL);

	assert_non_null(d);
	return d->pod;
}

static bool has_a_new_holder(struct resources_bench *b)
{
	bench_settle(b);
	return strcmp(pod_of(b, VF(1)), "job-2") == 0;
}

static void repair(struct resources_bench *b)
{
	const struct fake_held held = {"train", "job-2", ROCE, VF(1)};

	b->pods.refusals = 0;
	b->pods.silent = false;
	fake_pods_hold(&b->pods, &held, 1);
	if (b->pods.open)
		fake_pods_answer(&b->pods);
	if (!b->pods.server)
		fake_pods_start(&b->pods);
	holders_request(b->holders);
}

/* The Allocate disproves that job-1 holds the device, even without an answer of PodResources. */
static void test_a_device_loses_its_old_pod_with_the_grant(void **state)
{
	static void (*const failures[])(struct resources_bench *) = {
		reject_queries,
		reject_with_unavailable,
		reject_with_unimplemented,
		answer_garbage,
		never_answer,
		close_socket,
		remove_socket,
	};
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		start_held(&b);
		assert_string_equal(pod_of(&b, VF(1)), "job-1");
		failures[i](&b);
		bench_allocate(&b, &a, VF(1));
		assert_granted(&a, "/dev/infiniband/uverbs1");
		/* Allocate does not wait for a query that hangs. */
		assert_true(failures[i] != never_answer || b.pods.open);
		bench_settle(&b);
		assert_string_equal(pod_of(&b, VF(1)), "");
		assert_int_equal(bench_device(&b, ROCE, VF(1))->state, RESERVATION_RESERVED);
		repair(&b);
		bench_until(&b, has_a_new_holder);
		bench_stop(&b);
	}
}

static bool is_queried_again(struct resources_bench *b)
{
	return b->pods.questions > 0;
}

/* A restarted kubelet may allocate a device that its list does not contain yet. */
static void test_a_restarted_kubelet_may_allocate(void **state)
{
	const struct fake_held new[] = {{"train", "job-2", ROCE, VF(1)}};
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	start_held(&b);
	fake_pods_stop(&b.pods, false);
	fake_pods_hold(&b.pods, NULL, 0);
	b.pods.questions = 0;
	fake_pods_start(&b.pods);
	bench_until(&b, is_queried_again);
	bench_settle(&b);
	assert_int_equal(bench_device(&b, ROCE, VF(1))->state, RESERVATION_HELD);
	bench_allocate(&b, &a, VF(1));
	assert_granted(&a, "/dev/infiniband/uverbs1");
	assert_true(b.pods.questions > 1); /* the kubelet was queried for this request */
	bench_settle(&b);
	assert_string_equal(pod_of(&b, VF(1)), ""); /* job-1 no longer holds it */
	/* A device in the list is held, even in the kubelet's first list. */
	fake_pods_hold(&b.pods, new, 1);
	holders_request(b.holders);
	bench_until(&b, has_a_new_holder);
	bench_allocate(&b, &a, VF(1));
	REFUSED(&a, GRPC_UNAVAILABLE, VF(1), "train/job-2", "main");
	bench_stop(&b);
}

static void test_cancelled_allocates(void **state)
{
	static const char *const ids[] = {VF(1), NULL};
	struct fake_answer first, second;
	struct resources_bench b;

	(void)state;
	start_held(&b);
	b.pods.silent = true;
	bench_ask(&b, &first, ids);
	bench_ask(&b, &second, ids);
	bench_until(&b, is_open);
	uds_client_cancel(b.kubelet.plugin, first.id);
	fake_call_await(&b.kubelet, &first);
	assert_int_equal(first.status, GRPC_CANCELLED);
	bench_settle(&b);
	assert_false(second.ended);
	b.pods.silent = false; /* there is a second query if both were in one millisecond */
	fake_pods_answer(&b.pods);
	fake_call_await(&b.kubelet, &second);
	assert_int_equal(second.status, GRPC_UNAVAILABLE);
	/* Also when the connection is closed, and when the daemon stops. */
	b.pods.silent = true;
	bench_ask(&b, &first, ids);
	bench_until(&b, is_open);
	fake_kubelet_drop(&b.kubelet);
	assert_int_equal(first.status, GRPC_CANCELLED);
	bench_settle(&b);
	fake_kubelet_connect(&b.kubelet, bench_path(&b, "device-plugins/rocelet.dev_roce.sock"));
	bench_ask(&b, &second, ids);
	bench_settle(&b);
	bench_stop(&b);
	assert_true(second.ended);
}

static void test_a_resource_withdrawn_during_a_query(void **state)
{
	static const char *const ids[] = {VF(1), NULL};
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	start_held(&b);
	b.pods.silent = true;
	bench_ask(&b, &a, ids);
	bench_until(&b, is_open);
	bench_configure(&b, "{}");
	fake_call_await(&b.kubelet, &a);
	REFUSED(&a, GRPC_UNAVAILABLE, ROCE, "withdrawn");
	fake_pods_answer(&b.pods);
	bench_settle(&b);
	bench_stop(&b);
}

/* The resource was removed from the configuration, but is served until the next decision. */
static void test_a_resource_about_to_be_withdrawn(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	fake_kubelet_connect(&b.kubelet, bench_path(&b, "device-plugins/rocelet.dev_roce.sock"));
	bench_configure(&b, "{}");
	bench_allocate(&b, &a, VF(1));
	assert_int_not_equal(a.status, GRPC_OK);
	bench_stop(&b);
}

/* --- allocations ------------------------------------------------------------------------------ */

static bool is_free(struct resources_bench *b)
{
	return bench_device(b, ROCE, VF(2))->state == RESERVATION_FREE;
}

static bool is_held(struct resources_bench *b)
{
	return bench_device(b, ROCE, VF(2))->state == RESERVATION_HELD;
}

/* Kubelet hints were lost, or the pod was rejected for another reason: the kubelet is queried again
 * after the grace period. */
static void test_a_reservation_ends(void **state)
{
	struct resources_bench b;
	struct fake_answer a;
	uint64_t made_ms;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	made_ms = uv_now(&b.loop); /* before the Allocate, whose answer may be read late */
	bench_allocate(&b, &a, VF(2));
	assert_granted(&a, "/dev/infiniband/uverbs2");
	bench_settle(&b);
	assert_int_equal(bench_device(&b, ROCE, VF(2))->state, RESERVATION_RESERVED);
	bench_until(&b, is_free);
	assert_true(uv_now(&b.loop) - made_ms >= RESERVATION_GRACE_MS - 50);
	bench_stop(&b);
}

#define UID "5b3e1f7a"

/* The device is only in the kubelet's checkpoint, not in its list, until the pod is removed. */
static void test_an_init_containers_device(void **state)
{
	struct resources_bench b;
	struct fake_answer a;
	uint64_t made_ms;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	tmptree_write(b.dir, "pods/" UID "/etc-hosts", "%s", "");
	tmptree_write(b.dir, "device-plugins/kubelet_internal_checkpoint", "%s",
		      "{\"Data\": {\"PodDeviceEntries\": [{\"PodUID\": \"" UID
		      "\", \"ContainerName\": \"init\", \"ResourceName\": \"" ROCE
		      "\", \"DeviceIDs\": {\"-1\": [\"" VF(2) "\"]}}]}}");
	bench_allocate(&b, &a, VF(2));
	assert_granted(&a, "/dev/infiniband/uverbs2");
	made_ms = uv_now(&b.loop);
	while (uv_now(&b.loop) < made_ms + RESERVATION_GRACE_MS)
		bench_settle(&b);
	bench_settle(&b);
	assert_int_equal(bench_device(&b, ROCE, VF(2))->state, RESERVATION_RESERVED);
	assert_string_equal(holders_held(b.holders)->devices[0].uid, UID);
	/* Another container reuses the device. */
	bench_allocate(&b, &a, VF(2));
	assert_granted(&a, "/dev/infiniband/uverbs2");
	assert_int_equal(unlink(bench_path(&b, "pods/" UID "/etc-hosts")), 0);
	assert_int_equal(rmdir(bench_path(&b, "pods/" UID)), 0);
	bench_until(&b, is_free);
	bench_stop(&b);
}

static void test_states_in_the_table(void **state)
{
	const struct fake_held held = HELD(2);
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	bench_allocate(&b, &a, VF(2));
	assert_granted(&a, "/dev/infiniband/uverbs2");
	fake_pods_hold(&b.pods, &held, 1);
	/* The kubelet writes its checkpoint. */
	close(open(bench_path(&b, "device-plugins/kubelet_internal_checkpoint"),
		   O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	bench_until(&b, is_held);
	assert_string_equal(resource_table_holder(resources_table(b.resources), VF(2), "")->pod,
			    "job-2");
	fake_pods_hold(&b.pods, NULL, 0);
	close(mkstemp(strdupa(bench_path(&b, "pods/XXXXXX"))));
	bench_until(&b, is_free);
	bench_stop(&b);
}

/* --- other requests --------------------------------------------------------------------------- */

static void test_preferred(void **state)
{
	V1beta1__ContainerPreferredAllocationRequest c =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *containers[] = {&c};
	V1beta1__PreferredAllocationRequest q = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;
	char one[] = VF(1), two[] = VF(2), three[] = VF(3), unknown[] = VF(9);
	char *available[] = {unknown, three, one}, *must[] = {three};
	V1beta1__PreferredAllocationResponse *r;
	struct resources_bench b;
	struct fake_answer a;
	uint8_t bytes[512];

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	c.available_deviceids = available;
	c.n_available_deviceids = 3;
	c.must_include_deviceids = must;
	c.n_must_include_deviceids = 1;
	c.allocation_size = 2;
	q.container_requests = containers;
	q.n_container_requests = 1;
	fake_call(&b.kubelet, "/v1beta1.DevicePlugin/GetPreferredAllocation", bytes,
		  v1beta1__preferred_allocation_request__pack(&q, bytes), &a);
	assert_int_equal(a.status, GRPC_OK);
	r = v1beta1__preferred_allocation_response__unpack(NULL, a.len, a.message);
	assert_int_equal(r->container_responses[0]->n_deviceids, 2);
	assert_string_equal(r->container_responses[0]->deviceids[0], VF(3));
	assert_string_equal(r->container_responses[0]->deviceids[1], VF(1));
	v1beta1__preferred_allocation_response__free_unpacked(r, NULL);
	free(a.message);
	/* A device that may still be in a container comes last. */
	bench_allocate(&b, &a, VF(1));
	assert_granted(&a, "/dev/infiniband/uverbs1");
	available[0] = two;
	c.n_must_include_deviceids = 0;
	c.allocation_size = 2;
	fake_call(&b.kubelet, "/v1beta1.DevicePlugin/GetPreferredAllocation", bytes,
		  v1beta1__preferred_allocation_request__pack(&q, bytes), &a);
	assert_int_equal(a.status, GRPC_OK);
	r = v1beta1__preferred_allocation_response__unpack(NULL, a.len, a.message);
	assert_string_equal(r->container_responses[0]->deviceids[0], VF(2));
	assert_string_equal(r->container_responses[0]->deviceids[1], VF(3));
	v1beta1__preferred_allocation_response__free_unpacked(r, NULL);
	free(a.message);
	c.n_must_include_deviceids = 1;
	available[1] = one; /* a required ID is not available */
	fake_call(&b.kubelet, "/v1beta1.DevicePlugin/GetPreferredAllocation", bytes,
		  v1beta1__preferred_allocation_request__pack(&q, bytes), &a);
	assert_int_equal(a.status, GRPC_INVALID_ARGUMENT);
	bench_stop(&b);
}

/* PreStartContainer is called when the devices are already in the pod's namespace and cannot be
 * read; a link that is down does not keep the container from starting. */
static void test_pre_start(void **state)
{
	struct resources_bench b;
	struct fake_answer a;
	struct netdev *d;

	(void)state;
	bench_init(&b);
	bench_start(&b, CONFIG_ROCE);
	bench_allocate(&b, &a, VF(1));
	assert_granted(&a, "/dev/infiniband/uverbs1");
	d = find_netdev(&b.inventory.host, "v0");
	d->nsid = NSID_ELSEWHERE;
	find_rdma(&b.inventory.host, "mlx5_1")->nsid = NSID_ELSEWHERE;
	find_netdev(&b.inventory.host, "eth0")->carrier = CARRIER_OFF;
	resources_inputs_changed(b.resources);
	bench_settle(&b);
	bench_pre_start(&b, &a, VF(1));
	if (a.status != GRPC_OK)
		fail_msg("%s", a.text);
	free(a.message);
	find_function(&b.inventory.host, VF(1))->unreachable = true;
	resources_inputs_changed(b.resources);
	bench_settle(&b);
	bench_pre_start(&b, &a, VF(1));
	REFUSED(&a, GRPC_NOT_FOUND, VF(1), "pci");
	bench_pre_start(&b, &a, VF(9));
	REFUSED(&a, GRPC_NOT_FOUND, VF(9));
	bench_stop(&b);
}

/* A ContainerAllocateResponse with one node, as base64. */
#define GRANTED_UVERBS1                                                                            \
	"GjYKFy9kZXYvaW5maW5pYmFuZC91dmVyYnMxEhcvZGV2L2luZmluaWJhbmQvdXZlcmJzMRoCcnc="

/* VF 1 was granted with uverbs1; then its driver was bound again, and VF 1 and VF 2 have swapped
 * their numbers. */
static void start_swapped(struct resources_bench *b)
{
	const struct fake_held held = HELD(1);
	struct rdma_dev *one, *two;

	bench_init(b);
	tmptree_write(b->dir, "device-plugins/kubelet_internal_checkpoint", "%s",
		      "{\"Data\": {\"PodDeviceEntries\": [{\"PodUID\": \"" UID
		      "\", \"ContainerName\": \"main\", \"ResourceName\": \"" ROCE
		      "\", \"DeviceIDs\": {\"-1\": [\"" VF(
			      1) "\"]}, \"AllocResp\": \"" GRANTED_UVERBS1 "\"}]}}");
	fake_pods_hold(&b->pods, &held, 1);
	bench_start(b, CONFIG_ROCE);
	one = find_rdma(&b->inventory.host, "mlx5_1");
	two = find_rdma(&b->inventory.host, "mlx5_2");
	strcpy(one->uverbs, "uverbs2");
	strcpy(two->uverbs, "uverbs1");
}

static bool is_swap_judged(struct resources_bench *b)
{
	return bench_device(b, ROCE, VF(2))->reasons == HEALTH_BIT(HEALTH_NODE_HELD);
}

static bool is_all_healthy(struct resources_bench *b)
{
	return bench_device(b, ROCE, VF(1))->reasons == 0 &&
	       bench_device(b, ROCE, VF(2))->reasons == 0;
}

/* The kubelet would start the container again with uverbs1, which belongs to another device now. */
static void test_a_container_with_another_devices_node(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	start_swapped(&b);
	fake_kubelet_connect(&b.kubelet, bench_path(&b, "device-plugins/rocelet.dev_roce.sock"));
	bench_pre_start(&b, &a, VF(1));
	REFUSED(&a, GRPC_ABORTED, VF(1), "/dev/infiniband/uverbs1", "a node of " VF(2),
		"delete the pod");
	bench_pre_start(&b, &a, VF(2));
	REFUSED(&a, GRPC_UNAVAILABLE, "/dev/infiniband/uverbs1 of " VF(2), "train/job-1");
	bench_pre_start(&b, &a, VF(3));
	if (a.status != GRPC_OK)
		fail_msg("%s", a.text);
	free(a.message);
	bench_stop(&b);
}

/* Until the container has ended, neither the device that lost the number nor the one that has it is
 * healthy. */
static void test_a_number_that_a_container_may_open(void **state)
{
	struct resources_bench b;
	struct fake_answer a;

	(void)state;
	start_swapped(&b);
	resources_inputs_changed(b.resources);
	bench_until(&b, is_swap_judged);
	assert_int_equal(bench_device(&b, ROCE, VF(1))->reasons, HEALTH_BIT(HEALTH_NODE_CHANGED));
	assert_int_equal(bench_device(&b, ROCE, VF(3))->reasons, 0);
	assert_int_equal(b.n_events, 1);
	assert_string_equal(b.event.reason, "Drift");
	assert_string_equal(b.event.pod, "job-1");
	assert_string_equal(b.event.device, VF(1));
	assert_non_null(strstr(b.event.message, "/dev/infiniband/uverbs1"));
	bench_allocate(&b, &a, VF(2));
	REFUSED(&a, GRPC_NOT_FOUND, VF(2), "node_held");
	fake_pods_hold(&b.pods, NULL, 0);
	close(mkstemp(strdupa(bench_path(&b, "pods/XXXXXX"))));
	bench_until(&b, is_all_healthy);
	bench_allocate(&b, &a, VF(2));
	assert_granted(&a, "/dev/infiniband/uverbs1");
	bench_stop(&b);
}

TEST_GROUP(allocate)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_grant),
		cmocka_unit_test(test_ids_that_cannot_be_allocated),
		cmocka_unit_test(test_an_unhealthy_device),
		cmocka_unit_test(test_a_device_whose_node_was_removed),
		cmocka_unit_test(test_an_id_in_use_is_refused),
		cmocka_unit_test(test_an_id_that_was_freed_is_granted),
		cmocka_unit_test(test_a_list_that_is_too_old),
		cmocka_unit_test(test_the_same_id_again),
		cmocka_unit_test(test_a_kubelet_that_does_not_answer),
		cmocka_unit_test(test_a_device_loses_its_old_pod_with_the_grant),
		cmocka_unit_test(test_a_restarted_kubelet_may_allocate),
		cmocka_unit_test(test_cancelled_allocates),
		cmocka_unit_test(test_a_resource_withdrawn_during_a_query),
		cmocka_unit_test(test_a_resource_about_to_be_withdrawn),
		cmocka_unit_test(test_a_reservation_ends),
		cmocka_unit_test(test_an_init_containers_device),
		cmocka_unit_test(test_states_in_the_table),
		cmocka_unit_test(test_preferred),
		cmocka_unit_test(test_pre_start),
		cmocka_unit_test(test_a_container_with_another_devices_node),
		cmocka_unit_test(test_a_number_that_a_container_may_open),
	};

	return test_group_run(tests, NULL, NULL);
}
