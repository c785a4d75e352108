/* SPDX-License-Identifier: Apache-2.0 */
/* node_diagnosis.h - the diagnosis of this node: judges each sample on the worker that took it, and
 * passes a report to the loop. Pure. */
#pragma once

#include "diagnosis_report.h"
#include "port_observer.h"

struct node_diagnosis;

/* Starts a diagnosis without observations; NULL: out of memory. */
struct node_diagnosis *node_diagnosis_new(const struct thresholds *);
void node_diagnosis_free(struct node_diagnosis *);
/* Uses these thresholds from the next sample on; not while one is being judged. */
void node_diagnosis_follow(struct node_diagnosis *, const struct thresholds *);

/* Judges a sample, on the worker. The report is borrowed until the call after the next one, so the
 * loop may read it while the next sample is judged. counters: include the counters. NULL: out of
 * memory, there is no new report. */
const struct diagnosis_report *node_diagnosis_judge(struct node_diagnosis *, const struct sample *,
						    const struct observer_inputs *, bool counters);
/* Returns the burst sampling of single ports, on the worker between samples. The last judgement has
 * set when the next reading is due (bursts_interval_ms()). Call node_diagnosis_add_reading() after
 * a port was read again; asked: number of driver queries that the reading needed. */
struct bursts *node_diagnosis_bursts(struct node_diagnosis *);
void node_diagnosis_add_reading(struct node_diagnosis *, const struct sample *, size_t port,
				unsigned asked, uint64_t now_ns);
/* Returns the last judged observation as a line of a scenario file, on the worker; on the heap,
 * without a newline. NULL: there is none, or out of memory. */
char *node_diagnosis_line(const struct node_diagnosis *);
