/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_source.h - loads our BPF programs, if the kernel permits them, and receives their events on
 * the loop.
 *
 * A failure never prevents the start: rejected programs are logged with the reason and listed as
 * not loaded, and all others work. Programs are loaded and unloaded on a worker, group by group.
 * Programs on a module's functions hold a reference to the module, so they are loaded only while
 * its devices exist. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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
/* Detaches the programs; the object is freed once its handle has closed and its worker has ended.
 * May be NULL. */
void bpf_source_close(struct bpf_source *);

/* Sets which watched objects exist. Cheap, so call it whenever they may have changed.
 * The source may be NULL. */
struct bpf_presence {
	bool rdma_devices, rdma_cm, soft_devices;
};
void bpf_source_follow(struct bpf_source *, const struct bpf_presence *);

/* Returns the programs and their states; borrowed. The source may be NULL (no programs). */
unsigned bpf_source_programs(const struct bpf_source *, const struct bpf_program_status **ret);
/* True if the program of this name is attached. The source may be NULL. */
bool bpf_source_runs(const struct bpf_source *, const char *program);

/* Writes the programs' counters for soft-RoCE, by device, in no order. Returns the number of
 * elements filled; 0 if nothing can be read. */
unsigned bpf_source_soft_counts(const struct bpf_source *, struct bpf_soft_device *ret,
				unsigned cap);
/* Removes the counters of a removed device. Only for keys that were just read. */
void bpf_source_soft_forget(struct bpf_source *, const struct bpf_soft_key *);

/* Validates bytes from the ring buffer as an event of our programs. 0: the version is ours, the
 * size matches the kind, all strings are terminated and our own enums are in range; otherwise
 * -EBADMSG. The kernel's numbers (states, statuses, reasons) are not checked. */
int bpf_event_check(const void *data, size_t size);
