// SPDX-License-Identifier: Apache-2.0
/* Health: one condition after another makes a device of a small host unhealthy. Damping: a flapping
 * reason never takes effect, a lasting one always does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "health.h"
#include "test_group.h"

#define PF  "0000:18:00.0"
#define VF  "0000:18:00.1"
#define SF  "mlx5_core.sf.4"
#define PF2 "0000:19:00.0"

enum { F_PF, F_VF, F_SF, F_PF2, N_FUNCTIONS };
enum { D_PF, D_VF, D_SF, D_PF2, D_REPRESENTOR, N_NETDEVS };
enum { R_PF, R_VF, R_SF, R_PF2, N_RDMA };

/* A PF with a free VF and a free SF, and another PF, all healthy. */
struct fixture {
	struct function functions[N_FUNCTIONS];
	struct netdev netdevs[N_NETDEVS];
	struct rdma_port ports[N_RDMA][2];
	struct rdma_dev rdma[N_RDMA];
	struct host host;
	char *drivers[2];
	struct selector selector;
	struct pool pool;
	char members[N_FUNCTIONS][DEV_ID_SIZE];
	struct pool_view view;
	struct offer offer;
};

static void add_function(struct fixture *f, int i, const char *id, enum fn_kind kind)
{
	struct function *fn = &f->functions[i];
	struct netdev *d = &f->netdevs[i];
	struct rdma_dev *r = &f->rdma[i];

	*fn = (struct function){.kind = kind, .vf = kind == FN_VF ? 0 : -1, .driver = "mlx5_core"};
	snprintf(fn->id, sizeof(fn->id), "%s", id);
	if (kind == FN_VF || kind == FN_SF)
		strcpy(fn->parent, PF);
	*d = (struct netdev){.nsid = NSID_HOST, .ifindex = i + 2, .operstate = "down"};
	snprintf(d->function, sizeof(d->function), "%s", id);
	d->carrier = CARRIER_OFF;
	f->ports[i][0] = (struct rdma_port){
		.num = 1, .state = PORT_DOWN, .link_layer = LINK_ETHERNET};
	*r = (struct rdma_dev){.nsid = NSID_HOST, .n_ports = 1, .ports = f->ports[i]};
	snprintf(r->name, sizeof(r->name), "mlx5_%d", i);
	snprintf(r->function, sizeof(r->function), "%s", id);
	snprintf(r->uverbs, sizeof(r->uverbs), "uverbs%d", i);
	snprintf(r->umad, sizeof(r->umad), "umad%d", i);
}

static void bring_up(struct fixture *f, int i)
{
	f->netdevs[i].flags = IFF_UP;
	f->netdevs[i].carrier = CARRIER_ON;
	strcpy(f->netdevs[i].operstate, "up");
	if (i < N_RDMA)
		f->ports[i][0].state = PORT_ACTIVE;
}

static void reset(struct fixture *f)
{
	*f = (struct fixture){.selector = {.is_rdma = true},
			      .pool = {.kind = POOL_EXCLUSIVE, .n_selectors = 1}};
	add_function(f, F_PF, PF, FN_PF);
	add_function(f, F_VF, VF, FN_VF);
	add_function(f, F_SF, SF, FN_SF);
	add_function(f, F_PF2, PF2, FN_PF);
	f->functions[F_PF].sriov = true;
	f->functions[F_PF].vfs = 1;
	bring_up(f, D_PF);
	bring_up(f, D_PF2);
	strcpy(f->netdevs[D_PF].port_name, "p0");
	f->netdevs[D_REPRESENTOR] = (struct netdev){
		.nsid = NSID_HOST, .ifindex = 20, .function = PF, .port_name = "pf0vf0"};
	f->host = (struct host){.functions = f->functions,
				.n_functions = N_FUNCTIONS,
				.netdevs = f->netdevs,
				.n_netdevs = N_NETDEVS,
				.rdma = f->rdma,
				.n_rdma = N_RDMA};
	f->pool.selectors = &f->selector;
	f->view = (struct pool_view){.pool = &f->pool, .members = f->members};
}

static int setup(void **state)
{
	*state = malloc(sizeof(struct fixture));
	assert_non_null(*state);
	reset(*state);
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static unsigned judge_offer(struct fixture *f, bool held)
{
	struct host_index ix;
	unsigned reasons;

	assert_int_equal(host_index_init(&ix, &f->host), 0);
	reasons = health_judge(&f->view, &f->offer, &ix, held);
	host_index_done(&ix);
	return reasons;
}

/* Judges an offer of this function alone. */
static unsigned judge(struct fixture *f, const char *id, bool held)
{
	strcpy(f->members[0], id);
	f->offer = (struct offer){.n_members = 1};
	return judge_offer(f, held);
}

#define EXPECT(f, id, held, reasons) assert_int_equal(judge(f, id, held), reasons)
#define GONE			     HEALTH_BIT(HEALTH_GONE)
#define NO_DRIVER		     HEALTH_BIT(HEALTH_NO_DRIVER)
#define NO_CHARDEV		     HEALTH_BIT(HEALTH_NO_CHARDEV)
#define NO_RDMA			     HEALTH_BIT(HEALTH_NO_RDMA)
#define LINK			     HEALTH_BIT(HEALTH_LINK_DOWN)
#define PORT			     HEALTH_BIT(HEALTH_PORT_DOWN)
#define PCI			     HEALTH_BIT(HEALTH_PCI)
#define DEVLINK			     HEALTH_BIT(HEALTH_DEVLINK)

/* --- one function of an exclusive pool -------------------------------------------------------- */

static void test_free_devices_are_healthy(void **state)
{
	struct fixture *f = *state;

	EXPECT(f, VF, false, 0);
	EXPECT(f, SF, false, 0);
	EXPECT(f, PF2, false, 0);
	EXPECT(f, VF, true, 0);
}

static void test_removed_devices(void **state)
{
	struct fixture *f = *state;

	EXPECT(f, "0000:18:00.7", false, GONE);
	EXPECT(f, "0000:18:00.7", true, GONE);
	f->offer = (struct offer){.gone = true};
	assert_int_equal(judge_offer(f, true), GONE);
	f->offer = (struct offer){0};
	assert_int_equal(judge_offer(f, false), GONE);
	f->pool.kind = POOL_SHARED_ALL;
	f->pool.fixed_slots = true;
	assert_int_equal(judge_offer(f, false), 0);
}

static void test_drivers(void **state)
{
	struct fixture *f = *state;

	f->functions[F_VF].driver[0] = '\0';
	EXPECT(f, VF, false, NO_DRIVER);
	EXPECT(f, VF, true, 0); /* the container may unbind it */
	strcpy(f->functions[F_VF].driver, "vfio-pci");
	EXPECT(f, VF, false, 0);
	f->drivers[0] = (char *)"mlx5_core";
	f->selector.drivers = (struct word_list){f->drivers, 1};
	EXPECT(f, VF, false, NO_DRIVER);
	f->drivers[1] = (char *)"vfio-pci";
	f->selector.drivers.n = 2;
	EXPECT(f, VF, false, 0);
}

static void test_any_selector_may_have_the_driver(void **state)
{
	struct fixture *f = *state;
	struct selector two[2] = {{.is_rdma = true, .drivers = {f->drivers, 1}},
				  {.drivers = {f->drivers + 1, 1}}};

	f->drivers[0] = (char *)"mlx5_core";
	f->drivers[1] = (char *)"vfio-pci";
	f->pool.selectors = two;
	f->pool.n_selectors = 2;
	EXPECT(f, VF, false, 0);
	strcpy(f->functions[F_VF].driver, "vfio-pci");
	f->rdma[R_VF].function[0] = '\0'; /* only the first selector has isRdma */
	EXPECT(f, VF, false, 0);
	strcpy(f->functions[F_VF].driver, "ixgbevf");
	EXPECT(f, VF, false, NO_DRIVER);
}

static void test_rdma_devices(void **state)
{
	struct fixture *f = *state;

	f->rdma[R_VF].uverbs[0] = '\0';
	EXPECT(f, VF, false, NO_CHARDEV);
	EXPECT(f, VF, true, NO_CHARDEV);
	f->rdma[R_VF].function[0] = '\0';
	EXPECT(f, VF, false, NO_RDMA);
	f->selector.is_rdma = false;
	EXPECT(f, VF, false, 0);
	f->pool.n_selectors = 0;
	EXPECT(f, VF, false, 0);
	reset(f);
	f->rdma[R_VF].umad[0] = '\0';
	EXPECT(f, VF, false, 0);
	f->pool.require_umad = true;
	EXPECT(f, VF, false, NO_CHARDEV);
}

static void test_device_nodes(void **state)
{
	struct fixture *f = *state;

	f->rdma[R_VF].no_umad_node = true;
	EXPECT(f, VF, false, 0);
	f->pool.require_umad = true;
	EXPECT(f, VF, false, NO_CHARDEV);
	f->rdma[R_VF].no_umad_node = false;
	f->rdma[R_VF].no_uverbs_node = true;
	EXPECT(f, VF, false, NO_CHARDEV);
	EXPECT(f, VF, true, NO_CHARDEV);
}

static void test_broken_hardware_counts_for_held_devices(void **state)
{
	struct fixture *f = *state;

	f->functions[F_VF].unreachable = true;
	EXPECT(f, VF, false, PCI);
	EXPECT(f, VF, true, PCI);
	strcpy(f->functions[F_VF].devlink_error, "fw_fatal");
	f->pool.type = DEVICE_ACCELERATOR;
	EXPECT(f, VF, true, PCI | DEVLINK);
}

/* --- links ------------------------------------------------------------------------------------ */

static void test_a_vf_that_is_up_is_judged_by_its_own_link(void **state)
{
	struct fixture *f = *state;

	bring_up(f, D_VF);
	EXPECT(f, VF, false, 0);
	f->netdevs[D_PF].carrier = CARRIER_OFF; /* traffic through the NIC's switch still works */
	EXPECT(f, VF, false, 0);
	f->netdevs[D_VF].carrier = CARRIER_OFF;
	EXPECT(f, VF, false, LINK);
	f->ports[R_VF][0].state = PORT_DOWN;
	EXPECT(f, VF, false, LINK | PORT);
	f->pool.ignore_link = true;
	EXPECT(f, VF, false, 0);
	f->pool.ignore_link = false;
	f->pool.type = DEVICE_ACCELERATOR;
	f->selector.is_rdma = false;
	EXPECT(f, VF, false, 0);
}

static void test_operstates(void **state)
{
	static const struct {
		const char *operstate;
		enum carrier carrier;
		unsigned reasons;
	} rows[] = {
		{"up", CARRIER_ON, 0},
		{"unknown", CARRIER_ON, 0},
		{"", CARRIER_ON, 0},
		{"dormant", CARRIER_ON, LINK},
		{"testing", CARRIER_ON, LINK},
		{"down", CARRIER_OFF, LINK},
		{"down", CARRIER_ON, 0}, /* operstate lags behind the carrier by up to a second */
		{"up", CARRIER_UNKNOWN, 0},
		{"unknown", CARRIER_UNKNOWN, 0},
		{"down", CARRIER_UNKNOWN, LINK},
	};
	struct fixture *f = *state;

	bring_up(f, D_VF);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strcpy(f->netdevs[D_VF].operstate, rows[i].operstate);
		f->netdevs[D_VF].carrier = rows[i].carrier;
		EXPECT(f, VF, false, rows[i].reasons);
	}
}

static void test_an_idle_vf_follows_its_pf(void **state)
{
	static const struct {
		enum vf_link state;
		unsigned alive, dead; /* PF's carrier */
	} rows[] = {
		{VF_LINK_UNKNOWN, 0, LINK},
		{VF_LINK_AUTO, 0, LINK},
		{VF_LINK_ENABLE, 0, 0},
		{VF_LINK_DISABLE, LINK, LINK},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f->functions[F_VF].vf_link = rows[i].state;
		for (int held = 0; held < 2; held++) {
			f->netdevs[D_PF].carrier = CARRIER_ON;
			EXPECT(f, VF, held, rows[i].alive);
			f->netdevs[D_PF].carrier = CARRIER_OFF;
			EXPECT(f, VF, held, rows[i].dead);
		}
	}
	EXPECT(f, SF, false, LINK);
	f->netdevs[D_PF].carrier = CARRIER_ON;
	f->netdevs[D_PF].flags = 0;
	EXPECT(f, SF, false, LINK);
}

static void test_devices_without_netdevs(void **state)
{
	struct fixture *f = *state;

	f->selector.is_rdma = false;
	strcpy(f->functions[F_VF].driver, "vfio-pci");
	f->netdevs[D_VF].function[0] = '\0';
	EXPECT(f, VF, false, 0);
	f->netdevs[D_PF].carrier = CARRIER_OFF;
	EXPECT(f, VF, false, LINK);
	f->netdevs[D_PF].function[0] = '\0'; /* without the PF's netdev its carrier is unknown */
	EXPECT(f, VF, false, 0);
	f->functions[F_VF].parent[0] = '\0';
	EXPECT(f, VF, false, 0);
}

static void test_the_link_of_a_device_in_a_pod_is_ignored(void **state)
{
	struct fixture *f = *state;

	bring_up(f, D_VF);
	f->netdevs[D_VF].nsid = 4;
	f->netdevs[D_VF].carrier = CARRIER_OFF;
	f->ports[R_VF][0].state = PORT_DOWN;
	EXPECT(f, VF, true, 0);
	EXPECT(f, VF, false, 0);	   /* not known as held, but its link cannot be seen */
	f->netdevs[D_VF].nsid = NSID_HOST; /* held, but in the host: its link counts */
	EXPECT(f, VF, true, LINK);
	f->netdevs[D_VF].nsid = 4;
	f->netdevs[D_PF].nsid = 4; /* a PF may be in another namespace; its carrier still counts */
	EXPECT(f, VF, true, 0);
	f->netdevs[D_PF].carrier = CARRIER_OFF;
	EXPECT(f, VF, true, LINK);
	f->netdevs[D_PF].nsid = NSID_ELSEWHERE;
	EXPECT(f, VF, true, 0);
}

static void test_a_representor_is_not_the_uplink(void **state)
{
	struct fixture *f = *state;

	bring_up(f, D_REPRESENTOR);
	f->netdevs[D_PF].carrier = CARRIER_OFF;
	EXPECT(f, VF, false, LINK);
}

static void test_a_sub_function_of_a_vf(void **state)
{
	struct fixture *f = *state;

	strcpy(f->functions[F_SF].parent, VF);
	f->netdevs[D_VF].function[0] = '\0';
	EXPECT(f, SF, false, 0);
	f->netdevs[D_PF].carrier = CARRIER_OFF;
	EXPECT(f, SF, false, LINK);
}

static void test_a_pf_is_judged_by_its_own_link(void **state)
{
	struct fixture *f = *state;

	f->netdevs[D_PF2].carrier = CARRIER_OFF;
	EXPECT(f, PF2, false, LINK);
	EXPECT(f, PF2, true, LINK);
	f->netdevs[D_PF2].flags = 0; /* down after its return, and so its RoCE port */
	f->ports[R_PF2][0].state = PORT_DOWN;
	EXPECT(f, PF2, false, 0);
	bring_up(f, D_PF2);
	f->ports[R_PF2][0].state = PORT_DOWN;
	EXPECT(f, PF2, false, PORT);
	f->selector.is_rdma = false;
	EXPECT(f, PF2, false, 0);
}

static void test_one_active_port_is_enough(void **state)
{
	struct fixture *f = *state;

	f->rdma[R_PF2].n_ports = 2;
	f->ports[R_PF2][0].state = PORT_DOWN;
	f->ports[R_PF2][1].state = PORT_DOWN;
	EXPECT(f, PF2, false, PORT);
	f->ports[R_PF2][1].state = PORT_ACTIVE;
	EXPECT(f, PF2, false, 0);
	f->ports[R_PF2][1].state = PORT_UNKNOWN;
	EXPECT(f, PF2, false, 0);
}

static void test_infiniband_is_judged_by_its_ports(void **state)
{
	struct fixture *f = *state;

	f->ports[R_PF][0].link_layer = f->ports[R_VF][0].link_layer = LINK_INFINIBAND;
	f->netdevs[D_PF].flags = 0; /* IPoIB is not used */
	f->ports[R_VF][0].state = PORT_ACTIVE;
	EXPECT(f, VF, false, 0);
	f->ports[R_VF][0].state = PORT_INIT;
	EXPECT(f, VF, false, PORT);
	f->ports[R_PF][0].state = PORT_DOWN;
	EXPECT(f, VF, false, PORT | LINK);
	EXPECT(f, VF, true, LINK);
}

/* --- shared pools ----------------------------------------------------------------------------- */

/* A container cannot use its device if the RDMA device or its node was removed. What the host
 * cannot see is unknown: in exclusive mode the RDMA device may be in the container's namespace. */
static void test_nodes_of_held_devices(void **state)
{
	struct fixture *f = *state;
	struct rdma_dev *r = &f->rdma[R_VF];

	f->host.rdma_mode = RDMA_NETNS_SHARED;
	EXPECT(f, VF, true, 0);
	r->no_uverbs_node = true;
	EXPECT(f, VF, true, HEALTH_BIT(HEALTH_NO_CHARDEV));
	r->no_uverbs_node = false;
	r->uverbs[0] = '\0';
	EXPECT(f, VF, true, HEALTH_BIT(HEALTH_NO_CHARDEV));
	f->selector.is_rdma = false;
	EXPECT(f, VF, true, 0);
	f->selector.is_rdma = true;
	f->host.rdma_mode = RDMA_NETNS_EXCLUSIVE;
	EXPECT(f, VF, true, HEALTH_BIT(HEALTH_NO_CHARDEV));
	r->nsid = 3; /* in the container */
	EXPECT(f, VF, true, 0);
	r->function[0] = '\0'; /* removed, or in a namespace that cannot be entered */
	EXPECT(f, VF, true, 0);
	f->host.rdma_mode = RDMA_NETNS_UNKNOWN;
	EXPECT(f, VF, true, 0);
	f->host.rdma_mode = RDMA_NETNS_SHARED;
	EXPECT(f, VF, true, HEALTH_BIT(HEALTH_NO_RDMA));
}

static void test_shared_devices_are_judged_even_if_held(void **state)
{
	struct fixture *f = *state;

	f->pool = (struct pool){.kind = POOL_SHARED_ONE};
	EXPECT(f, PF2, true, 0);
	EXPECT(f, VF, true, PORT); /* no container brings it up, because it stays in the host */
	f->rdma[R_PF2].uverbs[0] = '\0';
	EXPECT(f, PF2, true, NO_CHARDEV);
	f->rdma[R_PF2].function[0] = '\0';
	EXPECT(f, PF2, true, NO_RDMA);
}

static void test_one_healthy_member_is_enough(void **state)
{
	struct fixture *f = *state;

	f->pool = (struct pool){.kind = POOL_SHARED_ALL};
	strcpy(f->members[0], PF);
	strcpy(f->members[1], PF2);
	f->offer = (struct offer){.first_member = 0, .n_members = 2};
	assert_int_equal(judge_offer(f, false), 0);
	f->functions[F_PF].unreachable = true;
	assert_int_equal(judge_offer(f, false), 0);
	f->netdevs[D_PF2].carrier = CARRIER_OFF;
	assert_int_equal(judge_offer(f, false), PCI | LINK);
	f->offer = (struct offer){.first_member = 1, .n_members = 1};
	assert_int_equal(judge_offer(f, false), LINK);
}

static void test_software_devices(void **state)
{
	struct fixture *f = *state;

	f->pool = (struct pool){.kind = POOL_SHARED_ONE};
	f->functions[F_PF2] = (struct function){
		.id = "rxe0", .kind = FN_VIRTUAL, .vf = -1, .sfnum = -1};
	strcpy(f->rdma[R_PF2].function, "rxe0");
	EXPECT(f, "rxe0", false, 0);
	f->ports[R_PF2][0].state = PORT_DOWN;
	EXPECT(f, "rxe0", false, PORT);
	f->pool.kind = POOL_EXCLUSIVE; /* a software device needs no driver */
	EXPECT(f, "rxe0", false, 0);
}

/* --- damping ---------------------------------------------------------------------------------- */

static const struct pool damped = {
	.hold = {[HEALTH_LINK_DOWN] = {100, 300}, [HEALTH_PCI] = {0, 0}, [HEALTH_GONE] = {50, 0}}};

static void test_the_first_judgement_counts_at_once(void **state)
{
	struct health h;
	(void)state;

	health_start(&h, LINK | PCI, 1000);
	assert_int_equal(h.counted, LINK | PCI);
	assert_true(health_deadline(&h, &damped) == UINT64_MAX);
	assert_false(health_update(&h, LINK | PCI, &damped, 5000));
}

static void test_a_reason_counts_after_its_hold_time(void **state)
{
	struct health h;
	(void)state;

	health_start(&h, 0, 1000);
	assert_false(health_update(&h, LINK, &damped, 2000));
	assert_true(health_deadline(&h, &damped) == 2100);
	assert_false(health_update(&h, LINK, &damped, 2099));
	assert_true(health_update(&h, LINK, &damped, 2100));
	assert_int_equal(h.counted, LINK);
	assert_true(health_deadline(&h, &damped) == UINT64_MAX);
	assert_false(health_update(&h, 0, &damped, 3000));
	assert_int_equal(h.counted, LINK);
	assert_true(health_deadline(&h, &damped) == 3300);
	assert_true(health_update(&h, 0, &damped, 3300));
	assert_int_equal(h.counted, 0);
}

static void test_each_reason_has_its_own_clock(void **state)
{
	struct health h;
	(void)state;

	health_start(&h, 0, 0);
	assert_false(health_update(&h, LINK, &damped, 10));
	assert_true(health_update(&h, LINK | PCI, &damped, 60)); /* at once */
	assert_int_equal(h.counted, PCI);
	assert_false(health_update(&h, LINK | PCI | GONE, &damped, 70));
	assert_true(health_deadline(&h, &damped) == 110);
	assert_true(health_update(&h, LINK | PCI | GONE, &damped, 115));
	assert_int_equal(h.counted, PCI | LINK);
	assert_true(health_deadline(&h, &damped) == 120);
	assert_true(health_update(&h, LINK, &damped, 115));
	assert_int_equal(h.counted, LINK);
	assert_true(health_deadline(&h, &damped) == UINT64_MAX);
}

/* Since the first of the reasons without which it would not have been unhealthy all the time: not
 * since the damped end, and a second reason changes nothing. */
static void test_since_when(void **state)
{
	struct health h;
	(void)state;

	health_start(&h, LINK, 1000);
	assert_true(h.unhealthy_ms == 1000 && h.or_earlier);
	health_update(&h, LINK | PCI, &damped, 1500);
	assert_true(h.unhealthy_ms == 1000 && h.or_earlier);
	health_update(&h, PCI, &damped, 2000);
	health_update(&h, PCI, &damped, 2300); /* the first one has ended */
	assert_int_equal(h.counted, PCI);
	assert_true(h.unhealthy_ms == 1000);
	health_update(&h, 0, &damped, 3000);
	health_update(&h, 0, &damped, 9000);
	assert_int_equal(h.counted, 0);
	assert_true(h.unhealthy_ms == 0 && !h.or_earlier);
	health_update(&h, LINK, &damped, 10000);
	assert_true(h.unhealthy_ms == 0);
	health_update(&h, LINK, &damped, 10100);
	assert_true(h.unhealthy_ms == 10000 && !h.or_earlier);
	/* A flap that is damped is none. */
	health_update(&h, 0, &damped, 11000);
	health_update(&h, LINK, &damped, 11100);
	assert_true(h.unhealthy_ms == 10000);
}

static void test_time_that_does_not_advance(void **state)
{
	struct health h;
	(void)state;

	health_start(&h, 0, 1000);
	assert_false(health_update(&h, LINK, &damped, 1000));
	assert_false(health_update(&h, LINK, &damped, 10));
	assert_true(health_update(&h, LINK, &damped, 1100));
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

/* After any history, a reason that flaps faster than its hold time has no effect, and a lasting one
 * takes effect at the deadline at the latest. */
static void test_flapping_reasons_have_no_effect_and_lasting_ones_do(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct pool p = {0};
		struct health h;
		uint64_t now = random_below(1000), at;
		unsigned counted, last;

		for (int i = 0; i < N_HEALTH_REASONS; i++)
			p.hold[i] = (struct hold_times){random_below(5000), random_below(5000)};
		health_start(&h, random_below(256), now);
		for (int i = 0; i < 50; i++)
			health_update(&h, random_below(256), &p, now += random_below(2000));
		while ((at = health_deadline(&h, &p)) != UINT64_MAX)
			assert_true(health_update(&h, h.seen, &p, now = at));
		counted = h.counted;
		for (int i = 0; i < 50; i++) {
			unsigned bit = HEALTH_BIT(i % N_HEALTH_REASONS);
			bool comes = !(counted & bit);
			const struct hold_times *hold = &p.hold[i % N_HEALTH_REASONS];
			uint32_t ms = comes ? hold->down_ms : hold->up_ms;

			if (ms == 0)
				continue;
			assert_false(health_update(&h, counted ^ bit, &p, now));
			assert_false(health_update(&h, counted ^ bit, &p, now + ms - 1));
			assert_false(health_update(&h, counted, &p, now + ms - 1));
			assert_false(health_update(&h, counted, &p, now += ms));
			assert_int_equal(h.counted, counted);
		}
		last = random_below(256);
		health_update(&h, last, &p, now);
		health_update(&h, last, &p, now + 5000);
		assert_int_equal(h.counted, last);
	}
}

static void test_text(void **state)
{
	char text[32] = "x", tiny[6];
	(void)state;

	health_text(0, text, sizeof(text));
	assert_string_equal(text, "");
	health_text(LINK | NO_CHARDEV, text, sizeof(text));
	assert_string_equal(text, "no_chardev, link_down");
	health_text(~0u, tiny, sizeof(tiny));
	assert_string_equal(tiny, "gone,");
	health_text(LINK, NULL, 0);
	for (int i = 0; i < N_HEALTH_REASONS; i++)
		assert_string_not_equal(health_reason_name((enum health_reason)i), "unknown");
	assert_string_equal(health_reason_name(N_HEALTH_REASONS), "unknown");
}

TEST_GROUP(health)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_free_devices_are_healthy),
		T(test_removed_devices),
		T(test_drivers),
		T(test_any_selector_may_have_the_driver),
		T(test_rdma_devices),
		T(test_device_nodes),
		T(test_broken_hardware_counts_for_held_devices),
		T(test_a_vf_that_is_up_is_judged_by_its_own_link),
		T(test_operstates),
		T(test_an_idle_vf_follows_its_pf),
		T(test_devices_without_netdevs),
		T(test_the_link_of_a_device_in_a_pod_is_ignored),
		T(test_a_representor_is_not_the_uplink),
		T(test_a_sub_function_of_a_vf),
		T(test_a_pf_is_judged_by_its_own_link),
		T(test_one_active_port_is_enough),
		T(test_infiniband_is_judged_by_its_ports),
		T(test_nodes_of_held_devices),
		T(test_shared_devices_are_judged_even_if_held),
		T(test_one_healthy_member_is_enough),
		T(test_software_devices),
		cmocka_unit_test(test_the_first_judgement_counts_at_once),
		cmocka_unit_test(test_a_reason_counts_after_its_hold_time),
		cmocka_unit_test(test_each_reason_has_its_own_clock),
		cmocka_unit_test(test_since_when),
		cmocka_unit_test(test_time_that_does_not_advance),
		cmocka_unit_test(test_flapping_reasons_have_no_effect_and_lasting_ones_do),
		cmocka_unit_test(test_text),
	};
#undef T

	return test_group_run(tests, NULL, NULL);
}
