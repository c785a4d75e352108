/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_port.h - reads the description and the series of one port from a scenario file, and
 * writes the description. Pure. */
#pragma once

#include <jansson.h>

#include "observation.h"

#define SCENARIO_PODS_MAX 8

enum scenario_mistake {
	MISTAKE_NOT_JSON,
	MISTAKE_NOT_OBJECT,
	MISTAKE_TOO_LONG,
	MISTAKE_NO_TIME,
	MISTAKE_TIME_BACK,
	MISTAKE_TWICE,
	MISTAKE_NO_DEVICE,
	MISTAKE_TOO_MANY_PORTS,
	MISTAKE_UNKNOWN_KEY,
	MISTAKE_UNKNOWN_SERIES,
	MISTAKE_WRONG_TYPE,
	MISTAKE_THRESHOLD,
	MISTAKE_LATE_HEADER,
	N_MISTAKES
};

/* Reports a mistake; what: the key or name it is about. */
typedef void scenario_mistake_fn(enum scenario_mistake, const char *what, void *arg);

struct scenario_complaints {
	scenario_mistake_fn *report;
	void *arg;
};

struct scenario_port {
	struct port_observation o;
	struct observed_pod pods[SCENARIO_PODS_MAX];
	struct port_settings settings;
	bool sampled;				      /* had a line at the present point in time */
	const struct scenario_complaints *complaints; /* borrowed, while keys are read */
};

void scenario_port_init(struct scenario_port *, const char *device, uint32_t port);
/* Reads the keys that describe a port, from the header or a sample. Keys in `skip`
 * (NULL-terminated) are ignored, unknown ones reported. */
void scenario_port_describe(struct scenario_port *, const json_t *object, const char *const *skip,
			    const struct scenario_complaints *);
/* Writes all keys that scenario_port_describe() reads. NULL: out of memory. */
json_t *scenario_port_json(const struct port_observation *);
/* Reads the port's counters and gauges, {"roce_bytes_total{direction=\"sent\"}": 12}. Those that
 * are missing are not visible. */
void scenario_port_values(struct scenario_port *, const json_t *values,
			  const struct scenario_complaints *);
/* Clears all counters before the next sample. */
void scenario_port_clear(struct scenario_port *);
