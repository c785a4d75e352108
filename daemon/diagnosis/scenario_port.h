/* scenario_port.h - what a scenario file says of one port, and of its series. Pure. */
#pragma once

#include <jansson.h>

#include "observation.h"

#define SCENARIO_PODS_MAX 8

struct scenario_port {
	struct port_observation o;
	struct observed_pod pods[SCENARIO_PODS_MAX];
	struct port_settings settings;
	bool sampled; /* a line has told of it in the present tick */
};

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

/* Told of a mistake and what it is about, a key or a name. */
typedef void scenario_mistake_fn(enum scenario_mistake, const char *what, void *arg);

struct scenario_complaints {
	scenario_mistake_fn *tell;
	void *arg;
};

void scenario_port_init(struct scenario_port *, const char *device, uint32_t port);
/* Every key of the object that describes a port, from the header or a sample; others are skipped by
 * name (NULL-terminated) or complained of. */
void scenario_port_describe(struct scenario_port *, const json_t *object, const char *const *skip,
			    const struct scenario_complaints *);
/* The port's counters and gauges, {"roce_bytes_total{direction=\"sent\"}": 12}. Those that are not
 * there are not visible. */
void scenario_port_values(struct scenario_port *, const json_t *values,
			  const struct scenario_complaints *);
/* The next sample starts without counters. */
void scenario_port_clear(struct scenario_port *);
