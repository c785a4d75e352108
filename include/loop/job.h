/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - runs work that would block the loop on one of libuv's threads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "job_status.h"

/* The number of libuv threads needed so that no job waits for another owner's job: one per owner
 * (scans of functions, devices, details and reports, the sampler, port settings, packet programs,
 * event programs, flows, queue pairs, owners of processes, passwords, status files of pods, the
 * search for namespaces, the walk over the journal, readers of reports, node features, the
 * configuration, its last good copy, the check of its plugins, IPAM plugins of a CNI STATUS), four
 * for the attach engine, and JOB_STUCK_MAX as a replacement for its jobs that hang. */
#define JOB_STUCK_MAX 5
#define JOB_THREADS   (21 + 4 + JOB_STUCK_MAX)

/* Embedded in its owner's struct. */
struct job {
	bool running; /* started, and `done` not called yet: the owner must keep the memory */
	uv_work_t work;
	const char *name;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
	/* Optional, may be set after job_begin(); called in the loop while the job runs. describe:
	 * writes a more specific text than the name, such as the device and the step. */
	void (*describe)(const void *arg, char *ret, size_t size);
	/* Called once if the job runs longer than JOB_SLOW_MS (job_watch.h). */
	void (*slow)(void *arg);

	struct job *prev, *next; /* list of this thread's jobs */
	uint64_t began_ms;
	bool has_thread; /* atomic */
	bool reported;
};

/* Runs run() on a worker, then done() in the loop; done() may start the next job or free this one.
 * The job must not be running. Never fails and cannot be cancelled. name: static, shown to users:
 * "sampling counters". */
void job_begin(struct job *, uv_loop_t *, const char *name, void (*run)(void *arg),
	       void (*done)(void *arg), void *arg);

/* --- unfinished jobs of this thread ----------------------------------------------------------- */

job_list_fn job_list;
/* Returns the age of the oldest job in ms; 0 = none. */
uint64_t job_oldest_ms(void);
