/* verdict.h - what diagnosis says of a port. Pure values. */
#pragma once

#include "cause.h"
#include "observation.h"

#define EVIDENCE_MAX	 8
#define VERDICT_PODS_MAX 2

/* A number that a judgement rests on. */
struct evidence {
	const char *name; /* a series of docs/reference/metrics.md, or what was made of several;
			     static */
	const char *unit; /* static */
	double value;
	double threshold; /* NaN: there is none, the number explains */
	int number;	  /* priority or lane that '#' in the name stands for; -1: none */
};

/* What a rule says beside yes or no. */
struct finding {
	enum severity severity;
	double confidence; /* 0 to 1 */
	/* Of a warning: how much of what is critical it comes to; NaN: there is no such scale. */
	double near;
	bool yields;	 /* to the causes that its row names: they explain it */
	bool at_once;	 /* one sample is enough: it counts what happened, not how much */
	const char *why; /* of SIGHT_UNKNOWN, and a remark of SIGHT_YES; static; NULL = none */
	const struct port_observation *subject; /* whose pods are concerned; NULL: this port's */
	/* Whose excursion it is, where it is not the row's; has_signal: it is one at all. */
	enum signal signal;
	bool has_signal;
	uint64_t since_ms; /* when it began, where the rule knows; 0 = it does not */
	unsigned n_evidence;
	struct evidence evidence[EVIDENCE_MAX];
};

enum verdict_change { VERDICT_SAME, VERDICT_OPENED, VERDICT_SEVERITY, VERDICT_CLOSED };

enum close_reason {
	CLOSE_CLEARED,	 /* good for long enough */
	CLOSE_GONE,	 /* the port is */
	CLOSE_UNSEEN,	 /* its numbers have not been visible for long */
	CLOSE_EXPLAINED, /* it turned out to be the symptom of another */
};

struct verdict {
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	char netdev[IFNAMSIZ], function[DEV_ID_SIZE]; /* "" = unknown */
	enum cause cause;
	enum severity severity;
	double confidence;
	uint64_t onset_ms, onset_unix_ms; /* the first bad sample */
	uint64_t opened_ms;		  /* when that was enough for a verdict */
	uint64_t clearing_ms;		  /* good since; 0 = it is bad now */
	/* What moved first of all signals, "" = nothing that is watched did; and whether others
	 * moved in the same sample. */
	const char *first_moved;
	bool others_moved;
	const char *remark; /* static; NULL = none */
	unsigned n_evidence;
	struct evidence evidence[EVIDENCE_MAX];
	struct observed_pod pods[VERDICT_PODS_MAX];
	uint32_t n_pods; /* that are concerned; the first of them are in `pods` */
	char peer[OBSERVED_PEER_SIZE];
	bool management;   /* a management port: information only */
	uint64_t symptoms; /* causes that are open on the port and that it explains, as CAUSE_BIT */
	/* It is such a symptom itself: listed under the other verdict, not told by itself. */
	bool explained;
	/* What happened with it in the last tick; a closed one is gone in the next. */
	enum verdict_change change;
	enum close_reason closed;
};

/* Is it open, and a verdict of its own? */
static inline bool verdict_is_told(const struct verdict *v)
{
	return !v->explained && v->change != VERDICT_CLOSED;
}

const char *verdict_change_name(enum verdict_change);
const char *close_reason_name(enum close_reason);
