// SPDX-License-Identifier: Apache-2.0
/* The event sockets on the running kernel, in their own network namespace: which changes become
 * hints, and which do not. Messages that the kernel did not send are dropped. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "cleanup.h"
#include "link_events.h"
#include "log.h"
#include "loop_helpers.h"
#include "namespaces.h"
#include "self_counters.h"
#include "test_group.h"

#define BUFFER_BYTES (1 << 20)

struct fixture {
	uv_loop_t loop;
	struct self_counters self;
	struct rdma_port port; /* of the only RDMA device */
	struct rdma_dev rdma;
	struct inventory inventory;
	struct link_events *links;
	unsigned hints, parts, losses;
	unsigned addresses;
	int address_nsid, address_ifindex;
	pid_t other_process; /* in another namespace; 0 = none */
};

static void on_hint(unsigned parts, bool lost, void *arg)
{
	struct fixture *f = arg;

	f->hints++;
	f->parts |= parts;
	f->losses += lost;
}

static void on_address(int nsid, int ifindex, void *arg)
{
	struct fixture *f = arg;

	f->addresses++;
	f->address_nsid = nsid;
	f->address_ifindex = ifindex;
}

__attribute__((format(printf, 1, 2))) static void run(const char *fmt, ...)
{
	char command[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

/* Starts a child in its own network namespace, which lives at most as long as this process. */
static void start_other_process(struct fixture *f)
{
	int ready[2];
	char byte = 0;

	assert_int_equal(pipe(ready), 0);
	f->other_process = fork();
	assert_true(f->other_process >= 0);
	if (f->other_process == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) < 0 || write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

static void stop_other_process(struct fixture *f)
{
	kill(f->other_process, SIGKILL);
	waitpid(f->other_process, NULL, 0);
}

static int open_links(struct fixture *f, unsigned buffer_bytes)
{
	const struct link_hooks hooks = {.hint = on_hint, .address = on_address, .arg = f};
	struct err e = {0};

	return link_events_open(&f->links, &f->loop, buffer_bytes, &f->self, &f->inventory, &hooks,
				&e);
}

/* Creates a veth pair; its end near0 carries the RDMA port. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	assert_int_equal(uv_loop_init(&f->loop), 0);
	if (!namespaces_entered())
		return 0;
	run("ip link add near0 type veth peer name far0");
	f->port = (struct rdma_port){
		.num = 1, .netdev_nsid = NSID_HOST, .netdev_ifindex = (int)if_nametoindex("near0")};
	f->rdma = (struct rdma_dev){.name = "rxe0", .n_ports = 1, .ports = &f->port};
	f->inventory.host.rdma = &f->rdma;
	f->inventory.host.n_rdma = 1;
	return open_links(f, BUFFER_BYTES);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->other_process > 0)
		stop_other_process(f); /* it has copies of our descriptors */
	link_events_close(f->links);
	assert_int_equal(loop_end(&f->loop), 0);
	/* The other namespace is removed asynchronously, and the pair with it. */
	if (if_nametoindex("near0") > 0)
		run("ip link delete near0 2>/dev/null || ! ip link show near0 2>/dev/null");
	free(f);
	return 0;
}

/* Receives all events so far: when a command ends, its events are in the socket. */
static void receive_all(struct fixture *f)
{
	while (uv_run(&f->loop, UV_RUN_NOWAIT) && loop_wakeups(&f->loop, 1) > 1)
		;
}

/* --- which changes matter --------------------------------------------------------------------- */

static void test_other_links_give_no_hint(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	run("ip link add other0 type veth peer name other1");
	run("ip link set other0 up");
	run("ip link delete other0");
	receive_all(f);
	assert_true(f->self.events_rtnetlink >= 4); /* but the events were counted */
	assert_int_equal(f->hints, 0);
	assert_int_equal(f->self.malformed_rtnetlink, 0);
	assert_int_equal(f->self.overruns_rtnetlink, 0);
}

static void test_a_link_with_an_rdma_port_gives_one_hint_a_burst(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	for (int i = 0; i < 20; i++)
		run("ip link set near0 mtu %d", 1400 + i);
	uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_int_equal(f->hints, 1);
	assert_int_equal(f->parts, SCAN_NETDEVS | SCAN_RDMA);
	assert_int_equal(f->losses, 0);
	assert_true(f->self.events_rtnetlink >= 20);
}

static void test_a_removed_link_gives_a_hint(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	run("ip link delete near0");
	receive_all(f);
	assert_true(f->hints >= 1);
	assert_int_equal(f->parts, SCAN_NETDEVS | SCAN_RDMA);
}

static void test_addresses_are_reported_with_their_link(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	run("ip address add 192.0.2.1/24 dev near0");
	receive_all(f);
	assert_int_equal(f->addresses, 1);
	assert_int_equal(f->address_nsid, NSID_HOST);
	assert_int_equal(f->address_ifindex, f->port.netdev_ifindex);
	run("ip address delete 192.0.2.1/24 dev near0");
	receive_all(f);
	assert_int_equal(f->addresses, 2);
	assert_int_equal(f->hints, 0);
}

static void test_only_default_routes_are_received(void **state)
{
	struct fixture *f = *state;
	uint64_t events;

	namespaces_need();
	run("ip link set lo up");
	receive_all(f);
	f->hints = 0;
	events = f->self.events_rtnetlink;
	run("for i in $(seq 50); do echo route add 198.51.100.$i dev lo; done | ip -batch -");
	run("ip -6 route add 2001:db8::/32 dev lo");
	receive_all(f);
	assert_int_equal(f->hints, 0);
	assert_int_equal(f->self.events_rtnetlink, events); /* the kernel's filter dropped them */
	run("ip route add default dev lo");
	receive_all(f);
	assert_int_equal(f->hints, 1);
	assert_int_equal(f->parts, SCAN_NETDEVS);
	run("ip -6 route add default dev lo && ip -6 route delete default dev lo");
	receive_all(f);
	assert_int_equal(f->hints, 2);
	run("ip route flush table main && ip -6 route flush table main");
	receive_all(f);
	assert_int_equal(f->hints, 3);
	assert_int_equal(f->self.malformed_rtnetlink, 0);
}

/* --- other namespaces ------------------------------------------------------------------------- */

/* When an end of the pair moves there, the kernel assigns an id to the other namespace. */
static void test_links_in_other_namespaces_are_received_with_their_id(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	start_other_process(f);
	run("ip link set far0 netns %d", (int)f->other_process);
	receive_all(f);
	f->hints = 0;
	run("nsenter --net=/proc/%d/ns/net ip address add 192.0.2.2/24 dev far0",
	    (int)f->other_process);
	receive_all(f);
	assert_int_equal(f->addresses, 1);
	assert_true(f->address_nsid >= 0);
	assert_int_equal(f->hints, 0);
	/* The index alone would be another link's; now the port's netdev is in that namespace. */
	f->port.netdev_nsid = f->address_nsid;
	f->port.netdev_ifindex = f->address_ifindex;
	run("nsenter --net=/proc/%d/ns/net ip link set far0 mtu 1400", (int)f->other_process);
	receive_all(f);
	assert_int_equal(f->hints, 1);
	assert_int_equal(f->parts, SCAN_NETDEVS | SCAN_RDMA);
}

/* --- lost and forged events
 * --------------------------------------------------------------------- */

static void test_lost_events_are_reported(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	link_events_close(f->links);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(open_links(f, 1024), 0);
	run("for i in $(seq 200); do echo link set near0 mtu $((1000 + i)); done | ip -batch -");
	receive_all(f);
	assert_true(f->losses >= 1);
	assert_int_equal(f->self.overruns_rtnetlink, f->losses);
	assert_int_equal(f->self.malformed_rtnetlink, 0);
}

/* Returns the port of the one socket that receives link events here (proc(5), net/netlink: columns
 * 2 to 4 are protocol, port and groups). */
static unsigned port_of_listener(void)
{
	unsigned protocol, port, groups, found = 0;
	FILE *f = fopen("/proc/self/net/netlink", "r");
	char line[256];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %u %u %x", &protocol, &port, &groups) == 3 &&
		    protocol == NETLINK_ROUTE && port > 0 && groups & 1u << (RTNLGRP_LINK - 1))
			found = port;
	fclose(f);
	assert_true(found > 0);
	return found;
}

/* Sends a valid message that comes from another process. */
static void forge_end_of(const struct fixture *f)
{
	const struct ifinfomsg link = {.ifi_family = AF_UNSPEC,
				       .ifi_index = f->port.netdev_ifindex};
	const struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = port_of_listener()};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_DELLINK, 0);
	AUTO_FD fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	uint32_t len;

	assert_true(fd >= 0);
	nlmsg_append(m, (void *)&link, sizeof(link), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, "near0");
	len = nlmsg_hdr(m)->nlmsg_len;
	assert_int_equal(sendto(fd, nlmsg_hdr(m), len, 0, (const struct sockaddr *)&to, sizeof(to)),
			 len);
	nlmsg_free(m);
}

static void test_forged_messages_are_dropped_and_counted(void **state)
{
	struct fixture *f = *state;

	namespaces_need();
	forge_end_of(f);
	receive_all(f);
	assert_int_equal(f->self.malformed_rtnetlink, 1);
	assert_int_equal(f->self.events_rtnetlink, 0);
	assert_int_equal(f->hints, 0);
	/* Messages of the kernel are still received. */
	run("ip link set near0 up");
	receive_all(f);
	assert_true(f->hints >= 1);
}

/* --- the namespace ---------------------------------------------------------------------------- */

static int enter_namespace(void **state)
{
	(void)state;
	log_init(LOG_LVL_ERROR, LOG_FORMAT_TEXT);
	namespaces_enter();
	return 0;
}

TEST_GROUP(link_events)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_other_links_give_no_hint, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_link_with_an_rdma_port_gives_one_hint_a_burst, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_removed_link_gives_a_hint, setup, teardown),
		cmocka_unit_test_setup_teardown(test_addresses_are_reported_with_their_link, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_only_default_routes_are_received, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_links_in_other_namespaces_are_received_with_their_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_events_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forged_messages_are_dropped_and_counted, setup,
						teardown),
	};

	return test_group_run(tests, enter_namespace, NULL);
}
