/* SPDX-License-Identifier: Apache-2.0 */
/* api_diagnosis.h - the verdicts and watched ports of this node as JSON. Pure. */
#pragma once

#include "condition.h"

/* Selection of ports; NULL: all. */
struct diagnosis_query {
	const char *function; /* bus name, or the name of an RDMA device that has no function */
	uint32_t port;	      /* of the function's RDMA device; 0 = all */
	const char *pod;      /* "name" or "namespace/name" */
	bool ended;	      /* also the verdicts that ended in the last hour */
	/* Only verdicts and troubles that were open between these unix times; 0: since or until any
	 * time. */
	uint64_t since_ms, until_ms;
	uint64_t started_unix_ms;		 /* when the daemon started */
	const struct condition_sources *sources; /* with a report */
};

/* The document of /api/v1/diagnosis: compact, heap, terminated; NULL if out of memory. Same content
 * as diagnosis_json(), but printed without a tree of values, which would be too large on a node
 * with many ports; and "troubles": those of pods' devices that are no verdicts. With a pod: only
 * verdicts that concern the pod, ports of devices that it holds exclusively, and its troubles. */
char *api_diagnosis(const struct diagnosis_query *, size_t *ret_len);
