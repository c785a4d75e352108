/* SPDX-License-Identifier: Apache-2.0 */
/* job_status.h - a running job, as reported by doctor and the API. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job that takes longer is blocked by a driver, the kernel or a file system. */
#define JOB_SLOW_MS 10000

struct job_status {
	char text[192]; /* "the attach of 0000:03:00.2, at step move," */
	uint64_t for_ms;
	bool has_thread; /* false: still queued for a thread */
};

/* Lists jobs that are at least at_least_ms old, oldest first; returns how many were written. */
typedef size_t job_list_fn(struct job_status *ret, size_t max, uint64_t at_least_ms);
