/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_source.h - our BPF programs, if the kernel allows them, and their events in the loop.
 *
 * A failure never prevents the start: what the kernel rejects is logged with the reason and listed
 * as not loaded, and everything else works. Programs are loaded and unloaded on a worker, group by
 * group. Those on a module's functions hold a reference to the module, so they are loaded only
 * while its devices exist. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf_event.h"
#include "bpf_load.h"
#include "err.h"

struct uv_loop_s;
struct bpf_source;
struct self_counters;

struct bpf_source_hooks {
	/* e == NULL: events were lost. Borrowed for the call. */
	void (*event)(const struct bpf_event *e, void *arg);
	void (*programs)(void *arg); /* programs were loaded or unloaded */
	void *arg;
};

/* Fails only if out of memory. Starts to load the host's group. */
int bpf_source_open(struct bpf_source **ret, struct uv_loop_s *, struct self_counters *,
		    const struct bpf_source_hooks *, struct err *);
/* NULL is fine. Detaches; freed once its handle has closed and its worker is done. */
void bpf_source_close(struct bpf_source *);

/* What exists to be watched now. Cheap, so call it whenever that may have changed. NULL is fine. */
struct bpf_presence {
	bool rdma_devices, rdma_cm, soft_devices;
};
void bpf_source_follow(struct bpf_source *, const struct bpf_presence *);

/* The programs and their states; borrowed. NULL is fine (none). */
unsigned bpf_source_programs(const struct bpf_source *, const struct bpf_program_status **ret);
/* Is the program of this name attached? NULL is fine. */
bool bpf_source_runs(const struct bpf_source *, const char *program);

/* The programs' counters for soft-RoCE, by device, in no order. Returns the number of elements
 * filled; 0 if nothing can be read. */
unsigned bpf_source_soft_counts(const struct bpf_source *, struct bpf_soft_device *ret,
				unsigned cap);
/* Removes the counters of a removed device. Only for keys that were just read. */
void bpf_source_soft_forget(struct bpf_source *, const struct bpf_soft_key *);
