/* SPDX-License-Identifier: Apache-2.0 */
/* cause.h - the causes that diagnosis can find, in the order in which they are judged, and their
 * table. Pure.
 *
 * To add one: a name here, a row in cause_table.c, and a rule (rules.h) for it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "series.h"
#include "thresholds.h"
#include "window.h"

enum cause {
	/* Counters and NIC are not trustworthy */
	CAUSE_NIC_STUCK,
	CAUSE_NO_DEVICE_NODE,
	CAUSE_FUNCTION_RESTRICTED,
	CAUSE_CONTRADICTING_COUNTERS,
	CAUSE_BLIND_SPOT,
	/* Link */
	CAUSE_LINK_FLAP,
	CAUSE_PORT_OFF,
	CAUSE_PORT_NEVER_UP,
	CAUSE_BAD_LINK,
	CAUSE_PRE_FEC_ERRORS,
	CAUSE_LINK_DEGRADED,
	/* Pause storms */
	CAUSE_PAUSE_STORM_SOURCE,
	CAUSE_PAUSE_STORM_VICTIM,
	/* Host */
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
	/* Application and peers */
	CAUSE_RECEIVER_NOT_READY,
	CAUSE_GID_MOVED,
	CAUSE_JOB_ENDED,
	CAUSE_PEER_GONE,
	CAUSE_APPLICATION_ERROR,
	N_CAUSES
};

enum severity { SEVERITY_NONE, SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL };

/* Where a fault is. */
enum fault_side {
	SIDE_UNCLEAR, /* it cannot be decided on this node, or makes other evidence doubtful */
	SIDE_NETWORK, /* the wire, the switches, or traffic that meets in them */
	SIDE_NODE,    /* this node: NIC, bus, drivers, settings, device files */
	SIDE_APPLICATION,
};

/* The runbook has a section per cause, under its name. These are its path in our repository, and in
 * the daemon's HTTP tree, and the folder there with a document for each cause. */
#define CAUSE_RUNBOOK "docs/runbook.md"
#define CAUSE_FOLDER  "/runbook/"

/* A set of causes. */
#define CAUSE_BIT(cause) ((uint64_t)1 << (cause))

#define CAUSE_NEEDS 3
#define CAUSE_READS 16

struct rule_input;
struct finding;

/* Answer of a rule for one port in one sample. */
enum rule_answer {
	ANSWER_NO,
	ANSWER_YES,
	ANSWER_NO_TRAFFIC, /* no traffic, so the fault cannot show */
	ANSWER_UNDECIDED   /* cannot be decided; the finding has the reason */
};

typedef enum rule_answer rule_fn(const struct rule_input *, struct finding *);

/* What to do with the node first. */
enum node_action {
	NODE_KEEP,   /* it stays in service */
	NODE_CORDON, /* no new jobs */
	NODE_DRAIN,  /* its jobs move to other nodes, too */
	N_NODE_ACTIONS
};

struct cause_row {
	const char *name;
	const char *number; /* column "Rule" of docs/reference/diagnosis.md; "" = our own rule */
	rule_fn *rule;	    /* NULL: cannot be decided on one node alone */
	uint64_t explains;  /* causes on the same port that this one explains */
	/* causes that this one explains, on the ports of the VFs, besides itself (concerns_vfs) */
	uint64_t explains_vfs;
	uint64_t yields; /* causes that explain this one; used only if the finding sets `yields` */
	const char *sentence;	/* what is wrong, for people */
	const char *advice;	/* what to do */
	const char *disproof;	/* evidence that would rule it out */
	const char *source;	/* origin of the rule */
	enum severity severity; /* highest severity that the rule gives */
	/* The severities from which the node is to be cordoned, and drained; SEVERITY_NONE: none.
	 */
	enum severity cordon, drain;
	enum fault_side side;
	/* Series that the rule needs; if a series exists per priority, one priority is enough. */
	enum series needs[CAUSE_NEEDS];
	unsigned n_needs;
	/* Counters that it reads, also those that only the evidence shows. */
	enum series reads[CAUSE_READS];
	unsigned n_reads;
	enum threshold release; /* time without the fault before the verdict ends */
	/* The signal whose rise is the onset of the fault; without one, the onset is the first bad
	 * sample. */
	enum signal signal;
	bool has_signal;
	bool needs_traffic;	       /* no verdict is possible without traffic */
	bool needs_congestion_control; /* not judged if no congestion control is expected; severity
					* info if that is unknown */
	/* The verdict's severity is that of the last sample, not the worst one since its onset: its
	 * rule sets the severity also if it answers no. */
	bool severity_now;
	/* On a PF it is a fault of what its VFs share, such as the wire: it affects their pods, and
	 * the same cause on their ports is a symptom of it. */
	bool concerns_vfs;
	bool less_is_worse; /* the smaller the value of the evidence, the worse the fault */
};

const struct cause_row *cause_row(enum cause);
const char *severity_name(enum severity);
enum node_action cause_node_action(const struct cause_row *, enum severity);
/* Writes "cordon it from severity warning on; drain it at severity critical". */
void cause_node_rule(const struct cause_row *, char *ret, size_t size);
const char *node_action_name(enum node_action); /* "keep", "cordon", "drain" */
/* "cordon it, so that no new job starts on it" */
const char *node_action_text(enum node_action);
/* Returns an enum cause, or -1 if no cause has this name. */
int cause_by_name(const char *);
