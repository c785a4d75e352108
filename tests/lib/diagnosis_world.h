/* diagnosis_world.h - ports whose counters grow by rates, second by second, for diagnosis. */
#pragma once

#include "diagnosis.h"

#define WORLD_PRIORITY 3    /* lossless, and RDMA's */
#define WORLD_LINE     25e9 /* bytes a second: 200G */

/* A port as mlx5 counts it: every series is there, growing by `rate` a second. */
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
	uint64_t random; /* state; the same seed gives the same world */
	double noise;	 /* rates of a sample vary by this share, all alike */
	double capacity; /* of the line that traffic() may fill */
	bool poisson;	 /* events come by chance: their number is that of a Poisson process */
};

/* Ports mlx5_0, mlx5_1, ... without any traffic. */
void world_init(struct world *, size_t n, uint64_t seed);
void world_done(struct world *);
/* RDMA payload a second, with all counters that go with it. */
void world_traffic(struct world_port *, double received, double sent);
/* From 0 to 1. */
double world_random(struct world *);
/* Counters after so many more milliseconds, and the observation of that; borrowed. */
struct observation world_step(struct world *, uint64_t ms);

/* Patterns of healthy nodes; called before each second. */
typedef void world_pattern_fn(struct world *, uint64_t second);

struct world_pattern {
	const char *name;
	world_pattern_fn *fn;
};

#define WORLD_PATTERNS 4
extern const struct world_pattern world_patterns[WORLD_PATTERNS];

/* The open verdict of this cause on the port of this name; NULL: there is none. */
const struct verdict *world_verdict(const struct diagnosis *, const char *device, enum cause);
/* Open verdicts that are told. */
size_t world_n_verdicts(const struct diagnosis *);
