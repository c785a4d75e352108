/* SPDX-License-Identifier: Apache-2.0 */
/* gate_device.h - decides for one device of a container whether the container may start. For
 * gate.c. */
#pragma once

#include "attach_events.h"

enum gate_answer { GATE_WAITS, GATE_OPENS, GATE_REFUSES };

/* The input for one device. */
struct gate_view {
	struct attach_engine *engine;
	const struct attach_view *view; /* NULL: not known yet */
	const char *resource, *id;
	uint64_t since_ms; /* time of the request */
	bool attached;	   /* its pool had a network at the time of the request */
};

/* *err: why the device is rejected, or what the container waits for. */
enum gate_answer gate_judge_device(const struct gate_view *, struct err *);
/* Called when the gate opens: sends an event if the pod has the host's network, because its
 * container then sees all netdevs of the host. */
void gate_report_host_network(const struct gate_view *);
