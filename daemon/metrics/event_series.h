/* event_series.h - the families that are counted from BPF events: connections, soft-RoCE's timers,
 * faults of NICs. Pure: values in, text out. */
#pragma once

#include "bpf_tally.h"
#include "host_series.h"
#include "model.h"
#include "page.h"

#define EVENT_SOFT_MAX BPF_SOFT_DEVICES_MAX
#define EVENT_NICS_MAX 1024

/* An RDMA device on a function. */
struct event_nic {
	char device[DEVICE_LABEL_SIZE];
	uint64_t faults[N_NIC_FAULTS];
};

/* A copy, made on the loop's thread. Zero-initialised: nothing is watched, nothing is told. */
struct event_summary {
	bool connections; /* rdma_cm is watched */
	struct bpf_tally tally;
	bool soft_watched[N_BPF_SOFT]; /* where nobody looks nothing is told */
	unsigned n_soft;
	struct bpf_soft_device soft[EVENT_SOFT_MAX];
	bool faults_watched[N_NIC_FAULTS]; /* likewise */
	unsigned n_nics;
	struct event_nic nics[EVENT_NICS_MAX]; /* in the order of the host's devices */
};

/* Which devices there are: those of which nothing was counted so far have 0. */
void event_summary_expect(struct event_summary *, const struct host *);
void event_series(struct page *, const struct event_summary *);
