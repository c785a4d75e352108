// SPDX-License-Identifier: Apache-2.0
/* CNI requests to a real engine: each command, which pod may have which device, clients that
 * disconnect, and pods that end without a DEL. */
#include "cni_door.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <jansson.h>

#include "cleanup.h"
#include "cni_limits.h"
#include "host_builder.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "world_pods.h"
#include "world_trouble.h"

/* A request of a client, and its answer. */
struct call {
	struct world *w;
	bool is_answered, is_disconnected;
	json_t *answer; /* NULL until answered */
};

static struct pool_network *network; /* of the world's pool, which has none while a test runs */
static struct cni_door *door;

/* Starts a world whose pool has no "network": its devices are attached by CNI. */
static struct world *door_start(void)
{
	struct world *w = world_new(WORLD_PLAIN, false);

	world_close(w);
	network = w->config.pools[0].network;
	w->config.pools[0].network = NULL;
	world_open(w, false);
	world_until_ready(w);
	door = cni_door_new(w->engine, &w->loop, &w->inventory, w->dir, NULL);
	assert_non_null(door);
	return w;
}

/* The door's handles belong to the world's loop. */
static void door_close(struct world *w)
{
	assert_true(world_is_clean(w));
	world_close(w);
	cni_door_free(door);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	world_free(w);
}

static void door_end(struct world *w)
{
	w->config.pools[0].network = network;
	door_close(w);
}

static void on_answer(char *text, void *arg)
{
	struct call *c = arg;

	assert_false(c->is_answered);
	assert_non_null(text);
	c->is_answered = true;
	c->answer = json_loads(text, 0, NULL);
	assert_non_null(c->answer);
	free(text);
}

static bool is_connected(void *arg)
{
	return !((struct call *)arg)->is_disconnected;
}

static bool is_answered(void *arg)
{
	return ((struct call *)arg)->is_answered;
}

static void begin(struct world *w, struct call *c, const char *request)
{
	char *answer;

	*c = (struct call){.w = w};
	if (cni_door_request(door, request, strlen(request), on_answer, is_connected, c, &answer) ==
	    0)
		on_answer(answer, c);
}

static void await(struct call *c)
{
	assert_true(loop_until(&c->w->loop, is_answered, c, PATIENCE_MS));
}

static void forget(struct call *c)
{
	json_decref(c->answer);
	*c = (struct call){.w = NULL};
}

/* Returns the code of the answer's error, 0 = success. */
static int code(const struct call *c)
{
	return (int)json_integer_value(
		json_object_get(json_object_get(c->answer, "error"), "code"));
}

static const char *message(const struct call *c)
{
	const char *msg = json_string_value(
		json_object_get(json_object_get(c->answer, "error"), "msg"));

	return msg ? msg : "";
}

#define REQUEST_SIZE 2048

/* Writes a request for pod `pod` in sandbox ns; more: further keys of the configuration. */
static void request_text(char *ret, const char *command, uint64_t ns, const char *pod,
			 const char *more)
{
	snprintf(ret, REQUEST_SIZE,
		 "{\"command\": \"%s\", \"containerID\": \"s%u\", \"netns\": \"/ns/%u\", "
		 "\"ifname\": \"net1\", \"path\": \"/opt/cni/bin\", \"args\": "
		 "\"IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s\", \"config\": "
		 "{\"cniVersion\": \"1.1.0\", \"name\": \"fast\", \"type\": \"sriov\"%s}}",
		 command, (unsigned)ns, (unsigned)ns, *pod ? "a" : "", pod, more);
}

static int call(struct world *w, const char *command, uint64_t ns, const char *pod,
		const char *more, char *ret_message)
{
	char text[REQUEST_SIZE];
	struct call c;
	int ret;

	request_text(text, command, ns, pod, more);
	begin(w, &c, text);
	await(&c);
	ret = code(&c);
	if (ret_message)
		snprintf(ret_message, 256, "%s", message(&c));
	forget(&c);
	return ret;
}

#define VF_2 world_vf(2)

static uint64_t grant(struct world *w, const char *pod)
{
	uint64_t ns = world_add_sandbox(w, pod, NULL);

	world_hold(w, 2, pod);
	world_show_all(w);
	return ns;
}

static void device_of(unsigned i, char *ret, size_t size)
{
	snprintf(ret, size, ", \"deviceID\": \"%s\"", world_vf(i));
}

static void release(struct world *w, uint64_t ns)
{
	world_end_sandbox(w, ns);
	world_unhold(w, 2);
	world_end_namespace(w, ns);
	world_show_all(w);
	world_until_state(w, 2, ATTACH_FREE);
}

static void test_a_pod(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char text[REQUEST_SIZE], device[64], msg[256];
	json_t *interface, *result;
	struct call c;

	(void)state;
	device_of(2, device, sizeof(device));
	request_text(text, "ADD", ns, "x", device);
	begin(w, &c, text);
	assert_false(c.is_answered);
	await(&c);
	assert_string_equal(message(&c), "");
	result = json_object_get(c.answer, "result");
	assert_string_equal(json_string_value(json_object_get(result, "cniVersion")), "1.1.0");
	interface = json_array_get(json_object_get(result, "interfaces"), 0);
	assert_string_equal(json_string_value(json_object_get(interface, "name")), "net1");
	assert_string_equal(json_string_value(json_object_get(interface, "pciID")), VF_2);
	assert_string_equal(json_string_value(json_object_get(interface, "sandbox")), "/ns/1");
	forget(&c);
	assert_int_equal(w->devices[2].ns, ns);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	assert_int_equal(w->devices[2].record.owner.door, DOOR_CNI);
	assert_string_equal(w->devices[2].record.owner.network, "fast");
	assert_string_equal(w->devices[2].record.resource, WORLD_ROCE);
	assert_int_equal(attach_engine_fitness(w->engine, VF_2), ATTACH_FIT);

	assert_int_equal(call(w, "CHECK", ns, "x", device, NULL), 0);
	assert_int_equal(call(w, "ADD", ns, "x", device, msg), 102);
	assert_non_null(strstr(msg, "in_pod"));
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	assert_true(world_is_clean(w));
	assert_int_equal(call(w, "DEL", ns, "x", device, NULL), 0);
	assert_int_equal(call(w, "CHECK", ns, "x", device, NULL), 3);
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	release(w, ns);
	door_end(w);
}

static json_t *answer_of_add(struct world *w, uint64_t ns, const char *more)
{
	char text[REQUEST_SIZE];
	struct call c;
	json_t *answer;

	request_text(text, "ADD", ns, "x", more);
	begin(w, &c, text);
	await(&c);
	assert_string_equal(message(&c), "");
	answer = json_incref(c.answer);
	forget(&c);
	return answer;
}

/* The result contains the file that rocelet-cni writes if the runtime requests it. */
static void test_device_info(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char more[256];
	json_t *answer, *info;

	(void)state;
	snprintf(more, sizeof(more),
		 ", \"deviceID\": \"%s\", \"runtimeConfig\": {\"CNIDeviceInfoFile\": \"/x\"}",
		 VF_2);
	answer = answer_of_add(w, ns, more);
	info = json_object_get(answer, "deviceInfo");
	assert_string_equal(json_string_value(json_object_get(info, "version")), "1.1.0");
	info = json_object_get(info, json_string_value(json_object_get(info, "type")));
	assert_string_equal(json_string_value(json_object_get(info, "pci-address")), VF_2);
	assert_string_equal(json_string_value(json_object_get(info, "pf-pci-address")),
			    "0000:03:00.0");
	json_decref(answer);
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	device_of(2, more, sizeof(more));
	answer = answer_of_add(w, ns, more);
	assert_null(json_object_get(answer, "deviceInfo"));
	json_decref(answer);
	release(w, ns);
	door_end(w);
}

static void drop_netdev_of(struct host *h, const char *function)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_netdevs; i++)
		if (strcmp(h->netdevs[i].function, function) != 0)
			h->netdevs[n++] = h->netdevs[i];
	h->n_netdevs = n;
}

/* A VF bound to a user-space driver: nothing is moved, and its settings end with the pod. */
static void test_a_device_without_a_netdev(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char more[256], msg[256];
	json_t *answer, *interface;

	(void)state;
	drop_netdev_of(&w->inventory.host, VF_2);
	strcpy(find_function(&w->inventory.host, VF_2)->vfio, "vfio/12");
	snprintf(more, sizeof(more), ", \"deviceID\": \"%s\", \"vlan\": 100, \"vfioPciMode\": true",
		 VF_2);
	answer = answer_of_add(w, ns, more);
	interface = json_array_get(json_object_get(json_object_get(answer, "result"), "interfaces"),
				   0);
	assert_string_equal(json_string_value(json_object_get(interface, "name")), "net1");
	assert_string_equal(json_string_value(json_object_get(interface, "mac")), "");
	assert_null(json_object_get(interface, "mtu"));
	json_decref(answer);
	assert_true(w->devices[2].record.plan.no_netdev);
	assert_int_equal(w->devices[2].ns, 0);
	assert_int_equal(w->devices[2].vlan, 100);
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	assert_int_equal(w->devices[2].vlan, 0);
	snprintf(more, sizeof(more), ", \"deviceID\": \"%s\", \"mtu\": 9000", VF_2);
	assert_int_equal(call(w, "ADD", ns, "x", more, msg), 7);
	assert_non_null(strstr(msg, "mtu: "));
	release(w, ns);
	door_end(w);
}

/* The kubelet's allocations decide. */
static void test_pods_that_may_have_a_device(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x"), other = world_add_sandbox(w, "y", NULL);
	char device[64], msg[256];

	(void)state;
	world_show_all(w);
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", other, "y", device, msg), 102);
	assert_non_null(strstr(msg, "to pod a/x"));
	assert_int_equal(call(w, "ADD", ns, "", device, NULL), 102);
	assert_int_equal(call(w, "ADD", ns, "x", ", \"deviceID\": \"0000:09:00.0\"", NULL), 101);
	assert_int_equal(call(w, "ADD", ns, "x", ", \"deviceID\": \"0000:03:00.0\"", msg), 102);
	assert_non_null(strstr(msg, "has VFs"));
	assert_int_equal(call(w, "ADD", ns, "x", "", NULL), 7);
	assert_int_equal(call(w, "ADD", 77, "x", device, msg), 8);
	assert_non_null(strstr(msg, "/ns/77 is not a network namespace"));
	assert_true(world_is_clean(w));
	world_end_namespace(w, other);
	release(w, ns);
	door_end(w);
}

/* Another plugin, which does not know ours, has given the VF to a second pod. What it has given to
 * the pod itself is no reason to refuse. */
static void test_a_vf_of_another_plugins_pod(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	struct pod_device d = {.resource = "a.b/sriov",
			       .id = VF_2,
			       .namespace = "a",
			       .pod = "y",
			       .container = "c"};
	char device[64], msg[256];

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(pod_list_push(&w->kubelet, &d), 0);
	pod_list_sort(&w->kubelet);
	world_show_all(w);
	assert_int_equal(call(w, "ADD", ns, "x", device, msg), 102);
	assert_non_null(strstr(msg, "is allocated by the kubelet, to pod a/y (a.b/sriov)"));
	assert_true(world_is_clean(w));
	world_hold(w, 2, "x"); /* and nobody else */
	d.pod = "x";
	assert_int_equal(pod_list_push(&w->kubelet, &d), 0);
	pod_list_sort(&w->kubelet);
	world_show_all(w);
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	release(w, ns);
	door_end(w);
}

/* Allocate has reserved the device, but the kubelet does not list the pod yet. */
static void test_an_allocation_that_is_not_listed_yet(void **state)
{
	struct world *w = door_start();
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	char text[REQUEST_SIZE], device[64];
	struct call c;

	(void)state;
	world_reserve(w, 2);
	world_show_all(w);
	device_of(2, device, sizeof(device));
	request_text(text, "ADD", ns, "x", device);
	begin(w, &c, text);
	world_settle(w);
	assert_false(c.is_answered);
	world_hold(w, 2, "x");
	world_show_all(w);
	await(&c);
	assert_string_equal(message(&c), "");
	forget(&c);
	release(w, ns);
	door_end(w);
}

static void restart(struct world *w)
{
	cni_door_free(door);
	world_restart(w);
	world_show_all(w);
	door = cni_door_new(w->engine, &w->loop, &w->inventory, w->dir, NULL);
	world_until_ready(w);
}

/* The kubelet's list never names the pod. */
static void test_an_add_that_waits_too_long(void **state)
{
	struct world *w = door_start();
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	char device[64], msg[256];

	(void)state;
	assert_true(CNI_EARLY_MS + 5000 < CNI_ADD_ATTACH_MS);
	w->cni_early_ms = 50;
	restart(w);
	world_reserve(w, 2);
	world_show_all(w);
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, msg), 11);
	assert_non_null(strstr(msg, "does not show yet to which pod"));
	release(w, ns);
	door_end(w);
}

/* An attachment made after its DEL would never be deleted. */
static void test_a_del_cancels_a_waiting_add(void **state)
{
	struct world *w = door_start();
	uint64_t ns = world_add_sandbox(w, "x", NULL);
	char text[REQUEST_SIZE], device[64];
	struct call c;

	(void)state;
	world_reserve(w, 2);
	world_show_all(w);
	device_of(2, device, sizeof(device));
	request_text(text, "ADD", ns, "x", device);
	begin(w, &c, text);
	world_settle(w);
	assert_false(c.is_answered);
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	await(&c);
	assert_int_equal(code(&c), 11);
	assert_non_null(strstr(message(&c), "deleted"));
	forget(&c);
	world_hold(w, 2, "x");
	world_show_all(w);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	release(w, ns);
	door_end(w);
}

/* The runtime has killed the plugin during its DEL, and retries the ADD at once. */
static void test_an_add_right_after_a_del(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char add_text[REQUEST_SIZE], del_text[REQUEST_SIZE], device[64];
	struct call add, del;

	(void)state;
	device_of(2, device, sizeof(device));
	request_text(add_text, "ADD", ns, "x", device);
	request_text(del_text, "DEL", ns, "x", "");
	begin(w, &del, del_text);
	begin(w, &add, add_text);
	await(&del);
	assert_string_equal(message(&del), "");
	await(&add);
	assert_string_equal(message(&add), "");
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	forget(&add);
	forget(&del);
	release(w, ns);
	door_end(w);
}

/* rocelet itself attaches the devices of a native pool. */
static void test_a_native_pool(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 2, "x");
	char device[64], msg[256];

	(void)state;
	door = cni_door_new(w->engine, &w->loop, &w->inventory, w->dir, NULL);
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 102);
	world_hold(w, 3, "x");
	device_of(3, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, msg), 102);
	assert_int_equal(call(w, "DEL", ns, "x", device, NULL), 0);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	world_unhold(w, 3);
	world_end_pod(w, 2, ns);
	world_until_state(w, 3, ATTACH_FREE); /* the engine may have attached it meanwhile */
	door_close(w);
}

static bool attaches(void *arg)
{
	return world_state(arg, 2) == ATTACH_ATTACHING;
}

static void test_a_client_that_disconnects(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char text[REQUEST_SIZE], device[64];
	struct call c;

	(void)state;
	device_of(2, device, sizeof(device));
	request_text(text, "ADD", ns, "x", device);
	w->hold = true;
	begin(w, &c, text);
	assert_true(loop_until(&w->loop, attaches, w, PATIENCE_MS));
	c.is_disconnected = true;
	world_let_go(w);
	await(&c);
	assert_int_equal(code(&c), 11);
	forget(&c);
	world_until_state(w, 2, ATTACH_FREE);
	assert_true(world_is_clean(w));

	/* The client disconnects before the attach starts. */
	world_unhold(w, 2);
	world_reserve(w, 2);
	world_show_all(w);
	begin(w, &c, text);
	world_settle(w);
	c.is_disconnected = true;
	await(&c);
	assert_int_equal(code(&c), 11);
	assert_non_null(strstr(message(&c), "the client disconnected"));
	forget(&c);
	world_hold(w, 2, "x");
	world_show_all(w);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	release(w, ns);
	door_end(w);
}

/* The rest of the attach is not begun: the plugin, which would fail, is not run. */
static void test_a_client_that_disconnects_before_ipam(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char text[REQUEST_SIZE], more[128];
	struct call c;

	(void)state;
	w->ipam = WORLD_IPAM_FAILS;
	snprintf(more, sizeof(more), ", \"deviceID\": \"%s\", \"ipam\": {\"type\": \"plugin\"}",
		 VF_2);
	request_text(text, "ADD", ns, "x", more);
	w->hold = true;
	begin(w, &c, text);
	assert_true(loop_until(&w->loop, attaches, w, PATIENCE_MS));
	c.is_disconnected = true;
	attach_engine_inputs_changed(w->engine); /* a tick */
	world_settle(w);
	world_let_go(w);
	await(&c);
	assert_int_equal(code(&c), 11);
	assert_non_null(strstr(message(&c), "its client disconnected"));
	forget(&c);
	world_until_state(w, 2, ATTACH_FREE);
	assert_true(world_is_clean(w));
	release(w, ns);
	door_end(w);
}

static void test_a_failed_add_is_undone(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64], msg[256];

	(void)state;
	device_of(2, device, sizeof(device));
	w->fail_in[STEP_MOVE] = -EPERM;
	assert_int_equal(call(w, "ADD", ns, "x", device, msg), 100);
	assert_non_null(strstr(msg, "move"));
	assert_true(world_is_clean(w));
	w->fail_in[STEP_MOVE] = 0;
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	release(w, ns);
	door_end(w);
}

/* A failed DEL would keep the pod from ending, so it succeeds, and the engine retries the
 * return. */
static void test_a_del_whose_return_fails(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64];

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	w->fail_back[BACK_MOVE] = -EBUSY;
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	assert_int_equal(world_state(w, 2), ATTACH_BAD);
	w->fail_back[BACK_MOVE] = 0;
	world_until_state(w, 2, ATTACH_FREE);
	release(w, ns);
	door_end(w);
}

/* Each DEL tries the return once and does not wait for a retry. With this long limit, a DEL that
 * waited would be noticed. */
static void test_a_del_tries_once(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char text[REQUEST_SIZE], device[64], msg[256];
	struct call c;

	(void)state;
	w->cni_wait_ms = 10 * PATIENCE_MS;
	restart(w);
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	w->fail_back[BACK_MOVE] = -EBUSY;
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	assert_int_equal(call(w, "CHECK", ns, "x", device, msg), 103);
	assert_non_null(strstr(msg, "is bad"));
	w->fail_back[BACK_MOVE] = 0;
	w->hold = true;
	request_text(text, "DEL", ns, "x", "");
	begin(w, &c, text);
	world_settle(w);
	assert_false(c.is_answered);
	world_let_go(w);
	await(&c);
	assert_string_equal(message(&c), "");
	forget(&c);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	release(w, ns);
	door_end(w);
}

/* A failed DEL would keep the pod from ending; the return continues after it. */
static void test_a_del_whose_return_takes_long(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64];

	(void)state;
	w->cni_wait_ms = 50;
	restart(w);
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	w->hold = true;
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	assert_int_equal(world_state(w, 2), ATTACH_RETURNING);
	world_let_go(w);
	world_until_state(w, 2, ATTACH_FREE);
	release(w, ns);
	door_end(w);
}

/* Until the journal has been read, the attachment must not count as unknown. */
static void test_a_del_while_the_daemon_starts(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char text[REQUEST_SIZE], device[64];
	struct call c;

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	world_restart(w);
	cni_door_free(door);
	door = cni_door_new(w->engine, &w->loop, &w->inventory, w->dir, NULL);
	request_text(text, "DEL", ns, "x", "");
	begin(w, &c, text);
	assert_false(c.is_answered);
	world_show_all(w);
	await(&c);
	assert_string_equal(message(&c), "");
	forget(&c);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	assert_true(world_is_clean(w));
	release(w, ns);
	door_end(w);
}

static void test_attachments_of_a_previous_daemon(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64];

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	world_restart(w);
	world_show_all(w);
	cni_door_free(door);
	door = cni_door_new(w->engine, &w->loop, &w->inventory, w->dir, NULL);
	world_until_ready(w);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	assert_true(world_is_clean(w));
	release(w, ns);
	door_end(w);
}

static void test_drift(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char config[512], msg[256], device[64];

	(void)state;
	device_of(2, device, sizeof(device));
	snprintf(config, sizeof(config), "%s, \"mac\": \"02:00:00:00:00:01\"", device);
	assert_int_equal(call(w, "ADD", ns, "x", config, NULL), 0);
	assert_int_equal(call(w, "CHECK", ns, "x", ", \"vlan\": 5000", NULL), 7);
	w->drift = VF_MAC;
	assert_int_equal(call(w, "CHECK", ns, "x", config, msg), 103);
	assert_non_null(strstr(msg, "mac"));
	/* A later plugin of the chain has set another MAC. */
	snprintf(config, sizeof(config),
		 "%s, \"mac\": \"02:00:00:00:00:01\", \"prevResult\": {\"interfaces\": [{\"name\": "
		 "\"net1\", \"mac\": \"02:00:00:00:00:09\", \"sandbox\": \"/ns/1\"}]}",
		 device);
	assert_int_equal(call(w, "CHECK", ns, "x", config, NULL), 0);
	w->drift = 0;
	release(w, ns);
	door_end(w);
}

/* CHECK does not report what a later plugin of the chain may have changed: in its result, the
 * container's interface has another MAC or MTU, or lacks the address. */
static void test_settings_that_check_compares(void **state)
{
	static const char same_mac[] = "\"interfaces\": [{\"name\": \"net1\", \"mac\": "
				       "\"02:00:00:00:00:01\", \"sandbox\": \"/ns/1\"}]",
			  mac_of_host[] = "\"interfaces\": [{\"name\": \"net1\", \"mac\": "
					  "\"02:00:00:00:00:09\"}]",
			  mac_of_another[] = "\"interfaces\": [{\"name\": \"net2\", \"mac\": "
					     "\"02:00:00:00:00:09\", \"sandbox\": \"/ns/1\"}]",
			  same_mtu[] = "\"interfaces\": [{\"name\": \"net1\", \"mtu\": 1400, "
				       "\"sandbox\": \"/ns/1\"}]",
			  other_mtu[] = "\"interfaces\": [{\"name\": \"net1\", \"mtu\": 1300, "
					"\"sandbox\": \"/ns/1\"}]",
			  same_ip[] = "\"ips\": [{\"address\": \"10.9.0.1/24\"}]",
			  other_ip[] = "\"ips\": [{\"address\": \"10.9.0.2/24\"}]";
	static const struct {
		unsigned drift;
		const char *prev; /* NULL: no prevResult */
		int code;
	} rows[] = {
		{VF_MAC, NULL, 103},
		{VF_MAC, same_mac, 103},
		{VF_MAC, mac_of_host, 103},
		{VF_MAC, mac_of_another, 103},
		{ATTACH_DRIFT_LINK(LINK_MTU), NULL, 103},
		{ATTACH_DRIFT_LINK(LINK_MTU), same_mtu, 103},
		{ATTACH_DRIFT_LINK(LINK_MTU), other_mtu, 0},
		{ATTACH_DRIFT_LINK(LINK_TXQLEN), NULL, 0},
		{ATTACH_DRIFT_IPS, NULL, 103},
		{ATTACH_DRIFT_IPS, same_ip, 103},
		{ATTACH_DRIFT_IPS, other_ip, 0},
		{ATTACH_DRIFT_DOWN, other_mtu, 103},
		{ATTACH_DRIFT_NAME, other_ip, 103},
	};
	static const char settings[] = ", \"mac\": \"02:00:00:00:00:01\", \"mtu\": 1400, "
				       "\"runtimeConfig\": {\"ips\": [\"10.9.0.1/24\"]}";
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char config[1024], device[64];

	(void)state;
	device_of(2, device, sizeof(device));
	snprintf(config, sizeof(config), "%s%s", device, settings);
	assert_int_equal(call(w, "ADD", ns, "x", config, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int is;

		w->drift = rows[i].drift;
		snprintf(config, sizeof(config), "%s%s%s%s%s", device, settings,
			 rows[i].prev ? ", \"prevResult\": {" : "",
			 rows[i].prev ? rows[i].prev : "", rows[i].prev ? "}" : "");
		is = call(w, "CHECK", ns, "x", config, NULL);
		if (is != rows[i].code)
			fail_msg("row %zu: code %d, not %d", i, is, rows[i].code);
	}
	w->drift = 0;
	release(w, ns);
	door_end(w);
}

/* Adds a pod with VF i as net1 by CNI. */
static uint64_t add_pod(struct world *w, unsigned i, const char *pod)
{
	uint64_t ns = world_add_sandbox(w, pod, NULL);
	char device[64];

	world_hold(w, i, pod);
	world_show_all(w);
	device_of(i, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, pod, device, NULL), 0);
	world_show_all(w);
	world_settle(w);
	return ns;
}

/* One VF's driver does not return. */
static void test_a_check_that_hangs(void **state)
{
	struct world *w = door_start();
	uint64_t stuck = add_pod(w, 0, "x"), ns = add_pod(w, 2, "y");
	char text[REQUEST_SIZE];
	struct call c;

	(void)state;
	w->n_stuck = 1;
	request_text(text, "CHECK", stuck, "x", "");
	begin(w, &c, text);
	world_settle(w);
	assert_int_equal(call(w, "CHECK", ns, "y", "", NULL), 0);
	assert_false(c.is_answered);
	world_let_go(w);
	await(&c);
	assert_string_equal(message(&c), "");
	forget(&c);
	assert_int_equal(call(w, "DEL", stuck, "x", "", NULL), 0);
	world_unhold(w, 0);
	world_end_namespace(w, stuck);
	release(w, ns);
	door_end(w);
}

/* A CHECK waits for a running ADD, and does not use a check that began before the request. */
static void test_a_check_beside_other_work(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char add[REQUEST_SIZE], check[REQUEST_SIZE], device[64];
	struct call first, second;

	(void)state;
	device_of(2, device, sizeof(device));
	request_text(add, "ADD", ns, "x", device);
	request_text(check, "CHECK", ns, "x", device);
	w->hold = true;
	begin(w, &first, add);
	assert_true(loop_until(&w->loop, attaches, w, PATIENCE_MS));
	begin(w, &second, check);
	world_settle(w);
	assert_false(second.is_answered);
	world_let_go(w);
	await(&first);
	await(&second);
	assert_string_equal(message(&second), "");
	forget(&first);
	forget(&second);

	world_settle(w);
	w->n_checks = 0;
	w->hold = true;
	begin(w, &first, check);
	world_settle(w);
	begin(w, &second, check);
	world_settle(w);
	world_let_go(w);
	await(&first);
	await(&second);
	assert_int_equal(w->n_checks, 2);
	forget(&first);
	forget(&second);
	release(w, ns);
	door_end(w);
}

/* The inventory and the engine have not noticed the removal yet. */
static void test_check_of_a_removed_device(void **state)
{
	struct world *w = door_start();
	uint64_t ns = add_pod(w, 2, "x");
	char msg[256];

	(void)state;
	w->fail_check = -ENODEV;
	assert_int_equal(call(w, "CHECK", ns, "x", "", msg), 103);
	assert_non_null(strstr(msg, "not in the pod any more"));
	w->fail_check = -ENXIO;
	assert_int_equal(call(w, "CHECK", ns, "x", "", msg), 103);
	w->fail_check = -ENOENT;
	assert_int_equal(call(w, "CHECK", ns, "x", "", msg), 8);
	w->fail_check = -EIO;
	assert_int_equal(call(w, "CHECK", ns, "x", "", msg), 103);
	w->fail_check = 0;
	assert_int_equal(call(w, "CHECK", ns, "x", "", NULL), 0);
	release(w, ns);
	door_end(w);
}

/* The device was unplugged, so nothing can be compared, and no other device has its name. */
static void test_check_of_a_device_off_the_bus(void **state)
{
	struct world *w = door_start();
	uint64_t ns = add_pod(w, 2, "x");
	struct host *h = &w->inventory.host;
	struct function *fn = find_function(h, VF_2);
	char id[sizeof(fn->id)];

	(void)state;
	memcpy(id, fn->id, sizeof(id));
	w->fail_check = -ENODEV;
	/* The new ID keeps its position in the sorted list. */
	fn->id[strlen(fn->id) - 1] = '7';
	assert_int_equal(call(w, "CHECK", ns, "x", "", NULL), 101);
	memcpy(fn->id, id, sizeof(id));
	w->fail_check = 0;
	assert_int_equal(call(w, "CHECK", ns, "x", "", NULL), 0);
	release(w, ns);
	door_end(w);
}

/* It is answered before rocelet-cni's timeout, with the step's name. */
static void test_an_add_that_takes_too_long(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64], msg[256];

	(void)state;
	assert_true(CNI_ADD_ATTACH_MS + 5000 < CNI_ADD_WAIT_MS &&
		    CNI_ADD_WAIT_MS < CNI_ADD_KEEP_MS);
	w->cni_add_ms = 50;
	restart(w);
	device_of(2, device, sizeof(device));
	w->hold = true;
	assert_int_equal(call(w, "ADD", ns, "x", device, msg), 11);
	assert_non_null(strstr(msg, "after 50 ms, at step record: rolling back"));
	world_let_go(w);
	world_until_state(w, 2, ATTACH_FREE);
	assert_true(world_is_clean(w));
	release(w, ns);
	door_end(w);
}

static bool is_clean(void *arg)
{
	return world_is_clean(arg);
}

/* The journal is lost: only the alias shows that a pod has the device. */
static void test_attachments_of_a_lost_journal(void **state)
{
	struct world *w = door_start();
	uint64_t ns = add_pod(w, 2, "x"), host, next;

	(void)state;
	world_close(w);
	world_lose_record(w, 2);
	restart(w);
	world_settle(w);
	assert_int_equal(w->devices[2].ns, ns);

	/* The next pod that gets the device uses the host's network. */
	world_end_sandbox(w, ns);
	world_hold(w, 2, "h");
	host = world_add_sandbox(w, "h", NULL);
	for (size_t i = 0; i < w->runtime.n; i++) {
		struct sandbox *s = &w->runtime.items[i];

		s->host_network = strcmp(s->pod, "h") == 0;
	}
	world_end_namespace(w, ns);
	world_show_all(w);
	world_settle(w);
	assert_true(w->devices[2].marked);

	/* The pod after that waits for its ADD, and the runtime does not list its sandbox yet. */
	world_remove_sandbox(w, host);
	world_hold(w, 2, "y");
	world_show_all(w);
	assert_true(loop_until(&w->loop, is_clean, w, PATIENCE_MS));
	world_unhold(w, 2);
	world_end_namespace(w, host);
	next = add_pod(w, 2, "z");
	release(w, next);
	door_end(w);
}

static void test_gc(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64];

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	assert_int_equal(call(w, "GC", ns, "x", "", NULL), 0);
	assert_int_equal(call(w, "GC", ns, "x", ", \"cni.dev/valid-attachments\": null", NULL), 0);
	assert_int_equal(call(w, "GC", ns, "x", ", \"cni.dev/valid-attachments\": 5", NULL), 7);
	assert_int_equal(call(w, "GC", ns, "x",
			      ", \"cni.dev/valid-attachments\": "
			      "[{\"containerID\": \"s1\", \"ifname\": \"net1\"}]",
			      NULL),
			 0);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	assert_int_equal(call(w, "GC", ns, "x",
			      ", \"cni.dev/valid-attachments\": "
			      "[{\"containerID\": \"s1\", \"ifname\": \"net2\"}]",
			      NULL),
			 0);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	release(w, ns);
	door_end(w);
}

/* Attachments of other networks are kept, and so are running ADDs, which are newer than the
 * list. */
static void test_gc_of_others(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char text[REQUEST_SIZE], device[64];
	struct call add, gc;

	(void)state;
	device_of(2, device, sizeof(device));
	request_text(text, "ADD", ns, "x", device);
	w->hold = true;
	begin(w, &add, text);
	assert_int_equal(call(w, "GC", ns, "x", ", \"cni.dev/valid-attachments\": []", NULL), 0);
	world_let_go(w);
	await(&add);
	assert_string_equal(message(&add), "");
	forget(&add);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);

	request_text(text, "GC", ns, "x", ", \"cni.dev/valid-attachments\": []");
	memcpy(strstr(text, "fast"), "slow", 4);
	begin(w, &gc, text);
	await(&gc);
	assert_string_equal(message(&gc), "");
	forget(&gc);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	release(w, ns);
	door_end(w);
}

/* The key of libcni before 1.1.0. */
static void test_gc_by_the_older_key(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64];

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	assert_int_equal(call(w, "GC", ns, "x",
			      ", \"cni.dev/attachments\": "
			      "[{\"containerID\": \"s1\", \"ifname\": \"net1\"}]",
			      NULL),
			 0);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	assert_int_equal(call(w, "GC", ns, "x",
			      ", \"cni.dev/valid-attachments\": null, \"cni.dev/attachments\": []",
			      NULL),
			 0);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	release(w, ns);
	door_end(w);
}

static void test_status(void **state)
{
	struct world *w = door_start();
	char msg[256], path[512];

	(void)state;
	assert_int_equal(call(w, "STATUS", 1, "", "", NULL), 0);
	assert_int_equal(call(w, "STATUS", 1, "", ", \"ipam\": {\"type\": \"whereabouts\"}", msg),
			 50);
	assert_non_null(strstr(msg, "whereabouts"));
	tmptree_write(w->dir, "whereabouts", "%s", "");
	snprintf(path, sizeof(path), "%s/whereabouts", w->dir);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(call(w, "STATUS", 1, "", ", \"ipam\": {\"type\": \"whereabouts\"}", NULL),
			 0);
	door_end(w);
}

#define PLUGIN ", \"ipam\": {\"type\": \"plugin\"}"
#define ADDRESS                                                                                    \
	"{\"ips\": [{\"address\": \"10.9.0.7/24\", \"gateway\": \"10.9.0.1\"}], \"dns\": "         \
	"{\"domain\": \"a\"}}"

static bool status_contains(struct world *w, const char *words)
{
	char msg[256];

	return call(w, "STATUS", 1, "", "", msg) == 50 && strstr(msg, words);
}

static bool journal_has_failed(void *arg)
{
	return status_contains(arg, "failure of the test");
}

static bool host_is_hidden(void *arg)
{
	return status_contains(arg, "the host is hidden");
}

static void start_another(struct world *w, bool dry_run)
{
	world_close(w);
	cni_door_free(door);
	world_open(w, dry_run);
	door = cni_door_new(w->engine, &w->loop, &w->inventory, w->dir, NULL);
	assert_non_null(door);
}

/* STATUS of a daemon that cannot attach devices. */
static void test_status_of_the_daemon(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64];

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	start_another(w, true);
	assert_true(status_contains(w, "--dry-run"));
	start_another(w, false);
	assert_true(status_contains(w, "still starting"));
	w->hidden = true;
	start_another(w, false);
	world_show_all(w);
	assert_true(loop_until(&w->loop, host_is_hidden, w, PATIENCE_MS));
	w->hidden = false;
	w->fail_journal = -EIO;
	start_another(w, false);
	world_show_all(w);
	assert_true(loop_until(&w->loop, journal_has_failed, w, PATIENCE_MS));
	w->fail_journal = 0;
	start_another(w, false);
	world_show_all(w);
	world_until_ready(w);
	assert_int_equal(call(w, "STATUS", 1, "", "", NULL), 0);
	release(w, ns);
	door_end(w);
}

/* A daemon that cannot see the host, or has no journal, returns no devices: its DEL fails, and
 * rocelet-cni stores the request. */
static void test_a_daemon_that_cannot_return(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64], msg[256];

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	w->cni_wait_ms = 50;
	w->hidden = true;
	start_another(w, false);
	world_show_all(w);
	assert_true(loop_until(&w->loop, host_is_hidden, w, PATIENCE_MS));
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 11);
	assert_int_equal(call(w, "CHECK", ns, "x", device, msg), 11);
	assert_non_null(strstr(msg, "the host is hidden"));
	w->hidden = false;
	w->fail_journal = -EIO;
	start_another(w, false);
	world_show_all(w);
	assert_true(loop_until(&w->loop, journal_has_failed, w, PATIENCE_MS));
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 11);
	w->fail_journal = 0;
	w->cni_wait_ms = 0;
	start_another(w, false);
	world_show_all(w);
	world_until_ready(w);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	release(w, ns);
	door_end(w);
}

/* The plugin succeeds only with the input that the specification requires. */
static void test_check_and_gc_of_ipam(void **state)
{
	static const char list[] = PLUGIN ", \"cni.dev/valid-attachments\": [{\"containerID\": "
					  "\"s1\", \"ifname\": \"net1\"}]";
	static const char prev[] = ", \"prevResult\": {\"ips\": [{\"address\": \"10.9.0.7/24\"}]}";
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char config[512], text[REQUEST_SIZE], msg[256];
	const json_t *ip, *result;
	struct call c;

	(void)state;
	world_plugin(w, "echo '" ADDRESS "'");
	snprintf(config, sizeof(config), ", \"deviceID\": \"%s\"" PLUGIN, VF_2);
	request_text(text, "ADD", ns, "x", config);
	begin(w, &c, text);
	await(&c);
	result = json_object_get(c.answer, "result");
	ip = json_array_get(json_object_get(result, "ips"), 0);
	assert_string_equal(json_string_value(json_object_get(ip, "gateway")), "10.9.0.1");
	assert_non_null(json_object_get(json_object_get(result, "dns"), "domain"));
	forget(&c);

	world_plugin(w, "echo '{\"code\": 103, \"msg\": \"no lease\"}'; exit 1");
	assert_int_equal(call(w, "CHECK", ns, "x", PLUGIN, NULL), 0);
	snprintf(config, sizeof(config), PLUGIN "%s", prev);
	assert_int_equal(call(w, "CHECK", ns, "x", config, msg), 103);
	assert_non_null(strstr(msg, "no lease"));
	world_plugin(w, "[ $CNI_COMMAND = CHECK ] && grep -q prevResult");
	assert_int_equal(call(w, "CHECK", ns, "x", config, NULL), 0);
	world_plugin(w, "echo '{\"code\": 11, \"msg\": \"the store is locked\"}'; exit 1");
	assert_int_equal(call(w, "CHECK", ns, "x", config, NULL), 11);
	world_plugin(w, "echo '{\"code\": 999, \"msg\": \"CHECK is not implemented\"}'; exit 1");
	assert_int_equal(call(w, "CHECK", ns, "x", config, NULL), 0);

	w->drift = ATTACH_DRIFT_IPS;
	assert_int_equal(call(w, "CHECK", ns, "x", config, NULL), 103);
	snprintf(config, sizeof(config), PLUGIN ", \"prevResult\": {\"ips\": []}");
	assert_int_equal(call(w, "CHECK", ns, "x", config, NULL), 0);
	w->drift = 0;

	world_plugin(w, "[ $CNI_COMMAND = GC ] && grep -q cni.dev/valid-attachments");
	assert_int_equal(call(w, "GC", ns, "x", list, NULL), 0);
	world_plugin(w, "echo '{\"code\": 5, \"msg\": \"no store\"}'; exit 1");
	assert_int_equal(call(w, "GC", ns, "x", list, msg), 100);
	assert_non_null(strstr(msg, "no store"));
	assert_int_equal(call(w, "GC", ns, "x", PLUGIN, NULL), 0); /* no list: nothing is run */
	world_plugin(w, "exit 0");
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	release(w, ns);
	door_end(w);
}

static bool status_is_bad(void *arg)
{
	return call(arg, "STATUS", 1, "", PLUGIN, NULL) == 50;
}

static bool status_is_limited(void *arg)
{
	return call(arg, "STATUS", 1, "", PLUGIN, NULL) == 51;
}

static bool status_is_good(void *arg)
{
	return call(arg, "STATUS", 1, "", PLUGIN, NULL) == 0;
}

/* Answered at once from the plugin's previous status, which is then refreshed. */
static void test_status_of_ipam(void **state)
{
	struct world *w = door_start();

	(void)state;
	world_plugin(w, "echo '{\"code\": 50, \"msg\": \"no server\"}'; exit 1");
	assert_int_equal(call(w, "STATUS", 1, "", PLUGIN, NULL), 0);
	assert_true(loop_until(&w->loop, status_is_bad, w, PATIENCE_MS));
	world_plugin(w, "echo '{\"code\": 51, \"msg\": \"leases cannot be renewed\"}'; exit 1");
	assert_true(loop_until(&w->loop, status_is_limited, w, PATIENCE_MS));
	world_plugin(w, "[ $CNI_COMMAND = STATUS ]");
	assert_true(loop_until(&w->loop, status_is_good, w, PATIENCE_MS));
	door_end(w);
}

/* There is no DEL; the runtime lists the sandbox as ready first, and then no more. */
static void test_a_sandbox_that_ends_without_del(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64];

	(void)state;
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	world_show_all(w);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	world_end_sandbox(w, ns); /* its namespace stays, empty */
	world_show_all(w);
	world_until_state(w, 2, ATTACH_FREE);
	assert_non_null(strstr(world_message(w, "Returned"), "its sandbox has ended"));
	release(w, ns);
	door_end(w);
}

/* CNI is called while the sandbox is being created: the runtime does not list it, and no process is
 * in it. */
static void test_a_sandbox_that_is_being_created(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64];

	(void)state;
	world_remove_sandbox(w, ns);
	world_show_all(w);
	device_of(2, device, sizeof(device));
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	world_show_all(w);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	assert_int_equal(call(w, "DEL", ns, "x", "", NULL), 0);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	release(w, ns);
	door_end(w);
}

static void test_a_chain_with_rdma(void **state)
{
	struct world *w = door_start();
	uint64_t ns = grant(w, "x");
	char device[64], isolated[128], chained[256], text[REQUEST_SIZE], alone[REQUEST_SIZE];
	char *type;
	struct call c, add;

	(void)state;
	device_of(2, device, sizeof(device));
	snprintf(chained, sizeof(chained),
		 "%s, \"prevResult\": {\"cniVersion\": \"1.0.0\", "
		 "\"ips\": [{\"address\": \"10.0.0.1/8\"}]}",
		 device);
	request_text(text, "ADD", ns, "x", chained);
	type = strstr(text, "\"sriov\"");
	memcpy(type, "\"rdma\" ", 7);
	w->inventory.host.rdma_mode = RDMA_NETNS_SHARED;
	begin(w, &c, text);
	assert_int_equal(code(&c), 7);
	assert_non_null(strstr(message(&c), "mode is shared, not exclusive"));
	forget(&c);
	snprintf(isolated, sizeof(isolated), "%s, \"rdmaIsolation\": true", device);
	assert_int_equal(call(w, "ADD", ns, "x", isolated, NULL), 7);
	w->inventory.host.rdma_mode = RDMA_NETNS_UNKNOWN;
	assert_int_equal(call(w, "ADD", ns, "x", isolated, NULL), 7);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
	w->inventory.host.rdma_mode = RDMA_NETNS_EXCLUSIVE;
	begin(w, &c, text);
	assert_int_equal(code(&c), 7);
	assert_non_null(strstr(message(&c), "was not attached by rocelet"));
	forget(&c);
	snprintf(isolated, sizeof(isolated), "%s, \"rdmaIsolation\": \"yes\"", device);
	assert_int_equal(call(w, "ADD", ns, "x", isolated, NULL), 7);
	request_text(alone, "ADD", ns, "x", device);
	w->hold = true;
	begin(w, &add, alone);
	assert_true(loop_until(&w->loop, attaches, w, PATIENCE_MS));
	begin(w, &c, text);
	assert_non_null(strstr(message(&c), "was not attached by rocelet"));
	forget(&c);
	world_let_go(w);
	await(&add);
	assert_string_equal(message(&add), "");
	forget(&add);
	memcpy(strstr(text, "net1"), "net2", 4);
	begin(w, &c, text);
	assert_non_null(strstr(message(&c), "was not attached by rocelet"));
	forget(&c);
	memcpy(strstr(text, "net2"), "net1", 4);
	request_text(alone, "ADD", ns, "x", device);
	memcpy(strstr(alone, "\"sriov\""), "\"rdma\" ", 7);
	begin(w, &c, alone);
	assert_int_equal(code(&c), 7);
	assert_non_null(strstr(message(&c), "part of a plugin chain"));
	forget(&c);
	begin(w, &c, text);
	assert_true(c.is_answered);
	assert_string_equal(message(&c), "");
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(c.answer, "result"), "ips")), 1);
	forget(&c);
	memcpy(strstr(text, "ADD"), "DEL", 3);
	begin(w, &c, text);
	assert_true(c.is_answered);
	forget(&c);
	assert_int_equal(world_state(w, 2), ATTACH_IN_POD);
	release(w, ns);
	door_end(w);
}

static void test_garbage(void **state)
{
	struct world *w = door_start();
	struct call c;

	(void)state;
	begin(w, &c, "{");
	assert_int_equal(code(&c), 6);
	forget(&c);
	begin(w, &c, "{\"command\": \"NOPE\", \"config\": {\"name\": \"n\"}}");
	assert_int_equal(code(&c), 4);
	assert_string_equal(message(&c), "unknown CNI_COMMAND: NOPE");
	forget(&c);
	door_end(w);
}

TEST_GROUP(cni_door)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pod),
		cmocka_unit_test(test_device_info),
		cmocka_unit_test(test_a_device_without_a_netdev),
		cmocka_unit_test(test_pods_that_may_have_a_device),
		cmocka_unit_test(test_a_vf_of_another_plugins_pod),
		cmocka_unit_test(test_an_allocation_that_is_not_listed_yet),
		cmocka_unit_test(test_an_add_that_waits_too_long),
		cmocka_unit_test(test_a_del_cancels_a_waiting_add),
		cmocka_unit_test(test_an_add_right_after_a_del),
		cmocka_unit_test(test_a_native_pool),
		cmocka_unit_test(test_a_client_that_disconnects),
		cmocka_unit_test(test_a_client_that_disconnects_before_ipam),
		cmocka_unit_test(test_a_failed_add_is_undone),
		cmocka_unit_test(test_a_del_whose_return_fails),
		cmocka_unit_test(test_a_del_tries_once),
		cmocka_unit_test(test_a_del_whose_return_takes_long),
		cmocka_unit_test(test_attachments_of_a_previous_daemon),
		cmocka_unit_test(test_a_del_while_the_daemon_starts),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_settings_that_check_compares),
		cmocka_unit_test(test_a_check_that_hangs),
		cmocka_unit_test(test_a_check_beside_other_work),
		cmocka_unit_test(test_check_of_a_removed_device),
		cmocka_unit_test(test_check_of_a_device_off_the_bus),
		cmocka_unit_test(test_an_add_that_takes_too_long),
		cmocka_unit_test(test_attachments_of_a_lost_journal),
		cmocka_unit_test(test_gc),
		cmocka_unit_test(test_gc_of_others),
		cmocka_unit_test(test_gc_by_the_older_key),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_status_of_the_daemon),
		cmocka_unit_test(test_a_daemon_that_cannot_return),
		cmocka_unit_test(test_check_and_gc_of_ipam),
		cmocka_unit_test(test_status_of_ipam),
		cmocka_unit_test(test_a_sandbox_that_ends_without_del),
		cmocka_unit_test(test_a_sandbox_that_is_being_created),
		cmocka_unit_test(test_a_chain_with_rdma),
		cmocka_unit_test(test_garbage),
	};

	return test_group_run(tests, NULL, NULL);
}
