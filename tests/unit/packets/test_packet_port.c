// SPDX-License-Identifier: Apache-2.0
/* Watching an interface: veth pairs in the test's own namespaces, real packets, every hook, and
 * nothing left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "fds.h"
#include "loop_helpers.h"
#include "namespaces.h"
#include "netns.h"
#include "packet_port.h"
#include "roce_account.h"
#include "roce_frames.h"
#include "test_group.h"

#define TCX_INGRESS 46
#define CYCLES	    10

static const char *why_not;
static int near_index, far_index;

static int setup(void **state)
{
	(void)state;
	if (why_not)
		skip();
	namespace_run(-1, "ip link add near0 type veth peer name far0 && ip link set near0 up && "
			  "ip link set far0 up && ip addr add 192.0.2.1/24 dev near0 && "
			  "ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev near0");
	near_index = (int)if_nametoindex("near0");
	far_index = (int)if_nametoindex("far0");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (!why_not)
		namespace_run(-1, "ip link delete near0 2>/dev/null || true");
	return 0;
}

static struct packet_port_fd *open_port(const struct packet_port_spec *spec, enum packet_hook hook)
{
	struct packet_port_fd *port = NULL;
	enum packet_hook got;
	struct err e = {0};
	int r = packet_port_open(&port, spec, &got, &e);

	if (r < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(got, hook);
	return port;
}

static void send_on(int fd, int ifindex, const struct roce_frame_spec *s)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = ifindex, .sll_halen = 6};
	uint8_t frame[ROCE_FRAME_MAX];
	size_t n = roce_frame_make(frame, s);

	assert_int_equal(sendto(fd, frame, n, 0, (struct sockaddr *)&to, sizeof(to)), n);
}

static int packet_socket(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

static void send_frame(int ifindex, const struct roce_frame_spec *s)
{
	AUTO_FD fd = packet_socket();

	send_on(fd, ifindex, s);
}

static struct roce_counts read_one(const struct packet_port_fd *port, enum roce_direction d)
{
	struct roce_counts counts[N_ROCE_DIRECTIONS];

	assert_int_equal(packet_port_read(port, counts), 0);
	return counts[d];
}

/* Waits until at least so many packets are counted. */
static void wait_packets(const struct packet_port_fd *port, enum roce_direction d, uint64_t n)
{
	for (int i = 0; i < PATIENCE_MS && read_one(port, d).packets < n; i++)
		poll(NULL, 0, 1);
	assert_int_equal(read_one(port, d).packets, n);
}

static const struct roce_frame_spec write_packet = {
	.opcode = 0x0a, .reth_length = 4096, .payload = 100, .traffic_class = 3, .qpn = 17};

static void both_directions_are_counted(void **state)
{
	static const struct {
		struct packet_port_spec spec;
		enum packet_hook hook;
	} ways[] = {
		{{.netns_fd = -1}, PACKET_HOOK_TCX},
		{{.netns_fd = -1, .flows = 1024}, PACKET_HOOK_TCX},
		{{.netns_fd = -1, .clsact = true}, PACKET_HOOK_CLSACT},
		{{.netns_fd = -1, .xdp = true}, PACKET_HOOK_XDP},
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct packet_port_spec spec = ways[i].spec;
		struct packet_port_fd *port;
		struct roce_counts c;

		spec.ifindex = near_index;
		port = open_port(&spec, ways[i].hook);
		assert_true(packet_port_memory(port) > sizeof(struct roce_counts));
		send_frame(far_index, &write_packet);
		send_frame(far_index, &(struct roce_frame_spec){.port = 53});
		send_frame(far_index, &write_packet);
		wait_packets(port, ROCE_RECEIVED, 2);
		c = read_one(port, ROCE_RECEIVED);
		assert_int_equal(c.bytes, 2 * (42 + 12 + 16 + 100 + 4));
		assert_int_equal(c.traffic_class[3], 2);
		assert_int_equal(c.requested_write_bytes, 2 * 4096);
		assert_int_equal(read_one(port, ROCE_SENT).packets, 0);
		send_frame(near_index, &write_packet);
		if (!spec.xdp)
			wait_packets(port, ROCE_SENT, 1);
		assert_int_equal(read_one(port, ROCE_SENT).packets, spec.xdp ? 0 : 1);
		packet_port_close(port);
	}
}

static void several_programs_see_the_same(void **state)
{
	const struct packet_port_spec specs[] = {
		{.netns_fd = -1, .ifindex = near_index},
		{.netns_fd = -1, .ifindex = near_index, .clsact = true},
		{.netns_fd = -1, .ifindex = near_index, .xdp = true},
		{.netns_fd = -1, .ifindex = near_index},
	};
	static const enum packet_hook hooks[] = {PACKET_HOOK_TCX, PACKET_HOOK_CLSACT,
						 PACKET_HOOK_XDP, PACKET_HOOK_TCX};
	struct packet_port_fd *ports[ARRAY_SIZE(specs)];
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		ports[i] = open_port(&specs[i], hooks[i]);
	for (int i = 0; i < 10; i++)
		send_frame(far_index, &write_packet);
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		wait_packets(ports[i], ROCE_RECEIVED, 10);
	for (size_t i = ARRAY_SIZE(specs); i-- > 0;)
		packet_port_close(ports[i]);
	namespace_run(-1, "! tc qdisc show dev near0 | grep clsact");
}

/* A qdisc of another program is kept. */
static void a_qdisc_of_others_stays(void **state)
{
	const struct packet_port_spec spec = {
		.netns_fd = -1, .ifindex = near_index, .clsact = true};
	(void)state;

	namespace_run(-1, "tc qdisc add dev near0 clsact");
	packet_port_close(open_port(&spec, PACKET_HOOK_CLSACT));
	namespace_run(-1, "tc qdisc show dev near0 | grep -q clsact && "
			  "! tc filter show dev near0 ingress | grep . && "
			  "! tc filter show dev near0 egress | grep .");
}

static void has_filters(int n)
{
	namespace_run(-1,
		      "for d in ingress egress; do "
		      "test $(tc filter show dev near0 $d | grep -c handle) = %d; done",
		      n);
}

/* A killed process leaves its filters; the next process replaces them. */
static void filters_left_by_a_crash_are_replaced(void **state)
{
	const struct packet_port_spec spec = {
		.netns_fd = -1, .ifindex = near_index, .clsact = true};
	struct packet_port_fd *port;
	pid_t pid = fork();
	int status;
	(void)state;

	if (pid == 0) {
		open_port(&spec, PACKET_HOOK_CLSACT);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	has_filters(1);
	port = open_port(&spec, PACKET_HOOK_CLSACT);
	has_filters(1);
	send_frame(far_index, &write_packet);
	wait_packets(port, ROCE_RECEIVED, 1);
	packet_port_close(port);
	has_filters(0);
}

/* The first port created the qdisc, but must not remove it while the second one has filters
 * there. */
static void a_successor_keeps_its_filters(void **state)
{
	const struct packet_port_spec spec = {
		.netns_fd = -1, .ifindex = near_index, .clsact = true};
	struct packet_port_fd *first, *second;
	(void)state;

	first = open_port(&spec, PACKET_HOOK_CLSACT);
	second = open_port(&spec, PACKET_HOOK_CLSACT);
	has_filters(1);
	packet_port_close(first);
	has_filters(1);
	send_frame(far_index, &write_packet);
	wait_packets(second, ROCE_RECEIVED, 1);
	packet_port_close(second);
	has_filters(0);
	namespace_run(-1, "tc qdisc show dev near0 | grep -q clsact");
}

/* Another program's filter has the first priority and keeps it. */
static void a_priority_in_use_is_skipped(void **state)
{
	const struct packet_port_spec spec = {
		.netns_fd = -1, .ifindex = near_index, .clsact = true};
	struct packet_port_fd *port;
	(void)state;

	namespace_run(-1, "tc qdisc add dev near0 clsact && tc filter add dev near0 ingress "
			  "prio 1 protocol arp bpf bytecode '1,6 0 0 0'");
	port = open_port(&spec, PACKET_HOOK_CLSACT);
	namespace_run(-1, "tc filter show dev near0 ingress | grep -q 'all pref 2 bpf' && "
			  "tc filter show dev near0 egress | grep -q 'all pref 1 bpf'");
	packet_port_close(port);
	namespace_run(-1, "tc filter show dev near0 ingress | grep -q 'arp pref 1 bpf' && "
			  "! tc filter show dev near0 ingress | grep 'all pref'");
}

static void another_namespace_is_visited(void **state)
{
	static const bool ways[] = {false, true};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		AUTO_FD ns = namespace_new();
		struct packet_port_spec spec = {.netns_fd = ns, .clsact = ways[i]};
		struct packet_port_fd *port;

		namespace_run(ns, "ip link add name near1 index 77 type veth peer name far1 "
				  "index 78 && ip link set near1 up && ip link set far1 up");
		spec.ifindex = 77;
		port = open_port(&spec, ways[i] ? PACKET_HOOK_CLSACT : PACKET_HOOK_TCX);
		assert_int_equal(if_nametoindex("near1"), 0);
		packet_port_close(port);
		namespace_run(ns, "! tc qdisc show dev near1 | grep clsact");
	}
}

static void errors_of_opening_have_a_reason(void **state)
{
	struct packet_port_spec spec = {.netns_fd = -1, .ifindex = 4711};
	struct packet_port_fd *port = NULL, *first;
	enum packet_hook hook = PACKET_HOOK_NONE;
	AUTO_FD file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct err e = {0};
	(void)state;

	assert_int_equal(packet_port_open(&port, &spec, &hook, &e), -ENODEV);
	assert_string_equal(e.msg, "interface 4711: No such device");
	spec.netns_fd = file;
	assert_int_equal(packet_port_open(&port, &spec, &hook, &e), -EINVAL);
	assert_string_equal(e.msg, "cannot enter its network namespace: Invalid argument");
	spec = (struct packet_port_spec){.netns_fd = -1, .ifindex = near_index, .xdp = true};
	first = open_port(&spec, PACKET_HOOK_XDP);
	assert_int_equal(packet_port_open(&port, &spec, &hook, &e), -EBUSY);
	assert_string_equal(e.msg, "XDP: another program is attached");
	packet_port_close(first);
	assert_null(port);
	assert_int_equal(hook, PACKET_HOOK_NONE);
	packet_port_close(NULL);
}

static void a_removed_interface_frees_its_programs(void **state)
{
	const struct packet_port_spec spec = {.netns_fd = -1, .ifindex = near_index, .flows = 64};
	struct packet_port_fd *port = open_port(&spec, PACKET_HOOK_TCX);
	struct roce_counts counts[N_ROCE_DIRECTIONS];
	(void)state;

	namespace_run(-1, "ip link delete near0");
	assert_int_equal(packet_port_read(port, counts), 0);
	packet_port_close(port);
}

struct found {
	unsigned n, stop_at;
	uint64_t packets;
};

static int on_flow(const struct roce_flow_key *key, const struct roce_flow *flow, void *arg)
{
	struct found *f = arg;

	assert_int_equal(key->saddr[10], 0xff);
	f->n++;
	f->packets += flow->packets;
	return f->n == f->stop_at ? -ECANCELED : 0;
}

static void every_flow_is_walked(void **state)
{
	enum { FLOWS = 700 };
	const struct packet_port_spec spec = {.netns_fd = -1, .ifindex = near_index, .flows = 8192};
	struct packet_port_fd *port = open_port(&spec, PACKET_HOOK_TCX);
	struct found all = {0}, some = {.stop_at = 5};
	(void)state;

	for (uint32_t i = 0; i < FLOWS; i++) {
		struct roce_frame_spec s = write_packet;

		s.qpn = i;
		send_frame(far_index, &s);
	}
	wait_packets(port, ROCE_RECEIVED, FLOWS);
	assert_int_equal(packet_port_flows(port, on_flow, &all), 0);
	assert_int_equal(all.n, FLOWS);
	assert_int_equal(all.packets, FLOWS);
	assert_int_equal(packet_port_flows(port, on_flow, &some), -ECANCELED);
	assert_int_equal(some.n, 5);
	packet_port_close(port);
}

/* sendfile() puts the data into pages, so that only the UDP header is in the linear part. */
enum { PACKETS = 100000, LENGTHS = 64 };

/* A packet's length is derived from its QPN. */
static void *flood(void *arg)
{
	struct roce_frame_spec s = {.opcode = 0x04};
	AUTO_FD fd = packet_socket(); /* closing waits for an RCU grace period in the kernel */
	(void)arg;

	for (uint32_t i = 0; i < PACKETS; i++) {
		s.qpn = i;
		s.payload = i % LENGTHS;
		send_on(fd, far_index, &s);
	}
	return NULL;
}

/* A packet may be counted before its bytes, but bytes are always multiples of the flow's packet
 * length. */
static int is_whole(const struct roce_flow_key *key, const struct roce_flow *flow, void *arg)
{
	const struct roce_frame_spec s = {.opcode = 0x04, .payload = key->qpn % LENGTHS};
	uint8_t frame[ROCE_FRAME_MAX];

	++*(uint64_t *)arg;
	return flow->bytes % roce_frame_make(frame, &s) == 0 ? 0 : -EBADMSG;
}

/* The flood fills two sets again and again while they are read: no flow may have counts of another
 * one. */
static void flows_are_consistent_while_being_replaced(void **state)
{
	const struct packet_port_spec spec = {.netns_fd = -1, .ifindex = near_index, .flows = 16};
	struct packet_port_fd *port = open_port(&spec, PACKET_HOOK_TCX);
	uint64_t n = 0;
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, flood, NULL), 0);
	do
		assert_int_equal(packet_port_flows(port, is_whole, &n), 0);
	while (pthread_tryjoin_np(thread, NULL) != 0);
	assert_true(n > 0);
	assert_true(read_one(port, ROCE_RECEIVED).flow_evictions > 0);
	packet_port_close(port);
}

static void headers_in_fragments_are_found(void **state)
{
	const struct packet_port_spec spec = {.netns_fd = -1, .ifindex = near_index};
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(ROCE_UDP_PORT),
				 .sin_addr.s_addr = htonl(0xc0000202)};
	AUTO_FD file = memfd_create("packet", MFD_CLOEXEC);
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct packet_port_fd *port = open_port(&spec, PACKET_HOOK_TCX);
	uint8_t frame[ROCE_FRAME_MAX];
	size_t n = roce_frame_make(frame, &write_packet) - 42;
	off_t from = 0;
	(void)state;

	assert_true(file >= 0 && fd >= 0);
	assert_int_equal(write(file, frame + 42, n), n);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(sendfile(fd, file, &from, n), n);
	wait_packets(port, ROCE_SENT, 1);
	assert_int_equal(read_one(port, ROCE_SENT).ops[ROCE_OP_INDEX(ROCE_RC, ROCE_WRITE)], 1);
	assert_int_equal(read_one(port, ROCE_SENT).requested_write_bytes, 4096);
	packet_port_close(port);
}

/* --- leaks ---------------------------------------------------------------------------------- */

struct ids {
	uint32_t program, maps[8], n_maps;
};

struct first_program {
	int ifindex;
	uint32_t id;
};

static int find_program(void *arg)
{
	struct first_program *f = arg;
	uint32_t n = 1;

	if (bpf_prog_query(f->ifindex, (enum bpf_attach_type)TCX_INGRESS, 0, NULL, &f->id, &n) < 0)
		return -errno;
	return n == 1 ? 0 : -ENOENT;
}

/* Gets the ids of the interface's first program and of its maps. */
static void note_ids(struct ids *ids, const struct packet_port_spec *spec)
{
	struct bpf_prog_info info = {.map_ids = (uint64_t)(uintptr_t)ids->maps, .nr_map_ids = 8};
	struct first_program first = {.ifindex = spec->ifindex};
	uint32_t size = sizeof(info);
	AUTO_FD fd = -1;

	assert_int_equal(spec->netns_fd < 0 ? find_program(&first)
					    : netns_run(spec->netns_fd, find_program, &first),
			 0);
	ids->program = first.id;
	fd = bpf_prog_get_fd_by_id(ids->program);
	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	ids->n_maps = info.nr_map_ids;
	assert_in_range(ids->n_maps, 2, 8);
}

static bool is_gone(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == ENOENT;
}

static bool are_gone(const struct ids *ids)
{
	if (!is_gone(bpf_prog_get_fd_by_id(ids->program)))
		return false;
	for (uint32_t i = 0; i < ids->n_maps; i++)
		if (!is_gone(bpf_map_get_fd_by_id(ids->maps[i])))
			return false;
	return true;
}

/* The kernel frees them only when no CPU uses them any more. */
static void wait_gone(const struct ids *ids)
{
	for (int k = 0; k < PATIENCE_MS && !are_gone(ids); k++)
		poll(NULL, 0, 1);
	assert_true(are_gone(ids));
}

static int cycles(void)
{
	return getenv("CYCLES") ? atoi(getenv("CYCLES")) : CYCLES;
}

static void repeated_attaching_leaks_nothing(void **state)
{
	const struct packet_port_spec spec = {.netns_fd = -1, .ifindex = near_index, .flows = 64};
	unsigned before = fds_open();
	(void)state;

	for (int i = 0; i < cycles(); i++) {
		struct packet_port_fd *port = open_port(&spec, PACKET_HOOK_TCX);
		struct ids ids;

		note_ids(&ids, &spec);
		packet_port_close(port);
		wait_gone(&ids);
	}
	assert_int_equal(fds_open(), before);
}

/* Every second namespace is removed while its program is attached, as when a pod ends
 * unexpectedly. */
static void removed_namespaces_leak_nothing(void **state)
{
	unsigned before = fds_open();
	(void)state;

	for (int i = 0; i < cycles(); i++) {
		struct packet_port_spec spec = {
			.netns_fd = namespace_new(), .ifindex = 77, .flows = 64};
		struct packet_port_fd *port;
		struct ids ids;

		namespace_run(spec.netns_fd,
			      "ip link add name near1 index 77 type veth peer name far1");
		port = open_port(&spec, PACKET_HOOK_TCX);
		note_ids(&ids, &spec);
		if (i % 2)
			close(spec.netns_fd);
		packet_port_close(port);
		if (i % 2 == 0)
			close(spec.netns_fd);
		wait_gone(&ids);
	}
	assert_int_equal(fds_open(), before);
}

static const char *find_out(void)
{
	struct packet_port_fd *port = NULL;
	enum packet_hook hook;
	struct err e = {0};
	const char *why = namespaces_enter();

	if (why)
		return why;
	if (packet_port_open(&port, &(struct packet_port_spec){.netns_fd = -1, .ifindex = 1}, &hook,
			     &e) == -EPERM)
		return "the kernel refuses the packet programs";
	packet_port_close(port);
	return NULL;
}

TEST_GROUP(packet_port)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_directions_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(several_programs_see_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(a_qdisc_of_others_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(filters_left_by_a_crash_are_replaced, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_successor_keeps_its_filters, setup, teardown),
		cmocka_unit_test_setup_teardown(a_priority_in_use_is_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(another_namespace_is_visited, setup, teardown),
		cmocka_unit_test_setup_teardown(errors_of_opening_have_a_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(a_removed_interface_frees_its_programs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(every_flow_is_walked, setup, teardown),
		cmocka_unit_test_setup_teardown(flows_are_consistent_while_being_replaced, setup,
						teardown),
		cmocka_unit_test_setup_teardown(headers_in_fragments_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(repeated_attaching_leaks_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(removed_namespaces_leak_nothing, setup, teardown),
	};

	libbpf_set_print(NULL);
	why_not = find_out();
	if (why_not)
		print_message("skipped: %s\n", why_not);
	return test_group_run(tests, NULL, NULL);
}
