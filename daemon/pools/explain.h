/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - explains in a sentence why a device is free, in use, unhealthy or not offered.
 * Pure. */
#pragma once

#include "attach_status.h"
#include "resource_table.h"

#define EXPLAIN_SIZE 640

/* The input: what is known about one function. */
struct explain_input {
	const char *function;
	const char *rdma;			/* name of its RDMA device, "" = none */
	const struct resource_index *resources; /* NULL: not decided yet */
	const struct attach_status *attachment; /* NULL: none */
	uint64_t epoch_ms; /* unix time at the loop's time 0, for absolute times */
};

void explain_device(const struct explain_input *, char ret[EXPLAIN_SIZE]);
/* "pod train/job-7", "container main of pod train/job-7", "an admin request (/run/netns/a)". */
void explain_owner(const struct attach_owner *, char *ret, size_t size);
/* The problems of an attachment, or "": drifted settings by name, "mac, spoofchk". */
void explain_drift(unsigned drift, char *ret, size_t size);
