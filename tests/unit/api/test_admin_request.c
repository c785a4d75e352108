// SPDX-License-Identifier: Apache-2.0
/* Valid admin requests, and the errors of invalid ones. */
#include "admin_request.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>

static struct admin_request good(enum admin_request_kind kind, const char *text)
{
	struct admin_request o;
	struct err e = {0};

	if (admin_request_parse(&o, kind, text, strlen(text), &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	return o;
}

static void test_an_attach_with_all_keys(void **state)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0xab, 1};
	struct admin_request o = good(
		ADMIN_ATTACH,
		"{\"device\":\"0000:03:00.2\",\"netns\":\"/run/netns/a\",\"interface\":\"roce0\","
		"\"ips\":[\"10.9.0.1/24\",\"fd00::1/64\"],\"mac\":\"02:00:00:00:aB:01\",\"vlan\":100,"
		"\"mtu\":9000,\"softRoce\":true}");

	(void)state;
	assert_string_equal(o.device, "0000:03:00.2");
	assert_int_equal(o.owner.door, DOOR_ADMIN);
	assert_string_equal(o.owner.netns.path, "/run/netns/a");
	assert_string_equal(o.owner.pod, "");
	assert_string_equal(o.plan.ifname, "roce0");
	assert_int_equal(o.plan.n_ips, 2);
	assert_int_equal(o.plan.ips[0].family, AF_INET);
	assert_int_equal(o.plan.ips[0].len, 24);
	assert_int_equal(o.plan.ips[0].addr[3], 1);
	assert_int_equal(o.plan.ips[1].family, AF_INET6);
	assert_int_equal(o.plan.ips[1].len, 64);
	assert_true(o.plan.has_mac);
	assert_memory_equal(o.plan.mac, mac, 6);
	assert_memory_equal(o.plan.vf.mac, mac, 6);
	assert_int_equal(o.plan.vf.fields, VF_MAC | VF_VLAN);
	assert_int_equal(o.plan.vf.vlan, 100);
	assert_int_equal(o.plan.vf.vlan_proto, 0x8100);
	assert_int_equal(o.plan.mtu, 9000);
	assert_true(o.plan.soft_roce);
}

static void test_an_attach_with_the_fewest_keys(void **state)
{
	struct admin_request o = good(ADMIN_ATTACH, "{\"device\":\"eth5\",\"pod\":\"train/job-7\","
						    "\"netns\":null}");

	(void)state;
	assert_string_equal(o.owner.namespace, "train");
	assert_string_equal(o.owner.pod, "job-7");
	assert_string_equal(o.owner.netns.path, "");
	assert_string_equal(o.plan.ifname, "net1");
	assert_int_equal(o.plan.vf.fields, 0);
	o = good(ADMIN_ATTACH, "{\"device\":\"eth5\",\"pod\":\"job-7\"}");
	assert_string_equal(o.owner.namespace, "default");
}

static void test_detach_and_fix(void **state)
{
	(void)state;
	assert_false(good(ADMIN_DETACH, "{\"device\":\"eth5\"}").force);
	assert_true(good(ADMIN_DETACH, "{\"device\":\"eth5\",\"force\":true}").force);
	good(ADMIN_FIX, "");
	good(ADMIN_FIX, "{}");
}

/* The error has to name the invalid part. */
static void assert_refused(enum admin_request_kind kind, const char *text, size_t len,
			   const char *names)
{
	struct admin_request o = {.force = true}, before = o;
	struct err e = {0};

	assert_int_equal(admin_request_parse(&o, kind, text, len, &e), -EINVAL);
	if (!strstr(e.msg, names))
		fail_msg("%s: '%s' does not name '%s'", text, e.msg, names);
	assert_memory_equal(&o, &before, sizeof(o));
}

static void test_bad_values_are_named(void **state)
{
	static const struct {
		const char *json, *names;
	} bad[] = {
		{"\"interface\":\"abcdefghijklmnop\"", "interface"},
		{"\"interface\":\"../x\"", "interface"},
		{"\"interface\":\"..\"", "interface"},
		{"\"interface\":\"a b\"", "interface"},
		{"\"interface\":\"\"", "interface"},
		{"\"interface\":7", "interface"},
		{"\"ips\":\"10.0.0.1/24\"", "ips"},
		{"\"ips\":[\"10.0.0.1\"]", "ips: item 1"},
		{"\"ips\":[\"10.0.0.1/24\",\"10.0.0.1/33\"]", "ips: item 2"},
		{"\"ips\":[\"10.0.0.1/0\"]", "ips: item 1"},
		{"\"ips\":[\"10.0.0.1/24\",\"10.0.0.1/16\"]", "twice"},
		{"\"ips\":[\"0.0.0.0/8\"]", "ips"},
		{"\"ips\":[\"224.0.0.1/8\"]", "ips"},
		{"\"ips\":[\"ff02::1/64\"]", "ips"},
		{"\"ips\":[\"10.0.0.1/ 24\"]", "ips"},
		{"\"ips\":[1]", "ips"},
		{"\"ips\":[\"10.9.0.1/24\",\"10.9.0.2/24\",\"10.9.0.3/24\",\"10.9.0.4/24\","
		 "\"10.9.0.5/24\",\"10.9.0.6/24\",\"10.9.0.7/24\",\"10.9.0.8/24\",\"10.9.0.9/24\"]",
		 "one more than 8"},
		{"\"ips\":[\"10.9.0.0/24\"]",
		 "the request: ips: item 1: 10.9.0.0/24 names the network"},
		{"\"ips\":[\"10.9.0.255/24\"]", "broadcast"},
		{"\"ips\":[\"127.0.0.1/8\"]", "loopback"},
		{"\"ips\":[\"::1/128\"]", "loopback"},
		{"\"ips\":[\"10.9.0.1/24\"],\"ipam\":{\"type\":\"static\"}",
		 "the request: ipam: excludes \"ips\": give only one of them"},
		{"\"ips\":[\"fd00::1/64\"],\"mtu\":1279",
		 "the request: mtu: is below 1280, which an IPv6 address needs"},
		{"\"ipam\":{\"type\":\"../sh\"}", "the request: ipam: type '../sh' is a path"},
		{"\"ipam\":{\"type\":\"x\",\"needs\":{\"x\":1}}",
		 "the request: ipam: needs: x: unknown"},
		{"\"vlan\":0,\"vlanQoS\":3", "the request: vlanQoS: needs a \"vlan\""},
		{"\"minTxRate\":3,\"maxTxRate\":2", "minTxRate"},
		{"\"resource\":\"a/b\"", "resource: unknown key"},
		{"\"allow\":[\"vlan\"]", "allow: unknown key"},
		{"\"drift\":\"repair\"", "drift: unknown key"},
		{"\"VLAN\":1,\"vlan\":2", "twice"},
		{"\"Netns\":\"/m\"", "twice"},
		{"\"mac\":\"01:00:00:00:00:01\"", "mac"},
		{"\"mac\":\"00:00:00:00:00:00\"", "mac"},
		{"\"mac\":\"02:00:00:00:00\"", "mac"},
		{"\"mac\":\"02:00:00:00:00:001\"", "mac"},
		{"\"mac\":\"02-00-00-00-00-01\"", "mac"},
		{"\"vlan\":4095", "vlan"},
		{"\"vlan\":-1", "vlan"},
		{"\"vlan\":\"100\"", "vlan"},
		{"\"mtu\":67", "mtu"},
		{"\"mtu\":65536", "mtu"},
		{"\"mtu\":99999999999999", "mtu"},
		{"\"softRoce\":1", "softRoce"},
		{"\"force\":true", "force"},
		{"\"colour\":\"red\"", "colour"},
		{"\"\\u001b[31m\":1", "?[31m: unknown key"},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "{\"device\":\"d\",\"netns\":\"/n\",%s}", bad[i].json);
		assert_refused(ADMIN_ATTACH, text, strlen(text), bad[i].names);
	}
}

static void test_bad_requests_are_named(void **state)
{
	static const struct {
		enum admin_request_kind kind;
		const char *json, *names;
	} bad[] = {
		{ADMIN_ATTACH, "", "JSON"},
		{ADMIN_ATTACH, "{", "JSON"},
		{ADMIN_ATTACH, "[]", "object"},
		{ADMIN_ATTACH, "{}", "device"},
		{ADMIN_ATTACH, "{\"device\":\"d\"}", "netns or pod"},
		{ADMIN_ATTACH, "{\"device\":\"d\",\"netns\":\"/n\",\"pod\":\"a/b\"}",
		 "netns or pod"},
		{ADMIN_ATTACH, "{\"device\":\"d\",\"netns\":\"n\"}", "netns"},
		{ADMIN_ATTACH, "{\"device\":\"d\",\"pod\":\"a/b/c\"}", "pod"},
		{ADMIN_ATTACH, "{\"device\":\"d\",\"pod\":\"/b\"}", "pod"},
		{ADMIN_ATTACH, "{\"device\":\"d\",\"pod\":\"a/\"}", "pod"},
		{ADMIN_ATTACH, "{\"device\":\"d\",\"device\":\"e\",\"netns\":\"/n\"}", "JSON"},
		{ADMIN_DETACH, "{}", "device"},
		{ADMIN_DETACH, "{\"device\":\"d\",\"netns\":\"/n\"}", "netns"},
		{ADMIN_DETACH, "{\"device\":\"\"}", "device"},
		{ADMIN_FIX, "{\"device\":\"d\"}", "device"},
		{ADMIN_FIX, "x", "JSON"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i].kind, bad[i].json, strlen(bad[i].json), bad[i].names);
	assert_refused(ADMIN_DETACH, NULL, 0, "JSON");
	assert_refused(ADMIN_DETACH, "{\"device\":\"a\\u0000b\"}", 22, "JSON");
}

TEST_GROUP(admin_request)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_attach_with_all_keys),
		cmocka_unit_test(test_an_attach_with_the_fewest_keys),
		cmocka_unit_test(test_detach_and_fix),
		cmocka_unit_test(test_bad_values_are_named),
		cmocka_unit_test(test_bad_requests_are_named),
	};

	return test_group_run(tests, NULL, NULL);
}
