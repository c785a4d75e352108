// SPDX-License-Identifier: Apache-2.0
/* The netdevs stacked on a netdev, and its NAPI settings: read from the kernel, or found by a
 * search if no BPF program may run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "faults.h"
#include "genl.h"
#include "namespaces.h"
#include "netdev_state_read.h"
#include "test_group.h"

static const char *no_namespace;
static bool kernel_answers;
static struct hw hw = {.sys_fd = -1, .dev_fd = -1, .proc_fd = -1, .live = true};

/* In a child, because the answer is cached for a process. */
static bool ask_in_child(void)
{
	struct netdev_inside in;
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(netdev_inside_read(&hw, 1, &in) != 0);
	return waitpid(child, &status, 0) == child && status == 0;
}

/* Without permission to load a program only the search can be tested. */
static void need_kernel(void)
{
	if (kernel_answers)
		return;
	print_message("skipped: the program cannot be loaded on this kernel\n");
	skip();
}

static int setup(void **state)
{
	(void)state;
	if (no_namespace || namespaces_enter())
		skip();
	hw.no_bpf = false;
	namespace_run(-1, "ip link add low0 type veth peer far0 && ip link set far0 up");
	return 0;
}

static unsigned ino_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (unsigned)st.st_ino;
}

static int own_namespace(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Creates a macvlan on low0 in the namespace of fd. */
static void put_on(int fd, const char *name)
{
	namespace_run(
		-1, "ip link add link low0 %s type macvlan && ip link set %s netns /proc/%d/fd/%d",
		name, name, getpid(), fd);
}

static int read_inside(struct netdev_inside *ret)
{
	return netdev_inside_read(&hw, (int)if_nametoindex("low0"), ret);
}

static void finds(int r, const char *name, unsigned netns)
{
	struct netdev_inside in;

	assert_int_equal(read_inside(&in), r);
	assert_int_equal(in.n_uppers, 1);
	assert_string_equal(in.first.name, name);
	assert_string_equal(in.first.kind, "macvlan");
	assert_int_equal(in.first.netns, netns);
}

static void finds_none(int r)
{
	struct netdev_inside in;

	assert_int_equal(read_inside(&in), r);
	assert_int_equal(in.n_uppers, 0);
	assert_int_equal(in.napi_differing, 0);
}

/* --- interfaces on top ------------------------------------------------------------------------ */

static void found_in_another_namespace(int r)
{
	AUTO_FD nested = namespace_new();

	finds_none(r);
	put_on(nested, "hidden0");
	finds(r, "hidden0", ino_of(nested));
	namespace_run(nested, "ip link delete hidden0");
	finds_none(r);
}

/* An interface in the host's namespace, put there by a process that may leave its pod's. */
static void found_in_the_host(int r)
{
	AUTO_FD own = own_namespace();

	namespace_run(-1, "ip link add link low0 home0 type macvlan");
	finds(r, "home0", ino_of(own));
	namespace_run(-1, "ip link delete home0");
	finds_none(r);
}

/* As in a pod: created in a hidden namespace while the netdev was there. No event has reported
 * it. */
static void found_after_a_move(int r)
{
	AUTO_FD nested = namespace_new(), pod = namespace_new(), own = own_namespace();

	namespace_run(-1, "ip link set low0 netns /proc/%d/fd/%d", getpid(), pod);
	namespace_run(pod,
		      "ip link add link low0 hidden0 type macvlan && "
		      "ip link set hidden0 netns /proc/%d/fd/%d && "
		      "ip link set low0 netns /proc/%d/fd/%d",
		      getpid(), nested, getpid(), own);
	finds(r, "hidden0", ino_of(nested));
	namespace_run(nested, "ip link delete hidden0");
}

static void the_kernel_finds_interfaces_on_top(void **state)
{
	(void)state;
	need_kernel();
	found_in_another_namespace(0);
	found_in_the_host(0);
	found_after_a_move(0);
}

static void a_search_finds_interfaces_on_top(void **state)
{
	(void)state;
	hw.no_bpf = true;
	found_in_another_namespace(NETDEV_SEARCHED);
	found_in_the_host(NETDEV_SEARCHED);
	found_after_a_move(NETDEV_SEARCHED);
}

/* Not on top: a veth peer, and interfaces on another netdev, even one with the same index in
 * another namespace. */
/* An interface keeps its id when it is moved and renamed, while another netdev may get its old
 * index. */
static void an_interface_keeps_its_id(void **state)
{
	AUTO_FD nested = namespace_new(), other = namespace_new();
	const int low = (int)if_nametoindex("low0");
	struct netdev_upper place = {.netns = ino_of(nested)}, first, second, found;

	(void)state;
	need_kernel();
	put_on(nested, "hidden0");
	namespace_run(nested, "ip link set hidden0 down");
	place.ifindex = 0;
	assert_int_equal(netdev_upper_find(&hw, low, &(struct netdev_upper){.id = 1}, &found), 0);
	for (place.ifindex = 1; netdev_upper_find(&hw, low, &place, &first) == 0; place.ifindex++)
		assert_true(place.ifindex < 1000);
	assert_string_equal(first.name, "hidden0");
	assert_true(first.id != 0);
	namespace_run(nested,
		      "ip link set hidden0 name seen0 && ip link set seen0 netns /proc/%d/fd/%d",
		      getpid(), other);
	assert_int_equal(netdev_upper_find(&hw, low, &first, &found), 1);
	assert_string_equal(found.name, "seen0");
	assert_int_equal(found.netns, ino_of(other));
	assert_true(found.id == first.id);
	namespace_run(other, "ip link delete seen0");
	assert_int_equal(netdev_upper_find(&hw, low, &first, &found), 0);
	put_on(nested, "hidden0");
	for (place.ifindex = 1; netdev_upper_find(&hw, low, &place, &second) == 0; place.ifindex++)
		assert_true(place.ifindex < 1000);
	assert_true(second.id != first.id);
	hw.no_bpf = true;
	assert_true(netdev_upper_find(&hw, low, &second, &found) < 0);
	hw.no_bpf = false;
	namespace_run(nested, "ip link delete hidden0");
}

static void similar_interfaces_are_not_reported(void **state)
{
	AUTO_FD nested = namespace_new();
	unsigned index = if_nametoindex("low0");
	(void)state;

	namespace_run(-1, "ip link set far0 netns /proc/%d/fd/%d", getpid(), nested);
	namespace_run(nested,
		      "ip link add same0 index %u type veth peer other0 index %u && "
		      "ip link add link same0 on0 type macvlan",
		      index, index + 100);
	namespace_run(-1, "ip link add near1 type veth peer far1");
	namespace_run(-1,
		      "ip link add link near1 on1 type macvlan && "
		      "ip link set on1 netns /proc/%d/fd/%d",
		      getpid(), nested);
	hw.no_bpf = true;
	finds_none(NETDEV_SEARCHED);
	hw.no_bpf = false;
	need_kernel();
	finds_none(0);
}

struct inside {
	int netns_fd, socket;
};

static void *open_socket(void *arg)
{
	struct inside *s = arg;

	s->socket = setns(s->netns_fd, CLONE_NEWNET) < 0 ? -1 : socket(AF_INET, SOCK_DGRAM, 0);
	return NULL;
}

/* No link in /proc leads to a namespace that only a socket keeps, so a search proves nothing. */
static void the_kernel_finds_what_a_search_misses(void **state)
{
	struct inside s = {.netns_fd = namespace_new()};
	pthread_t thread;
	unsigned netns = ino_of(s.netns_fd);
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, open_socket, &s), 0);
	pthread_join(thread, NULL);
	assert_true(s.socket >= 0);
	put_on(s.netns_fd, "hidden0");
	close(s.netns_fd);
	hw.no_bpf = true;
	finds_none(NETDEV_SEARCHED);
	hw.no_bpf = false;
	need_kernel();
	finds(0, "hidden0", netns);
	close(s.socket);
}

/* Whichever request fails, it is found or unknown, never absent. */
static void a_failed_search_is_never_reported_as_absent(void **state)
{
	AUTO_FD nested = namespace_new();
	struct netdev_inside in;
	bool hit = true;
	long n;
	(void)state;

	hw.no_bpf = true;
	for (n = 0; hit; n++) {
		int r;

		faults_send(n, ENOBUFS);
		r = read_inside(&in);
		hit = faults_end();
		assert_int_equal(r, hit ? -ENODATA : NETDEV_SEARCHED);
	}
	assert_true(n > 2);
	put_on(nested, "hidden0");
	for (hit = true, n = 0; hit; n++) {
		int r;

		faults_send(n, ENOBUFS);
		r = read_inside(&in);
		hit = faults_end();
		if (in.n_uppers)
			assert_int_equal(r, NETDEV_SEARCHED);
		else
			assert_true(hit && r == -ENODATA);
	}
	assert_true(n > 3);
}

static void an_unknown_index_is_enodev(void **state)
{
	struct netdev_inside in;
	(void)state;

	need_kernel();
	assert_int_equal(netdev_inside_read(&hw, 99999, &in), -ENODEV);
}

/* --- the program ------------------------------------------------------------------------------ */

/* The first test, so that no program has been loaded yet. */
static void a_temporary_failure_is_retried(void **state)
{
	struct rlimit before, few;
	struct netdev_inside in;
	AUTO_FD highest = dup(0);
	int r;
	(void)state;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)highest + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	r = read_inside(&in);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(r < 0);
	need_kernel();
	finds_none(0);
}

/* --- NAPI ------------------------------------------------------------------------------------- */

/* linux/include/uapi/linux/netdev.h */
#define NAPI_GET	   11
#define NAPI_SET	   14
#define NAPI_IFINDEX	   1
#define NAPI_ID		   2
#define NAPI_DEFER	   5
#define NAPI_FLUSH_TIMEOUT 6
#define NAPI_SUSPEND	   7

static int on_family(const struct nlmsghdr *h, void *arg)
{
	return genl_decode_family(h, arg);
}

static int on_napi(const struct nlmsghdr *h, void *arg)
{
	const struct nlattr *id = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct genlmsghdr),
						  NAPI_ID);

	if (id)
		*(uint32_t *)arg = nla_get_u32(id);
	return 0;
}

/* A veth has NAPI instances when it is up and GRO is on. */
static void give_napi(void)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ethtool_value gro = {.cmd = ETHTOOL_SGRO, .data = 1};
	struct ifreq ifr = {.ifr_name = "low0", .ifr_data = (void *)&gro};

	assert_int_equal(ioctl(fd, SIOCETHTOOL, &ifr), 0);
	namespace_run(-1, "ip link set low0 up");
}

static void set_napi(struct nlsock *s, uint16_t family, uint32_t id, int attr, uint32_t value)
{
	struct nl_msg *msg = genl_request(family, NAPI_SET, 1, 0);

	assert_int_equal(nla_put_u32(msg, NAPI_ID, id), 0);
	if (attr == NAPI_DEFER)
		assert_int_equal(nla_put_u32(msg, attr, value), 0);
	else
		assert_int_equal(nla_put_u64(msg, attr, value), 0);
	assert_int_equal(nlsock_query(s, msg, NULL, NULL, NULL), 0);
}

static void napi_instances_with_other_settings_are_counted(void **state)
{
	static const int attrs[] = {NAPI_DEFER, NAPI_FLUSH_TIMEOUT, NAPI_SUSPEND};
	struct netdev_inside in;
	uint16_t family = 0;
	uint32_t id = 0;
	struct nl_msg *msg;
	struct nlsock s;
	(void)state;

	need_kernel();
	give_napi();
	assert_int_equal(nlsock_open(&s, NETLINK_GENERIC, NULL), 0);
	nlsock_query(&s, genl_family_request("netdev"), on_family, &family, NULL);
	msg = genl_request(family, NAPI_GET, 1, NLM_F_DUMP);
	assert_int_equal(nla_put_u32(msg, NAPI_IFINDEX, if_nametoindex("low0")), 0);
	if (!family || nlsock_query(&s, msg, on_napi, &id, NULL) < 0 || !id) {
		print_message("skipped: a kernel before 6.13\n");
		skip();
	}
	finds_none(0);
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		set_napi(&s, family, id, attrs[i], 77);
		assert_int_equal(read_inside(&in), 0);
		assert_int_equal(in.napi_differing, 1);
		set_napi(&s, family, id, attrs[i], 0);
		finds_none(0);
	}
	nlsock_close(&s);
}

TEST_GROUP(netdev_inside)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_temporary_failure_is_retried, setup),
		cmocka_unit_test_setup(the_kernel_finds_interfaces_on_top, setup),
		cmocka_unit_test_setup(a_search_finds_interfaces_on_top, setup),
		cmocka_unit_test_setup(an_interface_keeps_its_id, setup),
		cmocka_unit_test_setup(similar_interfaces_are_not_reported, setup),
		cmocka_unit_test_setup(the_kernel_finds_what_a_search_misses, setup),
		cmocka_unit_test_setup(a_failed_search_is_never_reported_as_absent, setup),
		cmocka_unit_test_setup(an_unknown_index_is_enodev, setup),
		cmocka_unit_test_setup(napi_instances_with_other_settings_are_counted, setup),
	};

	no_namespace = namespaces_enter_pids();
	hw.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kernel_answers = ask_in_child();
	return test_group_run(tests, NULL, NULL);
}
