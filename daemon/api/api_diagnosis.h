/* api_diagnosis.h - what is wrong with RDMA on this node, as JSON. Pure. */
#pragma once

#include "resource_table.h"

struct diagnosis_report;

/* Of which ports; NULL: of all. */
struct diagnosis_question {
	const char *function; /* bus name, or that of an RDMA device without one */
	const char *pod;      /* "name" or "namespace/name" */
	const struct host *host;
	const struct resource_table *resources; /* who holds what; NULL: not known */
};

/* The document of /api/v1/diagnosis: diagnosis_json()'s, which for a node with many ports would be
 * a tree of ten thousand values. Compact, heap, terminated; NULL when out of memory. Those of a pod
 * are the verdicts that concern it, and the ports of devices that it has for itself. */
char *api_diagnosis(const struct diagnosis_report *, const struct diagnosis_question *,
		    size_t *ret_len);
