/* doctor.h - what is wrong on this node, what it means and what would help. Pure; time is an
 * argument. */
#pragma once

#include "attach_status.h"
#include "capabilities.h"
#include "job_status.h"
#include "pool_config.h"
#include "resource_table.h"

/* How long an attach or a return may take before doctor speaks of it. */
#define DOCTOR_SLOW_MS 30000

enum finding_kind {
	FINDING_VIEW,	   /* what runs here cannot see the host */
	FINDING_PRIVILEGE, /* a capability that is missing */
	FINDING_STUCK,	   /* work on a thread that does not end */
	FINDING_DIRTY,	   /* a device that could not be cleaned, or is long on its way */
	FINDING_ORPHAN,	   /* a device in a namespace that nobody answers for */
	FINDING_DRIFT,	   /* an attachment that is not as it was set */
	FINDING_CHARDEV,   /* a device node is missing */
	FINDING_UNHEALTHY,
	FINDING_SETTING, /* a free VF is not as a clean one */
	FINDING_JOURNAL,
	FINDING_RUNTIME,
	FINDING_KUBELET,
	FINDING_EMPTY,	/* a resource without devices */
	FINDING_CONFIG, /* the configuration file is not what is in use */
	N_FINDING_KINDS
};

struct doctor_finding {
	enum finding_kind kind;
	bool fixable;	  /* `rocectl doctor --fix` works on it */
	char object[192]; /* a device, a resource; "" = the node */
	char what[512];	  /* what is there, and what it means */
	const char *help; /* static */
};

/* Owns its array; zero-initialised it is empty. */
struct doctor {
	struct doctor_finding *findings; /* by kind */
	size_t n;
};

struct doctor_input {
	const struct host *host;
	const struct resource_table *resources; /* NULL: not decided yet, nothing is said of it */
	struct attach_list attachments;
	const struct attach_counters *counters; /* NULL: nothing is attached here */
	const struct config_state *config;	/* NULL: nothing is said of it */
	const struct err *guard_error;		/* of the TCP listener's files; NULL: none */
	const struct err *port_error;		/* of the listener itself; NULL: none */
	bool tls_expired;			/* its certificate has */
	const struct capability_lack *lacks;	/* what the daemon may not do */
	size_t n_lacks;
	const struct job_status *jobs; /* what has been running for long */
	size_t n_jobs;
	uint64_t now_ms; /* the loop's */
};

/* -ENOMEM leaves *ret empty. */
int doctor_build(struct doctor *ret, const struct doctor_input *);
void doctor_done(struct doctor *);
const char *finding_kind_name(enum finding_kind); /* "dirty", "orphan", ... */
