// SPDX-License-Identifier: Apache-2.0
/* bench_sample.c - CPU time of one sample, its diagnosis and one rendered page, with a synthetic
 * sysfs tree.
 *
 *   bench_sample DIR [ROUNDS=200 [PAGE]]
 *
 * DIR: made by build/bench/mk_sysfs. Measures CPU time of this thread (user and system), because
 * the machine is shared. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "counters.h"
#include "metrics.h"
#include "node_diagnosis.h"

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static struct rdma_port *one_port(void)
{
	struct rdma_port *p = calloc(1, sizeof(*p));

	*p = (struct rdma_port){.num = 1,
				.state = PORT_ACTIVE,
				.phys_state = PHYS_LINK_UP,
				.link_layer = LINK_ETHERNET,
				.rate_bps = 400000000000,
				.gid_table_len = 255};
	for (unsigned i = 0; i < 2; i++) {
		struct gid *g = array_push(p->gids, p->n_gids);

		if (g)
			*g = (struct gid){.index = i, .raw = {[15] = 1}};
	}
	return p;
}

/* The devices of the tree with one port each; scanning the host is not part of the measurement. */
static void find_devices(const struct hw *hw, struct host *host)
{
	int fd = openat(hw->sys_fd, "class/infiniband", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		struct rdma_dev *dev = d->d_name[0] == '.' ? NULL
							   : array_push(host->rdma, host->n_rdma);

		if (!dev)
			continue;
		dev->nsid = NSID_HOST;
		snprintf(dev->name, sizeof(dev->name), "%.*s", (int)sizeof(dev->name) - 1,
			 d->d_name);
		strcpy(dev->driver, "mlx5");
		strcpy(dev->fw, "28.39.3004");
		strcpy(dev->board, "MT_0000000838");
		dev->n_ports = 1;
		dev->ports = one_port();
	}
	if (dir)
		closedir(dir);
}

static void raise_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

struct times {
	double total, best;
};

static void add_time(struct times *t, double us)
{
	t->total += us;
	if (t->best == 0 || us < t->best)
		t->best = us;
}

struct bench {
	struct hw hw;
	struct host host;
	struct counters *counters;
	struct metrics *metrics;
	struct node_diagnosis *diagnosis;
	struct page *last;
	struct times sample, judge, render;
	size_t series, bytes;
	uint64_t errors;
	int fds;
	const char *page_path;
};

static void write_page(const struct page *page, const char *path)
{
	FILE *f = fopen(path, "w");

	for (size_t i = 0; f && i < page->n_blocks; i++) {
		const struct family_block *fb = &page->blocks[i];

		fwrite(page->heads.data + fb->head_start[METRICS_PROMETHEUS], 1,
		       fb->head_len[METRICS_PROMETHEUS], f);
		fwrite(page->text.data + fb->start, 1, fb->len, f);
	}
	if (f)
		fclose(f);
}

static void run_round(struct bench *b, uint64_t now_ms)
{
	struct metrics_inputs inputs = {.host = &b->host, .host_generation = 1, .last = b->last};
	struct page *page = page_new();
	double start = cpu_us();
	const struct sample *s = counters_read(b->counters, &b->host, now_ms);

	add_time(&b->sample, cpu_us() - start);
	start = cpu_us();
	inputs.diagnosis = node_diagnosis_judge(b->diagnosis, s,
						&(struct observer_inputs){.host = &b->host,
									  .host_generation = 1,
									  .unix_ms = now_ms},
						false);
	add_time(&b->judge, cpu_us() - start);
	start = cpu_us();
	if (!page || metrics_render(b->metrics, page, s, &inputs, now_ms) < 0)
		exit(1);
	add_time(&b->render, cpu_us() - start);
	page_iov(page, METRICS_PROMETHEUS, NULL, &b->bytes);
	if (b->page_path)
		write_page(page, b->page_path);
	b->series = s->n_readings;
	b->errors = s->sources[SOURCE_SYSFS].errors;
	page_unref(b->last);
	b->last = page;
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = -1;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

static void measure(struct bench *b, int rounds)
{
	double start = cpu_us();

	if (counters_layout(b->counters, &b->host) < 0)
		exit(1);
	printf("layout    %8.1f us\n", cpu_us() - start);
	b->fds = count_fds();
	run_round(b, 1000);
	printf("first     %8.1f us sample, %.1f us judge, %.1f us render\n", b->sample.total,
	       b->judge.total, b->render.total);
	b->sample = b->judge = b->render = (struct times){0};
	for (int i = 0; i < rounds; i++)
		run_round(b, 2000 + 1000 * (uint64_t)i);
	printf("sample    %8.1f us (best %.1f)\n", b->sample.total / rounds, b->sample.best);
	printf("judge     %8.1f us (best %.1f)\n", b->judge.total / rounds, b->judge.best);
	printf("render    %8.1f us (best %.1f)\n", b->render.total / rounds, b->render.best);
}

int main(int argc, char **argv)
{
	static const struct counters_opts opts;
	struct bench b = {.hw = {.sys_fd = -1, .dev_fd = -1, .proc_fd = -1}};
	int rounds = argc > 2 ? atoi(argv[2]) : 200;
	struct thresholds limits;
	struct rusage ru;

	if (argc < 2 || rounds < 1) {
		fprintf(stderr, "usage: bench_sample DIR [ROUNDS [PAGE]]\n");
		return 2;
	}
	raise_limit();
	b.page_path = argc > 3 ? argv[3] : NULL;
	b.hw.sys_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b.hw.sys_fd < 0) {
		perror(argv[1]);
		return 1;
	}
	find_devices(&b.hw, &b.host);
	b.counters = counters_new(&b.hw, &opts);
	b.metrics = metrics_new();
	thresholds_init(&limits);
	b.diagnosis = node_diagnosis_new(&limits);
	if (!b.counters || !b.metrics || !b.diagnosis)
		return 1;
	measure(&b, rounds);
	getrusage(RUSAGE_SELF, &ru);
	printf("devices   %8zu\nfiles     %8d (open descriptors)\nreadings  %8zu\nbody      %8zu "
	       "bytes\nerrors    %8llu\nmax RSS   %8ld kB\n",
	       b.host.n_rdma, b.fds, b.series, b.bytes, (unsigned long long)b.errors, ru.ru_maxrss);
	page_unref(b.last);
	counters_free(b.counters);
	metrics_free(b.metrics);
	node_diagnosis_free(b.diagnosis);
	host_done(&b.host);
	close(b.hw.sys_fd);
	return 0;
}
