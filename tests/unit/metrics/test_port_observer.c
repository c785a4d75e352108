// SPDX-License-Identifier: Apache-2.0
/* The observation for diagnosis, from a host, a sample and allocations made by the test. */
#include "port_observer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <net/if.h>

#include "cleanup.h"
#include "host_builder.h"
#include "resource_tables.h"
#include "test_group.h"

#define PF_ID "0000:03:00.0"
#define VF_ID "0000:03:00.2"

static const struct family bytes = {"roce_bytes_total", "", METRIC_COUNTER};
static const struct family paused = {"roce_pfc_pause_seconds_total", "", METRIC_COUNTER};
static const struct family stalled = {"roce_pcie_stalled_ratio", "", METRIC_GAUGE};
static const struct family active = {"roce_resource_active", "", METRIC_GAUGE};
static const struct family other = {"roce_hw_counters_total", "", METRIC_COUNTER};

static struct sampled_port sampled[] = {
	{.device = "mlx5_0", .port = 0},
	{.device = "mlx5_0", .port = 1, .bytes_source = "ethtool"},
	{.device = "mlx5_1", .port = 1, .bytes_source = "sysfs"},
	{.device = "gone", .port = 1},
};

static const struct reading laid_out[] = {
	{&bytes, 1, UNIT_WORDS, READING_OK, 25, "direction=\"received\""},
	{&bytes, 1, UNIT_BITS, READING_OK, 80, "direction=\"sent\""},
	{&bytes, 2, UNIT_ONE, READING_OK, 7, "direction=\"received\""},
	{&bytes, 3, UNIT_ONE, READING_OK, 9, "direction=\"received\""},
	{&other, 1, UNIT_ONE, READING_OK, 1, "name=\"x\""},
	{&stalled, 1, UNIT_PERCENT, READING_OK, 38, "op=\"read\""},
	{&paused, 1, UNIT_MICROSECONDS, READING_OK, 1500000, "direction=\"sent\",priority=\"3\""},
	{&active, 0, UNIT_ONE, READING_OK, 12, "kind=\"qp\""},
};

struct fixture {
	struct host host;
	struct reading readings[ARRAY_SIZE(laid_out)];
	struct sample sample;
	struct pod_device held;
	struct resource_table table;
	struct observer_inputs inputs;
	struct port_observer *observer;
	struct observation o;
};

static bool step(const void *readings, struct reading_pos *pos, struct reading *ret)
{
	while (pos->at < ARRAY_SIZE(laid_out)) {
		*ret = ((const struct reading *)readings)[pos->at++];
		if (!pos->one_port || ret->port == pos->port)
			return true;
	}
	return false;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct netdev *nd;

	assert_non_null(f);
	build_function(&f->host, FN_PF, PF_ID, "", -1);
	strcpy(build_function(&f->host, FN_VF, VF_ID, PF_ID, 0)->devlink_error, "fw_fatal");
	nd = build_netdev(&f->host, "ens1", PF_ID);
	nd->default_route = true;
	nd->flags = IFF_UP;
	nd = build_netdev(&f->host, "ens1v0", VF_ID);
	nd->carrier = CARRIER_OFF;
	nd->carrier_changes = 2;
	build_rdma(&f->host, "mlx5_0", PF_ID)->ports[0].active_mtu = 4096;
	build_rdma(&f->host, "mlx5_1", VF_ID)->ports[0].state = PORT_DOWN;
	memcpy(f->readings, laid_out, sizeof(laid_out));
	f->sample = (struct sample){.ports = sampled,
				    .n_ports = ARRAY_SIZE(sampled),
				    .next = step,
				    .readings = f->readings,
				    .n_readings = ARRAY_SIZE(laid_out),
				    .layout = 1,
				    .taken_ms = 5000};
	f->sample.sources[SOURCE_SYSFS] = (struct source_state){true, 3, 4000};
	f->held = (struct pod_device){.namespace = "train",
				      .pod = "job-7",
				      .container = "main",
				      .uid = "",
				      .resource = "rocelet.dev/roce",
				      .id = VF_ID};
	f->table = (struct resource_table){.generation = 1, .held = {.devices = &f->held, .n = 1}};
	f->inputs = (struct observer_inputs){
		.host = &f->host, .host_generation = 1, .resources = &f->table, .unix_ms = 1000000};
	f->observer = port_observer_new();
	assert_non_null(f->observer);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	port_observer_free(f->observer);
	host_done(&f->host);
	free(f);
	return 0;
}

static const struct port_observation *observe_port(struct fixture *f, size_t port)
{
	assert_int_equal(port_observer_observe(f->observer, &f->sample, &f->inputs, &f->o), 0);
	assert_true(port < f->o.n_ports);
	return &f->o.ports[port];
}

static void assert_value(const struct port_observation *o, enum series s, double wanted)
{
	assert_float_equal(o->value[s], wanted, 1e-9);
}

/* A second card of the same chip that has no driver. */
static void test_a_card_without_a_driver(void **state)
{
	struct fixture *f = *state;
	struct function *dead = build_function(&f->host, FN_PF, "0000:81:00.0", "", -1);
	const struct port_observation *o;

	dead->driver[0] = '\0';
	observe_port(f, 0);
	assert_int_equal(f->o.n_ports, 2); /* the chip is not known to be an RDMA NIC */
	f->host.functions[0].vendor = dead->vendor = 0x15b3;
	f->host.functions[0].device = dead->device = 0x1021;
	f->inputs.host_generation++;
	o = observe_port(f, 2);
	assert_string_equal(o->device, "0000:81:00.0");
	assert_true(o->health.driverless && o->visible);
	assert_false(f->o.ports[0].health.driverless);
	strcpy(dead->driver, "vfio-pci");
	f->inputs.host_generation++;
	observe_port(f, 0);
	assert_int_equal(f->o.n_ports, 2);
	dead->driver[0] = '\0';
	dead->device = 0x101e;
	f->inputs.host_generation++;
	observe_port(f, 0);
	assert_int_equal(f->o.n_ports, 2);
}

/* The only card loses its RDMA device, then disappears from the bus, and returns. */
static void test_the_only_card_is_lost(void **state)
{
	struct fixture *f = *state;
	const struct port_observation *o;
	size_t n_rdma = f->host.n_rdma, n_functions = f->host.n_functions;

	observe_port(f, 0);
	f->host.functions[0].vendor = 0x15b3;
	strcpy(f->host.functions[0].driver, "");
	f->host.n_rdma = 0;
	f->inputs.host_generation++;
	o = observe_port(f, 0);
	assert_int_equal(f->o.n_ports, 1); /* the VF's port is not kept */
	assert_string_equal(o->device, f->host.functions[0].id);
	assert_true(o->health.driverless && !o->health.unreachable);
	f->host.n_functions = 0;
	f->inputs.host_generation++;
	o = observe_port(f, 0);
	assert_int_equal(f->o.n_ports, 1);
	assert_true(o->health.driverless && o->health.unreachable);
	f->inputs.host_generation++;
	assert_true(observe_port(f, 0)->health.unreachable);
	f->host.n_functions = n_functions;
	f->host.n_rdma = n_rdma;
	f->inputs.host_generation++;
	assert_false(observe_port(f, 0)->health.driverless);
	assert_int_equal(f->o.n_ports, 2);
}

/* A scan while the device was being deleted found it without driver and netdev, as a function of
 * its own. It does not count as a lost card. */
static void test_a_deleted_soft_device_is_not_a_lost_card(void **state)
{
	struct fixture *f = *state;
	struct rdma_dev *soft = build_rdma(&f->host, "rxe_storm", "rxe_storm");

	soft->driver[0] = '\0';
	observe_port(f, 0);
	assert_int_equal(f->o.n_ports, 3);
	f->host.n_rdma--;
	f->inputs.host_generation++;
	observe_port(f, 0);
	assert_int_equal(f->o.n_ports, 2);
	f->host.n_rdma++;
}

static void test_character_devices(void **state)
{
	struct fixture *f = *state;

	strcpy(f->host.rdma[0].uverbs, "uverbs0");
	strcpy(f->host.rdma[1].uverbs, "uverbs1");
	/* a kernel may be built without umad and issm */
	assert_false(observe_port(f, 0)->health.no_uverbs);
	assert_false(observe_port(f, 0)->health.no_umad);
	f->host.rdma[0].no_uverbs_node = true;
	f->host.rdma[1].no_umad_node = true;
	f->inputs.host_generation++;
	assert_true(observe_port(f, 0)->health.no_uverbs);
	assert_false(observe_port(f, 1)->health.no_uverbs);
	assert_true(observe_port(f, 1)->health.no_umad);
	f->host.rdma[0].no_uverbs_node = false;
	f->host.rdma[0].uverbs[0] = '\0';
	f->inputs.host_generation++;
	assert_true(observe_port(f, 0)->health.no_uverbs);
	f->host.rdma[1].uverbs[0] = '\0';
	f->inputs.host_generation++;
	assert_false(
		observe_port(f, 0)->health.no_uverbs); /* uverbs may be missing for all devices */
}

/* In a container with its own /dev (the overlay observe) there are no nodes at all. */
static void test_invisible_device_nodes(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < 2; i++) {
		strcpy(f->host.rdma[i].uverbs, "uverbs0");
		strcpy(f->host.rdma[i].umad, "umad0");
		f->host.rdma[i].no_uverbs_node = f->host.rdma[i].no_umad_node = true;
	}
	f->host.rdma_cm = RDMA_CM_NO_NODE;
	assert_false(observe_port(f, 0)->health.no_uverbs);
	assert_false(observe_port(f, 1)->health.no_umad);
	f->host.rdma_cm = RDMA_CM_THERE;
	f->inputs.host_generation++;
	assert_true(observe_port(f, 0)->health.no_uverbs);
	assert_true(observe_port(f, 1)->health.no_umad);
	f->host.rdma_cm = RDMA_CM_NO_NODE;
	f->host.rdma[1].no_uverbs_node = false;
	f->inputs.host_generation++;
	assert_true(observe_port(f, 0)->health.no_uverbs);
}

/* The VF's port is down throughout; the PF's port shows the state of the link. */
static void test_a_pod_that_ends_is_no_flap(void **state)
{
	struct fixture *f = *state;

	f->host.netdevs[0].carrier = CARRIER_OFF;
	f->host.netdevs[1].flags = IFF_UP;
	assert_false(observe_port(f, 1)->admin_down);
	f->host.netdevs[0].carrier = CARRIER_UNKNOWN;
	f->inputs.host_generation++;
	assert_false(observe_port(f, 1)->admin_down);
	f->host.netdevs[0].carrier = CARRIER_ON;
	f->inputs.host_generation++;
	assert_true(observe_port(f, 1)->admin_down);
	assert_true(observe_port(f, 1)->visible);
	assert_false(observe_port(f, 1)->link_disabled);
	find_function(&f->host, VF_ID)->vf_link = VF_LINK_DISABLE;
	f->inputs.host_generation++;
	assert_true(observe_port(f, 1)->link_disabled && f->o.ports[1].admin_down);
	f->host.rdma[1].ports[0].state = PORT_ACTIVE;
	f->inputs.host_generation++;
	assert_false(observe_port(f, 1)->admin_down);
}

/* The namespace of its netdev has ended, the rxe device has not yet. */
static void test_soft_roce_without_its_netdev(void **state)
{
	struct fixture *f = *state;
	struct rdma_dev *rxe = &f->host.rdma[1];

	strcpy(rxe->driver, "rxe");
	assert_true(observe_port(f, 1)->visible);
	rxe->function[0] = '\0';
	rxe->ports[0].netdev_ifindex = 0;
	f->inputs.host_generation++;
	assert_false(observe_port(f, 1)->visible);
	rxe->ports[0].state = PORT_ACTIVE;
	f->inputs.host_generation++;
	assert_true(observe_port(f, 1)->visible);
}

/* Settings are read from the table only when their generation has changed. */
static void test_settings(void **state)
{
	struct settings_row rows[] = {{.device = "mlx5_0", .port = 1, .settings.pfc = 8},
				      {.device = "mlx5_9", .port = 1}};
	const struct settings_table table = {rows, ARRAY_SIZE(rows)};
	struct fixture *f = *state;

	assert_null(observe_port(f, 0)->settings);
	f->inputs.settings = &table;
	f->inputs.settings_generation = 1;
	assert_ptr_equal(observe_port(f, 0)->settings, &rows[0].settings);
	assert_null(observe_port(f, 1)->settings);
	strcpy(rows[1].device, "mlx5_1");
	assert_null(observe_port(f, 1)->settings);
	f->inputs.settings_generation = 2;
	assert_ptr_equal(observe_port(f, 1)->settings, &rows[1].settings);
	f->inputs.settings = NULL;
	f->inputs.settings_generation = 3;
	assert_null(observe_port(f, 0)->settings);
}

static void test_readings_in_base_units(void **state)
{
	struct fixture *f = *state;
	const struct port_observation *o = observe_port(f, 0);
	unsigned n = 0;

	assert_int_equal(f->o.n_ports, 2);
	assert_int_equal(f->o.now_ms, 5000);
	assert_int_equal(f->o.unix_ms, 1000000);
	assert_int_equal(f->o.sources[SOURCE_SYSFS].read_ms, 4000);
	assert_value(o, SERIES_BYTES_RECEIVED, 100);
	assert_value(o, SERIES_BYTES_SENT, 10);
	assert_value(o, SERIES_PCIE_STALLED_READ, 0.38);
	assert_value(o, SERIES_PAUSE_SENT + 3, 1.5);
	assert_value(o, SERIES_QPS, 12); /* of the whole device */
	for (int s = 0; s < N_SERIES; s++)
		n += !isnan(o->value[s]);
	assert_int_equal(n, 5);
	assert_string_equal(o->bytes_source, "ethtool");
	assert_value(observe_port(f, 1), SERIES_BYTES_RECEIVED, 7);
	assert_string_equal(f->o.ports[1].bytes_source, "sysfs");
}

/* An unreadable counter is unknown; its last value is not used. */
static void test_absent_is_unknown(void **state)
{
	struct fixture *f = *state;

	observe_port(f, 0);
	f->readings[0].value = 26;
	f->readings[1].state = READING_ABSENT;
	assert_value(observe_port(f, 0), SERIES_BYTES_RECEIVED, 104);
	assert_true(isnan(f->o.ports[0].value[SERIES_BYTES_SENT]));
}

static unsigned mtu_seen(struct fixture *f, const char *driver, uint32_t netdev_mtu)
{
	f->host.netdevs[0].mtu = netdev_mtu;
	snprintf(f->host.rdma[0].driver, sizeof(f->host.rdma[0].driver), "%s", driver);
	f->inputs.host_generation++;
	return observe_port(f, 0)->mtu;
}

/* In a container verbs cannot report the RDMA MTU, so it is derived from the netdev's MTU where
 * that is conclusive. */
static void test_the_mtu_follows_from_the_netdevs(void **state)
{
	struct fixture *f = *state;
	struct rdma_port *port = &f->host.rdma[0].ports[0];

	assert_int_equal(mtu_seen(f, "mlx5_core", 1500), 4096); /* as verbs report it */
	port->active_mtu = 0;
	assert_int_equal(mtu_seen(f, "mlx5_core", 9000), 4096);
	assert_int_equal(mtu_seen(f, "mlx5_core", 4192), 4096);
	assert_int_equal(mtu_seen(f, "mlx5_core", 4191), 2048);
	assert_int_equal(mtu_seen(f, "mlx5_core", 1500), 1024);
	assert_int_equal(mtu_seen(f, "mlx5_core", 351), 0);
	assert_int_equal(mtu_seen(f, "mlx5_core", 0), 0);
	assert_int_equal(mtu_seen(f, "irdma", 9000), 4096);
	assert_int_equal(mtu_seen(f, "irdma", 4096), 0); /* 4096 leaves no room for headers */
	port->link_layer = LINK_INFINIBAND;
	assert_int_equal(mtu_seen(f, "mlx5_core", 9000), 0);
}

static void test_properties_from_the_host(void **state)
{
	struct fixture *f = *state;
	const struct port_observation *pf = observe_port(f, 0), *vf = pf + 1;

	assert_string_equal(pf->device, "mlx5_0");
	assert_string_equal(pf->netdev, "ens1");
	assert_string_equal(pf->function, PF_ID);
	assert_string_equal(pf->parent, "");
	assert_int_equal(pf->mtu, 4096);
	assert_int_equal(pf->state, PORT_ACTIVE);
	assert_true(pf->visible && pf->management);
	assert_false(pf->admin_down || pf->was_active);
	assert_string_equal(vf->function, VF_ID);
	assert_string_equal(vf->parent, PF_ID);
	assert_string_equal(vf->health.devlink_error, "fw_fatal");
	assert_int_equal(vf->state, PORT_DOWN);
	assert_true(vf->admin_down && vf->was_active);
	assert_false(vf->management || vf->health.unreachable);
}

/* The pods that share a device: each once, and none while one pod has it exclusively. */
static void test_sharers(void **state)
{
	struct fixture *f = *state;
	struct resource_table shared;
	struct pod_device again = {
		.namespace = "train", .pod = "reader-0", .resource = "x/y", .id = "mlx5_0-12"};

	resource_table_small(&shared);
	assert_int_equal(pod_list_push(&shared.held, &again), 0);
	again.pod = "reader-1";
	assert_int_equal(pod_list_push(&shared.held, &again), 0);
	again.pod = "other";
	again.id = "mlx5_0-x";
	assert_int_equal(pod_list_push(&shared.held, &again), 0);
	strcpy(shared.members[3], "0000:03:00.0");
	f->inputs.resources = &shared;
	shared.generation = 1000;
	assert_int_equal(observe_port(f, 0)->n_pods, 2);
	assert_string_equal(f->o.ports[0].pods[0].name, "reader-0");
	assert_string_equal(f->o.ports[0].pods[1].name, "reader-1");
	assert_false(f->o.ports[0].pods[0].ended);
	again.pod = "whole";
	again.id = "mlx5_0";
	assert_int_equal(pod_list_push(&shared.held, &again), 0);
	shared.generation++;
	assert_int_equal(observe_port(f, 0)->n_pods, 1);
	assert_string_equal(f->o.ports[0].pods[0].name, "whole");
	f->inputs.resources = &f->table;
	resource_table_done(&shared);
}

static void test_the_host_is_followed(void **state)
{
	struct fixture *f = *state;

	observe_port(f, 0);
	find_rdma(&f->host, "mlx5_0")->ports[0].state = PORT_DOWN;
	find_rdma(&f->host, "mlx5_1")->nsid = NSID_ELSEWHERE;
	assert_int_equal(observe_port(f, 0)->state, PORT_ACTIVE); /* the generation is unchanged */
	f->inputs.host_generation++;
	assert_int_equal(observe_port(f, 0)->state, PORT_DOWN);
	assert_false(f->o.ports[1].visible);
	assert_value(f->o.ports, SERIES_BYTES_RECEIVED, 100);
}

static void test_holders(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(observe_port(f, 0)->n_pods, 0);
	assert_int_equal(f->o.ports[1].n_pods, 1);
	assert_string_equal(f->o.ports[1].pods[0].namespace, "train");
	assert_string_equal(f->o.ports[1].pods[0].name, "job-7");
	assert_false(f->o.ports[1].pods[0].ended);

	f->table.held.n = 0;
	f->table.generation++;
	f->sample.taken_ms += 1000;
	assert_true(observe_port(f, 1)->n_pods == 1 && f->o.ports[1].pods[0].ended);
	f->inputs.host_generation++; /* another change does not restart its age */
	f->sample.taken_ms += 59000;
	assert_int_equal(observe_port(f, 1)->n_pods, 1);
	f->sample.taken_ms += 1000;
	assert_int_equal(observe_port(f, 1)->n_pods, 0);

	f->table.held.n = 1;
	f->table.generation++;
	assert_true(observe_port(f, 1)->n_pods == 1 && !f->o.ports[1].pods[0].ended);
	f->inputs.resources = NULL;
	assert_true(observe_port(f, 1)->n_pods == 1 && f->o.ports[1].pods[0].ended);
}

/* Created in the pod, on the pod's VF; it still counts as a device of the node. */
static void test_soft_roce_in_a_pod(void **state)
{
	struct fixture *f = *state;
	struct netdev *nd = find_netdev(&f->host, "ens1v0");
	struct rdma_dev *dev = find_rdma(&f->host, "mlx5_1");
	const struct port_observation *o;

	nd->nsid = 3;
	strcpy(nd->name, "net1");
	strcpy(dev->driver, "rxe");
	dev->ports[0].netdev_nsid = 3;
	dev->ports[0].netdev_ifindex = nd->ifindex;
	o = observe_port(f, 1);
	assert_true(o->visible);
	assert_string_equal(o->netdev, "net1");
	assert_int_equal(o->n_pods, 1);
	assert_string_equal(o->pods[0].name, "job-7");
}

static void test_queue_pairs(void **state)
{
	struct qp_port items[] = {{"mlx5_0", 2, {.known = true, .count = 9}},
				  {"mlx5_0", 1, {.known = true, .count = 7}}};
	const struct qp_ports qps = {.items = items, .n = 2};
	struct fixture *f = *state;

	assert_false(observe_port(f, 0)->qps.known);
	f->inputs.qps = &qps;
	assert_int_equal(observe_port(f, 0)->qps.count, 7);
	assert_false(f->o.ports[1].qps.known);
	f->inputs.qps = NULL;
	assert_false(observe_port(f, 0)->qps.known);
}

/* The device's own counter takes precedence, even while unreadable: the two counters are unrelated,
 * so a rate between them is meaningless. */
static void test_the_devices_counters_override_packets(void **state)
{
	struct roce_counts counts[1][N_ROCE_DIRECTIONS] = {{{.bytes = 77, .cnp = 8}}};
	struct packet_port watched = {.device_port = 1, .hook = PACKET_HOOK_TCX};
	const struct packet_sample packets = {.ports = &watched, .counts = counts, .n_ports = 1};
	struct fixture *f = *state;

	strcpy(watched.device, "mlx5_1");
	strcpy(find_rdma(&f->host, "mlx5_1")->driver, "rxe");
	f->inputs.packets = &packets;
	assert_value(observe_port(f, 1), SERIES_CNP_RECEIVED, 8);
	assert_value(&f->o.ports[1], SERIES_BYTES_RECEIVED, 7);
	assert_string_equal(f->o.ports[1].bytes_source, "sysfs");
	f->readings[2].state = READING_ABSENT;
	assert_true(isnan(observe_port(f, 1)->value[SERIES_BYTES_RECEIVED]));
	f->inputs.packets = NULL;
	assert_true(isnan(observe_port(f, 1)->value[SERIES_CNP_RECEIVED]));
}

/* rxe counts a link-down when its netdev moves to a pod. */
static void test_moves_of_soft_roce(void **state)
{
	static const struct family fell = {"roce_phy_link_down_total", "", METRIC_COUNTER};
	struct fixture *f = *state;

	f->readings[4] = (struct reading){&fell, 1, UNIT_ONE, READING_OK, 1, ""};
	assert_value(observe_port(f, 0), SERIES_LINK_DOWN, 1);
	strcpy(f->host.rdma[0].driver, "rxe");
	f->inputs.host_generation++;
	assert_true(isnan(observe_port(f, 0)->value[SERIES_LINK_DOWN]));
}

static void test_another_layout(void **state)
{
	struct fixture *f = *state;

	observe_port(f, 0);
	f->readings[0].family = &other;
	f->sample.layout++;
	assert_true(isnan(observe_port(f, 0)->value[SERIES_BYTES_RECEIVED]));
	assert_value(f->o.ports, SERIES_BYTES_SENT, 10);
}

/* A single port that was read again after the sample. */
static void test_one_port(void **state)
{
	struct fixture *f = *state;
	double value[N_SERIES];

	assert_null(port_observer_reread(f->observer, &f->sample, 1, value));
	observe_port(f, 0);
	f->readings[6].value = 2500000;
	f->readings[2].value = 70;
	assert_ptr_equal(port_observer_reread(f->observer, &f->sample, 1, value), f->o.ports);
	assert_float_equal(value[SERIES_PAUSE_SENT + 3], 2.5, 1e-9);
	assert_float_equal(value[SERIES_BYTES_RECEIVED], 100, 1e-9);
	assert_true(isnan(value[SERIES_CE]));
	/* The observation still has the values of the sample. */
	assert_value(f->o.ports, SERIES_PAUSE_SENT + 3, 1.5);
	assert_value(&f->o.ports[1], SERIES_BYTES_RECEIVED, 7);
	/* A whole device, and a port that does not exist on the host. */
	assert_int_equal(sampled[0].port, 0);
	assert_null(port_observer_reread(f->observer, &f->sample, 3, value));
	f->sample.layout++;
	assert_null(port_observer_reread(f->observer, &f->sample, 1, value));
	/* The next observation has the new readings of all ports. */
	assert_value(observe_port(f, 0), SERIES_PAUSE_SENT + 3, 2.5);
	assert_value(&f->o.ports[1], SERIES_BYTES_RECEIVED, 70);
}

static void test_results_of_bursts(void **state)
{
	struct fixture *f = *state;
	struct thresholds limits;
	double value[N_SERIES];

	thresholds_init(&limits);
	f->inputs.bursts = bursts_new(&limits);
	assert_non_null(f->inputs.bursts);
	assert_int_equal(bursts_follow(f->inputs.bursts, &f->sample), 0);
	assert_true(isnan(observe_port(f, 0)->stalled_sent_s));
	bursts_want(f->inputs.bursts, 1, BURST_PAUSED, 5000);
	bursts_admit(f->inputs.bursts, 5000);
	for (uint64_t ms = 5000; ms < 5500; ms += 20) {
		f->readings[6].value += 20000;
		port_observer_reread(f->observer, &f->sample, 1, value);
		bursts_add_reading(f->inputs.bursts, 1, value, 25e9, 4096, 1, ms * 1000000);
	}
	assert_true(observe_port(f, 0)->stalled_sent_s > 0.4);
	assert_true(isnan(f->o.ports[1].stalled_sent_s));
	/* A stall is reported once. */
	assert_true(isnan(observe_port(f, 0)->stalled_sent_s));
	bursts_free(f->inputs.bursts);
}

static void test_an_empty_host(void **state)
{
	struct fixture *f = *state;

	host_done(&f->host);
	f->sample = (struct sample){.taken_ms = 1, .layout = 2};
	f->inputs.resources = NULL;
	assert_int_equal(port_observer_observe(f->observer, &f->sample, &f->inputs, &f->o), 0);
	assert_int_equal(f->o.n_ports, 0);
}

TEST_GROUP(port_observer)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_readings_in_base_units, setup, teardown),
		cmocka_unit_test_setup_teardown(test_settings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_card_without_a_driver, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_only_card_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_deleted_soft_device_is_not_a_lost_card,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_character_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_invisible_device_nodes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_pod_that_ends_is_no_flap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_soft_roce_without_its_netdev, setup, teardown),
		cmocka_unit_test_setup_teardown(test_absent_is_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_properties_from_the_host, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_mtu_follows_from_the_netdevs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_host_is_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_holders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sharers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_soft_roce_in_a_pod, setup, teardown),
		cmocka_unit_test_setup_teardown(test_queue_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_devices_counters_override_packets, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_moves_of_soft_roce, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_results_of_bursts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_empty_host, setup, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
