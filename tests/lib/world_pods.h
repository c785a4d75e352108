/* SPDX-License-Identifier: Apache-2.0 */
/* world_pods.h - common operations of the engine's tests on attach_world.h: starting and ending
 * pods, and IPAM. All functions assert success. */
#pragma once

#include "attach_world.h"

/* Networks of the pool. */
#define WORLD_PLAIN "{\"timeoutMs\": 1000}"
#define WORLD_IPAM  "{\"timeoutMs\": 20000, \"ipam\": {\"type\": \"plugin\"}}"

/* Creates a world whose engine is ready. world_end() asserts that all devices are free and clean,
 * and frees it. */
struct world *world_start(const char *network);
void world_end(struct world *);
/* Starts a pod with VF i and shows all lists to the engine; returns the pod's namespace. */
uint64_t world_run_pod(struct world *, unsigned i, const char *pod);
/* Ends that pod and waits until its VF is free. */
void world_end_pod(struct world *, unsigned i, uint64_t ns);
/* Sets the shell script that the IPAM plugin of WORLD_IPAM runs. */
void world_plugin(const struct world *, const char *script);
