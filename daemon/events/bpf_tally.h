/* bpf_tally.h - connections, and faults of NICs, counted from BPF events. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf_event.h"

/* enum ib_cm_rej_reason's numbers; the last place is for all others. */
#define BPF_REJECTS 37

/* What a NIC's driver or the kernel has to repair. */
enum nic_fault {
	NIC_FAULT_TX_TIMEOUT,	 /* a transmit queue hung */
	NIC_FAULT_HEALTH_REPORT, /* the driver reported an error to devlink */
	N_NIC_FAULTS
};

/* More than fail on one node. */
#define BPF_NICS 64

struct bpf_nic {
	char device[64]; /* as in the events: the bus name of a function */
	uint64_t n[N_NIC_FAULTS];
};

struct bpf_tally {
	uint64_t accepted;		/* connections that were asked of this node */
	uint64_t connections[N_BPF_CM]; /* asked for by this node, by result */
	uint64_t rejects[BPF_REJECTS];
	uint64_t connect_ns, n_connect; /* from request to connected; of those that were measured */
	struct bpf_nic nics[BPF_NICS];	/* that had a fault */
	unsigned n_nics;
	bool nics_full; /* others had one that is not counted */
};

void bpf_tally_add(struct bpf_tally *, const struct bpf_event *);
/* False: it is not known how many this device had. */
bool bpf_tally_faults(const struct bpf_tally *, const char *device, uint64_t ret[N_NIC_FAULTS]);
