/* SPDX-License-Identifier: Apache-2.0 */
/* event_series.h - the families counted from BPF events: connections, soft-RoCE's timers, faults of
 * NICs. Pure: values in, text out. */
#pragma once

#include "bpf_tally.h"
#include "host_series.h"
#include "model.h"
#include "page.h"

#define EVENT_SOFT_MAX BPF_SOFT_DEVICES_MAX
#define EVENT_NICS_MAX 1024

/* Faults of an RDMA device's function. */
struct event_nic {
	char device[DEVICE_LABEL_SIZE];
	uint64_t faults[N_NIC_FAULTS];
};

/* A copy of the counts, made on the loop's thread. Zero-initialised it means that nothing is
 * watched, so there are no series. */
struct event_summary {
	bool connections; /* rdma_cm is watched */
	struct bpf_tally tally;
	bool soft_watched[N_BPF_SOFT]; /* kinds that are not watched have no series */
	unsigned n_soft;
	struct bpf_soft_device soft[EVENT_SOFT_MAX];
	bool faults_watched[N_NIC_FAULTS]; /* likewise */
	unsigned n_nics;
	struct event_nic nics[EVENT_NICS_MAX]; /* in the order of the host's devices */
};

/* Adds the host's devices to the summary, so that devices without events have series with 0. */
void event_summary_expect(struct event_summary *, const struct host *);
void event_series(struct page *, const struct event_summary *);
