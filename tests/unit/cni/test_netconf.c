// SPDX-License-Identifier: Apache-2.0
/* Network configurations of the plugins that rocelet-cni replaces, as used in clusters. The cases
 * for sriov-cni are those of its pkg/config/config_test.go. */
#include "netconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/if_ether.h>

#include <jansson.h>

#include "cleanup.h"
#include "ipam.h"
#include "test_group.h"

/* Parses the configuration, whose keys `config` follow "name" and "type"; returns the error's
 * code. */
static int read_text(struct netconf *ret, const char *args, const char *config, struct cni_error *e)
{
	struct cni_request r = {.config = NULL};
	char text[4096];

	snprintf(text, sizeof(text),
		 "{\"command\": \"ADD\", \"containerID\": \"c\", \"netns\": \"/n\", \"ifname\": "
		 "\"net1\", \"args\": \"%s\", \"config\": {\"name\": \"n\"%s%s}}",
		 args, *config ? ", " : "", config);
	*e = (struct cni_error){.code = CNI_OK};
	if (cni_request_parse(&r, text, strlen(text), e) == 0)
		netconf_read(ret, &r, e);
	cni_request_done(&r);
	return (int)e->code;
}

static struct net_plan good(const char *args, const char *config)
{
	struct netconf n = {.device = ""};
	struct cni_error e;

	if (read_text(&n, args, config, &e) != 0)
		fail_msg("%s: %s", config, e.err.msg);
	return n.plan;
}

#define SRIOV "\"type\": \"sriov\", \"deviceID\": \"0000:af:06.1\", \"vf\": 0"

static void test_everything_of_sriov(void **state)
{
	static const uint8_t mac[6] = {0xe4, 0x11, 0x22, 0x33, 0x44, 0x55};
	struct net_plan p = good(
		"", SRIOV ", \"vlan\": 100, \"vlanQoS\": 3, \"vlanProto\": \"802.1AD\", \"mac\": "
			  "\"e4:11:22:33:44:55\", \"spoofchk\": \"off\", \"trust\": \"on\", "
			  "\"link_state\": \"enable\", \"min_tx_rate\": 10, \"max_tx_rate\": 200, "
			  "\"logFile\": \"/tmp/x\", \"logLevel\": \"debug\", \"dns\": {}");

	(void)state;
	assert_string_equal(p.ifname, "net1");
	assert_int_equal(p.vf.vlan, 100);
	assert_int_equal(p.vf.vlan_qos, 3);
	assert_int_equal(p.vf.vlan_proto, ETH_P_8021AD);
	assert_memory_equal(p.mac, mac, sizeof(mac));
	assert_memory_equal(p.vf.mac, mac, sizeof(mac));
	assert_true(p.vf.trust);
	assert_false(p.vf.spoofchk);
	assert_int_equal(p.vf.link_state, VF_LINK_ENABLE);
	assert_int_equal(p.vf.min_rate, 10);
	assert_int_equal(p.vf.max_rate, 200);
	assert_int_equal(p.vf.fields, VF_MAC | VF_VLAN | VF_SPOOFCHK | VF_TRUST | VF_LINK_STATE |
					      VF_MIN_RATE | VF_MAX_RATE);
}

static void test_an_empty_configuration(void **state)
{
	struct net_plan p = good("", SRIOV ", \"mac\": \"\", \"vlan\": null, \"ipam\": {}");

	(void)state;
	assert_int_equal(p.vf.fields, 0);
	assert_string_equal(p.ipam, "");
}

/* cni.md, rows 52 to 62. */
static void test_vlans(void **state)
{
	static const struct {
		const char *keys;
		int code;
	} rows[] = {
		{"\"vlan\": 100", 0},
		{"\"vlan\": 5000", 7},
		{"\"vlan\": 0, \"vlanQoS\": 1", 7},
		{"\"vlan\": 0, \"vlanProto\": \"802.1ad\"", 7},
		{"\"vlan\": 100, \"vlanQoS\": 10", 7},
		{"\"vlan\": 100, \"vlanProto\": \"802\"", 7},
		{"\"vlan\": 100, \"vlanProto\": \"802.1Q\"", 0},
		{"\"vlan\": 100, \"vlanProto\": \"802.1ad\"", 0},
		{"\"vlanQoS\": 1", 7},
		{"\"vlanProto\": \"802.1ad\"", 7},
		{"\"vlan\": 0, \"vlanQoS\": 0, \"vlanProto\": \"802.1Q\"", 0},
	};
	struct netconf n;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cni_error e;
		char config[256];

		snprintf(config, sizeof(config), SRIOV ", %s", rows[i].keys);
		if (read_text(&n, "", config, &e) != rows[i].code)
			fail_msg("%s: code %d, %s", rows[i].keys, (int)e.code, e.err.msg);
	}
}

static void test_the_last_mac_is_used(void **state)
{
	struct net_plan p = good("MAC=02:00:00:00:00:02", SRIOV ", \"mac\": \"02:00:00:00:00:01\"");

	(void)state;
	assert_int_equal(p.mac[5], 2);
	p = good("MAC=02:00:00:00:00:02",
		 SRIOV ", \"args\": {\"cni\": {\"mac\": \"02:00:00:00:00:03\"}}");
	assert_int_equal(p.mac[5], 3);
	p = good("", SRIOV ", \"args\": {\"cni\": {\"mac\": \"02:00:00:00:00:03\"}}, "
			   "\"runtimeConfig\": {\"mac\": \"02:00:00:00:00:04\"}");
	assert_int_equal(p.mac[5], 4);
}

static void test_guids(void **state)
{
	struct net_plan p = good(
		"", "\"type\": \"ib-sriov\", \"deviceID\": \"0000:af:06.1\", \"pkey\": \"0x8001\", "
		    "\"link_state\": \"enable\", \"rdmaIsolation\": true, "
		    "\"ibKubernetesEnabled\": true, \"runtimeConfig\": "
		    "{\"infinibandGUID\": \"c2:11:22:33:44:55:66:77\"}");

	(void)state;
	assert_int_equal(p.vf.node_guid, 0xc211223344556677);
	assert_int_equal(p.vf.port_guid, 0xc211223344556677);
	p = good("GUID=01:00:00:00:00:00:00:02", SRIOV);
	assert_int_equal(p.vf.node_guid, 0x0100000000000002);
}

static void test_bandwidth(void **state)
{
	struct net_plan p = good("", SRIOV ", \"runtimeConfig\": {\"bandwidth\": {\"egressRate\": "
					   "200000000, \"egressBurst\": 1}}");
	struct cni_error e;
	struct netconf n;

	(void)state;
	assert_int_equal(p.vf.max_rate, 200);
	p = good("", SRIOV ", \"runtimeConfig\": {\"bandwidth\": {\"egressRate\": 1}}");
	assert_int_equal(p.vf.max_rate, 1);
	p = good("", SRIOV ", \"runtimeConfig\": {\"bandwidth\": {}}");
	assert_int_equal(p.vf.fields, 0);
	assert_int_equal(
		read_text(&n, "",
			  SRIOV ", \"runtimeConfig\": {\"bandwidth\": {\"ingressRate\": 5}}", &e),
		2);
	assert_non_null(strstr(e.err.msg, "ingressRate"));
}

static void test_addresses(void **state)
{
	struct net_plan p = good("", SRIOV ", \"runtimeConfig\": {\"ips\": [\"10.9.0.1/24\"]}");

	(void)state;
	assert_int_equal(p.n_ips, 1);
	p = good("", SRIOV ", \"ipam\": {\"type\": \"static\"}, \"runtimeConfig\": {\"ips\": "
			   "[\"10.9.0.1/24\"]}");
	assert_int_equal(p.n_ips, 0);
	assert_non_null(strstr(p.ipam, "\"runtimeConfig\":{\"ips\":[\"10.9.0.1/24\"]}"));
	/* Each way to request addresses; the network configuration cannot override them by its own
	 * "rocelet" key. */
	p = good("IgnoreUnknown=1;IP=10.9.0.2/24,10.9.0.3/24;GATEWAY=10.9.0.1",
		 SRIOV ", \"ipam\": {\"type\": \"static\", \"rocelet\": {\"env\": "
		       "\"K8S_POD_NAME=other\"}}, \"args\": {\"cni\": {\"ips\": [\"10.9.0.4\"], "
		       "\"x\": 1}}, \"runtimeConfig\": {\"ipRanges\": [[{\"subnet\": "
		       "\"10.9.0.0/24\"}]], \"mac\": \"02:00:00:00:00:01\"}");
	assert_string_equal(p.ipam,
			    "{\"type\":\"static\",\"rocelet\":{\"runtimeConfig\":{\"ipRanges\":"
			    "[[{\"subnet\":\"10.9.0.0/24\"}]]},\"args\":{\"cni\":{\"ips\":"
			    "[\"10.9.0.4\"]}},\"env\":\"IP=10.9.0.2/24,10.9.0.3/24;GATEWAY="
			    "10.9.0.1\"}}");
	p = good("", SRIOV ", \"ipam\": {\"type\": \"static\", \"rocelet\": {\"env\": \"A=b\"}}");
	assert_string_equal(p.ipam, "{\"type\":\"static\"}");
	p = good("", SRIOV ", \"mtu\": 9000, \"softRoce\": true, \"routes\": [{\"dst\": "
			   "\"10.0.0.0/8\"}]");
	assert_int_equal(p.mtu, 9000);
	assert_int_equal(p.n_routes, 1);
	assert_true(p.soft_roce);
}

/* Only the administrator can allow an IPAM plugin more than its sandbox, not the author of a
 * network configuration. */
static void test_a_configuration_cannot_open_the_sandbox(void **state)
{
	static const char *const needs[] = {
		"{\"network\": \"host\"}", "{\"write\": [\"/etc\"]}", "{}", "null", "7",
	};
	struct netconf n;
	struct cni_error e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		char config[256];

		snprintf(config, sizeof(config),
			 SRIOV ", \"ipam\": {\"type\": \"static\", \"needs\": %s}", needs[i]);
		assert_int_equal(read_text(&n, "", config, &e), 7);
		assert_non_null(strstr(e.err.msg, "ipam.needs"));
	}
}

/* By the option cni-ipam-needs, which names the plugin. */
static void test_an_administrator_can_open_the_sandbox(void **state)
{
	static const char text[] =
		"{\"command\": \"ADD\", \"containerID\": \"c\", \"netns\": \"/n\", \"ifname\": "
		"\"net1\", \"config\": {\"name\": \"n\", " SRIOV
		", \"ipam\": {\"type\": \"whereabouts\", \"range\": \"10.9.0.0/16\"}}}";
	struct cni_error e = {.code = CNI_OK};
	struct cni_request r = {.config = NULL};
	struct ipam_needs needs;
	struct netconf n = {.device = ""};
	struct err err;

	(void)state;
	assert_int_equal(cni_request_parse(&r, text, strlen(text), &e), 0);
	r.ipam_needs = json_pack("{s:s}", "network", "host");
	assert_int_equal(netconf_read(&n, &r, &e), 0);
	cni_request_done(&r);
	assert_int_equal(ipam_needs_of(&(struct attach_record){.plan = n.plan}, &needs, &err), 0);
	assert_string_equal(needs.type, "whereabouts");
	assert_true(needs.host_network);
}

static void test_devices(void **state)
{
	static const struct {
		const char *config, *device;
		enum netconf_by by;
	} rows[] = {
		{"\"deviceID\": \"a\", \"pciBusID\": \"b\"", "a", NETCONF_BY_NAME},
		{"\"pciBusID\": \"b\"", "b", NETCONF_BY_NAME},
		{"\"runtimeConfig\": {\"deviceID\": \"c\"}, \"device\": \"d\"", "c",
		 NETCONF_BY_NAME},
		{"\"device\": \"eth1\"", "eth1", NETCONF_BY_NAME},
		{"\"device\": \"\", \"hwaddr\": \"02:00:00:00:00:01\"", "02:00:00:00:00:01",
		 NETCONF_BY_ADDRESS},
		{"\"kernelpath\": \"/sys/x\"", "/sys/x", NETCONF_BY_PATH},
		{"\"x\": 1", "", NETCONF_BY_NAME},
	};
	struct cni_error e;
	struct netconf n;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(read_text(&n, "", rows[i].config, &e), 0);
		assert_string_equal(n.device, rows[i].device);
		assert_int_equal(n.by, rows[i].by);
	}
	assert_int_equal(read_text(&n, "", "\"deviceID\": 5", &e), 7);
}

static void test_settings_of_type_rdma_are_ignored(void **state)
{
	struct netconf n = {.device = ""};
	struct cni_error e;

	(void)state;
	assert_int_equal(read_text(&n, "", "\"type\": \"rdma\", \"vlan\": 9999", &e), 0);
	assert_true(n.only_rdma);
}

TEST_GROUP(netconf)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_of_sriov),
		cmocka_unit_test(test_an_empty_configuration),
		cmocka_unit_test(test_vlans),
		cmocka_unit_test(test_the_last_mac_is_used),
		cmocka_unit_test(test_guids),
		cmocka_unit_test(test_bandwidth),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_a_configuration_cannot_open_the_sandbox),
		cmocka_unit_test(test_an_administrator_can_open_the_sandbox),
		cmocka_unit_test(test_settings_of_type_rdma_are_ignored),
	};

	return test_group_run(tests, NULL, NULL);
}
