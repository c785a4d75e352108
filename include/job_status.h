/* job_status.h - work on a thread that has not ended, for people. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Work that takes longer is blocked by a driver, the kernel or a file system. */
#define JOB_SLOW_MS 10000

struct job_status {
	char text[192]; /* "the attach of 0000:03:00.2, at step move," */
	uint64_t for_ms;
	bool has_thread; /* false: it waits for one */
};

/* Those that have been running for at least that long, the oldest first; how many were written. */
typedef size_t job_list_fn(struct job_status *ret, size_t max, uint64_t at_least_ms);
