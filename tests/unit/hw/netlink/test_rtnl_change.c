// SPDX-License-Identifier: Apache-2.0
/* Requests about links, addresses and routes as bytes; decoding of the kernel's addresses and
 * routes, and of similar messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include "cleanup.h"
#include "err.h"
#include "rtnl.h"
#include "rtnl_addr.h"
#include "test_group.h"

static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};

/* Asserts an attribute of this size and returns it; size < 0: it must be absent. */
static const void *has(struct nl_msg *m, size_t header, int type, int size)
{
	const struct nlattr *a = nlmsg_find_attr(nlmsg_hdr(m), (int)header, type);

	if (size < 0) {
		assert_null(a);
		return NULL;
	}
	assert_non_null(a);
	assert_int_equal(nla_len(a), size);
	return nla_data(a);
}

#define LINK_HAS(m, type, size)	 has(m, sizeof(struct ifinfomsg), type, size)
#define ADDR_HAS(m, type, size)	 has(m, sizeof(struct ifaddrmsg), type, size)
#define ROUTE_HAS(m, type, size) has(m, sizeof(struct rtmsg), type, size)

static uint32_t u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* --- links ---------------------------------------------------------------------------------- */

static void test_the_bytes_of_no_change(void **state)
{
	struct nl_msg *m = rtnl_change_link(7, &NETDEV_NO_CHANGE);
	const struct ifinfomsg *ifi = nlmsg_data(nlmsg_hdr(m));
	(void)state;

	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_SETLINK);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_len, NLMSG_HDRLEN + sizeof(*ifi));
	assert_int_equal(ifi->ifi_index, 7);
	assert_int_equal(ifi->ifi_change, 0);
	nlmsg_free(m);
}

static void test_the_bytes_of_every_change(void **state)
{
	struct netdev_change c = {.name = "net1",
				  .alias = "rocelet a",
				  .mtu = 9000,
				  .addr = mac,
				  .addr_len = 6,
				  .up = 1};
	struct nl_msg *m = rtnl_change_link(7, &c);
	const struct ifinfomsg *ifi = nlmsg_data(nlmsg_hdr(m));
	(void)state;

	assert_int_equal(ifi->ifi_flags, IFF_UP);
	assert_int_equal(ifi->ifi_change, IFF_UP);
	assert_int_equal(u32(LINK_HAS(m, IFLA_NET_NS_FD, 4)), 0);
	assert_string_equal(LINK_HAS(m, IFLA_IFNAME, 5), "net1");
	assert_memory_equal(LINK_HAS(m, IFLA_IFALIAS, 9), "rocelet a", 9);
	assert_int_equal(u32(LINK_HAS(m, IFLA_MTU, 4)), 9000);
	assert_memory_equal(LINK_HAS(m, IFLA_ADDRESS, 6), mac, 6);
	nlmsg_free(m);
	c = NETDEV_NO_CHANGE;
	c.alias = "";
	c.up = 0;
	m = rtnl_change_link(7, &c);
	ifi = nlmsg_data(nlmsg_hdr(m));
	assert_int_equal(ifi->ifi_flags, 0);
	assert_int_equal(ifi->ifi_change, IFF_UP);
	LINK_HAS(m, IFLA_IFALIAS, 0); /* an empty alias deletes it */
	LINK_HAS(m, IFLA_IFNAME, -1);
	LINK_HAS(m, IFLA_NET_NS_FD, -1);
	LINK_HAS(m, IFLA_ADDRESS, -1);
	nlmsg_free(m);
}

/* Returns the data of IFLA_LINKINFO in a request for a link of this kind. */
static struct nlattr *kind_data(struct nl_msg *m, const char *kind)
{
	struct nlattr *info = nlmsg_find_attr(nlmsg_hdr(m), sizeof(struct ifinfomsg),
					      IFLA_LINKINFO);

	assert_non_null(info);
	assert_string_equal(nla_get_string(nla_find(nla_data(info), nla_len(info), IFLA_INFO_KIND)),
			    kind);
	info = nla_find(nla_data(info), nla_len(info), IFLA_INFO_DATA);
	assert_non_null(info);
	return nla_data(info);
}

static void test_the_bytes_of_stacked_links(void **state)
{
	struct net_plan plan = {.kind = PLAN_MACVLAN, .mtu = 1400, .has_mac = true};
	struct nl_msg *m = rtnl_new_stacked(&plan, "rl-net1", 4, 17);
	struct nlattr *mode = kind_data(m, "macvlan");
	(void)state;

	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_NEWLINK);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_flags, NLM_F_CREATE | NLM_F_EXCL);
	assert_string_equal(LINK_HAS(m, IFLA_IFNAME, 8), "rl-net1");
	assert_int_equal(u32(LINK_HAS(m, IFLA_LINK, 4)), 4);
	assert_int_equal(u32(LINK_HAS(m, IFLA_NET_NS_FD, 4)), 17);
	assert_int_equal(u32(LINK_HAS(m, IFLA_MTU, 4)), 1400);
	LINK_HAS(m, IFLA_ADDRESS, 6);
	assert_int_equal(nla_type(mode), IFLA_MACVLAN_MODE);
	assert_int_equal(nla_get_u32(mode), MACVLAN_MODE_BRIDGE);
	nlmsg_free(m);
	m = rtnl_new_stacked(&(struct net_plan){.kind = PLAN_IPVLAN}, "net1", 4, 17);
	mode = kind_data(m, "ipvlan");
	assert_int_equal(nla_type(mode), IFLA_IPVLAN_MODE);
	assert_int_equal(nla_get_u16(mode), IPVLAN_MODE_L2);
	LINK_HAS(m, IFLA_MTU, -1);
	LINK_HAS(m, IFLA_ADDRESS, -1);
	nlmsg_free(m);
}

static void test_the_bytes_of_a_query_and_a_deletion(void **state)
{
	struct nl_msg *m = rtnl_get_link(0, "net1");
	(void)state;

	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_GETLINK);
	assert_string_equal(LINK_HAS(m, IFLA_IFNAME, 5), "net1");
	nlmsg_free(m);
	m = rtnl_get_link(7, NULL);
	assert_int_equal(((struct ifinfomsg *)nlmsg_data(nlmsg_hdr(m)))->ifi_index, 7);
	LINK_HAS(m, IFLA_IFNAME, -1);
	nlmsg_free(m);
	m = rtnl_delete_link(7);
	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_DELLINK);
	assert_int_equal(((struct ifinfomsg *)nlmsg_data(nlmsg_hdr(m)))->ifi_index, 7);
	nlmsg_free(m);
}

/* --- addresses ------------------------------------------------------------------------------ */

static struct ip_prefix ip(int family, const char *text, unsigned len)
{
	struct ip_prefix p = {.family = family, .len = (uint8_t)len};

	assert_int_equal(inet_pton(family, text, p.addr), 1);
	return p;
}

static void test_the_bytes_of_an_address(void **state)
{
	static const struct {
		unsigned len;
		const char *broadcast; /* NULL = none */
	} cases[] = {{24, "192.0.2.255"},
		     {30, "192.0.2.7"},
		     {31, NULL},
		     {32, NULL},
		     {0, "255.255.255.255"}};
	struct ip_prefix v6 = ip(AF_INET6, "2001:db8::7", 64);
	struct nl_msg *m;
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ip_prefix v4 = ip(AF_INET, "192.0.2.7", cases[i].len);
		const void *brd;

		m = rtnl_new_addr(7, &v4);
		assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_NEWADDR);
		assert_memory_equal(ADDR_HAS(m, IFA_LOCAL, 4), v4.addr, 4);
		brd = ADDR_HAS(m, IFA_BROADCAST, cases[i].broadcast ? 4 : -1);
		if (brd)
			assert_int_equal(u32(brd), inet_addr(cases[i].broadcast));
		nlmsg_free(m);
	}
	m = rtnl_new_addr(7, &v6);
	assert_memory_equal(ADDR_HAS(m, IFA_LOCAL, 16), v6.addr, 16);
	ADDR_HAS(m, IFA_BROADCAST, -1);
	assert_int_equal(((struct ifaddrmsg *)nlmsg_data(nlmsg_hdr(m)))->ifa_prefixlen, 64);
	nlmsg_free(m);
}

static void test_encoded_addresses_decode_equally(void **state)
{
	struct ip_prefix v6 = ip(AF_INET6, "2001:db8::7", 64);
	struct nl_msg *m = rtnl_new_addr(7, &v6);
	struct rtnl_addr a;
	(void)state;

	assert_int_equal(rtnl_decode_addr(nlmsg_hdr(m), &a), 0);
	assert_int_equal(a.ifindex, 7);
	assert_int_equal(a.scope, RT_SCOPE_UNIVERSE);
	assert_memory_equal(&a.ip, &v6, sizeof(v6));
	nlmsg_free(m);
}

static struct nl_msg *addr_message(uint8_t family, uint8_t len, int type, int size)
{
	static const uint8_t bytes[32] = {192, 0, 2, 7};
	struct ifaddrmsg ifa = {.ifa_family = family, .ifa_prefixlen = len, .ifa_index = 7};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWADDR, 0);

	nlmsg_append(m, &ifa, sizeof(ifa), NLMSG_ALIGNTO);
	if (size >= 0)
		nla_put(m, type, size, bytes);
	return m;
}

static void test_malformed_addresses_are_rejected(void **state)
{
	static const struct {
		uint8_t family, len;
		int size;
	} lies[] = {{AF_INET, 24, -1}, {AF_INET, 24, 3},    {AF_INET, 24, 16},	{AF_INET, 33, 4},
		    {AF_INET6, 64, 4}, {AF_INET6, 129, 16}, {AF_BRIDGE, 24, 4}, {0, 0, 4}};
	struct rtnl_addr a = {.ifindex = 77};
	struct nl_msg *m;
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		m = addr_message(lies[i].family, lies[i].len, IFA_LOCAL, lies[i].size);
		if (rtnl_decode_addr(nlmsg_hdr(m), &a) != -EBADMSG)
			fail_msg("lie %zu is believed", i);
		nlmsg_free(m);
	}
	m = addr_message(AF_INET, 24, IFA_ADDRESS, 4);
	nlmsg_hdr(m)->nlmsg_type = RTM_DELADDR;
	assert_int_equal(rtnl_decode_addr(nlmsg_hdr(m), &a), -EPROTO);
	nlmsg_hdr(m)->nlmsg_type = RTM_NEWADDR;
	nlmsg_hdr(m)->nlmsg_len = NLMSG_HDRLEN + 4;
	assert_int_equal(rtnl_decode_addr(nlmsg_hdr(m), &a), -EBADMSG);
	assert_int_equal(a.ifindex, 77);
	nlmsg_hdr(m)->nlmsg_len = NLMSG_HDRLEN + sizeof(struct ifaddrmsg) + 8;
	assert_int_equal(rtnl_decode_addr(nlmsg_hdr(m), &a), 0);
	nlmsg_free(m);
}

static void test_prefixes_in_words(void **state)
{
	struct ip_prefix p = ip(AF_INET6, "2001:db8:1111:2222:3333:4444:5555:6666", 128);
	char text[RTNL_PREFIX_SIZE];
	(void)state;

	rtnl_prefix_text(&p, text);
	assert_string_equal(text, "2001:db8:1111:2222:3333:4444:5555:6666/128");
	p = ip(AF_INET, "192.0.2.7", 24);
	rtnl_prefix_text(&p, text);
	assert_string_equal(text, "192.0.2.7/24");
	p.family = 99;
	rtnl_prefix_text(&p, text);
	assert_string_equal(text, "?/24");
}

/* --- routes --------------------------------------------------------------------------------- */

static void test_the_bytes_of_routes(void **state)
{
	struct net_route via = {.gateway = ip(AF_INET, "192.0.2.1", 0)};
	struct net_route on_link = {.dst = ip(AF_INET6, "2001:db8::", 32), .priority = 9};
	struct nl_msg *m = rtnl_new_route(7, &via);
	const struct rtmsg *rtm = nlmsg_data(nlmsg_hdr(m));
	(void)state;

	assert_int_equal(nlmsg_hdr(m)->nlmsg_type, RTM_NEWROUTE);
	/* the family of the gateway; a default route has no destination */
	assert_int_equal(rtm->rtm_family, AF_INET);
	assert_int_equal(rtm->rtm_dst_len, 0);
	assert_int_equal(rtm->rtm_scope, RT_SCOPE_UNIVERSE);
	assert_int_equal(rtm->rtm_table, RT_TABLE_MAIN);
	assert_int_equal(u32(ROUTE_HAS(m, RTA_OIF, 4)), 7);
	assert_memory_equal(ROUTE_HAS(m, RTA_GATEWAY, 4), via.gateway.addr, 4);
	ROUTE_HAS(m, RTA_DST, -1);
	ROUTE_HAS(m, RTA_PRIORITY, -1);
	nlmsg_free(m);
	m = rtnl_new_route(7, &on_link);
	rtm = nlmsg_data(nlmsg_hdr(m));
	assert_int_equal(rtm->rtm_family, AF_INET6);
	assert_int_equal(rtm->rtm_dst_len, 32);
	assert_int_equal(rtm->rtm_scope, RT_SCOPE_LINK);
	assert_memory_equal(ROUTE_HAS(m, RTA_DST, 16), on_link.dst.addr, 16);
	assert_int_equal(u32(ROUTE_HAS(m, RTA_PRIORITY, 4)), 9);
	ROUTE_HAS(m, RTA_GATEWAY, -1);
	nlmsg_free(m);
}

static bool is_route(const struct net_route *sent, int ifindex, const struct net_route *requested)
{
	struct nl_msg *m = rtnl_new_route(7, sent);
	bool is = rtnl_is_route(nlmsg_hdr(m), ifindex, requested);

	nlmsg_free(m);
	return is;
}

static void test_routes_are_compared(void **state)
{
	const struct net_route route = {.dst = ip(AF_INET, "198.51.96.0", 19),
					.gateway = ip(AF_INET, "192.0.2.1", 0),
					.priority = 5};
	struct net_route other;
	(void)state;

	assert_true(is_route(&route, 7, &route));
	assert_false(is_route(&route, 8, &route));
#define DIFFERS(statement)                                                                         \
	do {                                                                                       \
		other = route;                                                                     \
		statement;                                                                         \
		assert_false(is_route(&route, 7, &other));                                         \
		assert_false(is_route(&other, 7, &route));                                         \
	} while (0)
	DIFFERS(other.dst.addr[0]++);
	DIFFERS(other.dst.addr[2] ^= 0x20); /* the last bit of its prefix */
	DIFFERS(other.dst.len++);
	DIFFERS(other.gateway.addr[3]++);
	DIFFERS(other.gateway.family = AF_UNSPEC);
	DIFFERS(other.priority++);
#undef DIFFERS
	other = route;
	other.dst.addr[2] ^= 0x1f; /* a bit beyond the prefix, which the kernel clears */
	other.dst.addr[3] = 1;
	assert_true(is_route(&route, 7, &other));
}

/* The kernel gives IPv6 routes without a priority 1024. */
static void test_the_kernels_default_priority(void **state)
{
	struct net_route reported = {.dst = ip(AF_INET6, "2001:db8::", 32), .priority = 1024};
	struct net_route requested = reported;
	(void)state;

	requested.priority = 0;
	assert_true(is_route(&reported, 7, &requested));
	reported.priority = 1;
	assert_false(is_route(&reported, 7, &requested));
}

static void test_routes_of_other_kinds(void **state)
{
	const struct net_route route = {.dst = ip(AF_INET, "198.51.100.0", 24)};
	struct nl_msg *m = rtnl_new_route(7, &route);
	struct rtmsg *rtm = nlmsg_data(nlmsg_hdr(m));
	(void)state;

	assert_true(rtnl_is_route(nlmsg_hdr(m), 7, &route));
	rtm->rtm_type = RTN_LOCAL;
	assert_false(rtnl_is_route(nlmsg_hdr(m), 7, &route));
	rtm->rtm_type = RTN_UNICAST;
	rtm->rtm_table = RT_TABLE_LOCAL;
	assert_false(rtnl_is_route(nlmsg_hdr(m), 7, &route));
	nla_put_u32(m, RTA_TABLE, RT_TABLE_MAIN);
	assert_true(rtnl_is_route(nlmsg_hdr(m), 7, &route));
	rtm->rtm_flags = RTM_F_CLONED;
	assert_false(rtnl_is_route(nlmsg_hdr(m), 7, &route));
	rtm->rtm_flags = 0;
	nlmsg_hdr(m)->nlmsg_type = RTM_DELROUTE;
	assert_false(rtnl_is_route(nlmsg_hdr(m), 7, &route));
	nlmsg_free(m);
}

TEST_GROUP(rtnl_change)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_bytes_of_no_change),
		cmocka_unit_test(test_the_bytes_of_every_change),
		cmocka_unit_test(test_the_bytes_of_stacked_links),
		cmocka_unit_test(test_the_bytes_of_a_query_and_a_deletion),
		cmocka_unit_test(test_the_bytes_of_an_address),
		cmocka_unit_test(test_encoded_addresses_decode_equally),
		cmocka_unit_test(test_malformed_addresses_are_rejected),
		cmocka_unit_test(test_prefixes_in_words),
		cmocka_unit_test(test_the_bytes_of_routes),
		cmocka_unit_test(test_routes_are_compared),
		cmocka_unit_test(test_the_kernels_default_priority),
		cmocka_unit_test(test_routes_of_other_kinds),
	};

	return test_group_run(tests, NULL, NULL);
}
