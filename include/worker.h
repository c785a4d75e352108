/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - setup of libuv's worker threads, called at the start of every job. */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

/* Workers have a lower priority than the loop, which answers the kubelet and Prometheus. This
 * matters if there are fewer CPUs than threads. Workers mostly wait for hardware. On Linux the nice
 * value is per thread (setpriority(2)). */
#define WORKER_NICE 5

static inline void worker_begin(void)
{
	static _Thread_local bool done;

	if (done)
		return;
	done = true;
	/* 0 = the calling thread. If it fails, the worker keeps the loop's priority. */
	if (getpriority(PRIO_PROCESS, 0) < WORKER_NICE)
		(void)setpriority(PRIO_PROCESS, 0, WORKER_NICE);
}
