/* job.h - work that would hold up the loop, on one of libuv's threads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "job_status.h"

/* How many threads libuv has to have: one for each job that can be under way at once (each owner
 * has one: looks at functions, devices, details and reports, the sampler, settings of ports,
 * packet programs, event programs, flows, queue pairs, owners of processes, passwords, pods'
 * status files, the search for namespaces, the walk over the journal; the attach engine has four,
 * and JOB_STUCK_MAX in place of those that do not end). So no job waits for another owner's. */
#define JOB_STUCK_MAX 5
#define JOB_THREADS   (15 + 4 + JOB_STUCK_MAX)

/* Part of its owner's struct. */
struct job {
	bool running; /* handed over, and `done` not called yet: the owner's memory is needed */
	uv_work_t work;
	const char *name;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
	/* Both may be set after job_begin(), and are called in the loop while it is running. More
	 * than its name, such as the device and the step: */
	void (*describe)(const void *arg, char *ret, size_t size);
	/* It has been running for JOB_SLOW_MS (job_watch.h); once. */
	void (*slow)(void *arg);

	struct job *prev, *next; /* of this thread's loop */
	uint64_t began_ms;
	bool has_thread; /* atomic */
	bool told;
};

/* run is called on a worker, then done in the loop; done may begin the next one or free the job.
 * Not while it is running. Never cancelled, never fails. name: static, what people read of it:
 * "the sample of counters". */
void job_begin(struct job *, uv_loop_t *, const char *name, void (*run)(void *arg),
	       void (*done)(void *arg), void *arg);

/* --- those that this thread has begun and that have not ended ----------------------------------
 */

job_list_fn job_list;
/* How long the oldest has been running; 0 = none is. */
uint64_t job_oldest_ms(void);
