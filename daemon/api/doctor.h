/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - findings: problems of this node, their effect and the remedy. Pure; time is an
 * argument. */
#pragma once

#include "attach_status.h"
#include "capabilities.h"
#include "job_status.h"
#include "pool_config.h"
#include "resource_table.h"

/* An attach or return that takes longer than this is reported. */
#define DOCTOR_SLOW_MS 30000

#define DOCTOR_UNCHECKED_MAX 4

enum finding_kind {
	FINDING_VIEW,	   /* the daemon's container lacks a view of the host */
	FINDING_PRIVILEGE, /* a missing capability, or a security module that denies access */
	FINDING_STUCK,	   /* a job that hangs */
	FINDING_DIRTY,	   /* not clean, or attaching or returning for too long */
	FINDING_ORPHAN,	   /* a device in another netns that no container holds */
	FINDING_DRIFT,	   /* an attachment whose settings were changed */
	FINDING_CHARDEV,   /* a device node is missing */
	FINDING_UNHEALTHY,
	FINDING_SETTING, /* a free VF with a setting that would harm the next pod */
	FINDING_JOURNAL,
	FINDING_RUNTIME,
	FINDING_KUBELET,
	FINDING_EMPTY,	/* a resource without devices */
	FINDING_CONFIG, /* a configuration that is rejected, in full or in part */
	N_FINDING_KINDS
};

struct doctor_finding {
	enum finding_kind kind;
	bool fixable;	  /* `rocectl doctor --fix` handles it */
	char object[192]; /* a device or resource; "" = the node */
	char what[512];	  /* the problem and its effect */
	/* The pod that holds the object, borrowed from the inputs; "" = none, or shared. */
	const char *namespace, *pod;
	const char *help; /* static */
};

/* Owns its array; all zero: empty. */
struct doctor {
	struct doctor_finding *findings; /* grouped by kind */
	size_t n;
	/* Checks that were impossible, so problems may be missing above; static. */
	const char *unchecked[DOCTOR_UNCHECKED_MAX];
	size_t n_unchecked;
};

struct doctor_input {
	const struct host *host;
	const struct resource_table *resources; /* NULL: not decided yet, gives no findings */
	struct attach_list attachments;
	const struct attach_counters *counters;	  /* NULL: the engine does not run */
	const struct config_state *config;	  /* NULL: gives no findings */
	const struct err *guard_error;		  /* of the TCP listener's files; NULL: none */
	const struct err *port_error;		  /* of the listener itself; NULL: none */
	const struct err *features_error;	  /* of the file for NFD; NULL: none */
	bool tls_expired;			  /* the listener's certificate has expired */
	const struct missing_capability *missing; /* missing capabilities */
	size_t n_missing;
	const char *confinement;       /* privileges.h; NULL or "": none */
	const struct job_status *jobs; /* jobs that have been running for a long time */
	size_t n_jobs;
	uint64_t now_ms; /* current time of the loop */
};

/* -ENOMEM leaves *ret empty. */
int doctor_build(struct doctor *ret, const struct doctor_input *);
void doctor_done(struct doctor *);
const char *finding_kind_name(enum finding_kind); /* "dirty", "orphan", ... */
/* "host": a fault of the host or of a device, which verdicts and troubles report, too; "rocelet":
 * rocelet itself does not do its work. */
const char *finding_kind_about(enum finding_kind);
