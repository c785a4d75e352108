/* attach_status.h - what the attach engine tells of itself, to whoever shows it: the API, the
 * metrics page, doctor. Plain data. */
#pragma once

#include "attachment.h"
#include "sandbox.h"

/* What a check found different from what was set: vf_field bits, and from here on what is seen in
 * the pod. */
#define ATTACH_DRIFT_NAME	 (1u << 16)
#define ATTACH_DRIFT_DOWN	 (1u << 17)
#define ATTACH_DRIFT_IPS	 (1u << 18)
#define ATTACH_DRIFT_RDMA	 (1u << 19) /* its RDMA device is gone; that cannot be set right */
#define ATTACH_DRIFT_LINK(field) (1u << (20 + (field))) /* enum link_field */

/* The name of the i-th setting that can drift and its bit: "mac", "vlan", "spoofchk" ...; NULL past
 * the end. */
const char *attach_drift_name(size_t i, unsigned *ret_bit);

/* One attachment. */
struct attach_status {
	const struct attach_record *record;
	const char *step;  /* of the operation under way, NULL = none */
	unsigned drift;	   /* bits, see above */
	unsigned tries;	   /* that failed in a row */
	uint64_t since_ms; /* when its state began, in the loop's time */
	char error[256];
};

/* The attachments as a list, sorted by function (natural_cmp()), then resource and ID; borrowed.
 * Zero-initialised it is the empty list. */
struct attach_list {
	const struct attach_status *items;
	size_t n;
};

/* Whoever has the function itself, not a macvlan or ipvlan on it, nor a free one that only
 * remembers how its attach failed; NULL = nobody. */
const struct attach_status *attach_list_function(struct attach_list, const char *function);
/* By what the kubelet calls it. */
const struct attach_status *attach_list_id(struct attach_list, const char *resource,
					   const char *id);

/* Why a return has given a function a new netdev. */
enum renewal {
	RENEWAL_NONE,
	RENEWAL_DIRTY,
	RENEWAL_UNKNOWN,
	RENEWAL_ALWAYS,
	RENEWAL_BEYOND,
	N_RENEWALS
};
/* "", "dirty", "unknown", "always", "beyond" */
const char *renewal_name(enum renewal);
#define ATTACH_LEFT_SIZE 256

struct attach_counters {
	uint64_t renewals[N_RENEWALS]; /* by reason */
	uint64_t attached, attach_failures, returned, return_failures, orphans, drifts, repairs,
		gate_questions, gate_refusals;
	uint64_t attach_us, attach_us_max, return_us, return_us_max, gate_us,
		gate_us_max; /* sums */
	/* For namespaces that were not where they were, by what they told. */
	uint64_t searches_alive, searches_dead, searches_unknown;
	unsigned free, attaching, in_pod, returning, bad;
	bool cri_open; /* a runtime is asked, or looked for: something here needs one */
	struct cri_status cri;
	char journal_error[256]; /* "" = it can be written */
	char view_error[256];	 /* what of the host cannot be seen; "" = it can */
	/* The runtime's list does not call the sandboxes of so many devices ready, in whose pods
	 * processes run; it names none of the sandboxes that have devices; the first, in words. */
	unsigned contradicting;
	bool runtime_lacks_all;
	char runtime_error[480];
};
