/* SPDX-License-Identifier: Apache-2.0 */
/* attach_status.h - the status of the attach engine, for the API, the metrics page and doctor.
 * Plain data. */
#pragma once

#include "attachment.h"
#include "sandbox.h"

/* Bits of settings that differ from the applied ones. The low bits are those of vf_fields.h
 * (settings of the PF); the bits below are settings in the pod's namespace. */
#define ATTACH_DRIFT_NAME	 (1u << 16)
#define ATTACH_DRIFT_DOWN	 (1u << 17)
#define ATTACH_DRIFT_IPS	 (1u << 18)
#define ATTACH_DRIFT_RDMA	 (1u << 19) /* its RDMA device was removed; cannot be repaired */
#define ATTACH_DRIFT_LINK(field) (1u << (20 + (field))) /* enum link_field */

/* Returns the name and the bit of the i-th setting that can drift: "mac", "vlan", "spoofchk" ...;
 * NULL past the end. */
const char *attach_drift_name(size_t i, unsigned *ret_bit);

/* One attachment. */
struct attach_status {
	const struct attach_record *record;
	const char *step;  /* step of the running operation, NULL = none */
	unsigned drift;	   /* bits, see above */
	unsigned tries;	   /* consecutive failures */
	uint64_t since_ms; /* loop time at which its state began */
	char error[256];
};

/* The attachments, sorted by function (natural_cmp()), then resource and ID; borrowed.
 * Zero-initialised it is the empty list. */
struct attach_list {
	const struct attach_status *items;
	size_t n;
};

/* Returns the attachment of the function itself; NULL = none. Skips attachments of macvlans and
 * ipvlans on the function, and free devices, which are in the list only because their last attach
 * failed. */
const struct attach_status *attach_list_function(struct attach_list, const char *function);
/* Finds an attachment by the kubelet's resource name and device ID. */
const struct attach_status *attach_list_id(struct attach_list, const char *resource,
					   const char *id);

/* Why a return recreated the netdev of a function. */
enum renewal {
	RENEWAL_NONE,
	RENEWAL_DIRTY,	 /* the pod left something on it */
	RENEWAL_UNKNOWN, /* cannot verify that it is clean */
	RENEWAL_ALWAYS,	 /* the pool requires it */
	RENEWAL_BEYOND,	 /* stuck in an unreachable namespace */
	N_RENEWALS
};
/* Returns "", "dirty", "unknown", "always" or "beyond". */
const char *renewal_name(enum renewal);
#define ATTACH_LEFT_SIZE 256

struct attach_counters {
	uint64_t renewals[N_RENEWALS]; /* by reason */
	uint64_t attached, attach_failures, returned, return_failures, orphans, drifts, repairs,
		gate_questions, gate_refusals;
	uint64_t attach_us, attach_us_max, return_us, return_us_max, gate_us,
		gate_us_max; /* sums, and maxima */
	/* Searches for namespaces that were not at their recorded path, by result. */
	uint64_t searches_alive, searches_dead, searches_unknown;
	unsigned free, attaching, in_pod, returning, bad;
	bool cri_open; /* a container runtime is used or searched for */
	struct cri_status cri;
	char journal_error[256]; /* "" = the journal is writable */
	char view_error[256];	 /* parts of the host that cannot be seen; "" = none */
	/* contradicting: number of devices whose sandbox the runtime does not list as ready,
	 * although the pod has processes or is in the kubelet's list. runtime_lacks_all: the
	 * runtime lists none of the sandboxes that have devices. runtime_error: the first
	 * contradiction as a message. */
	unsigned contradicting;
	bool runtime_lacks_all;
	char runtime_error[480];
};
