/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - explains in a sentence why a device is free, in use, unhealthy or not offered.
 * Pure. */
#pragma once

#include "attach_status.h"
#include "resource_table.h"

#define EXPLAIN_SIZE 640

/* The input: the state of one function. */
struct explain_input {
	const char *function;
	const char *rdma;			/* name of its RDMA device, "" = none */
	const struct resource_index *resources; /* NULL: not decided yet */
	const struct attach_status *attachment; /* NULL: none */
	uint64_t epoch_ms; /* unix time at the loop's time 0, for absolute times */
	bool refused;	   /* the configuration file is rejected, and nothing is offered */
};

void explain_device(const struct explain_input *, char ret[EXPLAIN_SIZE]);
/* Writes the owner: "pod train/job-7", "container main of pod train/job-7", "an admin request
 * (/run/netns/a)". */
void explain_owner(const struct attach_owner *, char *ret, size_t size);
/* Writes why and since when a device is unhealthy: "link_down since 2026-01-02T03:04:05Z"; "" = it
 * is healthy. */
void explain_unhealthy(const struct resource_device *, char *ret, size_t size);
/* Writes the names of the drifted settings of an attachment, "mac, spoofchk"; "" = none. */
void explain_drift(unsigned drift, char *ret, size_t size);
