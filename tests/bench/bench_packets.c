/* bench_packets.c - what the packet programs cost a packet, beside an empty program of the same
 * type.
 *
 *   bench_packets [ROUNDS=200]
 *
 * BPF_PROG_TEST_RUN, both programs by turns, in rounds short enough not to be interrupted as a
 * rule. Nanoseconds: medians, and the best of all rounds, since the machine is shared. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roce_flows.h"
#include "roce_packets.skel.h"

#define REPEAT	   10000
#define ROUNDS_MAX 10000
#define FLOWS	   4096
#define PACKET	   126 /* Ethernet, IPv4, UDP, BTH, 68 bytes and an ICRC */

static int rounds = 200;

static void put16(unsigned char *at, unsigned v)
{
	at[0] = (unsigned char)(v >> 8);
	at[1] = (unsigned char)v;
}

struct packet {
	const char *what;
	unsigned protocol, port, ip;
	bool ack_request, flows;
};

/* The length of Ethernet and IP. */
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

static void measure(const char *what, int empty_fd, int our_fd, unsigned char *frame)
{
	static __u32 empty[ROUNDS_MAX], ours[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++) {
		empty[i] = run(empty_fd, frame);
		ours[i] = run(our_fd, frame);
	}
	qsort(empty, (size_t)rounds, sizeof(*empty), by_time);
	qsort(ours, (size_t)rounds, sizeof(*ours), by_time);
	printf("%-34s empty %3u, ours %3u: %3d more; best %3u, %3u: %3d more\n", what,
	       empty[rounds / 2], ours[rounds / 2], (int)(ours[rounds / 2] - empty[rounds / 2]),
	       empty[0], ours[0], (int)(ours[0] - empty[0]));
}

static int load_empty(enum bpf_prog_type type, int verdict)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(type, "empty", "GPL", program, 2, NULL);
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
	bpf_map__set_autocreate(skel->maps.flows, flows > 0);
	bpf_map__set_autocreate(skel->maps.pending, flows > 0);
	bpf_map__set_max_entries(skel->maps.flows, flows ? flows / ROCE_FLOW_WAYS : 1);
	bpf_map__set_max_entries(skel->maps.pending, flows ? flows : 1);
	if (roce_packets_bpf__load(skel) == 0)
		return skel;
	roce_packets_bpf__destroy(skel);
	return NULL;
}

static void measure_type(const char *type, int empty_fd, int counting_fd, int flows_fd)
{
	static const struct packet cases[] = {
		{"TCP", 6, 0, 4, false, false},
		{"TCP over IPv6", 6, 0, 6, false, false},
		{"UDP of others", 17, 53, 4, false, false},
		{"RoCE, counted", 17, ROCE_UDP_PORT, 4, false, false},
		{"RoCE over IPv6, counted", 17, ROCE_UDP_PORT, 6, false, false},
		{"RoCE, counted, with its flow", 17, ROCE_UDP_PORT, 4, false, true},
		{"the same over IPv6", 17, ROCE_UDP_PORT, 6, false, true},
		{"asking for an ACK again", 17, ROCE_UDP_PORT, 4, true, true},
	};
	unsigned char frame[PACKET];
	char what[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make(frame, &cases[i]);
		snprintf(what, sizeof(what), "%s %s", type, cases[i].what);
		measure(what, empty_fd, cases[i].flows ? flows_fd : counting_fd, frame);
	}
}

int main(int argc, char **argv)
{
	struct roce_packets_bpf *counting, *flows;
	int empty_tc = load_empty(BPF_PROG_TYPE_SCHED_CLS, -1);
	int empty_xdp = load_empty(BPF_PROG_TYPE_XDP, XDP_PASS);

	rounds = argc > 1 ? atoi(argv[1]) : rounds;
	if (rounds <= 0 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: bench_packets [ROUNDS]\n");
		return 2;
	}
	libbpf_set_print(NULL);
	counting = load(0);
	flows = load(FLOWS);
	if (!counting || !flows || empty_tc < 0 || empty_xdp < 0) {
		printf("the kernel refuses the packet programs: %s\n", strerror(errno));
		return 0;
	}
	measure_type("tc:", empty_tc, bpf_program__fd(counting->progs.roce_received),
		     bpf_program__fd(flows->progs.roce_received));
	measure_type("XDP:", empty_xdp, bpf_program__fd(counting->progs.roce_xdp),
		     bpf_program__fd(flows->progs.roce_xdp));
	roce_packets_bpf__destroy(counting);
	roce_packets_bpf__destroy(flows);
	return 0;
}
