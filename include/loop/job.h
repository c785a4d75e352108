/* job.h - work that would hold up the loop, on one of libuv's threads. */
#pragma once

#include <stdbool.h>
#include <uv.h>

/* Part of its owner's struct. */
struct job {
	bool running; /* handed over, and `done` not called yet: the owner's memory is needed */
	uv_work_t work;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

/* run is called on a worker, then done in the loop; done may begin the next one or free the job.
 * Not while it is running. Never cancelled, never fails. */
void job_begin(struct job *, uv_loop_t *, void (*run)(void *arg), void (*done)(void *arg),
	       void *arg);
