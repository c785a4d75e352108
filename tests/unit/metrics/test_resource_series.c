// SPDX-License-Identifier: Apache-2.0
/* The series of resources and their devices, and the labels of the pods that use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "health.h"
#include "host_series.h"
#include "resource_series.h"
#include "resource_tables.h"
#include "test_group.h"

static void test_every_family(void **state)
{
	struct resource_table t;
	struct text text = {0};

	(void)state;
	resource_table_small(&t);
	for (enum resource_family f = 0; f < N_RESOURCE_FAMILIES; f++)
		resource_series(&text, f, &t, false);
	assert_false(text.failed);
	assert_golden_text("tests/golden/resources.prom", text.data, text.len);
	text_done(&text);
	resource_table_done(&t);
}

/* By default only unhealthy devices have a series, and slots of shared devices have none. */
static void test_default_series(void **state)
{
	struct resource_table t;
	struct text text = {0};

	(void)state;
	resource_table_small(&t);
	for (size_t i = 0; i < t.n_devices; i++)
		t.devices[i].reasons |= HEALTH_BIT(HEALTH_NO_CHARDEV);
	for (enum resource_family f = 0; f < N_RESOURCE_FAMILIES; f++)
		resource_series(&text, f, &t, true);
	text_add(&text, "", 1);
	assert_null(strstr(text.data, "rocelet_device_healthy"));
	assert_non_null(
		strstr(text.data, "rocelet_device_unhealthy{resource=\"rocelet.dev/roce\","));
	for (size_t i = 0; i < t.n_resources; i++) {
		char slot[512];

		snprintf(slot, sizeof(slot), "rocelet_device_unhealthy{resource=\"%s\"",
			 t.resources[i].name);
		assert_int_equal(!strstr(text.data, slot), t.resources[i].shared);
	}
	text_done(&text);
	resource_table_done(&t);
}

/* Since when a device is unhealthy, with the pod that has it; slots of shared resources only if all
 * series are wanted. */
static void test_onset_of_unhealthy_devices(void **state)
{
	struct resource_table t;
	struct text text = {0};

	(void)state;
	resource_table_small(&t);
	t.devices[0].unhealthy_unix_ms = t.devices[3].unhealthy_unix_ms = 1767323045250;
	resource_series(&text, RESOURCE_DEVICE_ONSET_TIME, &t, true);
	text_add(&text, "", 1);
	assert_string_equal(
		text.data,
		"rocelet_device_unhealthy_onset_timestamp_seconds{resource=\"rocelet.dev/roce\","
		"id=\"0000:03:00.2\",namespace=\"train\",pod=\"job-7\",container=\"main\"} "
		"1767323045.250\n"
		"rocelet_device_unhealthy_onset_timestamp_seconds{resource=\"rocelet.dev/roce\","
		"id=\"0000:03:00.3\"} 1767323045.001\n");
	text_done(&text);
	resource_series(&text, RESOURCE_DEVICE_ONSET_TIME, &t, false);
	text_add(&text, "", 1);
	assert_non_null(strstr(text.data, "resource=\"rdma/hca_shared\",id=\"0\",namespace="));
	text_done(&text);
	resource_table_done(&t);
}

/* Why a pod's device is unhealthy, without a join. */
static void test_reasons_name_the_pod(void **state)
{
	struct resource_table t;
	struct text text = {0};

	(void)state;
	resource_table_small(&t);
	t.devices[0].reasons = HEALTH_BIT(HEALTH_PCI);
	t.devices[1].reasons = 0;
	resource_series(&text, RESOURCE_DEVICE_UNHEALTHY, &t, true);
	text_add(&text, "", 1);
	assert_string_equal(text.data, "rocelet_device_unhealthy{resource=\"rocelet.dev/roce\","
				       "id=\"0000:03:00.2\",reason=\"pci\",namespace=\"train\","
				       "pod=\"job-7\",container=\"main\"} 1\n");
	text_done(&text);
	resource_table_done(&t);
}

static void test_without_resources_there_are_no_series(void **state)
{
	struct resource_table t = {0};
	struct text text = {0};

	(void)state;
	for (enum resource_family f = 0; f < N_RESOURCE_FAMILIES; f++)
		resource_series(&text, f, &t, false);
	assert_int_equal(text.len, 0);
	text_done(&text);
}

static void assert_holder(const char *function, const char *pod)
{
	struct resource_table t;
	const struct pod_device *d;

	resource_table_small(&t);
	d = resource_table_holder(&t, function, "");
	if (pod)
		assert_string_equal(d ? d->pod : "none", pod);
	else
		assert_null(d);
	resource_table_done(&t);
}

/* A function's counters name a pod only if one container uses the function alone. */
static void test_holder(void **state)
{
	(void)state;
	assert_holder("0000:03:00.2", "job-7");
	assert_holder("0000:03:00.3", NULL); /* reserved, by an unknown pod */
	assert_holder("0000:03:00.4", NULL); /* free */
	assert_holder("0000:03:00.0", NULL); /* shared */
	assert_holder("", NULL);
}

/* Allocations of another device plugin count, too: its IDs are bus addresses or RDMA names. */
static void test_holder_by_another_plugin(void **state)
{
	const struct pod_device other = {
		.resource = "example.com/other", .id = "mlx5_9", .pod = "theirs"};
	struct resource_table t;

	(void)state;
	resource_table_small(&t);
	pod_list_push(&t.held, &other);
	pod_list_sort(&t.held);
	assert_string_equal(resource_table_holder(&t, "0000:99:00.0", "mlx5_9")->pod, "theirs");
	assert_null(resource_table_holder(&t, "0000:99:00.0", "mlx5_8"));
	resource_table_done(&t);
}

static void test_two_containers_are_no_single_holder(void **state)
{
	const struct pod_device other = {
		.resource = "example.com/other", .id = "0000:03:00.2", .pod = "second"};
	struct resource_table t;

	(void)state;
	resource_table_small(&t);
	pod_list_push(&t.held, &other);
	pod_list_sort(&t.held);
	assert_null(resource_table_holder(&t, "0000:03:00.2", ""));
	resource_table_done(&t);
}

static void test_port_labels(void **state)
{
	struct resource_table t;
	struct text text = {0};

	(void)state;
	resource_table_small(&t);
	text_add_port(&text, "mlx5_2", 1, resource_table_holder(&t, "0000:03:00.2", "mlx5_2"));
	text_add(&text, "}", 2);
	assert_string_equal(text.data, "{device=\"mlx5_2\",port=\"1\",namespace=\"train\","
				       "pod=\"job-7\",container=\"main\"}");
	text_done(&text);
	resource_table_done(&t);
}

/* The kubelet's checkpoint has only the pod's uid. */
static void test_a_pod_without_a_name(void **state)
{
	struct pod_device d = {.namespace = "",
			       .pod = "",
			       .container = "init",
			       .uid = "0b0e1a5c",
			       .resource = "example.com/x",
			       .id = "mlx5_9"};
	struct resource_table t = {0};
	struct text text = {0};

	(void)state;
	assert_int_equal(pod_list_push(&t.held, &d), 0);
	text_add_port(&text, "mlx5_9", 1, resource_table_holder(&t, "", "mlx5_9"));
	resource_series(&text, RESOURCE_DEVICE_INFO, &t, false);
	text_add(&text, "", 1);
	assert_string_equal(text.data, "{device=\"mlx5_9\",port=\"1\""
				       "rocelet_device_allocated_info{resource=\"example.com/x\","
				       "id=\"mlx5_9\",container=\"init\",uid=\"0b0e1a5c\"} 1\n");
	text_done(&text);
	resource_table_done(&t);
}

static void test_copy(void **state)
{
	struct resource_table t, copy = {0};

	(void)state;
	resource_table_small(&t);
	assert_int_equal(resource_table_copy(&copy, &t), 0);
	assert_int_equal(copy.generation, t.generation);
	assert_memory_equal(copy.devices, t.devices, t.n_devices * sizeof(*t.devices));
	assert_true(pod_list_equal(&copy.held, &t.held));
	resource_table_done(&t);
	assert_string_equal(copy.resources[1].name, "rdma/hca_shared");
	assert_string_equal(resource_table_why(&copy, "0000:05:00.0")->why,
			    "it carries the default route");
	assert_null(resource_table_why(&copy, "0000:05:00.1"));
	resource_table_done(&copy);
}

TEST_GROUP(resource_series)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_family),
		cmocka_unit_test(test_default_series),
		cmocka_unit_test(test_onset_of_unhealthy_devices),
		cmocka_unit_test(test_reasons_name_the_pod),
		cmocka_unit_test(test_without_resources_there_are_no_series),
		cmocka_unit_test(test_holder),
		cmocka_unit_test(test_holder_by_another_plugin),
		cmocka_unit_test(test_two_containers_are_no_single_holder),
		cmocka_unit_test(test_port_labels),
		cmocka_unit_test(test_a_pod_without_a_name),
		cmocka_unit_test(test_copy),
	};

	return test_group_run(tests, NULL, NULL);
}
