/* node_diagnosis.h - the diagnosis of this node: each sample is judged on the worker that took it,
 * and what is said of it goes to the loop as a report. Pure. */
#pragma once

#include "diagnosis_report.h"
#include "port_observer.h"

struct node_diagnosis;

/* NULL: out of memory. */
struct node_diagnosis *node_diagnosis_new(const struct thresholds *);
void node_diagnosis_free(struct node_diagnosis *);
/* From the next sample on; not while one is being judged. */
void node_diagnosis_follow(struct node_diagnosis *, const struct thresholds *);

/* On the worker. The report is borrowed until the next but one call: the loop may read it while the
 * next sample is judged. counters: it is to have them. NULL: no memory, nothing new is said. */
const struct diagnosis_report *node_diagnosis_judge(struct node_diagnosis *, const struct sample *,
						    const struct observer_scene *, bool counters);
/* On the worker, between samples: bursts of looks at single ports, of which the judgement before
 * has said when the next is due (bursts_interval_ms()). The sample's port has been read again, for
 * which drivers gave so many answers. */
struct bursts *node_diagnosis_bursts(struct node_diagnosis *);
void node_diagnosis_look(struct node_diagnosis *, const struct sample *, size_t port,
			 unsigned asked, uint64_t now_ns);
/* On the worker: what was judged last, as a line of a scenario; heap, without its newline. NULL:
 * nothing was, or no memory. */
char *node_diagnosis_line(const struct node_diagnosis *);
