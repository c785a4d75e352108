/* bpf_source.h - our BPF programs, where the kernel allows them, and their events in the loop.
 *
 * Never a reason not to start: what the kernel refuses is told in the log with its reason, listed
 * as not loaded, and everything else works. Programs are loaded and unloaded on a worker, group by
 * group: those on a module's functions hold the module, so they are there only while its devices
 * are. */
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
	void (*programs)(void *arg); /* there are others now */
	void *arg;
};

/* Fails only without memory. Begins to load the host's group. */
int bpf_source_open(struct bpf_source **ret, struct uv_loop_s *, struct self_counters *,
		    const struct bpf_source_hooks *, struct err *);
/* NULL is fine. Detaches and frees once its handle has closed and its worker is done. */
void bpf_source_close(struct bpf_source *);

/* What there is now to watch; cheap, to be called whenever that may have changed. NULL is fine. */
struct bpf_presence {
	bool rdma_devices, rdma_cm, soft_devices;
};
void bpf_source_follow(struct bpf_source *, const struct bpf_presence *);

/* The programs and what became of them; borrowed. Works with NULL (none). */
unsigned bpf_source_programs(const struct bpf_source *, const struct bpf_program_status **ret);
/* The program of this name hangs on something. Works with NULL. */
bool bpf_source_runs(const struct bpf_source *, const char *program);

/* What the programs have counted for soft-RoCE, by device, in no order. The number of places
 * filled; 0 where nothing can be read. */
unsigned bpf_source_soft_counts(const struct bpf_source *, struct bpf_soft_device *ret,
				unsigned cap);
/* Of a device that is gone. Only for keys that were just read. */
void bpf_source_soft_forget(struct bpf_source *, const struct bpf_soft_key *);
