/* SPDX-License-Identifier: Apache-2.0 */
/* api_diagnosis.h - the verdicts and watched ports of this node as JSON. Pure. */
#pragma once

#include "resource_table.h"

struct diagnosis_report;

/* Selection of ports; NULL: all. */
struct diagnosis_query {
	const char *function; /* bus name, or the name of an RDMA device that has no function */
	const char *pod;      /* "name" or "namespace/name" */
	const struct host *host;
	const struct resource_table *resources; /* allocations; NULL: unknown */
};

/* The document of /api/v1/diagnosis: compact, heap, terminated; NULL if out of memory. Same content
 * as diagnosis_json(), but printed without a tree of values, which would be too large on a node
 * with many ports. With a pod: only verdicts that concern the pod, and ports of devices that it
 * holds exclusively. */
char *api_diagnosis(const struct diagnosis_report *, const struct diagnosis_query *,
		    size_t *ret_len);
