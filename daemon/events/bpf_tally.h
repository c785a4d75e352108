/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_tally.h - counts connections and NIC faults from BPF events. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf_event.h"

/* The numbers of enum ib_cm_rej_reason; the last element counts all others. */
#define BPF_REJECTS 37

/* Faults that a NIC's driver or the kernel has to repair. */
enum nic_fault {
	NIC_FAULT_TX_TIMEOUT,	 /* a transmit queue hung */
	NIC_FAULT_HEALTH_REPORT, /* the driver reported an error to devlink */
	N_NIC_FAULTS
};

/* Maximum number of NICs with faults; no node has more. */
#define BPF_NICS 64

struct bpf_nic {
	char device[64]; /* bus name of a function, as in the events */
	uint64_t n[N_NIC_FAULTS];
};

struct bpf_tally {
	uint64_t accepted;		/* connections requested by other nodes */
	uint64_t connections[N_BPF_CM]; /* requested by this node, by result */
	uint64_t rejects[BPF_REJECTS];
	uint64_t connect_ns, n_connect; /* time from request to connected; number of measurements */
	struct bpf_nic nics[BPF_NICS];	/* NICs that had a fault */
	unsigned n_nics;
	bool nics_full; /* faults of further NICs were not counted */
};

void bpf_tally_add(struct bpf_tally *, const struct bpf_event *);
/* False: the number of faults of this device is unknown. */
bool bpf_tally_faults(const struct bpf_tally *, const char *device, uint64_t ret[N_NIC_FAULTS]);
