/* event.h - what happened to a pod or device, told in the way of Kubernetes' events. Plain data. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model.h"

enum event_type { EVENT_NORMAL, EVENT_WARNING };

/* Times are unix milliseconds. The same event again counts up. */
struct event {
	uint64_t first_ms, last_ms;
	uint32_t count;
	enum event_type type;
	char reason[32]; /* "Attached", "AttachFailed", "Returned", "QueuePairFailed" */
	char namespace[64], pod[256]; /* "" = of no pod */
	char device[DEV_ID_SIZE];     /* "" = of no device */
	char message[256];
	uint64_t generation; /* of the ring when it last came; set by the ring */
};
