// SPDX-License-Identifier: Apache-2.0
/* The configuration of pools: errors for bad files, and the formats other than resourceList. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "config_file.h"
#include "faults.h"
#include "golden.h"
#include "network_keys.h"
#include "networks.h"
#include "options.h"
#include "pool_config.h"
#include "test_group.h"

static void print_warning(const char *sentence, void *arg)
{
	if (arg)
		fprintf(arg, "  warning: %s\n", sentence);
}

/* Parses a configuration that must cause no warning. */
static void good(struct pool_config *c, const char *text)
{
	struct err e = {0};
	char *warnings = NULL;
	size_t size;
	FILE *f = open_memstream(&warnings, &size);

	memset(c, 0, sizeof(*c));
	if (pool_config_parse(c, text, strlen(text), "c.json", print_warning, f, &e) < 0)
		fail_msg("%s", e.msg);
	fclose(f);
	assert_string_equal(warnings, "");
	free(warnings);
}

/* --- a table of bad files --------------------------------------------------------------------- */

#define RESOURCE(keys) "{\"resourceList\":[\n{" keys "}]}"
#define CONFIG(keys)   "{\"configList\":[\n{" keys "}]}"
#define NATIVE(keys)   "{\"pools\":[\n{\"resourceName\":\"p\",\"selectors\":{},\n" keys "}]}"

static const char *const bad_files[] = {
	"",
	"[]",
	"{\"pools\": [}",
	"{\"pools\": [\n{\"resourceName\":\"p\",\"selectors\":{\"drivers\":[\"a,]\"],\n}}]}",
	"{\"resourceList\": [\n{\"resourceName\":\"a\",\"selectors\":{}},\n\n]}",
	"{\"resourceList\": [{\"resourceName\":\"a\",\"resourceName\":\"a\",\n\"selectors\":{},}]}",
	"{\"pools\": [\n{\"resourceName\":\"p\\u0000\"}]}",
	"{\"pools\": [\n{\"p\\u0000\":5}]}",
	RESOURCE("\"resourceName\":\"a\",\n\"resourceName\":\"b\",\"selectors\":{}"),
	RESOURCE(
		"\"resourceName\":\"a\",\n\"ResourceName\":\"b\",\"selectors\":5,\n\"Selectors\":{}"),
	"{\"resourceList\":5,\n\"ResourceList\":[]}",
	"{\"pools\":[],\n\"Pools\":[]}",
	"{\"configList\":[{\"resourceName\":\"a\",\"devices\":[\"ib0\"]},\n"
	"{\"resourceName\":\"b\",\n\"resourcePrefix\":\"example_prefix\",\"devices\":[\"ib1\"]}]}",
	"{\"pools\": [],\n\"pools\": []}",
	"{\"resourceList\": {}}",
	"{\"resourceList\": []}",
	"{\"resourceList\": [\n\n5]}",
	RESOURCE("\"selectors\":{}"),
	RESOURCE("\"resourceName\":null,\"selectors\":{}"),
	RESOURCE("\"resourceName\":7"),
	RESOURCE("\"resourceName\":\"\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a/b\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"-a\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a\\u001b[31m\\n\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a1234567890123456789012345678901234567890123456789012345678901"
		 "23\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a\",\n\"resourcePrefix\":\"Intel.com\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a\",\n\"resourcePrefix\":\"a..b\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a\",\n\"resourcePrefix\":\"a-.b\",\"selectors\":{}"),
	RESOURCE(
		"\"resourceName\":\"a\",\n\"resourcePrefix\":\"x.kubernetes.io\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a\",\n\"resourcePrefix\":\"requests.io\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a\""),
	RESOURCE("\"resourceName\":\"a\",\n\"deviceType\":\"gpu\",\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a\",\n\"excludeTopology\":1,\"selectors\":{}"),
	RESOURCE("\"resourceName\":\"a\",\"selectors\":{},\n\"additionalInfo\":[]"),
	RESOURCE("\"resourceName\":\"a\",\"selectors\":{},\n\"additionalInfo\":{\"*\":5}"),
	RESOURCE(
		"\"resourceName\":\"a\",\"selectors\":{},\n\"additionalInfo\":{\"*\":{\n\"k\":5}}"),
	RESOURCE("\"resourceName\":\"a\",\"selectors\":{\n\"isRdma\":true,\n\"IsRdma\":true}"),
	RESOURCE("\"resourceName\":\"a\",\"selectors\":{},\n\"selector\":{}"),
	RESOURCE("\"resourceName\":\"a\",\"selectors\":{\n\"pfName\":[\"a\"],\n\"zzzzzz\":1}"),
	RESOURCE("\"resourceName\":\"a\",\"selectors\":{},\n\"isRdma\":true"),
	"{\"resourceList\":[{\"resourceName\":\"a\",\"selectors\":{}},\n"
	"{\"resourceName\":\"b\",\"selectors\":{}},\n"
	"{\"resourceName\":\"a\",\"selectors\":{}}]}",
	"{\"resourceList\":[{\"resourceName\":\"a\",\"resourcePrefix\":\"rdma\",\"selectors\":{}}],"
	"\n\"configList\":[{\"resourceName\":\"a\",\"devices\":[\"ib0\"]}]}",
	CONFIG("\"resourceName\":\"a\""),
	CONFIG("\"resourceName\":\"a\",\"selectors\":{},\"devices\":[]"),
	CONFIG("\"resourceName\":\"a\",\"selectors\":{\"vendors\":[\"15b3\"]},\n\"devices\":[\"x\"]"),
	CONFIG("\"resourceName\":\"a\",\"devices\":\"x\""),
	CONFIG("\"resourceName\":\"a\",\n\"rdmaHcaMax\":-1,\"devices\":[\"x\"]"),
	CONFIG("\"resourceName\":\"a\",\n\"rdmaHcaMax\":1000000,\"devices\":[\"x\"]"),
	CONFIG("\"resourceName\":\"a\",\n\"rdmaHcaMax\":\"63\",\"devices\":[\"x\"]"),
	CONFIG("\"resourceName\":\"a\",\"selectors\":{\n\"linkTypes\":[\"eth\"]}"),
	"{\"configList\":[],\n\"periodicUpdateInterval\":\"60\"}",
	"{\"mode\":\"shared\"}",
	"{\n\"mode\":5}",
	"{\n\"mode\":\"sriov\"}",
	"{\"mode\":\"sriov\",\n\"pfNetdevices\":[]}",
	"{\"mode\":\"sriov\",\n\"pfNetdevices\":[\"a\",\n\"\"]}",
	"{\"mode\":\"hca\",\n\"pfNetdevices\":[\"a\"]}",
	"{\n\"pfNetdevices\":[\"a\"]}",
	NATIVE("\"kind\":\"shard\""),
	NATIVE("\"slots\":5"),
	NATIVE("\"hcaPerSlot\":\"all\""),
	NATIVE("\"kind\":\"shared\",\"podStatus\":true"),
	NATIVE("\"deviceType\":\"accelerator\",\"podStatus\":true"),
	NATIVE("\"podStatus\":1"),
	NATIVE("\"fixedSlots\":true"),
	NATIVE("\"kind\":\"shared\",\"fixedSlots\":true"),
	NATIVE("\"kind\":\"shared\",\"fixedSlots\":true,\"slots\":5"),
	NATIVE("\"kind\":\"shared\",\"deviceType\":\"accelerator\""),
	NATIVE("\"ids\":\"number\""),
	NATIVE("\"kind\":\"shared\",\"ids\":\"function\""),
	NATIVE("\"kind\":\"shared\",\"hcaPerSlot\":\"all\",\"ids\":\"deviceSlot\""),
	NATIVE("\"permissions\":\"x\""),
	NATIVE("\"permissions\":\"rr\""),
	NATIVE("\"permissions\":\"\""),
	NATIVE("\"cdi\":\"yes\""),
	NATIVE("\"hold\":{\n\"linkDown\":{\n\"downMs\":-5}}"),
	NATIVE("\"hold\":{\n\"linkDown\":500}"),
	NATIVE("\"hold\":{\n\"linkdwn\":{\"downMs\":5}}"),
	NATIVE("\"hold\":{\n\"temperature\":{\"downMs\":5}}"),
	NATIVE("\"issn\":true"),
	"{\"pools\":[{\"resourceName\":\"p\",\"selectors\":{\n\"pfName\":[\"a\"]}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"selectors\":{\n\"isRdma\":true,\"vdpaType\":\"vhost\"}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"selectors\":[{},{\n\"pfNames\":[\"a#3-1\"]}]}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"selectors\":{\"auxTypes\":[\"sf\"]}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"deviceType\":\"auxNetDevice\",\n"
	"\"selectors\":{\"pciAddresses\":[\"0000:03:00.1\"]}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"deviceType\":\"auxNetDevice\",\n"
	"\"selectors\":{\"pKeys\":[\"0xffff\"]}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"deviceType\":\"auxNetDevice\",\n"
	"\"selectors\":{\"auxTypes\":[\"sf\"],\"needVhostNet\":true}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"deviceType\":\"accelerator\",\n"
	"\"selectors\":{\"isRdma\":true}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"deviceType\":\"accelerator\",\n"
	"\"selectors\":{\"needVhostNet\":true}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"kind\":\"shared\",\n"
	"\"selectors\":{\"isRdma\":false,\"vdpaType\":\"vhost\"}}]}",
	NATIVE("\"network\":5"),
	NATIVE("\"network\":{\n\"vlans\":5}"),
	NATIVE("\"network\":{\n\"mac\":\"02:00:00:00:00:01\"}"),
	NATIVE("\"network\":{\n\"mtu\":67}"),
	NATIVE("\"network\":{\n\"mtu\":\"9000\"}"),
	NATIVE("\"network\":{\n\"vlan\":4095}"),
	NATIVE("\"network\":{\n\"vlan\":5,\n\"vlanQoS\":8}"),
	NATIVE("\"network\":{\n\"vlanQoS\":1}"),
	NATIVE("\"network\":{\n\"VLAN\":0,\n\"VlanQos\":1}"),
	NATIVE("\"network\":{\"vlan\":5,\n\"vlanProto\":\"802.1Q\"}"),
	NATIVE("\"network\":{\n\"vlanProto\":\"802.1ad\"}"),
	NATIVE("\"network\":{\n\"spoofchk\":1}"),
	NATIVE("\"network\":{\n\"trust\":\"yes\"}"),
	NATIVE("\"network\":{\n\"linkState\":\"up\"}"),
	NATIVE("\"network\":{\n\"maxTxRate\":10,\n\"minTxRate\":11}"),
	NATIVE("\"network\":{\n\"maxTxRate\":-1}"),
	NATIVE("\"network\":{\n\"drift\":\"fix\"}"),
	NATIVE("\"network\":{\n\"timeoutMs\":28001}"),
	NATIVE("\"network\":{\n\"allow\":\"vlan\"}"),
	NATIVE("\"network\":{\"allow\":[\n\"vlan\",\n\"vlans\"]}"),
	NATIVE("\"network\":{\"allow\":[\n\"ips\"]}"),
	NATIVE("\"network\":{\"allow\":[\n\"IPAM\"]}"),
	NATIVE("\"network\":{\"allow\":[\n5]}"),
	NATIVE("\"network\":{\n\"subnets\":\"10.9.0.0/24\"}"),
	NATIVE("\"network\":{\"subnets\":[\n\"10.9.0.1/24\"]}"),
	NATIVE("\"network\":{\"subnets\":[\n\"10.9.0.0\"]}"),
	NATIVE("\"network\":{\n\"ips\":[\n\"10.9.0.1/24\",\n\"10.9.0.1\"]}"),
	NATIVE("\"network\":{\n\"ips\":[\"10.9.0.1/24\"]}"),
	NATIVE("\"network\":{\n\"ips\":[\"10.9.0.1/24\"],\n\"ipam\":{\"type\":\"static\"}}"),
	NATIVE("\"network\":{\n\"ipam\":{}}"),
	NATIVE("\"network\":{\n\"routes\":[\n{\"dst\":\"10.0.0.0/8\",\n\"gw\":\"fe80::1\"}]}"),
	NATIVE("\"network\":{\n\"gateway\":\"10.9.0.254/24\"}"),
	NATIVE("\"softRoce\":\"yes\""),
	NATIVE("\"interface\":\"macvlan\""),
	NATIVE("\"deviceType\":\"accelerator\",\n\"softRoce\":false"),
	NATIVE("\"kind\":\"shared\",\n\"network\":{}"),
	NATIVE("\"kind\":\"shared\",\n\"softRoce\":true"),
	NATIVE("\"kind\":\"shared\",\n\"interface\":\"vlan\""),
	NATIVE("\"kind\":\"shared\",\"interface\":\"macvlan\",\"network\":{\n\"trust\":true}"),
	NATIVE("\"kind\":\"shared\",\"interface\":\"ipvlan\",\n\"softRoce\":true"),
	NATIVE("\"kind\":\"shared\",\"interface\":\"macvlan\",\n\"softRoce\":true"),
	NATIVE("\"kind\":\"shared\",\"hcaPerSlot\":\"all\",\"slots\":1,\"interface\":\"macvlan\","
	       "\"network\":{\"ips\":[\"10.9.0.1/24\"]}"),
	RESOURCE("\"resourceName\":\"a\",\"selectors\":{},\n\"network\":{}"),
	RESOURCE("\"resourceName\":\"a\",\"selectors\":{},\n\"additionalInfo\":{\"0000:zz\":{}}"),
	RESOURCE("\"resourceName\":\"a\",\"deviceType\":\"auxNetDevice\",\n\"selectors\":{}"),
	NATIVE("\"permissions\":\"rx\""),
	NATIVE("\"permissions\":7"),
	NATIVE("\"subFunctions\":true"),
	"{\"pools\":[{\"resourceName\":\"p\",\"network\":{},\n"
	"\"selectors\":{\"drivers\":[\"mlx5_core\",\"vfio-pci\"]}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"network\":{},\n"
	"\"selectors\":{\"vdpaType\":\"vhost\"}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"softRoce\":true,\n\"selectors\":{\"isRdma\":true}}]}",
	"{\"pools\":[{\"resourceName\":\"p\",\"softRoce\":true,\n"
	"\"selectors\":{\"rdmaNames\":[\"rxe0\"]}}]}",
	NATIVE("\"network\":{},\n\"clean\":\"sometimes\""),
	NATIVE("\n\"clean\":\"restore\""),
	NATIVE("\"kind\":\"shared\",\"interface\":\"macvlan\",\n\"clean\":\"auto\""),
	NATIVE("\"softRoce\":true,\n\"wholeDirectory\":true"),
	NATIVE("\"softRoce\":true,\n\"permissions\":\"r\""),
	"{\"pools\":[{\"resourceName\":\"p\",\"kind\":\"shared\",\n\"selectors\":{\"isRdma\":false}}]}",
};

static void print_understood(FILE *f, const struct pool_config *c)
{
	char text[POOL_REFUSAL_TEXT];

	for (size_t i = 0; i < c->refusals.n; i++) {
		pool_refusal_text(&c->refusals.list[i], text);
		fprintf(f, "  %s\n", text);
	}
	fprintf(f, "  pools: %zu\n", c->n_pools);
}

static void print_one(FILE *f, const char *text)
{
	struct pool_config c = {0};
	struct err e = {0};

	fprintf(f, "%s\n", text);
	if (pool_config_parse(&c, text, strlen(text), "c.json", print_warning, f, &e) < 0)
		fprintf(f, "  error: %s\n", e.msg);
	else
		print_understood(f, &c);
	pool_config_done(&c);
	fputc('\n', f);
}

static void print_bad_files(FILE *f)
{
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++)
		print_one(f, bad_files[i]);
}

static void test_every_bad_file_has_its_error(void **state)
{
	(void)state;
	assert_golden("tests/golden/pool_config_errors.txt", print_bad_files);
}

static void assert_error(const char *text, size_t len, const char *expected)
{
	struct pool_config c = {0};
	struct err e = {0};

	assert_int_equal(pool_config_parse(&c, text, len, "c.json", print_warning, NULL, &e),
			 -EINVAL);
	assert_string_equal(e.msg, expected);
}

static void test_bytes_that_are_not_text(void **state)
{
	static const char bom[] = "\xef\xbb\xbf{}", utf16[] = "\xff\xfe{\0}", zero[] = "{\n\0}",
			  ours[] = "{\"pools\":[],\n\"note\":\"caf\xe9\"}",
			  peers[] = "{\"mode\":\"hca\",\n\"note\":\"caf\xe9\"}";
	struct pool_config c;
	struct err e = {0};
	char *warnings = NULL;
	size_t size;
	FILE *f = open_memstream(&warnings, &size);
	(void)state;

	assert_error(bom, sizeof(bom) - 1,
		     "c.json:1: begins with a byte order mark; save it as UTF-8 without one");
	assert_error(utf16, sizeof(utf16) - 1, "c.json:1: is UTF-16; save it as UTF-8");
	assert_error(zero, sizeof(zero) - 1, "c.json:2: a zero byte; is this a text file?");
	assert_error(ours, sizeof(ours) - 1, "c.json:2:11: unable to decode byte 0xe9");
	assert_int_equal(
		pool_config_parse(&c, peers, sizeof(peers) - 1, "c.json", print_warning, f, &e), 0);
	fclose(f);
	assert_string_equal(warnings,
			    "  warning: c.json:2: byte 0xe9 is not UTF-8, going on without it\n");
	free(warnings);
	pool_config_done(&c);
}

/* --- large and hostile files ------------------------------------------------------------------ */

static void count_warning(const char *sentence, void *arg)
{
	(void)sentence;
	++*(unsigned *)arg;
}

static int parse_repeated(const char *head, const char *item, unsigned n, const char *tail,
			  unsigned *ret_warnings, struct err *e)
{
	struct pool_config c = {0};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int r;

	fputs(head, f);
	for (unsigned i = 0; i < n; i++)
		fprintf(f, item, i);
	fputs(tail, f);
	fclose(f);
	*ret_warnings = 0;
	r = pool_config_parse(&c, text, size, "c.json", count_warning, ret_warnings, e);
	free(text);
	pool_config_done(&c);
	return r;
}

static void test_the_number_of_warnings_is_limited(void **state)
{
	struct err e = {0};
	unsigned warnings;
	(void)state;

	assert_int_equal(
		parse_repeated("{\"resourceList\":[{\"resourceName\":\"a\",\"selectors\":{}",
			       ",\n\"k%u\":1", 50000, "}]}", &warnings, &e),
		0);
	assert_int_equal(warnings, 33);
	assert_int_equal(parse_repeated("{\"resourceList\":[{}",
					",{\"resourceName\":\"a%u\",\"selectors\":{}}", 2, "]}",
					&warnings, &e),
			 0);
	assert_int_equal(parse_repeated("{\"resourceList\":[", "{},", 300, "{}]}", &warnings, &e),
			 -E2BIG);
	assert_string_equal(e.msg, "c.json: more than 256 resources");
	assert_int_equal(parse_repeated("{\"resourceList\":[",
					"{\"resourceName\":\"a%u\",\"selectors\":{}},", 300, "{}]}",
					&warnings, &e),
			 -E2BIG);
	assert_string_equal(e.msg, "c.json:1: \"resourceList\": item 257: more than 256 resources");
	assert_int_equal(parse_repeated("{\"pools\":[\n\"\xff\xfe", "", 0, "\"]}", &warnings, &e),
			 -EINVAL);
	assert_string_equal(e.msg, "c.json:2:1: unable to decode byte 0xff");
	assert_int_equal(parse_repeated("{\"pools\":", "[", 100000, "", &warnings, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "maximum parsing depth reached"));
}

/* --- the other formats ------------------------------------------------------------------------ */

static void test_a_shared_pool_offers_all_its_hcas(void **state)
{
	struct pool_config c;
	const struct pool *p;
	(void)state;

	good(&c, "{\"periodicUpdateInterval\":0,\"configList\":[{\"resourceName\":\"a\","
		 "\"rdmaHcaMax\":63,\"selectors\":{\"vendors\":[\"15b3\"],\"deviceIDs\":[\"1017\"],"
		 "\"drivers\":[\"mlx5_core\"],\"ifNames\":[\"ib0\",\"ib1\"],"
		 "\"linkTypes\":[\"infiniband\"]}},"
		 "{\"resourceName\":\"b\",\"resourcePrefix\":\"x.io\",\"devices\":[\"ib2\"],"
		 "\"selectors\":{\"vendors\":[]}},"
		 "{\"resourceName\":\"c\",\"rdmaHcaMax\":0,\"devices\":[\"ib2\"]}]}");
	assert_int_equal(c.n_pools, 3);
	p = &c.pools[0];
	assert_string_equal(p->prefix, "rdma");
	assert_int_equal(p->kind, POOL_SHARED_ALL);
	assert_int_equal(p->ids, ID_NUMBER);
	assert_string_equal(p->permissions, "rwm");
	assert_true(p->slots_given && p->require_umad && p->umad);
	assert_false(p->fixed_slots || p->whole_directory || p->device_info || p->issm);
	assert_int_equal(p->slots, 63);
	assert_true(p->selectors[0].is_rdma);
	assert_int_equal(p->selectors[0].if_names.n, 2);
	assert_string_equal(p->selectors[0].devices.words[0], "1017");
	p = &c.pools[1];
	assert_string_equal(p->prefix, "x.io");
	assert_false(p->slots_given);
	assert_string_equal(p->selectors[0].if_names.words[0], "ib2");
	assert_true(p->selectors[0].is_rdma);
	assert_true(c.pools[2].slots_given);
	assert_int_equal(c.pools[2].slots, 0);
	pool_config_done(&c);
}

static void test_mode_hca_has_a_thousand_slots(void **state)
{
	struct pool_config c;
	const struct pool *p;
	(void)state;

	good(&c, "{\n\"mode\":\"hca\"}");
	assert_int_equal(c.n_pools, 1);
	p = &c.pools[0];
	assert_string_equal(p->prefix, "rdma");
	assert_string_equal(p->name, "hca");
	assert_int_equal(p->line, 2);
	assert_int_equal(p->slots, 1000);
	assert_int_equal(p->kind, POOL_SHARED_ALL);
	assert_true(p->fixed_slots && p->whole_directory && p->slots_given);
	assert_string_equal(p->permissions, "rwm");
	pool_config_done(&c);
}

static void test_mode_sriov_offers_vfs_and_no_pf(void **state)
{
	struct pool_config c;
	const struct pool *p;
	(void)state;

	good(&c, "{\"mode\":\"sriov\",\"pfNetdevices\":[\"eth0\",\"eth1\"]}");
	p = &c.pools[0];
	assert_string_equal(p->name, "vhca");
	assert_int_equal(p->kind, POOL_EXCLUSIVE);
	assert_int_equal(p->ids, ID_FUNCTION);
	assert_true(p->whole_directory);
	assert_int_equal(p->selectors[0].pf_names.n, 2);
	assert_string_equal(p->selectors[0].pf_names.list[1].name, "eth1");
	assert_int_equal(p->selectors[0].pf_names.list[1].n_ranges, 1);
	pool_config_done(&c);
}

static void test_all_keys_of_pools(void **state)
{
	struct pool_config c;
	const struct pool *p;
	(void)state;

	good(&c, "{\"pools\":[{\"resourceName\":\"a.b\",\"selectors\":{\"ifNames\":[\"x\"],"
		 "\"rdmaNames\":[\"mlx5_0\"],\"isRdma\":true},\"permissions\":\"r\",\"issm\":true,"
		 "\"umad\":false,\"cdi\":true,\"deviceInfo\":false,\"podStatus\":true,"
		 "\"ignoreLink\":true,\"hold\":{\"pci\":{\"downMs\":7}}},"
		 "{\"resourceName\":\"b\",\"kind\":\"shared\",\"selectors\":{},"
		 "\"hold\":{\"linkDown\":{\"upMs\":8}}},"
		 "{\"resourceName\":\"c\",\"kind\":\"shared\",\"hcaPerSlot\":\"all\","
		 "\"fixedSlots\":true,\"slots\":9,\"selectors\":[{}]}]}");
	p = &c.pools[0];
	assert_string_equal(p->prefix, "rocelet.dev");
	assert_string_equal(p->permissions, "r");
	assert_true(p->issm && p->cdi && p->ignore_link && p->pod_status);
	assert_false(c.pools[1].pod_status);
	assert_false(p->umad || p->device_info);
	assert_int_equal(p->hold[HEALTH_PCI].down_ms, 7);
	assert_int_equal(p->hold[HEALTH_PCI].up_ms, 5000);
	assert_int_equal(c.pools[1].hold[HEALTH_LINK_DOWN].up_ms, 8);
	assert_int_equal(c.pools[1].kind, POOL_SHARED_ONE);
	assert_int_equal(c.pools[1].ids, ID_DEVICE_SLOT);
	assert_true(c.pools[1].selectors[0].is_rdma);
	assert_false(c.pools[1].slots_given || c.pools[1].device_info);
	assert_int_equal(c.pools[2].kind, POOL_SHARED_ALL);
	assert_int_equal(c.pools[2].ids, ID_NUMBER);
	assert_int_equal(c.pools[2].slots, 9);
	pool_config_done(&c);
}

/* --- keys without effect ---------------------------------------------------------------------- */

static void assert_idle(const char *keys, const char *selectors, const char *expected)
{
	struct pool_config c = {0};
	struct err e = {0};
	char text[512], *warnings = NULL;
	size_t size;
	FILE *f = open_memstream(&warnings, &size);

	snprintf(text, sizeof(text),
		 "{\"pools\":[{\"resourceName\":\"p\",\n%s,\n\"selectors\":%s}]}", keys, selectors);
	if (pool_config_parse(&c, text, strlen(text), "c.json", print_warning, f, &e) < 0)
		fail_msg("%s: %s", keys, e.msg);
	fclose(f);
	assert_string_equal(warnings, expected);
	assert_int_equal(c.idle.n, *expected ? 1 : 0);
	if (c.idle.n > 0) {
		assert_string_equal(strrchr(c.idle.list[0].resource, '/'), "/p");
		assert_non_null(strstr(expected, c.idle.list[0].what));
	}
	free(warnings);
	pool_config_done(&c);
}

#define IDLE(line, key, why) "  warning: c.json:" line ": \"" key "\": has no effect " why "\n"
#define SOFT		     "with \"softRoce\": true"
#define WHOLE		     "with \"wholeDirectory\": true"
#define NO_RDMA		     "unless a selector has \"isRdma\": true"
#define NOT_ALL_RDMA	     "unless every selector has \"isRdma\": true"
#define ACCELERATOR	     "with \"deviceType\": \"accelerator\""

static void test_a_key_without_effect_is_reported(void **state)
{
	static const char any[] = "{}", rdma[] = "{\"isRdma\":true}",
			  vhost[] = "{\"needVhostNet\":true}", sf[] = "{\"auxTypes\":[\"sf\"]}";
	static const struct {
		const char *keys, *selectors, *warning;
	} rows[] = {
		{"\"softRoce\":true,\n\"permissions\":\"r\"", any, IDLE("3", "permissions", SOFT)},
		{"\"softRoce\":true,\"Umad\":false", any, IDLE("2", "Umad", SOFT)},
		{"\"softRoce\":true,\"issm\":true", any, IDLE("2", "issm", SOFT)},
		{"\"softRoce\":true,\"cdi\":true", any, IDLE("2", "cdi", SOFT)},
		{"\"softRoce\":true,\"requireUmad\":true", any, IDLE("2", "requireUmad", SOFT)},
		{"\"softRoce\":true", vhost, IDLE("3", "needVhostNet", SOFT)},
		{"\"softRoce\":false,\"permissions\":\"r\"", rdma, ""},
		{"\"wholeDirectory\":true,\"umad\":false", rdma, IDLE("2", "umad", WHOLE)},
		{"\"wholeDirectory\":true,\"issm\":true", rdma, IDLE("2", "issm", WHOLE)},
		{"\"wholeDirectory\":true,\"cdi\":true", rdma, IDLE("2", "cdi", WHOLE)},
		{"\"wholeDirectory\":true", vhost, IDLE("3", "needVhostNet", WHOLE)},
		{"\"wholeDirectory\":true,\"requireUmad\":true,\"permissions\":\"r\"", rdma, ""},
		{"\"umad\":false", any, IDLE("2", "umad", NO_RDMA)},
		{"\"issm\":true", any, IDLE("2", "issm", NO_RDMA)},
		{"\"requireUmad\":true", any, IDLE("2", "requireUmad", NO_RDMA)},
		{"\"umad\":false,\"issm\":true,\"requireUmad\":true,\"cdi\":true", rdma, ""},
		{"\"hold\":{\"noRdma\":{\"upMs\":1}}", any, IDLE("2", "noRdma", NOT_ALL_RDMA)},
		{"\"hold\":{\"noChardev\":{\"upMs\":1}}", any,
		 IDLE("2", "noChardev", NOT_ALL_RDMA)},
		{"\"hold\":{\"portDown\":{\"upMs\":1}}", any, IDLE("2", "portDown", NOT_ALL_RDMA)},
		{"\"hold\":{\"portDown\":{\"upMs\":1},\"linkDown\":{\"upMs\":1}}", rdma, ""},
		{"\"ignoreLink\":true,\"hold\":{\"linkDown\":{\"upMs\":1}}", rdma,
		 IDLE("2", "linkDown", "with \"ignoreLink\": true")},
		{"\"ignoreLink\":true,\"hold\":{\"portDown\":{\"upMs\":1}}", rdma,
		 IDLE("2", "portDown", "with \"ignoreLink\": true")},
		{"\"deviceType\":\"accelerator\",\"ignoreLink\":true", any,
		 IDLE("2", "ignoreLink", ACCELERATOR)},
		{"\"deviceType\":\"accelerator\",\"umad\":false", any,
		 IDLE("2", "umad", ACCELERATOR)},
		{"\"deviceType\":\"accelerator\",\"hold\":{\"linkDown\":{\"upMs\":1}}", any,
		 IDLE("2", "linkDown", ACCELERATOR)},
		{"\"kind\":\"shared\",\"deviceInfo\":true", any,
		 IDLE("2", "deviceInfo", "with \"kind\": \"shared\"")},
		{"\"kind\":\"shared\",\"hold\":{\"noDriver\":{\"upMs\":1}}", any,
		 IDLE("2", "noDriver", "with \"kind\": \"shared\"")},
		{"\"kind\":\"shared\",\"ids\":\"number\",\"additionalInfo\":{\"*\":{\"k\":\"v\"}}",
		 any, IDLE("2", "additionalInfo", "with \"ids\": \"number\"")},
		{"\"kind\":\"shared\",\"additionalInfo\":{\"*\":{\"k\":\"v\"}},\"umad\":false", any,
		 ""},
		{"\"kind\":\"shared\",\"deviceType\":\"auxNetDevice\",\"subFunctions\":false", sf,
		 IDLE("2", "subFunctions", "with \"deviceType\": \"auxNetDevice\"")},
		{"\"resourcePrefix\":\"3m.com\",\"cdi\":true", rdma,
		 IDLE("2", "cdi", "with a \"resourcePrefix\" that is no vendor name of CDI")},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_idle(rows[i].keys, rows[i].selectors, rows[i].warning);
}

/* A printed configuration causes no warning when it is read. */
static void test_keys_without_effect_are_not_printed(void **state)
{
	static const char *const pools[] = {
		"\"softRoce\":true,\"umad\":false,\"selectors\":{\"needVhostNet\":true}",
		"\"wholeDirectory\":true,\"cdi\":true,\"selectors\":{}",
		"\"ignoreLink\":true,\"selectors\":[{\"isRdma\":true},{}]",
		"\"deviceType\":\"accelerator\",\"selectors\":{}",
		("\"kind\":\"shared\",\"ids\":\"number\",\"additionalInfo\":{\"*\":{\"k\":\"v\"}},"
		 "\"selectors\":{\"isRdma\":false}"),
	};
	struct pool_config c;
	struct err e = {0};
	(void)state;

	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
		char text[512], *body;
		json_t *tree;

		snprintf(text, sizeof(text), "{\"pools\":[{\"resourceName\":\"p\",%s}]}", pools[i]);
		assert_int_equal(pool_config_parse(&c, text, strlen(text), "c.json", print_warning,
						   NULL, &e),
				 0);
		tree = json_pack("{s:o}", "pools", pool_config_tree(&c));
		pool_config_done(&c);
		body = json_dumps(tree, 0);
		good(&c, body);
		pool_config_done(&c);
		free(body);
		json_decref(tree);
	}
}

static void test_all_keys_of_a_network(void **state)
{
	struct pool_config c;
	const struct pool_network *n;
	(void)state;

	good(&c, "{\"pools\":[{\"resourceName\":\"a\",\"selectors\":{},\"network\":{\"mtu\":9000,"
		 "\"vlan\":100,\"vlanQoS\":3,\"vlanProto\":\"802.1ad\",\"spoofchk\":\"off\","
		 "\"trust\":true,\"linkState\":\"enable\",\"minTxRate\":10,\"maxTxRate\":0,"
		 "\"gateway\":[\"10.9.0.254\",\"2001:db8::1\"],"
		 "\"routes\":[{\"dst\":\"10.0.0.0/8\",\"priority\":7}],"
		 "\"ipam\":{\"type\":\"host-local\", \"ranges\": []},\"drift\":\"repair\","
		 "\"timeoutMs\":5000,\"allow\":[\"mac\",\"VLANQOS\"],"
		 "\"subnets\":[\"10.9.0.0/24\",\"2001:db8::/64\"]}},"
		 "{\"resourceName\":\"b\",\"selectors\":{},\"softRoce\":true,"
		 "\"clean\":\"always-reset\"},"
		 "{\"resourceName\":\"c\",\"kind\":\"shared\",\"selectors\":{},"
		 "\"interface\":\"ipvlan\"},{\"resourceName\":\"d\",\"selectors\":{}}]}");
	n = c.pools[0].network;
	assert_int_equal(n->plan.kind, PLAN_VF);
	assert_int_equal(n->plan.mtu, 9000);
	assert_int_equal(n->plan.vf.fields, VF_VLAN | VF_SPOOFCHK | VF_TRUST | VF_LINK_STATE |
						    VF_MIN_RATE | VF_MAX_RATE);
	assert_int_equal(n->plan.vf.vlan, 100);
	assert_int_equal(n->plan.vf.vlan_qos, 3);
	assert_int_equal(n->plan.vf.vlan_proto, 0x88a8);
	assert_true(n->plan.vf.trust && !n->plan.vf.spoofchk);
	assert_int_equal(n->plan.vf.link_state, VF_LINK_ENABLE);
	assert_int_equal(n->plan.vf.min_rate, 10);
	assert_int_equal(n->plan.n_routes, 3);
	assert_int_equal(n->plan.routes[1].dst.len, 0);
	assert_int_equal(n->plan.routes[2].priority, 7);
	assert_string_equal(n->plan.ipam, "{\"type\":\"host-local\",\"ranges\":[]}");
	assert_int_equal(n->drift, DRIFT_REPAIR);
	assert_int_equal(n->timeout_ms, 5000);
	assert_int_equal(n->allow, NETWORK_BIT(NETWORK_MAC) | NETWORK_BIT(NETWORK_VLAN_QOS));
	assert_int_equal(n->n_subnets, 2);
	assert_int_equal(n->subnets[1].family, AF_INET6);
	assert_int_equal(n->subnets[1].len, 64);
	n = c.pools[1].network;
	assert_true(n->plan.soft_roce);
	assert_int_equal(n->plan.clean, CLEAN_ALWAYS_RESET);
	assert_int_equal(c.pools[0].network->plan.clean, CLEAN_AUTO);
	assert_int_equal(n->plan.vf.fields, 0);
	assert_int_equal(n->drift, DRIFT_REPORT);
	assert_int_equal(n->allow, 0);
	assert_int_equal(n->timeout_ms, POOL_ATTACH_MS);
	assert_int_equal(c.pools[2].network->plan.kind, PLAN_IPVLAN);
	assert_null(c.pools[3].network);
	pool_config_done(&c);
}

static void test_options_are_defaults_of_pools(void **state)
{
	char text[] =
		"{\"resourceList\":[{\"resourceName\":\"a\",\"selectors\":{}}],\"mode\":\"hca\","
		"\"pools\":[{\"resourceName\":\"b\",\"selectors\":{},\"cdi\":false,"
		"\"resourcePrefix\":\"x.io\"}]}";
	const struct config_file file = {.text = text, .len = strlen(text)}, absent = {0};
	struct pool_config c;
	struct options o;
	struct err e = {0};
	(void)state;

	options_defaults(&o);
	strcpy(o.resource_prefix, "acme.com");
	o.use_cdi = true;
	assert_int_equal(pool_config_load(&c, &file, &o, print_warning, NULL, &e), 0);
	assert_int_equal(c.n_pools, 3);
	assert_string_equal(c.pools[0].prefix, "acme.com");
	assert_true(c.pools[0].cdi && c.pools[1].cdi);
	assert_string_equal(c.pools[1].prefix, "rdma");
	assert_string_equal(c.pools[2].prefix, "x.io");
	assert_false(c.pools[2].cdi);
	pool_config_done(&c);
	assert_int_equal(pool_config_load(&c, &absent, &o, print_warning, NULL, &e), 0);
	assert_int_equal(c.n_pools, 0);
}

static void test_a_failure_does_not_change_the_result(void **state)
{
	struct pool_config c;
	struct err e = {0};
	(void)state;

	memset(&c, 0x5a, sizeof(c));
	assert_int_equal(pool_config_parse(&c, "{\"mode\":1}", 10, "c", print_warning, NULL, &e),
			 -EINVAL);
	assert_int_equal(c.n_pools, (size_t)0x5a5a5a5a5a5a5a5a);
	assert_int_equal(pool_config_parse(&c, "{\"mode\":1}", 10, "c", print_warning, NULL, NULL),
			 -EINVAL);
}

static void test_out_of_memory_at_any_point(void **state)
{
	static const char text[] =
		"{\"mode\":\"sriov\",\"pfNetdevices\":[\"eth0\"],"
		"\"configList\":[{\"resourceName\":\"a\",\"devices\":[\"ib0\"]},"
		"{\"resourceName\":\"b\",\"selectors\":{\"vendors\":[\"15b3\"]}}],"
		"\"resourceList\":[{\"resourceName\":\"c\",\"selectors\":{\"rootDevices\":["
		"\"0000:03:00.0#1,2\"]},\"additionalInfo\":{\"*\":{\"a\":\"b\"}}}],"
		"\"pools\":[{\"resourceName\":\"d\",\"selectors\":[{\"pfNames\":[\"x\"]}],"
		"\"network\":{\"vlan\":5}}]}";
	int r = -1;
	(void)state;

	for (long nth = 0; r < 0; nth++) {
		struct pool_config c = {0};
		struct err e = {0};

		faults_alloc(nth);
		r = pool_config_parse(&c, text, strlen(text), "c.json", print_warning, NULL, &e);
		assert_int_equal(r, faults_end() ? -ENOMEM : 0);
		assert_int_equal(e.code, r);
		assert_int_equal(c.n_pools, r < 0 ? 0 : 5);
		pool_config_done(&c);
	}
}

/* --- the documented examples ------------------------------------------------------------------ */

static char *printed(const struct options *o, const struct pool_config *c)
{
	char *text = options_json(o, pool_config_tree(c));

	assert_non_null(text);
	return text;
}

/* The parsed file is printed and parsed again: the result is equal. */
static void check_example(const char *path)
{
	struct config_file file = {0}, again = {0};
	struct pool_config c = {0};
	struct options o;
	struct err e = {0};
	char *once, *twice;

	if (config_file_read(&file, path, &e) < 0)
		fail_msg("%s", e.msg);
	options_defaults(&o);
	snprintf(o.config, sizeof(o.config), "%.200s", path);
	if (options_parse_json(&o, file.text, file.len, path, print_warning, stderr, &e) < 0)
		fail_msg("%s", e.msg);
	good(&c, file.text);
	assert_true(c.n_pools > 0);
	once = printed(&o, &c);
	pool_config_done(&c);
	again.text = once;
	again.len = strlen(once);
	assert_int_equal(pool_config_load(&c, &again, &o, print_warning, stderr, &e), 0);
	twice = printed(&o, &c);
	assert_string_equal(once, twice);
	pool_config_done(&c);
	config_file_done(&file);
	free(once);
	free(twice);
}

static void test_the_examples_are_valid_and_printed_completely(void **state)
{
	DIR *dir = opendir("docs/examples");
	const struct dirent *entry;
	unsigned n = 0;
	(void)state;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char path[OPTION_TEXT_SIZE];

		if (!strstr(entry->d_name, ".json"))
			continue;
		snprintf(path, sizeof(path), "docs/examples/%.200s", entry->d_name);
		check_example(path);
		n++;
	}
	closedir(dir);
	assert_true(n >= 5);
}

/* Asserts that the docs contain every key that is printed. */
static void assert_documented(const char *docs, const json_t *value)
{
	const char *key;
	json_t *inner;
	size_t i;

	if (json_is_array(value))
		json_array_foreach (value, i, inner)
			assert_documented(docs, inner);
	json_object_foreach ((json_t *)value, key, inner) {
		char quoted[64];

		snprintf(quoted, sizeof(quoted), "`%s`", key);
		if (!strstr(docs, quoted) && strcmp(key, "*") != 0)
			fail_msg("%s is not in docs/reference/pools.md", quoted);
		assert_documented(docs, inner);
	}
}

static void test_every_key_is_documented(void **state)
{
	struct config_file docs = {0};
	struct pool_config c;
	json_t *tree;
	(void)state;

	assert_int_equal(config_file_read(&docs, "docs/reference/pools.md", NULL), 0);
	good(&c, "{\"pools\":[{\"resourceName\":\"a\",\"selectors\":[{\"vendors\":[\"1\"],"
		 "\"devices\":[\"1\"],\"drivers\":[\"d\"],\"pciAddresses\":[\"0:1.0\"],"
		 "\"acpiIndexes\":[\"1\"],\"pfNames\":[\"p\"],\"rootDevices\":[\"0:1.0\"],"
		 "\"linkTypes\":[\"ether\"],\"isRdma\":true,\"needVhostNet\":true,"
		 "\"pKeys\":[\"1\"],\"ifNames\":[\"i\"],\"rdmaNames\":[\"r\"]},"
		 "{\"vdpaType\":\"virtio\"}],\"additionalInfo\":{},\"network\":{\"mtu\":9000,"
		 "\"vlan\":5,\"spoofchk\":true,\"trust\":true,\"linkState\":\"auto\","
		 "\"minTxRate\":1,\"maxTxRate\":2,\"ipam\":{\"type\":\"static\"},"
		 "\"allow\":[\"mac\"],\"subnets\":[\"10.9.0.0/24\"],"
		 "\"routes\":[{\"dst\":\"10.0.0.0/8\",\"gw\":\"10.0.0.1\",\"priority\":5}]}},"
		 "{\"resourceName\":\"b\",\"kind\":\"shared\",\"hcaPerSlot\":\"all\",\"slots\":1,"
		 "\"fixedSlots\":true,\"interface\":\"macvlan\",\"deviceType\":\"auxNetDevice\","
		 "\"selectors\":{\"auxTypes\":[\"sf\"]}}]}");
	tree = pool_config_tree(&c);
	assert_int_equal(json_array_size(tree), 2);
	assert_documented(docs.text, tree);
	json_decref(tree);
	pool_config_done(&c);
	config_file_done(&docs);
}

/* True if a table has the key in its first column. */
static bool has_a_row(const char *docs, const char *quoted)
{
	for (const char *at = docs; (at = strstr(at, quoted)); at++) {
		const char *line = at;

		while (line > docs && line[-1] != '\n')
			line--;
		if (*line == '|' && !memchr(line + 1, '|', (size_t)(at - line) - 1))
			return true;
	}
	return false;
}

/* The row of "allow" lists all keys that it may contain. */
static void test_every_key_of_a_network_is_documented(void **state)
{
	struct config_file docs = {0};
	char *allow;
	(void)state;

	assert_int_equal(config_file_read(&docs, "docs/reference/pools.md", NULL), 0);
	allow = strstr(docs.text, "| `allow` |");
	assert_non_null(allow);
	allow = strndup(allow, strcspn(allow, "\n"));
	for (unsigned key = 0; key < N_NETWORK_KEYS; key++) {
		char quoted[64];

		snprintf(quoted, sizeof(quoted), "`%s`", network_key_name((enum network_key)key));
		if (!has_a_row(docs.text, quoted))
			fail_msg("%s has no row in docs/reference/pools.md", quoted);
		if (NETWORK_ALLOWABLE & NETWORK_BIT(key) && !strstr(allow, quoted))
			fail_msg("%s is not in the row of \"allow\" there", quoted);
	}
	free(allow);
	config_file_done(&docs);
}

/* Tests each row of link_fields.h and vf_fields.h. */
static void test_every_setting_is_printed(void **state)
{
	(void)state;
	for (unsigned key = NETWORK_OF_LINK(0); key < NETWORK_OF_VF(N_VF_KEYS); key++) {
		const char *name = network_key_name((enum network_key)key);
		const struct vf_key_row *row = key < NETWORK_OF_VF(0)
						       ? NULL
						       : &vf_keys[key - NETWORK_OF_VF(0)];
		struct pool_config c;
		char text[256], value[32];
		json_t *tree, *got;

		snprintf(value, sizeof(value), row && row->words ? "\"%s\"" : "%s",
			 row && row->words ? row->words->words[1] : "77");
		if (key == NETWORK_VLAN_QOS)
			strcpy(value, "7");
		snprintf(
			text, sizeof(text),
			"{\"pools\":[{\"resourceName\":\"a\",\"selectors\":{\"isRdma\":true},\"network\":{%s\"%s\":%s}}]}",
			row && row->bit == VF_VLAN && key != NETWORK_VLAN ? "\"vlan\":5," : "",
			name, value);
		good(&c, text);
		tree = pool_config_tree(&c);
		got = json_object_get(json_object_get(json_array_get(tree, 0), "network"), name);
		if (!got)
			fail_msg("%s is not printed", name);
		if (json_is_string(got))
			assert_string_equal(json_string_value(got), row->words->words[1]);
		else
			assert_int_equal(json_integer_value(got), strtol(value, NULL, 10));
		json_decref(tree);
		pool_config_done(&c);
	}
}

static void test_reasons_have_names(void **state)
{
	(void)state;
	assert_string_equal(health_reason_name(HEALTH_GONE), "gone");
	assert_string_equal(health_reason_name(HEALTH_LINK_DOWN), "link_down");
	assert_string_equal(health_reason_name(N_HEALTH_REASONS), "unknown");
}

TEST_GROUP(pool_config)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_bad_file_has_its_error),
		cmocka_unit_test(test_bytes_that_are_not_text),
		cmocka_unit_test(test_the_number_of_warnings_is_limited),
		cmocka_unit_test(test_a_shared_pool_offers_all_its_hcas),
		cmocka_unit_test(test_mode_hca_has_a_thousand_slots),
		cmocka_unit_test(test_mode_sriov_offers_vfs_and_no_pf),
		cmocka_unit_test(test_all_keys_of_pools),
		cmocka_unit_test(test_all_keys_of_a_network),
		cmocka_unit_test(test_a_key_without_effect_is_reported),
		cmocka_unit_test(test_keys_without_effect_are_not_printed),
		cmocka_unit_test(test_options_are_defaults_of_pools),
		cmocka_unit_test(test_a_failure_does_not_change_the_result),
		cmocka_unit_test(test_out_of_memory_at_any_point),
		cmocka_unit_test(test_the_examples_are_valid_and_printed_completely),
		cmocka_unit_test(test_every_key_is_documented),
		cmocka_unit_test(test_every_key_of_a_network_is_documented),
		cmocka_unit_test(test_every_setting_is_printed),
		cmocka_unit_test(test_reasons_have_names),
	};

	return test_group_run(tests, NULL, NULL);
}
