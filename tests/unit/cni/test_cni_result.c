// SPDX-License-Identifier: Apache-2.0
/* The result of an ADD, and which function an ADD selects. */
#include "cni_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "cleanup.h"
#include "cni_decide.h"
#include "host_builder.h"
#include "network_text.h"
#include "test_group.h"

static struct attach_record record_of_net1(void)
{
	struct attach_record r = {.function = "0000:03:00.2", .n_ips = 1};

	strcpy(r.plan.ifname, "net1");
	strcpy(r.owner.netns.path, "/run/netns/a");
	r.origin.addr_len = 6;
	r.origin.addr[0] = 2;
	r.origin.mtu = 1500;
	assert_true(ip_prefix_parse("10.9.0.7/24", &r.ips[0]));
	r.n_routes = 1;
	assert_true(ip_prefix_parse("0.0.0.0/0", &r.routes[0].dst));
	assert_true(ip_address_parse("10.9.0.254", &r.routes[0].gateway));
	return r;
}

static void check_with(const struct attach_record *record, const char *ipam, const char *config,
		       const char *expected)
{
	json_t *plugin = ipam ? json_loads(ipam, 0, NULL) : NULL;
	struct cni_request r = {.config = json_loads(config, 0, NULL)};
	json_t *is = cni_result(record, plugin, &r), *to_be = json_loads(expected, 0, NULL);
	AUTO_FREE char *text = json_dumps(is, JSON_COMPACT);

	assert_non_null(to_be);
	if (!json_equal(is, to_be))
		fail_msg("%s", text);
	json_decref(is);
	json_decref(to_be);
	json_decref(plugin);
	cni_request_done(&r);
}

static void check_result(const struct attach_record *record, const char *config,
			 const char *expected)
{
	check_with(record, NULL, config, expected);
}

/* The gateway without a route and the "dns" are the plugin's. */
static void test_results_of_ipam(void **state)
{
	struct attach_record r = record_of_net1();
	const char *ipam = "{\"ips\": [{\"address\": \"10.9.0.7/24\", \"gateway\": \"10.9.0.1\"}], "
			   "\"dns\": {\"nameservers\": [\"10.9.0.2\"]}}";
	const char *rest = "\"interfaces\": [{\"name\": \"net1\", \"mac\": \"02:00:00:00:00:00\", "
			   "\"mtu\": 1500, \"sandbox\": \"/run/netns/a\", \"pciID\": "
			   "\"0000:03:00.2\"}], \"ips\": [{\"address\": \"10.9.0.7/24\", "
			   "\"interface\": 0, \"gateway\": \"10.9.0.1\"}], \"routes\": []";
	char expected[1024];

	(void)state;
	r.n_routes = 0;
	snprintf(expected, sizeof(expected),
		 "{\"cniVersion\": \"1.1.0\", %s, \"dns\": {\"nameservers\": [\"10.9.0.2\"]}}",
		 rest);
	check_with(&r, ipam, "{\"dns\": {}}", expected);
	snprintf(expected, sizeof(expected),
		 "{\"cniVersion\": \"1.1.0\", %s, \"dns\": {\"domain\": \"a\"}}", rest);
	check_with(&r, ipam, "{\"dns\": {\"domain\": \"a\"}}", expected);
}

static void test_results(void **state)
{
	struct attach_record r = record_of_net1();

	(void)state;
	check_result(&r, "{\"dns\": {\"search\": [\"a\"]}}",
		     "{\"cniVersion\": \"1.1.0\", \"interfaces\": [{\"name\": \"net1\", \"mac\": "
		     "\"02:00:00:00:00:00\", \"mtu\": 1500, \"sandbox\": \"/run/netns/a\", "
		     "\"pciID\": \"0000:03:00.2\"}], \"ips\": [{\"address\": \"10.9.0.7/24\", "
		     "\"interface\": 0, \"gateway\": \"10.9.0.254\"}], \"routes\": [{\"dst\": "
		     "\"0.0.0.0/0\", \"gw\": \"10.9.0.254\"}], \"dns\": {\"search\": [\"a\"]}}");
	r.n_routes = 0;
	r.plan.has_mac = true;
	r.plan.mac[5] = 9;
	r.plan.mtu = 9000;
	check_result(&r,
		     "{\"prevResult\": {\"interfaces\": [{\"name\": \"eth0\"}], \"ips\": "
		     "[{\"address\": \"10.1.0.1/8\", \"interface\": 0}]}}",
		     "{\"cniVersion\": \"1.1.0\", \"interfaces\": [{\"name\": \"eth0\"}, "
		     "{\"name\": \"net1\", \"mac\": \"00:00:00:00:00:09\", \"mtu\": 9000, "
		     "\"sandbox\": \"/run/netns/a\", \"pciID\": \"0000:03:00.2\"}], \"ips\": "
		     "[{\"address\": \"10.1.0.1/8\", \"interface\": 0}, {\"address\": "
		     "\"10.9.0.7/24\", \"interface\": 1}], \"routes\": []}");
}

/* As sriov-cni, pkg/config/config_test.go:183-216: the requested MAC, or the one that the PF has
 * set. */
static void test_without_a_netdev(void **state)
{
	struct attach_record r = {.function = "0000:03:00.2", .plan = {.no_netdev = true}};

	(void)state;
	strcpy(r.plan.ifname, "net1");
	strcpy(r.owner.netns.path, "/run/netns/a");
	check_result(&r, "{}",
		     "{\"cniVersion\": \"1.1.0\", \"interfaces\": [{\"name\": \"net1\", \"mac\": "
		     "\"\", \"sandbox\": \"/run/netns/a\", \"pciID\": \"0000:03:00.2\"}], \"ips\": "
		     "[], \"routes\": []}");
	r.origin.vf.fields = VF_MAC;
	r.origin.vf.mac[0] = 2;
	check_result(&r, "{}",
		     "{\"cniVersion\": \"1.1.0\", \"interfaces\": [{\"name\": \"net1\", \"mac\": "
		     "\"02:00:00:00:00:00\", \"sandbox\": \"/run/netns/a\", \"pciID\": "
		     "\"0000:03:00.2\"}], \"ips\": [], \"routes\": []}");
	r.plan.has_mac = true;
	r.plan.mac[5] = 9;
	check_result(&r, "{}",
		     "{\"cniVersion\": \"1.1.0\", \"interfaces\": [{\"name\": \"net1\", \"mac\": "
		     "\"00:00:00:00:00:09\", \"sandbox\": \"/run/netns/a\", \"pciID\": "
		     "\"0000:03:00.2\"}], \"ips\": [], \"routes\": []}");
}

static void test_functions(void **state)
{
	static const struct {
		const char *device;
		enum netconf_by by;
		const char *function; /* NULL: none */
	} rows[] = {
		{"0000:03:00.2", NETCONF_BY_NAME, "0000:03:00.2"},
		{"eth2", NETCONF_BY_NAME, "0000:03:00.2"},
		{"eth9", NETCONF_BY_NAME, NULL},
		{"02:00:00:00:00:02", NETCONF_BY_ADDRESS, "0000:03:00.2"},
		{"02:00:00:00:00:0F", NETCONF_BY_ADDRESS, NULL},
		{"garbage", NETCONF_BY_ADDRESS, NULL},
		{"/sys/devices/pci0000:00/0000:03:00.2", NETCONF_BY_PATH, "0000:03:00.2"},
		{"/sys/devices/0000:03:00.0/0000:03:00.2/net/eth2", NETCONF_BY_PATH,
		 "0000:03:00.2"},
		{"/sys", NETCONF_BY_PATH, NULL},
	};
	struct host host = {.n_functions = 0};
	struct netdev *nd;

	(void)state;
	build_function(&host, FN_PF, "0000:03:00.0", NULL, 0);
	build_function(&host, FN_VF, "0000:03:00.2", "0000:03:00.0", 0);
	nd = build_netdev(&host, "eth2", "0000:03:00.2");
	nd->addr_len = 6;
	memcpy(nd->addr, (const uint8_t[]){2, 0, 0, 0, 0, 2}, 6);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cni_request r = {.config = json_object()};
		struct netconf n = {.by = rows[i].by};
		struct cni_error e = {.code = CNI_OK};
		struct cni_wanted w;

		strcpy(n.device, rows[i].device);
		if (cni_decide_add(&w, &n, &r, &host, (struct attach_list){0}, &e) < 0)
			assert_true(!rows[i].function && e.code == CNI_NO_DEVICE);
		else
			assert_string_equal(w.function, rows[i].function);
		cni_request_done(&r);
	}
	host_done(&host);
}

/* Whether a netdev is needed depends on the driver; a setting without effect is an error. */
static void test_user_space_drivers(void **state)
{
	static const struct {
		const char *vfio, *uio;
		bool netdev, mtu, soft_roce;
		const char *error; /* NULL: none */
		bool without;
	} rows[] = {
		{"vfio/12", "", .without = true},
		{"", "uio3", .without = true},
		{"", "", .netdev = false},
		{"vfio/12", "", .netdev = true},
		{"vfio/12", "", .mtu = true,
		 .error = "mtu: 0000:03:00.2 has no netdev, its driver is vfio-pci"},
		{"vfio/12", "", .soft_roce = true, .error = "softRoce: 0000:03:00.2 has no netdev"},
		{"", "", .netdev = true, .mtu = true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cni_request r = {.config = json_object()};
		struct netconf n = {.device = "0000:03:00.2", .by = NETCONF_BY_NAME};
		struct cni_error e = {.code = CNI_OK};
		struct cni_wanted w = {.no_netdev = false};
		struct host host = {.n_functions = 0};
		struct function *f = build_function(&host, FN_VF, "0000:03:00.2", "0000:03:00.0",
						    0);

		strcpy(f->driver, "vfio-pci");
		strcpy(f->vfio, rows[i].vfio);
		strcpy(f->uio, rows[i].uio);
		if (rows[i].netdev)
			build_netdev(&host, "eth2", "0000:03:00.2");
		n.plan.mtu = rows[i].mtu ? 9000 : 0;
		n.plan.soft_roce = rows[i].soft_roce;
		if (cni_decide_add(&w, &n, &r, &host, (struct attach_list){0}, &e) < 0)
			assert_true(rows[i].error && e.code == CNI_BAD_CONFIG &&
				    strstr(e.err.msg, rows[i].error));
		else
			assert_true(!rows[i].error && w.no_netdev == rows[i].without);
		cni_request_done(&r);
		host_done(&host);
	}
}

TEST_GROUP(cni_result)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_results_of_ipam),
		cmocka_unit_test(test_without_a_netdev),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_user_space_drivers),
	};

	return test_group_run(tests, NULL, NULL);
}
