// SPDX-License-Identifier: Apache-2.0
/* The condition of ports and of pods' devices. */
#include "condition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "diagnosis_report.h"
#include "doctor.h"
#include "host_builder.h"
#include "resource_tables.h"
#include "test_group.h"

#define VF  "0000:03:00.2"
#define NOW 1000000

/* A PF mlx5_0 and its VF mlx5_2, which train/job-7 has. */
struct fixture {
	struct host host;
	struct resource_table table;
	struct diagnosis_report report;
	struct verdict verdicts[5];
	struct port_watched ports[2];
	struct attach_record record;
	struct attach_status status;
	struct condition_sources sources;
	struct condition condition;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	resource_table_small(&f->table);
	build_function(&f->host, FN_PF, "0000:03:00.0", "", -1);
	build_function(&f->host, FN_VF, VF, "0000:03:00.0", 0);
	build_rdma(&f->host, "mlx5_0", "0000:03:00.0");
	build_rdma(&f->host, "mlx5_2", VF);
	f->ports[0] = (struct port_watched){.device = "mlx5_0", .port = 1, .watch = WATCH_JUDGED};
	f->ports[1] = (struct port_watched){
		.device = "mlx5_2", .port = 1, .watch = WATCH_JUDGED, .held = true};
	f->report.verdicts = f->verdicts;
	f->report.ports = f->ports;
	f->report.n_ports = 2;
	strcpy(f->record.resource, "rocelet.dev/roce");
	strcpy(f->record.id, VF);
	strcpy(f->record.function, VF);
	strcpy(f->record.owner.namespace, "train");
	strcpy(f->record.owner.pod, "job-7");
	f->record.plan.kind = PLAN_VF;
	f->record.state = ATTACH_IN_POD;
	f->status = (struct attach_status){.record = &f->record, .since_ms = NOW - 1000};
	f->sources = (struct condition_sources){.host = &f->host,
						.report = &f->report,
						.attachments = {&f->status, 1},
						.now_ms = NOW,
						.epoch_ms = 1767323045000 - NOW};
	f->sources.resources = resource_index_new(&f->table);
	assert_non_null(f->sources.resources);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	resource_index_free((struct resource_index *)f->sources.resources);
	resource_table_done(&f->table);
	host_done(&f->host);
	free(f);
	return 0;
}

static struct verdict *judged(struct fixture *f, const char *device, enum cause cause,
			      enum severity severity)
{
	struct verdict *v = &f->verdicts[f->report.n_verdicts++];

	strcpy(v->device, device);
	strcpy(v->function, strcmp(device, "mlx5_0") == 0 ? "0000:03:00.0" : VF);
	v->port = 1;
	v->cause = cause;
	v->severity = severity;
	v->opened_ms = 1;
	return v;
}

/* "ok"; "critical: device link_down, verdict packet_loss (PF)"; "unknown: warming" */
static void words_of(const struct condition *c, char ret[512])
{
	static const char *const kinds[] = {"device", "attachment", "link", "verdict", "resource"};
	const char *health = condition_health(c);
	size_t len = (size_t)snprintf(ret, 512, "%s", health ? health : "unknown");

	if (!health && c->watch)
		snprintf(ret + len, 512 - len, ": %s", c->watch);
	for (size_t i = 0; i < c->n; i++)
		len += (size_t)snprintf(ret + len, 512 - len, "%s%s %s%s", i ? ", " : ": ",
					kinds[c->troubles[i].kind], c->troubles[i].word,
					c->troubles[i].of_pf ? " (PF)" : "");
}

/* Of the VF's port and of the pod's device: both are the same. */
static void assert_condition(struct fixture *f, const char *expected)
{
	static const struct pod_device device = {.namespace = "train",
						 .pod = "job-7",
						 .container = "main",
						 .resource = "rocelet.dev/roce",
						 .id = VF};
	char words[512];

	condition_of_port(&f->condition, &f->sources, "mlx5_2", 1, host_function(&f->host, VF),
			  &device);
	words_of(&f->condition, words);
	assert_string_equal(words, expected);
	condition_of_pod_device(&f->condition, &f->sources, &device);
	words_of(&f->condition, words);
	assert_string_equal(words, expected);
}

static void test_nothing_wrong(void **state)
{
	struct fixture *f = *state;

	assert_condition(f, "ok");
	f->ports[1].watch = WATCH_WARMING;
	assert_condition(f, "unknown: warming");
	f->report.n_ports = 1;
	assert_condition(f, "unknown");
	f->sources.report = NULL;
	assert_condition(f, "unknown");
}

/* The port is active and has no verdict: only the device's health knows. */
static void test_unhealthy_device(void **state)
{
	struct fixture *f = *state;

	f->table.devices[0].reasons = HEALTH_BIT(HEALTH_LINK_DOWN) | HEALTH_BIT(HEALTH_PCI);
	f->table.devices[0].unhealthy_unix_ms = 1767323045001;
	f->table.devices[0].or_earlier = true;
	assert_condition(f, "critical: device link_down, device pci");
	assert_true(f->condition.troubles[0].since_unix_ms == 1767323045001);
	assert_true(f->condition.troubles[0].or_earlier);
	assert_string_equal(f->condition.troubles[0].what,
			    "device 0000:03:00.2 is unhealthy: link_down");
	assert_string_equal(f->condition.troubles[0].help, trouble_row(WORD_LINK_DOWN)->advice);
	/* A free device affects no pod. */
	f->table.devices[0].state = RESERVATION_FREE;
	assert_condition(f, "warning: device link_down, device pci");
}

/* The advice about a VF's link depends on its PF's, if that is known. */
static void test_link_of_the_pf(void **state)
{
	struct fixture *f = *state;
	struct netdev *pf = build_netdev(&f->host, "ens1np0", "0000:03:00.0");
	const struct trouble *t = &f->condition.troubles[0];

	f->table.devices[0].reasons = HEALTH_BIT(HEALTH_LINK_DOWN);
	pf->carrier = CARRIER_OFF;
	assert_condition(f, "critical: device link_down");
	assert_string_equal(
		t->what,
		"device 0000:03:00.2 is unhealthy: link_down; its PF ens1np0 is down, too");
	assert_non_null(strstr(t->help, "Its PF is down, too: check the PF's cable"));
	pf->carrier = CARRIER_ON;
	assert_condition(f, "critical: device link_down");
	assert_non_null(strstr(t->what, "; its PF ens1np0 has a link"));
	assert_non_null(strstr(t->help, "Its PF has a link: check the VF's link state"));
	assert_non_null(strstr(condition_link_advice(&f->host, "0000:03:00.0"),
			       "Check the cable, the optic and the switch port."));
	/* A link that only the samples show. */
	f->table.devices[0].reasons = 0;
	f->ports[1].watch = WATCH_DOWN;
	assert_condition(f, "warning: link link_down");
	assert_string_equal(t->what, "the link of a pod's port is down; its PF ens1np0 has a link");
}

static void test_attachment(void **state)
{
	struct fixture *f = *state;

	f->record.state = ATTACH_ATTACHING;
	assert_condition(f, "ok");
	f->status.since_ms = NOW - DOCTOR_SLOW_MS - 1;
	f->status.step = "move";
	assert_condition(f, "warning: attachment attaching");
	assert_string_equal(f->condition.troubles[0].what,
			    "is being attached to pod train/job-7, at step move");
	f->status.since_ms = NOW - 1;
	f->record.state = ATTACH_RETURNING;
	assert_condition(f, "ok");
	strcpy(f->status.error, "cannot move it: EBUSY");
	assert_condition(f, "warning: attachment returning");
	assert_true(f->condition.troubles[0].since_unix_ms == 1767323044999);
	f->record.state = ATTACH_BAD;
	f->status.error[0] = '\0';
	assert_condition(f, "warning: attachment bad");
	f->record.state = ATTACH_IN_POD;
	f->status.drift = ATTACH_DRIFT_NAME | ATTACH_DRIFT_DOWN;
	assert_condition(f, "warning: attachment drift");
	assert_non_null(strstr(f->condition.troubles[0].what, " differ from the plan"));
}

/* The device is free again, and its container waits for the next attempt; what failed for another
 * pod is not this one's. */
static void test_failed_attach(void **state)
{
	struct fixture *f = *state;
	const struct pod_device device = {
		.namespace = "train", .pod = "job-7", .resource = "rocelet.dev/roce", .id = VF};
	char words[512];

	f->record.state = ATTACH_FREE;
	strcpy(f->status.error, "no address");
	condition_of_pod_device(&f->condition, &f->sources, &device);
	words_of(&f->condition, words);
	assert_string_equal(words, "warning: attachment attach_failed");
	assert_string_equal(f->condition.troubles[0].what,
			    "the container cannot start: no address");
	strcpy(f->record.owner.pod, "job-6");
	condition_of_pod_device(&f->condition, &f->sources, &device);
	words_of(&f->condition, words);
	assert_string_equal(words, "ok");
}

/* The link of a pod's port is down: said once. */
static void test_lost_link(void **state)
{
	struct fixture *f = *state;

	f->ports[1].watch = WATCH_DOWN;
	assert_condition(f, "warning: link link_down");
	judged(f, "mlx5_0", CAUSE_BAD_LINK, SEVERITY_WARNING);
	assert_condition(f, "warning: link link_down, verdict bad_link (PF)");
	f->table.devices[0].reasons = HEALTH_BIT(HEALTH_LINK_DOWN);
	assert_condition(f, "critical: device link_down, verdict bad_link (PF)");
	f->report.n_verdicts = 0;
	f->table.devices[0].reasons = 0;
	f->ports[1].held = false;
	assert_condition(f, "unknown: down");
}

/* A verdict that explains the device's trouble replaces it: one severity and one advice. */
static void test_explained_by_a_verdict(void **state)
{
	static const struct {
		const char *device;
		enum cause cause;
		enum severity severity;
		enum health_reason reason;
		const char *expected;
	} rows[] = {
		{"mlx5_2", CAUSE_PORT_OFF, SEVERITY_WARNING, HEALTH_LINK_DOWN,
		 "warning: verdict port_off"},
		{"mlx5_2", CAUSE_PORT_OFF, SEVERITY_WARNING, HEALTH_PORT_DOWN,
		 "warning: verdict port_off"},
		{"mlx5_0", CAUSE_LINK_FLAP, SEVERITY_WARNING, HEALTH_LINK_DOWN,
		 "warning: verdict link_flap (PF)"},
		{"mlx5_2", CAUSE_NO_DEVICE_NODE, SEVERITY_WARNING, HEALTH_NO_CHARDEV,
		 "warning: verdict no_device_node"},
		{"mlx5_0", CAUSE_NIC_STUCK, SEVERITY_CRITICAL, HEALTH_PCI,
		 "critical: verdict nic_stuck (PF)"},
		/* Another subject. */
		{"mlx5_2", CAUSE_PORT_OFF, SEVERITY_WARNING, HEALTH_NO_CHARDEV,
		 "critical: device no_chardev, verdict port_off"},
		{"mlx5_2", CAUSE_PACKET_LOSS, SEVERITY_CRITICAL, HEALTH_LINK_DOWN,
		 "critical: device link_down, verdict packet_loss"},
		/* The PF's node is not the VF's. */
		{"mlx5_0", CAUSE_NO_DEVICE_NODE, SEVERITY_WARNING, HEALTH_NO_CHARDEV,
		 "critical: device no_chardev"},
		/* Information must not hide that a pod has an unusable device. */
		{"mlx5_2", CAUSE_PORT_OFF, SEVERITY_INFO, HEALTH_LINK_DOWN,
		 "critical: device link_down, verdict port_off"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f->report.n_verdicts = 0;
		memset(f->verdicts, 0, sizeof(f->verdicts));
		judged(f, rows[i].device, rows[i].cause, rows[i].severity);
		f->table.devices[0].reasons = HEALTH_BIT(rows[i].reason);
		assert_condition(f, rows[i].expected);
	}
	/* The link of the pod's port is down: the verdict reports it. */
	f->report.n_verdicts = 0;
	f->table.devices[0].reasons = 0;
	f->ports[1].watch = WATCH_DOWN;
	judged(f, "mlx5_0", CAUSE_LINK_FLAP, SEVERITY_WARNING);
	assert_condition(f, "warning: verdict link_flap (PF)");
}

/* Those of the PF count if they are about what the VFs share. */
static void test_verdicts(void **state)
{
	struct fixture *f = *state;
	struct verdict *of_pf;

	judged(f, "mlx5_2", CAUSE_RECEIVER_NOT_READY, SEVERITY_INFO)->onset_unix_ms = 5;
	assert_condition(f, "info: verdict receiver_not_ready");
	assert_true(f->condition.troubles[0].since_unix_ms == 5);
	of_pf = judged(f, "mlx5_0", CAUSE_BAD_LINK, SEVERITY_WARNING);
	assert_condition(f, "warning: verdict bad_link (PF), verdict receiver_not_ready");
	f->verdicts[0].severity = SEVERITY_WARNING;
	assert_condition(f, "warning: verdict receiver_not_ready, verdict bad_link (PF)");
	of_pf->port = 2; /* the wire of another port */
	assert_condition(f, "warning: verdict receiver_not_ready");
	of_pf->port = 1;
	of_pf->change = VERDICT_CLOSED;
	assert_condition(f, "warning: verdict receiver_not_ready");
	of_pf->change = VERDICT_SAME;
	of_pf->cause = CAUSE_PACKET_LOSS; /* of the PF's own queue pairs */
	assert_condition(f, "warning: verdict receiver_not_ready");
	/* It explains what is seen on the VF's port. */
	f->verdicts[0].led_by = CAUSE_BIT(CAUSE_PACKET_LOSS);
	f->verdicts[0].explained = true;
	strcpy(f->verdicts[0].pf, "mlx5_0");
	assert_condition(f, "warning: verdict packet_loss (PF)");
}

/* Verdicts of a PF do not affect a free VF. */
static void test_verdicts_of_a_free_vf(void **state)
{
	struct fixture *f = *state;
	char words[512];

	judged(f, "mlx5_0", CAUSE_BAD_LINK, SEVERITY_WARNING);
	condition_of_port(&f->condition, &f->sources, "mlx5_2", 1, host_function(&f->host, VF),
			  NULL);
	words_of(&f->condition, words);
	assert_string_equal(words, "ok");
}

static void assert_slot(struct fixture *f, const char *id, const char *expected)
{
	const struct pod_device device = {.namespace = "train",
					  .pod = "reader-0",
					  .container = "main",
					  .resource = "rdma/hca_shared",
					  .id = id};
	char words[512];

	condition_of_pod_device(&f->condition, &f->sources, &device);
	words_of(&f->condition, words);
	assert_string_equal(words, expected);
}

/* A slot has the health of its HCA, and the verdicts of its port. */
static void test_slots(void **state)
{
	struct fixture *f = *state;

	assert_slot(f, "0", "info: resource not_registered");
	assert_non_null(strstr(f->condition.troubles[0].what,
			       "the kubelet does not know rdma/hca_shared: version"));
	f->table.resources[1].registration = REGISTRATION_DONE;
	assert_slot(f, "0", "ok");
	judged(f, "mlx5_0", CAUSE_PACKET_LOSS, SEVERITY_CRITICAL);
	assert_slot(f, "0", "critical: verdict packet_loss");
	f->table.devices[3].reasons = HEALTH_BIT(HEALTH_PORT_DOWN);
	assert_slot(f, "0", "critical: device port_down, verdict packet_loss");
	strcpy(f->table.resources[1].files_error, "disk full");
	assert_slot(f, "0", "critical: device port_down, verdict packet_loss, resource no_files");
	/* Of several HCAs, the slot's name shows which. */
	f->table.resources[1].n_members = 2;
	f->table.resources[1].files_error[0] = '\0';
	assert_slot(f, "mlx5_2-1", "ok");
	assert_slot(f, "mlx5_0-1", "critical: verdict packet_loss");
	assert_slot(f, "17", "unknown");
}

/* A port of a shared HCA has the troubles of its slots, each once and with its worst severity, as
 * the pods that have them. */
static void test_port_of_slots(void **state)
{
	struct fixture *f = *state;
	const struct resource_info *r = &f->table.resources[1];
	struct resource_device *slots = &f->table.devices[r->first_device];
	char words[512];

	assert_true(r->n_devices >= 2);
	for (size_t i = 0; i < r->n_devices; i++) {
		slots[i].reasons = HEALTH_BIT(HEALTH_LINK_DOWN);
		slots[i].state = RESERVATION_FREE;
	}
	for (int held = 0; held < 2; held++) {
		condition_of_port(&f->condition, &f->sources, "mlx5_0", 1,
				  host_function(&f->host, "0000:03:00.0"), NULL);
		words_of(&f->condition, words);
		assert_string_equal(words, held ? "critical: device link_down"
						: "warning: device link_down");
		slots[1].state = RESERVATION_HELD;
	}
	/* A verdict that explains it replaces it. */
	judged(f, "mlx5_0", CAUSE_LINK_FLAP, SEVERITY_CRITICAL);
	condition_of_port(&f->condition, &f->sources, "mlx5_0", 1,
			  host_function(&f->host, "0000:03:00.0"), NULL);
	words_of(&f->condition, words);
	assert_string_equal(words, "critical: verdict link_flap");
}

/* In exclusive RDMA mode the pod's device is in the pod's namespace, and its port is judged there.
 * If the host has a device of that name, only that one is in samples. */
static void test_device_in_the_pods_namespace(void **state)
{
	struct fixture *f = *state;

	f->host.rdma[1].nsid = 7;
	judged(f, "mlx5_2", CAUSE_PACKET_LOSS, SEVERITY_CRITICAL);
	assert_condition(f, "critical: verdict packet_loss");
	condition_of_health(&f->condition, &f->sources, VF);
	assert_string_equal(condition_health(&f->condition), "critical");
	strcpy(f->host.rdma[0].name, "mlx5_2");
	condition_of_pod_device(
		&f->condition, &f->sources,
		&(struct pod_device){.pod = "job-7", .resource = "rocelet.dev/roce", .id = VF});
	assert_null(condition_health(&f->condition));
	condition_of_health(&f->condition, &f->sources, VF);
	assert_null(condition_health(&f->condition));
}

/* There are more troubles than there is room for: the worst are kept. */
static void test_full(void **state)
{
	struct fixture *f = *state;

	f->table.devices[0].reasons = HEALTH_BIT(N_HEALTH_REASONS) - 1;
	f->table.devices[0].state = RESERVATION_FREE;
	f->status.drift = ATTACH_DRIFT_NAME;
	for (int i = 0; i < 4; i++)
		judged(f, "mlx5_2", CAUSE_PACKET_LOSS, SEVERITY_WARNING);
	judged(f, "mlx5_2", CAUSE_PACKET_LOSS, SEVERITY_CRITICAL);
	condition_of_port(&f->condition, &f->sources, "mlx5_2", 1, host_function(&f->host, VF),
			  NULL);
	assert_int_equal(f->condition.n, CONDITION_TROUBLES_MAX);
	assert_string_equal(condition_health(&f->condition), "critical");
}

static struct undecided_list *undecided_of(struct undecided_list **ret, const enum cause *causes,
					   size_t n)
{
	*ret = calloc(1, sizeof(**ret) + n * sizeof((*ret)->items[0]));
	assert_non_null(*ret);
	for (size_t i = 0; i < n; i++)
		(*ret)->items[(*ret)->n++] = (struct undecided){"unseen", causes[i], -1};
	return *ret;
}

/* Faults of the network that were not judged: a VF's link and pause are judged on its PF. */
static void test_unjudged(void **state)
{
	static const enum cause of_vf[] = {CAUSE_BAD_LINK, CAUSE_SLOW_RECEIVER, CAUSE_PACKET_LOSS,
					   CAUSE_CNP_LOST, CAUSE_REORDERING},
				of_pf[] = {CAUSE_BAD_LINK};
	struct undecided_list *vf, *pf;
	struct fixture *f = *state;

	f->ports[1].undecided = undecided_of(&vf, of_vf, ARRAY_SIZE(of_vf));
	assert_condition(f, "ok");
	assert_int_equal(f->condition.n_unjudged, 1);
	assert_int_equal(f->condition.unjudged[0].cause, CAUSE_PACKET_LOSS);
	f->ports[0].undecided = undecided_of(&pf, of_pf, ARRAY_SIZE(of_pf));
	assert_condition(f, "ok");
	assert_int_equal(f->condition.n_unjudged, 2);
	assert_int_equal(f->condition.unjudged[0].cause, CAUSE_BAD_LINK);
	f->ports[0].undecided = NULL;
	f->ports[0].watch = WATCH_WARMING;
	assert_condition(f, "ok");
	assert_int_equal(f->condition.n_unjudged, 2);
	free(vf);
	free(pf);
}

static void test_json(void **state)
{
	struct fixture *f = *state;
	json_t *list;
	char *text;

	judged(f, "mlx5_2", CAUSE_PACKET_LOSS, SEVERITY_CRITICAL)->onset_unix_ms = 1767323045001;
	assert_condition(f, "critical: verdict packet_loss");
	f->condition.troubles[0].help = "";
	snprintf(f->condition.troubles[0].what, 320, "x");
	list = condition_troubles(&f->condition);
	text = json_dumps(list, JSON_COMPACT);
	assert_string_equal(
		text, "[{\"kind\":\"verdict\",\"word\":\"packet_loss\",\"severity\":\"critical\","
		      "\"level\":3,\"ofPf\":false,\"since\":\"2026-01-02T03:04:05.001Z\","
		      "\"orEarlier\":false,\"what\":\"x\",\"help\":null}]");
	free(text);
	json_decref(list);
}

TEST_GROUP(condition)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_wrong, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unhealthy_device, setup, teardown),
		cmocka_unit_test_setup_teardown(test_link_of_the_pf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_attachment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed_attach, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_explained_by_a_verdict, setup, teardown),
		cmocka_unit_test_setup_teardown(test_verdicts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_verdicts_of_a_free_vf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_port_of_slots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_device_in_the_pods_namespace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unjudged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json, setup, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
