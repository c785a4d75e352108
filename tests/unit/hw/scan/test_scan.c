// SPDX-License-Identifier: Apache-2.0
/* Whole scans: of a generated node, of this machine, and (root only) of a second namespace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"
#include "nlsock.h"
#include "scan.h"
#include "sysfs_fixture.h"
#include "sysfs_tree.h"
#include "test_group.h"
#include "tmptree.h"

static void test_a_generated_node(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct host *h = &f->scan.host;

	sysfs_tree_generate(f->dir, 3, 12);
	hw_scan(&f->hw, SCAN_ALL, &f->scan);
	assert_int_equal(f->scan.parts, SCAN_ALL);
	for (int i = 0; i < N_SCAN_SOURCES; i++)
		assert_int_equal(f->scan.problem[i].code, 0);
	assert_int_equal(h->n_functions, 15);
	assert_int_equal(h->n_netdevs, 15);
	assert_int_equal(h->n_rdma, 15);
	assert_string_equal(h->rdma[2].name, "mlx5_2");
	assert_string_equal(h->rdma[14].name, "mlx5_14");
	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *d = &h->netdevs[i];

		assert_int_equal(d->ifindex, 10 + i);
		assert_non_null(host_function(h, d->function));
		assert_int_equal(d->addr_len, 6);
		assert_int_equal(d->addr[0], 0xa0);
		assert_int_equal(d->mtu, 9000);
		assert_string_equal(d->operstate, "up");
		assert_int_equal(d->flags, IFF_UP);
		assert_int_equal(d->carrier, CARRIER_ON);
	}
}

static void test_parts_are_read_alone(void **state)
{
	struct sysfs_fixture *f = *state;

	sysfs_tree_generate(f->dir, 1, 0);
	hw_scan(&f->hw, SCAN_FUNCTIONS, &f->scan);
	assert_int_equal(f->scan.parts, SCAN_FUNCTIONS);
	assert_int_equal(f->scan.host.n_netdevs, 0);
	scan_done(&f->scan);
	hw_scan(&f->hw, SCAN_NETDEVS, &f->scan);
	assert_int_equal(f->scan.parts, SCAN_NETDEVS);
	assert_int_equal(f->scan.host.n_functions, 0);
	assert_int_equal(f->scan.host.n_netdevs, 1);
	scan_done(&f->scan);
	hw_scan(&f->hw, 0, &f->scan);
	assert_int_equal(f->scan.parts, 0);
}

static void test_an_empty_tree_names_the_problem(void **state)
{
	struct sysfs_fixture *f = *state;

	hw_scan(&f->hw, SCAN_ALL, &f->scan);
	assert_int_equal(f->scan.parts, SCAN_NETDEVS | SCAN_RDMA | SCAN_REPORTS);
	assert_int_equal(f->scan.problem[SRC_SYSFS].code, -ENOENT);
	assert_non_null(strstr(f->scan.problem[SRC_SYSFS].msg, "sysfs"));
}

static void test_odd_entries_of_class_net(void **state)
{
	struct sysfs_fixture *f = *state;
	const struct netdev *d;

	tmptree_write(f->dir, "class/net/bonding_masters", "bond0\n");
	tmptree_write(f->dir, "class/net/vanished/mtu", "1500\n");
	tmptree_write(f->dir, "class/net/negative/ifindex", "-4\n");
	tmptree_write(f->dir, "class/net/bond0/ifindex", "9\n");
	tmptree_write(f->dir, "class/net/bond0/uevent", "DEVTYPE=bond\nINTERFACE=bond0\n");
	tmptree_write(f->dir, "class/net/eth0/ifindex", "4\n");
	tmptree_write(f->dir, "class/net/eth0/address", "80:00:zz:00\n");
	tmptree_write(f->dir, "class/net/eth0/flags", "0x1002\n");
	tmptree_write(f->dir, "class/net/eth0/operstate", "up\n");
	tmptree_write(f->dir, "class/net/eth0/carrier", "0\n");
	tmptree_write(f->dir, "class/net/eth0/carrier_changes", "3\n");
	tmptree_link(f->dir, "class/net/eth0/master", "../bond0");
	tmptree_write(f->dir, "class/net/eth0/iflink", "4\n");
	tmptree_write(f->dir, "class/net/eth0/type", "32\n");
	tmptree_write(f->dir, "class/net/eth0/phys_port_name", "p1\n");
	tmptree_write(f->dir, "class/net/eth0.7/ifindex", "11\n");
	tmptree_write(f->dir, "class/net/eth0.7/iflink", "4\n");
	tmptree_link(f->dir, "class/net/eth0.7/lower_eth0", "../eth0");
	tmptree_write(f->dir, "class/net/veth1/ifindex", "12\n");
	tmptree_write(f->dir, "class/net/veth1/iflink", "4\n"); /* in another namespace */
	hw_scan(&f->hw, SCAN_NETDEVS, &f->scan);
	assert_int_equal(f->scan.host.n_netdevs, 4);
	assert_int_equal(host_netdev(&f->scan.host, NSID_HOST, 11)->lower, 4);
	assert_int_equal(host_netdev(&f->scan.host, NSID_HOST, 12)->lower, 0);
	d = host_netdev(&f->scan.host, NSID_HOST, 9);
	assert_string_equal(d->kind, "bond");
	d = host_netdev(&f->scan.host, NSID_HOST, 4);
	assert_int_equal(d->addr_len, 0);
	assert_int_equal(d->flags, 0);
	assert_int_equal(d->carrier, CARRIER_OFF);
	assert_int_equal(d->carrier_changes, 3);
	assert_int_equal(d->master, 9);
	assert_string_equal(d->master_name, "bond0");
	assert_int_equal(d->lower, 0);
	assert_int_equal(d->type, 32);
	assert_string_equal(d->port_name, "p1");
}

static void test_this_host(void **state)
{
	struct hw hw;
	struct scan s;
	struct err e = {0};
	struct host by_sysfs = {0};
	(void)state;

	assert_int_equal(hw_open(&hw, "/sys", "/dev", "/proc", &e), 0);
	if (!hw.live) {
		hw_close(&hw);
		print_message("skipped: /sys is not sysfs here\n");
		skip();
	}
	hw_scan(&hw, SCAN_ALL, &s);
	assert_int_equal(s.parts & SCAN_NETDEVS, SCAN_NETDEVS);
	assert_string_equal(host_netdev(&s.host, NSID_HOST, 1)->name, "lo");
	assert_int_equal(host_netdev(&s.host, NSID_HOST, 1)->mtu, 65536);
	/* Both sources list the same devices on the same functions. */
	assert_int_equal(netdevs_read_sysfs(&hw, &by_sysfs, &e), 0);
	for (size_t i = 0; i < by_sysfs.n_netdevs; i++) {
		const struct netdev *a = &by_sysfs.netdevs[i];
		const struct netdev *b = host_netdev(&s.host, NSID_HOST, a->ifindex);

		if (b && strcmp(a->name, b->name) == 0)
			assert_string_equal(a->function, b->function);
	}
	host_done(&by_sysfs);
	scan_done(&s);
	hw_close(&hw);
}

/* --- a second namespace ------------------------------------------------------------------- */

static void *unshare_net(void *arg)
{
	int *fd = arg;

	*fd = unshare(CLONE_NEWNET) < 0 ? -errno : netns_open_own();
	return NULL;
}

/* Creates a network namespace that lives as long as the descriptor; this thread stays in its
 * own. */
static int new_namespace(void)
{
	pthread_t thread;
	int fd = -1;

	assert_int_equal(pthread_create(&thread, NULL, unshare_net, &fd), 0);
	pthread_join(thread, NULL);
	return fd;
}

static int on_link(const struct nlmsghdr *h, void *arg)
{
	(void)h;
	++*(int *)arg;
	return 0;
}

static int count_links(struct nlsock *s)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);
	struct ifinfomsg ifi = {0};
	struct err e = {0};
	int n = 0;

	nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
	assert_int_equal(nlsock_call(s, m, on_link, &n, &e), 0);
	nlmsg_free(m);
	return n;
}

/* ip link add NAME type veth peer name PEER netns FD */
static int add_veth(struct nlsock *s, const char *name, int netns_fd, const char *peer_name)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct ifinfomsg ifi = {0};
	struct nlattr *info, *data, *peer;
	int r;

	nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, name);
	info = nla_nest_start(m, IFLA_LINKINFO);
	nla_put_string(m, IFLA_INFO_KIND, "veth");
	data = nla_nest_start(m, IFLA_INFO_DATA);
	peer = nla_nest_start(m, VETH_INFO_PEER);
	nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, peer_name);
	nla_put_u32(m, IFLA_NET_NS_FD, (uint32_t)netns_fd);
	nla_nest_end(m, peer);
	nla_nest_end(m, data);
	nla_nest_end(m, info);
	r = nlsock_call(s, m, NULL, NULL, NULL);
	nlmsg_free(m);
	return r;
}

/* Results of the thread in the new namespace; checked by the test's own thread. */
struct look {
	int other_fd;
	int made; /* result of creating the veth pair */
	struct scan scan;
};

/* Creates two new namespaces, so that the machine's own does not change. */
static void *look_from_a_new_namespace(void *arg)
{
	struct look *look = arg;
	struct nlsock s = NLSOCK_CLOSED;
	struct hw hw;

	look->made = unshare(CLONE_NEWNET) < 0 ? -errno : nlsock_open(&s, NETLINK_ROUTE, NULL);
	if (look->made == 0)
		look->made = add_veth(&s, "here", look->other_fd, "there");
	nlsock_close(&s);
	if (look->made == 0 && hw_open(&hw, "/sys", "/dev", "/proc", NULL) == 0) {
		hw_scan(&hw, SCAN_NETDEVS, &look->scan);
		hw_close(&hw);
	}
	return NULL;
}

static void test_another_namespace(void **state)
{
	struct look look = {.other_fd = new_namespace()};
	const struct host *h = &look.scan.host;
	const struct netdev *here = NULL;
	pthread_t thread;
	(void)state;

	if (look.other_fd < 0) {
		print_message("skipped: no network namespaces without privileges: %s\n",
			      strerror(-look.other_fd));
		skip();
	}
	assert_int_equal(pthread_create(&thread, NULL, look_from_a_new_namespace, &look), 0);
	pthread_join(thread, NULL);
	close(look.other_fd);
	if (look.made < 0) {
		print_message("skipped: no veth devices in this kernel: %s\n",
			      strerror(-look.made));
		skip();
	}
	assert_int_equal(look.scan.parts, SCAN_NETDEVS);
	assert_int_equal(look.scan.problem[SRC_NETNS].code, 0);
	/* Creating the pair made the kernel assign an id to the other namespace, so it was dumped;
	 * the veth there belongs to no function and is not listed. */
	assert_int_equal(h->n_namespaces, 1);
	assert_true(h->namespaces[0].nsid >= 0);
	for (size_t i = 0; i < h->n_netdevs; i++) {
		assert_int_equal(h->netdevs[i].nsid, NSID_HOST);
		if (strcmp(h->netdevs[i].name, "here") == 0)
			here = &h->netdevs[i];
	}
	assert_non_null(here);
	assert_string_equal(here->kind, "veth");
	scan_done(&look.scan);
}

static void test_a_socket_inside_another_namespace(void **state)
{
	int other = new_namespace(), fd;
	struct nlsock own, inside;
	struct err e = {0};
	int n_own, n_inside;
	(void)state;

	assert_true(netns_socket(-1, NETLINK_ROUTE) < 0);
	if (other < 0) {
		print_message("skipped: no network namespaces without privileges: %s\n",
			      strerror(-other));
		skip();
	}
	assert_int_equal(nlsock_open(&own, NETLINK_ROUTE, &e), 0);
	n_own = count_links(&own);
	fd = netns_socket(other, NETLINK_ROUTE);
	assert_true(fd >= 0);
	assert_int_equal(nlsock_adopt(&inside, fd), 0);
	assert_int_equal(add_veth(&inside, "a", other, "b"), 0);
	n_inside = count_links(&inside);
	assert_true(n_inside >= 3); /* lo and the veth pair */
	assert_int_equal(count_links(&own), n_own);
	nlsock_close(&inside);
	/* New sockets of this thread are in the original namespace. */
	nlsock_close(&own);
	assert_int_equal(nlsock_open(&own, NETLINK_ROUTE, &e), 0);
	assert_int_equal(count_links(&own), n_own);
	nlsock_close(&own);
	close(other);
}

static void test_sources_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < N_SCAN_SOURCES; i++)
		assert_string_not_equal(scan_source_name((enum scan_source)i), "unknown");
	assert_string_equal(scan_source_name(SRC_RDMA_NETLINK), "rdma_netlink");
}

TEST_GROUP(scan)
{
#define T(name) cmocka_unit_test_setup_teardown(name, sysfs_fixture_setup, sysfs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_generated_node),
		T(test_parts_are_read_alone),
		T(test_an_empty_tree_names_the_problem),
		T(test_odd_entries_of_class_net),
		cmocka_unit_test(test_this_host),
		cmocka_unit_test(test_another_namespace),
		cmocka_unit_test(test_a_socket_inside_another_namespace),
		cmocka_unit_test(test_sources_have_names),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
