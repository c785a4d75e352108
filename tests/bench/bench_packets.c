// SPDX-License-Identifier: Apache-2.0
/* bench_packets.c - time of the packet programs per packet, compared with an empty program of the
 * same type.
 *
 *   bench_packets [ROUNDS=60]
 *
 * The bars apply to the best tenth of the rounds: the time above that of an empty program, divided
 * by the time of an empty program of TC, so that the processor's speed does not matter.
 *
 * Both programs run alternately in BPF_PROG_TEST_RUN, usually too briefly to be interrupted. Prints
 * nanoseconds: medians, and the best tenth of the rounds, because the machine is shared. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roce_flows.h"
#include "roce_packets.skel.h"

#define REPEAT		 10000
#define ROUNDS_MAX	 5000
#define FLOWS		 4096
#define MEASUREMENTS_MAX 18
/* in units of an empty program */
#define OTHERS_BAR	 0.3
#define COUNTED_BAR	 0.7
#define FLOW_BAR	 1.8
#define PACKET		 126 /* Ethernet, IPv4, UDP, BTH, 68 bytes and an ICRC */

static int rounds = 60;

static void put16(unsigned char *at, unsigned v)
{
	at[0] = (unsigned char)(v >> 8);
	at[1] = (unsigned char)v;
}

struct packet {
	const char *what;
	unsigned protocol, port, ip;
	bool ack_request, flows;
	double bar; /* 0 = none */
};

/* Writes the Ethernet and IP headers; returns their length. */
static size_t make_ip(unsigned char *frame, const struct packet *p)
{
	if (p->ip == 6) {
		put16(frame + 12, 0x86dd);
		frame[14] = 0x66;
		put16(frame + 18, PACKET - 54);
		frame[14 + 6] = (unsigned char)p->protocol;
		frame[14 + 23] = 1;
		frame[14 + 39] = 2;
		return 54;
	}
	put16(frame + 12, 0x0800);
	frame[14] = 0x45;
	frame[15] = 106;
	put16(frame + 16, PACKET - 14);
	frame[14 + 9] = (unsigned char)p->protocol;
	frame[14 + 15] = 1;
	frame[14 + 19] = 2;
	return 34;
}

static void make(unsigned char *frame, const struct packet *p)
{
	unsigned char *udp;

	memset(frame, 0, PACKET);
	udp = frame + make_ip(frame, p);
	put16(udp + 2, p->port);
	put16(udp + 4, (unsigned)(frame + PACKET - udp));
	udp[8] = 0x07; /* RC write middle */
	udp[8 + 7] = 17;
	udp[8 + 8] = (unsigned char)(p->ack_request << 7);
}

static int by_time(const void *a, const void *b)
{
	const __u32 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static __u32 run(int fd, unsigned char *frame)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = PACKET,
		    .repeat = REPEAT);

	return bpf_prog_test_run_opts(fd, &opts) < 0 ? 0 : opts.duration;
}

struct measurement {
	char what[64];
	int empty_fd, our_fd;
	double bar;
	unsigned char frame[PACKET];
	__u32 empty[ROUNDS_MAX], ours[ROUNDS_MAX];
};

static struct measurement measurements[MEASUREMENTS_MAX];
static unsigned n_measurements;

/* A shared machine may be slow for seconds at a time: each round runs all programs, so that all are
 * affected equally. */
static void measure(void)
{
	for (int i = 0; i < rounds; i++) {
		for (unsigned k = 0; k < n_measurements; k++) {
			struct measurement *m = &measurements[k];

			m->empty[i] = run(m->empty_fd, m->frame);
			m->ours[i] = run(m->our_fd, m->frame);
		}
	}
}

/* unit: of the share that is compared with the bar. Returns false above the bar. */
static bool print(struct measurement *m, double unit)
{
	unsigned middle = (unsigned)rounds / 2, tenth = (unsigned)rounds / 10;
	double share;

	qsort(m->empty, (size_t)rounds, sizeof(*m->empty), by_time);
	qsort(m->ours, (size_t)rounds, sizeof(*m->ours), by_time);
	share = ((double)m->ours[tenth] - m->empty[tenth]) / unit;
	printf("%-34s empty %3u, ours %3u: %3d more; best tenth %3u, %3u: %3d more, %.2f", m->what,
	       m->empty[middle], m->ours[middle], (int)(m->ours[middle] - m->empty[middle]),
	       m->empty[tenth], m->ours[tenth], (int)(m->ours[tenth] - m->empty[tenth]), share);
	if (m->bar > 0)
		printf(" (bar %.1f)", m->bar);
	printf("\n");
	return m->bar == 0 || share <= m->bar;
}

/* Time of an empty program of TC. */
static double unit_ns(void)
{
	struct measurement *m = &measurements[0];

	qsort(m->empty, (size_t)rounds, sizeof(*m->empty), by_time);
	return m->empty[rounds / 10] ? m->empty[rounds / 10] : 1;
}

static int load_empty(enum bpf_prog_type type, int verdict)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(type, "empty", "GPL", program, 2, NULL);
}

/* The cheapest counting program: a per-CPU counter, without reading the packet. */
static int load_counter(enum bpf_prog_type type, int verdict)
{
	int map_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "counter", sizeof(__u32),
				    sizeof(__u64), 1, NULL);
	const struct bpf_insn program[] = {
		{.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4},
		{BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, .imm = map_fd},
		{0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 3},
		{.code = BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_0},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
		{.code = BPF_STX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_1},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return map_fd < 0 ? map_fd
			  : bpf_prog_load(type, "counter", "GPL", program,
					  sizeof(program) / sizeof(program[0]), NULL);
}

static struct roce_packets_bpf *load(unsigned flows)
{
	struct roce_packets_bpf *skel = roce_packets_bpf__open();

	if (!skel)
		return NULL;
	skel->rodata->n_flow_sets = flows / ROCE_FLOW_WAYS;
	skel->rodata->n_pending = flows;
	for (int i = 0; i < ROCE_HASH_KEYS; i++)
		((__u64 *)(uintptr_t)skel->rodata->hash_keys)[i] = 0x9e3779b97f4a7c15 * (2 * i + 1);
	bpf_program__set_autoload(skel->progs.roce_received_flows, flows > 0);
	bpf_program__set_autoload(skel->progs.roce_sent_flows, flows > 0);
	bpf_program__set_autoload(skel->progs.roce_xdp_flows, flows > 0);
	bpf_map__set_autocreate(skel->maps.flows, flows > 0);
	bpf_map__set_autocreate(skel->maps.pending, flows > 0);
	bpf_map__set_max_entries(skel->maps.flows, flows ? flows / ROCE_FLOW_WAYS : 1);
	bpf_map__set_max_entries(skel->maps.pending, flows ? flows : 1);
	if (roce_packets_bpf__load(skel) == 0)
		return skel;
	roce_packets_bpf__destroy(skel);
	return NULL;
}

struct programs {
	int empty_fd, counter_fd, counting_fd, flows_fd;
};

static void add(const char *type, const struct packet *packet, int empty_fd, int our_fd)
{
	struct measurement *m = &measurements[n_measurements++];

	snprintf(m->what, sizeof(m->what), "%s %s", type, packet->what);
	m->bar = packet->bar;
	make(m->frame, packet);
	m->empty_fd = empty_fd;
	m->our_fd = our_fd;
}

static void prepare(const char *type, const struct programs *p)
{
	static const struct packet counter = {"a bare counter", 6, 0, 4, false, false, 0};
	static const struct packet packets[] = {
		{"TCP", 6, 0, 4, false, false, OTHERS_BAR},
		{"TCP over IPv6", 6, 0, 6, false, false, OTHERS_BAR},
		{"UDP of others", 17, 53, 4, false, false, OTHERS_BAR},
		{"RoCE, counted", 17, ROCE_UDP_PORT, 4, false, false, COUNTED_BAR},
		{"RoCE over IPv6, counted", 17, ROCE_UDP_PORT, 6, false, false, COUNTED_BAR},
		{"RoCE, counted, with its flow", 17, ROCE_UDP_PORT, 4, false, true, FLOW_BAR},
		{"the same over IPv6", 17, ROCE_UDP_PORT, 6, false, true, FLOW_BAR},
		{"asking for an ACK again", 17, ROCE_UDP_PORT, 4, true, true, FLOW_BAR},
	};

	add(type, &counter, p->empty_fd, p->counter_fd);
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		add(type, &packets[i], p->empty_fd,
		    packets[i].flows ? p->flows_fd : p->counting_fd);
}

static struct programs programs_of(enum bpf_prog_type type, int verdict,
				   const struct bpf_program *counting,
				   const struct bpf_program *flows)
{
	return (struct programs){load_empty(type, verdict), load_counter(type, verdict),
				 bpf_program__fd(counting), bpf_program__fd(flows)};
}

int main(int argc, char **argv)
{
	struct roce_packets_bpf *counting, *flows;
	struct programs tc, xdp;
	bool kept = true;
	double unit;

	rounds = argc > 1 ? atoi(argv[1]) : rounds;
	if (rounds <= 0 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: bench_packets [ROUNDS]\n");
		return 2;
	}
	libbpf_set_print(NULL);
	counting = load(0);
	flows = load(FLOWS);
	if (!counting || !flows) {
		printf("the kernel refuses the packet programs: %s\n", strerror(errno));
		return 0;
	}
	tc = programs_of(BPF_PROG_TYPE_SCHED_CLS, -1, counting->progs.roce_received,
			 flows->progs.roce_received_flows);
	xdp = programs_of(BPF_PROG_TYPE_XDP, XDP_PASS, counting->progs.roce_xdp,
			  flows->progs.roce_xdp_flows);
	if (tc.empty_fd < 0 || tc.counter_fd < 0 || xdp.empty_fd < 0 || xdp.counter_fd < 0) {
		fprintf(stderr, "cannot load the programs to compare with: %s\n", strerror(errno));
		return 1;
	}
	prepare("tc:", &tc);
	prepare("XDP:", &xdp);
	measure();
	unit = unit_ns();
	for (unsigned i = 0; i < n_measurements; i++)
		kept &= print(&measurements[i], unit);
	roce_packets_bpf__destroy(counting);
	roce_packets_bpf__destroy(flows);
	return kept ? 0 : 1;
}
