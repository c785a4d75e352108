/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - an event of a pod or device, in the form of a Kubernetes event. Plain data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

enum event_type { EVENT_NORMAL, EVENT_WARNING };

/* Times are unix milliseconds. A repeated event increments `count`. */
struct event {
	uint64_t first_ms, last_ms;
	uint32_t count;
	enum event_type type;
	char reason[32]; /* "Attached", "AttachFailed", "Returned", "QueuePairFailed" */
	char namespace[64], pod[256]; /* "" = not about a pod */
	/* Further pods concerned, "namespace/name,namespace/name"; NULL = none. Borrowed: the
	 * ring copies them. */
	const char *other_pods;
	char device[DEV_ID_SIZE]; /* "" = not about a device */
	char message[512];
	uint64_t generation; /* set by the ring: its generation at the last occurrence */
	bool is_answer;	     /* answers a user's edit: its log line is limited only if it repeats */
};
