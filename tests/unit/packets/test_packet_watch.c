// SPDX-License-Identifier: Apache-2.0
/* Packet programs on the real kernel: veth pairs in new network namespaces are watched, read and
 * left unchanged. Needs root. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those above first */
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "cleanup.h"
#include "loop_helpers.h"
#include "namespaces.h"
#include "packet_port.h"
#include "packet_ports.h"
#include "test_group.h"

#define BUDGET ((uint64_t)64 << 20)

struct fixture {
	uv_loop_t loop;
	struct hw hw;
	struct packet_ports *ports;
	struct packet_wanted items[4];
	struct packet_plan plan;
	const struct packet_port *list;
};

static int setup(void **state)
{
	const struct packet_ports_opts opts = {.memory_budget = BUDGET, .retry_ms = 1000};
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->hw.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	f->plan.items = f->items;
	assert_int_equal(uv_loop_init(&f->loop), 0);
	assert_int_equal(packet_ports_open(&f->ports, &f->loop, &f->hw, &opts, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	packet_ports_close(f->ports);
	assert_int_equal(loop_end(&f->loop), 0);
	close(f->hw.proc_fd);
	free(f);
	return 0;
}

/* Adds an interface of this process's namespace to the plan. */
static struct packet_wanted *want(struct fixture *f, const char *netdev)
{
	struct packet_wanted *w = &f->items[f->plan.n++];

	*w = (struct packet_wanted){
		.port = {.nsid = NSID_HOST, .ifindex = (int)if_nametoindex(netdev)}};
	snprintf(w->port.netdev, sizeof(w->port.netdev), "%s", netdev);
	return w;
}

static bool are_reported(void *arg)
{
	struct fixture *f = arg;
	size_t n = packet_ports_list(f->ports, &f->list);

	for (size_t i = 0; i < n; i++)
		if (f->list[i].hook == PACKET_HOOK_NONE && f->list[i].error == 0)
			return false;
	return true;
}

static void follow(struct fixture *f)
{
	packet_ports_follow(f->ports, &f->plan);
	assert_true(loop_until(&f->loop, are_reported, f, PATIENCE_MS));
}

static void read_all(struct fixture *f, struct packet_sample *ret)
{
	struct packet_view *v = packet_ports_view(f->ports);

	assert_non_null(v);
	*ret = (struct packet_sample){0};
	assert_int_equal(packet_view_read(v, true, ret), 0);
	packet_view_put(v);
}

/* On a busy machine the packet may arrive a moment later. */
static bool is_one_received(void *arg)
{
	struct packet_sample s;
	uint64_t n;

	read_all(arg, &s);
	n = s.counts[0][ROCE_RECEIVED].packets;
	packet_sample_done(&s);
	assert_true(n <= 1);
	return n == 1;
}

/* Sends one RoCEv2 packet, RC SEND only with ECN's CE. */
static void send_packet(const char *netdev)
{
	static const uint8_t frame[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x08, 0x00,
		/* IPv4: 48 bytes, traffic class 0x6b, UDP */
		0x45, 0x6b, 0, 48, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		/* UDP 4791 */
		0xc0, 0, 0x12, 0xb7, 0, 28, 0, 0,
		/* BTH: RC SEND only, queue pair 0x11, PSN 5; ICRC */
		0x04, 0, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 5, 1, 2, 3, 4, 0, 0, 0, 0};
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_ifindex = (int)if_nametoindex(netdev),
				 .sll_halen = 6};
	AUTO_FD fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)),
			 sizeof(frame));
}

/* The kernel queues no packet for an interface before it has noticed the carrier, which may need a
 * moment on a busy machine. */
static void wait_for_carrier(int netns, const char *name)
{
	namespace_run(
		netns,
		"timeout 60 sh -c 'until ip link show dev %s | grep -q \"state UP\"; do :; done'",
		name);
}

static void make_pair(const char *name)
{
	char far[IFNAMSIZ];

	namespace_run(-1,
		      "ip link add %s type veth peer name %s-far && ip link set %s up && "
		      "ip link set %s-far up",
		      name, name, name, name);
	snprintf(far, sizeof(far), "%s-far", name);
	wait_for_carrier(-1, name);
	wait_for_carrier(-1, far);
}

static void delete_pair(const char *name)
{
	namespace_run(-1, "ip link delete %s", name);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_packets_of_both_directions_are_counted(void **state)
{
	struct fixture *f = *state;
	struct packet_sample s;

	namespaces_need();
	make_pair("a0");
	want(f, "a0")->port.flows = 64;
	follow(f);
	assert_int_equal(f->list[0].error, 0);
	assert_true(f->list[0].hook == PACKET_HOOK_TCX || f->list[0].hook == PACKET_HOOK_CLSACT);
	assert_true(f->list[0].memory > 0);
	for (int i = 0; i < 3; i++)
		send_packet("a0-far");
	send_packet("a0");
	read_all(f, &s);
	assert_int_equal(s.ports[0].error, 0);
	assert_int_equal(s.counts[0][ROCE_RECEIVED].packets, 3);
	assert_int_equal(s.counts[0][ROCE_SENT].packets, 1);
	assert_int_equal(s.counts[0][ROCE_RECEIVED].traffic_class[0x6b], 3);
	assert_int_equal(s.n_flows, 1); /* the packets of both directions are of one flow */
	packet_sample_done(&s);
	delete_pair("a0");
}

static void test_a_mirror_is_counted_at_xdp(void **state)
{
	struct fixture *f = *state;
	struct packet_sample s;

	namespaces_need();
	make_pair("m0");
	want(f, "m0")->xdp = true;
	follow(f);
	assert_int_equal(f->list[0].hook, PACKET_HOOK_XDP);
	send_packet("m0-far");
	assert_true(loop_until(&f->loop, is_one_received, f, PATIENCE_MS));
	read_all(f, &s);
	assert_int_equal(s.n_flows, 0);
	packet_sample_done(&s);
	delete_pair("m0");
}

static void test_an_interface_in_a_pods_namespace(void **state)
{
	struct fixture *f = *state;
	struct packet_wanted *w;
	AUTO_FD pod = -1;

	namespaces_need();
	pod = namespace_new();
	make_pair("p0");
	namespace_run(-1, "ip link set p0-far netns /proc/%d/fd/%d", getpid(), pod);
	namespace_run(pod, "ip link set p0-far name net1 && ip link set net1 up");
	wait_for_carrier(pod, "net1");
	wait_for_carrier(-1, "p0");
	w = want(f, "net1");
	w->port.nsid = NSID_ELSEWHERE;
	w->port.ifindex = 0;
	snprintf(w->netns.path, sizeof(w->netns.path), "/proc/%d/fd/%d", getpid(), pod);
	follow(f);
	assert_int_equal(f->list[0].error, 0);
	send_packet("p0");
	assert_true(loop_until(&f->loop, is_one_received, f, PATIENCE_MS));
	delete_pair("p0");
}

static void test_nothing_is_left_at_the_interface(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	make_pair("b0");
	want(f, "b0");
	follow(f);
	assert_int_equal(f->list[0].error, 0);
	packet_ports_close(f->ports);
	f->ports = NULL;
	uv_run(&f->loop, UV_RUN_DEFAULT);
	/* Neither our qdisc nor a program is left. */
	namespace_run(-1, "! tc qdisc show dev b0 | grep -q clsact");
	namespace_run(-1, "! ip link show dev b0 | grep -q xdp");
	delete_pair("b0");
}

static void test_a_missing_interface_is_reported(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	want(f, "gone0")->port.ifindex = 12345;
	follow(f);
	assert_int_equal(f->list[0].error, -ENODEV);
	assert_int_equal(f->list[0].hook, PACKET_HOOK_NONE);
}

TEST_GROUP(packet_watch)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_packets_of_both_directions_are_counted),
		TEST(test_a_mirror_is_counted_at_xdp),
		TEST(test_an_interface_in_a_pods_namespace),
		TEST(test_nothing_is_left_at_the_interface),
		TEST(test_a_missing_interface_is_reported),
	};

	namespaces_enter();
	return test_group_run(tests, NULL, NULL);
}
