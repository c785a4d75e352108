/* SPDX-License-Identifier: Apache-2.0 */
/* resources_bench.h - runs daemon/plugin/ with a hand-made inventory and a fake kubelet in the same
 * loop. All functions assert success. */
#pragma once

#include <limits.h>

#include "fake_kubelet.h"
#include "fake_pods.h"
#include "host_builder.h"
#include "resources.h"

/* Four VFs of pool_fixture.h's node, 0000:03:00.1 to .4 with uverbs1 to uverbs4. Their health
 * changes without delay. */
#define ROCE  "rocelet.dev/roce"
#define VF(n) "0000:03:00." #n
#define POOL_ROCE                                                                                  \
	"{\"resourceName\": \"roce\","                                                             \
	" \"selectors\": {\"drivers\": [\"mlx5_core\"], \"isRdma\": true},"                        \
	" \"hold\": {\"linkDown\": {\"downMs\": 0, \"upMs\": 0},"                                  \
	" \"noRdma\": {\"upMs\": 0}, \"gone\": {\"upMs\": 0}}}"
#define CONFIG_ROCE "{\"pools\": [" POOL_ROCE "]}"

struct resources_bench {
	uv_loop_t loop;
	char *dir; /* device-plugins/, pod-resources/, pods/, dev/, cdi/, info/ below it */
	char cdi_dir[PATH_MAX], info_dir[PATH_MAX];
	struct hw hw;
	struct inventory inventory;
	struct resources_opts opts;
	struct fake_kubelet kubelet;
	struct fake_pods pods;
	struct holders *holders;
	struct resources *resources;
	unsigned changes, sweeps;
	unsigned n_events;
	struct event event;			 /* the last one */
	const char *status_text;		 /* the status for pods to read; NULL: none */
	bool (*until)(struct resources_bench *); /* of bench_until() */
};

/* Creates folders and host; does not start the kubelet. */
void bench_init(struct resources_bench *);
/* Starts the kubelet if needed and the device plugin with this configuration, and waits for the
 * first list. */
void bench_start(struct resources_bench *, const char *config);
/* Call holders_open() and resources_open() only; bench_open() asserts success. */
void bench_open(struct resources_bench *);
int bench_try_open(struct resources_bench *, struct err *);
void bench_configure(struct resources_bench *, const char *config);
/* Closes what bench_open() opened. */
void bench_close(struct resources_bench *);
/* Closes everything and asserts that the loop is empty. */
void bench_stop(struct resources_bench *);

void bench_until(struct resources_bench *, bool (*)(struct resources_bench *));
/* Runs the loop until no collected changes are pending. */
void bench_settle(struct resources_bench *);

/* The path of a file below the folder; valid until the call after the next. */
const char *bench_path(const struct resources_bench *, const char *name);
bool bench_has(const struct resources_bench *, const char *name);

/* Sends an Allocate for one container. ids ends with NULL. */
void bench_ask(struct resources_bench *, struct fake_answer *, const char *const *ids);
/* The same; waits for the reply. */
void bench_allocate(struct resources_bench *, struct fake_answer *, const char *id);
void bench_pre_start(struct resources_bench *, struct fake_answer *, const char *id);

/* Finds it in the table; asserts that it exists. */
const struct resource_info *bench_resource(const struct resources_bench *, const char *name);
const struct resource_device *bench_device(const struct resources_bench *, const char *resource,
					   const char *id);
