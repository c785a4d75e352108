/* SPDX-License-Identifier: Apache-2.0 */
/* condition.h - the condition of a port, or of a pod's device: joins the verdicts, the device's
 * health, its attachment and its resource. Every document that contains the state of a port or pod
 * uses it, so that all documents agree. Pure. */
#pragma once

#include <jansson.h>

#include "attach_status.h"
#include "resource_table.h"
#include "trouble_word.h"
#include "undecided.h"

struct diagnosis_report;
struct doctor_finding;

/* The inputs of a condition; borrowed. */
struct condition_sources {
	const struct host *host;
	const struct resource_index *resources; /* NULL: not decided yet */
	const struct diagnosis_report *report;	/* NULL: no sample was judged yet */
	struct attach_list attachments;
	uint64_t now_ms, epoch_ms; /* the loop's time, and the unix time at its time 0 */
};

struct trouble {
	enum trouble_kind kind;
	enum severity severity;
	enum fault_side side;
	const char *word; /* static */
	bool of_pf;	  /* a verdict of the PF that affects the VFs */
	/* HEALTH_BIT of the device's reason; of a verdict, the reasons that it explains. */
	unsigned reasons;
	uint64_t since_unix_ms; /* 0 = unknown */
	bool or_earlier;	/* it already existed when it was first judged */
	char what[320];		/* a sentence without a full stop */
	const char *help;	/* static */
};

#define CONDITION_TROUBLES_MAX 16
#define CONDITION_UNJUDGED_MAX 16

/* Each fault once: a verdict that explains a trouble of the device or the link replaces it, so that
 * the fault has the verdict's severity and advice. */
struct condition {
	/* The worst first; of one severity, in the order of enum trouble_kind. If there are more,
	 * the mildest are left out. */
	struct trouble troubles[CONDITION_TROUBLES_MAX];
	size_t n;
	/* How its port is watched (if it has several, the first); NULL: none is watched. */
	const char *watch;
	/* Its ports: how many there are, are judged, and are certainly not slowed by the
	 * network. */
	size_t n_ports, n_judged, n_clear;
	/* Faults of the network of at least a warning that could not be decided on its ports, each
	 * cause once. One that the ports of VFs share is decided on the port of the PF, too. */
	struct undecided unjudged[CONDITION_UNJUDGED_MAX];
	size_t n_unjudged;
};

/* Determines the condition of a port of the report. function: NULL = unknown. holder: NULL = no pod
 * has it exclusively. */
void condition_of_port(struct condition *, const struct condition_sources *, const char *device,
		       uint32_t port, const struct function *, const struct pod_device *holder);
/* Determines the condition of a device that a container has, with all of the device's ports. */
void condition_of_pod_device(struct condition *, const struct condition_sources *,
			     const struct pod_device *);

/* What to do about the link of a function that is down, by the state of its PF's link. Static. */
const char *condition_link_advice(const struct host *, const char *function);
/* The function behind a container's device; NULL: unknown, as for most slots of a resource with
 * several HCAs. */
const char *condition_function(const struct condition_sources *, const struct pod_device *);
/* These consider only the attachment, or only the health of a function that no container has. */
void condition_of_attachment(struct condition *, const struct condition_sources *,
			     const struct attach_status *);
void condition_of_health(struct condition *, const struct condition_sources *,
			 const char *function);

/* The severity of the worst trouble; "ok": it is judged and has none; NULL: unknown. */
const char *condition_health(const struct condition *);
/* One trouble, and the list of them; new references. */
json_t *trouble_json(const struct trouble *);
json_t *condition_troubles(const struct condition *);
