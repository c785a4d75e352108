// SPDX-License-Identifier: Apache-2.0
/* bench_scan.c - CPU time of one scan of each part of a synthetic node.
 *
 *   bench_scan DIR [ROUNDS=20]
 *
 * DIR: made by BUS=1 build/bench/mk_sysfs, or /sys for this machine. Prints CPU time of this
 * thread, the best of all rounds, because the machine is shared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hw.h"

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void measure(const struct hw *hw, unsigned parts, const char *name, int rounds)
{
	double best = 1e9;

	for (int i = 0; i < rounds; i++) {
		double start = cpu_ms();
		struct scan scan;

		hw_scan(hw, parts, &scan);
		start = cpu_ms() - start;
		if (start < best)
			best = start;
		if (i == 0)
			printf("%-10s %5zu functions %5zu netdevs %5zu RDMA devices", name,
			       scan.host.n_functions, scan.host.n_netdevs, scan.host.n_rdma);
		scan_done(&scan);
	}
	printf(" %9.2f ms\n", best);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 20;
	struct err e = {0};
	struct hw hw;
	bool own = argc > 1 && strcmp(argv[1], "/sys") == 0;

	if (argc < 2 || rounds <= 0) {
		fprintf(stderr, "usage: bench_scan DIR [ROUNDS]\n");
		return 2;
	}
	if (hw_open(&hw, argv[1], own ? "/dev" : argv[1], own ? "/proc" : argv[1], &e) < 0) {
		fprintf(stderr, "bench_scan: %s\n", e.msg);
		return 1;
	}
	measure(&hw, SCAN_FUNCTIONS, "functions", rounds);
	measure(&hw, SCAN_NETDEVS, "netdevs", rounds);
	measure(&hw, SCAN_NETDEVS | SCAN_RDMA, "devices", rounds);
	measure(&hw, SCAN_REPORTS, "reports", rounds);
	measure(&hw, SCAN_ALL, "all", rounds);
	hw_close(&hw);
	return 0;
}
