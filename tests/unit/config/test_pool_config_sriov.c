// SPDX-License-Identifier: Apache-2.0
/* "resourceList", the format of sriov-network-device-plugin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pool_config.h"
#include "test_group.h"

struct warnings {
	unsigned n;
	char last[512];
};

static void on_warning(const char *sentence, void *arg)
{
	struct warnings *w = arg;

	w->n++;
	snprintf(w->last, sizeof(w->last), "%s", sentence);
}

static int parse(struct pool_config *c, const char *text, struct warnings *w, struct err *e)
{
	memset(c, 0, sizeof(*c));
	memset(w, 0, sizeof(*w));
	return pool_config_parse(c, text, strlen(text), "c.json", on_warning, w, e);
}

/* Parses a configuration that must cause no warning. */
static void good(struct pool_config *c, const char *text)
{
	struct warnings w;
	struct err e = {0};

	if (parse(c, text, &w, &e) < 0)
		fail_msg("%s", e.msg);
	if (w.n > 0)
		fail_msg("%s", w.last);
}

static const struct selector *only_selector(const struct pool_config *c)
{
	assert_int_equal(c->n_pools, 1);
	assert_int_equal(c->pools[0].n_selectors, 1);
	return &c->pools[0].selectors[0];
}

static void assert_words(const struct word_list *list, const char *joined)
{
	char text[256] = "";

	for (size_t i = 0; i < list->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 list->words[i]);
	assert_string_equal(text, joined);
}

static void test_every_key_of_a_net_device_is_read(void **state)
{
	struct pool_config c;
	const struct selector *s;
	const struct pool *p;
	(void)state;

	good(&c, "{\"resourceList\":[{\n"
		 "\"resourceName\":\"mlnx_rdma\",\"resourcePrefix\":\"mellanox.com\","
		 "\"deviceType\":\"netDevice\",\"excludeTopology\":true,"
		 "\"additionalInfo\":{\"*\":{\"token\":\"t\"},\"0000:03:00.1\":{\"a\":\"b\"}},"
		 "\"selectors\":{\"vendors\":[\"15b3\"],\"devices\":[\"1018\",\"101E\"],"
		 "\"drivers\":[\"mlx5_core\"],\"pciAddresses\":[\"0000:03:00.1\"],"
		 "\"acpiIndexes\":[\"101\"],\"pfNames\":[\"eth0#0,2-5\",\"eth1\"],"
		 "\"rootDevices\":[\"0000:86:00.0#0-3\"],\"linkTypes\":[\"ether\"],"
		 "\"isRdma\":true,\"needVhostNet\":true,\"pKeys\":[\"0x8001\"],\"ddpProfiles\":[]}"
		 "}]}");
	s = only_selector(&c);
	p = &c.pools[0];
	assert_string_equal(p->name, "mlnx_rdma");
	assert_string_equal(p->prefix, "mellanox.com");
	assert_int_equal(p->line, 2);
	assert_true(p->exclude_topology);
	assert_int_equal(p->n_extra, 2);
	assert_string_equal(p->extra[1].device, "0000:03:00.1");
	assert_string_equal(p->extra[1].key, "a");
	assert_string_equal(p->extra[1].value, "b");
	assert_words(&s->vendors, "15b3");
	assert_words(&s->devices, "1018 101e");
	assert_words(&s->drivers, "mlx5_core");
	assert_words(&s->pci_addresses, "0000:03:00.1");
	assert_words(&s->acpi_indexes, "101");
	assert_words(&s->link_types, "ether");
	assert_words(&s->pkeys, "0x8001");
	assert_true(s->is_rdma && s->need_vhost_net);
	assert_int_equal(s->pf_names.n, 2);
	assert_string_equal(s->pf_names.list[0].name, "eth0");
	assert_int_equal(s->pf_names.list[0].n_ranges, 2);
	assert_int_equal(s->pf_names.list[0].ranges[1].first, 2);
	assert_int_equal(s->pf_names.list[0].ranges[1].last, 5);
	assert_int_equal(s->pf_names.list[1].n_ranges, 0);
	assert_string_equal(s->root_devices.list[0].name, "0000:86:00.0");
	pool_config_done(&c);
	assert_int_equal(c.n_pools, 0);
}

static void test_defaults_are_those_of_sriov_network_device_plugin(void **state)
{
	struct pool_config c;
	const struct pool *p;
	(void)state;

	good(&c, "{\"resourceList\":[{\"resourceName\":\"sriov\",\"selectors\":{}}]}");
	p = &c.pools[0];
	assert_string_equal(p->prefix, "intel.com");
	assert_int_equal(p->kind, POOL_EXCLUSIVE);
	assert_int_equal(p->ids, ID_FUNCTION);
	assert_int_equal(p->type, DEVICE_NET);
	assert_string_equal(p->permissions, "rw");
	assert_true(p->umad && p->device_info);
	assert_false(p->issm || p->cdi || p->exclude_topology || p->ignore_link);
	assert_int_equal(p->hold[HEALTH_GONE].down_ms, 0);
	assert_int_equal(p->hold[HEALTH_LEAVING].down_ms, 3600000);
	assert_true(p->hold[HEALTH_LINK_DOWN].down_ms >= 500);
	pool_config_done(&c);
}

static void test_keys_are_case_insensitive_and_null_is_absent(void **state)
{
	struct pool_config c;
	(void)state;

	good(&c, "{\"ResourceList\":[{\"resourcename\":\"a\",\"resourcePrefix\":\"\","
		 "\"deviceType\":null,\"SELECTORS\":{\"IsRdma\":true,\"vendors\":null}}]}");
	assert_true(only_selector(&c)->is_rdma);
	assert_int_equal(only_selector(&c)->vendors.n, 0);
	assert_string_equal(c.pools[0].prefix, "intel.com");
	pool_config_done(&c);
}

static void test_selectors_may_be_a_list(void **state)
{
	struct pool_config c;
	(void)state;

	good(&c, "{\"resourceList\":[{\"resourceName\":\"a\",\"selectors\":["
		 "{\"vendors\":[\"8086\"]},{\"vdpaType\":\"vhost\"}]}]}");
	assert_int_equal(c.pools[0].n_selectors, 2);
	assert_words(&c.pools[0].selectors[0].vendors, "8086");
	assert_int_equal(c.pools[0].selectors[1].vdpa, VDPA_VHOST);
	pool_config_done(&c);
}

static void test_each_device_type_has_its_selectors(void **state)
{
	struct pool_config c;
	struct warnings w;
	struct err e = {0};
	(void)state;

	good(&c,
	     "{\"resourceList\":[{\"resourceName\":\"sf\",\"deviceType\":\"auxNetDevice\","
	     "\"selectors\":{\"auxTypes\":[\"sf\"],\"pfNames\":[\"p0#1-8\"],\"isRdma\":true}}]}");
	assert_words(&only_selector(&c)->aux_types, "sf");
	assert_int_equal(c.pools[0].type, DEVICE_AUX_NET);
	pool_config_done(&c);
	good(&c, "{\"resourceList\":[{\"resourceName\":\"fpga\",\"deviceType\":\"accelerator\","
		 "\"selectors\":{\"vendors\":[\"8086\"]}}]}");
	assert_int_equal(c.pools[0].type, DEVICE_ACCELERATOR);
	pool_config_done(&c);
	assert_int_equal(parse(&c,
			       "{\"resourceList\":[{\"resourceName\":\"fpga\","
			       "\"deviceType\":\"accelerator\",\"selectors\":{\"isRdma\":true}}]}",
			       &w, &e),
			 0);
	assert_string_equal(w.last, "c.json:1: \"isRdma\": has no meaning for this deviceType, "
				    "ignoring it");
	assert_false(only_selector(&c)->is_rdma);
	pool_config_done(&c);
}

static void test_only_a_pool_with_bad_selectors_is_left_out(void **state)
{
	static const struct {
		const char *selectors, *wrong;
	} cases[] = {
		{"{\"isRdma\":true,\"vdpaType\":\"vhost\"}",
		 "\"selectors\": isRdma and vdpaType exclude each other"},
		{"{\"isRdma\":true,\"drivers\":[\"vfio-pci\"]}",
		 "\"selectors\": isRdma: with driver vfio-pci a device has no RDMA device"},
		{"{\"pfNames\":[\"eth0\",\"eth1#5-2\"]}",
		 "\"pfNames\": item 2: 'eth1#5-2': the range 5-2 is empty"},
		{"{\"pfNames\":[\"eth1#1-2-3\"]}",
		 "\"pfNames\": item 1: 'eth1#1-2-3': '1-2-3' is neither a VF number nor a range "
		 "like 2-5"},
		{"{\"pfNames\":[\"eth1#99999999999999999999\"]}",
		 "\"pfNames\": item 1: 'eth1#99999999999999999999': '99999999999999999999' is "
		 "neither a VF number nor a range like 2-5"},
		{"{\"pfNames\":[\"#1\"]}", "\"pfNames\": item 1: '#1': names no PF"},
		{"{\"pfNames\":[\"p#\"]}", "\"pfNames\": item 1: 'p#': names no VF after '#'"},
		{"{\"pfNames\":[\"p#1#2\"]}", "\"pfNames\": item 1: 'p#1#2': '1#2' is neither a VF "
					      "number nor a range like 2-5"},
		{"{\"rootDevices\":[\"eth0#1\"]}",
		 "\"rootDevices\": item 1: 'eth0#1': 'eth0' is not a PCI address like "
		 "0000:03:00.1"},
		{"{\"linkTypes\":[\"ethernet\"]}",
		 "\"linkTypes\": item 1: 'ethernet' is none of ether, infiniband"},
		{"{\"vendors\":[\"mellanox\"]}",
		 "\"vendors\": item 1: 'mellanox' is not a PCI id of four hex digits"},
		{"{\"vendors\":[5555]}", "\"vendors\": item 1: is not a string"},
		{"{\"vendors\":[\"\"]}", "\"vendors\": item 1: is empty"},
		{"{\"vendors\":\"15b3\"}", "\"vendors\": is not a list of strings"},
		{"{\"isRdma\":\"true\"}", "\"isRdma\": is neither true nor false"},
		{"{\"vdpaType\":\"scsi\"}", "\"vdpaType\": 'scsi' is none of virtio, vhost"},
		{"{\"ddpProfiles\":[\"GTPv1\"]}",
		 "\"ddpProfiles\": DDP profiles are not supported"},
		{"{\"pciAddresses\":[\"eth0\"]}",
		 "\"pciAddresses\": item 1: 'eth0' is not a PCI address like 0000:03:00.1"},
		{"{\"pKeys\":[\"0x10000\"]}", "\"pKeys\": item 1: '0x10000' is not a partition key "
					      "of four hex digits"},
		{"{\"acpiIndexes\":[\"one\"]}", "\"acpiIndexes\": item 1: 'one' is not a number"},
		{"[]", "\"selectors\": is an empty list, which selects nothing"},
		{"\"all\"", "\"selectors\": is neither an object nor a list of objects"},
		{"[{},7]", "\"selectors\": item 2: is not an object"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024], sentence[1024], refusal[POOL_REFUSAL_TEXT];
		struct pool_config c;
		struct warnings w;
		struct err e = {0};

		snprintf(text, sizeof(text),
			 "{\"resourceList\":[{\"resourceName\":\"bad\",\n\"selectors\":%s},"
			 "{\"resourceName\":\"good\",\"selectors\":{}}]}",
			 cases[i].selectors);
		snprintf(sentence, sizeof(sentence), "intel.com/bad is left out: c.json:2: %s",
			 cases[i].wrong);
		if (parse(&c, text, &w, &e) < 0)
			fail_msg("%s: %s", cases[i].selectors, e.msg);
		assert_int_equal(c.refusals.n, 1);
		pool_refusal_text(&c.refusals.list[0], refusal);
		assert_string_equal(refusal, sentence);
		assert_int_equal(c.n_pools, 1);
		assert_string_equal(c.pools[0].name, "good");
		pool_config_done(&c);
	}
}

/* An invalid range is ignored, and the others are used. */
static void test_vf_ranges_are_those_of_sriov_network_device_plugin(void **state)
{
	static const struct {
		const char *word;
		unsigned n_vfs; /* number of VFs 0 to 7 */
		const char *warning;
	} cases[] = {
		{"p#0-3,", 4, "'p#0-3,': a comma without a number on both sides, ignoring it"},
		{"p#0-3, 5", 4,
		 "'p#0-3, 5': ' 5' is neither a VF number nor a range like 2-5, ignoring it"},
		{"p#5-2,7", 1, "'p#5-2,7': the range 5-2 is empty, ignoring it"},
		{"p#,1", 1, "'p#,1': a comma without a number on both sides, ignoring it"},
		{"p#x,0-1-2,99999999,6-7", 2,
		 "'p#x,0-1-2,99999999,6-7': '99999999' is neither a VF number nor a range like "
		 "2-5, ignoring it"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256], native[256];
		const struct pf_selector *pf;
		struct pool_config c;
		struct warnings w;
		struct err e = {0};
		unsigned n = 0;

		snprintf(text, sizeof(text),
			 "{\"resourceList\":[{\"resourceName\":\"a\",\"selectors\":{\"pfNames\":"
			 "[\"%s\"]}}]}",
			 cases[i].word);
		assert_int_equal(parse(&c, text, &w, &e), 0);
		assert_int_equal(c.refusals.n, 0);
		assert_non_null(strstr(w.last, cases[i].warning));
		pf = &only_selector(&c)->pf_names.list[0];
		for (size_t k = 0; k < pf->n_ranges; k++)
			for (unsigned vf = 0; vf < 8; vf++)
				n += vf >= pf->ranges[k].first && vf <= pf->ranges[k].last;
		assert_int_equal(n, cases[i].n_vfs);
		pool_config_done(&c);
		/* In our own format an invalid range is an error. */
		snprintf(native, sizeof(native), "{\"pools\":%s", strchr(text, '['));
		assert_int_equal(parse(&c, native, &w, &e), -EINVAL);
	}
}

static void test_words_are_normalized(void **state)
{
	struct pool_config c;
	const struct selector *s;
	(void)state;

	good(&c, "{\"resourceList\":[{\"resourceName\":\"a\",\"selectors\":{"
		 "\"vendors\":[\"0x15B3\"],\"pciAddresses\":[\"03:0A.1\",\"10000:E1:00.0\"],"
		 "\"pKeys\":[\"8001\",\"0X7FFF\"],\"linkTypes\":[\"Infiniband\"],"
		 "\"rootDevices\":[\"0000:AF:00.1\"]}}]}");
	s = only_selector(&c);
	assert_words(&s->vendors, "15b3");
	assert_words(&s->pci_addresses, "0000:03:0a.1 10000:e1:00.0");
	assert_words(&s->pkeys, "0x8001 0x7fff");
	assert_words(&s->link_types, "infiniband");
	assert_string_equal(s->root_devices.list[0].name, "0000:af:00.1");
	pool_config_done(&c);
}

/* A ConfigMap marshalled by Go has null for every field that is not set, including undocumented
 * ones. */
static void test_null_is_absent(void **state)
{
	static const char *const texts[] = {
		"{\"resourceList\":[{\"resourceName\":\"a\",\"SelectorObj\":null,\"SelectorObjs\":null,"
		"\"deviceType\":null,\"additionalInfo\":null,\"selectors\":{\"vendors\":[\"15b3\"],"
		"\"devices\":null,\"unheardOf\":null,\"VENDORS\":null}}],\"configList\":null,\"x\":null}",
		"{\"resourceList\":[{\"resourceName\":\"a\",\"additionalInfo\":{\"*\":null,"
		"\"0000:03:00.1\":{\"a\":null}},\"selectors\":[{\"vendors\":[\"15b3\"],\"pfNames\":null,"
		"\"isRdma\":null}]}]}",
		"{\"configList\":[{\"resourceName\":\"a\",\"rdmaHcaMax\":5,\"devices\":null,\"x\":null,"
		"\"selectors\":{\"vendors\":[\"15b3\"],\"linkTypes\":null,\"x\":null}}],"
		"\"periodicUpdateInterval\":null}",
		"{\"pools\":[{\"resourceName\":\"a\",\"kind\":null,\"x\":null,\"network\":null,\"hold\":null,"
		"\"selectors\":{\"vendors\":[\"15b3\"],\"x\":null,\"ifNames\":null}}],"
		"\"listen\":null}",
		("{\"pools\":[{\"resourceName\":\"a\",\"network\":{\"mtu\":null,\"x\":null},"
		 "\"selectors\":{\"vendors\":[\"15b3\"]}}]}"),
	};
	struct pool_config c;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		good(&c, texts[i]);
		assert_words(&only_selector(&c)->vendors, "15b3");
		pool_config_done(&c);
	}
}

TEST_GROUP(pool_config_sriov)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_of_a_net_device_is_read),
		cmocka_unit_test(test_defaults_are_those_of_sriov_network_device_plugin),
		cmocka_unit_test(test_keys_are_case_insensitive_and_null_is_absent),
		cmocka_unit_test(test_selectors_may_be_a_list),
		cmocka_unit_test(test_each_device_type_has_its_selectors),
		cmocka_unit_test(test_only_a_pool_with_bad_selectors_is_left_out),
		cmocka_unit_test(test_vf_ranges_are_those_of_sriov_network_device_plugin),
		cmocka_unit_test(test_words_are_normalized),
		cmocka_unit_test(test_null_is_absent),
	};

	return test_group_run(tests, NULL, NULL);
}
