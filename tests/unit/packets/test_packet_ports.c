// SPDX-License-Identifier: Apache-2.0
/* Attaching and detaching according to the plan, with fake programs: the order of steps, and that
 * nothing is left attached. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those above first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "fake_packet_port.h"
#include "faults.h"
#include "loop_helpers.h"
#include "packet_ports.h"
#include "test_group.h"

#define HOUR_MS	  3600000
#define KIB	  ((uint64_t)1024)
#define ITEMS_MAX 8

struct fixture {
	uv_loop_t loop;
	struct hw hw;
	struct packet_ports *ports;
	struct fake_packet_ports fake;
	struct packet_wanted items[ITEMS_MAX];
	struct packet_plan plan;
	unsigned wanted; /* of until_open() and until_tried() */
	const struct packet_port *list;
};

static void open_ports(struct fixture *f, uint64_t budget, uint32_t retry_ms)
{
	const struct packet_ports_opts opts = {.memory_budget = budget, .retry_ms = retry_ms};
	struct err e = {0};

	assert_int_equal(packet_ports_open(&f->ports, &f->loop, &f->hw, &opts, &e), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(uv_loop_init(&f->loop), 0);
	f->hw.proc_fd = -1;
	f->plan.items = f->items;
	f->fake.memory = 64 * KIB;
	sem_init(&f->fake.entered, 0, 0);
	sem_init(&f->fake.go, 0, 0);
	fake_packet_ports = &f->fake;
	*state = f;
	return 0;
}

/* Asserts that everything is detached and no handle is left. */
static int teardown(void **state)
{
	struct fixture *f = *state;

	packet_ports_close(f->ports);
	assert_int_equal(loop_end(&f->loop), 0);
	assert_int_equal(f->fake.open, 0);
	fake_packet_ports = NULL;
	sem_destroy(&f->fake.entered);
	sem_destroy(&f->fake.go);
	free(f);
	return 0;
}

/* Adds an interface to the plan: "ethN" with index N. */
static struct packet_wanted *want(struct fixture *f, int ifindex)
{
	struct packet_wanted *w = &f->items[f->plan.n++];

	*w = (struct packet_wanted){.port = {.nsid = NSID_HOST, .ifindex = ifindex}};
	snprintf(w->port.netdev, sizeof(w->port.netdev), "eth%d", ifindex);
	return w;
}

static void follow(struct fixture *f)
{
	packet_ports_follow(f->ports, &f->plan);
}

static const struct packet_port *port(struct fixture *f, size_t i)
{
	assert_true(i < packet_ports_list(f->ports, &f->list));
	return &f->list[i];
}

static bool are_open(void *arg)
{
	struct fixture *f = arg;

	return f->fake.open == f->wanted;
}

static void until_open(struct fixture *f, unsigned n)
{
	f->wanted = n;
	assert_true(loop_until(&f->loop, are_open, f, PATIENCE_MS));
}

/* Whether the list has a result for every port. */
static bool are_reported(void *arg)
{
	struct fixture *f = arg;
	size_t n = packet_ports_list(f->ports, &f->list);

	for (size_t i = 0; i < n; i++)
		if (f->list[i].hook == PACKET_HOOK_NONE && f->list[i].error == 0)
			return false;
	return true;
}

static void until_reported(struct fixture *f)
{
	assert_true(loop_until(&f->loop, are_reported, f, PATIENCE_MS));
}

static bool are_tried(void *arg)
{
	struct fixture *f = arg;

	return f->fake.tried >= f->wanted;
}

static void until_tried(struct fixture *f, unsigned n)
{
	f->wanted = n;
	assert_true(loop_until(&f->loop, are_tried, f, PATIENCE_MS));
}

/* --- following -------------------------------------------------------------------------------- */

static void test_planned_ports_are_attached_and_reported(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	want(f, 3)->port.flows = 16;
	want(f, 4)->xdp = true;
	follow(f);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_NONE);
	until_reported(f);
	assert_int_equal(f->fake.opened, 2);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_TCX);
	assert_int_equal(port(f, 0)->memory, 64 * KIB);
	assert_int_equal(port(f, 0)->flows, 16);
	assert_int_equal(port(f, 1)->hook, PACKET_HOOK_XDP);
	assert_false(f->fake.in_namespace);
}

static void test_ports_removed_from_the_plan_are_detached(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	want(f, 3);
	want(f, 4);
	follow(f);
	until_reported(f);
	f->items[0] = f->items[1];
	f->plan.n = 1;
	follow(f);
	until_open(f, 1);
	assert_int_equal(packet_ports_list(f->ports, &f->list), 1);
	assert_int_equal(port(f, 0)->ifindex, 4);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_TCX);
	assert_int_equal(f->fake.opened, 2);
}

static void test_the_same_plan_again_changes_nothing(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	want(f, 3)->port.flows = 16;
	follow(f);
	until_reported(f);
	strcpy(f->items[0].port.netdev, "renamed");
	follow(f);
	assert_true(loop_sleeps(&f->loop, 20, 1));
	assert_int_equal(f->fake.tried, 1);
	assert_string_equal(port(f, 0)->netdev, "renamed");
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_TCX);
	assert_int_equal(port(f, 0)->flows, 16);
}

/* The next pod's namespace reuses the previous one's id, and its interface the index. */
static void test_another_interface_in_the_same_place_is_attached_again(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	want(f, 3)->netns.ino = 1;
	follow(f);
	until_reported(f);
	f->items[0].netns.ino = 2;
	follow(f);
	until_tried(f, 2);
	until_open(f, 1);
	until_reported(f);
	assert_int_equal(f->fake.opened, 2);
}

static void test_an_interface_is_found_by_its_name(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	strcpy(want(f, 0)->port.netdev, "lo");
	follow(f);
	until_reported(f);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_TCX);
	assert_int_equal(f->fake.last_ifindex, 1);
}

static void test_a_namespace_is_entered_by_its_path(void **state)
{
	struct fixture *f = *state;
	struct packet_wanted *w;

	open_ports(f, UINT64_MAX, HOUR_MS);
	w = want(f, 0);
	w->port.nsid = NSID_ELSEWHERE;
	strcpy(w->port.netdev, "lo");
	strcpy(w->netns.path, "/proc/self/ns/net");
	follow(f);
	until_reported(f);
	assert_int_equal(port(f, 0)->error, 0);
	assert_true(f->fake.in_namespace);
}

/* --- failures --------------------------------------------------------------------------------- */

static void test_a_failure_is_listed_and_others_continue(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	f->fake.failure = -EBUSY;
	f->fake.failing_ifindex = 3;
	want(f, 3)->port.flows = 16;
	want(f, 4);
	follow(f);
	until_reported(f);
	assert_int_equal(port(f, 0)->error, -EBUSY);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_NONE);
	assert_int_equal(port(f, 0)->memory, 0);
	assert_int_equal(port(f, 1)->hook, PACKET_HOOK_TCX);
	follow(f); /* the plan is unchanged, so the failed port is not tried again */
	assert_int_equal(port(f, 0)->error, -EBUSY);
	assert_int_equal(f->fake.tried, 2);
}

static void test_a_failure_is_retried(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, 1);
	f->fake.failure = -EBUSY;
	want(f, 3);
	follow(f);
	until_tried(f, 3);
	f->fake.failure = 0;
	until_open(f, 1);
	until_reported(f);
	assert_int_equal(port(f, 0)->error, 0);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_TCX);
}

/* ENOSPC from the kernel does not mean that our budget is exceeded. */
static void test_enospc_from_the_kernel_is_a_failure_like_others(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	f->fake.failure = -ENOSPC;
	want(f, 3);
	follow(f);
	until_reported(f);
	assert_true(loop_sleeps(&f->loop, 20, 1));
	assert_int_equal(f->fake.tried, 1);
}

static void test_nothing_wakes_up_once_everything_is_attached(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, 1);
	want(f, 3);
	follow(f);
	until_reported(f);
	assert_true(loop_sleeps(&f->loop, 20, 1));
}

static void test_missing_namespaces_and_interfaces(void **state)
{
	struct fixture *f = *state;
	struct packet_wanted *w;

	open_ports(f, UINT64_MAX, HOUR_MS);
	strcpy(want(f, 0)->port.netdev, "gone0");
	w = want(f, 3);
	w->port.nsid = 7;
	strcpy(w->netns.path, "/nonexistent/netns");
	want(f, 3)->port.nsid = 8; /* its namespace has no known path */
	w = want(f, 3);
	w->port.nsid = 9;
	strcpy(w->netns.path, "/proc/self/ns/net"); /* the path leads to another namespace now */
	w->netns.ino = 1;
	follow(f);
	until_reported(f);
	assert_int_equal(port(f, 0)->error, -ENODEV);
	assert_int_equal(port(f, 1)->error, -ESTALE);
	assert_int_equal(port(f, 2)->error, -ENOENT);
	assert_int_equal(port(f, 3)->error, -ESTALE);
	assert_int_equal(f->fake.tried, 0);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void test_a_table_of_flows_that_does_not_fit_is_left_out(void **state)
{
	struct fixture *f = *state;

	f->fake.memory_by_flow = KIB;
	open_ports(f, 100 * KIB, HOUR_MS);
	want(f, 3)->port.flows = 64;
	follow(f);
	until_reported(f);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_TCX);
	assert_int_equal(port(f, 0)->error, 0);
	assert_int_equal(port(f, 0)->flows, 0);
	assert_int_equal(port(f, 0)->memory, 64 * KIB);
}

static void test_ports_known_not_to_fit_are_not_tried(void **state)
{
	struct fixture *f = *state;

	f->fake.memory_by_flow = KIB;
	open_ports(f, 250 * KIB, HOUR_MS);
	for (int i = 0; i < 3; i++)
		want(f, 3 + i)->port.flows = 64;
	follow(f);
	until_reported(f);
	assert_int_equal(port(f, 0)->flows, 64);
	assert_int_equal(port(f, 1)->flows, 0);
	assert_int_equal(port(f, 1)->error, 0);
	assert_int_equal(port(f, 2)->error, -ENOSPC); /* only 58 KiB of the budget are left */
	assert_int_equal(f->fake.tried, 3);
}

static void test_a_port_that_does_not_fit_waits_for_room(void **state)
{
	struct fixture *f = *state;

	open_ports(f, 100 * KIB, 1);
	want(f, 3);
	want(f, 4);
	follow(f);
	until_reported(f);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_TCX);
	assert_int_equal(port(f, 1)->error, -ENOSPC);
	assert_int_equal(port(f, 1)->hook, PACKET_HOOK_NONE);
	assert_int_equal(f->fake.open, 1);
	assert_true(loop_sleeps(&f->loop, 20, 1)); /* does not try again without room */
	f->items[0] = f->items[1];
	f->plan.n = 1;
	follow(f);
	until_tried(f, 3);
	until_open(f, 1);
	assert_int_equal(port(f, 0)->error, 0);
	assert_int_equal(port(f, 0)->hook, PACKET_HOOK_TCX);
}

static void test_out_of_memory_keeps_the_previous_plan(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	want(f, 3);
	follow(f);
	until_reported(f);
	want(f, 4);
	for (long nth = 0; nth < 2; nth++) {
		faults_alloc(nth);
		follow(f);
		assert_true(faults_end());
		assert_int_equal(packet_ports_list(f->ports, &f->list), 1);
	}
	faults_alloc(0);
	assert_null(packet_ports_view(f->ports));
	assert_true(faults_end());
}

/* --- while a worker attaches ------------------------------------------------------------------ */

static void test_a_plan_that_changes_meanwhile(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	f->fake.held = true;
	want(f, 3);
	follow(f);
	sem_wait(&f->fake.entered);
	f->plan.n = 0;
	follow(f);
	f->fake.held = false;
	sem_post(&f->fake.go);
	until_tried(f, 1);
	until_open(f, 0);
	assert_int_equal(packet_ports_list(f->ports, &f->list), 0);
}

static void test_closing_while_a_worker_attaches(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	want(f, 3);
	follow(f);
	until_reported(f);
	f->fake.held = true;
	want(f, 4);
	want(f, 5);
	follow(f);
	sem_wait(&f->fake.entered);
	packet_ports_close(f->ports);
	f->ports = NULL;
	uv_run(&f->loop, UV_RUN_NOWAIT);
	f->fake.held = false;
	sem_post(&f->fake.go);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(f->fake.open, 0);
	assert_int_equal(f->fake.tried, 2);
}

static void test_closing_before_the_first_attach(void **state)
{
	struct fixture *f = *state;

	open_ports(f, UINT64_MAX, HOUR_MS);
	want(f, 3);
	follow(f);
}

/* --- views ------------------------------------------------------------------------------------ */

static void test_without_ports_there_is_no_view(void **state)
{
	struct fixture *f = *state;

	assert_null(packet_ports_view(NULL));
	assert_int_equal(packet_ports_list(NULL, &f->list), 0);
	packet_view_put(NULL);
	open_ports(f, UINT64_MAX, HOUR_MS);
	assert_null(packet_ports_view(f->ports));
}

static void read_view(struct packet_view *v, bool flows, struct packet_sample *ret)
{
	*ret = (struct packet_sample){0};
	assert_int_equal(packet_view_read(v, flows, ret), 0);
}

static void test_a_view_reads_counts_and_flows(void **state)
{
	struct fixture *f = *state;
	struct packet_sample s;
	struct packet_view *v;

	open_ports(f, UINT64_MAX, HOUR_MS);
	f->fake.failure = -EPERM;
	f->fake.failing_ifindex = 4;
	f->fake.n_flows = 3;
	f->fake.counts[ROCE_SENT].packets = 7;
	want(f, 3)->port.flows = 16;
	want(f, 4)->port.flows = 16;
	follow(f);
	until_reported(f);
	v = packet_ports_view(f->ports);
	read_view(v, false, &s);
	assert_int_equal(s.n_ports, 2);
	assert_int_equal(s.counts[0][ROCE_SENT].packets, 7);
	assert_int_equal(s.counts[1][ROCE_SENT].packets, 0);
	assert_int_equal(s.ports[1].error, -EPERM);
	assert_int_equal(s.n_flows, 0);
	assert_int_equal(packet_view_read(v, true, &s), 0);
	assert_int_equal(s.n_flows, 3);
	assert_int_equal(s.flows[2].key.qpn, 2);
	assert_int_equal(s.flows[2].flow.packets, 3);
	packet_sample_done(&s);
	packet_view_put(v);
}

static void test_a_read_error_is_reported(void **state)
{
	struct fixture *f = *state;
	struct packet_sample s;
	struct packet_view *v;

	open_ports(f, UINT64_MAX, HOUR_MS);
	want(f, 3);
	follow(f);
	until_reported(f);
	f->fake.read_failure = -EIO;
	v = packet_ports_view(f->ports);
	read_view(v, false, &s);
	assert_int_equal(s.ports[0].error, -EIO);
	packet_sample_done(&s);
	packet_view_put(v);
	assert_int_equal(port(f, 0)->error, 0); /* the next sample may be readable */
}

static void test_a_view_without_memory_leaves_an_empty_sample(void **state)
{
	struct fixture *f = *state;
	struct packet_sample s = {0};
	struct packet_view *v;
	int r = -ENOMEM;

	open_ports(f, UINT64_MAX, HOUR_MS);
	f->fake.n_flows = 2;
	want(f, 3)->port.flows = 16;
	follow(f);
	until_reported(f);
	v = packet_ports_view(f->ports);
	for (long nth = 0; r < 0; nth++) {
		faults_alloc(nth);
		r = packet_view_read(v, true, &s);
		assert_int_equal(r, faults_end() ? -ENOMEM : 0);
		assert_int_equal(s.n_ports, r == 0);
		assert_true(nth < 20);
	}
	packet_sample_done(&s);
	packet_view_put(v);
}

static void test_a_view_keeps_its_ports_attached(void **state)
{
	struct fixture *f = *state;
	struct packet_sample s;
	struct packet_view *v;

	open_ports(f, UINT64_MAX, HOUR_MS);
	f->fake.counts[ROCE_SENT].packets = 7;
	want(f, 3);
	follow(f);
	until_reported(f);
	v = packet_ports_view(f->ports);
	f->plan.n = 0;
	follow(f);
	assert_true(loop_sleeps(&f->loop, 20, 1));
	assert_int_equal(f->fake.open, 1);
	packet_ports_close(f->ports);
	f->ports = NULL;
	uv_run(&f->loop, UV_RUN_DEFAULT);
	read_view(v, false, &s);
	assert_int_equal(s.counts[0][ROCE_SENT].packets, 7);
	packet_sample_done(&s);
	packet_view_put(v);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(f->fake.open, 0);
}

TEST_GROUP(packet_ports)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_planned_ports_are_attached_and_reported),
		TEST(test_ports_removed_from_the_plan_are_detached),
		TEST(test_the_same_plan_again_changes_nothing),
		TEST(test_another_interface_in_the_same_place_is_attached_again),
		TEST(test_an_interface_is_found_by_its_name),
		TEST(test_a_namespace_is_entered_by_its_path),
		TEST(test_a_failure_is_listed_and_others_continue),
		TEST(test_a_failure_is_retried),
		TEST(test_enospc_from_the_kernel_is_a_failure_like_others),
		TEST(test_nothing_wakes_up_once_everything_is_attached),
		TEST(test_missing_namespaces_and_interfaces),
		TEST(test_a_table_of_flows_that_does_not_fit_is_left_out),
		TEST(test_ports_known_not_to_fit_are_not_tried),
		TEST(test_a_port_that_does_not_fit_waits_for_room),
		TEST(test_out_of_memory_keeps_the_previous_plan),
		TEST(test_a_plan_that_changes_meanwhile),
		TEST(test_closing_while_a_worker_attaches),
		TEST(test_closing_before_the_first_attach),
		TEST(test_without_ports_there_is_no_view),
		TEST(test_a_view_reads_counts_and_flows),
		TEST(test_a_read_error_is_reported),
		TEST(test_a_view_without_memory_leaves_an_empty_sample),
		TEST(test_a_view_keeps_its_ports_attached),
	};

	return test_group_run(tests, NULL, NULL);
}
