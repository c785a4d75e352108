// SPDX-License-Identifier: Apache-2.0
/* The files beside a container's grant: CDI specifications, with the names that refer to them, and
 * device-info. */
#include "allocation.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocation_fixture.h"
#include "golden.h"
#include "test_group.h"

/* --- CDI ------------------------------------------------------------------------------------- */

static void assert_cdi(const char *id, const char *expected)
{
	struct container_grant g;

	must_grant(&g, id, NULL);
	assert_int_equal(g.n_cdi_devices, expected ? 1 : 0);
	if (expected)
		assert_string_equal(g.cdi_devices[0], expected);
	assert_true(g.n_nodes > 0);	      /* nodes are always granted */
	assert_int_equal(g.n_annotations, 1); /* ours; the CDI annotations are not added yet */
	container_grant_done(&g);
}

static void test_cdi_names(void **state)
{
	(void)state;
	given.pool.cdi = true;
	assert_cdi("0000:03:02.1", "intel.com/net-pci=0000:03:02.1");
	given.pool.type = DEVICE_AUX_NET;
	assert_cdi("mlx5_core.sf.4", "intel.com/net-sf=mlx5_core.sf.4");
	given.pool.type = DEVICE_ACCELERATOR;
	assert_cdi("0000:03:02.1", "intel.com/net-accel=0000:03:02.1");
	rename_pool("3com.com", "sriov"); /* a resource's prefix, but not a CDI vendor */
	assert_cdi("0000:03:02.1", NULL);
	rename_pool("intel.com", "sriov");
	share_pool(POOL_SHARED_ONE, ID_DEVICE_SLOT);
	assert_cdi("slot-1", "intel.com/net-rdma=sriov-0000:04:00.0");
}

/* A CDI device must contain at least one edit. */
static void test_no_nodes_no_cdi(void **state)
{
	struct container_grant g;
	(void)state;

	given.pool.cdi = true;
	given.pool.selectors = &given.plain;
	must_grant(&g, "0000:03:02.1", NULL);
	assert_int_equal(g.n_cdi_devices, 0);
	container_grant_done(&g);
}

static void assert_keys(const json_t *o, const char *allowed)
{
	const char *key;
	json_t *value;

	assert_true(json_is_object(o));
	json_object_foreach ((json_t *)o, key, value) {
		char word[32];

		snprintf(word, sizeof(word), " %s ", key);
		assert_non_null(strstr(allowed, word));
	}
}

/* Checks the rules of the published schema for the keys that we use; other keys are errors. */
static void assert_valid_spec(const char *text)
{
	json_t *spec = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *device, *node, *edits;
	size_t i, j;

	assert_keys(spec, " cdiVersion kind devices ");
	assert_string_equal(json_string_value(json_object_get(spec, "cdiVersion")), "0.5.0");
	assert_non_null(json_string_value(json_object_get(spec, "kind")));
	assert_true(json_array_size(json_object_get(spec, "devices")) > 0);
	json_array_foreach (json_object_get(spec, "devices"), i, device) {
		assert_keys(device, " name containerEdits ");
		assert_non_null(json_string_value(json_object_get(device, "name")));
		edits = json_object_get(device, "containerEdits");
		assert_keys(edits, " deviceNodes ");
		assert_true(json_array_size(json_object_get(edits, "deviceNodes")) > 0);
		json_array_foreach (json_object_get(edits, "deviceNodes"), j, node) {
			const char *rights = json_string_value(
				json_object_get(node, "permissions"));

			assert_keys(node, " path hostPath permissions ");
			assert_int_equal(json_string_value(json_object_get(node, "path"))[0], '/');
			assert_int_equal(json_string_value(json_object_get(node, "hostPath"))[0],
					 '/');
			assert_int_equal(strspn(rights, "rwm"), strlen(rights));
		}
	}
	json_decref(spec);
}

static void put_spec(FILE *out)
{
	char *json = NULL, *name = NULL;

	assert_int_equal(allocation_cdi_spec(&json, &name, &given.in), 0);
	assert_non_null(json);
	assert_valid_spec(json);
	fprintf(out, "%s\n%s\n", name, json);
	assert_true(allocation_cdi_spec_is_ours(name));
	free(json);
	free(name);
}

static void print_specs(FILE *out)
{
	given.pool.cdi = true;
	put_spec(out); /* without the functions that have no RDMA */
	given.pool.selectors = &given.plain;
	put_spec(out);
	share_pool(POOL_SHARED_ALL, ID_NUMBER);
	snprintf(given.pool.permissions, sizeof(given.pool.permissions), "rwm");
	put_spec(out);
}

static void test_cdi_specifications(void **state)
{
	(void)state;
	assert_golden("tests/golden/allocation_cdi.txt", print_specs);
}

static void test_no_devices_no_specification(void **state)
{
	char *json = (char *)"", *name = NULL;
	(void)state;

	given.view.n_members = 0;
	given.pool.cdi = true;
	assert_int_equal(allocation_cdi_spec(&json, &name, &given.in), 0);
	assert_null(json);
	assert_string_equal(name, "rocelet-intel.com_sriov.json");
	free(name);
	given.pool.cdi = false;
	given.view.n_members = 2;
	assert_int_equal(allocation_cdi_spec(&json, &name, &given.in), 0);
	assert_null(json);
	free(name);
	given.pool.cdi = given.pool.whole_directory = true; /* a folder is no device node */
	assert_int_equal(allocation_cdi_spec(&json, &name, &given.in), 0);
	assert_null(json);
	free(name);
	assert_false(allocation_cdi_spec_is_ours("sriov-dp-intel.com-net-pci.json"));
	assert_false(allocation_cdi_spec_is_ours("rocelet-"));
	assert_false(allocation_cdi_spec_is_ours("rocelet-x.yaml"));
}

/* --- device-info ----------------------------------------------------------------------------- */

static void put_device_info(FILE *out, const char *id)
{
	char *json = NULL, *name = NULL;

	assert_int_equal(allocation_device_info(&json, &name, &given.in, id), 0);
	fprintf(out, "%s\n%s\n", name, json ? json : "(none)");
	free(json);
	free(name);
}

static void print_device_infos(FILE *out)
{
	struct selector vdpa = {.vdpa = VDPA_VHOST, .need_vhost_net = true};

	put_device_info(out, "0000:03:02.1");
	put_device_info(out, "0000:04:00.0");
	put_device_info(out, "mlx5_core.sf.4");
	put_device_info(out, "rxe0");
	given.pool.selectors = &given.plain;
	put_device_info(out, "0000:03:02.1"); /* without isRdma */
	put_device_info(out, "0000:03:02.2");
	given.plain.need_vhost_net = true;
	put_device_info(out, "0000:03:02.2");
	given.pool.selectors = &vdpa;
	put_device_info(out, "0000:03:02.3");
	put_device_info(out, "0000:03:02.4");
	share_pool(POOL_SHARED_ONE, ID_DEVICE_SLOT);
	put_device_info(out, "slot-1");
}

static void test_device_info(void **state)
{
	char *json, *name;
	(void)state;

	assert_golden("tests/golden/allocation_device_info.txt", print_device_infos);
	assert_int_equal(allocation_device_info(&json, &name, &given.in, "unknown"), -ENOENT);
}

static void test_stale_device_info(void **state)
{
	(void)state;
	assert_true(allocation_device_info_is_stale(&given.view,
						    "intel.com-sriov-0000:99:00.1-device.json"));
	assert_false(allocation_device_info_is_stale(&given.view,
						     "intel.com-sriov-0000:03:02.1-device.json"));
	/* Files of intel.com/sriov-x, of another domain, and with invalid names. */
	assert_false(allocation_device_info_is_stale(&given.view,
						     "intel.com-sriov-x-0000:99:00.1-device.json"));
	assert_false(allocation_device_info_is_stale(&given.view,
						     "intel.org-sriov-0000:99:00.1-device.json"));
	assert_false(allocation_device_info_is_stale(&given.view,
						     "intel.com-sriov-0000:99:00.1-device.jso"));
	assert_false(allocation_device_info_is_stale(&given.view, "intel.com-sriov--device.json"));
	assert_false(allocation_device_info_is_stale(&given.view, "intel.com-sriov-device.json"));
	assert_false(allocation_device_info_is_stale(&given.view, ""));
}

TEST_GROUP(allocation_files)
{
	const struct CMUnitTest tests[] = {
		ALLOCATION_TEST(test_cdi_names),
		ALLOCATION_TEST(test_no_nodes_no_cdi),
		ALLOCATION_TEST(test_cdi_specifications),
		ALLOCATION_TEST(test_no_devices_no_specification),
		ALLOCATION_TEST(test_device_info),
		ALLOCATION_TEST(test_stale_device_info),
	};

	return test_group_run(tests, NULL, NULL);
}
