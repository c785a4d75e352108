/* event_series.h - the families that are counted from BPF events: connections, soft-RoCE's timers.
 * Pure: values in, text out. */
#pragma once

#include "bpf_tally.h"
#include "page.h"

#define EVENT_SOFT_MAX BPF_SOFT_DEVICES_MAX

/* A copy, made on the loop's thread. Zero-initialised: nothing is watched, nothing is told. */
struct event_summary {
	bool connections; /* rdma_cm is watched */
	struct bpf_tally tally;
	unsigned n_soft;
	struct bpf_soft_device soft[EVENT_SOFT_MAX];
};

void event_series(struct page *, const struct event_summary *);
