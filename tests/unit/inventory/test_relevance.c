// SPDX-License-Identifier: Apache-2.0
/* Which kernel events trigger a scan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/devlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "genl.h"
#include "hw.h"
#include "nldev.h"
#include "relevance.h"
#include "test_group.h"

static struct function functions[] = {{.id = "0000:01:10.0", .kind = FN_VF},
				      {.id = "0000:01:00.0", .kind = FN_PF}};
static struct netdev netdevs[] = {
	{.nsid = NSID_HOST, .ifindex = 5, .name = "vf0", .function = "0000:01:10.0", .master = 9},
	{.nsid = NSID_HOST, .ifindex = 7, .name = "veth0"},
	{.nsid = NSID_HOST, .ifindex = 8, .name = "veth1"},
	{.nsid = NSID_HOST, .ifindex = 11, .name = "vlan7", .default_route = true},
};
static struct rdma_port ports[] = {{.num = 1, .netdev_nsid = NSID_HOST, .netdev_ifindex = 7}};
static struct rdma_dev rdma[] = {{.name = "rxe0", .n_ports = 1, .ports = ports}};
static const struct host host = {
	.functions = functions,
	.n_functions = 2,
	.netdevs = netdevs,
	.n_netdevs = 4,
	.rdma = rdma,
	.n_rdma = 1,
};

static unsigned parts(int nsid, int ifindex, const char *function)
{
	struct rtnl_link l = {.netdev = {.ifindex = ifindex}, .new_nsid = NSID_NONE};

	strcpy(l.netdev.function, function);
	return relevance_link(&host, nsid, &l);
}

static void test_links_of_our_functions_matter_everywhere(void **state)
{
	(void)state;
	assert_int_equal(parts(NSID_HOST, 5, "0000:01:10.0"), SCAN_NETDEVS | SCAN_RDMA);
	assert_int_equal(parts(3, 44, "0000:01:10.0"), SCAN_NETDEVS | SCAN_RDMA);
	assert_int_equal(parts(NSID_HOST, 2, "0000:01:00.0"),
			 SCAN_NETDEVS | SCAN_RDMA | SCAN_REPORTS); /* a PF: may concern its VFs */
	assert_int_equal(parts(3, 2, "0000:01:00.0"), SCAN_NETDEVS | SCAN_RDMA);
	assert_int_equal(parts(NSID_HOST, 5, ""),
			 SCAN_NETDEVS | SCAN_RDMA); /* a kernel that reports no parent device */
}

static void test_new_hardware_triggers_a_full_scan(void **state)
{
	(void)state;
	assert_int_equal(parts(NSID_HOST, 50, "0000:01:10.7"), SCAN_ALL);
}

static void test_lower_and_master_netdevs_matter(void **state)
{
	(void)state;
	assert_int_equal(parts(NSID_HOST, 7, ""), SCAN_NETDEVS | SCAN_RDMA); /* below rxe0 */
	assert_int_equal(parts(NSID_HOST, 9, ""), SCAN_NETDEVS);	     /* vf0's master */
	assert_int_equal(parts(NSID_HOST, 11, ""), SCAN_NETDEVS);
	assert_int_equal(parts(3, 11, ""), 0);
}

static void test_other_links_do_not_matter(void **state)
{
	(void)state;
	assert_int_equal(parts(NSID_HOST, 8, ""), 0);
	assert_int_equal(parts(3, 7, ""), 0); /* the same index in another namespace */
	assert_int_equal(parts(3, 50, "virtio0"), 0);
}

static unsigned route_parts(int type, int nsid, unsigned dst_len)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);
	struct rtmsg rtm = {.rtm_family = AF_INET, .rtm_dst_len = (unsigned char)dst_len};
	struct relevance_tally tally = {0};
	unsigned r;

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, &rtm, sizeof(rtm), NLMSG_ALIGNTO), 0);
	r = relevance_route_datagram(&host, nsid, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len, &tally,
				     NULL, NULL);
	assert_int_equal(tally.events, 1);
	nlmsg_free(m);
	return r;
}

static void test_default_routes_of_our_namespace_matter(void **state)
{
	(void)state;
	assert_int_equal(route_parts(RTM_NEWROUTE, NSID_HOST, 0), SCAN_NETDEVS);
	assert_int_equal(route_parts(RTM_DELROUTE, NSID_HOST, 0), SCAN_NETDEVS);
	assert_int_equal(route_parts(RTM_NEWROUTE, NSID_HOST, 24), 0);
	assert_int_equal(route_parts(RTM_NEWROUTE, 3, 0), 0);
}

static void test_only_health_of_devlink_matters(void **state)
{
	struct relevance_tally tally = {0};
	struct nl_msg *m = genl_request(30, DEVLINK_CMD_HEALTH_REPORTER_RECOVER, 1, 0);
	(void)state;

	assert_int_equal(
		relevance_devlink_datagram(30, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len, &tally),
		SCAN_REPORTS);
	assert_int_equal(
		relevance_devlink_datagram(31, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len, &tally), 0);
	assert_int_equal(relevance_devlink_datagram(30, nlmsg_hdr(m), 3, &tally), 0);
	nlmsg_free(m);
	m = genl_request(30, DEVLINK_CMD_PORT_NEW, 1, 0);
	assert_int_equal(
		relevance_devlink_datagram(30, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len, &tally), 0);
	nlmsg_free(m);
	assert_int_equal(tally.events, 2);
	assert_int_equal(tally.malformed, 2);
}

struct addressed {
	unsigned n;
	int nsid, ifindex;
};

static struct addressed addressed;

static void on_address(int nsid, int ifindex, void *arg)
{
	struct addressed *a = arg;

	*a = (struct addressed){a->n + 1, nsid, ifindex};
}

static size_t put_link(uint8_t *buf, uint32_t ifindex, const char *name)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg info = {.ifi_index = (int)ifindex};
	size_t len;

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO), 0);
	assert_int_equal(nla_put_string(m, IFLA_IFNAME, name), 0);
	len = nlmsg_hdr(m)->nlmsg_len;
	memcpy(buf, nlmsg_hdr(m), len);
	nlmsg_free(m);
	return NLMSG_ALIGN(len);
}

static void test_a_datagram_is_judged_message_by_message(void **state)
{
	_Alignas(4) uint8_t buf[2048] = {0};
	struct relevance_tally tally = {0};
	size_t n;
	(void)state;

	n = put_link(buf, 8, "veth1");
	assert_int_equal(
		relevance_route_datagram(&host, NSID_HOST, buf, n, &tally, on_address, &addressed),
		0);
	n += put_link(buf + n, 5, "vf0");
	assert_int_equal(
		relevance_route_datagram(&host, NSID_HOST, buf, n, &tally, on_address, &addressed),
		SCAN_NETDEVS | SCAN_RDMA);
	assert_int_equal(tally.events, 3);
	assert_int_equal(tally.malformed, 0);
}

static void test_malformed_messages_are_counted_and_skipped(void **state)
{
	_Alignas(4) uint8_t buf[2048] = {0};
	struct relevance_tally tally = {0};
	size_t first, n;
	(void)state;

	first = put_link(buf, 8, "a name that is far too long for a network device");
	n = first + put_link(buf + first, 5, "vf0");
	assert_int_equal(
		relevance_route_datagram(&host, NSID_HOST, buf, n, &tally, on_address, &addressed),
		SCAN_NETDEVS | SCAN_RDMA);
	assert_int_equal(tally.malformed, 1);
	assert_int_equal(
		relevance_route_datagram(&host, NSID_HOST, buf, 7, &tally, on_address, &addressed),
		0);
	assert_int_equal(tally.malformed, 2);
	((struct nlmsghdr *)buf)->nlmsg_len = 100000;
	assert_int_equal(
		relevance_route_datagram(&host, NSID_HOST, buf, n, &tally, on_address, &addressed),
		0);
	assert_int_equal(tally.malformed, 3);
}

static void test_addresses_are_reported_with_their_netdev(void **state)
{
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWADDR, 0);
	struct ifaddrmsg address = {.ifa_family = AF_INET, .ifa_index = 7};
	struct relevance_tally tally = {0};
	(void)state;

	addressed = (struct addressed){0};
	assert_int_equal(nlmsg_append(m, &address, sizeof(address), NLMSG_ALIGNTO), 0);
	assert_int_equal(relevance_route_datagram(&host, 3, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len,
						  &tally, on_address, &addressed),
			 0);
	assert_int_equal(addressed.n, 1);
	assert_int_equal(addressed.nsid, 3);
	assert_int_equal(addressed.ifindex, 7);
	nlmsg_hdr(m)->nlmsg_len -= 4;
	relevance_route_datagram(&host, 3, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len, &tally,
				 on_address, &addressed);
	assert_int_equal(addressed.n, 1);
	assert_int_equal(tally.malformed, 1);
	nlmsg_free(m);
}

static void test_rdma_events_matter_and_others_do_not(void **state)
{
	struct relevance_tally tally = {0};
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, NLDEV_CMD_MONITOR),
					      0);
	struct nl_msg *other = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, 1), 0);
	(void)state;

	assert_int_equal(nla_put_u8(m, NLDEV_ATTR_EVENT_TYPE, NLDEV_REGISTER), 0);
	assert_int_equal(relevance_rdma_datagram(nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len, &tally),
			 SCAN_RDMA);
	assert_int_equal(tally.events, 1);
	assert_int_equal(
		relevance_rdma_datagram(nlmsg_hdr(other), nlmsg_hdr(other)->nlmsg_len, &tally), 0);
	assert_int_equal(tally.malformed, 1);
	nlmsg_free(m);
	nlmsg_free(other);
}

TEST_GROUP(relevance)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links_of_our_functions_matter_everywhere),
		cmocka_unit_test(test_new_hardware_triggers_a_full_scan),
		cmocka_unit_test(test_lower_and_master_netdevs_matter),
		cmocka_unit_test(test_other_links_do_not_matter),
		cmocka_unit_test(test_only_health_of_devlink_matters),
		cmocka_unit_test(test_default_routes_of_our_namespace_matter),
		cmocka_unit_test(test_a_datagram_is_judged_message_by_message),
		cmocka_unit_test(test_malformed_messages_are_counted_and_skipped),
		cmocka_unit_test(test_addresses_are_reported_with_their_netdev),
		cmocka_unit_test(test_rdma_events_matter_and_others_do_not),
	};

	return test_group_run(tests, NULL, NULL);
}
