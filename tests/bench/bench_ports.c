// SPDX-License-Identifier: Apache-2.0
/* bench_ports.c - CPU time to read the packet programs of many interfaces and render their series
 * once per second.
 *
 *   bench_ports [INTERFACES=64 [ROUNDS=200 [BAR=20]]]
 *
 * Creates veth pairs in a new network namespace; needs root. The floor is the time that the kernel
 * needs to print /proc/net/dev of the same interfaces; fails above BAR times that. Measures CPU
 * time of this thread (user and system), because the machine is shared. */
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "metrics.h"
#include "packet_port.h"
#include "packet_ports.h"
#include "packet_visible.h"

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

struct bench {
	uv_loop_t loop;
	struct hw hw;
	struct packet_ports *ports;
	struct packet_plan plan;
	struct metrics *metrics;
	struct visible_table visible;
	double read_us, page_us, floor_us, attach_us;
	size_t bytes, failed;
};

/* Creates interfaces "v0", "v1", ... and a plan that watches them like those of soft-RoCE. */
static void make_interfaces(struct bench *b, unsigned n)
{
	FILE *ip = popen("ip -batch -", "w");

	for (unsigned i = 0; ip && i < n; i += 2)
		fprintf(ip, "link add v%u up type veth peer name v%u\nlink set v%u up\n", i, i + 1,
			i + 1);
	if (ip)
		pclose(ip);
	b->plan.items = calloc(n, sizeof(*b->plan.items));
	for (unsigned i = 0; i < n; i++) {
		struct packet_wanted *w = &b->plan.items[b->plan.n++];

		w->port = (struct packet_port){.nsid = NSID_HOST, .device_port = 1, .flows = 4096};
		snprintf(w->port.netdev, sizeof(w->port.netdev), "v%u", i);
		snprintf(w->port.device, sizeof(w->port.device), "rxe%u", i);
		w->port.ifindex = (int)if_nametoindex(w->port.netdev);
	}
	qsort(b->plan.items, n, sizeof(*b->plan.items),
	      (int (*)(const void *, const void *))(void (*)(void))packet_wanted_cmp);
}

static bool are_reported(struct bench *b)
{
	const struct packet_port *list;
	size_t n = packet_ports_list(b->ports, &list);

	b->failed = 0;
	for (size_t i = 0; i < n; i++) {
		if (list[i].hook == PACKET_HOOK_NONE && !list[i].error)
			return false;
		b->failed += list[i].error != 0;
	}
	return true;
}

static void attach(struct bench *b)
{
	uint64_t start = uv_hrtime();

	packet_ports_follow(b->ports, &b->plan);
	while (!are_reported(b))
		uv_run(&b->loop, UV_RUN_ONCE);
	b->attach_us = (double)(uv_hrtime() - start) / 1e3;
}

/* The counts of a busy port: several traffic classes and operations in each direction. */
static void make_busy(struct packet_sample *s, unsigned round)
{
	for (size_t i = 0; i < s->n_ports; i++)
		for (int d = 0; d < N_ROCE_DIRECTIONS; d++) {
			struct roce_counts *c = &s->counts[i][d];

			c->packets += 1000000000ull * round + i;
			c->bytes += 4096000000000ull * round + i;
			for (int k = 0; k < 4; k++)
				c->traffic_class[26 << 2 | k] += 1000000ull * round;
			for (int k = 0; k < N_ROCE_OPS; k++)
				c->ops[k] += 1000000ull * round;
		}
}

static double read_proc_us(void)
{
	static char buf[1 << 16];
	double start = cpu_us();
	int fd = open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC);

	while (read(fd, buf, sizeof(buf)) > 0)
		continue;
	close(fd);
	return cpu_us() - start;
}

static void one_round(struct bench *b, unsigned round)
{
	static const struct host host;
	static const struct sample nic;
	struct packet_sample s = {0};
	struct packet_view *v = packet_ports_view(b->ports);
	struct page *page = page_new();
	double start = cpu_us(), read;

	packet_view_read(v, false, &s);
	read = cpu_us();
	make_busy(&s, round + 1);
	visible_update(&b->visible, &s, &nic, round * 1000ull);
	metrics_render(b->metrics, page, &nic,
		       &(struct metrics_inputs){.host = &host, .packets = &s}, 0);
	b->page_us += cpu_us() - read;
	b->read_us += read - start;
	b->floor_us += read_proc_us();
	b->bytes = page->text.len;
	page_unref(page);
	packet_sample_done(&s);
	packet_view_put(v);
}

static int open_bench(struct bench *b)
{
	const struct packet_ports_opts opts = {.memory_budget = 1ull << 30, .retry_ms = 60000};

	b->hw.proc_fd = -1;
	b->metrics = metrics_new();
	uv_loop_init(&b->loop);
	return packet_ports_open(&b->ports, &b->loop, &b->hw, &opts, NULL);
}

static void close_bench(struct bench *b)
{
	packet_ports_close(b->ports);
	uv_run(&b->loop, UV_RUN_DEFAULT);
	uv_loop_close(&b->loop);
	visible_table_done(&b->visible);
	metrics_free(b->metrics);
	free(b->plan.items);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 64;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 200;
	double bar = argc > 3 ? atof(argv[3]) : 20, us, times;
	struct bench b = {0};

	if (unshare(CLONE_NEWNET) < 0 || open_bench(&b) < 0) {
		fprintf(stderr, "bench_ports: creating a network namespace needs root\n");
		return 1;
	}
	make_interfaces(&b, n);
	attach(&b);
	for (unsigned i = 0; i < rounds; i++)
		one_round(&b, i);
	us = (b.read_us + b.page_us) / rounds;
	times = (b.read_us + b.page_us) / b.floor_us;
	printf("%u interfaces (%zu failed): attached in %.0f ms; a sample takes %.0f us to read and "
	       "%.0f us on the page (%zu bytes): %.3f %% of a core once a second, %.1f times the "
	       "%.0f us of /proc/net/dev\n",
	       n, b.failed, b.attach_us / 1000, b.read_us / rounds, b.page_us / rounds, b.bytes,
	       us / 10000, times, b.floor_us / rounds);
	close_bench(&b);
	return b.failed != 0 || times > bar;
}
