// SPDX-License-Identifier: Apache-2.0
/* The engine with ports that are added, removed, renamed and sampled in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_json.h"
#include "diagnosis_world.h"
#include "faults.h"
#include "test_group.h"

#define PORTS_OF_A_LARGE_NODE 136
#define MEMORY_BAR	      (9u << 19)

struct fixture {
	struct world w;
	struct diagnosis *d;
	struct thresholds limits;
};

static struct fixture f;

static void begin(size_t ports)
{
	thresholds_init(&f.limits);
	f.limits.expected = CC_DCQCN;
	world_init(&f.w, ports, 7);
	assert_int_equal(diagnosis_new(&f.d, &f.limits), 0);
	for (size_t i = 0; i < ports; i++)
		world_traffic(&f.w.ports[i], 10e9, 10e9);
}

static int teardown(void **state)
{
	(void)state;
	diagnosis_free(f.d);
	world_done(&f.w);
	f = (struct fixture){0};
	return 0;
}

static void run(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		struct observation o = world_step(&f.w, 1000);

		assert_int_equal(diagnosis_tick(f.d, &o), 0);
	}
}

/* Packets are lost from now on. */
static void make_ill(size_t port)
{
	f.w.ports[port].rate[SERIES_SEQUENCE_NAK] = 5000;
}

static void a_fault_opens_and_ends(void **state)
{
	const struct verdict *v;

	(void)state;
	begin(1);
	run(60);
	assert_int_equal(world_n_verdicts(f.d), 0);
	make_ill(0);
	run(4);
	v = world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS);
	assert_non_null(v);
	assert_in_range(v->onset_ms, 1061000, 1062000);
	assert_in_range(v->onset_unix_ms, 1700001061000, 1700001062000);
	assert_string_equal(v->first_moved, "roce_sequence_nak_received_total");
	assert_int_equal(v->severity, SEVERITY_CRITICAL);
	assert_true(v->n_evidence > 0);
	assert_int_equal(diagnosis_onsets(f.d, CAUSE_PACKET_LOSS), 1);
	f.w.ports[0].rate[SERIES_SEQUENCE_NAK] = 0;
	run(20);
	/* A verdict that is about to end shows the time since which the fault is absent. */
	v = world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS);
	assert_non_null(v);
	assert_true(v->clearing_ms > 0 && v->clearing_ms < f.w.now_ms);
	run(60);
	assert_int_equal(world_n_verdicts(f.d), 0);
	assert_int_equal(diagnosis_onsets(f.d, CAUSE_PACKET_LOSS), 1);
}

/* An open verdict is listed in every tick. */
static void a_verdict_stays_in_the_list(void **state)
{
	(void)state;
	begin(1);
	run(10);
	make_ill(0);
	run(600);
	assert_non_null(world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS));
	assert_int_equal(diagnosis_onsets(f.d, CAUSE_PACKET_LOSS), 1);
}

/* Each time that it is plugged in it has the name, another index and totals of its own. */
static void another_device_of_the_same_name(void **state)
{
	(void)state;
	begin(1);
	f.w.ports[0].o.index = 0;
	run(60);
	for (unsigned i = 1; i <= 5; i++) {
		f.w.ports[0].o.index = i;
		f.w.ports[0].o.value[SERIES_SEQUENCE_NAK] += 20000;
		run(1);
	}
	run(5);
	assert_int_equal(world_n_verdicts(f.d), 0);
	/* Values that are counted from then on are judged. */
	make_ill(0);
	run(10);
	assert_non_null(world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS));
}

static enum close_reason closed_as(const char *device)
{
	size_t n;
	const struct verdict *v = diagnosis_verdicts(f.d, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].change == VERDICT_CLOSED && strcmp(v[i].device, device) == 0)
			return v[i].closed;
	return CLOSE_CLEARED;
}

static void a_removed_port_ends_its_verdicts(void **state)
{
	(void)state;
	begin(3);
	run(10);
	make_ill(1);
	run(10);
	assert_non_null(world_verdict(f.d, "mlx5_1", CAUSE_PACKET_LOSS));
	/* It gets another name. */
	strcpy(f.w.ports[1].o.device, "renamed");
	run(2);
	assert_non_null(world_verdict(f.d, "mlx5_1", CAUSE_PACKET_LOSS));
	assert_int_equal(diagnosis_n_ports(f.d), 4);
	run(1);
	assert_null(world_verdict(f.d, "mlx5_1", CAUSE_PACKET_LOSS));
	assert_int_equal(closed_as("mlx5_1"), CLOSE_GONE);
	assert_int_equal(diagnosis_n_ports(f.d), 3);
	run(2);
	assert_non_null(world_verdict(f.d, "renamed", CAUSE_PACKET_LOSS));
}

static void an_invisible_port_is_removed_after_three_samples(void **state)
{
	struct port_watched port;

	(void)state;
	begin(1);
	run(70);
	make_ill(0);
	run(10);
	f.w.ports[0].o.visible = false;
	run(2);
	assert_non_null(world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS));
	diagnosis_port(f.d, 0, &port);
	assert_int_equal(port.watch, WATCH_UNSEEN);
	run(1);
	assert_null(world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS));
	assert_int_equal(closed_as("mlx5_0"), CLOSE_GONE);
}

static void a_port_warms_up(void **state)
{
	struct port_watched port;

	(void)state;
	begin(1);
	run(59);
	diagnosis_port(f.d, 0, &port);
	assert_int_equal(port.watch, WATCH_WARMING);
	run(3);
	diagnosis_port(f.d, 0, &port);
	assert_int_equal(port.watch, WATCH_JUDGED);
	/* And after a gap it does again. */
	f.w.now_ms += 600000;
	run(2);
	diagnosis_port(f.d, 0, &port);
	assert_int_equal(port.watch, WATCH_WARMING);
	assert_int_equal(world_n_verdicts(f.d), 0);
}

static void partial_samples_leave_others_alone(void **state)
{
	(void)state;
	begin(2);
	run(10);
	f.w.ports[0].rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = 1;
	world_traffic(&f.w.ports[0], 0, 1e9);
	for (int i = 0; i < 8; i++) {
		struct observation o = world_step(&f.w, 100);

		o.partial = true;
		o.n_ports = 1;
		assert_int_equal(diagnosis_tick(f.d, &o), 0);
		/* Two samples of 100 ms make a storm. */
		assert_int_equal(!world_verdict(f.d, "mlx5_0", CAUSE_PAUSE_STORM_SOURCE), i < 1);
	}
	assert_int_equal(diagnosis_n_ports(f.d), 2);
	run(5);
	assert_int_equal(world_n_verdicts(f.d), 1);
}

/* A pause of 300 ms is a ratio of 0.3 in a sample of a second; burst readings show that it was
 * continuous. */
static void a_storm_shorter_than_a_sample(void **state)
{
	(void)state;
	begin(2);
	run(10);
	f.w.ports[0].rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = 0.15;
	f.w.ports[0].o.stalled_sent_s = 0.15;
	run(1);
	assert_null(world_verdict(f.d, "mlx5_0", CAUSE_PAUSE_STORM_SOURCE));
	f.w.ports[0].rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = 0.3;
	f.w.ports[0].o.stalled_sent_s = 0.3;
	run(1);
	assert_non_null(world_verdict(f.d, "mlx5_0", CAUSE_PAUSE_STORM_SOURCE));
	assert_null(world_verdict(f.d, "mlx5_0", CAUSE_PAUSE_STORM_VICTIM));
	assert_null(world_verdict(f.d, "mlx5_1", CAUSE_PAUSE_STORM_SOURCE));
}

/* The document without the parts that depend on the order of ports. */
static char *said(bool backwards)
{
	char *text;
	struct diagnosis_report report = {0};
	json_t *all, *verdicts;

	begin(8);
	for (int i = 0; i < 120; i++) {
		struct port_observation turned[8];
		struct observation o = world_step(&f.w, 1000);

		for (size_t p = 0; p < 8; p++)
			turned[p] = o.ports[backwards ? 7 - p : p];
		o.ports = turned;
		if (i == 60) {
			make_ill(2);
			f.w.ports[5].rate[SERIES_SYMBOL_ERRORS] = 500;
		}
		assert_int_equal(diagnosis_tick(f.d, &o), 0);
	}
	assert_int_equal(diagnosis_report_make(&report, f.d), 0);
	all = diagnosis_json(&report);
	diagnosis_report_done(&report);
	verdicts = json_object_get(all, "verdicts");
	assert_int_equal(json_array_size(verdicts), 2);
	/* By device, since both open at different moments or in the order of ports. */
	if (strcmp(json_string_value(json_object_get(json_array_get(verdicts, 0), "device")),
		   "mlx5_2") != 0) {
		json_t *first = json_incref(json_array_get(verdicts, 0));

		json_array_remove(verdicts, 0);
		json_array_append_new(verdicts, first);
	}
	text = json_dumps(verdicts, JSON_SORT_KEYS);
	json_decref(all);
	teardown(NULL);
	return text;
}

static void the_order_of_ports_does_not_matter(void **state)
{
	char *forth = said(false), *back = said(true);

	(void)state;
	assert_string_equal(forth, back);
	free(forth);
	free(back);
}

/* Nothing is allocated while ports and verdicts stay the same, and a large node keeps within its
 * bounds. */
static void memory_is_bounded(void **state)
{
	size_t memory;

	(void)state;
	begin(PORTS_OF_A_LARGE_NODE);
	make_ill(3);
	run(10);
	memory = diagnosis_memory(f.d);
	assert_true(memory <= MEMORY_BAR);
	faults_alloc(0); /* the next allocation fails */
	for (int i = 0; i < 20; i++) {
		struct observation o = world_step(&f.w, 1000);

		assert_int_equal(diagnosis_tick(f.d, &o), 0);
	}
	assert_false(faults_end());
	assert_int_equal(diagnosis_memory(f.d), memory);
}

/* Ports and verdicts for which there is no memory come later. */
static void out_of_memory_is_not_the_end(void **state)
{
	(void)state;
	for (long nth = 0; nth < 12; nth++) {
		begin(2);
		make_ill(0);
		faults_alloc(nth);
		for (int i = 0; i < 10; i++) {
			struct observation o = world_step(&f.w, 1000);

			diagnosis_tick(f.d, &o);
		}
		faults_end();
		run(10);
		assert_non_null(world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS));
		teardown(NULL);
	}
}

static void samples_without_progress_of_time_are_skipped(void **state)
{
	struct observation o;

	(void)state;
	begin(1);
	run(10);
	o = world_step(&f.w, 0);
	f.w.observed[0].value[SERIES_SEQUENCE_NAK] = 2000;
	assert_int_equal(diagnosis_tick(f.d, &o), 0);
	o.now_ms -= 5000;
	assert_int_equal(diagnosis_tick(f.d, &o), 0);
	run(10);
	assert_int_equal(world_n_verdicts(f.d), 0);
}

static void undecided_causes_have_a_reason(void **state)
{
	char why[UNDECIDED_SIZE];

	(void)state;
	begin(1);
	run(5);
	assert_false(diagnosis_undecided(f.d, 0, CAUSE_PACKET_LOSS, why));
	assert_false(diagnosis_undecided(f.d, 0, CAUSE_REACTION_POINT_OFF, why));
	assert_true(diagnosis_undecided(f.d, 0, CAUSE_CNP_LOST, why));
	f.w.ports[0].o.value[SERIES_CNP_IGNORED] = (double)NAN;
	f.w.ports[0].o.value[SERIES_SEQUENCE_NAK] = f.w.ports[0].o.value[SERIES_IMPLIED_NAK] =
		(double)NAN;
	run(15);
	assert_true(diagnosis_undecided(f.d, 0, CAUSE_REACTION_POINT_OFF, why));
	assert_string_equal(why, "roce_cnp_ignored_packets_total is not visible");
	assert_true(diagnosis_undecided(f.d, 0, CAUSE_PACKET_LOSS, why));
}

TEST_GROUP(diagnosis)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_fault_opens_and_ends, teardown),
		cmocka_unit_test_teardown(a_verdict_stays_in_the_list, teardown),
		cmocka_unit_test_teardown(another_device_of_the_same_name, teardown),
		cmocka_unit_test_teardown(a_removed_port_ends_its_verdicts, teardown),
		cmocka_unit_test_teardown(an_invisible_port_is_removed_after_three_samples,
					  teardown),
		cmocka_unit_test_teardown(a_port_warms_up, teardown),
		cmocka_unit_test_teardown(partial_samples_leave_others_alone, teardown),
		cmocka_unit_test_teardown(a_storm_shorter_than_a_sample, teardown),
		cmocka_unit_test(the_order_of_ports_does_not_matter),
		cmocka_unit_test_teardown(memory_is_bounded, teardown),
		cmocka_unit_test(out_of_memory_is_not_the_end),
		cmocka_unit_test_teardown(samples_without_progress_of_time_are_skipped, teardown),
		cmocka_unit_test_teardown(undecided_causes_have_a_reason, teardown),
	};

	return test_group_run(tests, NULL, NULL);
}
