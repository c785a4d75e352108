/* diagnosis_state.h - what diagnosis keeps, for its own files. Pure. */
#pragma once

#include "diagnosis.h"
#include "latch.h"
#include "rules.h"

struct watched_port {
	struct watched_port *next_gone; /* of diagnosis.gone */
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	uint32_t index; /* of the RDMA device when it was last seen */
	uint32_t id;	/* never the same again */
	bool looked_at; /* in this tick */
	bool applicable, held;
	unsigned unseen;  /* samples in a row */
	uint64_t seen_ms; /* when it was last seen; 0 = never */
	uint64_t clear_ms;
	double interval_s; /* before the last sample; 0: it is no base for rates */
	struct rates rates;
	struct history history;
	double sum[N_SIGNALS]; /* since the last row of the window: signals times seconds */
	double sum_s[N_SIGNALS];
	struct latch latch[N_CAUSES];
	struct window window;
};

struct diagnosis {
	struct thresholds limits;
	struct timeline timeline;
	uint64_t now_ms, unix_ms; /* of the last sample */
	uint64_t gap_ms;	  /* no rates are made of two samples that are further apart */
	uint64_t span_ms[N_SPANS];
	uint32_t next_id;
	struct watched_port **ports;
	size_t n_ports, room_ports;
	struct watched_port *gone; /* by the last tick: their windows may still be read */
	struct siblings siblings;  /* of this tick */
	struct port_load *loads;   /* of the observation's ports */
	struct watched_port **observed;
	size_t room_loads;
	struct verdict *verdicts;
	struct verdict_owner {
		uint32_t port_id;
		bool told;	       /* is, as a verdict of its own */
		uint64_t explained_ms; /* when it last was another's symptom; 0 = never */
	} * owners;		       /* of each verdict */
	size_t n_verdicts, room_verdicts;
	uint64_t onsets[N_CAUSES];
};

/* judge.c: one port, all rules. 0 or -ENOMEM. */
int judge_port(struct diagnosis *, const struct observation *, size_t port, struct watched_port *);

/* verdicts.c: the list. */
void verdicts_begin(struct diagnosis *); /* of a tick: what it closed last time goes */
struct verdict *verdicts_find(struct diagnosis *, uint32_t port_id, enum cause);
/* NULL: out of memory. */
struct verdict *verdicts_add(struct diagnosis *, const struct watched_port *,
			     const struct port_observation *, enum cause);
void verdicts_close(struct diagnosis *, const struct watched_port *, enum cause, enum close_reason);
/* Who explains whom on this port, and what is told of that. */
void verdicts_explain(struct diagnosis *, const struct watched_port *);
