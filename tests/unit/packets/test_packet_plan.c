// SPDX-License-Identifier: Apache-2.0
/* The plan of watched interfaces, from hosts made by the test. */
#include "packet_plan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "faults.h"
#include "host_builder.h"
#include "test_group.h"

struct world {
	struct host host;
	struct attach_record records[2];
	struct attach_status status[2];
	struct attach_list pods;
	struct options options;
	struct packet_plan plan;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	options_defaults(&w->options);
	w->pods.items = w->status;
	for (size_t i = 0; i < 2; i++)
		w->status[i].record = &w->records[i];
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	packet_plan_done(&w->plan);
	host_done(&w->host);
	free(w);
	return 0;
}

static void want(struct option_list *list, const char *name)
{
	strcpy(list->items[list->n++], name);
}

static void build(struct world *w)
{
	assert_int_equal(packet_plan_build(&w->plan, &w->host, w->pods, &w->options), 0);
}

/* "rxe3" has index 13; a name without a digit at its end is not supported. */
static uint32_t index_of(const char *rdma)
{
	return rdma[0] ? 10 + (uint32_t)(rdma[strlen(rdma) - 1] - '0') : RDMA_INDEX_NONE;
}

/* A soft-RoCE device on a netdev, with the nsid and ifindex reported by the RDMA core. */
static struct rdma_dev *build_rxe(struct world *w, const char *name, int nsid, int ifindex,
				  const char *netdev)
{
	struct rdma_dev *dev = build_rdma(&w->host, name, name);

	strcpy(dev->driver, "rxe");
	dev->index = index_of(name);
	dev->ports[0].netdev_nsid = nsid;
	dev->ports[0].netdev_ifindex = ifindex;
	strcpy(dev->ports[0].netdev, netdev);
	return dev;
}

/* The i-th attachment: net1 in a pod, with a soft-RoCE device of that name. */
static struct attach_record *attach(struct world *w, size_t i, const char *rdma)
{
	struct attach_record *r = &w->records[i];

	r->state = ATTACH_IN_POD;
	r->plan.soft_roce = true;
	strcpy(r->plan.ifname, "net1");
	strcpy(r->rdma, rdma);
	r->rdma_id = (struct rdma_identity){.known = rdma[0], .index = index_of(rdma)};
	snprintf(r->function, sizeof(r->function), "0000:03:00.%zu", i + 2);
	snprintf(r->owner.netns.path, sizeof(r->owner.netns.path), "/run/netns/cni-%zu", i);
	r->owner.netns.ino = 100 + i;
	w->pods.n = i + 1;
	return r;
}

static const struct packet_wanted *only(const struct world *w)
{
	assert_int_equal(w->plan.n, 1);
	return &w->plan.items[0];
}

static void test_without_soft_roce_and_configuration_nothing_is_watched(void **state)
{
	struct world *w = *state;

	build_netdev(&w->host, "eth0", "0000:03:00.0");
	build_rdma(&w->host, "mlx5_0", "0000:03:00.0");
	build(w);
	assert_int_equal(w->plan.n, 0);
}

static void test_a_soft_roce_device_of_the_host(void **state)
{
	struct world *w = *state;
	const struct packet_wanted *p;

	build_netdev(&w->host, "eth0", "");
	build_rxe(w, "rxe0", NSID_HOST, 1, "eth0");
	build(w);
	p = only(w);
	assert_string_equal(p->port.netdev, "eth0");
	assert_string_equal(p->port.device, "rxe0");
	assert_string_equal(p->port.netns, "");
	assert_string_equal(p->netns.path, "");
	assert_int_equal(p->port.device_port, 1);
	assert_int_equal(p->port.nsid, NSID_HOST);
	assert_int_equal(p->port.ifindex, 1);
	assert_int_equal(p->port.role, PACKET_SOFT_ROCE);
	assert_int_equal(p->port.flows, 4096);
	assert_int_equal(p->port.hook, PACKET_HOOK_NONE);
	assert_false(p->xdp);
}

static void test_one_in_a_namespace_is_entered_by_its_name(void **state)
{
	struct world *w = *state;
	struct netns *ns = array_push(w->host.namespaces, w->host.n_namespaces);

	*ns = (struct netns){.nsid = 3, .name = "blue"};
	build_rxe(w, "rxe0", 3, 7, "veth0");
	build_rxe(w, "rxe1", 4, 7, "veth0");
	build(w);
	assert_int_equal(w->plan.n, 2);
	assert_string_equal(w->plan.items[0].netns.path, "/run/netns/blue");
	assert_string_equal(w->plan.items[0].port.netns, "blue");
	assert_string_equal(w->plan.items[1].netns.path, "");
	assert_string_equal(w->plan.items[1].port.netns, "id:4");
}

static void test_one_without_a_visible_netdev_is_not_watched(void **state)
{
	struct world *w = *state;

	build_rxe(w, "rxe0", NSID_ELSEWHERE, 7, "veth0");
	build_rxe(w, "rxe1", NSID_HOST, 0, "");
	build(w);
	assert_int_equal(w->plan.n, 0);
}

static void test_a_pod_is_entered_by_its_recorded_namespace(void **state)
{
	struct world *w = *state;
	const struct packet_wanted *p;

	attach(w, 0, "rxe0");
	build_rxe(w, "rxe0", 5, 9, "net1");
	build(w);
	p = only(w);
	assert_int_equal(p->port.role, PACKET_POD);
	assert_int_equal(p->port.nsid, 5);
	assert_int_equal(p->port.ifindex, 9);
	assert_string_equal(p->netns.path, "/run/netns/cni-0");
	assert_int_equal(p->netns.ino, 100);
}

static void test_a_pod_invisible_to_the_inventory(void **state)
{
	struct world *w = *state;
	const struct packet_wanted *p;

	attach(w, 0, "rxe0"); /* the device is visible, its netdev is not */
	attach(w, 1, "rxe1"); /* neither device nor netdev is visible */
	build_rxe(w, "rxe0", NSID_ELSEWHERE, 9, "");
	build(w);
	assert_int_equal(w->plan.n, 2);
	for (size_t i = 0; i < 2; i++) {
		p = &w->plan.items[i];
		assert_int_equal(p->port.role, PACKET_POD);
		assert_int_equal(p->port.nsid, NSID_ELSEWHERE);
		assert_int_equal(p->port.ifindex, 0);
		assert_string_equal(p->port.netdev, "net1");
		assert_string_equal(p->port.device, i ? "rxe1" : "rxe0");
		assert_int_equal(p->netns.ino, 100 + i);
	}
}

/* A VF whose RDMA device is visible in its pod, and one without an RDMA device. */
static void attach_hardware(struct world *w)
{
	struct rdma_dev *dev = build_rdma(&w->host, "mlx5_2", "0000:03:00.2");

	attach(w, 0, "mlx5_2")->plan.soft_roce = false;
	attach(w, 1, "")->plan.soft_roce = false;
	dev->ports[0].netdev_nsid = 5;
	dev->ports[0].netdev_ifindex = 9;
}

static void test_hardware_in_a_pod_is_not_watched(void **state)
{
	struct world *w = *state;

	attach_hardware(w);
	build(w);
	assert_int_equal(w->plan.n, 0);
}

static void test_hardware_in_a_pod_is_watched_if_configured(void **state)
{
	struct world *w = *state;
	const struct packet_wanted *p;

	attach_hardware(w);
	build_rdma(&w->host, "mlx5_0", "0000:03:00.0"); /* hardware of the host is not watched */
	w->options.packet_pods = true;
	build(w);
	assert_int_equal(w->plan.n, 2);
	p = &w->plan.items[w->plan.items[0].port.ifindex ? 0 : 1];
	assert_int_equal(p->port.role, PACKET_POD);
	assert_string_equal(p->port.device, "mlx5_2");
	assert_int_equal(p->port.device_port, 1);
	assert_int_equal(p->port.nsid, 5);
	assert_int_equal(p->port.ifindex, 9);
	assert_int_equal(p->netns.ino, 100);
	p = &w->plan.items[w->plan.items[0].port.ifindex ? 1 : 0];
	assert_int_equal(p->port.role, PACKET_POD);
	assert_string_equal(p->port.device, "");
	assert_int_equal(p->port.device_port, 0);
	assert_string_equal(p->port.netdev, "net1");
	assert_int_equal(p->netns.ino, 101);
}

/* Both have the same netdev name, and no device name. */
static void test_two_without_a_name_are_two(void **state)
{
	struct world *w = *state;

	attach(w, 0, "");
	attach(w, 1, "");
	build(w);
	assert_int_equal(w->plan.n, 2);
}

static void test_an_attachment_that_is_not_in_its_pod_is_not_watched(void **state)
{
	struct world *w = *state;

	attach(w, 0, "rxe0")->state = ATTACH_RETURNING;
	build(w);
	assert_int_equal(w->plan.n, 0);
	build_rxe(w, "rxe0", 5, 9, "net1"); /* its device is not watched meanwhile, either */
	build(w);
	assert_int_equal(w->plan.n, 0);
	w->records[0].state = ATTACH_FREE;
	build(w);
	assert_int_equal(w->plan.n, 1);
}

/* The record has the device's name only once rocelet has created it; but a pod may create a device,
 * too. */
static void test_a_pods_device_is_found_by_its_function(void **state)
{
	struct world *w = *state;
	struct attach_record *r = attach(w, 0, "");

	strcpy(build_rxe(w, "rxe0", 5, 9, "net1")->function, r->function);
	r->state = ATTACH_ATTACHING;
	build(w);
	assert_int_equal(w->plan.n, 0);
	r->state = ATTACH_IN_POD;
	r->plan.soft_roce = false;
	build(w);
	assert_int_equal(only(w)->port.role, PACKET_POD);
	assert_int_equal(only(w)->netns.ino, 100);
	r->plan.kind = PLAN_MACVLAN; /* many macvlans share one function */
	build(w);
	assert_int_equal(only(w)->port.role, PACKET_SOFT_ROCE);
}

/* Our device was renamed, and another pod's device has the recorded name. */
static void test_names_do_not_identify_a_device(void **state)
{
	struct world *w = *state;
	struct rdma_dev *other;

	attach(w, 0, "rxe0");
	other = build_rxe(w, "rxe0", 5, 9, "eth0");
	other->index = 77;
	build(w);
	assert_int_equal(w->plan.n, 2);
	assert_int_equal(w->plan.items[0].port.role, PACKET_POD);
	assert_int_equal(w->plan.items[0].port.nsid, NSID_ELSEWHERE);
	assert_int_equal(w->plan.items[1].port.role, PACKET_SOFT_ROCE);
	assert_int_equal(w->plan.items[1].netns.ino, 0);
	build_rxe(w, "mine9", 6, 8, "net1")->index = index_of("rxe0");
	build(w);
	assert_int_equal(w->plan.n, 2);
	assert_int_equal(w->plan.items[1].port.role, PACKET_POD);
	assert_string_equal(w->plan.items[1].port.device, "mine9");
	assert_int_equal(w->plan.items[1].netns.ino, 100);
}

static void test_mirrors_are_watched_at_xdp_and_without_flows(void **state)
{
	struct world *w = *state;
	const struct packet_wanted *p;

	build_netdev(&w->host, "mir0", "0000:03:00.1");
	want(&w->options.mirrors, "mir0");
	build(w);
	p = only(w);
	assert_int_equal(p->port.role, PACKET_MIRROR);
	assert_true(p->xdp);
	assert_int_equal(p->port.flows, 0);
	assert_string_equal(p->port.function, "0000:03:00.1");
	w->options.mirror_flows = 16;
	build(w);
	assert_int_equal(only(w)->port.flows, 16);
}

static void test_a_configured_port_and_its_device(void **state)
{
	struct world *w = *state;
	struct rdma_dev *dev;

	build_netdev(&w->host, "eth0", "0000:03:00.0");
	dev = build_rdma(&w->host, "mlx5_0", "0000:03:00.0");
	dev->ports[0].netdev_nsid = NSID_HOST;
	dev->ports[0].netdev_ifindex = 1;
	want(&w->options.packet_ports, "eth0");
	build(w);
	assert_int_equal(only(w)->port.role, PACKET_PORT);
	assert_string_equal(only(w)->port.device, "mlx5_0");
	assert_int_equal(only(w)->port.device_port, 1);
}

static void test_a_missing_configured_interface_is_listed(void **state)
{
	struct world *w = *state;

	build_netdev(&w->host, "mir0", "")->nsid = 3; /* in another namespace */
	want(&w->options.mirrors, "mir0");
	build(w);
	assert_string_equal(only(w)->port.netdev, "mir0");
	assert_int_equal(only(w)->port.ifindex, 0);
}

static void test_each_interface_is_watched_once_and_configuration_takes_precedence(void **state)
{
	struct world *w = *state;

	build_netdev(&w->host, "eth0", "");
	build_rxe(w, "rxe0", NSID_HOST, 1, "eth0");
	want(&w->options.packet_ports, "eth0");
	build(w);
	assert_int_equal(only(w)->port.role, PACKET_PORT);
	want(&w->options.mirrors, "eth0");
	want(&w->options.mirrors, "gone0");
	want(&w->options.mirrors, "gone0");
	build(w);
	assert_int_equal(w->plan.n, 2);
	assert_string_equal(w->plan.items[0].port.netdev, "gone0");
	assert_int_equal(w->plan.items[1].port.role, PACKET_MIRROR);
	assert_string_equal(w->plan.items[1].port.device, "rxe0");
}

static void test_the_same_place_is_not_always_the_same_interface(void **state)
{
	struct packet_wanted a = {.port.nsid = 3, .port.ifindex = 7, .netns.ino = 1}, b = a;

	(void)state;
	assert_true(packet_wanted_same(&a, &b));
	b.netns.ino = 2; /* the next pod's namespace reuses the id */
	assert_int_equal(packet_wanted_cmp(&a, &b), 0);
	assert_false(packet_wanted_same(&a, &b));
	b = a;
	b.port.flows = 1;
	assert_false(packet_wanted_same(&a, &b));
	b = a;
	strcpy(b.port.netdev, "renamed");
	assert_true(packet_wanted_same(&a, &b));
	a.port.ifindex = b.port.ifindex = 0;
	assert_false(packet_wanted_same(&a, &b));
}

static void test_out_of_memory_keeps_the_plan(void **state)
{
	struct world *w = *state;
	int r = -ENOMEM;

	build_netdev(&w->host, "eth0", "");
	build_rxe(w, "rxe0", NSID_HOST, 1, "eth0");
	attach(w, 0, "rxe1");
	want(&w->options.mirrors, "mir0");
	want(&w->options.packet_ports, "eth1");
	build(w);
	assert_int_equal(w->plan.n, 4);
	for (long nth = 0; r == -ENOMEM; nth++) {
		faults_alloc(nth);
		r = packet_plan_build(&w->plan, &w->host, w->pods, &w->options);
		if (!faults_end())
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(w->plan.n, 4);
		assert_true(nth < 10);
	}
	assert_int_equal(r, 0);
}

TEST_GROUP(packet_plan)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_without_soft_roce_and_configuration_nothing_is_watched),
		TEST(test_a_soft_roce_device_of_the_host),
		TEST(test_one_in_a_namespace_is_entered_by_its_name),
		TEST(test_one_without_a_visible_netdev_is_not_watched),
		TEST(test_a_pod_is_entered_by_its_recorded_namespace),
		TEST(test_a_pod_invisible_to_the_inventory),
		TEST(test_hardware_in_a_pod_is_not_watched),
		TEST(test_hardware_in_a_pod_is_watched_if_configured),
		TEST(test_two_without_a_name_are_two),
		TEST(test_an_attachment_that_is_not_in_its_pod_is_not_watched),
		TEST(test_a_pods_device_is_found_by_its_function),
		TEST(test_names_do_not_identify_a_device),
		TEST(test_mirrors_are_watched_at_xdp_and_without_flows),
		TEST(test_a_configured_port_and_its_device),
		TEST(test_a_missing_configured_interface_is_listed),
		TEST(test_each_interface_is_watched_once_and_configuration_takes_precedence),
		TEST(test_the_same_place_is_not_always_the_same_interface),
		TEST(test_out_of_memory_keeps_the_plan),
	};

	return test_group_run(tests, NULL, NULL);
}
