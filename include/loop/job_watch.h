/* job_watch.h - which job does not end: logged once, with what happens next, and once more when it
 * has ended; its owner is called (job.h, slow). Of the jobs of the thread whose loop it is. Does
 * not keep the loop alive. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "due.h"

struct job_watch {
	uv_prepare_t prepare;
	struct due due;
	uint64_t patience_ms;
};

void job_watch_open(struct job_watch *, uv_loop_t *, uint64_t patience_ms);
/* Its memory is needed until the loop has closed its handles. */
void job_watch_close(struct job_watch *);

/* Runs the loop until it has neither a handle nor a job left, for that long at most: false, there
 * is something left. */
bool job_drain(uv_loop_t *, uint64_t most_ms);
