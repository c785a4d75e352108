/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_world.h - simulated ports whose counters grow by given rates, as input for
 * diagnosis. */
#pragma once

#include "diagnosis.h"

#define WORLD_PRIORITY 3    /* the lossless priority, used by RDMA */
#define WORLD_LINE     25e9 /* bytes per second: 200G */

/* A port with the counters of mlx5: every series exists and grows by `rate` per second. */
struct world_port {
	struct port_observation o;
	struct port_settings settings;
	double rate[N_SERIES]; /* gauges: the value */
};

struct world {
	struct world_port *ports;
	struct port_observation *observed;
	size_t n;
	uint64_t now_ms;
	uint64_t random; /* state of the generator; the same seed yields the same world */
	double noise;	 /* all rates of a sample vary by this share */
	double capacity; /* share of the line rate that traffic may use */
	bool poisson;	 /* numbers of events are those of a Poisson process */
};

/* Ports mlx5_0, mlx5_1, ... without any traffic. */
void world_init(struct world *, size_t n, uint64_t seed);
void world_done(struct world *);
/* Sets RDMA payload per second and all related counters. */
void world_traffic(struct world_port *, double received, double sent);
/* From 0 to 1. */
double world_random(struct world *);
/* Advances the counters by ms and returns the observation; borrowed. */
struct observation world_step(struct world *, uint64_t ms);

/* Traffic patterns of healthy nodes; called before each second. */
typedef void world_pattern_fn(struct world *, uint64_t second);

struct world_pattern {
	const char *name;
	world_pattern_fn *fn;
};

#define WORLD_PATTERNS 4
extern const struct world_pattern world_patterns[WORLD_PATTERNS];

/* The open verdict with this cause on this device; NULL: none. */
const struct verdict *world_verdict(const struct diagnosis *, const char *device, enum cause);
/* Number of open verdicts that are reported. */
size_t world_n_verdicts(const struct diagnosis *);
