// SPDX-License-Identifier: Apache-2.0
/* Default routes: messages, files, and the real kernel in a namespace of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <pthread.h>
#include <sched.h>

#include "default_routes.h"
#include "rtnl_addr.h"
#include "sysfs_tree.h"
#include "test_group.h"
#include "tmptree.h"

/* --- messages --------------------------------------------------------------------------------- */

static struct nl_msg *route_message(int type, const struct rtmsg *rtm)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, (void *)rtm, sizeof(*rtm), NLMSG_ALIGNTO), 0);
	return m;
}

static const struct rtmsg default_v4 = {
	.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST};

static int decode(struct nl_msg *m, struct rtnl_route *ret)
{
	int r = rtnl_decode_route(nlmsg_hdr(m), ret);

	nlmsg_free(m);
	return r;
}

static void test_a_default_route(void **state)
{
	struct nl_msg *m = route_message(RTM_NEWROUTE, &default_v4);
	struct rtnl_route r;
	(void)state;

	nla_put_u32(m, RTA_TABLE, RT_TABLE_MAIN);
	nla_put_u32(m, RTA_OIF, 4);
	assert_true(rtnl_is_default_route(nlmsg_hdr(m)));
	assert_int_equal(decode(m, &r), 0);
	assert_true(r.is_default && r.is_main && r.at_zero);
	assert_int_equal(r.n_links, 1);
	assert_int_equal(r.links[0], 4);
	assert_int_equal(r.nexthop, 0);
}

static void test_routes_that_are_no_default_route(void **state)
{
	static const uint8_t dst[4] = {10}, zero[4] = {0};
	struct rtmsg rtm = default_v4;
	struct rtnl_route r;
	struct nl_msg *m;
	(void)state;

	rtm.rtm_type = RTN_BLACKHOLE;
	assert_int_equal(decode(route_message(RTM_NEWROUTE, &rtm), &r), 0);
	assert_false(r.is_default);
	assert_true(r.at_zero);
	rtm = default_v4;
	rtm.rtm_flags = RTM_F_CLONED;
	assert_int_equal(decode(route_message(RTM_NEWROUTE, &rtm), &r), 0);
	assert_false(r.is_default);
	rtm = default_v4;
	rtm.rtm_table = RT_TABLE_LOCAL;
	assert_int_equal(decode(route_message(RTM_NEWROUTE, &rtm), &r), 0);
	assert_false(r.is_main);
	m = route_message(RTM_NEWROUTE, &default_v4); /* RTA_TABLE has the numbers above 255 */
	nla_put_u32(m, RTA_TABLE, 1000);
	assert_int_equal(decode(m, &r), 0);
	assert_false(r.is_main);
	rtm = default_v4;
	rtm.rtm_dst_len = 8;
	m = route_message(RTM_NEWROUTE, &rtm);
	nla_put(m, RTA_DST, sizeof(zero), zero);
	assert_false(rtnl_is_default_route(nlmsg_hdr(m)));
	assert_int_equal(decode(m, &r), 0);
	assert_true(!r.is_default && r.at_zero);
	m = route_message(RTM_NEWROUTE, &rtm);
	nla_put(m, RTA_DST, sizeof(dst), dst);
	assert_int_equal(decode(m, &r), 0);
	assert_true(!r.is_default && !r.at_zero);
}

static void put_hops(struct nl_msg *m, const struct rtnexthop *hops, size_t n)
{
	assert_int_equal(nla_put(m, RTA_MULTIPATH, (int)(n * sizeof(*hops)), hops), 0);
}

static void test_several_next_hops(void **state)
{
	struct rtnexthop hops[ROUTE_LINKS_MAX + 5];
	struct nl_msg *m = route_message(RTM_NEWROUTE, &default_v4);
	struct rtnl_route r;
	(void)state;

	for (int i = 0; i < ROUTE_LINKS_MAX + 5; i++)
		hops[i] = (struct rtnexthop){.rtnh_len = sizeof(hops[0]), .rtnh_ifindex = i + 2};
	put_hops(m, hops, 3);
	nla_put_u32(m, RTA_NH_ID, 9);
	assert_int_equal(decode(m, &r), 0);
	assert_int_equal(r.n_links, 3);
	assert_int_equal(r.links[2], 4);
	assert_int_equal(r.nexthop, 9);
	m = route_message(RTM_NEWROUTE, &default_v4);
	put_hops(m, hops, ROUTE_LINKS_MAX + 5);
	assert_int_equal(decode(m, &r), 0);
	assert_int_equal(r.n_links, ROUTE_LINKS_MAX);
	hops[1].rtnh_len = 4; /* shorter than its header: the rest cannot be decoded */
	m = route_message(RTM_NEWROUTE, &default_v4);
	put_hops(m, hops, 3);
	assert_int_equal(decode(m, &r), 0);
	assert_int_equal(r.n_links, 1);
	hops[1].rtnh_len = 4000;
	m = route_message(RTM_NEWROUTE, &default_v4);
	put_hops(m, hops, 3);
	assert_int_equal(decode(m, &r), 0);
	assert_int_equal(r.n_links, 1);
}

static void test_bad_messages(void **state)
{
	struct rtnl_route r = {.nexthop = 77};
	struct rtnl_nexthop n = {.link = 77};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWROUTE, 0);
	(void)state;

	assert_false(rtnl_is_default_route(nlmsg_hdr(m)));
	assert_int_equal(decode(m, &r), -EBADMSG);
	assert_int_equal(decode(route_message(RTM_NEWLINK, &default_v4), &r), -EPROTO);
	m = route_message(RTM_NEWROUTE, &default_v4);
	nla_put_u8(m, RTA_OIF, 4);
	assert_int_equal(decode(m, &r), -EBADMSG);
	assert_int_equal(r.nexthop, 77);
	m = route_message(RTM_NEWROUTE, &default_v4);
	assert_int_equal(rtnl_decode_nexthop(nlmsg_hdr(m), &n), -EPROTO);
	nlmsg_free(m);
	m = nlmsg_alloc_simple(RTM_NEWNEXTHOP, 0);
	assert_int_equal(rtnl_decode_nexthop(nlmsg_hdr(m), &n), -EBADMSG);
	nlmsg_free(m);
	assert_int_equal(n.link, 77);
}

static void test_nexthop_objects(void **state)
{
	const struct nexthop_grp group[2] = {{.id = 5}, {.id = 6}};
	struct nhmsg nh = {0};
	struct rtnl_nexthop n;
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWNEXTHOP, 0);
	(void)state;

	nlmsg_append(m, &nh, sizeof(nh), NLMSG_ALIGNTO);
	nla_put_u32(m, NHA_OIF, 3);
	assert_int_equal(rtnl_decode_nexthop(nlmsg_hdr(m), &n), 0);
	nlmsg_free(m);
	assert_int_equal(n.link, 3);
	assert_int_equal(n.n_group, 0);
	m = nlmsg_alloc_simple(RTM_NEWNEXTHOP, 0);
	nlmsg_append(m, &nh, sizeof(nh), NLMSG_ALIGNTO);
	nla_put(m, NHA_GROUP, sizeof(group), group);
	assert_int_equal(rtnl_decode_nexthop(nlmsg_hdr(m), &n), 0);
	nlmsg_free(m);
	assert_int_equal(n.link, 0);
	assert_int_equal(n.n_group, 2);
	assert_int_equal(n.group[1], 6);
}

static void test_requests(void **state)
{
	struct nl_msg *m = rtnl_dump_routes(AF_INET6);
	const struct rtmsg *rtm;
	(void)state;

	assert_non_null(m);
	rtm = nlmsg_data(nlmsg_hdr(m));
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_GETROUTE);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
	assert_int_equal(rtm->rtm_family, AF_INET6);
	assert_non_null(nlmsg_find_attr(nlmsg_hdr(m), sizeof(*rtm), RTA_TABLE));
	nlmsg_free(m);
	m = rtnl_get_nexthop(7);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_GETNEXTHOP);
	assert_int_equal(nla_get_u32(nlmsg_find_attr(nlmsg_hdr(m), sizeof(struct nhmsg), NHA_ID)),
			 7);
	nlmsg_free(m);
}

/* --- files ------------------------------------------------------------------------------------ */

#define ZEROS "00000000000000000000000000000000"

static void test_lines(void **state)
{
	char name[IFNAMSIZ] = "before";
	(void)state;

	assert_true(
		route_line("eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0 \n", name));
	assert_string_equal(name, "eth0");
	assert_false(
		route_line("eth1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0", name));
	assert_false(route_line("eth1\t00000000\t0\t0001\t0\t0\t0\t000000FF\t0", name)); /* 0/8 */
	assert_false(route_line("*\t00000000\t0\t0200\t0\t0\t0\t00000000\t0", name));
	assert_false(
		route_line("Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask", name));
	assert_false(route_line("", name));
	assert_false(
		route_line("a-name-that-is-too-long\t00000000\t0\t0003\t0\t0\t0\t00000000", name));
	assert_true(route_line_v6(ZEROS " 00 " ZEROS " 00 " ZEROS
					" 00000400 00000001 00000000 00000003     eth2\n",
				  name));
	assert_string_equal(name, "eth2");
	assert_false(route_line_v6(ZEROS " 00 " ZEROS " 00 " ZEROS
					 " ffffffff 00000001 00000000 00200200       lo",
				   name));
	assert_false(route_line_v6(ZEROS " 08 " ZEROS " 00 " ZEROS " 1 1 1 00000001 eth3", name));
	assert_false(route_line_v6("", name));
	assert_string_equal(name, "eth2");
}

static void test_a_copied_tree_has_routes_of_its_own(void **state)
{
	char *dir = tmptree_new();
	struct scan scan;
	struct hw hw;
	struct err e = {0};
	(void)state;

	tmptree_write(dir, "class/net/eth0/ifindex", "2\n");
	tmptree_write(dir, "class/net/eth1/ifindex", "3\n");
	tmptree_write(dir, "class/net/lo/ifindex", "1\n");
	tmptree_write(dir, "net/route",
		      "Iface\tDestination ...\n"
		      "eth9\t00000000\t0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
		      "eth1\t00000000\t0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n");
	hw = sysfs_tree_open(dir);
	hw_scan(&hw, SCAN_NETDEVS, &scan);
	assert_true(host_netdev(&scan.host, NSID_HOST, 3)->default_route);
	assert_false(host_netdev(&scan.host, NSID_HOST, 2)->default_route);
	scan_done(&scan);
	hw_close(&hw);
	/* This machine's /proc is not combined with another machine's sysfs. */
	assert_int_equal(hw_open(&hw, dir, dir, "/proc", &e), 0);
	hw_scan(&hw, SCAN_NETDEVS, &scan);
	for (size_t i = 0; i < scan.host.n_netdevs; i++)
		assert_false(scan.host.netdevs[i].default_route);
	scan_done(&scan);
	hw_close(&hw);
	tmptree_free(dir);
}

/* --- a namespace of the real kernel ----------------------------------------------------------- */

struct look {
	int entered;
	const char *commands;
	bool has_default;
	int problem;
};

static void *look_from_inside(void *arg)
{
	struct look *look = arg;
	struct scan scan;
	struct hw hw;

	look->entered = unshare(CLONE_NEWNET);
	if (look->entered < 0 || hw_open(&hw, "/sys", "/dev", "/proc", NULL) < 0)
		return NULL;
	/* system()'s child is in the network namespace of the calling thread */
	look->entered = system(look->commands);
	hw_scan(&hw, SCAN_NETDEVS, &scan);
	for (size_t i = 0; i < scan.host.n_netdevs; i++)
		look->has_default |= scan.host.netdevs[i].default_route;
	look->problem = scan.problem[SRC_RTNETLINK].code;
	scan_done(&scan);
	hw_close(&hw);
	return NULL;
}

static void test_this_kernel(void **state)
{
	static const struct {
		const char *commands;
		bool has_default;
	} rows[] = {
		{"true", false},
		{"ip route add default dev lo", true},
		{"ip route add default dev lo metric 77 && ip route add 192.0.2.0/24 dev lo", true},
		{"ip route add 0.0.0.0/8 dev lo && ip route add default dev lo", true},
		{"ip route add 0.0.0.0/1 dev lo && ip route add 192.0.2.0/24 dev lo", false},
		{"ip route add blackhole default && ip -6 route add blackhole default", false},
		{"ip route add default dev lo table 100", false},
		{"ip route add default nexthop dev lo nexthop dev lo", true},
		{"ip -6 route add default dev lo", true},
		{"ip -6 route add 2001:db8::/32 dev lo", false},
		{"ip nexthop add id 5 dev lo && ip nexthop add id 6 group 5 && "
		 "ip route add default nhid 6",
		 true},
		{"ip nexthop add id 5 dev lo && ip nexthop add id 6 group 5 && "
		 "echo 0 >/proc/sys/net/ipv4/nexthop_compat_mode && ip route add default nhid 6",
		 true},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct look look = {.entered = -1};
		char commands[256];
		pthread_t thread;

		snprintf(commands, sizeof(commands), "{ ip link set lo up && %s; } 2>/dev/null",
			 rows[i].commands);
		look.commands = commands;
		assert_int_equal(pthread_create(&thread, NULL, look_from_inside, &look), 0);
		pthread_join(thread, NULL);
		if (look.entered != 0) {
			print_message("left out, not possible here: %s\n", rows[i].commands);
			continue;
		}
		assert_int_equal(look.problem, 0);
		if (look.has_default != rows[i].has_default)
			fail_msg("%s: %d", rows[i].commands, look.has_default);
	}
}

TEST_GROUP(default_routes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_default_route),
		cmocka_unit_test(test_routes_that_are_no_default_route),
		cmocka_unit_test(test_several_next_hops),
		cmocka_unit_test(test_bad_messages),
		cmocka_unit_test(test_nexthop_objects),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_copied_tree_has_routes_of_its_own),
		cmocka_unit_test(test_this_kernel),
	};

	return test_group_run(tests, NULL, NULL);
}
