// SPDX-License-Identifier: Apache-2.0
/* The annotation of a pod: an error text for each mistake, and how it overrides the pool's plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <linux/if_ether.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "faults.h"
#include "member.h"
#include "network_keys.h"
#include "network_text.h"
#include "networks.h"
#include "test_group.h"

#define R      "\"resource\":\"rocelet.dev/roce\""
#define E(key) "[{" R "," key "}]"
#define HEAD   NETWORKS_KEY ": "

static const struct {
	const char *text, *sentence;
} mistakes[] = {
	{"", "is not JSON: line 1, column 0: '[' or '{' expected near end of file"},
	{"[{]", "is not JSON: line 1, column 3: string or '}' expected near ']'"},
	{"[{\"a\":1,\"a\":2}]",
	 "is not JSON: line 1, column 11: duplicate object key near '\"a\"'"},
	{"{}", "is not a list"},
	{"[5]", "entry 1: is not an object"},
	{"[{}]", "entry 1: \"resource\" is missing"},
	{"[{\"resource\":5}]", "entry 1: resource: is not a string"},
	{"[{\"resource\":\"roce\"}]",
	 "entry 1: resource: 'roce' is not a resource like rocelet.dev/roce"},
	{"[{" R "},{" R ",\"vlans\":5}]", "entry 2: vlans: unknown key (did you mean \"vlan\"?)"},
	{E("\"drift\":\"repair\""), "entry 1: drift: unknown key"},
	{E("\"vlan\":1,\"VLAN\":2"), "entry 1: VLAN: appears twice, spelt differently"},
	{"[{" R "},{" R ",\"vlan\":5000}]", "entry 2: vlan: 5000 is not between 0 and 4094"},
	{E("\"vlan\":-1"), "entry 1: vlan: -1 is not between 0 and 4094"},
	{E("\"vlan\":\"5\""), "entry 1: vlan: is not a whole number"},
	{E("\"vlan\":1.5"), "entry 1: vlan: is not a whole number"},
	{E("\"vlanQoS\":8"), "entry 1: vlanQoS: 8 is not between 0 and 7"},
	{E("\"vlanProto\":\"qinq\""), "entry 1: vlanProto: 'qinq' is none of 802.1q, 802.1ad"},
	{E("\"mtu\":65536"), "entry 1: mtu: 65536 is not between 68 and 65535"},
	{E("\"txqlen\":0"), "entry 1: txqlen: 0 is not between 1 and 100000"},
	{E("\"spoofchk\":\"maybe\""), "entry 1: spoofchk: 'maybe' is none of off, on"},
	{E("\"trust\":0"), "entry 1: trust: is neither \"on\" nor \"off\""},
	{E("\"linkState\":\"up\""), "entry 1: linkState: 'up' is none of auto, enable, disable"},
	{E("\"minTxRate\":-1"), "entry 1: minTxRate: -1 is not between 0 and 4294967295"},
	/* names */
	{E("\"interface\":5"), "entry 1: interface: is not a string"},
	{E("\"interface\":\"\""), "entry 1: interface: '' is empty"},
	{E("\"interface\":\"a123456789012345\""),
	 "entry 1: interface: 'a123456789012345' has more than 15 characters"},
	{E("\"interface\":\"../x\""), "entry 1: interface: '../x' has a character that no "
				      "interface's name may have"},
	{E("\"interface\":\"a b\""), "entry 1: interface: 'a b' has a character that no "
				     "interface's name may have"},
	{E("\"interface\":\"a:1\""), "entry 1: interface: 'a:1' has a character that no "
				     "interface's name may have"},
	{E("\"interface\":\"net%d\""), "entry 1: interface: 'net%d' has a character that no "
				       "interface's name may have"},
	{E("\"interface\":\"a\\t\""), "entry 1: interface: 'a?' has a character that no "
				      "interface's name may have"},
	{E("\"interface\":\"\xc3\xa4\""), "entry 1: interface: '\xc3\xa4' has a character that no "
					  "interface's name may have"},
	{E("\"interface\":\".\""), "entry 1: interface: '.' is not an interface name"},
	{E("\"interface\":\"..\""), "entry 1: interface: '..' is not an interface name"},
	{E("\"interface\":\"lo\""), "entry 1: interface: 'lo' exists in every pod"},
	{E("\"interface\":\"eth0\""), "entry 1: interface: 'eth0' exists in every pod"},
	{E("\"interface\":\"all\""), "entry 1: interface: 'all' exists in every pod"},
	{E("\"interface\":\"default\""), "entry 1: interface: 'default' exists in every pod"},
	{E("\"interface\":\"bonding_masters\""),
	 "entry 1: interface: 'bonding_masters' exists in every pod"},
	{"[{" R ",\"interface\":\"a\"},{" R "},{" R ",\"interface\":\"a\"}]",
	 "entry 3: interface: a is already used by entry 1"},
	/* MACs and GUIDs */
	{E("\"mac\":5"), "entry 1: mac: is not a string"},
	{E("\"mac\":\"02:00:00:00:00\""),
	 "entry 1: mac: '02:00:00:00:00' is not a MAC address like 02:00:00:00:00:01"},
	{E("\"mac\":\"02-00-00-00-00-01\""),
	 "entry 1: mac: '02-00-00-00-00-01' is not a MAC address like 02:00:00:00:00:01"},
	{E("\"mac\":\"02:00:00:00:00:0g\""),
	 "entry 1: mac: '02:00:00:00:00:0g' is not a MAC address like 02:00:00:00:00:01"},
	{E("\"mac\":\"03:00:00:00:00:01\""),
	 "entry 1: mac: 03:00:00:00:00:01 is a multicast address"},
	{E("\"mac\":\"ff:ff:ff:ff:ff:ff\""),
	 "entry 1: mac: ff:ff:ff:ff:ff:ff is a multicast address"},
	{E("\"mac\":\"00:00:00:00:00:00\""), "entry 1: mac: is zero"},
	{"[{" R ",\"mac\":\"02:00:00:00:00:0a\"},{" R ",\"mac\":\"02:00:00:00:00:0A\"}]",
	 "entry 2: mac: is already used by entry 1"},
	{E("\"guid\":\"02:00:00:00:00:01\""),
	 "entry 1: guid: '02:00:00:00:00:01' is not a GUID like 02:00:00:00:00:00:00:01"},
	{E("\"guid\":\"00:00:00:00:00:00:00:00\""),
	 "entry 1: guid: 00:00:00:00:00:00:00:00 is an invalid GUID"},
	{E("\"guid\":\"ff:ff:ff:ff:ff:ff:ff:ff\""),
	 "entry 1: guid: ff:ff:ff:ff:ff:ff:ff:ff is an invalid GUID"},
	/* addresses */
	{E("\"ips\":\"10.9.0.1/24\""), "entry 1: ips: is not a list"},
	{E("\"ips\":[5]"), "entry 1: ips: item 1: is not a string"},
	{E("\"ips\":[\"10.9.0.1\"]"), "entry 1: ips: item 1: '10.9.0.1' is not an address with a "
				      "length like 10.9.0.1/24"},
	{E("\"ips\":[\"10.9.0.1/33\"]"),
	 "entry 1: ips: item 1: '10.9.0.1/33' is not an address with "
	 "a length like 10.9.0.1/24"},
	{E("\"ips\":[\"10.9.0.1/024\"]"), "entry 1: ips: item 1: '10.9.0.1/024' is not an address "
					  "with a length like 10.9.0.1/24"},
	{E("\"ips\":[\"10.9.0.1/-1\"]"),
	 "entry 1: ips: item 1: '10.9.0.1/-1' is not an address with "
	 "a length like 10.9.0.1/24"},
	{E("\"ips\":[\"10.9.0.1/\"]"), "entry 1: ips: item 1: '10.9.0.1/' is not an address with a "
				       "length like 10.9.0.1/24"},
	{E("\"ips\":[\"010.9.0.1/8\"]"),
	 "entry 1: ips: item 1: '010.9.0.1/8' is not an address with "
	 "a length like 10.9.0.1/24"},
	{E("\"ips\":[\"fe80::1%eth0/64\"]"), "entry 1: ips: item 1: 'fe80::1%eth0/64' is not an "
					     "address with a length like 10.9.0.1/24"},
	{E("\"ips\":[\"2001:db8::1/129\"]"), "entry 1: ips: item 1: '2001:db8::1/129' is not an "
					     "address with a length like 10.9.0.1/24"},
	{E("\"ips\":[\"10.9.0.1/0\"]"), "entry 1: ips: item 1: 10.9.0.1/0 has no network"},
	{E("\"ips\":[\"0.0.0.0/8\"]"),
	 "entry 1: ips: item 1: 0.0.0.0/8 is the unspecified address"},
	{E("\"ips\":[\"::/64\"]"), "entry 1: ips: item 1: ::/64 is the unspecified address"},
	{E("\"ips\":[\"224.0.0.1/24\"]"),
	 "entry 1: ips: item 1: 224.0.0.1/24 is not the address of one host"},
	{E("\"ips\":[\"ff02::1/64\"]"),
	 "entry 1: ips: item 1: ff02::1/64 is not the address of one host"},
	{E("\"ips\":[\"127.0.0.1/8\"]"), "entry 1: ips: item 1: 127.0.0.1/8 is a loopback address"},
	{E("\"ips\":[\"::1/128\"]"), "entry 1: ips: item 1: ::1/128 is a loopback address"},
	{E("\"ips\":[\"::ffff:10.9.0.1/120\"]"),
	 "entry 1: ips: item 1: ::ffff:10.9.0.1/120 is an IPv4 address mapped to IPv6"},
	{E("\"ips\":[\"10.9.0.0/24\"]"),
	 "entry 1: ips: item 1: 10.9.0.0/24 names the network, not an address in it"},
	{E("\"ips\":[\"10.9.0.255/24\"]"),
	 "entry 1: ips: item 1: 10.9.0.255/24 is the network's broadcast address"},
	{E("\"ips\":[\"10.9.0.1/24\",\"10.9.0.1/16\"]"),
	 "entry 1: ips: item 2: 10.9.0.1/16 appears twice"},
	{"[{" R ",\"ips\":[\"10.9.0.1/24\"]},{" R ",\"ips\":[\"2001:db8::1/64\","
	 "\"10.9.0.1/16\"]}]",
	 "entry 2: ips: 10.9.0.1 is already used by entry 1"},
	{E("\"ips\":[\"10.9.0.1/24\",\"10.9.0.2/24\",\"10.9.0.3/24\",\"10.9.0.4/24\","
	   "\"10.9.0.5/24\",\"10.9.0.6/24\",\"10.9.0.7/24\",\"10.9.0.8/24\",\"10.9.0.9/24\"]"),
	 "entry 1: ips: item 9: is one more than 8 addresses"},
	/* routes */
	{E("\"routes\":{}"), "entry 1: routes: is not a list"},
	{E("\"routes\":[5]"), "entry 1: routes: item 1: is not an object"},
	{E("\"routes\":[{}]"), "entry 1: routes: item 1: \"dst\" is missing"},
	{E("\"routes\":[{\"dst\":\"default\"}]"),
	 "entry 1: routes: item 1: dst: 'default' is not a network like 10.0.0.0/8"},
	{E("\"routes\":[{\"dst\":\"10.0.0.1/8\"}]"),
	 "entry 1: routes: item 1: dst: 10.0.0.1/8 has bits beyond its prefix length"},
	{E("\"routes\":[{\"dst\":\"10.0.0.0/8\",\"gw\":\"10.0.0\"}]"),
	 "entry 1: routes: item 1: gw: '10.0.0' is not an address like 10.9.0.254"},
	{E("\"routes\":[{\"dst\":\"10.0.0.0/8\",\"gw\":\"0.0.0.0\"}]"),
	 "entry 1: routes: item 1: gw: 0.0.0.0 is the unspecified address"},
	{E("\"routes\":[{\"dst\":\"10.0.0.0/8\",\"gw\":\"fe80::1\"}]"),
	 "entry 1: routes: item 1: the gateway to 10.0.0.0/8 is not of its family"},
	{E("\"routes\":[{\"dst\":\"10.0.0.0/8\",\"via\":\"fe80::1\"}]"),
	 "entry 1: routes: item 1: via: unknown key (there are dst, gw and priority)"},
	{E("\"routes\":[{\"dst\":\"10.0.0.0/8\",\"priority\":-1}]"),
	 "entry 1: routes: item 1: priority: -1 is not between 0 and 4294967295"},
	{E("\"routes\":[{\"dst\":\"10.0.0.0/8\"},{\"dst\":\"10.0.0.0/8\"}]"),
	 "entry 1: routes: item 2: there is another route to 10.0.0.0/8"},
	{E("\"gateway\":5"), "entry 1: gateway: is not a string"},
	{E("\"gateway\":[\"10.9.0.1\",\"10.9.0.2\"]"),
	 "entry 1: gateway: item 2: there is another route to 0.0.0.0/0"},
	{E("\"routes\":[{\"dst\":\"::/0\"}],\"gateway\":\"fe80::1\""),
	 "entry 1: gateway: there is another route to ::/0"},
	/* IPAM */
	{E("\"ipam\":\"host-local\""), "entry 1: ipam: is not an object"},
	{E("\"ipam\":{}"), "entry 1: ipam: has no \"type\""},
	{E("\"ipam\":{\"type\":\"../sh\"}"),
	 "entry 1: ipam: type '../sh' is a path, not a plugin's name"},
	{E("\"ipam\":{\"type\":\"host-local\",\"dataDir\":\"/etc\"}"),
	 "entry 1: ipam: is only allowed in a pool, because its plugins run on the host"},
	{E("\"IPAM\":{\"type\":\"bridge\"}"),
	 "entry 1: IPAM: is only allowed in a pool, because its plugins run on the host"},
	{E("\"allow\":[\"vlan\"]"), "entry 1: allow: unknown key"},
	{E("\"subnets\":[\"0.0.0.0/0\"]"), "entry 1: subnets: unknown key"},
};

static void test_every_mistake_has_its_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		struct network_requests list = {.n = 77};
		struct err e = {0};
		char expected[300];

		snprintf(expected, sizeof(expected), HEAD "%s", mistakes[i].sentence);
		assert_int_equal(networks_parse(&list, mistakes[i].text, &e), -EINVAL);
		assert_string_equal(e.msg, expected);
		assert_int_equal(e.code, -EINVAL);
		assert_int_equal(list.n, 77);
		assert_int_equal(networks_parse(&list, mistakes[i].text, NULL), -EINVAL);
	}
}

/* Returns head, n times the item, and tail. */
static char *repeated(const char *head, const char *item, unsigned n, const char *tail)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fputs(head, f);
	for (unsigned i = 0; i < n; i++)
		fprintf(f, item, i);
	fputs(tail, f);
	fclose(f);
	return text;
}

static void check_repeated(const char *head, const char *item, unsigned n, const char *tail,
			   const char *sentence)
{
	struct network_requests list = {0};
	struct err e = {0};
	char *text = repeated(head, item, n, tail);
	int r = networks_parse(&list, text, &e);

	assert_int_equal(r, sentence ? -EINVAL : 0);
	if (sentence)
		assert_string_equal(e.msg, sentence);
	network_requests_done(&list);
	free(text);
}

static void test_limits_of_an_annotation(void **state)
{
	(void)state;
	check_repeated("[", " ", NETWORKS_TEXT_MAX - 2, "]", NULL);
	check_repeated("[", " ", NETWORKS_TEXT_MAX - 1, "]",
		       HEAD "is too long, it may have 65536 bytes");
	check_repeated("[", "{" R "},", 63, "{" R "}]", NULL);
	check_repeated("[", "{" R "},", 64, "{" R "}]", HEAD "has 65 entries, more than 64");
	check_repeated("[{" R ",\"ipam\":{\"type\":\"a\",\"b\":\"", "x", 2048 - 19, "\"}}]",
		       HEAD "entry 1: ipam: has 2048 bytes, more than 2047");
	check_repeated("[{" R ",\"routes\":[", "{\"dst\":\"10.%u.0.0/16\"},", 15,
		       "{\"dst\":\"11.0.0.0/8\"}]}]", NULL);
	check_repeated("[{" R ",\"routes\":[", "{\"dst\":\"10.%u.0.0/16\"},", 16,
		       "{\"dst\":\"11.0.0.0/8\"}]}]",
		       HEAD "entry 1: routes: item 17: is one more than 16 routes");
	check_repeated("", "[", 60000, "",
		       HEAD
		       "is not JSON: line 1, column 2049: maximum parsing depth reached near '['");
	check_repeated("[{\"resource\":\"a/", "x", 317, "\"}]", NULL);
	check_repeated("[{\"resource\":\"a/", "x", 318, "\"}]",
		       HEAD "entry 1: resource: 'a/"
			    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is not a "
			    "resource like rocelet.dev/roce");
}

static void good(struct network_requests *list, const char *text)
{
	struct err e = {0};

	if (networks_parse(list, text, &e) < 0)
		fail_msg("%s", e.msg);
}

static void test_empty_annotations(void **state)
{
	struct network_requests list = {.n = 5};
	(void)state;

	good(&list, NULL);
	assert_int_equal(list.n, 0);
	good(&list, "[]");
	assert_int_equal(list.n, 0);
	good(&list, E("\"vlan\":null"));
	assert_int_equal(list.items[0].keys, NETWORK_BIT(NETWORK_RESOURCE));
	network_requests_done(&list);
}

static void test_all_keys(void **state)
{
	static const uint8_t mac[] = {2, 0, 0, 0, 0xab, 0xcd};
	struct network_requests list;
	const struct net_plan *p;
	char text[IP_TEXT_SIZE];
	(void)state;

	good(&list, E("\"interface\":\"rdma0\",\"ips\":[\"10.9.0.1/24\",\"2001:db8::1/64\","
		      "\"10.9.1.0/31\"],\"mac\":\"02:00:00:00:AB:cd\",\"vlan\":4094,\"vlanQoS\":7,"
		      "\"vlanProto\":\"802.1ad\",\"mtu\":9000,\"gateway\":\"10.9.0.254\","
		      "\"routes\":[{\"dst\":\"10.0.0.0/8\",\"gw\":\"10.9.0.253\",\"priority\":5}],"
		      "\"spoofchk\":\"off\",\"trust\":\"on\",\"linkState\":\"disable\","
		      "\"minTxRate\":100,\"maxTxRate\":1000,\"guid\":\"01:23:45:67:89:ab:cd:ef\""));
	p = &list.items[0].plan;
	assert_string_equal(list.items[0].resource, "rocelet.dev/roce");
	assert_string_equal(p->ifname, "rdma0");
	assert_int_equal(p->n_ips, 3);
	ip_prefix_text(&p->ips[1], text);
	assert_string_equal(text, "2001:db8::1/64");
	assert_true(p->has_mac);
	assert_memory_equal(p->mac, mac, 6);
	assert_memory_equal(p->vf.mac, mac, 6);
	assert_int_equal(p->vf.fields, VF_MAC | VF_VLAN | VF_SPOOFCHK | VF_TRUST | VF_LINK_STATE |
					       VF_MIN_RATE | VF_MAX_RATE | VF_NODE_GUID |
					       VF_PORT_GUID);
	assert_int_equal(p->vf.vlan, 4094);
	assert_int_equal(p->vf.vlan_qos, 7);
	assert_int_equal(p->vf.vlan_proto, ETH_P_8021AD);
	assert_int_equal(p->vf.link_state, VF_LINK_DISABLE);
	assert_int_equal(p->vf.max_rate, 1000);
	assert_true(p->vf.node_guid == UINT64_C(0x0123456789abcdef));
	assert_true(p->vf.port_guid == p->vf.node_guid);
	assert_int_equal(p->mtu, 9000);
	assert_int_equal(p->n_routes, 2);
	assert_int_equal(p->routes[0].dst.len, 0);
	assert_int_equal(p->routes[0].gateway.family, AF_INET);
	assert_int_equal(p->routes[1].priority, 5);
	network_requests_done(&list);
}

/* --- merged with a pool's plan ---------------------------------------------------------------- */

/* Returns a pool with the keys of an entry, which allows pods to set all of them. */
static struct pool_network pool_of(const char *text)
{
	struct pool_network n = {.timeout_ms = POOL_ATTACH_MS, .allow = ~0u};
	struct network_requests list;

	good(&list, text);
	n.plan = list.items[0].plan;
	network_requests_done(&list);
	return n;
}

static int plan_of(struct net_plan *ret, const struct pool_network *n, const char *text,
		   struct err *e)
{
	struct network_requests list;
	int r;

	good(&list, text);
	r = network_plan(ret, n, list.items, 3, e);
	network_requests_done(&list);
	return r;
}

#define POOL                                                                                       \
	E("\"vlan\":100,\"vlanQoS\":3,\"vlanProto\":\"802.1ad\",\"mtu\":9000,\"trust\":\"on\","    \
	  "\"spoofchk\":\"on\",\"linkState\":\"enable\",\"minTxRate\":10,\"maxTxRate\":100,"       \
	  "\"gateway\":\"10.9.0.254\",\"routes\":[{\"dst\":\"10.0.0.0/8\"}]")

static void test_without_a_request_the_pools_plan_applies(void **state)
{
	const struct pool_network n = pool_of(POOL);
	struct net_plan p;
	struct err e = {0};
	(void)state;

	assert_int_equal(network_plan(&p, &n, NULL, 7, &e), 0);
	assert_string_equal(p.ifname, "net7");
	memset(p.ifname, 0, sizeof(p.ifname));
	assert_memory_equal(&p, &n.plan, sizeof(p));
}

static void test_a_request_overrides_single_keys(void **state)
{
	const struct pool_network n = pool_of(POOL);
	struct net_plan p;
	struct err e = {0};
	(void)state;

	assert_int_equal(plan_of(&p, &n, E("\"vlan\":200"), &e), 0);
	assert_string_equal(p.ifname, "net3");
	assert_int_equal(p.vf.vlan, 200);
	assert_int_equal(p.vf.vlan_qos, 3);
	assert_int_equal(p.vf.vlan_proto, ETH_P_8021AD);
	assert_int_equal(p.mtu, 9000);
	assert_int_equal(plan_of(&p, &n, E("\"vlanQoS\":5"), &e), 0);
	assert_int_equal(p.vf.vlan, 100);
	assert_int_equal(p.vf.vlan_qos, 5);
	assert_int_equal(p.vf.vlan_proto, ETH_P_8021AD);
	assert_int_equal(plan_of(&p, &n, E("\"vlan\":0"), &e), 0);
	assert_int_equal(p.vf.vlan, 0);
	assert_int_equal(p.vf.vlan_qos, 0);
	assert_int_equal(p.vf.vlan_proto, ETH_P_8021Q);
	assert_true(p.vf.fields & VF_VLAN);
	assert_int_equal(plan_of(&p, &n,
				 E("\"interface\":\"x\",\"mtu\":1500,\"trust\":\"off\","
				   "\"spoofchk\":\"off\",\"linkState\":\"auto\",\"minTxRate\":0,"
				   "\"maxTxRate\":0,\"guid\":\"00:00:00:00:00:00:00:01\","
				   "\"mac\":\"02:00:00:00:00:01\",\"vlanProto\":\"802.1q\""),
				 &e),
			 0);
	assert_string_equal(p.ifname, "x");
	assert_int_equal(p.mtu, 1500);
	assert_false(p.vf.trust || p.vf.spoofchk);
	assert_int_equal(p.vf.link_state, VF_LINK_AUTO);
	assert_int_equal(p.vf.min_rate + p.vf.max_rate, 0);
	assert_int_equal(p.vf.port_guid, 1);
	assert_int_equal(p.vf.mac[5], 1);
	assert_int_equal(p.vf.vlan_proto, ETH_P_8021Q);
}

static void test_addresses_are_replaced_together(void **state)
{
	struct pool_network n = pool_of(POOL);
	struct net_plan p;
	struct err e = {0};
	(void)state;

	strcpy(n.plan.ipam, "{\"type\":\"dhcp\"}");
	assert_int_equal(plan_of(&p, &n, E("\"vlan\":200"), &e), 0);
	assert_string_equal(p.ipam, n.plan.ipam);
	assert_int_equal(plan_of(&p, &n, E("\"ips\":[\"10.9.0.1/24\"]"), &e), 0);
	assert_int_equal(p.n_ips, 1);
	assert_string_equal(p.ipam, "");
	assert_int_equal(p.n_routes, 2);
	assert_int_equal(plan_of(&p, &n, E("\"ips\":[]"), &e), 0);
	assert_string_equal(p.ipam, "");
	assert_int_equal(plan_of(&p, &n, E("\"routes\":[{\"dst\":\"11.0.0.0/8\"}]"), &e), 0);
	assert_int_equal(p.n_routes, 1);
	assert_int_equal(plan_of(&p, &n, E("\"gateway\":[]"), &e), 0);
	assert_int_equal(p.n_routes, 0);
}

static const struct {
	const char *pool, *request;
	enum plan_kind kind;
	const char *sentence;
} clashes[] = {
	{E("\"vlan\":5,\"vlanQoS\":3"), E("\"vlan\":0,\"vlanQoS\":2"), PLAN_VF,
	 "vlanQoS: needs a \"vlan\""},
	{E("\"vlan\":0"), E("\"vlanProto\":\"802.1ad\""), PLAN_VF,
	 "vlanProto: 802.1ad needs a \"vlan\""},
	{E("\"maxTxRate\":10"), E("\"minTxRate\":11"), PLAN_VF,
	 "minTxRate: is more than \"maxTxRate\""},
	{E("\"mtu\":1279"), E("\"ips\":[\"2001:db8::1/64\"]"), PLAN_VF,
	 "mtu: is below 1280, which an IPv6 address needs"},
	{E("\"mtu\":1500"), E("\"vlan\":5"), PLAN_MACVLAN,
	 "vlan: is a setting of VFs, which a macvlan or ipvlan does not have"},
	{E("\"mtu\":1500"), E("\"guid\":\"00:00:00:00:00:00:00:01\""), PLAN_MACVLAN,
	 "guid: is a setting of VFs, which a macvlan or ipvlan does not have"},
	{E("\"mtu\":1500"), E("\"maxTxRate\":5"), PLAN_IPVLAN,
	 "maxTxRate: is a setting of VFs, which a macvlan or ipvlan does not have"},
	{E("\"mtu\":1500"), E("\"mac\":\"02:00:00:00:00:01\""), PLAN_IPVLAN,
	 "mac: an ipvlan has the MAC of the netdev below it"},
};

static void test_contradictions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(clashes); i++) {
		struct pool_network n = pool_of(clashes[i].pool);
		struct net_plan p;
		struct err e = {0};

		n.plan.kind = clashes[i].kind;
		assert_int_equal(plan_of(&p, &n, clashes[i].request, &e), -EINVAL);
		assert_string_equal(e.msg, clashes[i].sentence);
	}
}

static void test_a_macvlan_has_a_mac_of_its_own(void **state)
{
	struct pool_network n = {.plan = {.kind = PLAN_MACVLAN}, .allow = ~0u};
	struct net_plan p;
	struct err e = {0};
	(void)state;

	assert_int_equal(plan_of(&p, &n, E("\"mac\":\"02:00:00:00:00:01\""), &e), 0);
	assert_true(p.has_mac);
	assert_int_equal(p.vf.fields, 0);
}

/* The request would set a MAC through the PF for a VF that does not exist. */
static void test_a_function_that_is_not_a_vf(void **state)
{
	struct net_plan p = {.has_mac = true, .vf = {.fields = VF_MAC}};
	struct function fn = {.id = "0000:03:00.0", .kind = FN_PF};
	struct err e = {0};
	(void)state;

	assert_int_equal(network_on_function(&p, &fn, &e), 0);
	assert_int_equal(p.vf.fields, 0);
	assert_true(p.has_mac);
	p.vf.fields = VF_MAC | VF_VLAN;
	assert_int_equal(network_on_function(&p, &fn, &e), -EINVAL);
	assert_string_equal(e.msg,
			    "vlan: 0000:03:00.0 is not a VF, and only a VF has this setting");
	fn.kind = FN_VF;
	assert_int_equal(network_on_function(&p, &fn, &e), 0);
	assert_int_equal(p.vf.fields, VF_MAC | VF_VLAN);
}

/* --- keys that a pool does not allow ---------------------------------------------------------- */

#define NO(key)                                                                                    \
	HEAD "entry 1: " key ": rocelet.dev/roce does not allow it, \"allow\": [\"" key            \
	     "\"] in its pool would"

static const struct {
	enum network_key key;
	const char *entry, *sentence;
} guarded[] = {
	{NETWORK_MAC, E("\"mac\":\"02:00:00:00:00:01\""), NO("mac")},
	{NETWORK_VLAN, E("\"vlan\":200"), NO("vlan")},
	{NETWORK_VLAN, E("\"vlan\":0"), NO("vlan")},
	{NETWORK_VLAN_QOS, E("\"vlanQoS\":7"), NO("vlanQoS")},
	{NETWORK_VLAN_PROTO, E("\"vlanproto\":\"802.1ad\""), NO("vlanProto")},
	{NETWORK_SPOOFCHK, E("\"spoofchk\":\"off\""), NO("spoofchk")},
	{NETWORK_TRUST, E("\"trust\":true"), NO("trust")},
	{NETWORK_LINK_STATE, E("\"linkState\":\"enable\""), NO("linkState")},
	{NETWORK_MIN_RATE, E("\"minTxRate\":1"), NO("minTxRate")},
	{NETWORK_MAX_RATE, E("\"maxTxRate\":0"), NO("maxTxRate")},
	{NETWORK_ROUTES, E("\"routes\":[]"), NO("routes")},
	{NETWORK_GATEWAY, E("\"gateway\":\"10.9.0.253\""), NO("gateway")},
	{NETWORK_GUID, E("\"guid\":\"00:00:00:00:00:00:00:01\""), NO("guid")},
	{NETWORK_MTU, E("\"mtu\":9001"),
	 HEAD "entry 1: mtu: 9001 is above the 9000 of rocelet.dev/roce, \"allow\": [\"mtu\"] in "
	      "its pool would"},
};

static void test_allow_permits_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(guarded); i++) {
		struct pool_network n = pool_of(POOL);
		struct net_plan p;
		struct err e = {0};

		n.allow = ~NETWORK_BIT(guarded[i].key);
		assert_int_equal(plan_of(&p, &n, guarded[i].entry, &e), -EINVAL);
		assert_string_equal(e.msg, guarded[i].sentence);
		assert_memory_equal(&p.vf, &n.plan.vf, sizeof(p.vf));
		n.allow = NETWORK_BIT(guarded[i].key);
		assert_int_equal(plan_of(&p, &n, guarded[i].entry, &e), 0);
	}
}

static void test_keys_that_every_pod_may_set(void **state)
{
	struct pool_network n = pool_of(POOL);
	struct net_plan p;
	struct err e = {0};
	(void)state;

	n.allow = 0;
	assert_int_equal(plan_of(&p, &n,
				 E("\"interface\":\"x\",\"mtu\":9000,\"ips\":[\"10.9.0.1/24\"],"
				   "\"vlan\":null"),
				 &e),
			 0);
	assert_int_equal(p.mtu, 9000);
	assert_memory_equal(&p.vf, &n.plan.vf, sizeof(p.vf));
}

/* Returns a value that differs from POOL's. */
static void vf_value(const struct vf_key_row *row, char text[32], uint32_t *ret)
{
	*ret = row->words ? row->words->values[0] : row->most < 50 ? 6 : 50;
	if (row->words)
		snprintf(text, 32, "\"%s\"", row->words->words[0]);
	else
		snprintf(text, 32, "%u", *ret);
}

/* Requests a value that differs from POOL's: an error unless the pool allows the key, and otherwise
 * part of the plan. */
static void check_setting(enum network_key key, const char *value, bool every_pod, unsigned vf_bit,
			  struct net_plan *ret)
{
	struct pool_network n = pool_of(POOL);
	char text[128], refusal[200];
	struct err e = {0};

	snprintf(text, sizeof(text), "[{" R ",\"%s\":%s}]", network_key_name(key), value);
	snprintf(refusal, sizeof(refusal), HEAD "entry 1: %s: rocelet.dev/roce does not allow it",
		 network_key_name(key));
	n.allow = 0;
	assert_int_equal(plan_of(ret, &n, text, &e), every_pod ? 0 : -EINVAL);
	if (!every_pod)
		assert_memory_equal(e.msg, refusal, strlen(refusal));
	n.allow = NETWORK_BIT(key);
	assert_int_equal(plan_of(ret, &n, text, &e), 0);
	assert_int_equal(ret->vf.fields & vf_bit, vf_bit);
}

/* Tests each row of link_fields.h and vf_fields.h. */
static void test_every_setting_overrides_the_pools(void **state)
{
	struct net_plan p;
	char text[32];
	uint32_t n;
	(void)state;

	for (unsigned i = 0; i < N_LINK_FIELDS; i++) {
		n = link_fields[i].least + 5;
		snprintf(text, sizeof(text), "%u", n);
		check_setting(NETWORK_OF_LINK(i), text, link_fields[i].every_pod, 0, &p);
		assert_int_equal(p.link[i], n);
	}
	for (unsigned i = 0; i < N_VF_KEYS; i++) {
		vf_value(&vf_keys[i], text, &n);
		check_setting(NETWORK_OF_VF(i), text, false, vf_keys[i].bit, &p);
		assert_int_equal(member_load((char *)&p.vf + vf_keys[i].at, vf_keys[i].size), n);
		p.vf.fields = vf_keys[i].bit;
		assert_non_null(network_vf_key(&p));
	}
}

/* A pool without "vlan" keeps the VLAN that is set on the PF, which a pod's QoS without a VLAN must
 * not remove. */
static void test_qos_needs_a_vlan(void **state)
{
	struct pool_network n = pool_of(E("\"mtu\":1500"));
	struct net_plan p;
	struct err e = {0};
	(void)state;

	assert_int_equal(plan_of(&p, &n, E("\"vlanQoS\":0"), &e), -EINVAL);
	assert_string_equal(e.msg, HEAD "entry 1: vlanQoS: needs a \"vlan\"");
	assert_int_equal(plan_of(&p, &n, E("\"vlanProto\":\"802.1q\""), &e), -EINVAL);
	assert_string_equal(e.msg, HEAD "entry 1: vlanProto: needs a \"vlan\"");
	assert_int_equal(plan_of(&p, &n, E("\"vlanQoS\":1,\"vlan\":5"), &e), 0);
}

static void test_without_an_mtu_in_the_pool_the_devices_is_the_maximum(void **state)
{
	struct pool_network n = pool_of(E("\"vlan\":5"));
	struct network_requests list;
	struct err e = {0};
	(void)state;

	n.allow = 0;
	good(&list, E("\"mtu\":1501"));
	assert_int_equal(network_mtu_allowed(&n, list.items, 1501, &e), 0);
	assert_int_equal(network_mtu_allowed(&n, list.items, 0, &e), 0);
	assert_int_equal(network_mtu_allowed(&n, list.items, 1500, &e), -EINVAL);
	assert_string_equal(e.msg, HEAD
			    "entry 1: mtu: 1501 is above the device's 1500 of rocelet.dev/roce, "
			    "\"allow\": [\"mtu\"] in its pool would");
	n.plan.mtu = 9000;
	assert_int_equal(network_mtu_allowed(&n, list.items, 1500, &e), 0);
	n.plan.mtu = 0;
	n.allow = NETWORK_BIT(NETWORK_MTU);
	assert_int_equal(network_mtu_allowed(&n, list.items, 1500, &e), 0);
	network_requests_done(&list);
}

static const struct {
	const char *ip, *wrong; /* NULL: allowed */
} addresses[] = {
	{"10.9.0.1/24", NULL},
	{"10.9.0.253/32", NULL},
	{"10.9.0.1/16", "has a shorter length than the subnet"},
	{"10.8.0.1/24", "is in none of the \"subnets\""},
	{"10.9.1.0/16", "is in none of the \"subnets\""},
	{"10.9.0.0/32", "is the network or broadcast address"},
	{"10.9.0.255/32", "is the network or broadcast address"},
	{"10.9.0.128/31", NULL},
	{"10.9.0.254/24", "is the gateway"},
	{"10.77.0.5/16", NULL},
	{"10.77.0.5/24", NULL},
	{"192.0.2.1/32", NULL},
	{"192.0.2.2/32", "is in none of the \"subnets\""},
	{"2001:db8::1/64", NULL},
	{"2001:db8::1/63", "has a shorter length than the subnet"},
	{"2001:db9::1/64", "is in none of the \"subnets\""},
	{"fe80::1/64", "is in none of the \"subnets\""},
};

static void test_addresses_must_be_in_the_pools_subnets(void **state)
{
	static const char *const subnets[] = {"10.9.0.0/24", "10.77.0.0/16", "192.0.2.1/32",
					      "2001:db8::/64"};
	struct pool_network n = pool_of(POOL);
	(void)state;

	n.allow = 0;
	for (size_t i = 0; i < ARRAY_SIZE(subnets); i++)
		assert_true(ip_prefix_parse(subnets[i], &n.subnets[n.n_subnets++]));
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		char entry[128], sentence[256];
		struct net_plan p;
		struct err e = {0};
		int r;

		snprintf(entry, sizeof(entry), E("\"ips\":[\"%s\"]"), addresses[i].ip);
		r = plan_of(&p, &n, entry, &e);
		snprintf(sentence, sizeof(sentence), HEAD "entry 1: ips: %s %s of rocelet.dev/roce",
			 addresses[i].ip, addresses[i].wrong ? addresses[i].wrong : "");
		assert_string_equal(e.msg, addresses[i].wrong ? sentence : "");
		assert_int_equal(r, addresses[i].wrong ? -EINVAL : 0);
	}
	n.n_subnets = 0;
	assert_int_equal(plan_of(&(struct net_plan){0}, &n, E("\"ips\":[\"10.8.0.1/16\"]"), NULL),
			 0);
	assert_int_equal(plan_of(&(struct net_plan){0}, &n, E("\"ips\":[\"10.9.0.254/16\"]"), NULL),
			 -EINVAL);
}

static void test_out_of_memory_at_any_point(void **state)
{
	int r = -1;
	(void)state;

	for (long nth = 0; r < 0; nth++) {
		struct network_requests list = {0};
		struct err e = {0};

		faults_alloc(nth);
		r = networks_parse(&list, "[{" R "},{" R "},{" R "}]", &e);
		assert_int_equal(r, faults_end() ? -ENOMEM : 0);
		assert_int_equal(e.code, r);
		assert_int_equal(list.n, r < 0 ? 0 : 3);
		network_requests_done(&list);
	}
}

TEST_GROUP(networks)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_mistake_has_its_error),
		cmocka_unit_test(test_limits_of_an_annotation),
		cmocka_unit_test(test_empty_annotations),
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_without_a_request_the_pools_plan_applies),
		cmocka_unit_test(test_a_request_overrides_single_keys),
		cmocka_unit_test(test_addresses_are_replaced_together),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_a_macvlan_has_a_mac_of_its_own),
		cmocka_unit_test(test_a_function_that_is_not_a_vf),
		cmocka_unit_test(test_allow_permits_keys),
		cmocka_unit_test(test_keys_that_every_pod_may_set),
		cmocka_unit_test(test_every_setting_overrides_the_pools),
		cmocka_unit_test(test_qos_needs_a_vlan),
		cmocka_unit_test(test_without_an_mtu_in_the_pool_the_devices_is_the_maximum),
		cmocka_unit_test(test_addresses_must_be_in_the_pools_subnets),
		cmocka_unit_test(test_out_of_memory_at_any_point),
	};

	return test_group_run(tests, NULL, NULL);
}
