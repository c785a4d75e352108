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
#include "diagnosis_report.h"
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

/* The port loses packets from now on. */
static void lose_packets(size_t port)
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
	lose_packets(0);
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
	/* A verdict that is about to end has the time since which the fault is absent. */
	v = world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS);
	assert_non_null(v);
	assert_true(v->clearing_ms > 0 && v->clearing_ms < f.w.now_ms);
	run(60);
	assert_int_equal(world_n_verdicts(f.d), 0);
	assert_int_equal(diagnosis_onsets(f.d, CAUSE_PACKET_LOSS), 1);
}

/* An open verdict is listed after every tick. */
static void a_verdict_stays_in_the_list(void **state)
{
	(void)state;
	begin(1);
	run(10);
	lose_packets(0);
	run(600);
	assert_non_null(world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS));
	assert_int_equal(diagnosis_onsets(f.d, CAUSE_PACKET_LOSS), 1);
}

/* The same name with another index and other totals each time, as after hot-plug. */
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
	/* Increases after the last replacement are judged. */
	lose_packets(0);
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
	lose_packets(1);
	run(10);
	assert_non_null(world_verdict(f.d, "mlx5_1", CAUSE_PACKET_LOSS));
	/* The device is renamed. */
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
	lose_packets(0);
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
	/* It warms up again after a gap. */
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
		/* A storm opens a verdict after two samples of 100 ms. */
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

/* The verdicts as text, independent of the order of ports. */
static char *verdicts_text(bool backwards)
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
			lose_packets(2);
			f.w.ports[5].rate[SERIES_SYMBOL_ERRORS] = 500;
		}
		assert_int_equal(diagnosis_tick(f.d, &o), 0);
	}
	assert_int_equal(diagnosis_report_make(&report, f.d), 0);
	all = diagnosis_json(&report);
	diagnosis_report_done(&report);
	verdicts = json_object_get(all, "verdicts");
	assert_int_equal(json_array_size(verdicts), 2);
	/* Sorted by device, since both may open at different times or in the order of ports. */
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
	char *forth = verdicts_text(false), *back = verdicts_text(true);

	(void)state;
	assert_string_equal(forth, back);
	free(forth);
	free(back);
}

/* Nothing is allocated while ports and verdicts stay the same, and a large node stays within its
 * limit. */
static void memory_is_bounded(void **state)
{
	size_t memory;

	(void)state;
	begin(PORTS_OF_A_LARGE_NODE);
	lose_packets(3);
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

/* After a failed allocation, ports and verdicts are added later. */
static void out_of_memory_is_survived(void **state)
{
	(void)state;
	for (long nth = 0; nth < 12; nth++) {
		begin(2);
		lose_packets(0);
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

static void hide(struct world_port *p, enum series first, enum series last)
{
	for (int s = (int)first; s <= (int)last; s++)
		p->o.value[s] = (double)NAN;
}

#define HIDE_MAX 6

/* A cause is not judged if a counter that could show it alone is not visible, although others are:
 * it counts as undecided, with the reason. */
static void what_cannot_be_seen_is_not_judged(void **state)
{
	static const struct {
		enum cause cause;
		struct {
			enum series first, last;
		} hidden[HIDE_MAX];
		size_t n;
		const char *why;
	} rows[] = {
		{CAUSE_BAD_LINK,
		 {{SERIES_SYMBOL_ERRORS, SERIES_SYMBOL_ERRORS},
		  {SERIES_CRC_ERRORS, SERIES_CRC_ERRORS},
		  {SERIES_UNCORRECTABLE, SERIES_UNCORRECTABLE}},
		 3,
		 "no counter of PHY errors is visible"},
		{CAUSE_PAUSED_BY_NETWORK,
		 {{SERIES_PAUSE_RECEIVED, SERIES_PAUSE_RECEIVED_LAST}},
		 1,
		 "no pause time is visible"},
		{CAUSE_SLOW_RECEIVER,
		 {{SERIES_PAUSE_SENT, SERIES_PAUSE_SENT_LAST}},
		 1,
		 "no pause time is visible"},
		{CAUSE_SLOW_RECEIVER,
		 {{SERIES_DISCARDS_RECEIVED, SERIES_DISCARDS_RECEIVED},
		  {SERIES_NO_BUFFER, SERIES_HOST_CONGESTION_LAST}},
		 2,
		 "no discards are visible"},
		{CAUSE_SLOW_RECEIVER_NIC_CACHE,
		 {{SERIES_MRS, SERIES_MRS}},
		 1,
		 "memory regions are not counted"},
		{CAUSE_FABRIC_CONGESTION,
		 {{SERIES_CE, SERIES_CE}, {SERIES_CNP_SENT, SERIES_CNP_SENT}},
		 2,
		 "marks are not counted; CNPs from peers show no congestion"},
		{CAUSE_FABRIC_CONGESTION,
		 {{SERIES_CNP_RECEIVED, SERIES_CNP_IGNORED}},
		 1,
		 "CNPs received are not counted; no marks arrive"},
		{CAUSE_PACKET_LOSS,
		 {{SERIES_ACK_TIMEOUTS, SERIES_ACK_TIMEOUTS}},
		 1,
		 "timeouts are not counted; there are no NAKs"},
		{CAUSE_RECEIVER_NOT_READY,
		 {{SERIES_RNR_NAK, SERIES_RNR_NAK_SENT}, {SERIES_WQE_MISSING, SERIES_WQE_MISSING}},
		 2,
		 "neither RNR NAKs nor missing receive work requests are counted"},
		{CAUSE_JOB_ENDED,
		 {{SERIES_RETRIES_EXCEEDED, SERIES_RETRIES_EXCEEDED}},
		 1,
		 "roce_transport_retries_exceeded_total is not visible"},
		{CAUSE_CONTRADICTING_COUNTERS,
		 {{SERIES_CE, SERIES_CE},
		  {SERIES_CNP_RECEIVED, SERIES_CNP_RECEIVED},
		  {SERIES_PAUSE_RECEIVED, SERIES_PAUSE_RECEIVED_LAST},
		  {SERIES_PAUSE_SENT, SERIES_PAUSE_SENT_LAST}},
		 4,
		 "no two counters of the same events are visible"},
	};
	char why[UNDECIDED_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(2);
		for (size_t k = 0; k < rows[i].n; k++)
			hide(&f.w.ports[1], rows[i].hidden[k].first, rows[i].hidden[k].last);
		run(60);
		assert_false(diagnosis_undecided(f.d, 0, rows[i].cause, why));
		if (!diagnosis_undecided(f.d, 1, rows[i].cause, why))
			fail_msg("%s is judged", cause_row(rows[i].cause)->name);
		assert_string_equal(why, rows[i].why);
		teardown(NULL);
	}
}

static bool reads(enum cause c, enum series s)
{
	const struct cause_row *row = cause_row(c);

	for (unsigned i = 0; i < row->n_reads; i++)
		if (row->reads[i] == s)
			return true;
	return false;
}

/* The list of counters that a cause reads has those that it needs, and every counter is in one. */
static void counters_that_causes_read(void **state)
{
	(void)state;
	for (int c = 0; c < N_CAUSES; c++)
		for (unsigned i = 0; i < cause_row((enum cause)c)->n_needs; i++)
			assert_true(reads((enum cause)c, cause_row((enum cause)c)->needs[i]));
	for (int s = 0; s < N_SERIES; s++) {
		bool found = s == SERIES_CQE_ERRORS || s == SERIES_CQE_ERRORS_RESP ||
			     series_number((enum series)s) > 0;

		for (int c = 0; c < N_CAUSES; c++)
			found |= reads((enum cause)c, (enum series)s);
		if (!found)
			fail_msg("no cause reads %s", series_name((enum series)s));
	}
}

/* What to do with the node rises with the severity. */
static void node_actions(void **state)
{
	const struct cause_row *link = cause_row(CAUSE_BAD_LINK);

	(void)state;
	assert_int_equal(cause_node_action(link, SEVERITY_INFO), NODE_KEEP);
	assert_int_equal(cause_node_action(link, SEVERITY_WARNING), NODE_CORDON);
	assert_int_equal(cause_node_action(link, SEVERITY_CRITICAL), NODE_DRAIN);
	assert_int_equal(cause_node_action(cause_row(CAUSE_LINK_FLAP), SEVERITY_WARNING),
			 NODE_KEEP);
	for (int c = 0; c < N_CAUSES; c++) {
		const struct cause_row *row = cause_row((enum cause)c);

		/* If the fault is elsewhere, the node stays in service. */
		assert_true(row->side == SIDE_NODE || row->side == SIDE_NETWORK ||
			    cause_node_action(row, SEVERITY_CRITICAL) == NODE_KEEP);
	}
}

/* Samples that show no fault, as far as is visible, are no part of a later one, and end a verdict
 * in the usual time. */
static void a_no_without_all_counters_is_a_no(void **state)
{
	(void)state;
	begin(1);
	hide(&f.w.ports[0], SERIES_DISCARDS_RECEIVED, SERIES_DISCARDS_RECEIVED);
	hide(&f.w.ports[0], SERIES_NO_BUFFER, SERIES_HOST_CONGESTION_LAST);
	run(60);
	f.w.ports[0].rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = 0.2;
	run(20);
	assert_non_null(world_verdict(f.d, "mlx5_0", CAUSE_SLOW_RECEIVER));
	f.w.ports[0].rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = 0;
	run(90);
	assert_null(world_verdict(f.d, "mlx5_0", CAUSE_SLOW_RECEIVER));
}

/* Without a lossless priority there is no pause of a priority. */
static void pause_that_is_off_needs_no_counters(void **state)
{
	char why[UNDECIDED_SIZE];

	(void)state;
	begin(1);
	f.w.ports[0].settings.pfc = 0;
	hide(&f.w.ports[0], SERIES_PAUSE_RECEIVED, SERIES_PAUSE_RECEIVED_LAST);
	hide(&f.w.ports[0], SERIES_PAUSE_SENT, SERIES_PAUSE_SENT_LAST);
	run(60);
	assert_false(diagnosis_undecided(f.d, 0, CAUSE_SLOW_RECEIVER, why));
	assert_false(diagnosis_undecided(f.d, 0, CAUSE_PAUSED_BY_NETWORK, why));
}

/* If the fault existed at the start, the first sample is not the onset. */
static void a_fault_older_than_the_start(void **state)
{
	const struct verdict *v;

	(void)state;
	begin(2);
	lose_packets(0);
	run(100);
	v = world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS);
	assert_non_null(v);
	assert_true(v->before_start);
	assert_int_equal(v->onset_ms, 1001000);
	assert_int_equal(v->last_ms, f.w.now_ms);
	lose_packets(1);
	run(10);
	v = world_verdict(f.d, "mlx5_1", CAUSE_PACKET_LOSS);
	assert_non_null(v);
	assert_false(v->before_start);
}

/* A single error is shown as a count with its time, not as a rate. */
static void a_single_error(void **state)
{
	const struct verdict *v;
	uint64_t at;

	(void)state;
	begin(1);
	run(60);
	f.w.ports[0].rate[SERIES_ACCESS_ERRORS] = 1;
	run(1);
	f.w.ports[0].rate[SERIES_ACCESS_ERRORS] = 0;
	at = f.w.now_ms;
	run(30);
	v = world_verdict(f.d, "mlx5_0", CAUSE_APPLICATION_ERROR);
	assert_non_null(v);
	assert_int_equal(v->evidence[0].value, 1);
	assert_string_equal(v->evidence[0].unit, "");
	assert_int_equal(v->last_ms, at);
}

/* Queue pairs that failed once still count half a minute later. */
static void queue_pairs_that_failed(void **state)
{
	const struct verdict *v;
	uint64_t at;

	(void)state;
	begin(1);
	run(60);
	f.w.ports[0].rate[SERIES_RETRIES_EXCEEDED] = 3;
	run(1);
	f.w.ports[0].rate[SERIES_RETRIES_EXCEEDED] = 0;
	at = f.w.now_ms;
	run(30);
	v = world_verdict(f.d, "mlx5_0", CAUSE_PEER_GONE);
	assert_non_null(v);
	assert_string_equal(v->evidence[0].name, "roce_transport_retries_exceeded_total");
	assert_int_equal(v->evidence[0].value, 3);
	assert_int_equal(v->last_ms, at);
}

static const struct observed_pod three_pods[] = {
	{"train", "a-0", false}, {"train", "a-1", false}, {"train", "a-2", false}};

/* A problem of a PF's link concerns the pods of all its VFs. */
static void pods_of_the_vfs_of_a_pf(void **state)
{
	const struct verdict *v;

	(void)state;
	begin(4);
	strcpy(f.w.ports[0].o.function, "0000:03:00.0");
	for (size_t i = 1; i < 4; i++) {
		strcpy(f.w.ports[i].o.parent, "0000:03:00.0");
		f.w.ports[i].o.pods = &three_pods[i - 1];
		f.w.ports[i].o.n_pods = 1;
	}
	run(60);
	f.w.ports[0].rate[SERIES_PAUSE_RECEIVED + WORLD_PRIORITY] = 0.2;
	run(30);
	v = world_verdict(f.d, "mlx5_0", CAUSE_PAUSED_BY_NETWORK);
	assert_non_null(v);
	assert_int_equal(v->n_pods, 3);
	assert_string_equal(v->pods[2].name, "a-2");
	/* Lost packets concern only the function that lost them. */
	lose_packets(0);
	run(10);
	v = world_verdict(f.d, "mlx5_0", CAUSE_PACKET_LOSS);
	assert_non_null(v);
	assert_int_equal(v->n_pods, 0);
}

/* A VF that fills a congested port: its pod causes the verdict, which affects the pods of the other
 * VFs, although their counters show nothing. If that pod ends, it is still the one. */
static void the_pods_beside_a_noisy_one_are_affected(void **state)
{
	const struct verdict *v;

	(void)state;
	begin(4);
	strcpy(f.w.ports[0].o.function, "0000:03:00.0");
	world_traffic(&f.w.ports[0], 0, 0);
	for (size_t i = 1; i < 4; i++) {
		strcpy(f.w.ports[i].o.parent, "0000:03:00.0");
		f.w.ports[i].o.pods = &three_pods[i - 1];
		f.w.ports[i].o.n_pods = 1;
		world_traffic(&f.w.ports[i], i == 2 ? 21e9 : 1e9, 1e9);
	}
	run(60);
	f.w.ports[2].rate[SERIES_CE] = 21e9 / 4096 * 0.05;
	run(20);
	v = world_verdict(f.d, "mlx5_0", CAUSE_NOISY_NEIGHBOUR);
	assert_non_null(v);
	f.w.ports[2].o.n_pods = 0;
	run(1);
	for (int i = 0; i < 2; i++) {
		v = world_verdict(f.d, "mlx5_0", CAUSE_NOISY_NEIGHBOUR);
		assert_int_equal(v->n_culprits, 1);
		assert_string_equal(v->culprits[0].name, "a-1");
		assert_int_equal(v->n_pods, 2);
		assert_string_equal(v->pods[0].name, "a-0");
		assert_string_equal(v->pods[1].name, "a-2");
		run(1);
	}
}

/* Marks on a PF and on its VFs are one congestion: that of the PF, with all pods and the highest
 * severity. A VF's own verdict is reported while the PF has none. */
static void congestion_of_a_pf_and_its_vfs_is_one(void **state)
{
	const struct verdict *v;

	(void)state;
	begin(3);
	strcpy(f.w.ports[0].o.function, "0000:03:00.0");
	for (size_t i = 1; i < 3; i++) {
		strcpy(f.w.ports[i].o.parent, "0000:03:00.0");
		f.w.ports[i].o.pods = &three_pods[i - 1];
		f.w.ports[i].o.n_pods = 1;
	}
	for (size_t i = 0; i < 3; i++)
		world_traffic(&f.w.ports[i], 5e9, 5e9);
	run(60);
	f.w.ports[2].rate[SERIES_CE] = 5e9 / 4096 * 0.2;
	f.w.ports[2].rate[SERIES_CNP_SENT] = 1000;
	run(20);
	assert_int_equal(world_n_verdicts(f.d), 1);
	assert_non_null(world_verdict(f.d, "mlx5_2", CAUSE_FABRIC_CONGESTION));
	for (size_t i = 0; i < 2; i++) {
		f.w.ports[i].rate[SERIES_CE] = 5e9 / 4096 * 0.05;
		f.w.ports[i].rate[SERIES_CNP_SENT] = 1000;
	}
	run(20);
	assert_int_equal(world_n_verdicts(f.d), 1);
	v = world_verdict(f.d, "mlx5_0", CAUSE_FABRIC_CONGESTION);
	assert_non_null(v);
	assert_int_equal(v->n_pods, 2);
	assert_int_equal(v->severity, SEVERITY_CRITICAL);
	f.w.ports[0].rate[SERIES_CE] = f.w.ports[0].rate[SERIES_CNP_SENT] = 0;
	run(120);
	assert_int_equal(world_n_verdicts(f.d), 2);
	assert_false(world_verdict(f.d, "mlx5_1", CAUSE_FABRIC_CONGESTION)->explained);
	assert_false(world_verdict(f.d, "mlx5_2", CAUSE_FABRIC_CONGESTION)->explained);
}

/* Packets that each function lost itself are faults of their own. */
static void lost_packets_of_a_pf_and_its_vf_are_two(void **state)
{
	(void)state;
	begin(2);
	strcpy(f.w.ports[0].o.function, "0000:03:00.0");
	strcpy(f.w.ports[1].o.parent, "0000:03:00.0");
	run(60);
	lose_packets(0);
	lose_packets(1);
	run(20);
	assert_int_equal(world_n_verdicts(f.d), 2);
}

/* The share of the line in the evidence. */
static double use_of(enum cause c)
{
	const struct verdict *v = world_verdict(f.d, "mlx5_0", c);

	assert_non_null(v);
	for (unsigned i = 0; i < v->n_evidence; i++)
		if (strcmp(v->evidence[i].name, "received, share of the line's capacity") == 0)
			return v->evidence[i].value;
	fail();
	return 0;
}

/* The line of a PF is full if its VFs fill it: the PF is no slow receiver, and a VF's congestion is
 * not inside the fabric. If it is unknown whether its bytes contain those of its VFs, the larger
 * ones count. */
static void the_line_is_that_of_pf_and_vfs(void **state)
{
	(void)state;
	for (int unknown = 0; unknown < 2; unknown++) {
		begin(3);
		strcpy(f.w.ports[0].o.function, "0000:03:00.0");
		for (size_t i = 0; i < 3; i++) {
			if (i > 0)
				strcpy(f.w.ports[i].o.parent, "0000:03:00.0");
			if (unknown) {
				strcpy(f.w.ports[i].o.driver, "bnxt_re");
				strcpy(f.w.ports[i].o.bytes_source, "netlink");
			}
		}
		world_traffic(&f.w.ports[0], unknown ? 14e9 : 0, 1e9);
		world_traffic(&f.w.ports[1], 7e9, 1e9);
		world_traffic(&f.w.ports[2], 7e9, 1e9);
		run(30);
		f.w.ports[0].rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = 0.2;
		run(20);
		assert_in_range(100 * use_of(CAUSE_SLOW_RECEIVER), 54, 60);
		world_traffic(&f.w.ports[1], 18e9, 1e9);
		world_traffic(&f.w.ports[0], unknown ? 25e9 : 0, 1e9);
		run(120);
		assert_null(world_verdict(f.d, "mlx5_0", CAUSE_SLOW_RECEIVER));
		teardown(NULL);
	}
}

static double limit_of_main(enum cause c)
{
	const struct verdict *v = world_verdict(f.d, "mlx5_0", c);

	assert_non_null(v);
	return v->evidence[0].threshold;
}

static enum severity severity_of_link(size_t port)
{
	const struct verdict *v = world_verdict(f.d, f.w.ports[port].o.device, CAUSE_LINK_FLAP);

	assert_non_null(v);
	return v->severity;
}

/* A dead link under a pod, or under RDMA traffic, is critical from its first sample, and after the
 * pod has ended; while it is up again it is a warning. Without any use it is a warning. */
static void a_dead_link_is_critical_at_once(void **state)
{
	(void)state;
	begin(3);
	f.w.ports[0].o.pods = three_pods;
	f.w.ports[0].o.n_pods = 1;
	for (size_t i = 0; i < 3; i += 2)
		world_traffic(&f.w.ports[i], 0, 0);
	run(60);
	for (size_t i = 0; i < 3; i++)
		f.w.ports[i].o.state = PORT_DOWN;
	run(1);
	assert_int_equal(severity_of_link(0), SEVERITY_CRITICAL);
	assert_int_equal(severity_of_link(1), SEVERITY_CRITICAL);
	assert_int_equal(severity_of_link(2), SEVERITY_WARNING);
	f.w.ports[0].o.n_pods = 0;
	run(300);
	assert_int_equal(severity_of_link(0), SEVERITY_CRITICAL);
	assert_int_equal(severity_of_link(2), SEVERITY_WARNING);
	f.w.ports[0].o.state = PORT_ACTIVE;
	run(1);
	assert_int_equal(severity_of_link(0), SEVERITY_WARNING);
	/* Down again, it is critical again, and that is an event. */
	f.w.ports[0].o.state = PORT_DOWN;
	run(1);
	assert_int_equal(severity_of_link(0), SEVERITY_CRITICAL);
	assert_int_equal(world_verdict(f.d, "mlx5_0", CAUSE_LINK_FLAP)->change, VERDICT_SEVERITY);
	/* A port without use is a warning however often its link goes down. */
	for (int i = 0; i < 4; i++) {
		f.w.ports[2].o.state = PORT_ACTIVE;
		run(100);
		f.w.ports[2].o.state = PORT_DOWN;
		run(20);
	}
	assert_int_equal(severity_of_link(2), SEVERITY_WARNING);
}

/* The link of a PF is in use if a pod has one of its VFs. */
static void a_dead_link_under_the_pod_of_a_vf(void **state)
{
	(void)state;
	begin(2);
	strcpy(f.w.ports[0].o.function, "0000:03:00.0");
	strcpy(f.w.ports[1].o.parent, "0000:03:00.0");
	for (size_t i = 0; i < 2; i++)
		world_traffic(&f.w.ports[i], 0, 0);
	f.w.ports[1].o.pods = three_pods;
	f.w.ports[1].o.n_pods = 1;
	run(60);
	f.w.ports[0].o.state = f.w.ports[1].o.state = PORT_DOWN;
	f.w.ports[1].o.admin_down = true;
	run(1);
	assert_int_equal(severity_of_link(0), SEVERITY_CRITICAL);
	f.w.ports[0].o.state = PORT_ACTIVE;
	run(1);
	assert_int_equal(severity_of_link(0), SEVERITY_WARNING);
}

/* The past is as severe as it was, also if the fault became milder while it cleared. */
static void an_ended_verdict_keeps_its_worst_severity(void **state)
{
	struct diagnosis_report r = {0};

	(void)state;
	begin(1);
	f.w.ports[0].o.pods = three_pods;
	f.w.ports[0].o.n_pods = 1;
	run(60);
	f.w.ports[0].o.state = PORT_DOWN;
	run(120);
	f.w.ports[0].o.state = PORT_ACTIVE;
	run(5);
	assert_int_equal(severity_of_link(0), SEVERITY_WARNING);
	run(120);
	assert_int_equal(diagnosis_report_make(&r, f.d), 0);
	assert_int_equal(r.n_ended, 1);
	assert_int_equal(r.ended[0].verdict.cause, CAUSE_LINK_FLAP);
	assert_int_equal(r.ended[0].verdict.severity, SEVERITY_CRITICAL);
	diagnosis_report_done(&r);
}

/* Something happens to a port: a counter begins to move, jumps or stops, its link, its pod or its
 * traffic changes. */
static void happen(struct world_port *p)
{
	const enum series s = (enum series)(world_random(&f.w) * N_SERIES);
	const double kind = world_random(&f.w), size = pow(10, 6 * world_random(&f.w) - 1);

	if (kind < 0.3)
		p->rate[s] = series_kind(s) == SERIES_SECONDS ? world_random(&f.w) : size;
	else if (kind < 0.45)
		p->o.value[s] += floor(1 + size);
	else if (kind < 0.6)
		p->rate[s] = 0;
	else if (kind < 0.7)
		p->o.value[SERIES_RETRIES_EXCEEDED] += 1;
	else if (kind < 0.8)
		p->o.state = p->o.state == PORT_ACTIVE ? PORT_DOWN : PORT_ACTIVE;
	else if (kind < 0.85)
		p->o.n_pods = 1 - p->o.n_pods;
	else if (kind < 0.9)
		world_traffic(p, 24e9 * world_random(&f.w), 24e9 * world_random(&f.w));
	else if (kind < 0.95)
		world_traffic(p, 0, 0);
	else
		p->o.gid_moved = !p->o.gid_moved;
}

static void assert_in_order(const struct verdict *v)
{
	assert_in_range(v->last_ms, v->onset_ms, f.w.now_ms);
	assert_true(v->last_unix_ms >= v->onset_unix_ms);
	assert_true(v->over_ms == 0 || v->over_ms >= v->last_ms);
}

/* Whatever happens, no verdict begins after it was last seen. */
static void no_onset_after_the_last_sighting(void **state)
{
	unsigned seen[N_CAUSES] = {0}, causes = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		begin(4);
		f.w.random = seed * 2654435761u + 1;
		strcpy(f.w.ports[0].o.function, "0000:03:00.0");
		for (size_t i = 0; i < 4; i++) {
			f.w.ports[i].o.pods = three_pods;
			if (i > 1)
				strcpy(f.w.ports[i].o.parent, "0000:03:00.0");
		}
		for (int second = 0; second < 400; second++) {
			size_t n;
			const struct verdict *all;

			if (second > 30 && world_random(&f.w) < 0.2)
				happen(&f.w.ports[(size_t)(4 * world_random(&f.w))]);
			run(1);
			all = diagnosis_verdicts(f.d, &n);
			for (size_t i = 0; i < n; i++) {
				assert_in_order(&all[i]);
				causes += seen[all[i].cause]++ == 0;
			}
		}
		teardown(NULL);
	}
	assert_in_range(causes, N_CAUSES / 3, N_CAUSES);
}

/* Queue pairs that failed while the rule could not decide yet: the fault began when they did. */
static void a_peer_that_is_gone_since_its_failures(void **state)
{
	const struct verdict *v;
	uint64_t at;

	(void)state;
	begin(1);
	run(60);
	f.w.ports[0].o.value[SERIES_RETRIES_EXCEEDED] += 3;
	run(1);
	at = f.w.now_ms;
	run(8);
	v = world_verdict(f.d, "mlx5_0", CAUSE_PEER_GONE);
	assert_non_null(v);
	assert_int_equal(v->onset_ms, at);
	assert_int_equal(v->last_ms, at);
}

/* The limit belongs to the severity: none for a first flap while the link is down. */
static void the_limit_of_the_severity(void **state)
{
	(void)state;
	begin(1);
	f.limits.value[LIMIT_down_critical_seconds] = 240;
	diagnosis_set_thresholds(f.d, &f.limits);
	run(60);
	f.w.ports[0].o.state = PORT_DOWN;
	run(2);
	assert_int_equal(world_verdict(f.d, "mlx5_0", CAUSE_LINK_FLAP)->severity, SEVERITY_WARNING);
	assert_string_equal(world_verdict(f.d, "mlx5_0", CAUSE_LINK_FLAP)->evidence[0].name,
			    "link down for");
	assert_true(isnan(limit_of_main(CAUSE_LINK_FLAP)));
	run(300);
	assert_int_equal(world_verdict(f.d, "mlx5_0", CAUSE_LINK_FLAP)->severity,
			 SEVERITY_CRITICAL);
	assert_string_equal(world_verdict(f.d, "mlx5_0", CAUSE_LINK_FLAP)->evidence[0].name,
			    "link down for");
	assert_true(limit_of_main(CAUSE_LINK_FLAP) == f.limits.value[LIMIT_down_critical_seconds]);
}

/* A counter is named as the first that moved only if it has moved. */
static void a_counter_that_moved_first(void **state)
{
	(void)state;
	for (int counted = 0; counted < 2; counted++) {
		begin(1);
		run(60);
		f.w.ports[0].o.state = PORT_DOWN;
		f.w.ports[0].rate[SERIES_LINK_DOWN] = counted;
		run(1);
		f.w.ports[0].rate[SERIES_LINK_DOWN] = 0;
		run(1);
		assert_string_equal(world_verdict(f.d, "mlx5_0", CAUSE_LINK_FLAP)->first_moved,
				    counted ? "roce_phy_link_down_total" : "roce_port_state");
		teardown(NULL);
	}
}

/* The verdict of a VF whose link went down again and again makes that of its PF critical: its
 * limits are still those of its own severity, and the longest time down is its worst value. */
static void the_severity_of_a_vf(void **state)
{
	struct verdict *v;

	(void)state;
	begin(2);
	strcpy(f.w.ports[0].o.function, "0000:03:00.0");
	strcpy(f.w.ports[1].o.parent, "0000:03:00.0");
	f.w.ports[1].o.pods = three_pods;
	f.w.ports[1].o.n_pods = 1;
	f.limits.value[LIMIT_down_critical_seconds] = 240;
	diagnosis_set_thresholds(f.d, &f.limits);
	run(180);
	for (int i = 0; i < 3; i++) {
		f.w.ports[1].o.state = PORT_DOWN;
		run(5);
		f.w.ports[1].o.state = PORT_ACTIVE;
		run(5);
	}
	f.w.ports[0].o.state = f.w.ports[1].o.state = PORT_DOWN;
	run(72);
	v = (struct verdict *)world_verdict(f.d, "mlx5_0", CAUSE_LINK_FLAP);
	assert_int_equal(v->severity, SEVERITY_CRITICAL);
	assert_true(isnan(limit_of_main(CAUSE_LINK_FLAP)));
	assert_non_null(strstr(v->remark, "verdict of a VF"));
	assert_string_equal(v->worst.evidence[0].name, "link down for");
	assert_in_range((uintmax_t)v->worst.evidence[0].value, 70, 73);
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
		cmocka_unit_test(out_of_memory_is_survived),
		cmocka_unit_test_teardown(samples_without_progress_of_time_are_skipped, teardown),
		cmocka_unit_test_teardown(undecided_causes_have_a_reason, teardown),
		cmocka_unit_test(what_cannot_be_seen_is_not_judged),
		cmocka_unit_test(counters_that_causes_read),
		cmocka_unit_test(node_actions),
		cmocka_unit_test_teardown(a_no_without_all_counters_is_a_no, teardown),
		cmocka_unit_test_teardown(pause_that_is_off_needs_no_counters, teardown),
		cmocka_unit_test_teardown(a_fault_older_than_the_start, teardown),
		cmocka_unit_test_teardown(a_single_error, teardown),
		cmocka_unit_test_teardown(queue_pairs_that_failed, teardown),
		cmocka_unit_test_teardown(the_severity_of_a_vf, teardown),
		cmocka_unit_test_teardown(pods_of_the_vfs_of_a_pf, teardown),
		cmocka_unit_test_teardown(congestion_of_a_pf_and_its_vfs_is_one, teardown),
		cmocka_unit_test_teardown(lost_packets_of_a_pf_and_its_vf_are_two, teardown),
		cmocka_unit_test_teardown(the_pods_beside_a_noisy_one_are_affected, teardown),
		cmocka_unit_test(the_line_is_that_of_pf_and_vfs),
		cmocka_unit_test_teardown(a_dead_link_is_critical_at_once, teardown),
		cmocka_unit_test_teardown(no_onset_after_the_last_sighting, teardown),
		cmocka_unit_test_teardown(a_peer_that_is_gone_since_its_failures, teardown),
		cmocka_unit_test_teardown(an_ended_verdict_keeps_its_worst_severity, teardown),
		cmocka_unit_test_teardown(a_dead_link_under_the_pod_of_a_vf, teardown),
		cmocka_unit_test_teardown(the_limit_of_the_severity, teardown),
		cmocka_unit_test(a_counter_that_moved_first),
	};

	return test_group_run(tests, NULL, NULL);
}
