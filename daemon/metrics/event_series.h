/* event_series.h - the families that are counted from BPF events: connections, soft-RoCE's timers.
 * Pure: values in, text out. */
#pragma once

#include "bpf_tally.h"
#include "model.h"
#include "page.h"

#define EVENT_SOFT_MAX BPF_SOFT_DEVICES_MAX

/* A copy, made on the loop's thread. Zero-initialised: nothing is watched, nothing is told. */
struct event_summary {
	bool connections; /* rdma_cm is watched */
	struct bpf_tally tally;
	bool soft_watched[N_BPF_SOFT]; /* where nobody looks nothing is told */
	unsigned n_soft;
	struct bpf_soft_device soft[EVENT_SOFT_MAX];
};

/* Of soft-RoCE devices of which nothing was counted so far it is told that it was nothing. */
void event_summary_expect(struct event_summary *, const struct host *);
void event_series(struct page *, const struct event_summary *);
