/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - the reports of diagnosis about a port. Pure values. */
#pragma once

#include "cause.h"
#include "observation.h"

#define EVIDENCE_MAX	     8
#define VERDICT_PODS_MAX     6
#define VERDICT_CULPRITS_MAX 2

/* A number on which a verdict is based. */
struct evidence {
	/* a series of docs/reference/metrics.md, or an expression of several; static */
	const char *name;
	const char *unit; /* static */
	double value;
	double threshold; /* NaN: none, the number is context */
	int number;	  /* priority or lane that replaces '#' in the name; -1: none */
	const char *word; /* the value as a word; static; NULL: it is just a number */
};

/* The unit of a value that is a bit mask of priorities; its text is their numbers: "3,4". */
#define EVIDENCE_PRIORITIES "mask of priorities"

/* Details of a rule's answer. */
struct finding {
	enum severity severity;
	/* Ratio of a warning's value to the critical limit; NaN: no limit applies. */
	double near;
	bool yields;  /* it is a symptom of the causes in the row's `yields` */
	bool at_once; /* one sample is enough for a verdict, as for counted faults */
	/* Answered no, but counters that could show the fault are not visible: the cause counts as
	 * undecided. */
	bool unseen;
	/* reason if undecided or unseen, remark if yes; static; NULL = none */
	const char *why;
	/* the port whose pods cause the fault; NULL: it is not caused by pods of this node */
	const struct port_observation *culprit;
	/* The signal that shows the onset, initially that of the row; valid if has_signal. */
	enum signal signal;
	bool has_signal;
	uint64_t since_ms; /* when the fault began; 0 = unknown to the rule */
	bool since_exact;  /* since_ms is exact, however long ago, and not just the oldest sign of
			    * the fault */
	uint64_t last_ms;  /* last of the events that it counts; 0 = this sample */
	unsigned n_evidence;
	struct evidence evidence[EVIDENCE_MAX];
};

enum verdict_change { VERDICT_SAME, VERDICT_OPENED, VERDICT_SEVERITY, VERDICT_CLOSED };

enum close_reason {
	CLOSE_CLEARED,	 /* no fault for the release time */
	CLOSE_GONE,	 /* the port was removed */
	CLOSE_UNSEEN,	 /* the counters were not visible for too long */
	CLOSE_EXPLAINED, /* it became a symptom of another verdict */
};

struct verdict {
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	char netdev[IFNAMSIZ], function[DEV_ID_SIZE]; /* "" = unknown */
	enum cause cause;
	enum severity severity;
	uint64_t onset_ms, onset_unix_ms; /* of the first bad sample */
	uint64_t last_ms, last_unix_ms;	  /* of the last bad sample, or of the last event */
	uint64_t opened_ms;		  /* when the samples were enough for a verdict */
	/* start of the present time without the fault; 0 = it is present */
	uint64_t clearing_ms;
	/* The first sample after the last one with the fault, or the end; 0 = neither yet. */
	uint64_t over_ms;
	/* The series that moved first, "" = none; others_moved: others moved in the same sample. */
	const char *first_moved;
	bool others_moved;
	/* The first sample after the daemon's start was bad: the fault is at least that old. */
	bool before_start;
	/* The signal of first_moved; valid if has_signal. */
	bool has_signal;
	enum signal first_signal;
	const char *remark; /* static; NULL = none */
	unsigned n_evidence;
	/* Of the last sample with the fault; the main one first. */
	struct evidence evidence[EVIDENCE_MAX];
	struct worst_sample {
		/* That of the rule: the verdict's may be higher, because of its onsets or of a
		 * VF's verdict. */
		enum severity severity;
		unsigned n_evidence;
		struct evidence evidence[EVIDENCE_MAX];
	} worst;
	/* Which pods the fault affects, and which pods cause it, is decided here and nowhere else.
	 * n_pods: all affected pods; the first ones are in `pods`, verdict_next_pod() has more. */
	struct observed_pod pods[VERDICT_PODS_MAX];
	uint32_t n_pods;
	struct observed_pod culprits[VERDICT_CULPRITS_MAX];
	uint32_t n_culprits;
	char peer[OBSERVED_PEER_SIZE];
	bool management;   /* a management port: info, unless VFs of pods are affected */
	uint64_t symptoms; /* open causes on the port that it explains, as CAUSE_BIT */
	uint64_t led_by;   /* open causes on the PF's port that explain it, as CAUSE_BIT */
	/* This verdict is a symptom of another one: it is listed under that one and not
	 * reported. */
	bool explained;
	/* The reported cause that explains it, and its device: this one or the PF. Kept after the
	 * end; device "" = none. */
	enum cause explained_by;
	char explained_on[RDMA_NAME_SIZE];
	char pf[RDMA_NAME_SIZE]; /* the PF's device, if led_by is not 0 */
	enum severity of_vfs;	 /* highest of the verdicts that it explains on the ports of VFs */
	enum severity highest;	 /* of those that it was reported with */
	/* Change in the last tick; a closed verdict is removed by the next one. */
	enum verdict_change change;
	enum close_reason closed;
};

/* True if it is open and not a symptom of another verdict. */
static inline bool verdict_is_reported(const struct verdict *v)
{
	return !v->explained && v->change != VERDICT_CLOSED;
}

/* True if it is open and not a symptom of another verdict on its own port. */
static inline bool verdict_is_own(const struct verdict *v)
{
	return (!v->explained || v->led_by) && v->change != VERDICT_CLOSED;
}

#define EVIDENCE_TEXT_SIZE 80
/* Writes a value with its unit: "24,000 peers", "0.052 %", "403/s", "100 Gbit/s", "28m". Every text
 * for people is made by this function, so that they all agree. Returns ret. */
const char *evidence_value_text(double value, const char *unit, char ret[EVIDENCE_TEXT_SIZE]);
/* True if the text of the evidence is a word, not the value with its unit. */
bool evidence_is_word(const struct evidence *);
/* Writes the word of the evidence, or its value as evidence_value_text(). Returns ret. */
const char *evidence_text(const struct evidence *, char ret[EVIDENCE_TEXT_SIZE]);
/* The name of the evidence, with its number. */
#define EVIDENCE_NAME_SIZE 160
void evidence_name(const struct evidence *, char ret[EVIDENCE_NAME_SIZE]);
/* Returns the most important evidence: the one furthest beyond its limit, as a ratio; without
 * limits the first. less_is_worse: as in the cause's row. NULL: there is none. */
const struct evidence *evidence_main(const struct evidence *, unsigned n, bool less_is_worse);
/* Moves the main evidence to the front. */
void evidence_sort(struct evidence *, unsigned n, bool less_is_worse);
/* Shows the evidence of its worst sample, and its highest severity, from now on. */
void verdict_show_worst(struct verdict *);
/* True if the other verdict is a symptom of this one, on the port of a VF. */
bool verdict_leads(const struct verdict *, const struct verdict *other);
/* How a verdict concerns a port. */
enum verdict_relation {
	VERDICT_UNRELATED,
	VERDICT_OWN,   /* it is the port's */
	VERDICT_OF_PF, /* it is that of the PF's port, and affects the pods of its VFs */
};

/* The rule that decides which devices a verdict concerns: that of its port, and the VFs of it, if
 * they share what is at fault, or if it explains the verdict of the VF's port. The pods that hold
 * these devices are affected, or cause it (verdict_is_culprit()). parent: the PF's function; "" =
 * the port is not that of a VF. */
enum verdict_relation verdict_relation(const struct verdict *, const struct verdict *all,
				       size_t n_all, const char *device, uint32_t port,
				       const char *parent);
/* True if the pod is one of those that cause the fault. */
bool verdict_is_culprit(const struct verdict *, const char *namespace, const char *name);
/* Iterates over the affected pods: its own, and those of the verdicts in `all` (of the ports of its
 * VFs) that it explains; each once, and none that causes it. *pos is 0 at first. NULL: no more. */
const struct observed_pod *verdict_next_pod(const struct verdict *, const struct verdict *all,
					    size_t n_all, size_t *pos);

const char *verdict_change_name(enum verdict_change);
const char *close_reason_name(enum close_reason);
