/* world_pods.h - what the engine's tests do again and again in attach_world.h: pods that begin and
 * end, and addresses for them. Everything asserts that it works. */
#pragma once

#include "attach_world.h"

/* Networks of the pool. */
#define WORLD_PLAIN "{\"timeoutMs\": 1000}"
#define WORLD_IPAM  "{\"timeoutMs\": 20000, \"ipam\": {\"type\": \"plugin\"}}"

/* A world whose engine is ready; world_end() frees it, in which everything is free and clean. */
struct world *world_start(const char *network);
void world_end(struct world *);
/* A pod that runs, with VF i, and everybody knows; returns its namespace. */
uint64_t world_run_pod(struct world *, unsigned i, const char *pod);
/* The same, which ends; its VF is free then. */
void world_end_pod(struct world *, unsigned i, uint64_t ns);
/* The IPAM plugin of WORLD_IPAM is this shell script, from now on. */
void world_plugin(const struct world *, const char *script);
