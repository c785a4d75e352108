/* SPDX-License-Identifier: Apache-2.0 */
/* job_watch.h - logs each job of this thread that runs longer than slow_ms: once while it runs, and
 * once when it ends. Also calls the job's slow() (job.h). Does not keep the loop alive. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "timer.h"

struct job_watch {
	uv_prepare_t prepare;
	struct timer timer;
	uint64_t slow_ms;
};

void job_watch_open(struct job_watch *, uv_loop_t *, uint64_t slow_ms);
/* Ends the watch. The memory must stay valid until the loop has closed the handles. */
void job_watch_close(struct job_watch *);

/* Runs the loop until no handle and no job is left, but at most most_ms. False: some are left. */
bool job_drain(uv_loop_t *, uint64_t most_ms);
