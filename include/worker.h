/* worker.h - what every piece of work on libuv's threads begins with. */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

/* The loop answers the kubelet and Prometheus, workers look at hardware that they may have to wait
 * for anyway: where there are fewer processors than threads, the loop comes first. In Linux the
 * value is a thread's own (setpriority(2)). */
#define WORKER_NICE 5

static inline void worker_begin(void)
{
	static _Thread_local bool done;

	if (done)
		return;
	done = true;
	/* 0 is the calling thread. Refused, it only stays as urgent as the loop. */
	if (getpriority(PRIO_PROCESS, 0) < WORKER_NICE)
		(void)setpriority(PRIO_PROCESS, 0, WORKER_NICE);
}
