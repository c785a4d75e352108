// SPDX-License-Identifier: Apache-2.0
/* Documents that rocectl makes of several answers: ports and the status. */
#include "ctl_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "ctl_document.h"
#include "ctl_show_status.h"
#include "golden.h"
#include "listings.h"
#include "test_group.h"

static struct {
	json_t *index, *devices, *attached, *pods, *attachments, *diagnosis, *doctor, *ports;
} loaded;

static json_t *load(const char *file)
{
	json_t *document = json_load_file(file, 0, NULL);

	assert_non_null(document);
	return document;
}

static int setup(void **state)
{
	(void)state;
	loaded.index = json_loads("{\"node\":\"node-17\",\"version\":\"1.2.3\",\"started\":"
				  "\"2026-01-02T03:04:05.000Z\",\"upSeconds\":400000}",
				  0, NULL);
	loaded.devices = load("tests/golden/api_devices.json");
	loaded.attached = load("tests/golden/api_devices_attached.json");
	loaded.pods = load("tests/golden/api_pods_attached.json");
	loaded.attachments = load("tests/golden/api_attachments.json");
	loaded.diagnosis = load("tests/golden/api_diagnosis.json");
	loaded.ports = load("tests/golden/api_ports.json");
	loaded.doctor = json_loads(
		"{\"findings\":[{\"kind\":\"dirty\",\"object\":\"0000:03:00.4\","
		"\"what\":\"is being returned\",\"help\":\"wait\"},{\"kind\":\"a\\u001b\"}]}",
		0, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(loaded.index);
	json_decref(loaded.devices);
	json_decref(loaded.attached);
	json_decref(loaded.pods);
	json_decref(loaded.attachments);
	json_decref(loaded.diagnosis);
	json_decref(loaded.ports);
	json_decref(loaded.doctor);
	return 0;
}

static void print(json_t *document, FILE *f)
{
	assert_non_null(document);
	assert_int_equal(ctl_document_put(document, "json", f), 0);
	json_decref(document);
}

static void print_ports(FILE *f)
{
	print(ctl_ports(&(struct ctl_answers){
		      .devices = loaded.devices, .ports = loaded.ports, .pods = loaded.pods}),
	      f);
}

static void test_ports(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_ports.json", print_ports);
}

/* The ports of a pod's device belong to that pod; without a diagnosis they have no verdict. */
static void test_the_pod_of_a_port(void **state)
{
	json_t *devices = json_loads(
		"{\"devices\":[{\"id\":\"f\",\"attachment\":null,\"resources\":[{\"holder\":"
		"{\"namespace\":\"n\",\"pod\":\"p\",\"container\":\"c\"}}],\"rdma\":[{\"name\":\"m\","
		"\"ports\":[{\"port\":1},{\"port\":2}]}]},7]}",
		0, NULL);
	json_t *ports = ctl_ports(&(struct ctl_answers){.devices = devices});
	json_t *second = json_array_get(json_object_get(ports, "ports"), 1);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(ports, "ports")), 2);
	assert_string_equal(json_string_value(json_object_get(second, "pod")), "p");
	assert_string_equal(json_string_value(json_object_get(second, "namespace")), "n");
	assert_int_equal(json_integer_value(json_object_get(second, "port")), 2);
	assert_true(json_is_null(json_object_get(second, "watch")));
	assert_true(json_is_null(json_object_get(second, "health")));
	json_decref(ports);
	json_decref(devices);
}

static void print_status(FILE *f)
{
	print(ctl_status(&(struct ctl_answers){.index = loaded.index,
					       .devices = loaded.attached,
					       .pods = loaded.pods,
					       .attachments = loaded.attachments,
					       .diagnosis = loaded.diagnosis,
					       .doctor = loaded.doctor,
					       .ready = true,
					       .readiness = "ok\nno\x1b more\n"}),
	      f);
}

static void print_status_text(FILE *f)
{
	json_t *bad = json_load_file("tests/golden/rocectl_status.json", 0, NULL);
	json_t *nothing = ctl_status(&(struct ctl_answers){.readiness = "not ready: x\n"});
	json_t *well = ctl_status(&(struct ctl_answers){.ready = true, .readiness = "ok\n"});

	ctl_show_status(bad, true, true, f);
	fputc('\n', f);
	ctl_show_status(nothing, false, false, f);
	fputc('\n', f);
	ctl_show_status(well, false, false, f);
	ctl_show_status(NULL, false, false, f);
	json_decref(bad);
	json_decref(nothing);
	json_decref(well);
}

static void test_status(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_status.json", print_status);
	assert_golden("tests/golden/rocectl_status.txt", print_status_text);
}

static void test_states_of_a_node(void **state)
{
	static const struct {
		const char *devices, *diagnosis, *doctor;
		bool ready, well;
	} rows[] = {
		{"{}", "{}", "{}", true, true},
		{"{}", "{}", "{}", false, false},
		{"{\"resources\":[{\"devices\":3,\"healthy\":3,\"registration\":\"registered\"}]}",
		 "{\"verdicts\":[{\"level\":1}]}", "{\"findings\":[]}", true, true},
		{"{\"resources\":[{\"devices\":3,\"healthy\":2,\"registration\":\"registered\"}]}",
		 "{}", "{}", true, false},
		{"{\"resources\":[{\"devices\":3,\"healthy\":3,\"registration\":\"refused\"}]}",
		 "{}", "{}", true, false},
		{"{}", "{\"verdicts\":[{\"level\":1},{\"level\":2}]}", "{}", true, false},
		{"{}", "{}", "{\"findings\":[{}]}", true, false},
		{"{}", "{\"troubles\":[{\"kind\":\"link\",\"level\":2}]}", "{}", true, false},
		{"{}", "{\"troubles\":[{\"level\":1}]}", "{}", true, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *devices = json_loads(rows[i].devices, 0, NULL);
		json_t *diagnosis = json_loads(rows[i].diagnosis, 0, NULL);
		json_t *doctor = json_loads(rows[i].doctor, 0, NULL);
		json_t *status = ctl_status(&(struct ctl_answers){.devices = devices,
								  .diagnosis = diagnosis,
								  .doctor = doctor,
								  .ready = rows[i].ready});

		assert_int_equal(json_is_true(json_object_get(status, "well")), rows[i].well);
		json_decref(status);
		json_decref(devices);
		json_decref(diagnosis);
		json_decref(doctor);
	}
}

/* An empty list is no list if the kubelet has not reported the allocations. */
static void test_an_unknown_number_of_pods(void **state)
{
	static const struct {
		const char *pods;
		bool known;
	} rows[] = {{"{\"source\":null,\"pods\":[]}", false},
		    {"{\"source\":\"api\",\"pods\":[]}", true}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *pods = json_loads(rows[i].pods, 0, NULL);
		json_t *status = ctl_status(&(struct ctl_answers){.pods = pods});

		assert_int_equal(json_is_integer(json_object_get(status, "pods")), rows[i].known);
		assert_int_equal(json_is_integer(json_object_get(status, "podsInTrouble")),
				 rows[i].known);
		json_decref(status);
		json_decref(pods);
	}
}

/* The list of ports has settings that may differ between ports: the netdev's MTU, PFC and trust. */
static void test_settings_of_a_port(void **state)
{
	json_t *devices = json_loads(
		"{\"devices\":[{\"id\":\"f\",\"netdevs\":[{\"name\":\"a\",\"mtu\":1500},{\"name\":\"b\","
		"\"mtu\":9000}],\"rdma\":[{\"name\":\"m\",\"ports\":[{\"port\":1,\"netdev\":\"b\","
		"\"settings\":{\"pfc\":[3,4],\"dscpTrusted\":true}},{\"port\":2,\"settings\":{\"pfc\":[],"
		"\"dscpTrusted\":false}},{\"port\":3}]}]}]}",
		0, NULL);
	json_t *ports = ctl_ports(&(struct ctl_answers){.devices = devices});
	const struct listing_choice choice = {
		.limit = -1, .no_headers = true, .columns = "PORT,NETDEV-MTU,PFC,TRUST"};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(listing_show(&listing_ports, &choice, ports, f, f), 0);
	fclose(f);
	assert_string_equal(text,
			    "m/1  9000  3,4   dscp\nm/2  -     none  pcp\nm/3  -     -     -\n");
	free(text);
	json_decref(ports);
	json_decref(devices);
}

/* What the daemon decided of a port; of one that it does not watch, as of a device that is in a
 * pod's namespace, what it decided of the pod's device. */
static void test_health_of_ports(void **state)
{
	json_t *devices = json_loads(
		"{\"devices\":[{\"id\":\"f\",\"rdma\":[{\"name\":\"m\",\"ports\":[{\"port\":1}]}]},"
		"{\"id\":\"g\",\"rdma\":[{\"name\":\"n\",\"ports\":[{\"port\":1}]}]},"
		"{\"id\":\"h\",\"rdma\":[{\"name\":\"o\",\"ports\":[{\"port\":1}]}]}]}",
		0, NULL);
	json_t *of_ports = json_loads("{\"time\":\"t\",\"ports\":[{\"device\":\"m\",\"port\":1,"
				      "\"watch\":\"judged\",\"health\":\"ok\",\"troubles\":[]}]}",
				      0, NULL);
	json_t *pods = json_loads(
		"{\"pods\":[{\"containers\":[{\"devices\":[{\"id\":\"f\",\"health\":\"info\"},"
		"{\"id\":\"7\",\"attachment\":{\"function\":\"g\"},\"health\":\"critical\","
		"\"troubles\":[{\"word\":\"link_down\"}]}]}]}]}",
		0, NULL);
	json_t *ports = ctl_ports(
		&(struct ctl_answers){.devices = devices, .ports = of_ports, .pods = pods});
	static const char *const health[] = {"ok", "critical"};

	(void)state;
	assert_string_equal(json_string_value(json_object_get(ports, "time")), "t");
	for (size_t i = 0; i < 3; i++) {
		json_t *port = json_array_get(json_object_get(ports, "ports"), i);
		const char *is = json_string_value(json_object_get(port, "health"));

		if (i == 2)
			assert_null(is);
		else
			assert_string_equal(is, health[i]);
	}
	json_decref(ports);
	json_decref(of_ports);
	json_decref(pods);
	json_decref(devices);
}

TEST_GROUP(ctl_merge)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_the_pod_of_a_port),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_states_of_a_node),
		cmocka_unit_test(test_an_unknown_number_of_pods),
		cmocka_unit_test(test_health_of_ports),
		cmocka_unit_test(test_settings_of_a_port),
	};

	return test_group_run(tests, setup, teardown);
}
