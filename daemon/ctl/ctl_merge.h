/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_merge.h - combines several of the daemon's documents into one. Pure: JSON in, JSON out. A
 * missing document is NULL, and its values are unknown in the result. docs/reference/rocectl.md
 * lists the keys. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Answers of the daemon, borrowed. */
struct ctl_answers {
	const json_t *index, *devices, *pods, *attachments, *diagnosis, *doctor, *ports;
	bool ready;
	const char *readiness; /* text of /readyz */
};

/* Every RDMA port with its link, holder and health. New reference; NULL if out of memory. */
json_t *ctl_ports(const struct ctl_answers *);
/* Adds "namespace" and "pod" to the ports of a diagnosis, as those of another document with "ports"
 * have them (NULL: unknown), and "knowsPods": a source has reported the node's pods. */
void ctl_name_pods(json_t *diagnosis, const json_t *ports, const json_t *pods);
/* {"ready":..., "remarks":[...]}. New reference; NULL if out of memory. */
json_t *ctl_readiness(const struct ctl_answers *);
/* True if the kubelet has not registered the resource, or devices of it are unhealthy. */
bool ctl_is_bad_resource(const json_t *resource);
/* The node's state and its problems. New reference; NULL if out of memory. */
json_t *ctl_status(const struct ctl_answers *);
