/* The program in the kernel against the same headers in user space: random packets through
 * BPF_PROG_TEST_RUN, the counts and flows of both must be the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "roce_account.h"
#include "roce_frames.h"
#include "roce_packets.skel.h"

#define N_RANDOM    3000
#define N_FLOWS	    512
#define FRAME_LEAST 14 /* the kernel takes no shorter ones here */

static const char *refused;

static struct roce_packets_bpf *load(unsigned flows)
{
	struct roce_packets_bpf *skel = roce_packets_bpf__open();

	assert_non_null(skel);
	skel->rodata->with_flows = flows > 0;
	if (flows) {
		bpf_map__set_max_entries(skel->maps.flows, flows);
		bpf_map__set_max_entries(skel->maps.pending, flows);
	} else {
		bpf_map__set_autocreate(skel->maps.flows, false);
		bpf_map__set_autocreate(skel->maps.pending, false);
	}
	if (roce_packets_bpf__load(skel) < 0) {
		refused = strerror(errno);
		roce_packets_bpf__destroy(skel);
		return NULL;
	}
	return skel;
}

static int setup(void **state)
{
	struct roce_packets_bpf *skel;
	(void)state;

	if (refused)
		skip();
	skel = load(0);
	roce_packets_bpf__destroy(skel);
	if (!skel) {
		print_message("skipped: the kernel refuses the packet programs: %s\n", refused);
		skip();
	}
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
	struct roce_counts *values = calloc((size_t)n, sizeof(*values));

	assert_non_null(values);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.counts), &direction, values),
			 0);
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(*ret) / sizeof(uint64_t); k++)
			((uint64_t *)ret)[k] += ((uint64_t *)&values[i])[k];
	free(values);
}

/* What the program should have counted. */
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

/* Times are the kernel's own. */
static void compare_flows(const struct roce_packets_bpf *skel, struct model *m)
{
	int fd = bpf_map__fd(skel->maps.flows);

	for (size_t i = 0; i < m->n_flows; i++) {
		struct roce_flow f;

		assert_int_equal(bpf_map_lookup_elem(fd, &m->keys[i], &f), 0);
		assert_true(f.last_seen_ns > 0);
		assert_memory_equal(&f, &m->flows[i], offsetof(struct roce_flow, last_seen_ns));
		assert_int_equal(f.next_psn, m->flows[i].next_psn);
		assert_int_equal(f.psn_known, m->flows[i].psn_known);
	}
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
	assert_int_equal(counts.flow_inserts, skel->rodata->with_flows ? m->n_flows : 0);
	m->counts.flow_inserts = counts.flow_inserts;
	assert_memory_equal(&counts, &m->counts, sizeof(counts));
	if (skel->rodata->with_flows)
		compare_flows(skel, m);
	free(m);
}

static void kernel_and_user_space_count_alike(void **state)
{
	struct roce_packets_bpf *skel = load(0);
	(void)state;

	assert_non_null(skel);
	random_packets(skel, skel->progs.roce_received, ROCE_RECEIVED, (uint32_t)-1);
	random_packets(skel, skel->progs.roce_sent, ROCE_SENT, (uint32_t)-1);
	roce_packets_bpf__destroy(skel);
}

static void flows_are_the_same_too(void **state)
{
	struct roce_packets_bpf *skel = load(4 * N_FLOWS);
	(void)state;

	assert_non_null(skel);
	random_packets(skel, skel->progs.roce_sent, ROCE_SENT, (uint32_t)-1);
	roce_packets_bpf__destroy(skel);
}

static void at_xdp_as_well(void **state)
{
	struct roce_packets_bpf *skel = load(4 * N_FLOWS);
	(void)state;

	assert_non_null(skel);
	random_packets(skel, skel->progs.roce_xdp, ROCE_RECEIVED, XDP_PASS);
	roce_packets_bpf__destroy(skel);
}

/* Linux 6.18 lets the first part of a buffer be this small. */
static void headers_in_a_second_buffer_are_found(void **state)
{
	const struct roce_frame_spec s = {.opcode = 0x0a, .qpn = 3, .payload = 50};
	struct roce_packets_bpf *skel = load(0);
	uint8_t frame[ROCE_FRAME_MAX];
	size_t n = roce_frame_make(frame, &s);
	struct xdp_md ctx = {.data_end = 30};
	struct roce_counts counts;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = (uint32_t)n,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = 1);
	int r;
	(void)state;

	assert_non_null(skel);
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

static void a_round_trip_belongs_to_the_request(void **state)
{
	struct roce_frame_spec ask = {
		.opcode = 0x0a, .ack_request = 1, .from = 1, .to = 2, .qpn = 7, .psn = 0xffffff};
	struct roce_frame_spec ack = {
		.opcode = 0x11, .from = 2, .to = 1, .qpn = 9, .psn = 0xffffff};
	struct roce_packets_bpf *skel = load(1024);
	const struct roce_flow_key key = {.saddr = {[10] = 0xff, 0xff, 10, 0, 0, 1},
					  .daddr = {[10] = 0xff, 0xff, 10, 0, 0, 2},
					  .qpn = 7};
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_flow f;
	(void)state;

	assert_non_null(skel);
	run(skel->progs.roce_sent, frame, roce_frame_make(frame, &ask), (uint32_t)-1);
	run(skel->progs.roce_received, frame, roce_frame_make(frame, &ack), (uint32_t)-1);
	/* Neither a second answer nor one to a request that was repeated. */
	run(skel->progs.roce_received, frame, roce_frame_make(frame, &ack), (uint32_t)-1);
	run(skel->progs.roce_sent, frame, roce_frame_make(frame, &ask), (uint32_t)-1);
	run(skel->progs.roce_received, frame, roce_frame_make(frame, &ack), (uint32_t)-1);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.flows), &key, &f), 0);
	assert_int_equal(f.rtt_count, 1);
	assert_true(f.rtt_sum_ns > 0);
	assert_int_equal(f.rtt[roce_rtt_bucket(f.rtt_sum_ns)], 1);
	assert_int_equal(f.retransmissions, 1);
	roce_packets_bpf__destroy(skel);
}

static size_t count_flows(const struct roce_packets_bpf *skel)
{
	struct roce_flow_key key, *from = NULL;
	size_t n = 0;

	while (bpf_map_get_next_key(bpf_map__fd(skel->maps.flows), from, &key) == 0) {
		from = &key;
		n++;
	}
	return n;
}

static void a_flood_of_flows_stays_bounded(void **state)
{
	enum { FLOWS = 256, KEYS = 20000 };
	struct roce_packets_bpf *skel = load(FLOWS);
	struct roce_counts counts;
	uint8_t frame[ROCE_FRAME_MAX];
	size_t held;
	(void)state;

	assert_non_null(skel);
	for (uint32_t i = 0; i < KEYS; i++) {
		struct roce_frame_spec s = {.opcode = 0x0a, .ack_request = 1, .qpn = i, .psn = i};

		run(skel->progs.roce_received, frame, roce_frame_make(frame, &s), (uint32_t)-1);
	}
	held = count_flows(skel);
	read_counts(skel, ROCE_RECEIVED, &counts);
	assert_int_equal(counts.packets, KEYS);
	assert_int_equal(counts.flow_inserts, KEYS);
	assert_in_range(held, 1, FLOWS);
	roce_packets_bpf__destroy(skel);
}

static void a_burst_of_notifications_is_counted(void **state)
{
	const struct roce_frame_spec s = {
		.opcode = 0x81, .becn = 1, .traffic_class = 0xc2, .payload = 16};
	struct roce_packets_bpf *skel = load(0);
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_counts counts;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .repeat = 100000);
	(void)state;

	assert_non_null(skel);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(kernel_and_user_space_count_alike, setup),
		cmocka_unit_test_setup(flows_are_the_same_too, setup),
		cmocka_unit_test_setup(at_xdp_as_well, setup),
		cmocka_unit_test_setup(headers_in_a_second_buffer_are_found, setup),
		cmocka_unit_test_setup(a_round_trip_belongs_to_the_request, setup),
		cmocka_unit_test_setup(a_flood_of_flows_stays_bounded, setup),
		cmocka_unit_test_setup(a_burst_of_notifications_is_counted, setup),
	};

	libbpf_set_print(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
