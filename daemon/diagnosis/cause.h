/* cause.h - the causes that diagnosis knows, in order of judgement, and their table. Pure.
 *
 * To add one: a name here, a row in cause_table.c, and a rule (rules.h) for it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "series.h"
#include "thresholds.h"
#include "window.h"

enum cause {
	/* Can the data be trusted? */
	CAUSE_NIC_STUCK,
	CAUSE_NO_DEVICE_NODE,
	CAUSE_FUNCTION_RESTRICTED,
	CAUSE_CONTRADICTING_COUNTERS,
	CAUSE_BLIND_SPOT,
	/* The link */
	CAUSE_LINK_FLAP,
	CAUSE_PORT_NEVER_UP,
	CAUSE_BAD_LINK,
	CAUSE_PRE_FEC_ERRORS,
	CAUSE_LINK_DEGRADED,
	/* Pause storms */
	CAUSE_PAUSE_STORM_SOURCE,
	CAUSE_PAUSE_STORM_VICTIM,
	/* The host */
	CAUSE_NIC_RESET,
	CAUSE_SLOW_RECEIVER_PCIE,
	CAUSE_SLOW_RECEIVER_NIC_CACHE,
	CAUSE_SLOW_RECEIVER,
	CAUSE_PCIE_DEGRADED,
	/* Configuration */
	CAUSE_WRONG_PRIORITY,
	CAUSE_PFC_MISMATCH,
	CAUSE_GLOBAL_PAUSE,
	CAUSE_MTU_MISMATCH,
	CAUSE_NOT_ECN_CAPABLE,
	CAUSE_NOTIFICATION_POINT_OFF,
	CAUSE_REACTION_POINT_OFF,
	/* Loss */
	CAUSE_PACKET_LOSS,
	CAUSE_REORDERING,
	/* Congestion */
	CAUSE_NOISY_NEIGHBOUR,
	CAUSE_INCAST,
	CAUSE_FABRIC_CONGESTION,
	CAUSE_PAUSED_BY_NETWORK,
	CAUSE_CNP_LOST,
	CAUSE_SLOW_RESTARTS,
	CAUSE_RAIL_BEHIND,
	CAUSE_ONE_PATH,
	/* The application and its peers */
	CAUSE_RECEIVER_NOT_READY,
	CAUSE_GID_MOVED,
	CAUSE_JOB_ENDED,
	CAUSE_PEER_GONE,
	CAUSE_APPLICATION_ERROR,
	N_CAUSES
};

enum severity { SEVERITY_NONE, SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL };

/* Where each has its section, under its name: the document's place in our sources, and below
 * wherever the daemon answers. */
#define CAUSE_RUNBOOK "docs/runbook.md"

/* A set of causes. */
#define CAUSE_BIT(cause) ((uint64_t)1 << (cause))

#define CAUSE_NEEDS 3

struct rule_input;
struct finding;

/* What a rule says of one port in one sample. */
enum sight {
	SIGHT_NO,
	SIGHT_YES,
	SIGHT_QUIET,  /* without traffic the fault could not show */
	SIGHT_UNKNOWN /* cannot be decided; the finding says why */
};

typedef enum sight rule_fn(const struct rule_input *, struct finding *);

struct cause_row {
	const char *name;
	const char *number;	/* in the table of telemetry rules; "" = of our own */
	rule_fn *rule;		/* NULL: one node alone cannot decide it */
	uint64_t explains;	/* causes that are its symptoms, on the same port */
	uint64_t yields;	/* causes that it is a symptom of, where its finding says so */
	const char *sentence;	/* what is wrong, for people */
	const char *advice;	/* what to do */
	const char *disproof;	/* what would show that it is something else */
	const char *source;	/* where the rule comes from */
	enum severity severity; /* the worst that the rule gives */
	/* Series without which nothing can be said; of one for each priority, any will do. */
	enum series needs[CAUSE_NEEDS];
	unsigned n_needs;
	enum threshold release; /* how long it must be good */
	/* Whose excursion is the onset; none: the first bad sample is. */
	enum signal signal;
	bool has_signal;
	bool needs_traffic;	       /* silence proves nothing */
	bool needs_congestion_control; /* an accusation only where that is expected */
};

const struct cause_row *cause_row(enum cause);
const char *severity_name(enum severity);
/* -1: no such cause. */
int cause_by_name(const char *);
