/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_state.h - the state of the diagnosis. Private to its files. Pure. */
#pragma once

#include "diagnosis.h"
#include "ended.h"
#include "latch.h"
#include "port_rates.h"
#include "rules.h"
#include "undecided.h"

/* Sums for the mean of each signal: value times seconds, and the seconds in which it was
 * visible. */
struct row_sums {
	double sum[N_SIGNALS], seconds[N_SIGNALS];
};

struct watched_port {
	struct watched_port *next_removed; /* list diagnosis.removed */
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	char bytes_source[16]; /* as in the last sample with the port */
	uint32_t index;	       /* of the RDMA device, as in the last sample with the port */
	uint32_t id;	       /* unique since the start */
	bool seen_in_tick;     /* the sample of this tick contains it */
	bool applicable;       /* not InfiniBand */
	bool held;	       /* a pod has the device */
	unsigned mtu;	       /* as in the last sample with the port */
	unsigned unseen;       /* consecutive samples without it */
	uint64_t seen_ms;      /* time of the last sample with the port; 0 = none */
	uint64_t clear_ms;
	double interval_s; /* time covered by the last sample; 0: no rates yet */
	struct port_rates rates;
	float bytes_received, bytes_sent; /* rates of the last sample */
	struct history history;
	struct row_sums *sums; /* since the last row of the window; NULL: none, owned */
	struct latches latches;
	struct undecided_list *undecided; /* one of diagnosis.undecided */
	struct window window;
};

struct diagnosis {
	struct thresholds limits;
	struct timeline timeline;
	uint64_t now_ms, unix_ms; /* of the last sample */
	uint64_t first_ms;	  /* of the first sample */
	uint64_t gap_ms;	  /* samples further apart than this give no rates */
	uint64_t span_ms[N_SPANS];
	uint32_t next_id;
	struct watched_port **ports;
	size_t n_ports, room_ports;
	/* removed by the last tick; reports may still read their windows */
	struct watched_port *removed;
	struct undecided_lists undecided;
	struct rates rates;	  /* buffer for the rates of a port at rest */
	struct siblings siblings; /* of this tick */
	struct port_load *loads;  /* of the observation's ports */
	struct watched_port **observed;
	size_t room_loads;
	struct verdict *verdicts;
	struct verdict_owner {
		uint32_t port_id;
		bool reported; /* not only as a symptom of another verdict */
		/* last time at which it was a symptom of another verdict; 0 = never */
		uint64_t explained_ms;
		enum severity before; /* in the previous tick */
	} * owners;		      /* of each verdict */
	size_t n_verdicts, room_verdicts;
	struct ended_list ended;
	uint64_t onsets[N_CAUSES];
};

/* judge.c: applies all rules to one port. Returns 0 or -ENOMEM. */
int judge_port(struct diagnosis *, const struct observation *, size_t port, struct watched_port *);

/* verdicts.c: the list of verdicts. verdicts_begin() starts a tick and drops the verdicts that the
 * previous tick closed. */
void verdicts_begin(struct diagnosis *);
struct verdict *verdicts_find(struct diagnosis *, uint32_t port_id, enum cause);
/* Adds a verdict. NULL: out of memory. */
struct verdict *verdicts_add(struct diagnosis *, const struct watched_port *,
			     const struct port_observation *, enum cause);
void verdicts_close(struct diagnosis *, const struct watched_port *, enum cause, enum close_reason);
/* Decides which of the port's verdicts are symptoms of others, and which are reported. pf: the port
 * of a VF's PF; NULL: none. */
void verdicts_explain(struct diagnosis *, const struct watched_port *,
		      const struct watched_port *pf);
/* After verdicts_explain() of all ports: names the pods of the VFs in the verdicts of their PFs,
 * and sets the severities with which the verdicts are reported. */
void verdicts_gather(struct diagnosis *);
