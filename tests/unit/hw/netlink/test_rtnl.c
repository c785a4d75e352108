// SPDX-License-Identifier: Apache-2.0
/* Link messages of the kernel are decoded, and similar but invalid ones rejected as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "err.h"
#include "rtnl.h"
#include "test_group.h"

static struct nl_msg *link_message(int type, int ifindex, unsigned flags, const char *name)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);
	struct ifinfomsg ifi = {.ifi_index = ifindex, .ifi_flags = flags};

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO), 0);
	if (name)
		assert_int_equal(nla_put_string(m, IFLA_IFNAME, name), 0);
	return m;
}

static int decode(struct nl_msg *m, struct rtnl_link *ret, struct rtnl_stats *stats)
{
	int r = rtnl_decode_link(nlmsg_hdr(m), ret, stats);

	nlmsg_free(m);
	return r;
}

static void put_altnames(struct nl_msg *m, unsigned n)
{
	struct nlattr *list = nla_nest_start(m, IFLA_PROP_LIST);

	for (unsigned i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "a-rather-long-name-%u", i);
		assert_int_equal(nla_put_string(m, IFLA_ALT_IFNAME, name), 0);
	}
	nla_nest_end(m, list);
}

/* Asserts that the netdev has the first n of these names. */
static void assert_altnames(const struct netdev *d, unsigned n)
{
	const char *name = NULL;
	char expected[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(expected, sizeof(expected), "a-rather-long-name-%u", i);
		name = netdev_altname(d, name);
		assert_non_null(name);
		assert_string_equal(name, expected);
	}
	assert_null(netdev_altname(d, name));
}

/* Altnames of the maximum length fill the list. */
static void test_a_long_altname(void **state)
{
	struct nl_msg *m = link_message(RTM_NEWLINK, 7, 0, "ens1v3");
	struct nlattr *list = nla_nest_start(m, IFLA_PROP_LIST);
	char name[ALTNAME_SIZE];
	struct rtnl_link l;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	nla_put_string(m, IFLA_ALT_IFNAME, name);
	nla_put_string(m, IFLA_ALT_IFNAME, "b");
	nla_nest_end(m, list);
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_string_equal(netdev_altname(&l.netdev, NULL), name);
	assert_null(netdev_altname(&l.netdev, netdev_altname(&l.netdev, NULL)));
}

static void test_all_attributes_of_a_link(void **state)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	struct nl_msg *m = link_message(RTM_NEWLINK, 7, IFF_UP | IFF_RUNNING, "ens1v3");
	struct rtnl_link l;
	struct nlattr *info;
	(void)state;

	nla_put(m, IFLA_ADDRESS, sizeof(mac), mac);
	nla_put_u32(m, IFLA_MTU, 9000);
	nla_put_u8(m, IFLA_OPERSTATE, 3);
	nla_put_u8(m, IFLA_CARRIER, 0);
	nla_put_u32(m, IFLA_CARRIER_CHANGES, 12);
	nla_put_u32(m, IFLA_MASTER, 44);
	nla_put_string(m, IFLA_PARENT_DEV_NAME, "0000:18:00.4");
	nla_put_string(m, IFLA_PARENT_DEV_BUS_NAME, "pci");
	put_altnames(m, 7);
	info = nla_nest_start(m, IFLA_LINKINFO);
	nla_put_string(m, IFLA_INFO_KIND, "vlan");
	nla_nest_end(m, info);
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_false(l.gone);
	assert_true(l.has_parent);
	assert_int_equal(l.netdev.nsid, NSID_HOST);
	assert_int_equal(l.netdev.ifindex, 7);
	assert_string_equal(l.netdev.name, "ens1v3");
	assert_int_equal(l.netdev.flags, IFF_UP | IFF_RUNNING);
	assert_int_equal(l.netdev.addr_len, 6);
	assert_memory_equal(l.netdev.addr, mac, 6);
	assert_int_equal(l.netdev.mtu, 9000);
	assert_string_equal(l.netdev.operstate, "lowerlayerdown");
	assert_int_equal(l.netdev.carrier, CARRIER_OFF);
	assert_int_equal(l.netdev.carrier_changes, 12);
	assert_int_equal(l.netdev.master, 44);
	assert_string_equal(l.netdev.function, "0000:18:00.4");
	assert_string_equal(l.netdev.kind, "vlan");
	assert_altnames(&l.netdev, 6);
	assert_int_equal(l.new_nsid, NSID_NONE);
}

/* Any process may set an alias; only an alias in our format has an original name. */
static void test_our_alias(void **state)
{
	struct nl_msg *m = link_message(RTM_NEWLINK, 7, 0, "net1");
	char alias[ATTACH_ALIAS_SIZE], longest[ATTACH_ALIAS_SIZE + 1];
	struct rtnl_link l;
	(void)state;

	/* The kernel sends the terminating NUL. */
	nla_put_string(m, IFLA_IFALIAS, "rocelet ens1f0v3 ml/train-7 uid");
	assert_int_equal(rtnl_decode_alias(nlmsg_hdr(m), alias), 0);
	assert_string_equal(alias, "rocelet ens1f0v3 ml/train-7 uid");
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_string_equal(l.netdev.origin, "ens1f0v3");
	m = link_message(RTM_NEWLINK, 7, 0, "net1");
	assert_int_equal(rtnl_decode_alias(nlmsg_hdr(m), alias), 0);
	assert_string_equal(alias, "");
	nla_put_string(m, IFLA_IFALIAS, "rocelet ../etc ml/train-7 uid");
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_string_equal(l.netdev.origin, "");
	/* Longer than any alias: rejected. */
	m = link_message(RTM_NEWLINK, 7, 0, "net1");
	memset(longest, 'x', sizeof(longest));
	nla_put(m, IFLA_IFALIAS, sizeof(longest), longest);
	assert_int_equal(rtnl_decode_alias(nlmsg_hdr(m), alias), 0);
	assert_string_equal(alias, "");
	nlmsg_hdr(m)->nlmsg_type = RTM_NEWADDR;
	assert_int_equal(rtnl_decode_alias(nlmsg_hdr(m), alias), -EPROTO);
	nlmsg_hdr(m)->nlmsg_type = RTM_NEWLINK;
	nlmsg_hdr(m)->nlmsg_len = NLMSG_HDRLEN + 3;
	assert_int_equal(rtnl_decode_alias(nlmsg_hdr(m), alias), -EBADMSG);
	nlmsg_free(m);
}

static void test_lower_link_and_port_name(void **state)
{
	struct nl_msg *m = link_message(RTM_NEWLINK, 7, 0, "eth0.12");
	struct rtnl_link l;
	(void)state;

	((struct ifinfomsg *)nlmsg_data(nlmsg_hdr(m)))->ifi_type = 32;
	nla_put_u32(m, IFLA_LINK, 4);
	nla_put_string(m, IFLA_PHYS_PORT_NAME, "pf0vf3");
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_int_equal(l.netdev.lower, 4);
	assert_int_equal(l.netdev.type, 32);
	assert_string_equal(l.netdev.port_name, "pf0vf3");
	m = link_message(RTM_NEWLINK, 7, 0,
			 "veth0"); /* the peer's index is valid in the peer's namespace */
	nla_put_u32(m, IFLA_LINK, 4);
	nla_put_s32(m, IFLA_LINK_NETNSID, 0);
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_int_equal(l.netdev.lower, 0);
	m = link_message(RTM_NEWLINK, 7, 0, "eth0");
	nla_put_u32(m, IFLA_LINK, 7);
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_int_equal(l.netdev.lower, 0);
	assert_string_equal(l.netdev.port_name, "");
}

static void test_absent_attributes_are_unknown(void **state)
{
	struct rtnl_stats stats = {.known = true};
	struct rtnl_link l;
	(void)state;

	assert_int_equal(decode(link_message(RTM_NEWLINK, 1, 0, "lo"), &l, &stats), 0);
	assert_int_equal(l.netdev.carrier, CARRIER_UNKNOWN);
	assert_string_equal(l.netdev.operstate, "");
	assert_string_equal(l.netdev.function, "");
	assert_int_equal(l.netdev.master, 0);
	assert_false(l.has_parent);
	assert_false(stats.known);
}

static void test_parents_that_are_not_functions(void **state)
{
	struct nl_msg *m = link_message(RTM_NEWLINK, 2, 0, "eth0");
	struct rtnl_link l;
	(void)state;

	nla_put_string(m, IFLA_PARENT_DEV_NAME, "virtio3");
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_true(l.has_parent);
	assert_string_equal(l.netdev.function, "");
	m = link_message(RTM_NEWLINK, 2, 0, "eth0");
	nla_put_string(m, IFLA_PARENT_DEV_NAME, "mlx5_core.sf.4");
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_string_equal(l.netdev.function, "mlx5_core.sf.4");
}

static void test_a_removed_link(void **state)
{
	struct nl_msg *m = link_message(RTM_DELLINK, 7, 0, "ens1v3");
	struct rtnl_link l;
	(void)state;

	nla_put_s32(m, IFLA_NEW_NETNSID, 3);
	nla_put_s32(m, IFLA_NEW_IFINDEX, 2);
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_true(l.gone);
	assert_int_equal(l.new_nsid, 3);
	assert_int_equal(l.new_ifindex, 2);
}

static void test_a_link_of_another_namespace(void **state)
{
	struct nl_msg *m = link_message(RTM_NEWLINK, 2, 0, "net1");
	struct rtnl_link l;
	(void)state;

	nla_put_s32(m, IFLA_TARGET_NETNSID, 5);
	assert_int_equal(decode(m, &l, NULL), 0);
	assert_int_equal(l.netdev.nsid, 5);
}

static void test_statistics(void **state)
{
	struct rtnl_link_stats64 s = {
		.rx_packets = 1, .tx_packets = 2, .rx_bytes = 3, .tx_bytes = UINT64_MAX};
	struct nl_msg *m = link_message(RTM_NEWLINK, 2, 0, "eth0");
	struct rtnl_stats stats;
	struct rtnl_link l;
	(void)state;

	nla_put(m, IFLA_STATS64, sizeof(s), &s);
	assert_int_equal(decode(m, &l, &stats), 0);
	assert_true(stats.known);
	assert_true(stats.rx_packets == 1 && stats.tx_packets == 2 && stats.rx_bytes == 3 &&
		    stats.tx_bytes == UINT64_MAX);
	m = link_message(RTM_NEWLINK, 2, 0, "eth0");
	nla_put(m, IFLA_STATS64, 24, &s); /* shorter than the fields that we read */
	assert_int_equal(decode(m, &l, &stats), -EBADMSG);
}

static void refuse(struct nl_msg *m, int code)
{
	struct rtnl_link l = {.new_ifindex = 77};

	assert_int_equal(decode(m, &l, NULL), code);
	assert_int_equal(l.new_ifindex, 77);
}

static void test_bad_names(void **state)
{
	static const char *const bad[] = {
		"", "sixteen-letters!", "a/b", "..", ".", "a b", "a:1", "tab\t", "\xc3\xa0"};
	(void)state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuse(link_message(RTM_NEWLINK, 2, 0, bad[i]), -EBADMSG);
	refuse(link_message(RTM_NEWLINK, 2, 0, NULL), -EBADMSG);
}

/* Names that a pod may give its interface. */
static void test_strange_names(void **state)
{
	static const char *const names[] = {"n\x01x", "\x1b[31m", "\xff\xfe", "\x7f", "\"\\%s"};
	struct rtnl_link l;
	(void)state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(decode(link_message(RTM_NEWLINK, 2, 0, names[i]), &l, NULL), 0);
		assert_string_equal(l.netdev.name, names[i]);
	}
}

static void test_bad_attributes(void **state)
{
	static const uint8_t bytes[64] = {1};
	struct nl_msg *m;
	(void)state;

	m = link_message(RTM_NEWLINK, 2, 0, "eth0");
	nla_put(m, IFLA_MTU, 2, bytes);
	refuse(m, -EBADMSG);
	m = link_message(RTM_NEWLINK, 2, 0, "eth0");
	nla_put(m, IFLA_ADDRESS, HW_ADDR_MAX + 1, bytes);
	refuse(m, -EBADMSG);
	m = link_message(RTM_NEWLINK, 2, 0, "eth0");
	nla_put(m, IFLA_PARENT_DEV_NAME, 4, "0000"); /* no terminating NUL */
	refuse(m, -EBADMSG);
	refuse(link_message(RTM_NEWLINK, 0, 0, "eth0"), -EBADMSG);
	refuse(link_message(RTM_NEWLINK, -3, 0, "eth0"), -EBADMSG);
	refuse(link_message(RTM_NEWADDR, 2, 0, "eth0"), -EPROTO);
	m = nlmsg_alloc_simple(RTM_NEWLINK, 0); /* no ifinfomsg */
	refuse(m, -EBADMSG);
}

static struct nl_msg *nsid_message(int type, int nsid)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);
	struct rtgenmsg gen = {0};

	assert_int_equal(nlmsg_append(m, &gen, sizeof(gen), NLMSG_ALIGNTO), 0);
	if (nsid != 99)
		nla_put_s32(m, NETNSA_NSID, nsid);
	return m;
}

static int decode_nsid(struct nl_msg *m, int *ret)
{
	int r = rtnl_decode_nsid(nlmsg_hdr(m), ret);

	nlmsg_free(m);
	return r;
}

static void test_namespace_ids(void **state)
{
	int nsid = 77;
	(void)state;

	assert_int_equal(decode_nsid(nsid_message(RTM_NEWNSID, 4), &nsid), 0);
	assert_int_equal(nsid, 4);
	assert_int_equal(decode_nsid(nsid_message(RTM_NEWNSID, -1), &nsid), 0);
	assert_int_equal(nsid, -1);
	assert_int_equal(decode_nsid(nsid_message(RTM_NEWNSID, 99), &nsid), -EBADMSG);
	assert_int_equal(decode_nsid(nsid_message(RTM_NEWLINK, 4), &nsid), -EPROTO);
	assert_int_equal(nsid, -1);
}

static void test_requests(void **state)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct nl_msg *m = rtnl_dump_links(5, false);
	(void)state;

	assert_non_null(m);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_GETLINK);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
	assert_int_equal(nlmsg_parse(nlmsg_hdr(m), sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL),
			 0);
	assert_int_equal(nla_get_s32(tb[IFLA_TARGET_NETNSID]), 5);
	assert_non_null(tb[IFLA_EXT_MASK]);
	nlmsg_free(m);
	m = rtnl_dump_links(NSID_HOST, true);
	assert_int_equal(nlmsg_parse(nlmsg_hdr(m), sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL),
			 0);
	assert_null(tb[IFLA_TARGET_NETNSID]);
	assert_null(tb[IFLA_EXT_MASK]);
	nlmsg_free(m);
	m = rtnl_get_nsid(3);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_GETNSID);
	nlmsg_free(m);
}

TEST_GROUP(rtnl)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_attributes_of_a_link),
		cmocka_unit_test(test_a_long_altname),
		cmocka_unit_test(test_our_alias),
		cmocka_unit_test(test_lower_link_and_port_name),
		cmocka_unit_test(test_absent_attributes_are_unknown),
		cmocka_unit_test(test_parents_that_are_not_functions),
		cmocka_unit_test(test_a_removed_link),
		cmocka_unit_test(test_a_link_of_another_namespace),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_bad_names),
		cmocka_unit_test(test_strange_names),
		cmocka_unit_test(test_bad_attributes),
		cmocka_unit_test(test_namespace_ids),
		cmocka_unit_test(test_requests),
	};

	return test_group_run(tests, NULL, NULL);
}
