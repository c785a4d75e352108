// SPDX-License-Identifier: Apache-2.0
/* Settings of ports in the document of devices. */
#include "api_settings.h"

#include <jansson.h>
#include <linux/dcbnl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api.h"
#include "golden.h"
#include "host_builder.h"
#include "test_group.h"

/* As vendors' guides recommend, except that the link of the switch above has trained down. */
static const struct port_settings whole = {
	.seen = SETTINGS_DSCP | SETTINGS_PFC | SETTINGS_PEER_PFC | SETTINGS_ETS | SETTINGS_PAUSE |
		SETTINGS_DCBX | SETTINGS_CM_TYPE | SETTINGS_CM_TOS | SETTINGS_PCIE |
		SETTINGS_PCIE_SEGMENT,
	.dscp_trusted = true,
	.dscp_priority = {[0 ... 25] = NO_PRIORITY,
			  [26] = 3,
			  [27 ... 47] = NO_PRIORITY,
			  [48] = 6,
			  [49 ... 63] = NO_PRIORITY},
	.pfc = 1 << 3,
	.peer_pfc = 1 << 3 | 1 << 7 | 1,
	.ets_class = {0, 1, 2, 3, 4, 5, 6, 7},
	.ets_algorithm = {IEEE_8021QAZ_TSA_ETS, IEEE_8021QAZ_TSA_STRICT, IEEE_8021QAZ_TSA_CB_SHAPER,
			  IEEE_8021QAZ_TSA_VENDOR, 9},
	.ets_percent = {50, 0, 0, 50},
	.pause_receives = true,
	.dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE,
	.cm_roce_v2 = true,
	.cm_tos = 106,
	.pcie = {32000, 32000, 16, 16},
	.segment = "0000:00:01.0",
	.segment_link = {16000, 32000, 8, 16},
};

/* The object {"settings":...}; the caller frees it. */
static json_t *document(const struct port_settings *s)
{
	struct json_out o = {0};
	json_t *doc;

	json_out_open(&o, NULL, '{');
	api_settings(&o, s);
	json_out_close(&o, '}');
	assert_false(o.text.failed);
	doc = json_loadb(o.text.data, o.text.len, 0, NULL);
	assert_non_null(doc);
	text_done(&o.text);
	return doc;
}

static void test_all_settings(void **state)
{
	json_t *doc = document(&whole);
	char *text = json_dumps(doc, JSON_INDENT(1) | JSON_PRESERVE_ORDER);

	(void)state;
	assert_non_null(text);
	assert_golden_text("tests/golden/api_settings.json", text, strlen(text));
	free(text);
	json_decref(doc);
}

static void test_unknown_settings_are_null(void **state)
{
	static const struct port_settings unseen = {.pfc = 8, .dscp_trusted = true, .cm_tos = 106};
	json_t *doc = document(NULL);

	(void)state;
	assert_true(json_is_null(json_object_get(doc, "settings")));
	json_decref(doc);
	doc = document(&unseen);
	assert_true(json_is_null(json_object_get(doc, "settings")));
	json_decref(doc);
}

/* With only one part known its members are set, and all others null. */
static void test_each_part_by_itself(void **state)
{
	static const struct {
		enum settings_part part;
		const char *members[2];
	} rows[] = {
		{SETTINGS_DSCP, {"dscpTrusted", "dscpPriorities"}},
		{SETTINGS_PFC, {"pfc"}},
		{SETTINGS_PEER_PFC, {"peerPfc"}},
		{SETTINGS_ETS, {"ets"}},
		{SETTINGS_PAUSE, {"pause"}},
		{SETTINGS_DCBX, {"dcbx"}},
		{SETTINGS_CM_TYPE, {"rdmaCm"}},
		{SETTINGS_CM_TOS, {"rdmaCm"}},
		{SETTINGS_PCIE, {"pcie"}},
		{SETTINGS_PCIE_SEGMENT, {"slowSegments"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct port_settings s = whole;
		json_t *doc, *value;
		const char *key;

		s.seen = rows[i].part;
		doc = document(&s);
		assert_int_equal(json_object_size(json_object_get(doc, "settings")), 10);
		json_object_foreach (json_object_get(doc, "settings"), key, value) {
			bool named = strcmp(key, rows[i].members[0]) == 0 ||
				     (rows[i].members[1] && strcmp(key, rows[i].members[1]) == 0);

			assert_int_equal(!json_is_null(value), named);
		}
		json_decref(doc);
	}
}

/* Known zeros are shown as values; of rdma_cm only the known half is. */
static void test_known_zeros_are_not_null(void **state)
{
	struct port_settings s = {.seen = SETTINGS_PFC | SETTINGS_PAUSE | SETTINGS_DCBX |
					  SETTINGS_CM_TOS | SETTINGS_PCIE_SEGMENT};
	json_t *doc = document(&s), *settings = json_object_get(doc, "settings");
	const json_t *cm = json_object_get(settings, "rdmaCm");

	(void)state;
	assert_int_equal(json_array_size(json_object_get(settings, "pfc")), 0);
	assert_true(json_is_array(json_object_get(settings, "pfc")));
	assert_true(json_is_array(json_object_get(settings, "dcbx")));
	assert_true(json_is_array(json_object_get(settings, "slowSegments")));
	assert_true(json_is_false(json_object_get(json_object_get(settings, "pause"), "sends")));
	assert_true(json_is_integer(json_object_get(cm, "tos")));
	assert_true(json_is_null(json_object_get(cm, "type")));
	json_decref(doc);
}

/* --- in the document of devices --------------------------------------------------------------- */

static void test_each_port_has_its_own(void **state)
{
	struct settings_row rows[] = {{.device = "mlx5_0", .port = 1, .settings = whole},
				      {.device = "mlx5_0", .port = 2, .settings = whole},
				      {.device = "mlx5_10", .port = 1, .settings = whole}};
	const struct settings_table table = {rows, sizeof(rows) / sizeof(rows[0])};
	static const char *const devices[] = {"mlx5_0", "mlx5_2", "mlx5_10"};
	struct host h = {0};
	size_t len;
	char *text;
	json_t *doc;

	(void)state;
	rows[2].settings.cm_tos = 104;
	for (size_t i = 0; i < 3; i++) {
		build_function(&h, FN_VIRTUAL, devices[i], "", -1);
		build_rdma(&h, devices[i], devices[i]);
	}
	text = api_devices(&(struct api_input){.host = &h, .settings = &table}, &len);
	assert_non_null(text);
	doc = json_loadb(text, len, 0, NULL);
	for (size_t i = 0; i < 3; i++) {
		json_t *rdma = json_array_get(
			json_object_get(json_array_get(json_object_get(doc, "devices"), i), "rdma"),
			0);
		json_t *settings = json_object_get(
			json_array_get(json_object_get(rdma, "ports"), 0), "settings");

		assert_string_equal(json_string_value(json_object_get(rdma, "name")), devices[i]);
		if (i == 1)
			assert_true(json_is_null(settings));
		else
			assert_int_equal(json_integer_value(json_object_get(
						 json_object_get(settings, "rdmaCm"), "tos")),
					 i == 0 ? 106 : 104);
	}
	json_decref(doc);
	free(text);
	host_done(&h);
}

TEST_GROUP(api_settings)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_settings),
		cmocka_unit_test(test_unknown_settings_are_null),
		cmocka_unit_test(test_each_part_by_itself),
		cmocka_unit_test(test_known_zeros_are_not_null),
		cmocka_unit_test(test_each_port_has_its_own),
	};

	return test_group_run(tests, NULL, NULL);
}
