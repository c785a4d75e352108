// SPDX-License-Identifier: Apache-2.0
/* Changes of netdevs by the real kernel, in the test's own namespaces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <unistd.h>

#include "cleanup.h"
#include "fake_netlink.h"
#include "faults.h"
#include "fds.h"
#include "namespaces.h"
#include "netdev_ops.h"
#include "netns.h"
#include "test_group.h"

#define ALIAS "rocelet near0 ml/train-7 0b0e1a5c"

static const char *no_namespace;

/* near0 and far0 here, pod_fd is empty. */
struct fixture {
	struct nlsock host, pod;
	int pod_fd;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err e = {0};

	if (no_namespace)
		skip();
	assert_non_null(f);
	namespace_run(-1, "ip link add near0 type veth peer name far0");
	f->pod_fd = namespace_new();
	assert_int_equal(nlsock_open(&f->host, NETLINK_ROUTE, &e), 0);
	assert_int_equal(netns_nlsock(&f->pod, f->pod_fd, NETLINK_ROUTE, &e), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (!f)
		return 0;
	nlsock_close(&f->host);
	nlsock_close(&f->pod);
	namespace_run(-1, "ip link delete far0");
	close(f->pod_fd);
	free(f);
	return 0;
}

static int index_of(struct nlsock *s, const char *name)
{
	struct netdev_seen seen;

	return netdev_by_name(s, name, &seen, NULL) == 0 ? seen.netdev.ifindex : 0;
}

/* --- find ----------------------------------------------------------------------------------- */

static void test_found_by_name_and_index(void **state)
{
	struct fixture *f = *state;
	struct netdev_seen a, b;
	struct err e = {0};

	namespace_run(-1, "ip link set near0 alias 'rack 7'");
	assert_int_equal(netdev_by_name(&f->host, "near0", &a, &e), 0);
	assert_string_equal(a.netdev.name, "near0");
	assert_string_equal(a.alias, "rack 7");
	assert_string_equal(a.netdev.origin, "");
	assert_string_equal(a.netdev.kind, "veth");
	assert_int_equal(netdev_by_index(&f->host, a.netdev.ifindex, &b, &e), 0);
	assert_memory_equal(&a, &b, sizeof(a));
}

static void test_not_found(void **state)
{
	struct netdev_seen seen = {.alias = "untouched"};
	struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(netdev_by_name(&f->host, "none0", &seen, &e), -ENODEV);
	assert_non_null(strstr(e.msg, "none0: "));
	assert_int_equal(netdev_by_index(&f->host, 0x7ffffff0, &seen, &e), -ENODEV);
	assert_int_equal(netdev_by_index(&f->host, 0, &seen, &e), -ENODEV);
	assert_int_equal(netdev_by_index(&f->host, -1, &seen, &e), -ENODEV);
	assert_int_equal(netdev_by_function(&f->host, "0000:03:00.1", 0, &seen, &e), -ENODEV);
	assert_string_equal(e.msg, "0000:03:00.1: no such netdev in this namespace");
	assert_int_equal(netdev_by_name(&f->pod, "near0", &seen, &e), -ENODEV);
	assert_string_equal(seen.alias, "untouched");
}

static void send_link(struct fake_netlink *k, const struct nlmsghdr *req, int ifindex,
		      const char *name, const char *port)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_MULTI);
	struct ifinfomsg ifi = {.ifi_index = ifindex};

	nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, name);
	nla_put_string(m, IFLA_PARENT_DEV_NAME, "0000:03:00.0");
	if (port)
		nla_put_string(m, IFLA_PHYS_PORT_NAME, port);
	fake_netlink_send(k, req, m);
}

static int a_switchdev_pf(struct fake_netlink *k, const struct nlmsghdr *req, void *arg)
{
	send_link(k, req, 5, "ens1f0r3", "pf0vf3");
	send_link(k, req, 4, "ens1f0", "p0");
	send_link(k, req, 6, "ens1f0d1", NULL);
	return *(int *)arg;
}

/* A representor with the same parent is not taken; of two netdevs the first is. */
static void test_found_by_its_function(void **state)
{
	struct netdev_seen seen;
	struct fake_netlink *k;
	struct err e = {0};
	struct nlsock s;
	int code = 0;
	(void)state;

	k = fake_netlink_start(&s, a_switchdev_pf, &code);
	assert_int_equal(netdev_by_function(&s, "0000:03:00.0", 0, &seen, &e), 0);
	assert_string_equal(seen.netdev.name, "ens1f0");
	assert_int_equal(netdev_by_function(&s, "0000:03:00.1", 0, &seen, &e), -ENODEV);
	code = -EPERM;
	assert_int_equal(netdev_by_function(&s, "0000:03:00.0", 0, &seen, &e), -EPERM);
	fake_netlink_stop(k, &s);
}

/* Answers a request for one link, or a dump of all. */
static int a_pf(struct fake_netlink *k, const struct nlmsghdr *req, void *arg)
{
	const struct ifinfomsg *ifi = nlmsg_data(req);
	int *n_dumps = arg;

	*n_dumps += (req->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	if (ifi->ifi_index == 5)
		send_link(k, req, 5, "ens1f0r3", "pf0vf3");
	else if (ifi->ifi_index == 0 || ifi->ifi_index == 4)
		send_link(k, req, 4, "ens1f0", "p0");
	return ifi->ifi_index > 5 ? -ENODEV : 0;
}

/* All netdevs are dumped only if the guess was wrong. */
static void test_a_right_index_avoids_a_dump(void **state)
{
	static const struct {
		int guess, n_dumps;
	} cases[] = {{4, 0}, {5, 1}, {6, 1}, {0, 1}};
	struct netdev_seen seen;
	struct fake_netlink *k;
	struct err e = {0};
	struct nlsock s;
	int n_dumps;
	(void)state;

	k = fake_netlink_start(&s, a_pf, &n_dumps);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		n_dumps = 0;
		assert_int_equal(netdev_by_function(&s, "0000:03:00.0", cases[i].guess, &seen, &e),
				 0);
		assert_int_equal(seen.netdev.ifindex, 4);
		assert_int_equal(n_dumps, cases[i].n_dumps);
	}
	fake_netlink_stop(k, &s);
}

/* --- change --------------------------------------------------------------------------------- */

static const uint8_t new_mac[6] = {2, 0, 0, 0, 7, 7};

static struct netdev_change into_pod(const struct fixture *f)
{
	return (struct netdev_change){
		.netns_fd = f->pod_fd,
		.name = "net1",
		.alias = ALIAS,
		.mtu = 4200,
		.addr = new_mac,
		.addr_len = 6,
		.up = 1,
	};
}

static void test_everything_in_one_request(void **state)
{
	struct fixture *f = *state;
	struct netdev_change c = into_pod(f);
	struct netdev_seen seen;
	struct err e = {0};

	assert_int_equal(netdev_change(&f->host, index_of(&f->host, "near0"), &c, &e), 0);
	assert_int_equal(index_of(&f->host, "near0"), 0);
	assert_int_equal(netdev_by_name(&f->pod, "net1", &seen, &e), 0);
	assert_string_equal(seen.alias, ALIAS);
	assert_string_equal(seen.netdev.origin, "near0");
	assert_int_equal(seen.netdev.mtu, 4200);
	assert_memory_equal(seen.netdev.addr, new_mac, 6);
	assert_true(seen.netdev.flags & IFF_UP);
}

static void test_single_changes(void **state)
{
	struct fixture *f = *state;
	struct netdev_change c = NETDEV_NO_CHANGE;
	int near = index_of(&f->host, "near0");
	struct netdev_seen before, after;
	struct err e = {0};

	assert_int_equal(netdev_by_index(&f->host, near, &before, &e), 0);
	assert_int_equal(netdev_change(&f->host, near, &c, &e), 0);
	assert_int_equal(netdev_by_index(&f->host, near, &after, &e), 0);
	assert_memory_equal(&before, &after, sizeof(before));
	c.alias = ALIAS;
	assert_int_equal(netdev_change(&f->host, near, &c, &e), 0);
	c = NETDEV_NO_CHANGE;
	c.up = 1;
	assert_int_equal(netdev_change(&f->host, near, &c, &e), 0);
	assert_int_equal(netdev_by_index(&f->host, near, &after, &e), 0);
	assert_true(after.netdev.flags & IFF_UP);
	assert_string_equal(after.alias, ALIAS);
	c.up = 0;
	c.alias = "";
	assert_int_equal(netdev_change(&f->host, near, &c, &e), 0);
	assert_int_equal(netdev_by_index(&f->host, near, &after, &e), 0);
	assert_false(after.netdev.flags & IFF_UP);
	assert_string_equal(after.alias, "");
	assert_string_equal(after.netdev.origin, "");
}

/* Into the pod and back, as in an attach and a return. */
static void test_into_the_pod_and_back(void **state)
{
	struct fixture *f = *state;
	struct netdev_change c = into_pod(f);
	struct netdev_seen before, after;
	AUTO_FD host_ns = -1;
	struct err e = {0};

	assert_int_equal(netdev_by_name(&f->host, "near0", &before, &e), 0);
	assert_int_equal(netdev_change(&f->host, before.netdev.ifindex, &c, &e), 0);
	host_ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	c = (struct netdev_change){.netns_fd = host_ns,
				   .name = "near0",
				   .alias = "",
				   .mtu = before.netdev.mtu,
				   .addr = before.netdev.addr,
				   .addr_len = before.netdev.addr_len,
				   .up = 0};
	assert_int_equal(netdev_change(&f->pod, index_of(&f->pod, "net1"), &c, &e), 0);
	assert_int_equal(netdev_by_name(&f->host, "near0", &after, &e), 0);
	assert_string_equal(after.alias, "");
	assert_int_equal(after.netdev.mtu, before.netdev.mtu);
	assert_memory_equal(after.netdev.addr, before.netdev.addr, 6);
	assert_false(after.netdev.flags & IFF_UP);
}

/* The kernel moves the netdev before it renames it: if both names are in use there, it rejects the
 * move. */
static void test_new_and_original_name_in_use(void **state)
{
	struct fixture *f = *state;
	struct netdev_change c = into_pod(f);
	struct err e = {0};

	namespace_run(f->pod_fd, "ip link add net1 type veth peer name near0");
	assert_int_equal(netdev_change(&f->host, index_of(&f->host, "near0"), &c, &e), -EEXIST);
	assert_int_not_equal(index_of(&f->host, "near0"), 0);
	assert_non_null(strstr(e.msg, strerror(EEXIST)));
}

/* The original name is free there, so the kernel has moved the netdev before it rejects the new
 * name. */
static void test_new_name_in_use(void **state)
{
	struct fixture *f = *state;
	struct netdev_change c = into_pod(f);
	struct netdev_seen seen;
	struct err e = {0};

	namespace_run(f->pod_fd, "ip link add net1 type veth peer name net2");
	assert_int_equal(netdev_change(&f->host, index_of(&f->host, "near0"), &c, &e), -EEXIST);
	assert_int_equal(index_of(&f->host, "near0"), 0);
	assert_int_equal(netdev_by_name(&f->pod, "near0", &seen, &e), 0);
	assert_string_equal(seen.alias, "");
}

static void test_the_kernels_message_is_reported(void **state)
{
	struct fixture *f = *state;
	struct netdev_change c = NETDEV_NO_CHANGE;
	int near = index_of(&f->host, "near0");
	struct err e = {0};

	c.mtu = 70000;
	assert_int_equal(netdev_change(&f->host, near, &c, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "mtu"));
	c = NETDEV_NO_CHANGE;
	c.name = "much-too-long-a-name";
	assert_int_equal(netdev_change(&f->host, near, &c, &e), -EINVAL);
	c.name = NULL;
	c.addr = new_mac;
	c.addr_len = HW_ADDR_MAX + 1;
	assert_int_equal(netdev_change(&f->host, near, &c, &e), -EINVAL);
	c.addr_len = 0;
	c.netns_fd = 1 << 20; /* no descriptor */
	assert_true(netdev_change(&f->host, near, &c, &e) < 0);
	assert_int_equal(index_of(&f->host, "near0"), near);
	assert_int_equal(netdev_delete(&f->host, 0x7ffffff0, &e), -ENODEV);
}

/* --- create --------------------------------------------------------------------------------- */

static const struct net_plan macvlan = {
	.kind = PLAN_MACVLAN,
	.ifname = "net1",
	.mtu = 1400,
	.has_mac = true,
	.mac = {2, 0, 0, 0, 7, 7},
};

static int make(struct fixture *f, const struct net_plan *plan, struct err *e)
{
	return netdev_make_stacked(&f->host, plan, index_of(&f->host, "near0"), f->pod_fd, ALIAS,
				   e);
}

static void test_a_macvlan_is_created_in_the_pod(void **state)
{
	struct fixture *f = *state;
	struct netdev_seen seen;
	struct err e = {0};

	assert_int_equal(make(f, &macvlan, &e), 0);
	assert_int_equal(netdev_by_name(&f->pod, "net1", &seen, &e), 0);
	assert_string_equal(seen.netdev.kind, "macvlan");
	assert_string_equal(seen.alias, ALIAS);
	assert_int_equal(seen.netdev.mtu, 1400);
	assert_memory_equal(seen.netdev.addr, macvlan.mac, 6);
	namespace_run(f->pod_fd, "ip -d link show net1 | grep -q 'macvlan mode bridge'");
	assert_int_equal(netdev_delete(&f->pod, seen.netdev.ifindex, &e), 0);
	assert_int_equal(index_of(&f->pod, "net1"), 0);
}

/* The pod's "near0" is a macvlan on the host's "near0". */
static void test_a_name_in_use_on_the_host_only(void **state)
{
	struct fixture *f = *state;
	struct net_plan plan = macvlan;
	struct err e = {0};

	strcpy(plan.ifname, "near0");
	assert_int_equal(make(f, &plan, &e), 0);
	assert_int_not_equal(index_of(&f->pod, "near0"), 0);
}

static void test_a_clash_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	namespace_run(f->pod_fd, "ip link add net1 type veth peer name net2");
	assert_int_equal(make(f, &macvlan, &e), -EEXIST);
	assert_non_null(strstr(e.msg, "creating net1"));
	assert_int_equal(index_of(&f->pod, "rl-net1"), 0);
}

static void test_remains_of_a_failed_attempt_are_replaced(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	namespace_run(f->pod_fd, "ip link add rl-net1 type veth peer name net2");
	assert_int_equal(make(f, &macvlan, &e), 0);
	assert_int_not_equal(index_of(&f->pod, "net1"), 0);
	assert_int_equal(index_of(&f->pod, "rl-net1"), 0);
}

static void test_invalid_plans(void **state)
{
	struct fixture *f = *state;
	struct net_plan plan = macvlan;
	struct err e = {0};

	plan.kind = PLAN_VF;
	assert_int_equal(make(f, &plan, &e), -EINVAL);
	plan.kind = PLAN_IPVLAN;
	assert_int_equal(make(f, &plan, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "MAC"));
	assert_true(netdev_make_stacked(&f->host, &macvlan, 0x7ffffff0, f->pod_fd, ALIAS, &e) < 0);
	assert_true(netdev_make_stacked(&f->host, &macvlan, 1, -1, ALIAS, &e) < 0);
}

/* --- configure ------------------------------------------------------------------------------ */

static struct ip_prefix ip(int family, const char *text, unsigned len)
{
	struct ip_prefix p = {.family = family, .len = (uint8_t)len};

	assert_int_equal(inet_pton(family, text, p.addr), 1);
	return p;
}

static struct net_route route(int family, const char *dst, unsigned len, const char *gateway)
{
	struct net_route r = {.dst = ip(family, dst, len)};

	if (gateway)
		r.gateway = ip(family, gateway, 0);
	return r;
}

/* Configures near0 in place; its peer is up, so that it has a carrier. */
static int configure(struct fixture *f, const struct ip_prefix *ips, size_t n_ips,
		     const struct net_route *routes, size_t n_routes, struct err *e)
{
	namespace_run(-1, "ip link set far0 up");
	return netdev_configure(&f->host, index_of(&f->host, "near0"), ips, n_ips, routes, n_routes,
				true, e);
}

static void test_addresses_and_routes(void **state)
{
	struct ip_prefix ips[] = {ip(AF_INET, "192.0.2.7", 24), ip(AF_INET6, "2001:db8::7", 64)};
	struct net_route routes[] = {
		route(AF_INET, "0.0.0.0", 0, "192.0.2.1"),
		route(AF_INET, "198.51.100.0", 24, NULL),
		route(AF_INET, "203.0.113.64", 26, "192.0.2.2"),
		route(AF_INET6, "::", 0, "2001:db8::1"),
		route(AF_INET6, "2001:db8:1::", 47, NULL),
	};
	struct ip_prefix got[4];
	struct fixture *f = *state;
	struct err e = {0};
	int near = index_of(&f->host, "near0");

	routes[2].priority = 77;
	/* Twice, because a step may be repeated. */
	for (int i = 0; i < 2; i++) {
		int r = configure(f, ips, 2, routes, ARRAY_SIZE(routes), &e);

		if (r)
			fail_msg("attempt %d: %s", i, e.msg);
		assert_int_equal(netdev_addresses(&f->host, near, got, 4, &e), 2);
		assert_memory_equal(&got[0], &ips[0], sizeof(got[0]));
		assert_memory_equal(&got[1], &ips[1], sizeof(got[1]));
	}
	namespace_run(-1, "ip -4 route show default | grep -q 'via 192.0.2.1 dev near0'");
	namespace_run(-1, "ip -4 addr show near0 | grep -q 'brd 192.0.2.255'");
	namespace_run(-1, "ip route show 203.0.113.64/26 | grep -q 'via 192.0.2.2.*metric 77'");
	namespace_run(-1, "ip -6 route show default | grep -q 'via 2001:db8::1 dev near0'");
	namespace_run(-1, "ip route show 198.51.100.0/24 | grep -q 'dev near0.*scope link'");
	assert_int_equal(netdev_addresses(&f->host, near, got, 1, &e), 2);
	assert_int_equal(netdev_addresses(&f->host, 0x7ffffff0, got, 4, NULL) <= 0, true);
}

static void test_a_refused_address_is_named(void **state)
{
	struct ip_prefix ips[] = {ip(AF_INET, "192.0.2.7", 24), ip(AF_INET6, "ff02::1", 64)};
	struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(configure(f, ips, 2, NULL, 0, &e), -EADDRNOTAVAIL);
	assert_non_null(strstr(e.msg, "address ff02::1/64: "));
	ips[1] = ip(AF_INET, "192.0.2.8", 24);
	ips[1].len = 99;
	assert_int_equal(configure(f, ips, 2, NULL, 0, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "address 192.0.2.8/99: "));
	assert_true(strlen(e.msg) > strlen("address 192.0.2.8/99: Invalid argument"));
}

static void test_a_refused_route_is_named(void **state)
{
	struct ip_prefix addr = ip(AF_INET, "192.0.2.7", 24);
	struct net_route bad = route(AF_INET, "198.51.100.0", 24, "203.0.113.1");
	struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(configure(f, &addr, 1, &bad, 1, &e), -ENETUNREACH);
	assert_non_null(strstr(e.msg, "route 198.51.100.0/24 via 203.0.113.1: "));
	assert_int_equal(netdev_configure(&f->host, 1, NULL, 0, &bad, 65, false, &e), -E2BIG);
}

/* A route through another link is not accepted as this one. */
static void test_another_route_in_its_place(void **state)
{
	struct ip_prefix addr = ip(AF_INET, "192.0.2.7", 24);
	struct net_route wanted[] = {route(AF_INET, "198.51.100.0", 24, "192.0.2.1"),
				     route(AF_INET, "0.0.0.0", 0, "192.0.2.1")};
	struct fixture *f = *state;
	struct err e = {0};

	namespace_run(-1, "ip link set far0 up && ip addr add 203.0.113.1/24 dev far0 && "
			  "ip route add default via 203.0.113.2");
	assert_int_equal(configure(f, &addr, 1, wanted, 2, &e), -EEXIST);
	assert_string_equal(e.msg, "route default via 192.0.2.1: a different route exists");
	wanted[1].priority = 500;
	assert_int_equal(configure(f, &addr, 1, wanted, 2, &e), 0);
}

static void test_a_removed_link(void **state)
{
	struct ip_prefix addr = ip(AF_INET, "192.0.2.7", 24);
	struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(netdev_configure(&f->host, 0x7ffffff0, &addr, 1, NULL, 0, true, &e),
			 -ENODEV);
	assert_int_equal(netdev_configure(&f->host, 0x7ffffff0, NULL, 0, NULL, 0, true, &e),
			 -ENODEV);
	assert_non_null(strstr(e.msg, "setting it up"));
	assert_int_equal(netdev_configure(&f->host, 1, NULL, 0, NULL, 0, false, &e), 0);
}

/* --- VFs of a netdev that has none ---------------------------------------------------------- */

static void test_a_pf_without_vfs(void **state)
{
	struct vf_settings s = {.fields = VF_MAC | VF_TRUST};
	struct fixture *f = *state;
	struct err e = {0};
	int near = index_of(&f->host, "near0");

	assert_int_equal(vf_settings_get(&f->host, near, 0, &s, &e), -ENODEV);
	assert_string_equal(e.msg, "the PF has no VF 0");
	assert_int_equal(vf_settings_get(&f->host, 0x7ffffff0, 0, &s, &e), -ENODEV);
	assert_int_equal(vf_settings_set(&f->host, near, 0, &s, &e), -EOPNOTSUPP);
	assert_non_null(strstr(e.msg, "VF 0: the PF's driver rejects mac, trust: "));
	s.fields = 0;
	assert_int_equal(vf_settings_set(&f->host, near, 0, &s, &e), 0);
}

/* --- faults --------------------------------------------------------------------------------- */

/* Calls every function that can fail, each with its own struct err or all with none. Returns the
 * first error. */
static int do_everything(struct fixture *f, int far, struct err *e)
{
	struct ip_prefix addr = ip(AF_INET, "192.0.2.7", 24), got[2];
	struct net_route there = route(AF_INET, "198.51.100.0", 24, NULL);
	const struct net_plan other = {.kind = PLAN_MACVLAN, .ifname = "net2"};
	struct netdev_change c = into_pod(f);
	struct netdev_seen seen;
	int r = netdev_by_name(&f->host, "near0", &seen, e);

	if (r == 0)
		r = netdev_change(&f->host, seen.netdev.ifindex, &c, e);
	if (r == 0)
		r = netdev_by_index(&f->pod, seen.netdev.ifindex, &seen, e);
	for (int i = 0; i < 2 && r == 0; i++)
		r = netdev_configure(&f->pod, seen.netdev.ifindex, &addr, 1, &there, 1, true, e);
	if (r == 0)
		r = netdev_addresses(&f->pod, seen.netdev.ifindex, got, 2, e);
	if (r >= 0)
		r = netdev_make_stacked(&f->host, &other, far, f->pod_fd, ALIAS, e);
	return r;
}

static void clean_up(struct fixture *f)
{
	namespace_run(f->pod_fd,
		      "ip link delete net2 2>/dev/null; ip link delete rl-net2 "
		      "2>/dev/null; for i in near0 net1; do ip link set $i down name "
		      "near0 netns %d 2>/dev/null; done; true",
		      (int)getpid());
}

static void try_faults(struct fixture *f, void (*arm)(long nth), int code, int at_least)
{
	int far = index_of(&f->host, "far0");
	struct err e;
	long nth = 0;
	bool hit = true;

	for (; hit; nth++) {
		unsigned before = fds_open();
		int r;

		e = (struct err){0};
		arm(nth);
		r = do_everything(f, far, &e);
		hit = faults_end();
		if (hit && (r != code || e.code != code || !e.msg[0]))
			fail_msg("fault %ld: %d, \"%s\"", nth, r, e.msg);
		if (!hit && r != 0)
			fail_msg("without a fault: %s", e.msg);
		assert_int_equal(fds_open(), before);
		clean_up(f);
	}
	assert_true(nth >= at_least);
}

static void arm_send(long nth)
{
	faults_send(nth, ENOBUFS);
}

static void test_every_send_may_fail(void **state)
{
	try_faults(*state, arm_send, -ENOBUFS, 10);
}

static void test_every_allocation_may_fail(void **state)
{
	try_faults(*state, faults_alloc, -ENOMEM, 5);
}

static int enter(void **state)
{
	(void)state;
	no_namespace = namespaces_enter();
	return 0;
}

#define IN_NAMESPACES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

TEST_GROUP(netdev_ops)
{
	const struct CMUnitTest tests[] = {
		IN_NAMESPACES(test_found_by_name_and_index),
		IN_NAMESPACES(test_not_found),
		cmocka_unit_test(test_found_by_its_function),
		cmocka_unit_test(test_a_right_index_avoids_a_dump),
		IN_NAMESPACES(test_everything_in_one_request),
		IN_NAMESPACES(test_single_changes),
		IN_NAMESPACES(test_into_the_pod_and_back),
		IN_NAMESPACES(test_new_and_original_name_in_use),
		IN_NAMESPACES(test_new_name_in_use),
		IN_NAMESPACES(test_the_kernels_message_is_reported),
		IN_NAMESPACES(test_a_macvlan_is_created_in_the_pod),
		IN_NAMESPACES(test_a_name_in_use_on_the_host_only),
		IN_NAMESPACES(test_a_clash_leaves_nothing),
		IN_NAMESPACES(test_remains_of_a_failed_attempt_are_replaced),
		IN_NAMESPACES(test_invalid_plans),
		IN_NAMESPACES(test_addresses_and_routes),
		IN_NAMESPACES(test_a_refused_address_is_named),
		IN_NAMESPACES(test_a_refused_route_is_named),
		IN_NAMESPACES(test_another_route_in_its_place),
		IN_NAMESPACES(test_a_removed_link),
		IN_NAMESPACES(test_a_pf_without_vfs),
		IN_NAMESPACES(test_every_send_may_fail),
		IN_NAMESPACES(test_every_allocation_may_fail),
	};

	return test_group_run(tests, enter, NULL);
}
