// SPDX-License-Identifier: Apache-2.0
/* bench_diagnosis.c - time to judge the ports of a large node once, and memory of their windows.
 *
 *   bench_diagnosis [PORTS=136 [SAMPLES=300 [BAR_US=300]]]
 *
 * Half of the rounds have only healthy ports; in the others one port of eight has a fault. The
 * median of the rounds counts, in CPU time of this thread, because the machine is shared. Fails
 * above the bar, and above 4.5 MiB for 136 ports. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "diagnosis_world.h"

#define MEMORY_BAR (9 << 19)

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of this many samples, in microseconds. */
static double measure(struct world *w, struct diagnosis *d, size_t samples)
{
	double *us = calloc(samples, sizeof(*us)), median;

	for (size_t i = 0; i < samples; i++) {
		struct observation o;
		double before;

		world_patterns[0].fn(w, i);
		o = world_step(w, 1000);
		before = cpu_us();
		diagnosis_tick(d, &o);
		us[i] = cpu_us() - before;
	}
	qsort(us, samples, sizeof(*us), by_value);
	median = us[samples / 2];
	free(us);
	return median;
}

int main(int argc, char *argv[])
{
	size_t ports = argc > 1 ? (size_t)atol(argv[1]) : 136;
	size_t samples = argc > 2 ? (size_t)atol(argv[2]) : 300;
	double bar = argc > 3 ? atof(argv[3]) : 300, healthy, ill;
	struct thresholds limits;
	struct diagnosis *d;
	struct world w;
	size_t memory;

	thresholds_init(&limits);
	world_init(&w, ports, 1);
	if (diagnosis_new(&d, &limits) < 0)
		return 1;
	healthy = measure(&w, d, samples);
	for (size_t i = 0; i < ports; i += 8) {
		w.ports[i].rate[SERIES_SYMBOL_ERRORS] = 100;
		w.ports[i].rate[SERIES_SEQUENCE_NAK] = 5000;
		w.ports[i].rate[SERIES_RNR_NAK] = 500;
	}
	ill = measure(&w, d, samples);
	memory = diagnosis_memory(d);
	printf("# diagnosis of %zu ports: %.0f us a sample, %.0f with %zu verdicts; %zu bytes\n",
	       ports, healthy, ill, world_n_verdicts(d), memory);
	diagnosis_free(d);
	world_done(&w);
	return healthy > bar || ill > bar || (ports <= 136 && memory > MEMORY_BAR);
}
