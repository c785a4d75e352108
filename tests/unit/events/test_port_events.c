// SPDX-License-Identifier: Apache-2.0
/* Events of ports of attached RDMA devices: to which pod they belong, and when a port that goes
 * down is normal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "bpf_words.h"
#include "cleanup.h"
#include "port_events.h"
#include "test_group.h"

#define POD_NETNS 4026532001
#define SECOND_NS 1000000000ULL
#define MOVED_AT  (100 * SECOND_NS)

static struct attach_record vf(enum attach_state state)
{
	return (struct attach_record){
		.state = state,
		.function = "0000:03:00.2",
		.owner = {.namespace = "jobs", .pod = "train-0", .netns.ino = POD_NETNS},
		.origin.rdma = "mlx5_2",
		.rdma = "mlx5_2",
		.rdma_id = {.known = true, .index = 12},
	};
}

static struct host host;

/* Completes a warning about a port of this device, with one attachment. */
static struct event completed(__u32 index, const struct attach_record *r, __u32 what,
			      uint64_t time_ns, const struct netns_exits *exits)
{
	const struct attach_status status = {.record = r};
	struct bpf_event_port e = {.head.time_ns = time_ns, .event = what, .port = 1};
	struct event event = {.type = EVENT_WARNING, .message = "down"};

	snprintf(e.device, sizeof(e.device), "mlx5_2"); /* the name does not matter */
	e.index = index;
	port_event_complete(&event, &e, &host, (struct attach_list){&status, 1}, exits);
	return event;
}

static struct event down_at(const struct attach_record *r, uint64_t time_ns,
			    const struct netns_exits *exits)
{
	return completed(12, r, PORT_EVENT_DOWN, time_ns, exits);
}

static void add_exit(struct netns_exits *exits, uint32_t netns, uint64_t time_ns)
{
	const struct bpf_event_netdev_moved moved = {.head.time_ns = time_ns, .netns_from = netns};

	netns_exits_add(exits, &moved);
}

static void a_port_that_goes_down_in_a_pod_is_a_warning(void **state)
{
	const struct attach_record in_pod = vf(ATTACH_IN_POD);
	const struct netns_exits none = {0};
	const struct event event = down_at(&in_pod, MOVED_AT, &none);
	(void)state;

	assert_int_equal(event.type, EVENT_WARNING);
	assert_string_equal(event.namespace, "jobs");
	assert_string_equal(event.pod, "train-0");
	assert_string_equal(event.message, "down");
}

static void a_port_that_goes_down_during_attach_or_return_is_normal(void **state)
{
	static const enum attach_state ways[] = {ATTACH_ATTACHING, ATTACH_RETURNING, ATTACH_BAD};
	const struct netns_exits none = {0};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct attach_record r = vf(ways[i]);
		const struct event event = down_at(&r, MOVED_AT, &none);

		assert_int_equal(event.type, EVENT_NORMAL);
		assert_string_equal(event.message, "down, 0000:03:00.2 is attaching or returning");
	}
}

/* The kernel may end a pod's namespace before the runtime reports the pod's end. */
static void a_port_that_goes_down_with_its_namespace_is_normal(void **state)
{
	const struct attach_record in_pod = vf(ATTACH_IN_POD);
	struct netns_exits exits = {0};
	(void)state;

	add_exit(&exits, POD_NETNS + 1, MOVED_AT);
	assert_int_equal(down_at(&in_pod, MOVED_AT, &exits).type, EVENT_WARNING);
	add_exit(&exits, POD_NETNS, MOVED_AT);
	assert_int_equal(down_at(&in_pod, MOVED_AT + SECOND_NS, &exits).type, EVENT_NORMAL);
	assert_int_equal(down_at(&in_pod, MOVED_AT + 5 * SECOND_NS, &exits).type, EVENT_WARNING);
	assert_int_equal(down_at(&in_pod, MOVED_AT - 1, &exits).type, EVENT_WARNING);
	for (unsigned i = 0; i < NETNS_EXITS; i++)
		add_exit(&exits, POD_NETNS + 1, MOVED_AT);
	assert_int_equal(down_at(&in_pod, MOVED_AT, &exits).type, EVENT_WARNING);
}

static void other_events_stay_warnings(void **state)
{
	const struct attach_record returning = vf(ATTACH_RETURNING), free_again = vf(ATTACH_FREE);
	const struct netns_exits none = {0};
	struct attach_record macvlan = vf(ATTACH_RETURNING);
	struct event event;
	(void)state;

	event = completed(12, &returning, PORT_EVENT_FATAL, MOVED_AT, &none);
	assert_int_equal(event.type, EVENT_WARNING);
	assert_string_equal(event.pod, "train-0");
	event = completed(13, &returning, PORT_EVENT_DOWN, MOVED_AT, &none);
	assert_int_equal(event.type, EVENT_WARNING);
	assert_string_equal(event.pod, "");
	assert_int_equal(down_at(&free_again, MOVED_AT, &none).type, EVENT_WARNING);
	macvlan.plan.kind = PLAN_MACVLAN; /* the device also belongs to other attachments */
	macvlan.rdma_id.known = false;
	assert_int_equal(down_at(&macvlan, MOVED_AT, &none).type, EVENT_WARNING);
}

/* In shared mode the record does not identify a function's own device; the inventory does. */
static void a_functions_own_device_is_found_in_the_inventory(void **state)
{
	struct rdma_dev dev = {.index = 14, .function = "0000:03:00.2", .name = "x"};
	struct attach_record in_pod = vf(ATTACH_IN_POD);
	const struct netns_exits none = {0};
	struct event event;
	(void)state;

	in_pod.rdma_id.known = false;
	assert_string_equal(completed(14, &in_pod, PORT_EVENT_DOWN, MOVED_AT, &none).pod, "");
	host = (struct host){.rdma = &dev, .n_rdma = 1};
	event = completed(14, &in_pod, PORT_EVENT_DOWN, MOVED_AT, &none);
	assert_string_equal(event.pod, "train-0");
	snprintf(dev.function, sizeof(dev.function), "0000:03:00.3");
	assert_string_equal(completed(14, &in_pod, PORT_EVENT_DOWN, MOVED_AT, &none).pod, "");
	host = (struct host){0};
	assert_string_equal(
		completed(RDMA_INDEX_NONE, &in_pod, PORT_EVENT_DOWN, MOVED_AT, &none).pod, "");
}

TEST_GROUP(port_events)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_goes_down_in_a_pod_is_a_warning),
		cmocka_unit_test(a_port_that_goes_down_during_attach_or_return_is_normal),
		cmocka_unit_test(a_port_that_goes_down_with_its_namespace_is_normal),
		cmocka_unit_test(other_events_stay_warnings),
		cmocka_unit_test(a_functions_own_device_is_found_in_the_inventory),
	};

	return test_group_run(tests, NULL, NULL);
}
