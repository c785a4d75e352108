/* SPDX-License-Identifier: Apache-2.0 */
/* explain_document.h - the documents of `explain`: of a device, from several answers of the daemon,
 * and of a pod, from those of its devices. Pure: JSON in, JSON out. docs/reference/rocectl.md lists
 * the keys. */
#pragma once

#include <jansson.h>

/* Answers of the daemon, borrowed; NULL: unknown. */
struct explain_answers {
	const json_t *explain;	 /* /api/v1/explain of the device */
	const json_t *diagnosis; /* /api/v1/diagnosis of it */
	const json_t *ports;	 /* /api/v1/ports of it */
	const json_t *pods;	 /* /api/v1/pods */
};

/* Returns a new reference; NULL if out of memory. */
json_t *explain_of_device(const struct explain_answers *);
/* Takes the documents of the pod's devices, a list. Returns a new reference; NULL if out of memory.
 * pod: an element of /api/v1/pods. */
json_t *explain_of_pod(const json_t *pod, json_t *devices);
/* The verdict of a device's document that demands most of the node; NULL: there is none. */
const json_t *explain_strictest(const json_t *document);
/* The worst verdict or, if none is as bad, the worst trouble; NULL: there is none. */
const json_t *explain_worst(const json_t *document);
