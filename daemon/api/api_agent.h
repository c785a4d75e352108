/* SPDX-License-Identifier: Apache-2.0 */
/* api_agent.h - the health of the daemon's own parts as JSON. Pure.
 *
 * A client reads it to judge how far it can trust the daemon's other documents. */
#pragma once

#include <stdint.h>

#include "api_bpf.h"
#include "attach_status.h"
#include "capabilities.h"
#include "job_status.h"
#include "pool_config.h"
#include "resource_table.h"
#include "sample.h"

/* Sampling counts as broken if the last sample is older than both limits. */
#define AGENT_STALE_SAMPLES 3
#define AGENT_STALE_MS	    3000

/* All pointers are borrowed. */
struct agent_input {
	uint64_t now_ms;    /* current time of the loop */
	uint64_t sample_ms; /* time of the last judged sample; 0 = none yet */
	uint32_t every_ms;  /* interval between samples */
	uint64_t samples, samples_late;
	const struct source_state *sources;	/* N_SOURCES; NULL: no sample yet */
	const struct resource_table *resources; /* NULL: not decided yet */
	const struct attach_counters *counters; /* NULL: the engine does not run */
	const struct config_state *config;	/* NULL: the configuration file is in use */
	const struct missing_capability *missing;
	size_t n_missing;
	const struct job_status *jobs; /* jobs that have been running for a long time */
	size_t n_jobs;
	const struct api_bpf *bpf;
};

/* The document of /api/v1/agent:
 * {"samples":518382,"samplesSkipped":0,"everyMs":1000,
 *  "sources":[{"name":"netlink","errors":0,"ageMs":400}],
 *  "parts":[{"name":"sampling","works":true,"what":"every 1 s, 9 taken, 0
 * skipped","why":null}]} works is null if the part is not in use, ageMs if the source has never
 * delivered. Only sources in use are listed. Heap, terminated; NULL when out of memory. */
char *api_agent(const struct agent_input *, size_t *ret_len);
