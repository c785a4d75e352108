/* bpf_tally.h - connections and what soft-RoCE does, counted from BPF events. Pure. */
#pragma once

#include <stdint.h>

#include "bpf_event.h"

/* enum ib_cm_rej_reason's numbers; the last place is for all others. */
#define BPF_REJECTS 37

struct bpf_tally {
	uint64_t accepted;		/* connections that were asked of this node */
	uint64_t connections[N_BPF_CM]; /* asked for by this node, by result */
	uint64_t rejects[BPF_REJECTS];
	uint64_t connect_ns, n_connect; /* from request to connected; of those that were measured */
};

void bpf_tally_add(struct bpf_tally *, const struct bpf_event *);
