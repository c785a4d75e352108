/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_pods.h - all pods that a verdict concerns. A verdict itself lists only the first ones;
 * the others follow from the holders of the PF's VFs. Pure. */
#pragma once

#include "diagnosis_report.h"
#include "page.h"
#include "resource_table.h"

/* Borrowed. */
struct verdict_holders {
	const struct diagnosis_report *report;
	const struct resource_table *table; /* NULL: unknown */
	const struct host *host;	    /* NULL: unknown */
};

/* Iterates over the pods, each once; those that the verdict lists come first. *pos begins at 0.
 * False: no more. */
bool verdict_pods_next(const struct verdict_holders *, const struct verdict *, size_t *pos,
		       const char **ret_namespace, const char **ret_name);
/* Appends the pods except the first, as in struct event: "namespace/name,namespace/name"; also
 * those that are affected by what the verdict's own pod does. */
void verdict_pods_others(const struct verdict_holders *, const struct verdict *, struct text *);
