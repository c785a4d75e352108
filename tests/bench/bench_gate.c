// SPDX-License-Identifier: Apache-2.0
/* bench_gate.c - measures by how much PreStartContainer (daemon/attach/gate.h) delays a container
 * whose sandbox the runtime has already reported. The time of kernel and NIC is not included.
 *
 *   bench_gate [ROUNDS [BAR]]
 *
 * Runs the whole engine with steps that need no time (tests/lib/attach_world.h). Two cases
 * alternate:
 * - called after the attach (the usual case: the kubelet calls it about 0.2 s after the sandbox):
 *   time until the answer;
 * - called while a step of the attach runs: time from the end of that step until the answer.
 *
 * The floor is an empty job of a worker, from the loop and back. Exits 1 if a median exceeds BAR
 * times the floor's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attach_world.h"

#define ROUNDS_MAX 10000

static uint64_t now_us(void)
{
	return uv_hrtime() / 1000;
}

static void no_work(uv_work_t *work)
{
	(void)work;
}

static void on_no_work(uv_work_t *work, int status)
{
	(void)status;
	*(bool *)work->data = true;
}

static uint64_t do_nothing(struct world *w)
{
	bool done = false;
	uv_work_t work = {.data = &done};
	uint64_t us = now_us();

	uv_queue_work(&w->loop, &work, no_work, on_no_work);
	while (!done)
		uv_run(&w->loop, UV_RUN_NOWAIT);
	return now_us() - us;
}

static uint64_t start_pod(struct world *w)
{
	uint64_t ns = world_add_sandbox(w, "a", NULL);

	world_hold(w, 0, "a");
	return ns;
}

static void end_pod(struct world *w, uint64_t ns)
{
	world_end_sandbox(w, ns);
	world_unhold(w, 0);
	world_end_namespace(w, ns);
	world_show_all(w);
	world_until_state(w, 0, ATTACH_FREE);
	world_show_devices(w);
}

static void hold_steps(struct world *w)
{
	pthread_mutex_lock(&w->lock);
	w->hold = true;
	pthread_mutex_unlock(&w->lock);
}

static uint64_t ask_attached(struct world *w)
{
	uint64_t ns = start_pod(w), us;
	struct world_gate g;

	world_show_all(w);
	world_until_state(w, 0, ATTACH_IN_POD);
	world_show_devices(w);
	world_settle(w);
	us = now_us();
	world_ask(w, &g, 0);
	while (!g.answers)
		uv_run(&w->loop, UV_RUN_NOWAIT);
	us = now_us() - us;
	end_pod(w, ns);
	return us;
}

static uint64_t ask_attaching(struct world *w)
{
	uint64_t ns = start_pod(w), us;
	struct world_gate g;

	hold_steps(w);
	world_show_all(w);
	world_until_state(w, 0, ATTACH_ATTACHING);
	world_ask(w, &g, 0);
	us = now_us();
	world_let_go(w);
	while (!g.answers)
		uv_run(&w->loop, UV_RUN_NOWAIT);
	us = now_us() - us;
	end_pod(w, ns);
	return us;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Prints the result; returns the median as a multiple of floor_us. floor_us 0: this is the floor;
 * returns its median in us. */
static double show(const char *what, uint64_t *us, size_t n, double floor_us)
{
	double median;

	qsort(us, n, sizeof(*us), by_value);
	median = (double)us[n / 2];
	printf("%-28s median %7.3f ms, p99 %7.3f, most %7.3f", what, median / 1e3,
	       (double)us[n * 99 / 100] / 1e3, (double)us[n - 1] / 1e3);
	if (floor_us > 0)
		printf("; %.1f times the floor", median / floor_us);
	printf("\n");
	return floor_us > 0 ? median / floor_us : median;
}

int main(int argc, char *argv[])
{
	static uint64_t attached[ROUNDS_MAX], attaching[ROUNDS_MAX], nothing[ROUNDS_MAX];
	const size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
	const double bar = argc > 2 ? strtod(argv[2], NULL) : 1e9;
	struct world *w;
	double floor_us, a, b;

	if (rounds == 0 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: bench_gate [ROUNDS [BAR]]\n");
		return 2;
	}
	/* A world has a limited number of namespaces, which are not used again. */
	for (size_t i = 0; i < rounds; i++) {
		w = world_new("{}", false);
		world_until_ready(w);
		nothing[i] = do_nothing(w);
		attached[i] = ask_attached(w);
		attaching[i] = ask_attaching(w);
		world_free(w);
	}
	floor_us = show("floor, a job for a worker:", nothing, rounds, 0);
	a = show("called after the attach:", attached, rounds, floor_us);
	b = show("called during the attach:", attaching, rounds, floor_us);
	return a > bar || b > bar;
}
