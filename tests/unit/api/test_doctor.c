// SPDX-License-Identifier: Apache-2.0
/* The findings of doctor, compared with a golden file; UPDATE_GOLDEN=1 rewrites it. */
#include "doctor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attachments.h"
#include "cleanup.h"
#include "golden.h"
#include "health.h"
#include "host_builder.h"
#include "resource_tables.h"
#include "test_group.h"

/* A node with one of every problem. */
struct patient {
	struct host host;
	struct resource_table resources;
	struct attachments attachments;
	struct attach_counters counters;
	struct doctor_input in;
};

static void build_host(struct host *h)
{
	struct rdma_dev *rd;
	struct netdev *nd;

	build_function(h, FN_PF, "0000:03:00.0", "", -1);
	build_function(h, FN_VF, "0000:03:00.2", "0000:03:00.0", 0);
	build_function(h, FN_VF, "0000:03:00.6", "0000:03:00.0", 4)->vf_link = VF_LINK_DISABLE;
	build_function(h, FN_VF, "0000:03:00.7", "0000:03:00.0", 5);
	build_netdev(h, "ens1f0", "0000:03:00.0");
	build_netdev(h, "net1", "0000:03:00.2")->nsid = 4;
	nd = build_netdev(h, "net2", "0000:03:00.7");
	nd->nsid = 5;
	strcpy(nd->origin, "ens1f0v6");
	build_netdev(h, "net3", "0000:03:00.6")->nsid = 5; /* moved by an administrator */
	build_netdev(h, "eth0", "")->nsid = 5;		   /* a veth */
	rd = build_rdma(h, "mlx5_0", "0000:03:00.0");
	rd->no_uverbs_node = rd->no_umad_node = true;
	h->rdma_cm = RDMA_CM_NO_MODULE;
}

static void patient_init(struct patient *p)
{
	static const struct job_status jobs[] = {
		{"the return of 0000:03:00.2, at step back-renew,", 42500, true},
		{"reading settings of ports", 10200, false},
	};

	memset(p, 0, sizeof(*p));
	build_host(&p->host);
	resource_table_small(&p->resources);
	attachments_small(&p->attachments);
	attach_counters_small(&p->counters);
	strcpy(p->counters.cri.error, "Connection refused");
	strcpy(p->counters.journal_error, "No space left on device");
	p->in = (struct doctor_input){.host = &p->host,
				      .resources = &p->resources,
				      .attachments = p->attachments.list,
				      .counters = &p->counters,
				      .jobs = jobs,
				      .n_jobs = ARRAY_SIZE(jobs),
				      .now_ms = 45000};
}

static void patient_done(struct patient *p)
{
	host_done(&p->host);
	resource_table_done(&p->resources);
}

static void print(FILE *f)
{
	struct patient p;
	struct doctor d;

	patient_init(&p);
	assert_int_equal(doctor_build(&d, &p.in), 0);
	for (size_t i = 0; i < d.n; i++)
		fprintf(f, "%s%s: %s: %s\n    %s\n", finding_kind_name(d.findings[i].kind),
			d.findings[i].fixable ? " (fixable)" : "", d.findings[i].object,
			d.findings[i].what, d.findings[i].help);
	doctor_done(&d);
	patient_done(&p);
}

static void test_findings(void **state)
{
	(void)state;
	assert_golden("tests/golden/doctor.txt", print);
}

static size_t count(const struct doctor_input *in, enum finding_kind kind)
{
	struct doctor d;
	size_t n = 0;

	assert_int_equal(doctor_build(&d, in), 0);
	for (size_t i = 0; i < d.n; i++)
		n += d.findings[i].kind == kind;
	doctor_done(&d);
	return n;
}

static void test_a_healthy_node(void **state)
{
	struct attach_counters counters;
	struct doctor_input in = {.counters = &counters};
	struct host h = {0};
	struct doctor d;

	(void)state;
	build_function(&h, FN_PF, "0000:03:00.0", "", -1);
	build_netdev(&h, "ens1f0", "0000:03:00.0");
	build_rdma(&h, "mlx5_0", "0000:03:00.0");
	attach_counters_small(&counters);
	in.host = &h;
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(d.n, 0);
	doctor_done(&d);
	host_done(&h);
}

static void test_quick_operations_are_no_finding(void **state)
{
	struct patient p;

	(void)state;
	patient_init(&p);
	p.in.now_ms = 31000;
	assert_int_equal(count(&p.in, FINDING_DIRTY), 1); /* the device in quarantine */
	p.in.now_ms = 33001;				  /* 0000:03:00.3 for 2 s, .4 for 3 s */
	assert_int_equal(count(&p.in, FINDING_DIRTY), 3);
	p.in.now_ms = 0;
	assert_int_equal(count(&p.in, FINDING_DIRTY), 1);
	patient_done(&p);
}

static void test_without_allocations_there_are_no_orphans(void **state)
{
	struct patient p;

	(void)state;
	patient_init(&p);
	assert_int_equal(count(&p.in, FINDING_ORPHAN), 2);
	p.resources.held.source = POD_SOURCE_NONE;
	assert_int_equal(count(&p.in, FINDING_ORPHAN), 0);
	p.in.resources = NULL;
	assert_int_equal(count(&p.in, FINDING_ORPHAN), 0);
	assert_int_equal(count(&p.in, FINDING_KUBELET), 0);
	p.in.resources = &p.resources;
	assert_int_equal(count(&p.in, FINDING_RUNTIME), 1);
	p.counters.cri_open = false; /* no runtime is required */
	assert_int_equal(count(&p.in, FINDING_RUNTIME), 0);
	p.in.counters = NULL;
	assert_int_equal(count(&p.in, FINDING_RUNTIME), 0);
	assert_int_equal(count(&p.in, FINDING_JOURNAL), 0);
	patient_done(&p);
}

/* The attachment of record 0 is still listed, because of its error. */
static void test_a_free_attachment_does_not_explain_an_orphan(void **state)
{
	struct patient p;

	(void)state;
	patient_init(&p);
	p.attachments.records[0].state = ATTACH_FREE; /* its netdev is in namespace 4 */
	p.attachments.status[0].drift = 0;
	p.resources.held.n = 0;
	assert_int_equal(count(&p.in, FINDING_ORPHAN), 3);
	patient_done(&p);
}

static void test_a_hidden_host_is_a_finding(void **state)
{
	const struct attach_counters counters = {.view_error = "the host is hidden"};
	const struct host none = {0};
	const struct doctor_input in = {.host = &none, .counters = &counters};
	struct doctor d;

	(void)state;
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.findings[0].kind, FINDING_VIEW);
	assert_string_equal(d.findings[0].what, "the host is hidden");
	doctor_done(&d);
}

/* The runtime answers, but its list contradicts what is running. */
static void test_a_runtime_with_a_wrong_list(void **state)
{
	struct attach_counters c = {.cri_open = true,
				    .cri = {.socket = "/run/x.sock"},
				    .contradicting = 1,
				    .runtime_error = "it does not list what runs"};
	const struct host none = {0};
	const struct doctor_input in = {.host = &none, .counters = &c};
	struct doctor d;

	(void)state;
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.findings[0].kind, FINDING_RUNTIME);
	assert_string_equal(d.findings[0].what, "it does not list what runs");
	doctor_done(&d);
	c.runtime_lacks_all = true;
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_non_null(strstr(d.findings[0].what, "it lists no sandbox of the pods"));
	doctor_done(&d);
	c.contradicting = 0;
	assert_int_equal(count(&in, FINDING_RUNTIME), 0);
}

static void test_an_unknown_list_of_allocations(void **state)
{
	struct resource_table table = {.generation = 1};
	const struct host none = {0};
	const struct doctor_input in = {.host = &none, .resources = &table};
	struct doctor d;

	(void)state;
	assert_int_equal(count(&in, FINDING_KUBELET), 0);
	snprintf(table.held_error, sizeof(table.held_error), "/kubelet.sock: UNAVAILABLE");
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.findings[0].kind, FINDING_KUBELET);
	assert_string_equal(d.findings[0].what,
			    "the kubelet does not report the allocations of pods: "
			    "/kubelet.sock: UNAVAILABLE");
	doctor_done(&d);
}

static void test_registered_and_no_list_of_allocations(void **state)
{
	struct resource_info r = {.name = "a/b", .n_devices = 1};
	struct resource_device device = {0};
	struct resource_table table = {.generation = 1,
				       .resources = &r,
				       .n_resources = 1,
				       .devices = &device,
				       .n_devices = 1};
	const struct host none = {0};
	const struct doctor_input in = {.host = &none, .resources = &table};

	(void)state;
	assert_int_equal(count(&in, FINDING_KUBELET), 1); /* not registered */
	r.registration = REGISTRATION_DONE;
	assert_int_equal(count(&in, FINDING_KUBELET), 1); /* no list */
	table.held.source = POD_SOURCE_CHECKPOINT;
	assert_int_equal(count(&in, FINDING_KUBELET), 0);
	strcpy(r.files_error, "/run/cdi: read-only");
	assert_int_equal(count(&in, FINDING_KUBELET), 1);
}

static void test_the_security_module_is_named(void **state)
{
	struct resource_info r = {.name = "a/b", .n_devices = 1, .error = "/x: Permission denied"};
	struct resource_device device = {0};
	struct resource_table table = {.generation = 1,
				       .resources = &r,
				       .n_resources = 1,
				       .devices = &device,
				       .n_devices = 1};
	const struct host none = {0};
	struct doctor_input in = {.host = &none, .resources = &table};
	struct doctor d;

	(void)state;
	assert_int_equal(count(&in, FINDING_PRIVILEGE), 0);
	in.confinement = "";
	assert_int_equal(count(&in, FINDING_PRIVILEGE), 0);
	in.confinement = "SELinux type container_t";
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(d.findings[0].kind, FINDING_PRIVILEGE);
	assert_string_equal(d.findings[0].what,
			    "the daemon is confined by SELinux type container_t, and access was "
			    "denied: /x: Permission denied");
	doctor_done(&d);
	strcpy(r.error, "/x: No such file or directory");
	assert_int_equal(count(&in, FINDING_PRIVILEGE), 0);
}

/* All resources use the kubelet's one folder, so there is one finding for all of them. */
static void test_a_kubelet_that_does_not_watch_the_registry(void **state)
{
	struct resource_info resources[2] = {
		{.name = "a/b", .n_devices = 1, .registration = REGISTRATION_DONE},
		{.name = "a/c", .n_devices = 1, .registration = REGISTRATION_DONE},
	};
	struct resource_device devices[2] = {0};
	struct resource_table table = {.generation = 1,
				       .resources = resources,
				       .n_resources = 2,
				       .devices = devices,
				       .n_devices = 2,
				       .held = {.source = POD_SOURCE_API}};
	const struct host none = {0};
	const struct doctor_input in = {.host = &none, .resources = &table};
	struct doctor d;

	(void)state;
	assert_int_equal(count(&in, FINDING_KUBELET), 0);
	resources[0].left_registry = resources[1].left_registry = true;
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.findings[0].kind, FINDING_KUBELET);
	assert_string_equal(d.findings[0].object, "");
	assert_non_null(strstr(d.findings[0].what, "registered in device-plugins"));
	doctor_done(&d);
}

/* Without /dev/infiniband every device lacks all nodes: one fault, one finding. */
static void test_a_missing_folder_of_nodes_is_one_finding(void **state)
{
	struct resource_info r = {.name = "a/b", .registration = REGISTRATION_DONE, .n_devices = 2};
	struct resource_device devices[] = {
		{.id = "0000:03:00.0", .reasons = HEALTH_BIT(HEALTH_NO_CHARDEV)},
		{.id = "0000:04:00.0", .reasons = HEALTH_BIT(HEALTH_NO_CHARDEV)}};
	struct resource_table table = {.generation = 1,
				       .resources = &r,
				       .n_resources = 1,
				       .devices = devices,
				       .n_devices = 2,
				       .held = {.source = POD_SOURCE_API}};
	struct host h = {.rdma_cm = RDMA_CM_NO_NODE};
	const struct doctor_input in = {.host = &h, .resources = &table};
	struct doctor d;

	(void)state;
	for (size_t n = 1; n <= 2; n++) {
		struct rdma_dev *rd = build_rdma(&h, n == 1 ? "mlx5_0" : "mlx5_1",
						 devices[n - 1].id);

		rd->no_uverbs_node = rd->no_umad_node = true;
		r.n_devices = table.n_devices = n;
		assert_int_equal(doctor_build(&d, &in), 0);
		assert_int_equal(d.n, 1);
		assert_int_equal(d.findings[0].kind, FINDING_CHARDEV);
		assert_string_equal(d.findings[0].object, "");
		assert_string_equal(
			d.findings[0].what,
			n == 1 ? "none of the kernel's 3 RDMA device nodes is in /dev/infiniband"
			       : "none of the kernel's 5 RDMA device nodes is in /dev/infiniband");
		doctor_done(&d);
	}
	/* The module is a fault of its own. */
	h.rdma_cm = RDMA_CM_NO_MODULE;
	assert_int_equal(count(&in, FINDING_CHARDEV), 2);
	/* With one node the folder is there, so each missing node is named. */
	h.rdma_cm = RDMA_CM_THERE;
	assert_int_equal(count(&in, FINDING_CHARDEV), 4);
	assert_int_equal(count(&in, FINDING_UNHEALTHY), 2);
	h.rdma_cm = RDMA_CM_NO_NODE;
	h.rdma[1].no_umad_node = false;
	assert_int_equal(count(&in, FINDING_CHARDEV), 4);
	assert_int_equal(count(&in, FINDING_UNHEALTHY), 2);
	host_done(&h);
}

static size_t n_of_kind(const struct doctor *d, enum finding_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->findings[i].kind == kind;
	return n;
}

/* One kubelet that does not run, and one folder that cannot be written, are one finding each. */
static void test_the_same_error_of_all_resources_is_one_finding(void **state)
{
	struct resource_info list[] = {{.name = "a/b",
					.error = "kubelet.sock: No such file",
					.files_error = "/run/cdi: read-only"},
				       {.name = "a/c",
					.error = "kubelet.sock: No such file",
					.files_error = "/run/cdi: read-only"},
				       {.name = "a/d",
					.error = "kubelet.sock: No such file",
					.files_error = "/run/cdi: read-only"}};
	struct resource_table table = {.generation = 1,
				       .resources = list,
				       .n_resources = 3,
				       .held = {.source = POD_SOURCE_API}};
	const struct host none = {0};
	const struct doctor_input in = {.host = &none, .resources = &table};
	struct doctor d;

	(void)state;
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(n_of_kind(&d, FINDING_KUBELET), 2);
	for (size_t i = 0; i < d.n; i++)
		if (d.findings[i].kind == FINDING_KUBELET)
			assert_string_equal(d.findings[i].object, "a/b and 2 others");
	doctor_done(&d);
	/* Another error, or another state with the same error, is a finding of its own. */
	strcpy(list[1].error, "the name is in use");
	list[2].registration = REGISTRATION_REFUSED;
	list[0].files_error[0] = list[1].files_error[0] = list[2].files_error[0] = '\0';
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(n_of_kind(&d, FINDING_KUBELET), 3);
	for (size_t i = 0; i < d.n; i++)
		assert_null(strstr(d.findings[i].object, "others"));
	doctor_done(&d);
}

/* A repair cannot bring the device back into its pod. */
static void test_a_device_missing_in_its_pod_is_not_fixable(void **state)
{
	struct patient p;
	struct doctor d;

	(void)state;
	patient_init(&p);
	p.attachments.status[0].drift = ATTACH_DRIFT_NAME;
	snprintf(p.attachments.status[0].error, sizeof(p.attachments.status[0].error),
		 "it is not in the pod any more");
	assert_int_equal(doctor_build(&d, &p.in), 0);
	for (size_t i = 0; i < d.n; i++) {
		if (d.findings[i].kind != FINDING_DRIFT)
			continue;
		assert_string_equal(d.findings[i].what, "it is not in the pod any more");
		assert_false(d.findings[i].fixable);
	}
	doctor_done(&d);
	assert_int_equal(count(&p.in, FINDING_DRIFT), 1);
	patient_done(&p);
}

static void test_drift_that_no_repair_can_set_is_not_fixable(void **state)
{
	static const unsigned drifts[] = {VF_NODE_GUID | VF_PORT_GUID, ATTACH_DRIFT_RDMA,
					  VF_PORT_GUID | ATTACH_DRIFT_RDMA};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(drifts); k++) {
		struct patient p;
		struct doctor d;

		patient_init(&p);
		p.attachments.status[0].drift = drifts[k];
		assert_int_equal(doctor_build(&d, &p.in), 0);
		for (size_t i = 0; i < d.n; i++)
			assert_false(d.findings[i].kind == FINDING_DRIFT && d.findings[i].fixable);
		doctor_done(&d);
		assert_int_equal(count(&p.in, FINDING_DRIFT), 1);
		patient_done(&p);
	}
}

static void test_a_rejected_file(void **state)
{
	static const struct {
		struct config_state config;
		const char *what, *help;
	} cases[] = {
		{{.held = false}, "file is rejected: line 3", "previous configuration stays"},
		{{.offers_nothing = true}, "file is rejected: line 3", "Nothing is offered"},
		{{.last_good_of = "2026-11-30T10:00:00.000Z"},
		 "running with the last good configuration of 2026-11-30T10:00:00.000Z, because line 3",
		 "as before the restart"},
		{{.held = true}, "file is held: line 3", "until no pod"},
	};
	struct host none = {0};
	struct doctor d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config_state config = cases[i].config;
		const struct doctor_input in = {.host = &none, .config = &config};

		err_set(&config.error, -EINVAL, "line 3: pools");
		assert_int_equal(doctor_build(&d, &in), 0);
		assert_int_equal(d.n, 1);
		assert_non_null(strstr(d.findings[0].what, cases[i].what));
		assert_non_null(strstr(d.findings[0].help, cases[i].help));
		doctor_done(&d);
	}
}

static void test_missing_parts_of_a_valid_configuration(void **state)
{
	struct missing_plugin lack = {"rocelet.dev/roce",
				      "no IPAM plugin \"x\" in /bin (--cni-path)"};
	struct pool_idle idle = {"rocelet.dev/roce",
				 "c.json:3: \"umad\": has no effect with \"softRoce\": true"};
	const struct config_state config = {
		.lacks = &lack, .n_lacks = 1, .idle = {&idle, 1}, .beside = "/etc has a, and no b"};
	struct host none = {0};
	const struct doctor_input in = {.host = &none, .config = &config};
	struct doctor d;

	(void)state;
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(d.n, 3);
	assert_int_equal(d.findings[0].kind, FINDING_CONFIG);
	assert_string_equal(d.findings[0].object, "rocelet.dev/roce");
	assert_string_equal(d.findings[0].what, lack.what);
	assert_int_equal(d.findings[1].kind, FINDING_CONFIG);
	assert_string_equal(d.findings[1].object, "rocelet.dev/roce");
	assert_string_equal(d.findings[1].what, idle.what);
	assert_string_equal(d.findings[2].object, "");
	assert_string_equal(d.findings[2].what, config.beside);
	doctor_done(&d);
}

static void test_every_kind_and_reason_has_a_text(void **state)
{
	struct resource_device device = {.id = "0000:03:00.2"};
	struct resource_info info = {
		.name = "a/b", .n_devices = 1, .registration = REGISTRATION_DONE};
	struct resource_table t = {.resources = &info,
				   .n_resources = 1,
				   .devices = &device,
				   .n_devices = 1,
				   .held = {.source = POD_SOURCE_API}};
	struct host none = {0};
	struct doctor d;

	(void)state;
	for (enum finding_kind k = 0; k < N_FINDING_KINDS; k++)
		assert_non_null(finding_kind_name(k));
	for (enum health_reason r = 0; r < N_HEALTH_REASONS; r++) {
		device.reasons = HEALTH_BIT(r);
		assert_int_equal(
			doctor_build(&d, &(struct doctor_input){.host = &none, .resources = &t}),
			0);
		assert_int_equal(d.n, 1);
		assert_true(strlen(d.findings[0].help) > 10);
		doctor_done(&d);
	}
}

static void assert_what(const struct doctor_input *in, enum finding_kind kind, const char *what)
{
	struct doctor d;

	assert_int_equal(doctor_build(&d, in), 0);
	for (size_t i = 0; i < d.n; i++)
		if (d.findings[i].kind == kind)
			assert_string_equal(d.findings[i].what, what);
	doctor_done(&d);
}

/* Another plugin, too, has given the function to a pod; slots of the same number are no conflict.
 */
static void test_a_function_that_two_plugins_have_given_away(void **state)
{
	struct function fn = {.id = "0000:03:00.2"};
	struct host host = {.functions = &fn, .n_functions = 1};
	struct resource_device device = {.id = "0000:03:00.2"};
	struct resource_info info = {
		.name = "a/b", .n_devices = 1, .registration = REGISTRATION_DONE};
	struct pod_device held[] = {
		{"ns", "ours", "c", "", "a/b", "0", 0, 0, false},
		{"ns", "ours", "c", "", "a/b", "0000:03:00.2", 0, 0, false},
		{"ns", "theirs", "c", "", "c/d", "0", 0, 0, false},
		{"ns", "theirs", "c", "", "c/d", "0000:03:00.2", 0, 0, false},
	};
	struct resource_table t = {.resources = &info,
				   .n_resources = 1,
				   .devices = &device,
				   .n_devices = 1,
				   .held = {.devices = held, .n = 4, .source = POD_SOURCE_API}};
	struct doctor d;

	(void)state;
	assert_int_equal(doctor_build(&d, &(struct doctor_input){.host = &host, .resources = &t}),
			 0);
	assert_int_equal(d.n, 1);
	assert_string_equal(d.findings[0].object, "0000:03:00.2");
	assert_string_equal(d.findings[0].what,
			    "allocated twice: to pod ns/ours as a/b, and to pod ns/theirs as c/d");
	doctor_done(&d);
}

/* A pulled cable is one finding, with all devices and pods on the port. */
static void test_a_pulled_cable(void **state)
{
	struct host h = {0};
	struct resource_table t;
	struct doctor_input in = {.host = &h, .resources = &t};
	struct doctor d;

	(void)state;
	resource_table_small(&t);
	t.n_resources = 1;
	for (size_t i = 0; i < 3; i++) {
		t.devices[i].reasons = HEALTH_BIT(HEALTH_LINK_DOWN) | HEALTH_BIT(HEALTH_PORT_DOWN);
		t.devices[i].unhealthy_unix_ms = 0;
		t.devices[i].or_earlier = false;
	}
	build_function(&h, FN_PF, "0000:03:00.0", "", -1);
	build_function(&h, FN_VF, "0000:03:00.2", "0000:03:00.0", 0);
	build_function(&h, FN_VF, "0000:03:00.3", "0000:03:00.0", 1);
	build_function(&h, FN_VF, "0000:03:00.4", "0000:03:00.0", 2);
	build_netdev(&h, "ens1np0", "0000:03:00.0")->carrier = CARRIER_OFF;
	assert_int_equal(count(&in, FINDING_UNHEALTHY), 1);
	assert_int_equal(doctor_build(&d, &in), 0);
	for (size_t i = 0; i < d.n; i++)
		if (d.findings[i].kind == FINDING_UNHEALTHY) {
			assert_string_equal(d.findings[i].object, "0000:03:00.0");
			assert_string_equal(
				d.findings[i].what,
				"port ens1np0 is down: 3 devices of rocelet.dev/roce not "
				"offered to new containers; pods: train/job-7");
		}
	doctor_done(&d);
	/* The second device was unhealthy before the port went down. */
	for (size_t i = 0; i < 3; i++)
		t.devices[i].unhealthy_unix_ms = 1767323045000 - (i == 1 ? 60000 : 0);
	assert_what(&in, FINDING_UNHEALTHY,
		    "port ens1np0 is down: 3 devices of rocelet.dev/roce not offered to new "
		    "containers, the last one since 2026-01-02T03:04:05Z; pods: train/job-7");
	t.devices[1].unhealthy_unix_ms = 1767323045000;
	t.devices[0].or_earlier = t.devices[1].or_earlier = t.devices[2].or_earlier = true;
	assert_what(&in, FINDING_UNHEALTHY,
		    "port ens1np0 is down: 3 devices of rocelet.dev/roce not offered to new "
		    "containers since 2026-01-02T03:04:05Z or earlier; pods: train/job-7");
	/* A device with another reason as well is a separate finding. */
	t.devices[1].reasons |= HEALTH_BIT(HEALTH_NO_CHARDEV);
	assert_int_equal(count(&in, FINDING_UNHEALTHY), 2);
	/* The PF's link is up, so each VF has a cause of its own. */
	h.netdevs[0].carrier = CARRIER_ON;
	assert_int_equal(count(&in, FINDING_UNHEALTHY), 3);
	resource_table_done(&t);
	host_done(&h);
}

/* Failed checks are listed, because then "no findings" proves nothing. */
static void test_unchecked(void **state)
{
	struct host h = {0};
	struct doctor_input in = {.host = &h};
	struct doctor d;

	(void)state;
	assert_int_equal(doctor_build(&d, &in), 0);
	assert_int_equal(d.n_unchecked, 3);
	assert_string_equal(d.unchecked[0], "resources: not decided yet");
	doctor_done(&d);
}

TEST_GROUP(doctor)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_function_that_two_plugins_have_given_away),
		cmocka_unit_test(test_a_pulled_cable),
		cmocka_unit_test(test_unchecked),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_a_healthy_node),
		cmocka_unit_test(test_quick_operations_are_no_finding),
		cmocka_unit_test(test_without_allocations_there_are_no_orphans),
		cmocka_unit_test(test_a_free_attachment_does_not_explain_an_orphan),
		cmocka_unit_test(test_a_hidden_host_is_a_finding),
		cmocka_unit_test(test_a_runtime_with_a_wrong_list),
		cmocka_unit_test(test_an_unknown_list_of_allocations),
		cmocka_unit_test(test_registered_and_no_list_of_allocations),
		cmocka_unit_test(test_the_security_module_is_named),
		cmocka_unit_test(test_a_kubelet_that_does_not_watch_the_registry),
		cmocka_unit_test(test_a_missing_folder_of_nodes_is_one_finding),
		cmocka_unit_test(test_the_same_error_of_all_resources_is_one_finding),
		cmocka_unit_test(test_a_device_missing_in_its_pod_is_not_fixable),
		cmocka_unit_test(test_drift_that_no_repair_can_set_is_not_fixable),
		cmocka_unit_test(test_a_rejected_file),
		cmocka_unit_test(test_missing_parts_of_a_valid_configuration),
		cmocka_unit_test(test_every_kind_and_reason_has_a_text),
	};

	return test_group_run(tests, NULL, NULL);
}
