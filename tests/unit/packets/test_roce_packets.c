// SPDX-License-Identifier: Apache-2.0
/* The program in the kernel compared with the same headers in user space: random packets through
 * BPF_PROG_TEST_RUN must yield equal counts and flows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_log.h"
#include "roce_flows.h"
#include "roce_frames.h"
#include "roce_packets.skel.h"
#include "test_group.h"

#define N_RANDOM    3000
#define N_FLOWS	    512
#define MANY_FLOWS  (64 * N_FLOWS) /* so many that no set is ever full */
#define FRAME_LEAST 54		   /* newer kernels reject test frames with truncated IP headers */

static const char *refused;

enum { RECEIVED = 1, SENT = 2, XDP = 4 };

static struct roce_packets_bpf *try_load(unsigned programs, unsigned flows)
{
	struct roce_packets_bpf *skel = roce_packets_bpf__open();

	assert_non_null(skel);
	bpf_program__set_autoload(skel->progs.roce_received, (programs & RECEIVED) && !flows);
	bpf_program__set_autoload(skel->progs.roce_sent, (programs & SENT) && !flows);
	bpf_program__set_autoload(skel->progs.roce_xdp, (programs & XDP) && !flows);
	bpf_program__set_autoload(skel->progs.roce_received_flows, (programs & RECEIVED) && flows);
	bpf_program__set_autoload(skel->progs.roce_sent_flows, (programs & SENT) && flows);
	bpf_program__set_autoload(skel->progs.roce_xdp_flows, (programs & XDP) && flows);
	skel->rodata->n_flow_sets = roce_flow_sets(flows);
	skel->rodata->n_pending = flows;
	for (unsigned i = 0; i < ROCE_HASH_KEYS; i++)
		skel->rodata->hash_keys[i] = 0x9e3779b97f4a7c15 * (2 * i + 1);
	if (flows) {
		bpf_map__set_max_entries(skel->maps.flows, roce_flow_sets(flows));
		bpf_map__set_max_entries(skel->maps.pending, flows);
	} else {
		bpf_map__set_autocreate(skel->maps.flows, false);
		bpf_map__set_autocreate(skel->maps.pending, false);
	}
	if (roce_packets_bpf__load(skel) == 0)
		return skel;
	refused = strerror(errno);
	roce_packets_bpf__destroy(skel);
	return NULL;
}

static struct roce_packets_bpf *load(unsigned programs, unsigned flows)
{
	struct roce_packets_bpf *skel = try_load(programs, flows);

	if (!skel)
		fail_msg("the program was loaded before, and now: %s", refused);
	return skel;
}

/* Missing permission skips the tests, other errors fail them. */
static bool is_refused(void)
{
	roce_packets_bpf__destroy(try_load(XDP, 0));
	return errno == EPERM && refused;
}

static int setup(void **state)
{
	(void)state;
	if (refused)
		skip();
	return 0;
}

static void run(const struct bpf_program *program, uint8_t *frame, size_t n, uint32_t returned)
{
	static uint8_t out[ROCE_FRAME_MAX + 256];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = (uint32_t)n,
		    .data_out = out, .data_size_out = sizeof(out), .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(program), &opts), 0);
	assert_int_equal(opts.retval, returned);
	assert_int_equal(opts.data_size_out, n);
	assert_memory_equal(out, frame, n);
}

static void read_counts(const struct roce_packets_bpf *skel, uint32_t direction,
			struct roce_counts *ret)
{
	int n = libbpf_num_possible_cpus();
	struct roce_cpu_counts *values = calloc((size_t)n, sizeof(*values));

	assert_non_null(values);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.counts), &direction, values),
			 0);
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(*ret) / sizeof(uint64_t); k++)
			((uint64_t *)ret)[k] += ((uint64_t *)&values[i].counts)[k];
	free(values);
}

/* The counts and flows that are expected of the program. */
struct model {
	struct roce_counts counts;
	struct roce_flow_key keys[N_FLOWS];
	struct roce_flow flows[N_FLOWS];
	size_t n_flows;
};

static struct roce_flow *model_flow(struct model *m, const struct roce_flow_key *key)
{
	for (size_t i = 0; i < m->n_flows; i++)
		if (memcmp(&m->keys[i], key, sizeof(*key)) == 0)
			return &m->flows[i];
	assert_in_range(m->n_flows, 0, N_FLOWS - 1);
	m->keys[m->n_flows] = *key;
	return &m->flows[m->n_flows++];
}

static void model_count(struct model *m, const uint8_t *frame, size_t n)
{
	struct roce_frame f = {frame, frame + n, (uint32_t)n, 0, 0};
	struct roce_flow_key key;
	struct roce_packet p;
	enum roce_verdict verdict = roce_decode(&f, &p);

	roce_count(&m->counts, verdict, &p, (uint32_t)n);
	if (verdict != ROCE_PACKET)
		return;
	roce_flow_key_of(&p, &key);
	roce_flow_count(model_flow(m, &key), &p, (uint32_t)n, 0);
}

static size_t each_flow(const struct roce_packets_bpf *skel,
			void (*fn)(const struct roce_flow_slot *, void *arg), void *arg)
{
	const uint32_t n_sets = bpf_map__max_entries(skel->maps.flows);
	struct roce_flow_set set;
	size_t n = 0;

	for (uint32_t i = 0; i < n_sets; i++) {
		assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.flows), &i, &set), 0);
		assert_int_equal(set.busy, 0);
		assert_int_equal(set.version % 2, 0);
		for (int k = 0; k < ROCE_FLOW_WAYS; k++) {
			if (!set.tags[k])
				continue;
			n++;
			if (fn)
				fn(&set.slots[k], arg);
		}
	}
	return n;
}

/* Times are not compared. */
static void compare_flow(const struct roce_flow_slot *slot, void *arg)
{
	const struct roce_flow *f = &slot->flow, *expected = model_flow(arg, &slot->key);

	assert_true(f->last_seen_ns > 0);
	assert_memory_equal(f, expected, offsetof(struct roce_flow, last_seen_ns));
	assert_int_equal(f->next_psn, expected->next_psn);
	assert_int_equal(f->psn_known, expected->psn_known);
}

/* With equal numbers of flows, none is compared with an empty flow of the model. */
static void compare_flows(const struct roce_packets_bpf *skel, struct model *m)
{
	assert_int_equal(each_flow(skel, compare_flow, m), m->n_flows);
}

static void random_packets(struct roce_packets_bpf *skel, const struct bpf_program *program,
			   uint32_t direction, uint32_t returned)
{
	struct model *m = calloc(1, sizeof(*m));
	struct roce_counts counts;
	uint8_t frame[ROCE_FRAME_MAX];
	unsigned seed = 11;

	assert_non_null(m);
	for (int i = 0; i < N_RANDOM; i++) {
		size_t n = roce_frame_random(frame, &seed);

		if (n < FRAME_LEAST)
			continue;
		model_count(m, frame, n);
		run(program, frame, n, returned);
	}
	assert_in_range(m->counts.packets, N_RANDOM / 3, N_RANDOM);
	assert_true(m->counts.malformed > 0 && m->counts.fragments > 0 && m->counts.cnp > 0);
	read_counts(skel, direction, &counts);
	assert_memory_equal(&counts, &m->counts, sizeof(counts));
	if (skel->rodata->n_flow_sets)
		compare_flows(skel, m);
	free(m);
}

static void kernel_and_user_space_count_equally(void **state)
{
	struct roce_packets_bpf *skel = load(RECEIVED | SENT, 0);
	(void)state;

	random_packets(skel, skel->progs.roce_received, ROCE_RECEIVED, (uint32_t)-1);
	random_packets(skel, skel->progs.roce_sent, ROCE_SENT, (uint32_t)-1);
	roce_packets_bpf__destroy(skel);
}

static void flows_are_equal_too(void **state)
{
	struct roce_packets_bpf *skel = load(SENT, MANY_FLOWS);
	(void)state;

	random_packets(skel, skel->progs.roce_sent_flows, ROCE_SENT, (uint32_t)-1);
	roce_packets_bpf__destroy(skel);
}

static void the_xdp_programs_count_equally(void **state)
{
	struct roce_packets_bpf *skel = load(XDP, 0);
	(void)state;

	random_packets(skel, skel->progs.roce_xdp, ROCE_RECEIVED, XDP_PASS);
	roce_packets_bpf__destroy(skel);
	skel = load(XDP, MANY_FLOWS);
	random_packets(skel, skel->progs.roce_xdp_flows, ROCE_RECEIVED, XDP_PASS);
	roce_packets_bpf__destroy(skel);
}

/* Linux 6.18 allows a first fragment of this size. */
static void headers_in_a_second_buffer_are_found(void **state)
{
	const struct roce_frame_spec s = {.opcode = 0x0a, .qpn = 3, .payload = 50};
	struct roce_packets_bpf *skel = load(XDP, 0);
	uint8_t frame[ROCE_FRAME_MAX];
	size_t n = roce_frame_make(frame, &s);
	struct xdp_md ctx = {.data_end = 30};
	struct roce_counts counts;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = (uint32_t)n,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = 1);
	int r;
	(void)state;

	r = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.roce_xdp), &opts);
	read_counts(skel, ROCE_RECEIVED, &counts);
	roce_packets_bpf__destroy(skel);
	if (r < 0) {
		print_message("skipped: this kernel makes no such buffers\n");
		skip();
	}
	assert_int_equal(counts.packets, 1);
	assert_int_equal(counts.bytes, n);
	assert_int_equal(counts.ops[ROCE_OP_INDEX(ROCE_RC, ROCE_WRITE)], 1);
}

struct find_flow {
	const struct roce_flow_key *key;
	struct roce_flow flow;
};

static void find_flow(const struct roce_flow_slot *slot, void *arg)
{
	struct find_flow *f = arg;

	if (memcmp(&slot->key, f->key, sizeof(slot->key)) == 0)
		f->flow = slot->flow;
}

static void a_round_trip_belongs_to_the_request(void **state)
{
	struct roce_frame_spec ask = {
		.opcode = 0x0a, .ack_request = 1, .from = 1, .to = 2, .qpn = 7, .psn = 0xffffff};
	struct roce_frame_spec ack = {
		.opcode = 0x11, .from = 2, .to = 1, .qpn = 9, .psn = 0xffffff};
	struct roce_packets_bpf *skel = load(RECEIVED | SENT, 1024);
	const struct roce_flow_key key = {.saddr = {[10] = 0xff, 0xff, 10, 0, 0, 1},
					  .daddr = {[10] = 0xff, 0xff, 10, 0, 0, 2},
					  .qpn = 7};
	uint8_t frame[ROCE_FRAME_MAX];
	struct find_flow find = {.key = &key};
	(void)state;

	run(skel->progs.roce_sent_flows, frame, roce_frame_make(frame, &ask), (uint32_t)-1);
	run(skel->progs.roce_received_flows, frame, roce_frame_make(frame, &ack), (uint32_t)-1);
	/* Neither a second answer counts, nor the answer to a repeated request. */
	run(skel->progs.roce_received_flows, frame, roce_frame_make(frame, &ack), (uint32_t)-1);
	run(skel->progs.roce_sent_flows, frame, roce_frame_make(frame, &ask), (uint32_t)-1);
	run(skel->progs.roce_received_flows, frame, roce_frame_make(frame, &ack), (uint32_t)-1);
	assert_int_equal(each_flow(skel, find_flow, &find), 2);
	assert_int_equal(find.flow.rtt_count, 1);
	assert_true(find.flow.rtt_sum_ns > 0);
	assert_int_equal(find.flow.rtt[roce_rtt_bucket(find.flow.rtt_sum_ns)], 1);
	assert_int_equal(find.flow.retransmissions, 1);
	roce_packets_bpf__destroy(skel);
}

static void a_flood_of_flows_stays_bounded(void **state)
{
	enum { FLOWS = 256, KEYS = 1000000 };
	struct roce_packets_bpf *skel = load(RECEIVED, FLOWS);
	struct roce_counts counts;
	uint8_t frame[ROCE_FRAME_MAX];
	size_t held;
	(void)state;

	for (uint32_t i = 0; i < KEYS; i++) {
		struct roce_frame_spec s = {.opcode = 0x0a, .ack_request = 1, .qpn = i, .psn = i};

		run(skel->progs.roce_received_flows, frame, roce_frame_make(frame, &s),
		    (uint32_t)-1);
	}
	held = each_flow(skel, NULL, NULL);
	read_counts(skel, ROCE_RECEIVED, &counts);
	assert_int_equal(counts.packets, KEYS);
	assert_int_equal(held, FLOWS);
	assert_int_equal(counts.flow_evictions, KEYS - FLOWS);
	roce_packets_bpf__destroy(skel);
}

/* All flows are in one set, which has eight slots: the least recently active one is evicted. */
static void the_least_recent_flow_is_evicted(void **state)
{
	struct roce_packets_bpf *skel = load(RECEIVED, ROCE_FLOW_WAYS);
	struct roce_flow_key key = {.saddr = {[10] = 0xff, 0xff, 10, 0, 0, 1},
				    .daddr = {[10] = 0xff, 0xff, 10, 0, 0, 2}};
	struct roce_frame_spec s = {.opcode = 0x0a, .from = 1, .to = 2};
	struct find_flow find = {.key = &key};
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_flow_set set;
	const uint32_t zero = 0;
	(void)state;

	for (s.qpn = 1; s.qpn <= ROCE_FLOW_WAYS; s.qpn++)
		run(skel->progs.roce_received_flows, frame, roce_frame_make(frame, &s),
		    (uint32_t)-1);
	/* The flows' times differ too little, so the test sets them. */
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.flows), &zero, &set), 0);
	for (uint32_t k = 0; k < ROCE_FLOW_WAYS; k++)
		set.slots[k].flow.last_seen_ns = set.slots[k].key.qpn == 5 ? 10 : 20;
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.flows), &zero, &set, BPF_ANY),
			 0);
	run(skel->progs.roce_received_flows, frame, roce_frame_make(frame, &s), (uint32_t)-1);
	for (key.qpn = 1; key.qpn <= ROCE_FLOW_WAYS + 1; key.qpn++) {
		find.flow.packets = 0;
		assert_int_equal(each_flow(skel, find_flow, &find), ROCE_FLOW_WAYS);
		assert_int_equal(find.flow.packets, key.qpn == 5 ? 0 : 1);
	}
	roce_packets_bpf__destroy(skel);
}

/* The set is locked, as if another CPU were changing it. */
static void a_locked_set_is_not_changed(void **state)
{
	struct roce_packets_bpf *skel = load(RECEIVED, ROCE_FLOW_WAYS);
	const struct roce_frame_spec s = {.opcode = 0x0a, .qpn = 1};
	struct roce_flow_set set = {.busy = 1};
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_counts counts;
	const uint32_t zero = 0;
	(void)state;

	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.flows), &zero, &set, BPF_ANY),
			 0);
	run(skel->progs.roce_received_flows, frame, roce_frame_make(frame, &s), (uint32_t)-1);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.flows), &zero, &set), 0);
	assert_int_equal(set.busy, 1);
	assert_int_equal(set.tags[0], 0);
	read_counts(skel, ROCE_RECEIVED, &counts);
	assert_int_equal(counts.packets, 1);
	roce_packets_bpf__destroy(skel);
}

static void a_burst_of_notifications_is_counted(void **state)
{
	const struct roce_frame_spec s = {
		.opcode = 0x81, .becn = 1, .traffic_class = 0xc2, .payload = 16};
	struct roce_packets_bpf *skel = load(RECEIVED, 0);
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_counts counts;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .repeat = 100000);
	(void)state;

	opts.data_size_in = (uint32_t)roce_frame_make(frame, &s);
	assert_int_equal(opts.data_size_in, 74);
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(skel->progs.roce_received), &opts),
			 0);
	read_counts(skel, ROCE_RECEIVED, &counts);
	assert_int_equal(counts.cnp, 100000);
	assert_int_equal(counts.becn, 100000);
	assert_int_equal(counts.traffic_class[0xc2], 100000);
	assert_int_equal(counts.bytes, 7400000);
	assert_int_equal(counts.ops[ROCE_OP_INDEX(4, ROCE_OP_OTHER)], 0);
	roce_packets_bpf__destroy(skel);
}

/* The programs with flows are loaded without maps for them. */
static void the_verifiers_reason_is_captured(void **state)
{
	struct roce_packets_bpf *skel = roce_packets_bpf__open();
	(void)state;

	assert_non_null(skel);
	bpf_log_follow();
	skel->rodata->n_flow_sets = 1;
	bpf_map__set_autocreate(skel->maps.flows, false);
	bpf_map__set_autocreate(skel->maps.pending, false);
	assert_true(roce_packets_bpf__load(skel) < 0);
	assert_non_null(strstr(bpf_log_take_words(), "flows"));
	assert_string_equal(bpf_log_take_words(), "");
	roce_packets_bpf__destroy(skel);
	libbpf_set_print(NULL);
}

TEST_GROUP(roce_packets)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(kernel_and_user_space_count_equally, setup),
		cmocka_unit_test_setup(flows_are_equal_too, setup),
		cmocka_unit_test_setup(the_xdp_programs_count_equally, setup),
		cmocka_unit_test_setup(headers_in_a_second_buffer_are_found, setup),
		cmocka_unit_test_setup(a_round_trip_belongs_to_the_request, setup),
		cmocka_unit_test_setup(a_flood_of_flows_stays_bounded, setup),
		cmocka_unit_test_setup(the_least_recent_flow_is_evicted, setup),
		cmocka_unit_test_setup(a_locked_set_is_not_changed, setup),
		cmocka_unit_test_setup(a_burst_of_notifications_is_counted, setup),
		cmocka_unit_test_setup(the_verifiers_reason_is_captured, setup),
	};

	libbpf_set_print(NULL);
	if (is_refused())
		print_message("skipped: the kernel refuses the packet programs: %s\n", refused);
	return test_group_run(tests, NULL, NULL);
}
