/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_trace.h - writes a recording as a trace for ui.perfetto.dev, in the Trace Event Format: one
 * process per port, one counter track per series, one slice per verdict.
 * https://perfetto.dev/docs/getting-started/other-formats (JSON) */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "err.h"

struct ctl_trace;

/* Writes to the file, which the caller closes. NULL: out of memory. */
struct ctl_trace *ctl_trace_begin(FILE *);
/* Adds a document of /api/v1/diagnosis/sample; t: seconds since the first sample. Counters are
 * written as rates, from the second sample on. -ENOMEM. */
int ctl_trace_sample(struct ctl_trace *, const json_t *sample, double t);
/* Adds the open and ended verdicts of /api/v1/live (NULL: none), and ends the document. from_t:
 * monotonic time of the first sample in seconds, like onsetMs / 1000; t: seconds from the first
 * sample to the last one. Frees the trace. -EIO: the trace is incomplete. */
int ctl_trace_end(struct ctl_trace *, const json_t *live, double from_t, double t);
