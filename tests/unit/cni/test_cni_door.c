// SPDX-License-Identifier: Apache-2.0
/* The CNI door over a real engine: each command, who may have which device, clients that
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

#include "cni_limits.h"
#include "host_builder.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "world_pods.h"
#include "world_trouble.h"

/* One request: of its client, and its answer. */
struct call {
	struct world *w;
	bool is_told, has_left;
	json_t *answer; /* NULL until it is told */
};

static struct pool_network *network; /* of the world's pool, which has none while a test runs */
static struct cni_door *door;

/* The pool's devices go into pods by CNI. */
static struct world *door_start(void)
{
	struct world *w = world_new(WORLD_PLAIN, false);

	world_close(w);
	network = w->config.pools[0].network;
	w->config.pools[0].network = NULL;
	world_open(w, false);
	world_until_ready(w);
	door = cni_door_new(w->engine, &w->inventory, w->dir, NULL);
	assert_non_null(door);
	return w;
}

static void door_end(struct world *w)
{
	w->config.pools[0].network = network;
	world_end(w);
	cni_door_free(door);
}

static void on_answer(char *text, void *arg)
{
	struct call *c = arg;

	assert_false(c->is_told);
	assert_non_null(text);
	c->is_told = true;
	c->answer = json_loads(text, 0, NULL);
	assert_non_null(c->answer);
	free(text);
}

static bool is_wanted(void *arg)
{
	return !((struct call *)arg)->has_left;
}

static bool is_told(void *arg)
{
	return ((struct call *)arg)->is_told;
}

static void begin(struct world *w, struct call *c, const char *request)
{
	char *answer;

	*c = (struct call){.w = w};
	if (cni_door_request(door, request, strlen(request), on_answer, is_wanted, c, &answer) == 0)
		on_answer(answer, c);
}

static void await(struct call *c)
{
	assert_true(loop_until(&c->w->loop, is_told, c, PATIENCE_MS));
}

static void forget(struct call *c)
{
	json_decref(c->answer);
	*c = (struct call){.w = NULL};
}

/* The code of its error; 0: there is none. */
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

/* Of pod `pod` in sandbox ns; more: of the configuration. */
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
	assert_false(c.is_told);
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

/* For rocelet-cni to write, where the runtime asks for it. */
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

/* A driver for user space has it: nothing is moved, and the settings end with the pod. */
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

/* The kubelet decides. */
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

/* Allocate has reserved it, and the kubelet's list does not name the pod yet. */
static void test_a_grant_that_is_not_known_yet(void **state)
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
	assert_false(c.is_told);
	world_hold(w, 2, "x");
	world_show_all(w);
	await(&c);
	assert_string_equal(message(&c), "");
	forget(&c);
	release(w, ns);
	door_end(w);
}

/* Nobody would delete what it attached after its DEL. */
static void test_a_del_ends_an_add_that_waits(void **state)
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
	assert_false(c.is_told);
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

/* A native pool's devices are rocelet's own to attach. */
static void test_a_native_pool(void **state)
{
	struct world *w = world_start(WORLD_PLAIN);
	uint64_t ns = world_run_pod(w, 2, "x");
	char device[64], msg[256];

	(void)state;
	door = cni_door_new(w->engine, &w->inventory, w->dir, NULL);
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
	world_end(w);
	cni_door_free(door);
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
	c.has_left = true;
	world_let_go(w);
	await(&c);
	assert_int_equal(code(&c), 11);
	forget(&c);
	world_until_state(w, 2, ATTACH_FREE);
	assert_true(world_is_clean(w));

	/* Before it could begin. */
	world_unhold(w, 2);
	world_reserve(w, 2);
	world_show_all(w);
	begin(w, &c, text);
	world_settle(w);
	c.has_left = true;
	await(&c);
	assert_int_equal(code(&c), 11);
	forget(&c);
	world_hold(w, 2, "x");
	world_show_all(w);
	world_settle(w);
	assert_int_equal(world_state(w, 2), ATTACH_FREE);
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

/* A DEL that fails keeps a pod from ending: the engine goes on without it. */
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
	door = cni_door_new(w->engine, &w->inventory, w->dir, NULL);
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
	w->drift = VF_MAC;
	assert_int_equal(call(w, "CHECK", ns, "x", config, msg), 103);
	assert_non_null(strstr(msg, "mac"));
	/* A later plugin of the chain has set another one. */
	snprintf(config, sizeof(config),
		 "%s, \"mac\": \"02:00:00:00:00:01\", \"prevResult\": {\"interfaces\": [{\"name\": "
		 "\"net1\", \"mac\": \"02:00:00:00:00:09\", \"sandbox\": \"/ns/1\"}]}",
		 device);
	assert_int_equal(call(w, "CHECK", ns, "x", config, NULL), 0);
	w->drift = 0;
	release(w, ns);
	door_end(w);
}

/* A pod with VF i as net1, by CNI. */
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

/* The driver of one VF does not answer. */
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
	assert_false(c.is_told);
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

/* Neither the inventory nor the engine knows it yet. */
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

static void restart(struct world *w)
{
	cni_door_free(door);
	world_restart(w);
	world_show_all(w);
	door = cni_door_new(w->engine, &w->inventory, w->dir, NULL);
	world_until_ready(w);
}

/* It answers before rocelet-cni gives up, and names the step. */
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
	assert_non_null(strstr(msg, "after 50 ms, at step record: it is undone"));
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

/* The journal is lost: nothing but the mark tells that a pod had it. */
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

	/* The next pod has it, and runs in the host's network. */
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

	/* The one after that waits for its ADD, and the runtime does not list its sandbox yet. */
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

/* The plugin answers only if it has got what the specification wants. */
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
	world_plugin(w, "echo '{\"code\": 999, \"msg\": \"CHECK is not implemented\"}'; exit 1");
	assert_int_equal(call(w, "CHECK", ns, "x", config, NULL), 0);

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

static bool status_is_good(void *arg)
{
	return !status_is_bad(arg);
}

/* Answered at once, with what the plugin said before. */
static void test_status_of_ipam(void **state)
{
	struct world *w = door_start();

	(void)state;
	world_plugin(w, "echo '{\"code\": 50, \"msg\": \"no server\"}'; exit 1");
	assert_int_equal(call(w, "STATUS", 1, "", PLUGIN, NULL), 0);
	assert_true(loop_until(&w->loop, status_is_bad, w, PATIENCE_MS));
	world_plugin(w, "[ $CNI_COMMAND = STATUS ]");
	assert_true(loop_until(&w->loop, status_is_good, w, PATIENCE_MS));
	door_end(w);
}

/* No DEL comes; the runtime's list has called the sandbox ready, and does not any more. */
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

/* CNI is called while the sandbox is being made: the runtime's list does not have it, and nothing
 * runs in it. */
static void test_a_sandbox_that_is_being_made(void **state)
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
	struct call c;

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
	assert_int_equal(call(w, "ADD", ns, "x", device, NULL), 0);
	request_text(alone, "ADD", ns, "x", device);
	memcpy(strstr(alone, "\"sriov\""), "\"rdma\" ", 7);
	begin(w, &c, alone);
	assert_int_equal(code(&c), 7);
	assert_non_null(strstr(message(&c), "part of a plugin chain"));
	forget(&c);
	begin(w, &c, text);
	assert_true(c.is_told);
	assert_string_equal(message(&c), "");
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(c.answer, "result"), "ips")), 1);
	forget(&c);
	memcpy(strstr(text, "ADD"), "DEL", 3);
	begin(w, &c, text);
	assert_true(c.is_told);
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
		cmocka_unit_test(test_a_grant_that_is_not_known_yet),
		cmocka_unit_test(test_a_del_ends_an_add_that_waits),
		cmocka_unit_test(test_a_native_pool),
		cmocka_unit_test(test_a_client_that_disconnects),
		cmocka_unit_test(test_a_failed_add_is_undone),
		cmocka_unit_test(test_a_del_whose_return_fails),
		cmocka_unit_test(test_attachments_of_a_previous_daemon),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_a_check_that_hangs),
		cmocka_unit_test(test_check_of_a_removed_device),
		cmocka_unit_test(test_an_add_that_takes_too_long),
		cmocka_unit_test(test_attachments_of_a_lost_journal),
		cmocka_unit_test(test_gc),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_check_and_gc_of_ipam),
		cmocka_unit_test(test_status_of_ipam),
		cmocka_unit_test(test_a_sandbox_that_ends_without_del),
		cmocka_unit_test(test_a_sandbox_that_is_being_made),
		cmocka_unit_test(test_a_chain_with_rdma),
		cmocka_unit_test(test_garbage),
	};

	return test_group_run(tests, NULL, NULL);
}
