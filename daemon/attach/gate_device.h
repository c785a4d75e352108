/* gate_device.h - may a container start, as far as this one of its devices goes? For gate.c. */
#pragma once

#include "attach_events.h"

enum gate_answer { GATE_WAITS, GATE_OPENS, GATE_REFUSES };

/* What one device is looked at with. */
struct gate_view {
	struct attach_engine *engine;
	const struct attach_view *view; /* NULL: nothing is known yet */
	const char *resource, *id;
	uint64_t since_ms; /* of the question */
	bool attached;	   /* its pool attached when it was asked */
};

/* *err: why it refuses, or what it waits for. */
enum gate_answer gate_look(const struct gate_view *, struct err *);
/* The gate opens: an event for a pod of the host's network, whose container sees the host's netdevs
 * as they are. */
void gate_tell_host_network(const struct gate_view *);
